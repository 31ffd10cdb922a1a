package command

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/journal"
)

// verified has a report verified as one of note.record, which may produce note_recorded.
func verified(t *testing.T, report string) (effect.Verdict, error) {
	t.Helper()
	w := folder(t)
	w.write(t, "program", "exit 0")
	v, err := readReport([]byte(report), false)
	if err != nil {
		t.Fatal(err)
	}
	return recorder(t, w, "").Open(effect.Intent{Revision: "intent-1"}).Verify(recordNote(`{}`), effect.Report{
		Text: canonjson.Compact(v), Source: source, Subject: artifact, Observation: observation(v, document.TextOf("none")),
	})
}

// Evidence is what stands under evidence, of kinds that the action may produce; nothing else in a report is (6.4).
func TestEvidenceOfAReport(t *testing.T) {
	for _, tc := range []struct{ name, report, want string }{
		{"one item", `{"evidence":[{"kind":"note_recorded","result":"recorded"}]}`, "note_recorded recorded"},
		{"an item without result", `{"evidence":[{"kind":"note_recorded"}]}`, "note_recorded -"},
		{"an empty result is one", `{"evidence":[{"result":"","kind":"note_recorded"}]}`, "note_recorded "},
		{"opposite results (157)", `{"evidence":[{"kind":"note_recorded","result":"recorded"},{"kind":"note_recorded","result":"lost"}]}`, "note_recorded recorded, note_recorded lost"},
		{"none", `{"evidence":[]}`, ""},
		{"a word of success (156)", `{"status":"completed"}`, ""},
		{"evidence somewhere else", `{"report":{"evidence":[{"kind":"note_recorded"}]},"Evidence":[{"kind":"note_recorded"}],"claims":{"note.exists":true}}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			verdict, err := verified(t, tc.report)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			ids := map[string]bool{}
			for _, e := range verdict.Evidence {
				result := "-"
				if e.Record.Result != nil {
					result = *e.Record.Result
				}
				got = append(got, e.Record.Kind+" "+result)
				if e.Producer != producer || e.Record.Subject != "intent" || e.Record.SubjectRevision != "intent-1" || !strings.HasPrefix(e.Record.ID, "bound-") || ids[e.Record.ID] {
					t.Errorf("%+v", e)
				}
				ids[e.Record.ID] = true
			}
			if got := strings.Join(got, ", "); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// One item that is not as it must be, and none counts: the run fails (149, D15).
func TestEvidenceThatDoesNotCount(t *testing.T) {
	const good = `{"kind":"note_recorded","result":"recorded"}`
	for _, tc := range []struct{ name, evidence, want string }{
		{"another kind (149)", `[` + good + `,{"kind":"summary_published"}]`, `the report has evidence of the kind "summary_published", and the protocol lets note.record produce note_recorded`},
		{"a kind of nobody (149)", `[{"kind":"\u001b[2J"}]`, `the report has evidence of the kind "\x1b[2J", and the protocol lets note.record produce note_recorded`},
		{"no list", `{"kind":"note_recorded"}`, "the evidence in the report must be a list, not a map"},
		{"null", `null`, "the evidence in the report must be a list, not null"},
		{"an item that is no object", `["note_recorded"]`, "an item of evidence must be an object, not text"},
		{"an item without kind", `[{"result":"recorded"}]`, "an item of evidence has no kind"},
		{"a kind that is no text", `[{"kind":1}]`, "the kind of an item of evidence must be text, not a number"},
		{"a result that is no text", `[{"kind":"note_recorded","result":true}]`, "the result of an item of evidence must be text, not true or false"},
		{"a null result", `[{"kind":"note_recorded","result":null}]`, "result of an item of evidence is null; leave it out"},
		{"a subject of its own", `[{"kind":"note_recorded","subject":"other"}]`, `an item of evidence has no member "subject"`},
		{"a great many", `[` + good + strings.Repeat(","+good, 1000) + `]`, "the report has more than 1000 items of evidence"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			verdict, err := verified(t, `{"done":true,"evidence":`+tc.evidence+`}`)
			if err == nil || err.Error() != tc.want || len(verdict.Evidence) > 0 {
				t.Errorf("%v %+v, want %q", err, verdict, tc.want)
			}
		})
	}
}

func TestActionThatMayProduceNothing(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	b := bind(t, w, `{"protocol":"team-ops@1","bindings":[{"action":"note.touch","argv":["./program"]}]}`)
	r := recordNote(`{}`)
	r.Action = "note.touch"
	_, err := b.Open(effect.Intent{}).Verify(r, effect.Report{Source: source, Subject: artifact, Observation: `{"report":{"evidence":[{"kind":"note_recorded"}]}}`})
	if want := `the report has evidence of the kind "note_recorded", and the protocol lets note.touch produce none`; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestReportsOfOthersAreRefused(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	p := recorder(t, w, "").Open(effect.Intent{})
	good := effect.Report{Source: source, Subject: artifact, Observation: `{"report":{},"confinement":"none"}`}
	for name, spoil := range map[string]func(*effect.Report){
		"another source":         func(r *effect.Report) { r.Source = "clock" },
		"another subject":        func(r *effect.Report) { r.Subject = "clock" },
		"no JSON":                func(r *effect.Report) { r.Observation = "" },
		"no report in it":        func(r *effect.Report) { r.Observation = `{"confinement":"none"}` },
		"a report of other kind": func(r *effect.Report) { r.Observation = `{"report":[]}` },
	} {
		spoiled := good
		spoil(&spoiled)
		if _, err := p.Verify(recordNote(`{}`), spoiled); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := p.Verify(recordNote(`{}`), good); err != nil {
		t.Error(err)
	}
}

// The same report of the same step makes the same records, and of another step others.
func TestRecordIDsFollowFromTheStep(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	p := recorder(t, w, "").Open(effect.Intent{})
	report := effect.Report{Source: source, Subject: artifact, Observation: `{"report":{"evidence":[{"kind":"note_recorded"}]}}`}
	of := func(step int) string {
		r := recordNote(`{}`)
		r.Step = step
		verdict, err := p.Verify(r, report)
		if err != nil {
			t.Fatal(err)
		}
		return verdict.Evidence[0].Record.ID
	}
	first, again, next := of(1), of(1), of(2)
	if first != again || first == next {
		t.Errorf("%s, %s again, then %s", first, again, next)
	}
}

// Whatever a program prints, it is read or refused; what is read is kept as it is, a journal takes it, and its
// evidence is of kinds that the action may produce.
func FuzzReport(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `{}{}`, `{"evidence":[{"kind":"note_recorded","result":"recorded"}]}`, `{"evidence":[{"kind":"x"}]}`,
		`{"evidence":null}`, "{\"a\":\"\xff\"}", `{"a":1,"a":2}`, `{"a":"\ud800"}`, "\ufeff{}", `{"a":"\u0000\u202e"}`, nested(200), nested(MaxReportDepth),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		report, err := readReport(stdout, false)
		if err != nil {
			return
		}
		observed := observation(report, document.TextOf("none"))
		if err := journal.CheckCase(event.Observed{Case: "case-1", Source: "effect", Subject: "note.record", Payload: observed}); err != nil {
			t.Errorf("a journal does not take it: %v", err)
		}
		again, err := readReport([]byte(canonjson.Compact(report)), false)
		if err != nil || canonjson.Compact(again) != canonjson.Compact(report) {
			t.Errorf("it does not come back: %v", err)
		}
		items, err := evidenceOf(report, "note.record", []string{"note_recorded"})
		if err != nil && (items != nil || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v with %v", err, items)
		}
		for _, item := range items {
			if item.kind != "note_recorded" {
				t.Errorf("%+v", item)
			}
		}
	})
}
