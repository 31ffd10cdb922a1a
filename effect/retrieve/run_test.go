package retrieve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

func labelled(atoms ...string) string {
	return `{"confidentiality":["` + strings.Join(atoms, `","`) + `"],"integrity":[]}`
}

// A question is answered with rows that the run holds: the outcome answered (D40).
func TestAnswered(t *testing.T) {
	s := stage{
		options: retrieve.Options{Ceiling: upTo(t, owner, work), From: []string{"--ceiling work"}, ResultCeiling: label.Unbounded()},
		program: &program{payloads: map[string]string{"search": found(hit("one", owner, work), hit("two", owner, health), hit("three", owner))}},
		turns:   []string{`loom_search {"query":"q"}`, `answer_give {"answer":"It is on {{1}}.","cites":["{{1}}","{{2}}"]}`},
	}
	p := s.play(t)
	if p.err != nil || p.outcome.Reason != event.Completed || p.outcome.Detail != "answered" {
		t.Fatalf("%+v, %v", p.outcome, p.err)
	}
	if diff := cmp.Diff([]string{"search q --json"}, s.program.calls); diff != "" {
		t.Error(diff)
	}
	kinds := []string{}
	for _, e := range all[event.EvidenceReceived](p) {
		kinds = append(kinds, e.Kind+" by "+e.Producer)
	}
	if diff := cmp.Diff([]string{"rows_admitted by loom/retrieval-verifier", "answer_grounded by loom/retrieval-verifier"}, kinds); diff != "" {
		t.Error(diff)
	}
	// E134: what the model is shown has the notice and the snippets, and no cfc; E091: of a withheld row nothing.
	shown := p.agent.asked[1]
	for _, there := range []string{`"notice":"`, `"snippet":"about one"`, `"reasonCode":"cfc_ceiling_exceeded"`, `"outputId":"output-1"`, retrieval.Notice} {
		if !strings.Contains(shown, there) {
			t.Errorf("the model is not shown %s", there)
		}
	}
	for _, not := range []string{`"cfc"`, "two", `"ifc"`} {
		if strings.Contains(shown, not) {
			t.Errorf("the model is shown %s", not)
		}
	}
	// E135: one observation, whose label is that of the admitted rows.
	observed := all[event.ContextObserved](p)
	if len(observed) != 1 || observed[0].Label != labelled(owner, work) || observed[0].Context != labelled(owner, work) || observed[0].Channels[0] != "output" {
		t.Errorf("%+v", observed)
	}
	set := all[event.CeilingSet](p)
	if len(set) != 1 || set[0].Ceiling != `["`+owner+`","`+work+`"]` || set[0].From[0] != "--ceiling work" {
		t.Errorf("%+v", set)
	}
	reports := all[event.EffectReported](p)
	if want := "2 rows admitted, 1 withheld, 0 omitted\ncfh:v:"; !strings.HasPrefix(reports[0].Report, want) || !strings.Contains(reports[0].Report, "\nwithheld (cfc_ceiling_exceeded)\n") {
		t.Errorf("people are told %s", reports[0].Report)
	}
	if want := "cited: "; !strings.Contains(reports[1].Report, want) || !strings.Contains(reports[1].Report, "(loom_search)") {
		t.Errorf("people are told %s", reports[1].Report)
	}
}

// Nothing is there: the outcome nothing_found. Before anything was read it cannot be said.
func TestNothingFound(t *testing.T) {
	for _, payload := range []string{found(), found(hit("secret", health))} {
		s := stage{
			options: retrieve.Options{Ceiling: upTo(t, owner, work)},
			program: &program{payloads: map[string]string{"search": payload}},
			turns:   []string{`answer_give {"answer":"nothing","cites":[]}`, `loom_search {"query":"q"}`, `answer_give {"answer":"nothing","cites":[]}`},
		}
		p := s.play(t)
		if p.err != nil || p.outcome.Detail != "nothing_found" {
			t.Fatalf("%+v, %v", p.outcome, p.err)
		}
		refused := all[event.StepRefused](p)
		if len(refused) != 1 || !strings.Contains(refused[0].Reason, "answer_give") {
			t.Errorf("%+v", refused)
		}
		if observed := all[event.ContextObserved](p); observed != nil { // E131
			t.Errorf("%+v", observed)
		}
	}
}

