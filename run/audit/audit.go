// Package audit checks the record of a run against itself.
//
// A record holds what a run was about to do, what came of it and what it told. From this alone it can be
// decided again, by the rules and without the world, whether each effect was admitted, each record of
// evidence came from an effect's report, and the run stopped because a rule said so. That today's code
// would do the same is another question, which package record answers by a replay.
package audit

import (
	"fmt"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

// auditor goes over the entries of one record, once and in order.
type auditor struct {
	record *journal.Record

	chain, definition, decisions, effects, evidence, stop, cases check

	begin   journal.Beginning
	at      string // what the clock last said
	started bool
	start   map[string]string // the revisions that the binding started with
	kept    kept
	step    step
	steps   int         // that were told
	last    event.Event // told, but for failures
	shown   *uint64     // the case revision of a frontier that was computed since the last proposal
	end     ending

	reads reads

	persons bool // have a say in the run
	said    []said
}

// Check checks a record, and the tables of its cases beside it (4.11). Nil cases were not given. It reads nothing
// else, so that equal records have equal reports. Whatever a record holds, a check gives a verdict.
//
// A part that is missing, that this version cannot read, or that takes more than a fixed amount of work is
// never passed: what needs it is inconclusive.
func Check(record *journal.Record, cases []*journal.Case) Report {
	return checkWithin(record, cases, maxWork)
}

// checkWithin is Check with a limit of its own for what is decided again.
func checkWithin(record *journal.Record, cases []*journal.Case, work int) Report {
	a := &auditor{record: record, kept: kept{work: work}, persons: saysSomebody(record.Entries)}
	a.verify()
	if err := a.read(); err != nil {
		all := []*check{&a.definition, &a.decisions, &a.effects, &a.evidence, &a.stop, &a.cases}
		for _, of := range a.reads.checks() {
			all = append(all, of.check)
		}
		for _, c := range all {
			c.doubt(a.end.at, "%v; what follows is not checked", err)
		}
	} else {
		a.concludeEffect()
		a.reads.conclude()
		a.concludeStop()
		a.concludeDefinition()
		a.compare(cases)
	}
	return reportOf(record, append([]named{
		{Chain, &a.chain},
		{Definition, &a.definition},
		{Decisions, &a.decisions},
		{Effects, &a.effects},
		{Evidence, &a.evidence},
		{Stop, &a.stop},
		{Cases, &a.cases},
	}, a.reads.checks()...))
}

// read goes over the entries as far as they can be read.
func (a *auditor) read() error {
	entries := a.record.Entries
	if len(entries) == 0 || entries[0].Kind != journal.Begun {
		return fmt.Errorf("the record does not say how the run began")
	}
	a.end.at = entries[0].Sequence
	if err := journal.Decode(entries[0].Body, &a.begin); err != nil {
		return err
	}
	a.end.sit(1, a.begin.Terms)
	for _, e := range entries[1:] {
		a.end.at = e.Sequence
		if err := a.take(e); err != nil {
			return err
		}
	}
	return nil
}

// take takes the next entry. The error is that it cannot be read.
func (a *auditor) take(e journal.Entry) error {
	a.afterEffect(e)
	a.afterEnd(e)
	switch e.Kind {
	case journal.Asked:
		return a.asked(e)
	case journal.Reported:
		return a.reported(e)
	case journal.Resumed:
		var r journal.Resumption
		if err := journal.Decode(e.Body, &r); err != nil {
			return err
		}
		a.resumed(e.Sequence, r)
		return nil
	case journal.Told:
		told, err := e.Event()
		if err != nil {
			return err
		}
		a.told(e.Sequence, told)
		return nil
	case journal.Begun:
		return fmt.Errorf("entry %d begins the run once more", e.Sequence)
	default:
		return fmt.Errorf("entry %d is of a kind %.100q, which this version does not know", e.Sequence, e.Kind)
	}
}

// told takes an event.
func (a *auditor) told(at int64, e event.Event) {
	met := a.owed(at, e)
	switch e := e.(type) {
	case event.Picked:
		a.end.picked = e.Protocol
	case event.PickRefused:
		a.end.refused = true
	case event.Routed:
		a.end.routed, a.end.accepted = e.Protocol, e.Accepted
	case event.CeilingSet:
		a.reads.ceilingSet(at, e)
	case event.ContextObserved:
		a.reads.observes(at, e)
	case event.CaseOpened:
		a.opened(at, e)
	case event.Decided:
		a.decided(at, e)
	case event.FrontierComputed:
		a.computed(at, e)
	case event.Proposed:
		a.proposed(at, e)
	case event.NotProposed:
		a.count(at, e.Step)
		a.step = step{number: e.Step, owes: refusal}
	case event.Admitted:
		a.admitted(at, e)
	case event.EffectReported:
		if met {
			a.effectReported(at, e)
		}
	case event.Observed:
		a.observed(at, e)
	case event.RevisionsMoved:
		a.moved(at, e)
	case event.EvidenceReceived:
		a.received(at, e)
	case event.EvidenceSubmitted:
		a.submitted(at, e)
	case event.StepRefused:
		if met {
			a.stepRefused(at, e)
		}
	case event.Stopped:
		a.stopped(at, e)
	case event.Granted:
		a.says(at, said{of: request{e.Action, e.Arguments, e.Capability, e.Case, e.Revision, e.SHA256}, expires: e.Expires})
		return // what was told before it is still what a resumed run goes on from
	case event.Denied:
		a.says(at, said{of: request{e.Action, e.Arguments, e.Capability, e.Case, e.Revision, e.SHA256}, denied: true})
		return
	case event.Failed:
		a.end.over = failedEnd
		return
	}
	a.last = e
}
