package audit_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/audit"
	"github.com/loomrun/loom/run/record"
)

// names are the checks in the order of a report.
var names = []string{audit.Chain, audit.Definition, audit.Decisions, audit.Effects, audit.Evidence, audit.Stop, audit.Cases}

// verdicts are those that are not a pass, by check.
type verdicts map[string]audit.Verdict

// expect checks a record, whose report must have just these verdicts.
func expect(t *testing.T, r *journal.Record, cases []*journal.Case, want verdicts) audit.Report {
	t.Helper()
	report := audit.Check(r, cases)
	got, order := verdicts{}, []string{}
	for _, c := range report.Checks {
		order = append(order, c.Name)
		if c.Verdict != audit.Pass {
			got[c.Name] = c.Verdict
		}
		if c.Verdict != audit.Pass && len(c.Findings) == 0 {
			t.Errorf("%s is %s and does not say why", c.Name, c.Verdict)
		}
	}
	if want == nil {
		want = verdicts{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the verdicts are others (-want +got):\n%s\n%s\n%s", diff, report.JSON(), text(r.Entries))
	}
	if !slices.Equal(order, names) {
		t.Errorf("the checks are %q", order)
	}
	overall := audit.Pass
	for _, v := range []audit.Verdict{audit.Inconclusive, audit.Fail} {
		if slices.Contains(slices.Collect(maps.Values(got)), v) {
			overall = v
		}
	}
	if report.Verdict != overall {
		t.Errorf("the verdict is %s, not %s", report.Verdict, overall)
	}
	return report
}

func text(entries []journal.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(strings.TrimSpace(string(e.Kind)+" "+e.Name) + " " + e.Body + "\n")
	}
	return b.String()
}

// stopOf gives the last reason that a record stops for.
func stopOf(r *journal.Record) string {
	s, err := journal.Summarise(r.Entries)
	if err != nil {
		return err.Error()
	}
	return s.Stop
}

var (
	unstopped = verdicts{audit.Stop: audit.Inconclusive}
	doubtful  = verdicts{audit.Stop: audit.Inconclusive, audit.Effects: audit.Inconclusive}
)

// goodRun is a run, how it ends, and what is not a pass of it.
type goodRun struct {
	name  string
	scene scene
	stop  string
	want  verdicts
}

// goodRuns are runs of every ending. What they record passes, as far as they came to a stop.
func goodRuns() []goodRun {
	return []goodRun{
		{"completed, with revisions moved and a capability granted", completes(), "Completed", nil},
		{"a capability is needed", scene{acts: workers(), choose: onward}, "ApprovalRequired", nil},
		{"nothing but approvals can go on", scene{protocol: doors, acts: map[string]act{"ring": does(nil)}, choose: proposes("ring", "ring")}, "ApprovalRequired", nil},
		{"what waits for approval is denied", scene{
			protocol: doors, acts: map[string]act{"back.open": does(nil), "front.open": does(nil)}, choose: proposes("back.open", "front.open"),
			permit: map[string]run.Permission{"key.back": run.Deny, "key.front": run.Deny},
		}, "NothingAdmissible", nil},
		{"what was granted cannot be performed", scene{
			protocol: doors, acts: map[string]act{"back.open": does(nil)}, choose: proposes("front.open", "back.open"),
			permit: map[string]run.Permission{"key.back": run.Deny, "key.front": run.Allow},
		}, "NothingAdmissible", nil},
		{"no proposal twice in a row", scene{acts: workers(), choose: proposes("thing.look")}, "NothingAdmissible", nil},
		{"the budget is used up", scene{acts: workers(), choose: onward, budget: new(2)}, "StepBudget", nil},
		{"there is no budget", scene{acts: workers(), choose: onward, budget: new(0)}, "StepBudget", nil},
		{"a model is needed", scene{acts: workers()}, "NeedsModel", nil},
		{"an executor needs a model", scene{acts: workers(), choose: inTurn(run.Proposal{NeedsModel: true})}, "NeedsModel", nil},
		{"the pick is refused", scene{acts: workers(), matched: true}, "Refused", nil},
		{"nothing carries the protocol out", scene{unbound: true}, "NoLocalExecutor", nil},
		{"nothing performs an action", scene{}, "NoLocalExecutor", nil},
		{"an effect fails", scene{choose: proposes("thing.make"), acts: map[string]act{
			"thing.make": func(effect.Request) (effect.Report, error) { return effect.Report{}, errors.New("it broke") },
		}}, "failed", doubtful},
		{"the verifier fails", scene{choose: proposes("thing.make"), acts: map[string]act{
			"thing.make": func(effect.Request) (effect.Report, error) { return effect.Report{Observation: "{}"}, nil },
		}}, "failed", unstopped},
		{"the model fails", scene{acts: workers(), agent: calls("")}, "failed", unstopped},
		{"a model proposes", scene{acts: workers(), agent: calls("thing_look"), budget: new(1)}, "StepBudget", nil},
		{"the effect refuses", scene{budget: new(1), choose: proposes("thing.make"), acts: map[string]act{
			"thing.make": func(effect.Request) (effect.Report, error) { return effect.Report{Refused: "not today"}, nil },
		}}, "StepBudget", nil},
		{"the effect cannot be confined", scene{choose: proposes("thing.make"), acts: map[string]act{
			"thing.make": func(effect.Request) (effect.Report, error) {
				return effect.Report{Unconfined: "BackendMissing: there is none"}, nil
			},
		}}, "ConfinementUnavailable", nil},
		{"proposals that come to nothing", scene{budget: new(5), acts: workers(), choose: inTurn(
			run.Proposal{Refused: "the model names no action"},
			run.Proposal{Action: "thing.make", Arguments: "["},
			run.Proposal{Action: "thing.ship", Arguments: "{}"},
			run.Proposal{Action: "thing.sell", Arguments: "{}"},
			run.Proposal{Action: "thing.look", Arguments: "{}"},
		)}, "StepBudget", nil},
		{"evidence that does not apply", scene{budget: new(1), choose: proposes("thing.check"), acts: map[string]act{
			"thing.check": does(nil, about("checked", "pass", "thing"), about("unheard", "of", "thing"),
				governor.Record{ID: "old", Kind: "checked", Subject: "thing", SubjectRevision: "thing-0"},
				governor.Record{ID: "e1.1", Kind: "checked", Subject: "thing"}),
		}}, "StepBudget", nil},
		{"evidence against and for", scene{budget: new(2), choose: proposes("thing.check", "thing.check"), acts: map[string]act{
			"thing.check": does(nil, about("checked", "fail", "thing"), about("checked", "pass", "thing")),
		}}, "StepBudget", nil},
	}
}

