package run_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/reference"
	"github.com/loomrun/loom/run"
)

// A pick is read in the order of 3.2: an object, a protocol that is text, in the registry, a
// confidence, reasons, and nothing else (104 to 107). The first fault is the one that is told.
func TestReadPick(t *testing.T) {
	const outside = "outside the registry"
	long := strings.Repeat("x", 1<<16)
	for _, c := range []struct{ arguments, want string }{
		{`{"protocol":"a@1","confidence":0.9,"reasons":[]}`, "a@1 0.9"},
		{`{"reasons":["r","s"],"protocol":"b@2","confidence":0.90}`, "b@2 0.90 r s"},
		{`{"protocol":"a@1","confidence":1e-3,"reasons":["two\nlines"]}`, "a@1 1e-3 two\nlines"},
		{`{"protocol":"a@1","confidence":-0,"reasons":[]}`, "a@1 -0"},
		{` { "protocol" : "a\u00401" , "confidence" : 1 , "reasons" : [ ] } `, "a@1 1"},
		// Not an object.
		{``, "the pick is malformed: line 1, column 1: there is no JSON value"},
		{`{"protocol":"a@1"`, "the pick is malformed: line 1, column 18: the JSON value ends too early"},
		{`{"protocol":"a@1","protocol":"a@1"}`, "the pick is malformed: line 1, column 19: a member is written twice"},
		{`{"protocol":"a@1"} {}`, "the pick is malformed: line 1, column 20: something follows the JSON value"},
		{strings.Repeat("[", 129) + strings.Repeat("]", 129), "the pick is malformed: line 1, column 129: the JSON value is nested too deeply"},
		{`["a@1"]`, "the pick is malformed: it is a list, not an object"},
		{`"a@1"`, "the pick is malformed: it is text, not an object"},
		{`null`, "the pick is malformed: it is null, not an object"},
		// A protocol that is no text comes before all the rest.
		{`{}`, "the pick is malformed: protocol is null, not text"},
		{`{"protocol":1,"confidence":7,"reasons":0,"x":0}`, "the pick is malformed: protocol is a number, not text"},
		{`{"protocol":["a@1"],"confidence":0.9,"reasons":[]}`, "the pick is malformed: protocol is a list, not text"},
		// One outside the registry is a pick like any other, without the rest: 104.
		{`{"protocol":"c@1","confidence":1.0,"reasons":[]}`, outside},
		{`{"protocol":"c@1","confidence":"high","reasons":0,"x":0}`, outside},
		{`{"protocol":""}`, outside},
		{`{"protocol":"A@1"}`, outside},
		{`{"protocol":"a@1 "}`, outside},
		// The confidence: 105.
		{`{"protocol":"a@1","reasons":0}`, "the pick is malformed: confidence is null, not a number"},
		{`{"protocol":"a@1","confidence":"high","reasons":0}`, "the pick is malformed: confidence is text, not a number"},
		{`{"protocol":"a@1","confidence":"0.9","reasons":[]}`, "the pick is malformed: confidence is text, not a number"},
		{`{"protocol":"a@1","confidence":-0.1,"reasons":0}`, "the pick is malformed: confidence -0.1 is not a number from 0 to 1"},
		{`{"protocol":"a@1","confidence":1.1,"reasons":[]}`, "the pick is malformed: confidence 1.1 is not a number from 0 to 1"},
		{`{"protocol":"a@1","confidence":1e999999999,"reasons":[]}`, "the pick is malformed: confidence 1e999999999 is not a number from 0 to 1"},
		{`{"protocol":"a@1","confidence":NaN,"reasons":[]}`, "the pick is malformed: line 1, column 32: this is not JSON"},
		// The reasons: 106.
		{`{"protocol":"a@1","confidence":1,"x":0}`, "the pick is malformed: reasons is null, not a list"},
		{`{"protocol":"a@1","confidence":1,"reasons":null}`, "the pick is malformed: reasons is null, not a list"},
		{`{"protocol":"a@1","confidence":1,"reasons":{}}`, "the pick is malformed: reasons is a map, not a list"},
		{`{"protocol":"a@1","confidence":1,"reasons":"r"}`, "the pick is malformed: reasons is text, not a list"},
		{`{"protocol":"a@1","confidence":1,"reasons":["r",1]}`, "the pick is malformed: a reason is a number, not text"},
		{`{"protocol":"a@1","confidence":1,"reasons":[null]}`, "the pick is malformed: a reason is null, not text"},
		// Members that the schema does not have: 107.
		{`{"protocol":"a@1","confidence":1,"reasons":[],"time":0}`, `the pick is malformed: it has the member "time" besides protocol, confidence and reasons`},
		{`{"protocol":"a@1","confidence":1,"reasons":[],"Protocol":"b@2"}`, `the pick is malformed: it has the member "Protocol" besides protocol, confidence and reasons`},
		{`{"protocol":"a@1","confidence":1,"reasons":[],"` + long + `":0}`, `the pick is malformed: it has the member "` + long[:100] + `[truncated]" besides protocol, confidence and reasons`},
	} {
		p, err := run.ReadPick(c.arguments, []string{"a@1", "b@2"})
		protocol, confidence, reasons := p.Parts()
		got := strings.TrimSpace(strings.Join(append([]string{protocol, confidence.String()}, reasons...), " "))
		switch {
		case err != nil:
			got = err.Error()
		case c.want == outside && protocol != "a@1" && protocol != "b@2":
			got = outside
		}
		if got != c.want {
			t.Errorf("%.100s\n got %s\nwant %s", c.arguments, got, c.want)
		}
	}
}

