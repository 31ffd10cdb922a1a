package run

import (
	"context"
	"fmt"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/label"
)

// outputChannel is the channel of a disclosure (retrieval 4.4).
const outputChannel = "output"

// observed is what came before the model in a run (retrieval 4.4). Its label only grows, for the life of the run.
type observed struct {
	label label.Label
	count int
}

// text gives the label that what the model writes from now on has; empty where that is public.
func (o observed) text() string {
	if o.label.Public() {
		return ""
	}
	return o.label.Canonical()
}

// bound asks a port that reads under a ceiling what that is, holds the port to it, and tells it. A run that goes on is held to what it began with.
func (r *runner) bound(ctx context.Context) error {
	port, ok := r.port.(effect.Bounded)
	if !ok {
		return nil
	}
	b, err := outside(ctx, r, Step{Name: "ceiling"}, port.Bound)
	if err == nil {
		err = port.Hold(b)
	}
	if err != nil {
		return fmt.Errorf("the ceiling of the run: %w", err)
	}
	return r.emit(event.CeilingSet{Ceiling: b.Ceiling, From: b.From, Terms: b.Terms})
}

// observeContext takes what a step brought before the model into the label of the run. A model message is one call (D10), so the end of
// the step is the end of the message: nothing in the step was written knowing it.
func (r *runner) observeContext(action string, d *effect.Disclosure) error {
	if d == nil || d.Label == "" {
		return nil
	}
	shown, err := label.ReadLabel([]byte(d.Label))
	if err != nil {
		return fmt.Errorf("the label of what %s shows: %w", action, err)
	}
	r.context.label = label.Join(r.context.label, label.New(shown.Confidentiality(), nil))
	r.context.count++
	return r.emit(event.ContextObserved{
		Sequence: r.context.count, Step: r.steps, Action: action, OutputID: d.OutputID, Channels: []string{outputChannel},
		Label: d.Label, Truncated: d.Truncated, Context: r.context.text(),
	})
}
