package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// recorder is a seam that keeps the result of each step as JSON.
type recorder struct{ steps []kept }

type kept struct {
	name   string
	result []byte
	err    string
}

func (r *recorder) Step(ctx context.Context, of run.Step, result any, do func(context.Context) error) error {
	err := do(ctx)
	data, jsonErr := json.Marshal(result)
	if jsonErr != nil {
		panic(jsonErr)
	}
	step := kept{name: of.Name, result: data}
	if err != nil {
		step.err = err.Error()
	}
	if err == nil || ctx.Err() == nil {
		r.steps = append(r.steps, step)
	}
	return err
}

// player is a seam that gives kept results back and does nothing.
type player struct{ steps []kept }

var errGone = errors.New("it has gone")

var errRecordEnds = errors.New("the record ends here")

func (p *player) Step(_ context.Context, of run.Step, result any, _ func(context.Context) error) error {
	if len(p.steps) == 0 {
		return errRecordEnds
	}
	step := p.steps[0]
	p.steps = p.steps[1:]
	if step.name != of.Name {
		return fmt.Errorf("the run does %q where the record has %q", of.Name, step.name)
	}
	if err := json.Unmarshal(step.result, result); err != nil {
		return err
	}
	if step.err != "" {
		return errors.New(step.err)
	}
	return nil
}

// nobody is a model and an authority that must not be asked, an executor and a clock that must not be
// used.
type nobody struct{}

func (nobody) UpstreamName() string { panic("a replayed run asks a model its name") }

func (nobody) Ask(context.Context, model.Request) (model.Reply, error) {
	panic("a replayed run asks a model")
}

func (nobody) Permit(context.Context, string, effect.Request) (run.Permission, error) {
	panic("a replayed run asks for authority")
}

func (nobody) Propose(context.Context, run.Selection) (run.Proposal, error) {
	panic("a replayed run asks an executor")
}

func (nobody) now() time.Time { panic("a replayed run reads the clock") }