func TestWhatARunRecordsPasses(t *testing.T) {
	for _, tc := range goodRuns() {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.scene.plays(t)
			if got := stopOf(r); got != tc.stop {
				t.Fatalf("the run ended with %s, not %s:\n%s", got, tc.stop, text(r.Entries))
			}
			expect(t, r, tables(r.Entries), tc.want)
		})
	}
}

// cut gives the first entries of a record: what is there of it after a kill.
func cut(r *journal.Record, n int) *journal.Record {
	shorter := *r
	shorter.Entries = slices.Clone(r.Entries[:n])
	shorter.Head = shorter.Entries[n-1].Hash
	return &shorter
}

// inDoubt tells whether a person must say what became of an effect.
func inDoubt(t *testing.T, r *journal.Record) bool {
	t.Helper()
	s, err := journal.Summarise(r.Entries)
	if err != nil {
		t.Fatal(err)
	}
	return s.InDoubt != ""
}

// A run that is killed after any entry has a record in which nothing is wrong, and one that passes when it
// has been resumed and has come to its end. Only what was in doubt stays so until a person has spoken (D17).
func TestARunThatWasKilledPassesOnceItIsResumed(t *testing.T) {
	for name, s := range map[string]scene{
		"completed":  completes(),
		"idle":       {acts: workers(), choose: func(run.Selection) run.Proposal { return run.Proposal{None: true} }},
		"not begun":  func() scene { s := completes(); s.deafAt = 9; return s }(),
		"not proved": func() scene { s := completes(); s.budget = new(2); return s }(),
	} {
		t.Run(name, func(t *testing.T) {
			whole := s.plays(t)
			s.deafAt = 0
			for n := 1; n < len(whole.Entries); n++ {
				if whole.Entries[n].Name == "Stopped" {
					continue // a stop and the decision before it reach the disk together
				}
				killed := cut(whole, n)
				outcomes := []event.Outcome{""}
				want := unstopped
				if inDoubt(t, killed) {
					want, outcomes = doubtful, []event.Outcome{event.Performed, event.NotPerformed}
				}
				expect(t, killed, tables(killed.Entries), want)
				for _, outcome := range outcomes {
					resumed, err := s.resumes(t, killed, outcome)
					if err != nil {
						t.Fatalf("after %d entries: %v\n%s", n, err, text(killed.Entries))
					}
					expect(t, resumed, tables(resumed.Entries), nil)
				}
			}
		})
	}
}

