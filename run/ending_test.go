package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// Without a budget a run ends after 64 steps, with one after as many (5.4).
func TestTheBudget(t *testing.T) {
	for _, c := range []struct {
		budget *int
		want   int
	}{{nil, 64}, {new(65), 65}, {new(1), 1}} {
		p := stage{protocol: lamp, performs: map[string]act{"lamp.switch": does()}, budget: c.budget}.play(t)
		if p.outcome.Reason != event.StepBudget || p.outcome.Steps != c.want {
			t.Errorf("%+v, want %d steps", p.outcome, c.want)
		}
	}
}

// A case that somebody else moves between a proposal and its effect makes the step stale: it counts, and
// nothing is performed (116).
func TestAStaleProposalIsNotPerformed(t *testing.T) {
	p := &played{}
	o := stage{
		performs: map[string]act{"thing.look": does()}, executor: []run.Proposal{{Action: "thing.look", Arguments: "{}"}, {Action: "thing.look", Arguments: "{}"}},
		budget: new(2),
	}.options(p)
	p.outcome, p.err = run.Meanwhile(t.Context(), o, map[string]string{"thing": "thing-9", "order": "order-9"})
	holds(t, p, false)
	want := lines(`
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.look {}
		refused: stale: the case moved on from revision 1 to 3
		frontier 3: +thing.check +thing.look +thing.make -thing.ship
		step 2: thing.look {}
		~ thing.look is performed
		effect: thing.look is done
		evidence: none:
		stopped after 2: StepBudget`)
	if diff := cmp.Diff(want, lines(p.loop())); diff != "" {
		t.Error(diff)
	}
}

