package run

import (
	"context"
	"fmt"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run/workingcontext"
)

// ContextPolicy says what a model is shown of a run (7.6).
type ContextPolicy string

// The policies. The empty ContextPolicy is ContextLegacy.
const (
	// ContextLegacy shows the last 64 steps, each cut at 16 KiB.
	ContextLegacy ContextPolicy = "legacy"
	// ContextBounded keeps every request within [workingcontext.MaxRequestBytes] and cuts nothing off:
	// what is not shown can be looked up.
	ContextBounded ContextPolicy = "bounded"
)

// lookupInstructions are added under ContextBounded.
var lookupInstructions = "\nA tool that is called a look-up reads earlier events and kept results and is no action; " +
	fmt.Sprintf("you may call one instead, and are asked again with its answer, at most %d times a step.", workingcontext.MaxLookups)

// remember keeps a step that ended for later requests. What came of it must have been told before: an
// error means that the context of the run is full.
func (r *runner) remember(p Proposal, s workingcontext.Step, came ...string) error {
	if r.working == nil {
		r.history.add(p, came...)
		return nil
	}
	s.Number, s.Action, s.Arguments = r.steps, p.Action, p.Arguments
	return r.working.Add(s)
}

// actionRequest makes the request for the next action.
func (r *runner) actionRequest(tools []model.Tool) (model.Request, error) {
	if r.working == nil {
		return model.Request{Instructions: r.instructions(), Input: r.history.items(r.Intent), Tools: tools}, nil
	}
	request, err := r.working.Request(r.instructions()+lookupInstructions, tools)
	r.Account.keep(r.working)
	return request, err
}

// look answers a reply that is a look-up and no action.
func (r *runner) look(reply model.Reply) (looked bool, err error) {
	if r.working == nil || len(reply.Calls) != 1 || !r.working.Offers(reply.Calls[0].Name) {
		return false, nil
	}
	err = r.working.Look(reply.Calls[0].Name, reply.Calls[0].Arguments)
	r.Account.keep(r.working)
	return true, err
}

// askForAction asks the agent model, again after each of its look-ups. Name gives the name that a call
// is shown under.
func (r *runner) askForAction(ctx context.Context, tools []model.Tool, name func(string) string) (model.Reply, error) {
	if r.working != nil {
		r.working.NextStep()
	}
	for {
		request, err := r.actionRequest(tools)
		if err != nil {
			return model.Reply{}, err
		}
		reply, err := r.ask(ctx, event.Action, r.sitting().Agent, request, name)
		if err != nil {
			return model.Reply{}, err
		}
		if looked, err := r.look(reply); err != nil || !looked {
			return reply, err
		}
	}
}