// E117: what was seen before labels a row without a label; E094: it is withheld where that does not fit.
func TestUnlabelledRowsTakeTheLabelOfTheQuery(t *testing.T) {
	s := stage{
		options: retrieve.Options{Ceiling: upTo(t, owner, work)},
		program: &program{payloads: map[string]string{"search": found(hit("one", work)), "calendar": `[{"title":"plain"}]`}},
		turns:   []string{`loom_calendar_list {}`, `loom_search {"query":"q"}`, `loom_calendar_list {}`},
	}
	p := s.play(t)
	shown := p.agent.asked[2]
	if p.err != nil || !strings.Contains(shown, `"label":{"confidentiality":[],"integrity":[]},"labelSource":"query","value":{"title":"plain"}`) {
		t.Errorf("%v: before anything was seen: %s", p.err, shown)
	}
	observed := all[event.ContextObserved](p)
	if len(observed) != 2 || observed[1].Label != labelled(work) || observed[1].Context != labelled(work) {
		t.Errorf("%+v", observed)
	}
	reports := all[event.EffectReported](p)
	if !strings.Contains(reports[2].Report, "1 row admitted, 0 withheld, 0 omitted; 1 without a label of their own took that of the query") {
		t.Errorf("people are told %s", reports[2].Report)
	}
}

// D38: rows without a label are withheld where rows must have one.
func TestRequireRowLabels(t *testing.T) {
	s := stage{
		options: retrieve.Options{Ceiling: label.Unbounded(), RequireRowLabels: true},
		program: &program{payloads: map[string]string{"search": found(hit("plain"))}},
		turns:   []string{`loom_search {"query":"q"}`, `loom_search {"query":"q"}`},
	}
	p := s.play(t)
	if shown := p.agent.asked[1]; p.err != nil || !strings.Contains(shown, "cfc_label_missing") || strings.Contains(shown, "plain") {
		t.Errorf("%v: %s", p.err, shown)
	}
}

// What a model names is held, or the answer is refused before it is given: A12, A20, and tokens of no run.
func TestAnAnswerCitesWhatTheRunHolds(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{`{"answer":"so","cites":["cfh:v:22222"]}`, "unheld_handle"},
		{`{"answer":"see cfh:v:22222","cites":["{{2}}"]}`, "unheld_handle"},
		{`{"answer":"so","cites":["{{2}}x"]}`, "unheld_handle"}, // E158: another token
		{`{"answer":"so","cites":["cfh:a:22222"]}`, "unheld_handle"},
		{`{"answer":"so","cites":["one"]}`, "cites takes tokens"},
		{`{"answer":"so","cites":"{{1}}"}`, "answer.give takes cites"},
		{`{"answer":" ","cites":[]}`, "answer.give takes an answer"},
		{`{"answer":"so"}`, "answer.give takes cites"},
		{`{"answer":"so","cites":[],"result":{}}`, "no such argument: result"},
		{`{"answer":"` + strings.Repeat("x", retrieve.MaxAnswer+1) + `","cites":[]}`, "more than 16000 characters"},
		{`{"answer":"so","cites":["{{2}}","{{2}}"]}`, ""},
	} {
		s := stage{
			options: retrieve.Options{Ceiling: label.Unbounded(), ResultCeiling: label.Unbounded()},
			program: &program{payloads: map[string]string{"search": found(hit("says cfh:v:22222", owner))}},
			turns:   []string{`loom_search {"query":"q"}`, `answer_give ` + c.arguments},
		}
		p := s.play(t)
		refused := all[event.StepRefused](p)
		switch {
		case p.err != nil:
			t.Errorf("%s: %v", c.arguments, p.err)
		case c.want == "" && (p.outcome.Detail != "answered" || len(refused) > 0):
			t.Errorf("%s: %+v, %+v", c.arguments, p.outcome, refused)
		case c.want != "" && (len(refused) != 1 || !strings.Contains(refused[0].Reason, c.want)):
			t.Errorf("%.60s: refused %+v, want %s", c.arguments, refused, c.want)
		}
	}
}

// A failure is a code and a fixed text, for the model and for people: A11. Nothing is observed of it: E133.
func TestFailuresSayNothingOfTheHost(t *testing.T) {
	for _, c := range []struct {
		program program
		want    string
	}{
		{program{fails: errors.New("fork/exec /private/path")}, `{"outputId":"output-1","status":"error","code":"command_failed","message":"the read failed"}`},
		{program{payloads: map[string]string{"search": "not json /private/path"}}, `"code":"command_failed"`},
		{program{payloads: map[string]string{"search": `{"ok":false,"code":"unknown_page","error":"/private/path"}`}}, `"code":"host_refused","message":"the read was refused","hostCode":"unknown_page"`},
		{program{payloads: map[string]string{"search": `{"hits":"/private/path"}`}}, `"code":"malformed_payload"`},
	} {
		s := stage{
			options: retrieve.Options{Ceiling: label.Unbounded()}, program: &c.program,
			turns: []string{`loom_search {"query":"q"}`, `loom_search {"query":"q"}`},
		}
		p := s.play(t)
		if shown := p.agent.asked[1]; p.err != nil || !strings.Contains(shown, c.want) {
			t.Errorf("%v: %s", p.err, shown)
		}
		for _, e := range p.events {
			told, observed := e.(event.Observed)
			if text := cmp.Diff(nil, e); strings.Contains(text, "/private") && (!observed || !strings.Contains(told.Payload, `"payload"`)) {
				t.Errorf("the path is in %T: %s", e, text)
			}
		}
		if evidence := all[event.EvidenceReceived](p); evidence != nil {
			t.Errorf("a failure is evidence: %+v", evidence)
		}
		if observed := all[event.ContextObserved](p); observed != nil {
			t.Errorf("E133: a failure is observed: %+v", observed)
		}
	}
}

