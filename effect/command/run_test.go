package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// proposing makes its proposals one after the other, and then none.
type proposing []run.Proposal

func (p *proposing) Propose(context.Context, run.Selection) (run.Proposal, error) {
	if len(*p) == 0 {
		return run.Proposal{None: true}, nil
	}
	next := (*p)[0]
	*p = (*p)[1:]
	return next, nil
}

// propose makes proposals of ACTION ARGUMENTS.
func propose(written ...string) *proposing {
	var p proposing
	for _, w := range written {
		action, arguments, _ := strings.Cut(w, " ")
		p = append(p, run.Proposal{Action: action, Arguments: arguments})
	}
	return &p
}

// carriedOut runs proposals against programs of shell text, by action, and tells it in the lines of 6.4.
func carriedOut(t *testing.T, members string, programs map[string]string, proposals *proposing) (string, error) {
	t.Helper()
	w := folder(t)
	var bindings []string
	for action, script := range programs {
		w.write(t, action, script)
		bindings = append(bindings, fmt.Sprintf(`{"action":%q,"argv":["./%s"]%s}`, action, action, members))
	}
	var told strings.Builder
	events := func(e event.Event) error {
		switch e := e.(type) {
		case event.FrontierComputed:
			told.WriteString("frontier:")
			for _, a := range e.Actions {
				fmt.Fprintf(&told, " %s (%s)", a.Action, strings.ToLower(a.Status))
			}
			told.WriteString("\n")
		case event.Proposed:
			fmt.Fprintf(&told, "step %d: %s %s\n", e.Step, e.Action, e.Arguments)
		case event.EffectReported:
			fmt.Fprintf(&told, "  effect: %s\n", e.Report)
		case event.StepRefused:
			fmt.Fprintf(&told, "  effect: refused: %s\n", e.Reason)
		case event.EvidenceSubmitted:
			fmt.Fprintf(&told, "  evidence: %s %s\n", e.Kind, e.Result)
		case event.NoEvidence:
			told.WriteString("  evidence: none\n")
		case event.Stopped:
			fmt.Fprintf(&told, "stopped: %s (%s)\n", e.Reason, e.Detail)
		}
		return journal.CheckCase(e) // what a journal does not take fails the run, as with a journal
	}
	_, err := run.Run(t.Context(), run.Options{
		Intent: "note the deploy", ID: "run-1", Catalog: teamCatalog(t), Protocol: "team-ops@1", Executor: proposals, Events: events,
		Bindings: []effect.Binding{bind(t, w, `{"protocol":"team-ops@1","bindings":[`+strings.Join(bindings, ",")+`]}`)},
	})
	return told.String(), err
}

const (
	records   = `echo '{"note":"n-1","evidence":[{"kind":"note_recorded","result":"recorded"}]}'`
	publishes = `echo '{"published":true,"evidence":[{"kind":"summary_published","result":"published"}]}'`
	touches   = `echo '{}'`
)

// The way of 6.4 from an intent to completion, by real programs.
func TestTeamNote(t *testing.T) {
	inBothWays(t, func(t *testing.T, members string) {
		told, err := carriedOut(t, members, map[string]string{"note.record": records, "summary.publish": publishes, "note.touch": touches},
			propose(`note.record {"text":"deploy finished"}`, `summary.publish {"channel":"ops"}`))
		const want = `frontier: note.record (admissible) note.touch (admissible) summary.publish (blocked)
step 1: note.record {"text":"deploy finished"}
  effect: {"note":"n-1","evidence":[{"kind":"note_recorded","result":"recorded"}]}
  evidence: note_recorded recorded
frontier: note.record (admissible) note.touch (admissible) summary.publish (admissible)
step 2: summary.publish {"channel":"ops"}
  effect: {"published":true,"evidence":[{"kind":"summary_published","result":"published"}]}
  evidence: summary_published published
stopped: Completed (done)
`
		if err != nil || told != want {
			t.Errorf("%v\n%s", err, told)
		}
	})
}

