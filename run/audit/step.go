package audit

import (
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/run"
)

// step is the step that the run is at.
type step struct {
	number            int // 0 before the first
	action, arguments string
	proposed          bool
	shown             *uint64        // the case revision of the frontier that the proposal was made at
	decision          *event.Decided // since the proposal
	admitted          *event.Admitted
	asked             string // the name of the step that its effect is; empty where it was not asked for
	hangs             hanging
	performance       *run.Performance // of an effect that reported
	unconfined        string           // why the effect could not be confined
	observed          bool             // what the effect observed was told
	owes              debt
	owesMove          bool            // the report moves revisions
	told              map[string]told // records that people may be told of, by id
}

// count checks the number of a step.
func (a *auditor) count(at int64, number int) {
	if a.steps++; number != a.steps {
		a.effects.fail(at, "it is step %d; the next is step %d", number, a.steps)
		a.steps = number
	}
	a.end.idle = 0
}

// proposed begins a step that has a proposal.
func (a *auditor) proposed(at int64, e event.Proposed) {
	a.count(at, e.Step)
	a.step = step{number: e.Step, action: e.Action, arguments: e.Arguments, proposed: true, shown: a.shown}
	a.shown, a.kept.told = nil, nil
}

// decidesStep takes the decision behind a proposal. At the next one the proposal must have come to something.
func (a *auditor) decidesStep(at int64, e *event.Decided) {
	s := &a.step
	switch {
	case !s.proposed || s.admitted != nil:
	case s.decision == nil:
		s.decision = e
	default:
		a.effects.fail(at, "step %d does not tell what came of its proposal", s.number)
		s.proposed = false
	}
}

// admitted checks that a proposal was admitted by the decision behind it, and by the authority where it needs
// a capability (5.5).
func (a *auditor) admitted(at int64, e event.Admitted) {
	s := &a.step
	d := s.decision
	switch {
	case !s.proposed || s.admitted != nil:
		a.effects.fail(at, "there is no proposal to be admitted")
		return
	case d == nil || a.kept.told != d:
		a.effects.fail(at, "the frontier was not computed again for the proposal")
		return
	}
	s.admitted = &e
	if e.Step != s.number || e.Action != s.action || e.Arguments != s.arguments || e.Case != d.Case {
		a.effects.fail(at, "what is admitted is not what was proposed")
	}
	if e.Revision != d.Revision || e.SHA256 != d.SHA256 {
		a.effects.fail(at, "it is admitted by another decision than the one behind the proposal")
	}
	if s.shown == nil || *s.shown != d.Revision {
		a.effects.fail(at, "the proposal was made at a frontier of another case revision")
	}
	if !a.kept.performs[e.Action] {
		a.effects.fail(at, "nothing performs %.100q", e.Action)
	}
	if a.kept.frontier == nil {
		a.effects.doubt(at, "the decision that admits it cannot be made again")
		return
	}
	admission := a.kept.frontier.Admit(e.Action)
	switch {
	case admission.Verdict == governor.Refused:
		a.effects.fail(at, "the decision does not admit it: %.300s", admission.Refusal)
	case e.Capability != admission.Capability:
		a.effects.fail(at, "it needs the capability %.100q, and is admitted with %.100q", admission.Capability, e.Capability)
	case admission.Verdict == governor.NeedsAuthority && a.end.permissions[e.Capability] != run.Allow:
		a.effects.fail(at, "the capability %.100q was not granted for it", e.Capability)
	case admission.Verdict == governor.NeedsAuthority && a.persons:
		a.checkGrant(at, e, d.At)
	}
}