// Arguments are refused before any process starts (E001, E005, E010), and so is a tool that is not among those that are allowed.
func TestNothingIsStartedForWhatIsRefused(t *testing.T) {
	s := stage{
		options: retrieve.Options{Ceiling: label.Unbounded(), Tools: []string{"loom_search"}},
		turns: []string{
			`loom_search {}`, `loom_search {"query":"--list-sources"}`, `loom_search {"query":"x","engine":"index"}`, `loom_profile {}`, `describe_handle {"token":"cfh:v:22222"}`,
		},
	}
	p := s.play(t)
	if p.err != nil || len(s.play(t).agent.asked) != 5 {
		t.Fatal(p.err)
	}
	reasons := []string{}
	for _, e := range all[event.StepRefused](p) {
		reasons = append(reasons, e.Reason)
	}
	want := []string{
		"invalid_input: search needs a query or a person", "invalid_input: query begins with a hyphen",
		`invalid_input: there is no argument "engine"; there are query, sources, since, until, tz, person, limit, rank`,
		"the model's selection names loom_profile, which is not offered", "the model's selection names describe_handle, which is not offered",
	}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"loom_search"}, p.agent.tools); diff != "" {
		t.Error(diff)
	}
}

// E157: a token is described by kind, source and types; E120, 6.5: one that is not held is unknown, which is no error.
func TestDescribeHandle(t *testing.T) {
	s := stage{
		options: retrieve.Options{Ceiling: label.Unbounded()},
		program: &program{payloads: map[string]string{"search": found(hit("one", owner))}},
		turns:   []string{`loom_search {"query":"q"}`, `describe_handle {"token":"{{1}}"}`, `describe_handle {"token":"cfh:v:22222"}`, `describe_handle {"token":""}`},
	}
	p := s.play(t)
	reports := all[event.EffectReported](p)
	if p.err != nil || len(reports) != 3 {
		t.Fatalf("%v, %+v", p.err, reports)
	}
	token := tokensIn(reports[0].Report)[0]
	for i, want := range []string{
		`{"token":"` + token + `","known":true,"referent":{"kind":"document","source":"loom_search","labelSource":"row"},"labels":{"confidentiality":[["` + owner + `"]],"integrity":[]}}`,
		`{"token":"cfh:v:22222","known":false}`,
	} {
		if reports[i+1].Report != want {
			t.Errorf("%s, want %s", reports[i+1].Report, want)
		}
	}
	if refused := all[event.StepRefused](p); len(refused) != 1 {
		t.Errorf("%+v", refused)
	}
}

// Another protocol that declares the same actions gets the same binding (D40), and one without a tool does not.
func TestOtherProtocols(t *testing.T) {
	const yaml = `
format: protocol/1
protocol: {id: other, revision: 1}
artifacts: {intent: {}}
evidence_kinds: {rows_admitted: {}, rows_none: {}}
claims: {read: {true_when: {evidence: {kind: rows_admitted}}}}
actions: {loom_profile: {effect: read, may_produce: [{evidence: rows_admitted}]}}
outcomes: {done: {requires: {claim: read}}}
`
	s := stage{
		options: retrieve.Options{Ceiling: label.Unbounded()}, protocol: yaml,
		program: &program{payloads: map[string]string{"profile": `{"name":"Ada","hasProfile":true}`}}, turns: []string{`loom_profile {}`},
	}
	if p := s.play(t); p.err != nil || p.outcome.Detail != "done" {
		t.Errorf("%+v, %v", p.outcome, p.err)
	}
	without := strings.ReplaceAll(yaml, "loom_profile", "loom_else")
	s = stage{options: retrieve.Options{Ceiling: label.Unbounded()}, protocol: without, turns: []string{"x {}"}}
	if p := s.play(t); p.outcome.Reason != event.NoLocalExecutor {
		t.Errorf("%+v, %v", p.outcome, p.err)
	}
}

