package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
)

// Permission is what an authority says about one capability for one proposal.
type Permission uint8

// The permissions. The zero Permission asks a person.
const (
	NeedsApproval Permission = iota
	Allow
	Deny
)

// Authority grants capabilities. Its word holds for exactly the capability and the proposal it was
// asked about: action, arguments, case and case revision (5.5).
type Authority interface {
	// Permit says whether the proposal may use the capability. An error fails the run.
	//
	// Before a run stops for approvals it asks about each action that waits for one, with no step
	// and, unless the very proposal waits already, empty arguments: is there a point in proposing it? Allow lets
	// the run go on, and uses no grant up; the proposal is asked for when it is there.
	Permit(ctx context.Context, capability string, proposal effect.Request) (Permission, error)
}

// AskAlways is the authority of the command line: every capability needs a person's approval.
type AskAlways struct{}

// Permit gives NeedsApproval.
func (AskAlways) Permit(context.Context, string, effect.Request) (Permission, error) {
	return NeedsApproval, nil
}

func (r *runner) permission(ctx context.Context, capability string, request effect.Request) (Permission, error) {
	permission, err := outside(ctx, r, Step{Name: "authority:" + capability, About: request}, func(ctx context.Context) (Permission, error) {
		return r.Authority.Permit(ctx, capability, request)
	})
	if err != nil {
		return Deny, fmt.Errorf("ask for authority over %s: %w", capability, err)
	}
	return permission, nil
}

// await ends the sitting with what nothing but a person's approval can bring on.
func (r *runner) await(waiting ...event.Waiting) error {
	actions := make([]string, len(waiting))
	for i, w := range waiting {
		actions[i] = w.Action
	}
	r.outcome.Reason, r.outcome.Detail = event.ApprovalRequired, strings.Join(actions, ", ")
	return r.emit(event.Stopped{
		Reason: r.outcome.Reason, Detail: r.outcome.Detail, Actions: actions, Waiting: waiting,
		Protocol: r.outcome.Protocol, Steps: r.steps, CaseOpen: true,
	})
}

// waitingFor says what an approval of a request would be for.
func (r *runner) waitingFor(capability string, request effect.Request) event.Waiting {
	reach := nobodyReached
	if r.port.Performs(request.Action) {
		reach = validText(r.port.Reach(request.Action))
	}
	return event.Waiting{
		Action: request.Action, Arguments: request.Arguments, Capability: capability, Case: request.Case, Revision: request.Revision, Reach: reach,
	}
}

// nobodyReached is what an action reaches that has no port to perform it.
const nobodyReached = "nothing here performs it"

// waiting gives what nothing but a person's approval can bring on: the proposal that stopped the run before, or,
// where the last step changed nothing that counts, each action that needs an approval. The authority is asked about
// each, since a grant may have come meanwhile: where it allows one, nothing waits. Actions that are denied are not
// awaited.
func (r *runner) waiting(ctx context.Context, f governor.Frontier) ([]event.Waiting, error) {
	if r.pending != nil {
		return r.stillPending(ctx, f)
	}
	if r.before == nil || !sameEntries(*r.before, f) {
		return nil, nil
	}
	var waiting []event.Waiting
	for _, e := range f.Entries {
		if e.Status != governor.ApprovalRequired || r.isShelved(f, e.Action) {
			continue
		}
		request, err := r.request(f, 0, Proposal{Action: e.Action})
		if err != nil {
			return nil, err
		}
		switch permission, err := r.permission(ctx, e.Capability, request); {
		case err != nil || permission == Allow:
			return nil, err
		case permission == NeedsApproval:
			if r.schema(e.Action) == effect.NoArguments {
				request.Arguments = "{}" // it can be approved before it is proposed
			}
			waiting = append(waiting, r.waitingFor(e.Capability, request))
		}
	}
	return waiting, nil
}

// stillPending tells whether the pending proposal still waits for its approval and for nothing else.
func (r *runner) stillPending(ctx context.Context, f governor.Frontier) ([]event.Waiting, error) {
	admission := f.Admit(r.pending.Action)
	if admission.Verdict != governor.NeedsAuthority {
		return nil, nil
	}
	request, err := r.request(f, 0, *r.pending)
	if err != nil {
		return nil, err
	}
	if permission, err := r.permission(ctx, admission.Capability, request); err != nil || permission != NeedsApproval {
		return nil, err
	}
	return []event.Waiting{r.waitingFor(admission.Capability, request)}, nil
}
