package audit

import (
	"maps"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
)

// debt is what a step must tell next.
type debt string

const (
	report      debt = "the report of the effect"
	observation debt = "the observation of the effect"
	refusal     debt = "why the step had no effect"
	confinement debt = "that the effect could not be confined"
)

// owed checks that an event is one that the step may tell next, and reports whether it is.
func (a *auditor) owed(at int64, e event.Event) bool {
	s := &a.step
	owes, met, c := s.owes, s.owes == "", &a.effects
	switch e := e.(type) {
	case event.Failed, event.Granted, event.Denied:
		return true // a resumed run goes on from what was told before it
	case event.EffectReported:
		met = owes == report
	case event.StepRefused:
		met = owes == refusal || owes == "" && s.proposed && s.admitted == nil
	case event.Stopped:
		met = owes == "" || owes == confinement && e.Reason == event.ConfinementUnavailable
	case event.Observed:
		c = &a.evidence
		if governor.Source(e.Source) == governor.EffectSource {
			met = owes == observation
		}
	}
	if s.admitted != nil && s.asked == "" {
		a.effects.fail(at, "what was admitted in step %d was not asked for", s.number)
		s.admitted = nil
	}
	s.owes = ""
	switch {
	case met:
	case owes == observation:
		a.evidence.fail(at, "step %d does not tell %s", s.number, owes)
	case owes != "":
		a.effects.fail(at, "step %d does not tell %s", s.number, owes)
	default:
		c.fail(at, "step %d has no effect to tell this of", s.number)
	}
	return met
}

// effectReported takes what is told of a report.
func (a *auditor) effectReported(at int64, e event.EffectReported) {
	s := &a.step
	if e.Step != s.number {
		a.effects.fail(at, "it is step %d that reports, not step %d", s.number, e.Step)
	}
	if s.performance == nil {
		return // a person's word
	}
	s.owes = observation
	if e.Report != s.performance.Report.Text {
		a.effects.fail(at, "it is not what the effect reported")
	}
}

// stepRefused takes that a step had no effect.
func (a *auditor) stepRefused(at int64, e event.StepRefused) {
	if e.Step != a.step.number {
		a.effects.fail(at, "it is step %d that is refused, not step %d", a.step.number, e.Step)
	}
	a.shelve()
	a.step.proposed = false
}

// checkMove checks that revisions move as an effect reports, and in no other way (5.4).
func (a *auditor) checkMove(at int64, e event.RevisionsMoved) {
	s := &a.step
	if !s.owesMove || e.Step != s.number {
		a.effects.fail(at, "no effect of step %d reports new revisions", e.Step)
		return
	}
	want := map[string]string{}
	maps.Copy(want, a.kept.table.Artifacts)
	maps.Copy(want, s.performance.Report.Revisions)
	if !maps.Equal(want, e.Artifacts) {
		a.effects.fail(at, "the effect of step %d reports other revisions", e.Step)
	}
	s.owesMove = false
}

// owedMove checks that the revisions which an effect reported were given to the case.
func (a *auditor) owedMove(at int64) {
	if a.step.owesMove {
		a.effects.fail(at, "the case was not given the revisions that the effect of step %d reports", a.step.number)
		a.step.owesMove = false
	}
}
