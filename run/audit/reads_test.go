package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/model"
	results "github.com/loomrun/loom/result"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/audit"
	"github.com/loomrun/loom/run/record"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/storetest"
)

// mail is a foreign store: two hits under the ceiling of the run, one above it, and a calendar without labels.
type mail struct{}

func (mail) Run(_ context.Context, argv []string) (retrieval.Exit, error) {
	switch argv[0] {
	case "search":
		return retrieval.Exit{Stdout: []byte(`{"hits":[{"title":"the work of Monday","ifc":{"confidentiality":["work"]}},` +
			`{"title":"a private matter","ifc":{"confidentiality":["health"]}},{"title":"open to all","ifc":{"confidentiality":[]}}],"query":"q"}`)}, nil
	case "calendar":
		return retrieval.Exit{Stdout: []byte(`[{"title":"a day without label"}]`)}, nil
	}
	return retrieval.Exit{}, errors.New("fork/exec /private/path: no such file")
}

// reader is a model that makes its calls in turn. {{N}} is the Nth token of the request.
type reader struct{ calls []string }

func (*reader) UpstreamName() string { return "m" }

var tokens = regexp.MustCompile(`cfh:v:[2-9a-z]{5}`)

func (r *reader) Ask(_ context.Context, q model.Request) (model.Reply, error) {
	if len(r.calls) == 0 {
		return model.Reply{}, errors.New("no call is left")
	}
	name, arguments, _ := strings.Cut(r.calls[0], " ")
	r.calls = r.calls[1:]
	for i, token := range tokens.FindAllString(strings.Join(q.Input, "\n"), -1) {
		arguments = strings.ReplaceAll(arguments, fmt.Sprintf("{{%d}}", i+1), token)
	}
	return model.Reply{Stop: model.StopToolCalls, Calls: []model.Call{{ID: "c", Name: name, Arguments: arguments}}}, nil
}

// The steps of the run that reads.
const (
	searches  = "effect:loom_search"        // 1
	describes = "effect:describe_handle"    // 2
	lists     = "effect:loom_calendar_list" // 3
	profiles  = "effect:loom_profile"       // 4: it fails
	answers   = "effect:answer.give"        // 5
)

// read is the record of a run that reads, describes, fails to read, and answers.
func read(t testing.TB) *journal.Record {
	t.Helper()
	return readingRun(t, retrieve.Options{}, `{"answer":"On Monday.","cites":["{{1}}"]}`)
}

// writing is the same with a result that is written.
func writing(t testing.TB) *journal.Record {
	t.Helper()
	m := storetest.NewMemory(store.Owner{Subject: "ada", Zone: "UTC"})
	return readingRun(t, retrieve.Options{
		ResultSchema: []byte(`{"type":"object","properties":{"source":{"asCell":true}}}`),
		Cabinet: func(context.Context) (results.Cabinet, func() error, error) {
			return m, func() error { return nil }, nil
		},
	}, `{"answer":"On Monday.","cites":[],"result":{"source":"{{1}}"}}`)
}