func FuzzReadPick(f *testing.F) {
	f.Add(`{"protocol":"a@1","confidence":0.9,"reasons":["r"]}`)
	f.Add(`{"protocol":"c@1"}`)
	f.Add(`{"protocol":"a@1","confidence":1e-3,"reasons":[],"x":0}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		p, err := run.ReadPick(arguments, []string{"a@1"})
		protocol, confidence, _ := p.Parts()
		if err != nil && protocol != "" {
			t.Errorf("%q: %v, and yet a pick of %q", arguments, err, protocol)
		}
		if protocol == "a@1" && confidence.String() == "" {
			t.Errorf("%q: a pick without a confidence", arguments)
		}
	})
}

// manyWords are words that no bundled definition has.
var manyWords = func() string {
	var words []string
	for i := range 200 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	return strings.Join(words, " ")
}()

// What the router makes of a pick.
func TestRouting(t *testing.T) {
	for _, c := range []struct {
		name string
		stage
		want string
	}{
		{
			"a pick at the threshold passes: 0.90 is 0.9 (15)",
			stage{classifier: []turn{picks("lamp@1", "0.90")}, threshold: "0.9", protocol: lamp, budget: new(0)},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick_protocol {"protocol":"lamp@1","confidence":0.90,"reasons":["so"]}
			picked lamp@1 by model 0.90 so
			routed lamp@1: accepted
			stopped after 0: StepBudget`,
		},
		{
			"a pick below it is refused",
			stage{classifier: []turn{picks("lamp@1", "0.8999999999999999999")}, threshold: "0.9", protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick_protocol {"protocol":"lamp@1","confidence":0.8999999999999999999,"reasons":["so"]}
			pick refused: the model picked lamp@1 with confidence 0.8999999999999999999, below the threshold 0.9
			routed lamp@1: not accepted
			stopped after 0: Refused (unsure)`,
		},
		{
			"a pick outside the registry is refused, however sure (104)",
			stage{classifier: []turn{picks("payroll@1", "1.0")}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick_protocol {"protocol":"payroll@1","confidence":1.0,"reasons":["so"]}
			pick refused: the model picked payroll@1, which the registry does not hold
			routed payroll@1: not accepted
			stopped after 0: Refused (outside registry)`,
		},
		{
			"what nothing here carries out opens no case (111)",
			stage{classifier: []turn{picks("incident-response@1", "1.0")}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick_protocol {"protocol":"incident-response@1","confidence":1.0,"reasons":["so"]}
			picked incident-response@1 by model 1.0 so
			routed incident-response@1: not accepted
			stopped after 0: NoLocalExecutor (incident-response@1 requires bindings or artifact initialization beyond the supported system.time.read clock contract)`,
		},
		{
			"an answer without a call is a failure (108)",
			stage{classifier: []turn{replies(model.Reply{Text: "lamp@1", Stop: model.StopEndTurn})}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: EndTurn
			failed after 0: classify the intent: the model must answer with one call of pick_protocol; it made none`,
		},
		{
			"so are two calls (109)",
			stage{classifier: []turn{calls("pick_protocol {}", "pick_protocol {}")}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick_protocol {}
			call c2: pick_protocol {}
			failed after 0: classify the intent: the model must answer with one call of pick_protocol; it made calls of "pick_protocol", "pick_protocol"`,
		},
		{
			"so is a call by another name",
			stage{classifier: []turn{calls("pick {}")}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick {}
			failed after 0: classify the intent: the model must answer with one call of pick_protocol; it made calls of "pick"`,
		},
		{
			"so are many, of which a few are named",
			stage{classifier: []turn{calls("a", "b", "c", "d", "e", "f")}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: a
			call c2: b
			call c3: c
			call c4: d
			call c5: e
			call c6: f
			failed after 0: classify the intent: the model must answer with one call of pick_protocol; it made calls of "a", "b", "c", "d", 2 more`,
		},
		{
			"references stand before the pick, and a cost beside it",
			stage{
				intent: "light ABC-12, see https://example.org/x, and ABC-12", protocol: lamp, budget: new(0),
				classifier: []turn{func(model.Request) (model.Reply, error) {
					reply, err := picks("lamp@1", "1")(model.Request{})
					reply.Usage = &model.Usage{InputTokens: new(uint64(0)), OutputTokens: new(uint64(7)), Final: true}
					return reply, err
				}},
			},
			`reference JiraIssue ABC-12
			reference Url https://example.org/x
			~ m-small is asked: pick_protocol
			turn 1 Classification of m-small: ToolCalls
			call c1: pick_protocol {"protocol":"lamp@1","confidence":1,"reasons":["so"]}
			usage of m-small, in 0, out 7, final
			picked lamp@1 by model 1 so
			routed lamp@1: accepted
			stopped after 0: StepBudget`,
		},
		{
			"without a classifier the words decide, and references do not count among them (D11)",
			stage{
				matched: true, protocol: lamp, threshold: "0.5", intent: "switch the lamp https://example.org/order/ticket/time",
				performs: map[string]act{"lamp.switch": does(deed{says: "click", proves: []string{"seen lit on lamp"}})},
			},
			`reference Url https://example.org/order/ticket/time
			picked lamp@1 by matcher 0.xx the intent shares words with this definition: lamp, switch
			routed lamp@1: accepted
			frontier 1: +lamp.switch
			step 1: lamp.switch {}
			~ lamp.switch is performed
			effect: click
			evidence: seen lit (e1.1)
			stopped after 1: Completed (lit)`,
		},
		{
			"words that no definition has match none, whatever the threshold",
			stage{matched: true, protocol: lamp, intent: "cook a pasta dinner for four"},
			`pick refused: no definition of the catalog shares a telling word with the intent
			routed : not accepted
			stopped after 0: Refused (unsure)`,
		},
		{
			"a match below the threshold is refused",
			stage{matched: true, protocol: lamp, threshold: "0.5", intent: "switch trains in Fulda at noon"},
			`pick refused: the matcher picked lamp@1 with confidence 0.xx, below the threshold 0.5
			routed lamp@1: not accepted
			stopped after 0: Refused (unsure)`,
		},
		{
			"two definitions that match alike leave it unsure, however many words they share",
			stage{
				matched: true, threshold: "0.5",
				protocol: "format: protocol/1\nprotocol: {id: twin, revision: 1, description: " + manyWords + "}\n" + strings.Join(strings.Split(workshop, "\n")[3:], "\n"),
				intent:   manyWords, twice: true,
			},
			`pick refused: the matcher picked a-twin@1 with confidence 0.xx, below the threshold 0.5
			routed a-twin@1: not accepted
			stopped after 0: Refused (unsure)`,
		},
		{
			"a classifier that fails fails the run",
			stage{classifier: []turn{}, protocol: lamp},
			`~ m-small is asked: pick_protocol
			failed after 0: classify the intent: Unavailable: the script has no turn left`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.play(t).transcript()
			if c.matched { // how sure the matcher is, is its own business
				got = regexp.MustCompile(`(matcher|confidence) 0\.[0-9]{2}\b`).ReplaceAllString(got, "$1 0.xx")
			}
			if diff := cmp.Diff(lines(c.want), lines(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The request of a classification: the registry, one forced tool with a closed schema, and the intent
// as the only item (3.2).
func TestTheClassificationRequest(t *testing.T) {
	const intent = "light the lamp of ABC-12\nand nothing else"
	p := stage{classifier: []turn{picks("lamp@1", "1")}, intent: intent, protocol: lamp, budget: new(0)}.play(t)
	r := p.sorted[0]
	if diff := cmp.Diff([]string{intent}, r.Input); diff != "" {
		t.Errorf("items:\n%s", diff)
	}
	want := []model.Tool{{
		Name: "pick_protocol", Description: "Pick a protocol of the registry.",
		Parameters: `{"type":"object","properties":{` +
			`"protocol":{"type":"string","enum":["data-query@1","incident-response@1","software-change@1","support-triage@1","system-query@1","lamp@1"]},` +
			`"confidence":{"type":"number","minimum":0,"maximum":1},` +
			`"reasons":{"type":"array","items":{"type":"string"}}},` +
			`"required":["protocol","confidence","reasons"],"additionalProperties":false}`,
	}}
	if diff := cmp.Diff(want, r.Tools); diff != "" {
		t.Errorf("tools:\n%s", diff)
	}
	for _, line := range []string{
		"\nsystem-query@1: Tell the local date or time of this host from a real clock reading.",
		"\n- about intent: the question as asked\n",
		"\nlamp@1: (no description)\n- about lamp: (no description)\n",
	} {
		if !strings.Contains(r.Instructions, line) {
			t.Errorf("the instructions lack %q:\n%s", line, r.Instructions)
		}
	}
	if strings.Contains(r.Instructions, "ABC-12") {
		t.Error("the intent stands in the instructions")
	}
}

// What is refused before anything is asked or told.
func TestRefusedAtOnce(t *testing.T) {
	twoKeys, err := catalog.Bundled().AddYAML("lamp@1", []byte(strings.ReplaceAll(lamp, "{lamp.switch: {}}", "{lamp.switch: {requires: [{capability: b}, {capability: a}]}}")))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options run.Options
		want    string
	}{
		{"an intent over 1 MiB", run.Options{Intent: strings.Repeat("x", run.MaxIntentBytes+1), Catalog: catalog.Bundled()}, "the intent is longer than 1048576 bytes"},
		{"an intent that is no text", run.Options{Intent: "what time\xff", Catalog: catalog.Bundled()}, "the intent is not UTF-8"},
		{"a catalog of nothing", run.Options{Intent: "x"}, "the catalog holds no definition"},
		{"a definition that no governor takes, also when another is asked for", run.Options{Intent: "x", Catalog: twoKeys, Protocol: "system-query@1"}, "lamp@1: action lamp.switch requires a and b; at most one capability per action"},
		{
			"a protocol that the catalog does not hold",
			run.Options{Intent: "fix ABC-12", Catalog: catalog.Bundled(), Protocol: "system-query@2"},
			"the catalog holds no system-query@2; it holds data-query@1, incident-response@1, software-change@1, support-triage@1, system-query@1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &played{}
			c.options.Events = stage{}.options(p).Events
			c.options.Classifier, c.options.Seam = nobody{}, &player{}
			p.outcome, p.err = run.Run(t.Context(), c.options)
			holds(t, p, false)
			if got := p.transcript(); got != "failed after 0: "+c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAnIntentOfOneMebibyteIsTaken(t *testing.T) {
	p := stage{intent: strings.Repeat("x", run.MaxIntentBytes), budget: new(0)}.play(t)
	if p.err != nil {
		t.Error(p.err)
	}
}

// Run does not compile bundled definitions only to check them.
func TestTheGovernorTakesEveryBundledDefinition(t *testing.T) {
	for _, e := range append(catalog.Bundled().Entries(), catalog.Plugins().Entries()...) {
		if err := governor.CheckDefinition(e.Name, e.Protocol()); err != nil {
			t.Error(err)
		}
	}
}

// The matcher is given the words of an intent, not where they point.
func TestWordsLeaveReferencesOut(t *testing.T) {
	for _, c := range []struct{ intent, want string }{
		{"what time is it for ABC-12, see https://example.org/time", "what time is it for see"},
		{"(ABC-12) fix", "fix"},
		{"UTF-8 is no key", "UTF-8 is no key"},
		{"ftp://example.org/time", ""},
		{"  a\n\tb ", "a b"},
	} {
		if got := run.Words(c.intent); got != c.want {
			t.Errorf("%q: %q, want %q", c.intent, got, c.want)
		}
	}
}

// An intent may be nothing but references, many of them.
func TestAnIntentOfManyReferencesIsMatchedInTime(t *testing.T) {
	intent := manyReferences()
	if n := len(reference.Extract(intent)); n < 50_000 {
		t.Fatalf("%d references", n)
	}
	outcome, err := run.Run(t.Context(), run.Options{Intent: intent, Catalog: catalog.Bundled()})
	if err != nil || outcome.Detail != "unsure" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// manyReferences gives an intent of nearly the largest size.
func manyReferences() string {
	var intent strings.Builder
	for i := 0; intent.Len() < run.MaxIntentBytes-16; i++ {
		fmt.Fprintf(&intent, "AB-%d ", i)
	}
	return intent.String()
}