// A case keeps what executors and effects reported, and what verifiers made of that (5.4).
func TestWhatACaseKeeps(t *testing.T) {
	records, observations, err := run.Kept(t.Context(), stage{
		performs: map[string]act{"thing.check": does(deed{refuses: "not now"}, passes.deeds[0])},
		executor: []run.Proposal{
			{Action: "thing.check", Arguments: "{}"},
			{Action: "thing.check", Arguments: `[]`},
			{Refused: "I cannot say"},
			{Action: "\x00\n", Refused: "nor this"},
			{Action: "thing.check", Arguments: "{ }"},
		},
		budget: new(5),
	}.options(&played{}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range observations {
		got = append(got, string(o.Source)+" "+o.Subject+" "+string(o.Payload))
	}
	for _, r := range records {
		got = append(got, r.Producer+" "+r.Kind+" "+string(r.Data))
	}
	want := []string{
		`executor thing.check/1 {"action":"thing.check","arguments":"{}"}`,
		`executor thing.check/2 {"action":"thing.check","arguments":"","refused":"the arguments are a list, not an object"}`,
		`executor /3 {"action":"","arguments":"","refused":"I cannot say"}`,
		`executor \u{0}\u{a}/4 {"action":"\u0000\n","arguments":"","refused":"nor this"}`, // a subject any journal can hold
		`executor thing.check/5 {"action":"thing.check","arguments":"{}"}`,
		`effect thing.check/5 {"Proves":["checked pass on thing"],"Why":"","Lies":""}`,
		`double checked {"format":"canon-evidence/1","id":"e5.1","kind":"checked","result":"pass","subject":"thing","subject_revision":"thing-1"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An authority is asked about all that its word binds to: at a proposal, and with neither a step nor
// arguments at the gate (5.5).
func TestWhatAnAuthorityIsAsked(t *testing.T) {
	var asked []effect.Request
	stage{
		protocol: doors, performs: map[string]act{"ring": does(deed{says: "rung", moves: map[string]string{"house": "house-2"}}), "front.open": {takes: takesWhy}},
		executor: []run.Proposal{{Action: "ring", Arguments: "{}"}, {Action: "front.open", Arguments: `{"why":"home"}`}}, budget: new(2),
		authority: func(_ string, r effect.Request) (run.Permission, error) {
			asked = append(asked, r)
			return run.Allow, nil
		},
	}.play(t)
	at := map[string]string{"house": "house-2"}
	want := []effect.Request{
		{Case: "case-1", Revision: 2, Artifacts: at, Action: "back.open"},
		{Case: "case-1", Revision: 2, Artifacts: at, Action: "front.open", Arguments: `{"why":"home"}`, Step: 2},
		{Case: "case-1", Revision: 2, Artifacts: at, Action: "back.open"},
	}
	id := asked[0].Run
	for i := range asked {
		if len(id) < 20 || asked[i].Run != id {
			t.Errorf("request %d is of run %q", i, asked[i].Run)
		}
		asked[i].Run = ""
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// The loop admits by the governor's word, which takes the strictest entry of an action that is listed
// twice (119). No frontier of this governor is like that.
func TestAnActionListedTwiceIsAdmittedByItsStrictestEntry(t *testing.T) {
	f := governor.Frontier{Entries: []governor.FrontierEntry{
		{Action: "merge", Status: governor.Admissible}, {Action: "merge", Status: governor.Blocked, Reasons: []string{"r"}},
	}}
	if a := f.Admit("merge"); a.Verdict != governor.Refused {
		t.Errorf("%+v", a)
	}
}

// Once a run is interrupted it begins nothing more. What is under way is told when it ends, and counts.
func TestAnInterruptedRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		stage func(interrupt func()) stage
		want  string
	}{
		{
			"before it begins: nobody is asked",
			func(interrupt func()) stage {
				interrupt()
				return stage{classifier: []turn{picks("workshop@1", "1")}}
			},
			`failed after 0: classify the intent: the run was interrupted: the host goes down`,
		},
		{
			"before it begins, and nothing is classified: no case opens",
			func(interrupt func()) stage {
				interrupt()
				return stage{}
			},
			`picked workshop@1 by flag
			routed workshop@1: accepted
			failed after 0: the run was interrupted: the host goes down`,
		},
		{
			"while a model thinks: its proposal is not looked at",
			func(interrupt func()) stage {
				return stage{
					protocol: doors, performs: map[string]act{"ring": does()},
					agent: []turn{func(r model.Request) (model.Reply, error) {
						interrupt()
						return calls("ring {}")(r)
					}},
				}
			},
			`picked doors@1 by flag
			routed doors@1: accepted
			frontier 1: ?back.open ?front.open +ring
			~ m-agent is asked: back_open front_open ring
			turn 1 Action of m-agent: ToolCalls
			call c1: ring {}
			step 1: ring {}
			failed after 1: the run was interrupted: the host goes down`,
		},
		{
			"while an authority thinks: the effect does not begin",
			func(interrupt func()) stage {
				return stage{
					protocol: doors, performs: map[string]act{"front.open": does()}, executor: []run.Proposal{{Action: "front.open", Arguments: "{}"}},
					authority: func(string, effect.Request) (run.Permission, error) {
						interrupt()
						return run.Allow, nil
					},
				}
			},
			`picked doors@1 by flag
			routed doors@1: accepted
			frontier 1: ?back.open ?front.open +ring
			step 1: front.open {}
			~ authority over key.front for front.open {} at 1: allowed
			failed after 1: front.open: the run was interrupted: the host goes down`,
		},
		{
			"within an effect: it has happened, and its evidence is taken",
			func(interrupt func()) stage {
				return stage{
					protocol: lamp, cancel: interrupt,
					performs: map[string]act{"lamp.switch": does(deed{says: "click", proves: []string{"seen lit on lamp"}, interrupts: true})},
				}
			},
			`picked lamp@1 by flag
			routed lamp@1: accepted
			frontier 1: +lamp.switch
			step 1: lamp.switch {}
			~ lamp.switch is performed
			effect: click
			evidence: seen lit (e1.1)
			failed after 1: the run was interrupted: the host goes down`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			s := c.stage(func() { cancel(errDown) })
			s.ctx = ctx
			p := s.play(t)
			if diff := cmp.Diff(lines(c.want), lines(p.transcript())); diff != "" {
				t.Error(diff)
			}
			if !errors.Is(p.err, errDown) {
				t.Errorf("error %v", p.err)
			}
		})
	}
}

var errDown = errors.New("the host goes down")

// A reader of events that fails ends the run wherever it is. What it said is reported once, it is told
// nothing more, and what was performed is in the outcome.
func TestAReaderThatFailsEndsTheRun(t *testing.T) {
	stages := []stage{
		{intent: "light ABC-12", classifier: []turn{picks("lamp@1", "1")}, protocol: lamp, budget: new(0)},
		{classifier: []turn{picks("payroll@1", "1")}},
	}
	for _, c := range loops {
		stages = append(stages, c.stage)
	}
	for _, s := range stages {
		whole := s.play(t)
		for n := 1; n <= len(whole.events); n++ {
			s.deafAfter = n
			p := s.play(t)
			_, failed := whole.events[n-1].(event.Failed)
			if !failed && text(p.err) != "the reader has gone" || failed && text(p.err) != text(whole.err)+"\nthe reader has gone" {
				t.Errorf("at %s: error %v", line(whole.events[n-1]), p.err)
			}
			if diff := cmp.Diff(whole.events[:n], p.events); diff != "" {
				t.Errorf("at %s: other events:\n%s", line(whole.events[n-1]), diff)
			}
		}
	}
}

func TestRunNeedsNoReader(t *testing.T) {
	o := stage{protocol: lamp, performs: map[string]act{"lamp.switch": does(deed{says: "click", proves: []string{"seen lit on lamp"}})}}.options(&played{})
	o.Events, o.Now = nil, nil
	outcome, err := run.Run(t.Context(), o)
	if err != nil || outcome.Reason != event.Completed || outcome.Report != "click" || outcome.Case != "case-1" || outcome.Protocol != "lamp@1" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// Whatever a model writes is a refused step: no text of it becomes an action, and none is a panic.
func TestHostileModelText(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129)
	for _, c := range []struct{ call, name, refused string }{
		{"thing_look " + deep, "thing.look", "the arguments are malformed: line 1, column 641: the JSON value is nested too deeply"},
		{`thing_look [{}]`, "thing.look", "the arguments are a list, not an object"},
		{`thing_look "{}"`, "thing.look", "the arguments are text, not an object"},
		{`thing_look null`, "thing.look", "the arguments are null, not an object"},
		{`thing_look`, "thing.look", "the arguments are malformed: line 1, column 1: there is no JSON value"},
		{`thing_look {"a":1}{}`, "thing.look", "the arguments are malformed: line 1, column 8: something follows the JSON value"},
		{`thing_look {"a":1,}`, "thing.look", "the arguments are malformed: line 1, column 7: this is not JSON"},
		{"thing_look {\"a\":\"\n\"}", "thing.look", "the arguments are malformed: line 1, column 7: this is not JSON"},
		{`thing_look {"\ud800":1}`, "thing.look", "the arguments are malformed: line 1, column 3: this is not JSON"},
		{`thing_look {"x":1}`, "thing.look", "thing.look takes no such argument"},
		{"thing.look {}", "thing.look", "the model's selection names thing.look, which is not offered"},
		{"Thing_look {}", "Thing_look", "the model's selection names Thing_look, which is not offered"},
		{" {}", "", "the model's selection names , which is not offered"},
		{"\x1b[2J\nstopped:\tCompleted {}", "\x1b[2J\nstopped:\tCompleted", ""},
		{"\u202egnp\u2028 {}", "\u202egnp\u2028", "the model's selection names \u202egnp\u2028, which is not offered"},
		{strings.Repeat("é", 1<<20) + " {}", strings.Repeat("é", 50) + "[truncated]", "the model's selection names " + strings.Repeat("é", 50) + "[truncated], which is not offered"},
	} {
		p := stage{
			performs: map[string]act{"thing.look": {takes: takesWhy}, "thing.make": makes}, budget: new(2),
			agent: []turn{calls(c.call), calls("thing_make {}")},
		}.play(t)
		if p.err != nil {
			t.Errorf("%.60q: %v", c.call, p.err)
			continue
		}
		var proposed event.NotProposed
		var refused event.StepRefused
		for _, e := range p.events {
			switch e := e.(type) {
			case event.NotProposed:
				proposed = e
			case event.StepRefused:
				refused = e
			}
		}
		name, _, _ := strings.Cut(c.call, " ")
		if c.refused == "" {
			c.refused = "the model's selection names " + name + ", which is not offered"
		}
		if proposed.Action != c.name || refused.Reason != c.refused || p.outcome.Steps != 2 {
			t.Errorf("%.60q: %.200q, refused: %.200q\nwant %q", c.call, proposed.Action, refused.Reason, c.refused)
		}
		// The next request can be sent, and the name begins no entry of it.
		if shown := p.asked[1].Input[1]; !strings.HasPrefix(shown, "The case so far:\n1. ") || strings.Contains(shown, "\nstopped") {
			t.Errorf("%.60q: the next request shows\n%s", c.call, shown)
		}
	}
}

// A client that hands on what is no text breaks its promise: the run fails, since it could neither keep
// nor show that.
func TestAnAnswerThatIsNoTextFailsTheRun(t *testing.T) {
	for _, call := range []model.Call{{Name: "thing_look\xff"}, {ID: "\xff", Name: "thing_look"}, {Name: "thing_look", Arguments: "{\"\xff\":1}"}} {
		p := stage{
			performs: map[string]act{"thing.look": does(), "thing.make": makes},
			agent:    []turn{replies(model.Reply{Calls: []model.Call{call}})},
		}.play(t)
		if text(p.err) != "propose an action: Malformed: the answer is not UTF-8" {
			t.Errorf("%q: %v", call, p.err)
		}
	}
}