// replay runs the stage from a record with the world taken away. Events and outcome are those of the
// run that was recorded; one that was interrupted goes on where its record ends, and fails there.
func replay(t rapid.TB, s stage, live *played, steps []kept, interrupted bool) {
	t.Helper()
	again := &played{account: stillAccount(s.policy)}
	o := s.options(again)
	binding := o.Bindings[0].(*double)
	binding.gone = true
	if o.Classifier != nil {
		o.Classifier = nobody{}
	}
	if o.Agent != nil {
		o.Agent = nobody{}
	}
	if o.Executor != nil {
		o.Executor = nobody{}
	}
	o.Authority, o.Now = nobody{}, nobody{}.now
	record := &player{steps: steps}
	o.Seam = record
	again.outcome, again.err = run.Run(context.Background(), o)
	events := live.events
	if interrupted && errors.Is(again.err, errRecordEnds) {
		events, again.events = events[:len(events)-1], again.events[:len(again.events)-1]
	} else if text(live.err) != text(again.err) {
		t.Errorf("replay: error %v, want %v", again.err, live.err)
	}
	if len(record.steps) > 0 {
		t.Errorf("replay: %d steps of the record are left, from %q on", len(record.steps), record.steps[0].name)
	}
	if diff := cmp.Diff(events, again.events); diff != "" {
		t.Errorf("replay: other events (-live +replayed):\n%s", diff)
	}
	if diff := cmp.Diff(string(live.account.JSON()), string(again.account.JSON())); diff != "" && !interrupted {
		t.Errorf("replay: other account (-live +replayed):\n%s", diff)
	}
	if diff := cmp.Diff(live.outcome, again.outcome); diff != "" {
		t.Errorf("replay: other outcome (-live +replayed):\n%s", diff)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// holds checks what is true of every run: it ends with one event that says what Run gives back, counts
// its steps and turns, and has at most one effect a step.
func holds(t rapid.TB, p *played, deaf bool) {
	t.Helper()
	steps, turns, report, performed := 0, 0, "", false
	for i, e := range p.events {
		last := i == len(p.events)-1
		switch e := e.(type) {
		case event.TurnCompleted:
			if turns++; e.Turn != turns {
				t.Errorf("turn %d comes where %d should", e.Turn, turns)
			}
		case event.Proposed:
			performed = false
			if steps++; e.Step != steps || !json.Valid([]byte(e.Arguments)) {
				t.Errorf("step %d with arguments %s comes where %d should", e.Step, e.Arguments, steps)
			}
		case event.NotProposed:
			performed = true // nothing may be
			if steps++; e.Step != steps {
				t.Errorf("step %d comes where %d should", e.Step, steps)
			}
		case event.EffectReported:
			if performed || e.Step != steps {
				t.Errorf("step %d has a second effect, or one of step %d", steps, e.Step)
			}
			performed, report = true, e.Report
		case event.FrontierComputed:
			if _, err := time.Parse(time.RFC3339, e.At); err != nil || len(e.ID) != 36 {
				t.Errorf("a frontier with id %q is of %q", e.ID, e.At)
			}
		case event.Stopped:
			want := event.Stopped{
				Reason: p.outcome.Reason, Detail: p.outcome.Detail, Actions: e.Actions, Waiting: e.Waiting,
				Protocol: p.outcome.Protocol, Steps: p.outcome.Steps, CaseOpen: p.outcome.Case != "",
			}
			if diff := cmp.Diff(want, e); diff != "" || !last || p.err != nil && !deaf {
				t.Errorf("the stop is not what Run says, or is not last (error %v):\n%s", p.err, diff)
			}
			var waiting []string
			for _, w := range e.Waiting {
				waiting = append(waiting, w.Action)
			}
			if !slices.Equal(waiting, e.Actions) || (len(waiting) > 0) != (e.Reason == event.ApprovalRequired) {
				t.Errorf("%s of %q, and %q wait", e.Reason, e.Actions, waiting)
			}
		case event.Failed:
			want := event.Failed{
				Error: text(p.err), Protocol: p.outcome.Protocol, Steps: p.outcome.Steps, CaseOpen: p.outcome.Case != "", Interrupted: e.Interrupted,
			}
			if deaf {
				want.Error = e.Error // what the reader then said comes behind it
			}
			if diff := cmp.Diff(want, e); diff != "" || !last {
				t.Errorf("the failure is not what Run says, or is not last:\n%s", diff)
			}
		}
		if !last {
			continue
		}
		_, stopped := e.(event.Stopped)
		_, failed := e.(event.Failed)
		if !stopped && !failed && !deaf {
			t.Errorf("the run ends with %s", line(e))
		}
	}
	if p.outcome.Steps != steps && !deaf {
		t.Errorf("Run counts %d steps, the events %d", p.outcome.Steps, steps)
	}
	if p.outcome.Report != report {
		t.Errorf("Run gives the report %q, the events %q", p.outcome.Report, report)
	}
	permitted(t, p)
}

// permitted checks that an action is performed only when it was proposed, at most once for each
// proposal, and after its capability was allowed for just that proposal.
func permitted(t rapid.TB, p *played) {
	t.Helper()
	capabilities := map[string]bool{}
	proposed, allowed := "", false
	for _, line := range p.lines {
		action, performed := strings.CutSuffix(strings.TrimPrefix(line, "~ "), " is performed")
		switch {
		case strings.HasPrefix(line, "step "):
			_, what, _ := strings.Cut(line, ": ")
			proposed, allowed = what, false
		case strings.HasPrefix(line, "~ authority over "):
			asked, answer, _ := strings.Cut(strings.TrimPrefix(line, "~ authority over "), ": ")
			_, what, _ := strings.Cut(asked, " for ")
			what, _, _ = strings.Cut(what, " at ")
			capabilities[strings.Fields(what)[0]] = true
			allowed = what == proposed && answer == "allowed"
		case performed:
			if !strings.HasPrefix(proposed, action+" {") || capabilities[action] && !allowed {
				t.Errorf("%s is performed after %q, allowed %v:\n%s", action, proposed, allowed, p.transcript())
			}
			proposed = ""
		}
	}
}