// Without a configuration nothing is read, and it is said how there is one; a run that goes on before it was held to a ceiling does not go on.
func TestWhatABindingLacks(t *testing.T) {
	if lacks := retrieve.New(retrieve.Options{}).Lacks(nil); !strings.Contains(lacks, "--loom-retrieval-config") {
		t.Error(lacks)
	}
	if lacks := retrieve.Recorded().Lacks(nil); lacks != "" {
		t.Error(lacks)
	}
	if a, b := retrieve.New(retrieve.Options{}), retrieve.Recorded(); a.SHA256() != b.SHA256() || a.Name() != "retrieval" || len(a.SHA256()) != 64 {
		t.Error("the binding is another one when it is played")
	}
	port := retrieve.New(retrieve.Options{Resumed: true}).Open(effect.Intent{}).(effect.Bounded)
	if _, err := port.Bound(t.Context()); err == nil {
		t.Error("a run that was held to nothing yet goes on")
	}
	for _, b := range []effect.Bound{
		{Ceiling: "", Terms: "{}"},
		{Ceiling: "null", Terms: ""},
		{Ceiling: "null", Terms: "[]"},
		{Ceiling: "null", Terms: `{"tools":["x"]}`},
		{Ceiling: "null", Terms: `{"else":1}`},
		{Ceiling: "null", Terms: `{"resultCeiling":"x"}`},
		{Ceiling: "null", Terms: `{"resultSchema":"x"}`},
	} {
		if err := port.Hold(b); err == nil {
			t.Errorf("a run is held to %+v", b)
		}
	}
}

// A report that does not follow from its observation fails the run: whoever wrote it, it was not this program.
func TestAReportThatLiesIsRefused(t *testing.T) {
	open := func() (effect.Port, effect.Request, effect.Report) {
		port := retrieve.New(retrieve.Options{
			ConfigPath: config(t, ""), Ceiling: label.Unbounded(),
			Program: func(*retrieval.Config) retrieval.Program {
				return &program{payloads: map[string]string{"search": found(hit("one", owner))}}
			},
		}).Open(effect.Intent{}).(effect.Bounded)
		b, err := port.Bound(t.Context())
		if err != nil || port.Hold(b) != nil {
			t.Fatal(err)
		}
		r := effect.Request{Run: "r", Step: 1, Action: "loom_search", Arguments: `{"query":"q"}`, Artifacts: map[string]string{"intent": "i"}}
		report, err := port.Perform(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return port, r, report
	}
	if port, r, report := open(); true {
		if v, err := port.Verify(r, report); err != nil || len(v.Evidence) != 1 {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	for what, change := range map[string]func(*effect.Request, *effect.Report){
		"another source":   func(_ *effect.Request, p *effect.Report) { p.Source = "x" },
		"another artifact": func(_ *effect.Request, p *effect.Report) { p.Subject = "x" },
		"no observation":   func(_ *effect.Request, p *effect.Report) { p.Observation = "" },
		"another payload": func(_ *effect.Request, p *effect.Report) {
			p.Observation = strings.Replace(p.Observation, "one", "two", 1)
		},
		"no disclosure":       func(_ *effect.Request, p *effect.Report) { p.Disclosed = nil },
		"another label":       func(_ *effect.Request, p *effect.Report) { p.Disclosed.Label = "" },
		"more is shown":       func(_ *effect.Request, p *effect.Report) { p.Disclosed.Text += " " },
		"another question":    func(r *effect.Request, _ *effect.Report) { r.Arguments = `{"query":"x"}` },
		"another action":      func(r *effect.Request, _ *effect.Report) { r.Action = "loom_profile" },
		"another step":        func(r *effect.Request, _ *effect.Report) { r.Step = 2 },
		"the model knew more": func(r *effect.Request, _ *effect.Report) { r.Label = labelled(work) },
	} {
		port, r, report := open()
		change(&r, &report)
		if _, err := port.Verify(r, report); err == nil {
			t.Errorf("%s: it is evidence", what)
		}
	}
}

// D33: a read that is cancelled has a report, so that the run can go on without a word of a person.
func TestACancelledReadIsNotInDoubt(t *testing.T) {
	port := retrieve.New(retrieve.Options{
		ConfigPath: config(t, ""), Ceiling: label.Unbounded(), ResultCeiling: label.Unbounded(),
		Program: func(*retrieval.Config) retrieval.Program { return &program{} },
	}).Open(effect.Intent{}).(effect.Bounded)
	b, err := port.Bound(t.Context())
	if err != nil || port.Hold(b) != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := effect.Request{Run: "r", Step: 1, Action: "loom_search", Arguments: `{"query":"q"}`, Artifacts: map[string]string{"intent": "i"}}
	report, err := port.Perform(ctx, r)
	if err != nil || report.Refused != "" || !strings.Contains(report.Disclosed.Text, `"code":"cancelled"`) {
		t.Fatalf("%+v, %v", report, err)
	}
	if v, err := port.Verify(r, report); err != nil || v.Why != "cancelled" {
		t.Errorf("%+v, %v", v, err)
	}
}