// What a program says moves a case only by evidence that its action may produce. Each case is what note.record prints,
// and what is told of the run, up to the next step that is asked for.
func TestWhatAReportMoves(t *testing.T) {
	const frontier = "frontier: note.record (admissible) note.touch (admissible) summary.publish (blocked)\n"
	for _, tc := range []struct{ name, prints, want, fails string }{
		{
			"an undeclared kind fails the run, and the effect has been told (149)", `{"evidence":[{"kind":"summary_published","result":"published"}]}`,
			frontier + "step 1: note.record {}\n  effect: {\"evidence\":[{\"kind\":\"summary_published\",\"result\":\"published\"}]}\n",
			"the protocol lets note.record produce note_recorded",
		},
		{
			"a word of success completes nothing (156)", `{"status":"completed"}`,
			frontier + "step 1: note.record {}\n  effect: {\"status\":\"completed\"}\n  evidence: none\n" + frontier + frontier + "stopped: NothingAdmissible ()\n", "",
		},
		{
			"opposite results leave the claim unknown (157)", `{"evidence":[{"kind":"note_recorded","result":"recorded"},{"kind":"note_recorded","result":"lost"}]}`,
			frontier + "step 1: note.record {}\n  effect: {\"evidence\":[{\"kind\":\"note_recorded\",\"result\":\"recorded\"},{\"kind\":\"note_recorded\",\"result\":\"lost\"}]}\n" +
				"  evidence: note_recorded recorded\n  evidence: note_recorded lost\n" + frontier + frontier + "stopped: NothingAdmissible ()\n", "",
		},
		{
			"no report fails the run, and nothing is Performed (148)", ``,
			frontier + "step 1: note.record {}\n", "what it did is not known: it printed no report",
		},
		{
			"a report too deep for a journal is refused as a report", nested(MaxReportDepth + 1),
			frontier + "step 1: note.record {}\n", "what it did is not known: its report is not one JSON object",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told, err := carriedOut(t, "", map[string]string{"note.record": "printf '%s' '" + tc.prints + "'", "summary.publish": publishes, "note.touch": touches}, propose(`note.record {}`))
			if told != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%v\n%s\nwant %q\n%s", err, told, tc.fails, tc.want)
			}
		})
	}
}

// A refused step has done nothing that is known, and the run goes on (150).
func TestRefusedStepGoesOn(t *testing.T) {
	told, err := carriedOut(t, "", map[string]string{"note.record": "echo 'no disk' >&2; exit 7", "summary.publish": publishes, "note.touch": touches}, propose(`note.record {}`, `note.touch {}`))
	if err != nil || !strings.Contains(told, "  effect: refused: the program ended with exit status 7:\nno disk\n") || !strings.Contains(told, "step 2: note.touch {}\n  effect: {}\n") {
		t.Errorf("%v\n%s", err, told)
	}
}

// What cannot be confined stops the run, and nothing was started (173, 175).
func TestNoConfinementStopsTheRun(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "echo '{}'")
	if err := os.Symlink("/tmp", filepath.Join(w.Folder, "notes")); err != nil {
		t.Fatal(err)
	}
	all := `{"protocol":"team-ops@1","bindings":[{"action":"note.record","argv":["./program"],"confine":{"write":["notes"]}},{"action":"note.touch","argv":["./program"]},{"action":"summary.publish","argv":["./program"]}]}`
	outcome, err := run.Run(t.Context(), run.Options{
		Intent: "note the deploy", ID: "run-1", Catalog: teamCatalog(t), Protocol: "team-ops@1", Executor: propose(`note.record {}`),
		Bindings: []effect.Binding{bind(t, w, all)},
	})
	if err != nil || outcome.Reason != event.ConfinementUnavailable || !strings.HasPrefix(outcome.Detail, noConfinement()) || outcome.Report != "" {
		t.Errorf("%+v (%v)", outcome, err)
	}
}

// A run without some program ends before a case opens (146).
func TestMissingBindingOpensNoCase(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "echo '{}'")
	outcome, err := run.Run(t.Context(), run.Options{
		Intent: "note the deploy", Catalog: teamCatalog(t), Protocol: "team-ops@1", Executor: propose(),
		Bindings: []effect.Binding{recorder(t, w, "")},
	})
	if err != nil || outcome.Reason != event.NoLocalExecutor || outcome.Detail != "no command is bound to note.touch" || outcome.Case != "" {
		t.Errorf("%+v (%v)", outcome, err)
	}
}
