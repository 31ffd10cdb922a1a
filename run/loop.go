package run

import (
	"context"
	"slices"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
)

// instantLayout is the form of the instants that evaluations are stamped with.
const instantLayout = "2006-01-02T15:04:05Z"

// maxIdle is how many iterations in a row may end without a proposal (5.4).
const maxIdle = 2

// loop goes on until the case completes or a rule stops the run, and again in every further sitting.
func (r *runner) loop(ctx context.Context) error {
	for {
		sitting := r.sitting().Number
		if err := r.sit(ctx); err != nil || r.sitting().Number == sitting {
			return err
		}
	}
}

// sit goes on until the case completes or a rule stops the run (5.4, with one model call a step as D10
// has it).
func (r *runner) sit(ctx context.Context) error {
	if r.sitting().Budget <= 0 {
		return r.stop(event.StepBudget, "")
	}
	// What waited at the end of the sitting before may have to be proposed first, so that there is something to approve.
	r.before = nil
	for idle := 0; ; {
		frontier, err := r.frontier(ctx)
		if err != nil {
			return err
		}
		if frontier.Outcome != "" {
			return r.stop(event.Completed, frontier.Outcome)
		}
		waiting, err := r.waiting(ctx, frontier)
		switch {
		case err != nil:
			return err
		case len(waiting) > 0:
			if err := r.show(frontier); err != nil {
				return err
			}
			return r.await(waiting...)
		case r.steps >= r.sitting().Budget:
			return r.stop(event.StepBudget, "")
		}
		candidates, performable := r.candidates(frontier)
		switch {
		case !performable:
			return r.showAndStop(frontier, event.NoLocalExecutor, "nothing here performs an action of "+r.outcome.Protocol)
		case len(candidates) == 0:
			return r.stop(event.NothingAdmissible, "")
		}
		if err := r.show(frontier); err != nil {
			return err
		}
		proposal, err := r.proposal(ctx, Selection{Frontier: frontier, Candidates: candidates})
		switch {
		case err != nil:
			return err
		case proposal.NeedsModel:
			return r.stop(event.NeedsModel, string(event.Action))
		case proposal.None:
			if idle++; idle == maxIdle {
				return r.stop(event.NothingAdmissible, "")
			}
			continue
		}
		idle, r.before = 0, &frontier
		r.steps++
		if stopped, err := r.step(ctx, frontier, proposal); err != nil || stopped {
			return err
		}
	}
}

// frontier reads the clock and asks the governor for the frontier at that instant.
func (r *runner) frontier(ctx context.Context) (governor.Frontier, error) {
	at, err := outside(ctx, r, Step{Name: "clock"}, func(context.Context) (string, error) {
		return r.Now().UTC().Format(instantLayout), nil
	})
	if err != nil {
		return governor.Frontier{}, err
	}
	f, err := r.governor.Frontier(r.outcome.Case, at)
	if err != nil {
		return governor.Frontier{}, err
	}
	artifacts, err := r.governor.ArtifactRevisions(f.Case)
	if err != nil {
		return governor.Frontier{}, err
	}
	return f, r.emit(event.Decided{Case: f.Case, Revision: f.Revision, Artifacts: artifacts, Evidence: f.Evidence, At: at, SHA256: f.SHA256})
}

func (r *runner) show(f governor.Frontier) error {
	shown := event.FrontierComputed{ID: f.ID, Revision: f.Revision, At: f.At}
	for _, e := range f.Entries {
		shown.Actions = append(shown.Actions, event.ActionStatus{Action: e.Action, Status: string(e.Status)})
	}
	return r.emit(shown)
}

func (r *runner) showAndStop(f governor.Frontier, reason event.StopReason, detail string) error {
	if err := r.show(f); err != nil {
		return err
	}
	return r.stop(reason, detail)
}

// sameEntries tells whether two frontiers list the same actions with the same statuses and reasons:
// then what was done between them changed nothing that counts.
func sameEntries(a, b governor.Frontier) bool {
	return slices.EqualFunc(a.Entries, b.Entries, func(a, b governor.FrontierEntry) bool {
		return a.Action == b.Action && a.Status == b.Status && slices.Equal(a.Reasons, b.Reasons)
	})
}

// proposal gives the next proposal: the pending one, since its approval is for just its arguments, or a
// new one.
func (r *runner) proposal(ctx context.Context, s Selection) (Proposal, error) {
	if p := r.pending; p != nil {
		r.pending = nil
		return *p, nil
	}
	return r.propose(ctx, s)
}

// candidates gives what the executor may choose from: admissible actions that the port performs, and
// every action that only lacks approval, so that a run can reach an approval stop (5.2). Performable
// is false where the port performs nothing that the frontier lists and nothing waits for approval.
func (r *runner) candidates(f governor.Frontier) (candidates []governor.FrontierEntry, performable bool) {
	performable = len(f.Entries) == 0
	for _, e := range f.Entries {
		performs := r.port.Performs(e.Action)
		approvable := e.Status == governor.ApprovalRequired && !r.isShelved(f, e.Action)
		performable = performable || performs || approvable
		if approvable || e.Status == governor.Admissible && performs {
			candidates = append(candidates, e)
		}
	}
	return candidates, performable
}

// shelve takes an action off the offer until the case moves: it was denied, or allowed and cannot be
// performed here, and would be again.
func (r *runner) shelve(f governor.Frontier, action string) { r.shelved[action] = f.Revision }

func (r *runner) isShelved(f governor.Frontier, action string) bool {
	return r.shelved[action] == f.Revision
}

// request makes the request for a proposal at a frontier.
func (r *runner) request(f governor.Frontier, step int, p Proposal) (effect.Request, error) {
	artifacts, err := r.governor.ArtifactRevisions(f.Case)
	return effect.Request{
		Run: r.id, Step: step, Case: f.Case, Revision: f.Revision,
		Artifacts: artifacts, Action: p.Action, Arguments: p.Arguments, Label: r.context.text(),
	}, err
}
