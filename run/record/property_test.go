package record_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
	"github.com/loomrun/loom/run/workingcontext"
)

// A run whose process is killed behind any entry of its record goes on from there: no effect is begun more than
// once for a proposal, the record holds, is played again alike, and in the end is that of a run that nobody
// killed, event by event, unless an effect was in doubt. A run may be killed again when it is resumed.
func TestRunsThatAreKilledAnywhere(t *testing.T) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		whole := w.site()
		_, _ = whole.run(t)
		rec := whole.whole(t)
		ends[cmp.Or(rec.Summary.Stop, "none")]++
		s := w.site()
		s.store = whole.store.(*memory).clone()
		doubted := false
		for kills := rapid.IntRange(1, 3).Draw(t, "kills"); kills > 0; kills-- {
			n := rapid.IntRange(1, len(rec.Entries)-1).Draw(t, "entries") // behind a stop it is resumed like any other
			rec = s.killedBehind(t, n, kills == 1, &doubted)
		}
		if doubted || rec.Summary.Stop == journal.FailedStop {
			ends["in doubt or failed"]++
			return
		}
		if diff := gocmp.Diff(sameRun(events(t, whole.read(t))), sameRun(events(t, rec))); diff != "" {
			t.Errorf("the run is not the one that nobody killed (-whole +resumed):\n%s", diff)
		}
	})
	t.Log(ends) // what the draws reach
}

// killedBehind resumes the run of a site as if its process had been killed when n entries were on the disk. What
// was begun behind them was not begun then, except for an effect whose asking is the last of them.
func (s *site) killedBehind(t *rapid.T, n int, last bool, doubted *bool) *journal.Record {
	m := s.store.(*memory)
	m.cut(n)
	rec := s.read(t)
	s.told = events(t, rec)
	s.effects = &effects{log: asked(t, rec)}
	if n := len(s.effects.log); rec.Summary.InDoubt != "" && rapid.Bool().Draw(t, "not begun") {
		s.effects.log = s.effects.log[:n-1]
	}
	s.sound(t)
	began, performed := len(s.effects.log), event.NotPerformed
	if rec.Summary.InDoubt != "" {
		*doubted = true
		if _, err := s.resume(t, ""); !as[*record.InDoubtError](err) && record.Resumable(rec.Summary) {
			t.Errorf("an effect is in doubt, and the run goes on: %v", err)
		}
		if len(s.effects.log) != began {
			t.Errorf("an effect is in doubt, and another is begun")
		}
		if slices.ContainsFunc(s.effects.log, func(b begunEffect) bool { return b.Step == rec.Summary.Steps }) {
			performed = event.Performed
		}
	} else {
		performed = ""
	}
	s.budget = new(s.total - rec.Summary.Steps)
	_, err := s.resume(t, performed)
	if as[*record.OverError](err) {
		if n := len(s.read(t).Entries); n != len(rec.Entries) {
			t.Errorf("a run that is over has %d entries more", n-len(rec.Entries))
		}
		return s.sound(t)
	}
	if as[*record.DiffersError](err) || as[*record.StorageError](err) {
		t.Fatalf("resume: %v", err)
	}
	return s.whole(t)
}

// asked gives the effects that a record holds the asking of and does not say were not begun.
func asked(t rapid.TB, rec *journal.Record) []begunEffect {
	t.Helper()
	var all []begunEffect
	for _, e := range rec.Entries {
		if e.Kind != journal.Asked || !strings.HasPrefix(e.Name, journal.EffectStep) {
			continue
		}
		var about journal.Asking
		var r effect.Request
		if err := errors.Join(journal.Decode(e.Body, &about), journal.Decode(string(about.About), &r)); err != nil {
			t.Fatal(err)
		}
		all = append(all, begunEffect{r.Run, r.Step, r.Action, r.Arguments})
	}
	return all
}

// sameRun takes out of events what a resumption adds.
func sameRun(all []event.Event) []event.Event {
	return slices.DeleteFunc(all, func(e event.Event) bool {
		_, resumed := e.(event.Resumed)
		return resumed
	})
}

// world is what surrounds a drawn run. All its answers follow from what is asked, so they are the same in whichever
// sitting it is asked.
type world struct {
	definition string
	seed       uint64
	performs   map[string]string // the schema of the arguments of each action
	proposer   int
	classified bool
	permits    int
	budget     int
	policy     run.ContextPolicy
}

