package audit

import (
	"maps"
	"slices"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

const (
	// maxWork bounds what is decided again of one record: for each decision its records, and decisionWork more, times
	// the parts of the definition. That is some seconds. A run of 64 steps with a thousand records under a definition
	// of 20 KiB stays below it.
	maxWork = 1 << 26
	// decisionWork is what a decision costs for each part of the definition beside its records, in records.
	decisionWork = 24
	// partBytes is about how long the text of one part of a definition is.
	partBytes = 64
)

// kept is the case of the run: as the entries tell it, and as the governor keeps it.
type kept struct {
	opened   *event.CaseOpened
	performs map[string]bool
	table    journal.Case // what the tables must hold

	governor  *governor.Governor // nil: nothing can be decided again
	size      int                // of the definition, in bytes
	artifacts int                // that it declares
	work      int                // that is left to be done

	told     *event.Decided     // the last decision; nil where the case or the run has moved on since
	frontier *governor.Frontier // of that decision, decided again; nil where it cannot be
}

// spend takes work from what is left. With nothing left, nothing more is decided again.
func (a *auditor) spend(at int64, work int) bool {
	if a.kept.governor == nil {
		return false
	}
	if a.kept.work -= work; a.kept.work < 0 || work > governor.MaxExplanationRecords {
		a.kept.governor = nil
		a.decisions.doubt(at, "the record takes more work to decide again than is done; what follows is not")
	}
	return a.kept.governor != nil
}

// lose enters that the governor cannot keep the case as it is told.
func (a *auditor) lose(at int64, err error) {
	a.kept.governor = nil
	a.decisions.fail(at, "%.300v", err)
}

// of tells whether an event is about the run's case.
func (a *auditor) of(at int64, id string) bool {
	if a.kept.opened == nil || id != a.kept.opened.Case {
		a.decisions.fail(at, "it is about a case %.100q that is not open", id)
		return false
	}
	return true
}

// opened opens the case.
func (a *auditor) opened(at int64, e event.CaseOpened) {
	if a.kept.opened != nil {
		a.decisions.fail(at, "a second case is opened")
		return
	}
	a.kept.opened = &e
	a.kept.performs = map[string]bool{}
	for _, action := range e.Performs {
		a.kept.performs[action] = true
	}
	a.kept.table = journal.Case{
		Run: a.record.Run, ID: e.Case, Protocol: e.Protocol, SHA256: e.SHA256, Revision: e.Revision, Artifacts: e.Artifacts, Inputs: e.Inputs,
	}
	if !a.started || !maps.Equal(a.start, e.Artifacts) {
		a.decisions.fail(at, "the artifacts are not those that the binding started with")
	}
	if e.Revision != 1 {
		a.decisions.fail(at, "the case is opened at revision %d", e.Revision)
	}
	if a.kept.governor = a.opens(at, e); a.kept.governor == nil {
		a.decisions.doubt(at, "without the definition nothing can be decided again")
		return
	}
	if _, err := a.kept.governor.OpenCase(e.Protocol, governor.Opening{ID: e.Case, Revisions: e.Artifacts, Inputs: e.Inputs}); err != nil {
		a.lose(at, err)
	}
}

// moved gives artifacts new revisions.
func (a *auditor) moved(at int64, e event.RevisionsMoved) {
	if !a.of(at, e.Case) {
		return
	}
	a.checkMove(at, e)
	a.kept.told = nil
	a.kept.table.Revision, a.kept.table.Artifacts = e.Revision, e.Artifacts
	if !a.spend(at, a.kept.artifacts+1) {
		return
	}
	switch revision, err := a.kept.governor.UpdateRevisions(e.Case, e.Artifacts); {
	case err != nil:
		a.lose(at, err)
	case len(e.Artifacts) != a.kept.artifacts:
		a.decisions.fail(at, "it tells not the revision of each artifact")
	case revision != e.Revision:
		a.decisions.fail(at, "the case comes to revision %d, and is told to come to %d", revision, e.Revision)
	}
}

// received gives a record to the governor.
func (a *auditor) received(at int64, e event.EvidenceReceived) {
	if !a.of(at, e.Case) {
		return
	}
	a.checkEvidence(at, e)
	a.kept.told = nil
	record := governor.Received{Kind: e.Kind, Producer: e.Producer, Data: []byte(e.Data), Applies: e.Applies}
	a.kept.table.Received = append(a.kept.table.Received, record)
	if !a.spend(at, 1) {
		return
	}
	// The case is open, so that the governor takes it.
	if applies, _ := a.kept.governor.Evidence(e.Case, record); applies != e.Applies {
		a.decisions.fail(at, "the record applies: %t; it is told as %t", applies, e.Applies)
	}
}

// decided decides again.
func (a *auditor) decided(at int64, e event.Decided) {
	if !a.of(at, e.Case) {
		return
	}
	a.kept.told, a.kept.frontier = &e, nil
	a.end.permissions, a.end.needsModel = nil, false
	a.owedMove(at)
	a.decidesStep(at, &e)
	if e.At != a.at {
		a.decisions.fail(at, "the instant is %.100q, and the clock said %.100q", e.At, a.at)
	}
	if e.Revision != a.kept.table.Revision || !maps.Equal(e.Artifacts, a.kept.table.Artifacts) {
		a.decisions.fail(at, "it is about other revisions than the case has")
	}
	if !a.spend(at, (len(a.kept.table.Received)+decisionWork)*(a.kept.size/partBytes+1)) {
		return
	}
	f, err := a.kept.governor.Frontier(e.Case, e.At)
	if err != nil {
		a.lose(at, err)
		return
	}
	a.kept.frontier = &f
	if f.Evidence != e.Evidence {
		a.decisions.fail(at, "it rests on %d records, not on %d", f.Evidence, e.Evidence)
	}
	if f.SHA256 != e.SHA256 {
		a.decisions.fail(at, "the decision is another: decided again it has SHA-256 %s", f.SHA256)
	}
}

// computed compares the frontier that was told with the one decided again.
func (a *auditor) computed(at int64, e event.FrontierComputed) {
	a.shown = &e.Revision
	if a.kept.told == nil {
		a.decisions.fail(at, "no decision was made for this frontier")
		return
	}
	f := a.kept.frontier
	if f == nil {
		return // said of the decision already
	}
	same := slices.EqualFunc(e.Actions, f.Entries, func(told event.ActionStatus, again governor.FrontierEntry) bool {
		return told.Action == again.Action && told.Status == string(again.Status)
	})
	if !same || e.ID != f.ID || e.Revision != f.Revision || e.At != f.At {
		a.decisions.fail(at, "the frontier is another than that of the decision")
	}
}
