package audit

import (
	"slices"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// maxIdle is how many iterations in a row may end without a proposal (5.4).
const maxIdle = 2

// failedEnd is what a sitting that failed ended with.
const failedEnd = event.StopReason(journal.FailedStop)

// ending is what the checks of stops know of a run.
type ending struct {
	at       int64 // the entry that was read last
	picked   string
	refused  bool // the pick
	routed   string
	accepted bool // what was routed to

	number int // of the sitting
	terms  journal.Terms
	over   event.StopReason // how the sitting ended; empty where it has not
	// waiting is what the last stop says that an approval would be for.
	waiting []event.Waiting

	needsModel  bool                      // an executor says so, since the last decision
	idle        int                       // iterations without a proposal, in a row
	permissions map[string]run.Permission // by capability, since the last decision
	shelved     map[string]uint64         // the case revision at which an action was not to be had
}

func (e *ending) sit(number int, terms journal.Terms) { e.number, e.terms, e.over = number, terms, "" }

func (e *ending) permit(capability string, permission run.Permission) {
	if e.permissions == nil {
		e.permissions = map[string]run.Permission{}
	}
	e.permissions[capability] = permission
}

// afterEnd checks that nothing but another sitting comes behind the end of one, and before it what persons say of
// what waits.
func (a *auditor) afterEnd(e journal.Entry) {
	if a.end.over == "" || e.Kind == journal.Resumed || a.end.over == event.ApprovalRequired && isSaid(e) {
		return
	}
	a.stop.fail(e.Sequence, "the record goes on behind the end of the run")
	a.end.over = ""
}

// resumed begins another sitting.
func (a *auditor) resumed(at int64, r journal.Resumption) {
	a.outcome(at, r.Told.Outcome)
	if over := a.end.over; slices.Contains(reasons, over) && !record.Resumable(journal.Summary{Stop: string(over)}) {
		a.stop.fail(at, "a run that has come to %.100s goes on", over)
	}
	if r.Told.Sitting != a.end.number+1 || r.Told.Steps != a.steps {
		a.stop.fail(at, "it is sitting %d after %d steps, and is told as sitting %d after %d", a.end.number+1, a.steps, r.Told.Sitting, r.Told.Steps)
	}
	a.end.sit(a.end.number+1, r.Terms)
}

// concludeStop says of a run that did not stop that it did not.
func (a *auditor) concludeStop() {
	switch a.end.over {
	case "":
		a.stop.doubt(0, "the run has not stopped")
	case failedEnd:
		a.stop.doubt(0, "the run failed")
	}
}

// shelve takes the action of a refused step off what is open, where the authority denied it or nothing
// performs it.
func (a *auditor) shelve() {
	f := a.kept.frontier
	if a.step.decision == nil || a.kept.told != a.step.decision || f == nil {
		return
	}
	permission := a.end.permissions[f.Admit(a.step.action).Capability]
	if permission == run.NeedsApproval || permission == run.Allow && a.kept.performs[a.step.action] {
		return
	}
	if a.end.shelved == nil {
		a.end.shelved = map[string]uint64{}
	}
	a.end.shelved[a.step.action] = f.Revision
}

// stopped checks a stop against the last decision (5.7).
func (a *auditor) stopped(at int64, e event.Stopped) {
	defer func() {
		a.end.over, a.end.waiting, a.end.idle, a.kept.told, a.step.proposed = e.Reason, e.Waiting, 0, nil, false
	}()
	a.owedMove(at)
	if e.Steps != a.steps || e.CaseOpen != (a.kept.opened != nil) || e.Protocol != a.end.picked {
		a.stop.fail(at, "it tells of other steps, or of another protocol, than there were")
	}
	if len(e.Actions)+len(e.Waiting) > 0 && e.Reason != event.ApprovalRequired {
		a.stop.fail(at, "%.100s names actions", e.Reason)
	}
	switch {
	case !slices.Contains(reasons, e.Reason):
		a.stop.doubt(at, "this version does not know what a stop of %.100q follows from", e.Reason)
	case e.Reason == event.StepBudget && a.end.terms.Budget <= 0 && a.sits():
		// A sitting without a budget opens no frontier.
	case a.kept.opened == nil:
		a.stoppedBefore(at, e)
	case a.kept.told == nil:
		a.stop.fail(at, "no decision was made since the case changed")
	case a.kept.frontier == nil:
		a.stop.doubt(at, "the decision that it follows from cannot be made again")
	default:
		a.stoppedAt(at, e, *a.kept.frontier)
	}
}

// reasons are those for which a run of this version stops.
var reasons = []event.StopReason{
	event.Completed, event.ApprovalRequired, event.NothingAdmissible, event.StepBudget, event.NeedsModel, event.NoLocalExecutor, event.Refused,
	event.ConfinementUnavailable,
}

// sits tells whether a sitting has told nothing of its case yet.
func (a *auditor) sits() bool {
	switch a.last.(type) {
	case event.CaseOpened, event.Stopped:
		return a.kept.opened != nil
	}
	return false
}

// stoppedBefore checks a stop without a case.
func (a *auditor) stoppedBefore(at int64, e event.Stopped) {
	follows := e.Reason == event.Refused && a.end.refused && a.end.picked == "" ||
		e.Reason == event.NoLocalExecutor && a.end.picked != "" && a.end.routed == a.end.picked && !a.end.accepted
	if !follows {
		a.stop.fail(at, "%s does not follow from what was told, and no case was opened", e.Reason)
	}
}

// stoppedAt checks a stop at a frontier.
func (a *auditor) stoppedAt(at int64, e event.Stopped, f governor.Frontier) {
	proposed := a.step.proposed && a.step.decision == a.kept.told
	open := a.openActions(f)
	follows := false
	switch e.Reason {
	case event.Completed:
		follows = f.Outcome != "" && e.Detail == f.Outcome
	case event.ApprovalRequired:
		follows = a.waits(e.Actions, f) && (!proposed || slices.Equal(e.Actions, []string{a.step.action}))
		a.checkWaiting(at, e, f, proposed)
	case event.NothingAdmissible:
		follows = open == 0 || a.end.idle >= maxIdle
	case event.StepBudget:
		follows = a.steps >= a.end.terms.Budget
	case event.NeedsModel:
		follows = open > 0 && (a.begin.Executor && a.end.needsModel || !a.begin.Executor && !a.end.terms.Agent)
	case event.ConfinementUnavailable:
		follows = a.step.unconfined != "" && e.Detail == a.step.unconfined
	case event.NoLocalExecutor:
		follows = !slices.ContainsFunc(f.Entries, func(entry governor.FrontierEntry) bool {
			return a.kept.performs[entry.Action] || a.open(entry, f)
		})
	}
	// In the midst of a step it is not asked whether the case is complete.
	if !follows || f.Outcome != "" && e.Reason != event.Completed && !proposed {
		a.stop.fail(at, "%s does not follow from the decision before it", e.Reason)
	}
}

// waits tells whether each of some actions waits for an approval that the authority was asked for.
func (a *auditor) waits(actions []string, f governor.Frontier) bool {
	waiting := map[string]bool{}
	for _, entry := range f.Entries {
		permission, asked := a.end.permissions[entry.Capability]
		waiting[entry.Action] = entry.Status == governor.ApprovalRequired && asked && permission == run.NeedsApproval
	}
	return len(actions) > 0 && !slices.ContainsFunc(actions, func(action string) bool { return !waiting[action] })
}

// open tells whether an action is open to a proposal (5.2).
func (a *auditor) open(entry governor.FrontierEntry, f governor.Frontier) bool {
	revision, shelved := a.end.shelved[entry.Action]
	return entry.Status == governor.Admissible && a.kept.performs[entry.Action] ||
		entry.Status == governor.ApprovalRequired && !(shelved && revision == f.Revision)
}

func (a *auditor) openActions(f governor.Frontier) (n int) {
	for _, entry := range f.Entries {
		if a.open(entry, f) {
			n++
		}
	}
	return n
}