func drawWorld(t *rapid.T) world {
	w := world{
		definition: rapid.SampledFrom([]string{workshop, doors, tower(3)}).Draw(t, "protocol"), seed: rapid.Uint64().Draw(t, "seed"),
		performs: map[string]string{}, proposer: rapid.IntRange(0, 4).Draw(t, "proposer"), classified: rapid.IntRange(0, 4).Draw(t, "classified") == 0,
		permits: rapid.IntRange(0, 3).Draw(t, "permits"),
	}
	p, _ := (&site{definition: w.definition}).protocol()
	for _, a := range p.Actions {
		if rapid.IntRange(0, 5).Draw(t, "performs") > 0 {
			w.performs[a.ID] = rapid.SampledFrom([]string{"", "", "", takesWhy}).Draw(t, "takes")
		}
	}
	w.budget = rapid.IntRange(0, 9).Draw(t, "budget")
	if rapid.IntRange(0, 3).Draw(t, "bounded") == 0 {
		w.policy = run.ContextBounded
	}
	return w
}

// chance gives the numbers that follow from what is asked.
func (w world) chance(of ...any) *rand.Rand {
	sum := fnv.New64a()
	fmt.Fprintln(sum, of...)
	return rand.New(rand.NewPCG(w.seed, sum.Sum64()))
}

func (w world) site() *site {
	acts := map[string]act{}
	for action, takes := range w.performs {
		acts[action] = act{takes: takes, does: w.deed}
	}
	s := newSite(w.definition, acts)
	s.policy, s.budget, s.total = w.policy, &w.budget, w.budget
	if w.proposer < 3 {
		s.agent = &script{answers: w.choice}
	}
	if w.proposer == 3 {
		s.executor = idle{w}
	}
	if w.classified {
		s.classifier = &script{answers: w.pick}
	}
	s.authority = func(capability string, r effect.Request) (run.Permission, error) {
		return []run.Permission{run.NeedsApproval, run.Allow, run.Allow, run.Deny}[(w.permits+w.chance(capability, r.Action, r.Arguments).IntN(2))%4], nil
	}
	return s
}

// deed is what performing an action comes to.
func (w world) deed(_ context.Context, r effect.Request) deed {
	c := w.chance(r.Action, r.Arguments, r.Step)
	good := map[string]string{
		"thing.check": "checked pass on thing", "thing.ship": "shipped on order", "front.open": "entered on house", "back.open": "entered on house",
		"lay1": "laid1 well on plan", "lay2": "laid2 well on plan", "lay3": "laid3 well on plan",
	}[r.Action]
	d := deed{says: r.Action + strings.Repeat(" is\ndone", c.IntN(3)), why: "nobody looked"}
	if c.IntN(4) > 0 && good != "" {
		d.proves = []string{good}
	}
	switch c.IntN(24) {
	case 0:
		d.fails = "it broke"
	case 1:
		d.lies = "that is not so"
	case 2:
		d.refuses = "not\nnow"
	case 3:
		d.proves = []string{"unknown on nothing"}
	}
	if c.IntN(3) == 0 {
		artifacts := slices.Sorted(maps.Keys(r.Artifacts))
		artifact := artifacts[c.IntN(len(artifacts))]
		d.moves = map[string]string{artifact: fmt.Sprintf("%s-%d", artifact, c.IntN(3))}
	}
	return d
}

// choice is what the agent model answers.
func (w world) choice(_ context.Context, r model.Request) (model.Reply, error) {
	c := w.chance(string(workingcontext.Append(nil, r)))
	switch c.IntN(16) {
	case 0:
		return model.Reply{Stop: model.StopToolCalls}, nil
	case 1:
		return calls("undeclared {}")(nil, r)
	case 2:
		return calls("thing_look 7")(nil, r)
	case 3:
		return model.Reply{}, model.Fail(model.Unavailable, nil, "busy")
	case 4:
		return calls(`list_history {"offset":0}`)(nil, r)
	}
	return calls(r.Tools[c.IntN(len(r.Tools))].Name+[]string{" {}", ` {"why":"so"}`}[c.IntN(2)])(nil, r)
}

func (w world) pick(context.Context, model.Request) (model.Reply, error) {
	c := w.chance("pick")
	_, name := (&site{definition: w.definition}).protocol()
	switch c.IntN(8) {
	case 0:
		return model.Reply{}, model.Fail(model.Unavailable, nil, "busy")
	case 1:
		name = "unknown@1"
	case 2:
		return model.Reply{Stop: model.StopToolCalls}, nil
	}
	return calls(fmt.Sprintf(`pick_protocol {"protocol":%q,"confidence":0.9,"reasons":["so"]}`, name))(nil, model.Request{})
}

// idle is an executor that now and then has no idea.
type idle struct{ world }

func (i idle) Propose(_ context.Context, s run.Selection) (run.Proposal, error) {
	c := i.chance(s.Frontier.ID, s.Frontier.Evidence)
	switch c.IntN(8) {
	case 0:
		return run.Proposal{None: true}, nil
	case 1:
		return run.Proposal{NeedsModel: true}, nil
	case 2:
		return run.Proposal{Refused: "I cannot say"}, nil
	}
	return run.Proposal{Action: s.Candidates[c.IntN(len(s.Candidates))].Action, Arguments: "{}"}, nil
}
