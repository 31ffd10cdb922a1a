package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// Case implements journal.Store. Besides what wraps journal.ErrDamaged, the error may be journal.ErrNoRun, or a
// *governor.CaseError of code UnknownCase for a case that the run did not open.
func (s *Store) Case(ctx context.Context, run, id string) (*journal.Case, error) {
	c := &journal.Case{Run: run, ID: id}
	err := s.look(ctx, fmt.Sprintf("read case %q of run", id), run, func(t *transaction) error {
		row := new(caseRow)
		err := t.caseRow(run, id, row)
		if errors.Is(err, sql.ErrNoRows) {
			return t.missing(run, id)
		}
		if err != nil {
			return err
		}
		c.Protocol, c.SHA256 = row.protocol, row.sha256
		if c.Received, err = t.received(run, id, 0, row.records); err != nil {
			return err
		}
		if c.Observations, err = t.observed(run, id, 0, row.observations); err != nil {
			return err
		}
		return row.decode(c)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// decode reads what a row holds as JSON, and checks that every part could have been written: what
// CheckCase refuses never was.
func (r *caseRow) decode(c *journal.Case) error {
	if r.revision < 0 {
		return damaged("case %s has the revision %d", c.ID, r.revision)
	}
	c.Revision = uint64(r.revision)
	if err := journal.Decode(r.artifacts, &c.Artifacts); err != nil {
		return fmt.Errorf("the artifacts: %w", err)
	}
	if err := journal.Decode(r.inputs, &c.Inputs); err != nil {
		return fmt.Errorf("the inputs: %w", err)
	}
	stored := []event.Event{event.CaseOpened{Case: c.ID, Protocol: c.Protocol, SHA256: c.SHA256, Revision: c.Revision}}
	for _, r := range c.Received {
		stored = append(stored, event.EvidenceReceived{Case: c.ID, Kind: r.Kind, Producer: r.Producer, Data: string(r.Data)})
	}
	for _, o := range c.Observations {
		stored = append(stored, event.Observed{Case: c.ID, Source: string(o.Source), Subject: o.Subject, Payload: string(o.Payload)})
	}
	for _, e := range stored {
		if err := journal.CheckCase(e); err != nil {
			return damaged("%v", err)
		}
	}
	return nil
}

// missing tells a case whose row is lost from one that never was.
func (t *transaction) missing(run, id string) error {
	var head int64
	if err := t.one("SELECT head_sequence FROM journal_runs WHERE id = $1", []any{run}, &head); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return journal.ErrNoRun
		}
		return err
	}
	opened := false
	err := t.each("SELECT body FROM journal_entries WHERE run = $1 AND kind = $2 AND name = $3 ORDER BY sequence",
		[]any{run, string(journal.Told), journal.EventName(event.CaseOpened{})}, func(scan func(...any) error) error {
			var body string
			if err := scan(&body); err != nil {
				return err
			}
			var e event.CaseOpened
			if err := journal.Decode(body, &e); err != nil {
				return err
			}
			opened = opened || e.Case == id
			return nil
		})
	switch {
	case err != nil:
		return err
	case opened:
		return damaged("its row is missing")
	}
	return &governor.CaseError{Code: governor.UnknownCaseError, Detail: fmt.Sprintf("the run opened no case %q", id)}
}