func readingRun(t testing.TB, o retrieve.Options, answer string) *journal.Record {
	t.Helper()
	config := filepath.Join(t.TempDir(), "retrieval.json")
	if err := os.WriteFile(config, []byte(`{"cliPath":"/x","transport":{"kind":"broker","queuePath":"/x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ceiling, err := label.ReadCeiling([]byte(`["work"]`))
	if err != nil {
		t.Fatal(err)
	}
	steps := 5
	o.ConfigPath, o.Ceiling, o.ResultCeiling, o.From = config, ceiling, label.Unbounded(), []string{"--ceiling work"}
	o.Program = func(*retrieval.Config) retrieval.Program { return mail{} }
	kept := &desk{}
	ended, err := record.Run(t.Context(), record.Options{Store: kept, Options: run.Options{
		ID: "run1", Intent: "when?", Catalog: catalog.Bundled(), Protocol: "data-query@1", MaxSteps: &steps,
		Now: func() time.Time { return time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC) },
		Agent: &reader{calls: []string{
			`loom_search {"query":"q"}`, `describe_handle {"token":"{{1}}"}`, `loom_calendar_list {}`, `loom_profile {}`, `answer_give ` + answer,
		}},
		Bindings: []effect.Binding{retrieve.New(o)},
	}})
	if err != nil || ended.Reason != event.Completed {
		t.Fatalf("the run ended with %+v: %v", ended.Outcome, err)
	}
	return kept.kept(t)
}

// readVerdicts are those of a report, the checks of reads included.
func readVerdicts(r audit.Report) map[string]audit.Verdict {
	found := map[string]audit.Verdict{}
	for _, c := range r.Checks {
		found[c.Name] = c.Verdict
	}
	return found
}

func TestARunThatReadsPasses(t *testing.T) {
	for _, r := range []*journal.Record{read(t), writing(t)} {
		passes(t, r)
	}
}

func passes(t *testing.T, r *journal.Record) {
	t.Helper()
	report := audit.Check(r, tables(r.Entries))
	for name, verdict := range readVerdicts(report) {
		if verdict != audit.Pass {
			t.Errorf("%s: %s", name, verdict)
		}
	}
	if noted := report.Checks[7].Findings; len(noted) != 1 || !strings.HasPrefix(noted[0].What, "rows without a label that were shown under that of the question: 1 ") {
		t.Errorf("D38: of rows without a label it is said %+v", noted)
	}
	if len(report.Checks) != 14 {
		t.Errorf("there are %d checks", len(report.Checks))
	}
	if err := record.Replay(r, []effect.Binding{retrieve.Recorded()}); err != nil {
		t.Error(err)
	}
}

// report changes what an effect reported.
func report(f *forgery, name string, change func(*effect.Report)) {
	f.t.Helper()
	result(f, name, 1, func(p *run.Performance) { change(&p.Report) })
}

// observation changes what a read observed, and the observation that is told of it.
func observation(f *forgery, name string, nth int, old, now string) {
	f.t.Helper()
	report(f, name, func(r *effect.Report) {
		changed := strings.Replace(r.Observation, old, now, 1)
		if changed == r.Observation {
			f.t.Fatalf("%s does not stand in %s", old, r.Observation)
		}
		r.Observation = changed
	})
	retell(f, nth, func(e *event.Observed) { e.Payload = strings.Replace(e.Payload, old, now, 1) })
}

// Each check of a run that reads has a violation that makes it fail, and it alone of the reads' checks where that can be.
func TestSeededViolationsOfReads(t *testing.T) {
	r := read(t)
	for _, c := range []struct {
		name   string
		change func(*forgery)
		fails  []string // checks that fail, those of other runs left out
	}{
		// RET-1: what was shown is not what the payload comes to.
		{"a row is shown that is not in the payload", func(f *forgery) {
			report(f, searches, func(r *effect.Report) {
				r.Disclosed.Text = strings.Replace(r.Disclosed.Text, "the work of Monday", "the work of Friday", 1)
			})
		}, []string{audit.Rows}},
		{"a token is another one", func(f *forgery) {
			report(f, searches, func(r *effect.Report) {
				r.Disclosed.Text = tokens.ReplaceAllString(r.Disclosed.Text, "cfh:v:22222")
			})
		}, []string{audit.Rows}},
		{"a withheld row is left out", func(f *forgery) {
			report(f, searches, func(r *effect.Report) {
				r.Disclosed.Text = strings.Replace(r.Disclosed.Text, `{"status":"withheld","reasonCode":"cfc_ceiling_exceeded"},`, "", 1)
			})
		}, []string{audit.Rows}},
		{"the observation is none", func(f *forgery) {
			report(f, searches, func(r *effect.Report) { r.Observation = "{}" })
			retell(f, 2, func(e *event.Observed) { e.Payload = "{}" })
		}, []string{audit.Rows, audit.Answer}},
		{"nothing is said of what was shown", func(f *forgery) {
			report(f, lists, func(r *effect.Report) { r.Disclosed = nil })
			f.drop("ContextObserved", 2)
		}, []string{audit.Rows, audit.Answer}},
		{"the read is another one", func(f *forgery) { observation(f, searches, 2, `"tool":"loom_search"`, `"tool":"loom_people"`) }, []string{audit.Rows, audit.Observations, audit.Answer}},
		{"another question was answered", func(f *forgery) {
			observation(f, searches, 2, `"input":"{\"query\":\"q\"}"`, `"input":"{\"query\":\"x\"}"`)
		}, []string{audit.Rows}},
		{"the program was asked something else", func(f *forgery) { observation(f, searches, 2, `"argv":["search","q"`, `"argv":["search","x"`) }, []string{audit.Rows}},
		{"the program had failed", func(f *forgery) { observation(f, searches, 2, `"status":0`, `"status":2`) }, []string{audit.Rows, audit.Errors, audit.Answer}},
		{"the label of the query is another", func(f *forgery) {
			observation(f, lists, 6, `"query":"{\"confidentiality\":[\"work\"]`, `"query":"{\"confidentiality\":[\"home\"]`)
		}, []string{audit.Rows, audit.Observations, audit.Withheld, audit.Answer}},
		{"a description tells more", func(f *forgery) {
			report(f, describes, func(r *effect.Report) { r.Text = strings.Replace(r.Text, "loom_search", "loom_people", 1) })
		}, []string{audit.Rows}},

		// RET-2: the labels.
		{"the label of what was shown is less", func(f *forgery) {
			report(f, searches, func(r *effect.Report) { r.Disclosed.Label = "" })
			f.drop("ContextObserved", 1)
		}, []string{audit.Observations}},
		{"an observation is not told", func(f *forgery) { f.drop("ContextObserved", 1) }, []string{audit.Observations}},
		{"an observation is told twice", func(f *forgery) { f.repeat("ContextObserved", 1) }, []string{audit.Observations}},
		{"the label of the run is less", func(f *forgery) {
			retell(f, 1, func(e *event.ContextObserved) { e.Context = "" })
		}, []string{audit.Observations}},
		{"an observation has another number", func(f *forgery) {
			retell(f, 1, func(e *event.ContextObserved) { e.Sequence = 2 })
		}, []string{audit.Observations}},
		{"an observation is of another output", func(f *forgery) {
			retell(f, 1, func(e *event.ContextObserved) { e.OutputID = "output-7" })
		}, []string{audit.Observations}},
		{"a request knows less than the run was shown", func(f *forgery) {
			request(f, lists, 1, func(r *effect.Request) { r.Label = "" })
		}, []string{audit.Observations}},
		{"the last observation is missing", func(f *forgery) {
			f.Entries = f.Entries[:f.find("ContextObserved", 2)]
		}, []string{audit.Observations}},

		// RET-3: the text of a withheld row was shown.
		{"the text of a withheld row is shown", func(f *forgery) {
			report(f, searches, func(r *effect.Report) {
				r.Disclosed.Text = strings.Replace(r.Disclosed.Text, "open to all", "open to all: a private matter", 1)
			})
		}, []string{audit.Rows, audit.Withheld}},

		// RET-4: the sizes.
		{"too much is shown", func(f *forgery) {
			report(f, searches, func(r *effect.Report) {
				r.Disclosed.Text = strings.Replace(r.Disclosed.Text, `"envelope":{`, `"envelope":{`+strings.Repeat(`"a":1,`, 1)+`"b":[`+strings.Repeat(`"xxxxxxxx",`, 5000)+`0],`, 1)
			})
		}, []string{audit.Rows, audit.Bounds}},
		{"a text is not cut", func(f *forgery) {
			report(f, searches, func(r *effect.Report) {
				r.Disclosed.Text = strings.Replace(r.Disclosed.Text, "open to all", strings.Repeat("x", retrieval.MaxText+1), 1)
			})
		}, []string{audit.Rows, audit.Bounds}},
		{"what is shown is no JSON", func(f *forgery) {
			report(f, searches, func(r *effect.Report) { r.Disclosed.Text += "!" })
		}, []string{audit.Rows, audit.Bounds}},

		// RET-5: the ceiling.
		{"a read is held to another ceiling", func(f *forgery) {
			observation(f, searches, 2, `"runCeiling":"[\"work\"]"`, `"runCeiling":"[\"health\"]"`)
		}, []string{audit.Ceiling}},
		{"the ceiling is wider than those it is met of", func(f *forgery) {
			observation(f, searches, 2, `"ceiling":"[\"work\"]"`, `"ceiling":"null"`)
		}, []string{audit.Rows, audit.Observations, audit.Ceiling, audit.Answer}},
		{"rows may be without label", func(f *forgery) {
			observation(f, searches, 2, `"requireRowLabels":false`, `"requireRowLabels":true`)
		}, []string{audit.Ceiling}},
		{"another ceiling is told than was recorded", func(f *forgery) {
			retell(f, 1, func(e *event.CeilingSet) { e.Ceiling = `["work","health"]` })
		}, []string{audit.Ceiling}},
		{"a ceiling is told twice", func(f *forgery) { f.repeat("CeilingSet", 1) }, []string{audit.Ceiling}},
		{"the ceiling is none", func(f *forgery) {
			retell(f, 1, func(e *event.CeilingSet) { e.Ceiling = "" })
			result(f, "ceiling", 1, func(b *effect.Bound) { b.Ceiling = "" })
		}, []string{audit.Ceiling}},
		{"the terms are none", func(f *forgery) {
			retell(f, 1, func(e *event.CeilingSet) { e.Terms = "" })
			result(f, "ceiling", 1, func(b *effect.Bound) { b.Terms = "" })
		}, []string{audit.Ceiling, audit.Answer}},

		// RET-6: what a failure says.
		{"a failure tells the model of the host", func(f *forgery) {
			report(f, profiles, func(r *effect.Report) {
				r.Disclosed.Text = strings.Replace(r.Disclosed.Text, "the read failed", "/private/path", 1)
			})
		}, []string{audit.Errors}},
		{"a failure tells people of the host", func(f *forgery) {
			report(f, profiles, func(r *effect.Report) { r.Text += " /private/path" })
		}, []string{audit.Errors}},
		{"a failure has a message of its own", func(f *forgery) {
			observation(f, profiles, 8, `"message":"the read failed"`, `"message":"/private/path"`)
		}, []string{audit.Errors}},

		// The answer.
		{"the answer cites what is not held", func(f *forgery) {
			report(f, answers, func(r *effect.Report) { r.Observation = citing(r.Observation) })
			retell(f, 10, func(e *event.Observed) { e.Payload = citing(e.Payload) })
		}, []string{audit.Answer}},
		{"the label of the answer is less", func(f *forgery) {
			observation(f, answers, 10, `"label":"{\"confidentiality\":[\"work\"]`, `"label":"{\"confidentiality\":[]`)
		}, []string{audit.Answer}},
		{"the answer is another one", func(f *forgery) { observation(f, answers, 10, "On Monday.", "On Friday.") }, []string{audit.Answer}},
		{"the tokens of the answer are none", func(f *forgery) {
			report(f, answers, func(r *effect.Report) { r.Observation = `{"answer":"On Monday.","cites":[]}` })
			retell(f, 10, func(e *event.Observed) { e.Payload = `{"answer":"On Monday.","cites":[]}` })
		}, []string{audit.Answer}},
	} {
		f := forge(t, r)
		c.change(f)
		f.seal()
		got := readVerdicts(audit.Check(f.Record, nil))
		want := map[string]bool{}
		for _, name := range c.fails {
			want[name] = true
		}
		for _, name := range []string{audit.Rows, audit.Observations, audit.Withheld, audit.Bounds, audit.Ceiling, audit.Errors, audit.Answer} {
			if (got[name] == audit.Fail) != want[name] {
				t.Errorf("%s: %s is %s", c.name, name, got[name])
			}
		}
	}
}

// citing names another token in the cites of an answer.
func citing(observation string) string {
	at := strings.Index(observation, `"cites":["`) + len(`"cites":["`)
	return observation[:at] + "cfh:v:22222" + observation[at+len("cfh:v:22222"):]
}

// Where the record cannot be read, what was read is inconclusive and not passed.
func TestReadsOfADamagedRecord(t *testing.T) {
	r := read(t)
	f := forge(t, r)
	f.Entries[f.find(searches, 1)].Body = "{"
	f.seal()
	for name, verdict := range readVerdicts(audit.Check(f.Record, nil)) {
		if strings.HasPrefix(name, "RET") && verdict != audit.Inconclusive {
			t.Errorf("%s: %s", name, verdict)
		}
	}
}

// The documents of a result have the labels of their rows, and the result that of the answer.
func TestSeededViolationsOfResults(t *testing.T) {
	r := writing(t)
	for _, c := range []struct{ name, old, now string }{
		{"the result has another label", `"written":{"link":"results/run1.md","label":"{\"confidentiality\":[\"work\"]`, `"written":{"link":"results/run1.md","label":"{\"confidentiality\":[\"home\"]`},
		{"a document has another label", `"label":"{\"confidentiality\":[\"work\"],\"integrity\":[]}"}]`, `"label":"{\"confidentiality\":[],\"integrity\":[]}"}]`},
	} {
		f := forge(t, r)
		observation(f, answers, 10, c.old, c.now)
		f.seal()
		if got := readVerdicts(audit.Check(f.Record, nil)); got[audit.Answer] != audit.Fail {
			t.Errorf("%s: %s", c.name, got[audit.Answer])
		}
	}
	f := forge(t, r)
	edit(f, "ceiling", 1, func(r *journal.Report) { r.Result = []byte(`[7]`) })
	f.seal()
	if got := audit.Check(f.Record, nil); got.Verdict == audit.Pass {
		t.Error("a ceiling that cannot be read passes")
	}
}
