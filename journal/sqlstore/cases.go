package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// caseEvents are the names of the events that the tables of cases follow.
var caseEvents = []string{
	journal.EventName(event.CaseOpened{}), journal.EventName(event.RevisionsMoved{}),
	journal.EventName(event.EvidenceReceived{}), journal.EventName(event.Observed{}),
}

// caseRow is the row of a case, with what a batch adds to it.
type caseRow struct {
	protocol, sha256  string
	revision          int64
	artifacts, inputs string // JSON
	records           int64  // how many there are
	observations      int64

	received []governor.Received // those that the batch adds
	observed []governor.Observation
}

// follow brings the tables of cases up to new entries.
func (t *transaction) follow(run string, entries []journal.Entry) error {
	cases := map[string]*caseRow{}
	var order []string // of the cases, so that each change meets the same rows in the same order
	for _, e := range entries {
		if e.Kind != journal.Told || !slices.Contains(caseEvents, e.Name) {
			continue
		}
		told, err := e.Event()
		if err != nil {
			return err
		}
		if err := journal.CheckCase(told); err != nil {
			return err
		}
		id := caseOf(told)
		if cases[id] == nil {
			if cases[id], err = t.growing(run, id, told); err != nil {
				return err
			}
			order = append(order, id)
		}
		if err := t.grow(run, id, cases[id], told); err != nil {
			return err
		}
	}
	for _, id := range order {
		if err := t.settle(run, id, cases[id]); err != nil {
			return err
		}
	}
	return nil
}

// caseOf gives the case that an event is about.
func caseOf(e event.Event) string {
	switch e := e.(type) {
	case event.CaseOpened:
		return e.Case
	case event.RevisionsMoved:
		return e.Case
	case event.EvidenceReceived:
		return e.Case
	case event.Observed:
		return e.Case
	}
	return ""
}

// growing gives the row of a case that the first of its events in a batch is about: a new row, or the one there is.
func (t *transaction) growing(run, id string, first event.Event) (*caseRow, error) {
	c := new(caseRow)
	if _, opens := first.(event.CaseOpened); opens {
		made, err := t.exec("INSERT INTO journal_cases (run, id, protocol, sha256, revision, artifacts, inputs, records, observations)"+
			" VALUES ($1, $2, '', '', 0, '', '', 0, 0) ON CONFLICT (run, id) DO NOTHING", run, id)
		if err == nil && made == 0 {
			err = unavailable("case %s is kept already", id)
		}
		return c, err
	}
	err := t.caseRow(run, id, c)
	if errors.Is(err, sql.ErrNoRows) {
		err = unavailable("case %s was never opened", id)
	}
	return c, err
}

func unavailable(format string, arguments ...any) error {
	return &governor.CaseError{Code: governor.StoreUnavailableError, Detail: fmt.Sprintf(format, arguments...)}
}