// The reader of events may fail at any of them: what is recorded then, and after a resumption, holds.
func TestARunWhoseReaderFailedPassesOnceItIsResumed(t *testing.T) {
	notBegun := false
	for at := 1; at < 40; at++ {
		s := completes()
		s.deafAt = at
		r := s.plays(t)
		if stopOf(r) == "Completed" {
			continue
		}
		notBegun = notBegun || strings.Contains(text(r.Entries), `"NotBegun":true`)
		expect(t, r, tables(r.Entries), unstopped)
		s.deafAt = 0
		resumed, err := s.resumes(t, r, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := stopOf(resumed); got != "Completed" {
			t.Errorf("the resumed run ended with %s", got)
		}
		expect(t, resumed, tables(resumed.Entries), nil)
	}
	if !notBegun {
		t.Error("no run had an effect that was asked for and not begun")
	}
}

// Stops that are not the last are checked as well.
func TestEverySittingOfARunPasses(t *testing.T) {
	s := scene{acts: workers(), choose: onward, budget: new(1)}
	r := s.plays(t)
	for _, stop := range []string{"StepBudget", "ApprovalRequired", "ApprovalRequired", "StepBudget", "Completed"} {
		var err error
		switch len(slices.Collect(sittings(r))) {
		case 3:
			s.permit, s.budget = map[string]run.Permission{"ship": run.Allow}, new(0)
		case 4:
			s.budget = new(1)
		}
		if r, err = s.resumes(t, r, ""); err != nil {
			t.Fatal(err)
		}
		if got := stopOf(r); got != stop {
			t.Fatalf("the run ended with %s, not %s:\n%s", got, stop, text(r.Entries))
		}
		expect(t, r, tables(r.Entries), nil)
	}
	if _, err := s.resumes(t, r, ""); err == nil {
		t.Error("a completed run was resumed")
	}
	var over *record.OverError
	if _, err := s.resumes(t, r, ""); !errors.As(err, &over) {
		t.Errorf("it is refused with %v", err)
	}
}

func sittings(r *journal.Record) func(func(journal.Entry) bool) {
	return func(yield func(journal.Entry) bool) {
		for _, e := range r.Entries {
			if e.Kind == journal.Resumed && !yield(e) {
				return
			}
		}
	}
}

// An effect that failed is in doubt, and a person's word settles it.
func TestAnEffectThatFailedIsSettledByAPersonsWord(t *testing.T) {
	s := scene{choose: proposes("thing.make"), acts: map[string]act{
		"thing.make": func(effect.Request) (effect.Report, error) { return effect.Report{}, errors.New("it broke") },
	}}
	r := s.plays(t)
	for _, outcome := range []event.Outcome{event.Performed, event.NotPerformed} {
		s.choose = func(run.Selection) run.Proposal { return run.Proposal{None: true} }
		resumed, err := s.resumes(t, r, outcome)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, resumed, tables(resumed.Entries), nil)
	}
}

// An interruption leaves an effect without a report.
func TestAnInterruptedEffectIsInDoubt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := scene{choose: proposes("thing.make"), acts: map[string]act{
		"thing.make": func(effect.Request) (effect.Report, error) { cancel(); return effect.Report{}, ctx.Err() },
	}}
	store := &desk{}
	if _, err := record.Run(ctx, s.options(t, store)); err == nil {
		t.Fatal("the run was not interrupted")
	}
	expect(t, store.kept(t), tables(store.record.Entries), doubtful)
}

func TestTheReportAsJSON(t *testing.T) {
	r := scene{unbound: true}.plays(t)
	r.Entries[1].Body = "{}"
	head := r.Head.String()
	got := string(audit.Check(r, nil).JSON())
	want := `{"run":"run1","verdict":"fail","head":"` + head + `","entries":4,"checks":[` +
		`{"name":"chain","verdict":"fail","findings":[{"entry":2,"what":"it is not what was written"}],"more":0},` +
		`{"name":"definition","verdict":"pass","findings":[{"entry":0,"what":"no case was opened"}],"more":0},` +
		`{"name":"decisions","verdict":"pass","findings":[],"more":0},` +
		`{"name":"effects","verdict":"pass","findings":[],"more":0},` +
		`{"name":"evidence","verdict":"pass","findings":[],"more":0},` +
		`{"name":"stop","verdict":"fail","findings":[{"entry":4,"what":"it tells of other steps, or of another protocol, than there were"},` +
		`{"entry":4,"what":"NoLocalExecutor does not follow from what was told, and no case was opened"}],"more":0},` +
		`{"name":"cases","verdict":"pass","findings":[],"more":0}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
