package audit

import (
	"maps"
	"strings"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// hanging is what is missing of an effect that was asked for.
type hanging uint8

const (
	settled    hanging = iota
	unreported         // no report came
	erred              // its report is an error, so that it is not known what it did
	notBegun           // it was not begun, and may be asked for again
)

// asked takes that a step is about to be done.
func (a *auditor) asked(e journal.Entry) error {
	action, ok := strings.CutPrefix(e.Name, journal.EffectStep)
	if !ok {
		return nil
	}
	var asked journal.Asking
	var request effect.Request
	if err := journal.Decode(e.Body, &asked); err != nil {
		return err
	}
	if err := journal.Decode(string(asked.About), &request); err != nil {
		return err
	}
	s := &a.step
	m := s.admitted
	_, last := a.last.(event.Admitted)
	switch {
	case m == nil || !last:
		a.effects.fail(e.Sequence, "it was not admitted, as the last thing told before it")
	case s.asked != "":
		a.effects.fail(e.Sequence, "the effect of one proposal is asked for again")
	case request.Run != a.record.Run || request.Case != m.Case || request.Step != m.Step || request.Revision != m.Revision ||
		request.Action != m.Action || request.Arguments != m.Arguments || action != m.Action ||
		!maps.Equal(request.Artifacts, a.kept.table.Artifacts):
		a.effects.fail(e.Sequence, "it is not what was admitted")
	}
	a.reads.begins(e.Sequence, request)
	s.asked, s.hangs, s.performance, s.owesMove = e.Name, unreported, nil, false
	return nil
}

// afterEffect checks that nothing but the report comes behind an effect that was asked for, or the end of the
// sitting.
func (a *auditor) afterEffect(e journal.Entry) {
	s := &a.step
	switch {
	case s.hangs == settled, e.Kind == journal.Resumed, e.Kind == journal.Told && e.Name == journal.EventName(event.Failed{}):
		return
	case s.hangs == unreported && e.Kind == journal.Reported && e.Name == s.asked:
		return
	}
	a.effects.fail(e.Sequence, "the run goes on behind an effect that has no report")
	s.hangs = settled
}

// effectEnded takes the report of an effect.
func (a *auditor) effectEnded(e journal.Entry, r journal.Report) error {
	s := &a.step
	if s.hangs != unreported {
		a.effects.fail(e.Sequence, "the report is of an effect that was not asked for")
		return nil
	}
	switch {
	case r.NotBegun:
		s.hangs = notBegun
		return nil
	case r.Error != "":
		s.hangs = erred
		return nil
	}
	var p run.Performance
	if err := journal.Decode(string(r.Result), &p); err != nil {
		return err
	}
	if p.Outcome != "" {
		a.effects.fail(e.Sequence, "the report is a person's word, not the effect's")
	}
	s.hangs, s.owes = settled, report
	switch {
	case p.Report.Unconfined != "":
		s.owes, s.unconfined = confinement, p.Report.Unconfined
		return nil
	case p.Report.Refused != "":
		s.owes = refusal
		return nil
	}
	s.performance = &p
	a.reads.reported(e.Sequence, s, p, a.begin.Intent, a.record.Run)
	for artifact, revision := range p.Report.Revisions {
		s.owesMove = s.owesMove || a.kept.table.Artifacts[artifact] != revision
	}
	return nil
}

// outcome takes what a person says of an effect that has no report.
func (a *auditor) outcome(at int64, outcome event.Outcome) {
	s := &a.step
	inDoubt := s.hangs == unreported || s.hangs == erred
	switch {
	case !inDoubt && outcome != "":
		a.effects.fail(at, "a person says %.100q of an effect, and none is in doubt", outcome)
	case s.hangs == notBegun:
		s.asked, s.hangs = "", settled
	case !inDoubt:
	case outcome == event.Performed:
		s.hangs, s.owes = settled, report
	case outcome == event.NotPerformed:
		s.hangs, s.owes = settled, refusal
	default:
		a.effects.doubt(at, "nobody says whether the effect of step %d was performed", s.number)
		s.hangs = settled
	}
}

// concludeEffect says of the last effect that it is in doubt.
func (a *auditor) concludeEffect() {
	if s := &a.step; s.hangs == unreported || s.hangs == erred {
		a.effects.doubt(0, "the effect of step %d has not reported, and nobody says whether it was performed", s.number)
	}
}