// grow takes one event into the row of its case and the tables below it.
func (t *transaction) grow(run, id string, c *caseRow, told event.Event) (err error) {
	switch told := told.(type) {
	case event.CaseOpened:
		if c.artifacts != "" {
			return unavailable("case %s is kept already", id)
		}
		c.protocol, c.sha256, c.revision = told.Protocol, told.SHA256, int64(told.Revision)
		if c.artifacts, err = journal.Encode(told.Artifacts); err == nil {
			c.inputs, err = journal.Encode(told.Inputs)
		}
	case event.RevisionsMoved:
		c.revision = int64(told.Revision)
		c.artifacts, err = journal.Encode(told.Artifacts)
	case event.EvidenceReceived:
		c.records++
		c.received = append(c.received, governor.Received{Kind: told.Kind, Producer: told.Producer, Data: []byte(told.Data), Applies: told.Applies})
		_, err = t.exec("INSERT INTO journal_case_records (run, case_id, position, kind, producer, data, applies) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			run, id, c.records, told.Kind, told.Producer, told.Data, told.Applies)
	case event.Observed:
		c.observations++
		c.observed = append(c.observed, governor.Observation{Source: governor.Source(told.Source), Subject: told.Subject, Payload: []byte(told.Payload)})
	}
	return err
}

// observe adds the observations that a case grew by: most steps have two, and one statement adds as many as rowsAtOnce.
func (t *transaction) observe(run, id string, c *caseRow) error {
	position := c.observations - int64(len(c.observed))
	for some := range slices.Chunk(c.observed, rowsAtOnce) {
		statement := "INSERT INTO journal_case_observations (run, case_id, position, source, subject, payload) VALUES "
		arguments := []any{run, id}
		for i, o := range some {
			if i > 0 {
				statement += ", "
			}
			n := len(arguments)
			statement += fmt.Sprintf("($1, $2, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4)
			position++
			arguments = append(arguments, position, string(o.Source), o.Subject, string(o.Payload))
		}
		if _, err := t.exec(statement, arguments...); err != nil {
			return err
		}
	}
	return nil
}

// settle writes the row of a case that grew, and reads back all that was added (4.11).
func (t *transaction) settle(run, id string, c *caseRow) error {
	if err := t.observe(run, id, c); err != nil {
		return err
	}
	stored := new(caseRow)
	err := t.one("UPDATE journal_cases SET protocol = $3, sha256 = $4, revision = $5, artifacts = $6, inputs = $7, records = $8, observations = $9"+
		" WHERE run = $1 AND id = $2 RETURNING "+caseColumns,
		[]any{run, id, c.protocol, c.sha256, c.revision, c.artifacts, c.inputs, c.records, c.observations},
		&stored.protocol, &stored.sha256, &stored.revision, &stored.artifacts, &stored.inputs, &stored.records, &stored.observations)
	if err != nil {
		return err
	}
	if c.records > 0 && len(c.received) > 0 {
		stored.received, err = t.received(run, id, c.records-int64(len(c.received)), c.records)
	}
	if err == nil && len(c.observed) > 0 {
		stored.observed, err = t.observed(run, id, c.observations-int64(len(c.observed)), c.observations)
	}
	if err == nil && !stored.equal(c) {
		err = unlikeWritten("case " + id)
	}
	return err
}

func (c *caseRow) equal(d *caseRow) bool {
	return c.protocol == d.protocol && c.sha256 == d.sha256 && c.revision == d.revision && c.artifacts == d.artifacts && c.inputs == d.inputs &&
		c.records == d.records && c.observations == d.observations &&
		slices.EqualFunc(c.received, d.received, func(a, b governor.Received) bool {
			return a.Kind == b.Kind && a.Producer == b.Producer && string(a.Data) == string(b.Data) && a.Applies == b.Applies
		}) &&
		slices.EqualFunc(c.observed, d.observed, func(a, b governor.Observation) bool {
			return a.Source == b.Source && a.Subject == b.Subject && string(a.Payload) == string(b.Payload)
		})
}

// caseColumns are what a caseRow is read from.
const caseColumns = "protocol, sha256, revision, artifacts, inputs, records, observations"

// caseRow reads the row of a case. Its error is sql.ErrNoRows where there is none.
func (t *transaction) caseRow(run, id string, c *caseRow) error {
	return t.one("SELECT "+caseColumns+" FROM journal_cases WHERE run = $1 AND id = $2",
		[]any{run, id}, &c.protocol, &c.sha256, &c.revision, &c.artifacts, &c.inputs, &c.records, &c.observations)
}

// received reads the records of a case behind a position. They must end at last.
func (t *transaction) received(run, id string, after, last int64) ([]governor.Received, error) {
	var received []governor.Received
	position := after
	err := t.each("SELECT position, kind, producer, data, applies FROM journal_case_records"+
		" WHERE run = $1 AND case_id = $2 AND position > $3 ORDER BY position",
		[]any{run, id, after}, func(scan func(...any) error) error {
			var r governor.Received
			var at int64
			var data string
			if err := scan(&at, &r.Kind, &r.Producer, &data, &r.Applies); err != nil {
				return err
			}
			if position++; at != position {
				return damaged("record %d of case %s is missing", position, id)
			}
			r.Data = []byte(data)
			received = append(received, r)
			return nil
		})
	if err == nil && position != last {
		err = damaged("case %s has %d records where %d were written", id, position, last)
	}
	return received, err
}

// observed reads the observations of a case behind a position. They must end at last.
func (t *transaction) observed(run, id string, after, last int64) ([]governor.Observation, error) {
	var observed []governor.Observation
	position := after
	err := t.each("SELECT position, source, subject, payload FROM journal_case_observations"+
		" WHERE run = $1 AND case_id = $2 AND position > $3 ORDER BY position",
		[]any{run, id, after}, func(scan func(...any) error) error {
			var o governor.Observation
			var at int64
			var payload string
			if err := scan(&at, &o.Source, &o.Subject, &payload); err != nil {
				return err
			}
			if position++; at != position {
				return damaged("observation %d of case %s is missing", position, id)
			}
			o.Payload = []byte(payload)
			observed = append(observed, o)
			return nil
		})
	if err == nil && position != last {
		err = damaged("case %s has %d observations where %d were written", id, position, last)
	}
	return observed, err
}
