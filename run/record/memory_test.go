package record_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// memory is a journal.Store in memory.
type memory struct {
	mu        sync.Mutex
	runs      map[string]*stored
	documents map[string]string
	dead      map[journal.Holder]bool // all others are alive
	began     []journal.Holder        // who made each run
	writes    []int                   // how many entries of a run there were after each durable write
	renewals  int
	renews    func() error                             // what Renew says; nil: what is true
	fails     func(write int, stored bool) (err error) // asked before and after each write, which are counted from 1
}

type stored struct {
	record journal.Record
	lease  int64
	holder *journal.Holder
}

func newMemory() *memory {
	return &memory{runs: map[string]*stored{}, documents: map[string]string{}, dead: map[journal.Holder]bool{}}
}

// write makes a change that is durable.
func (m *memory) write(run string, change func() error) error {
	if m.fails != nil {
		if err := m.fails(len(m.writes)+1, false); err != nil {
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	m.writes = append(m.writes, len(m.runs[run].record.Entries))
	if m.fails != nil {
		return m.fails(len(m.writes), true)
	}
	return nil
}

func (m *memory) Begin(_ context.Context, run string, by journal.Holder, batch journal.Batch, documents []journal.Document) (journal.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.write(run, func() error {
		if m.runs[run] != nil {
			return fmt.Errorf("there is a run %s", run)
		}
		m.began = append(m.began, by)
		m.runs[run] = &stored{record: journal.Record{Run: run}, lease: 1, holder: &by}
		for _, d := range documents {
			m.documents[d.SHA256] = d.Text
		}
		return m.add(m.runs[run], batch)
	})
	if err != nil {
		return journal.Lease{}, err
	}
	return journal.Lease{Run: run, Number: 1, Holder: by}, nil
}

func (m *memory) add(s *stored, batch journal.Batch) error {
	for _, e := range batch.Entries {
		if e.Sequence != int64(len(s.record.Entries))+1 {
			panic(fmt.Sprintf("entry %d comes behind %d", e.Sequence, len(s.record.Entries)))
		}
		told, err := e.Event()
		if err == nil {
			err = journal.CheckCase(told)
		}
		if err != nil {
			return err
		}
		s.record.Entries = append(s.record.Entries, e)
		s.record.Head = e.Hash
	}
	s.record.Summary = batch.Summary
	if batch.Last {
		s.holder = nil
	}
	return nil
}

func (m *memory) Take(_ context.Context, run string, by journal.Holder) (journal.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[run]
	switch {
	case s == nil:
		return journal.Lease{}, journal.ErrNoRun
	case s.holder != nil && !m.dead[*s.holder]:
		return journal.Lease{}, &journal.HeldError{Holder: *s.holder}
	}
	s.lease, s.holder = s.lease+1, &by
	return journal.Lease{Run: run, Number: s.lease, Holder: by}, nil
}

func (m *memory) holds(l journal.Lease) error {
	if s := m.runs[l.Run]; s == nil || s.lease != l.Number || s.holder == nil {
		return journal.ErrLeaseLost
	}
	return nil
}

func (m *memory) Renew(_ context.Context, l journal.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.renewals++
	if m.renews != nil {
		return m.renews()
	}
	return m.holds(l)
}

func (m *memory) Append(_ context.Context, l journal.Lease, batch journal.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write(l.Run, func() error {
		if err := m.holds(l); err != nil {
			return err
		}
		copied := *m.runs[l.Run]
		copied.record.Entries = slices.Clone(copied.record.Entries)
		if err := m.add(&copied, batch); err != nil {
			return err
		}
		*m.runs[l.Run] = copied
		return nil
	})
}

func (m *memory) Release(_ context.Context, l journal.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holds(l) == nil {
		m.runs[l.Run].holder = nil
	}
	return nil
}

func (m *memory) Read(_ context.Context, run string) (*journal.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[run]
	if s == nil {
		return nil, journal.ErrNoRun
	}
	rec := s.record
	rec.Entries = slices.Clone(rec.Entries)
	rec.Documents = m.documents
	return &rec, nil
}

func (m *memory) List(context.Context) ([]journal.Listed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []journal.Listed
	for run, s := range m.runs {
		all = append(all, journal.Listed{Run: run, Summary: s.record.Summary, Entries: len(s.record.Entries), Holder: s.holder})
	}
	return all, nil
}

func (m *memory) Case(ctx context.Context, run, id string) (*journal.Case, error) {
	rec, err := m.Read(ctx, run)
	if err != nil {
		return nil, err
	}
	c := &journal.Case{Run: run, ID: id}
	for _, e := range rec.Entries {
		told, err := e.Event()
		if err != nil {
			return nil, err
		}
		switch told := told.(type) {
		case event.CaseOpened:
			c.Protocol, c.SHA256, c.Revision, c.Artifacts, c.Inputs = told.Protocol, told.SHA256, told.Revision, told.Artifacts, told.Inputs
		case event.RevisionsMoved:
			c.Revision, c.Artifacts = told.Revision, told.Artifacts
		case event.EvidenceReceived:
			c.Received = append(c.Received, governor.Received{Kind: told.Kind, Producer: told.Producer, Data: []byte(told.Data), Applies: told.Applies})
		case event.Observed:
			c.Observations = append(c.Observations, governor.Observation{Source: governor.Source(told.Source), Subject: told.Subject, Payload: []byte(told.Payload)})
		}
	}
	return c, nil
}

func (m *memory) Remove(context.Context, string) error { panic("no run is removed here") }

func (m *memory) Close() error { return nil }

// cut makes a record end behind its first n entries, as if the process that wrote them had been killed: nobody
// gave the lease back, and nobody is alive that has it.
func (m *memory) cut(n int) {
	s := m.runs[id]
	s.record.Entries = s.record.Entries[:n:n]
	s.record.Head = s.record.Entries[n-1].Hash
	var err error
	if s.record.Summary, err = journal.Summarise(s.record.Entries); err != nil {
		panic(err)
	}
	killed := journal.Holder{Host: "killed"}
	s.holder, m.dead[killed] = &killed, true
}

// clone gives a store with the same records.
func (m *memory) clone() *memory {
	c := newMemory()
	c.documents = m.documents
	for run, s := range m.runs {
		copied := *s
		copied.record.Entries = slices.Clone(copied.record.Entries)
		c.runs[run] = &copied
	}
	return c
}

// rewrite changes the first entry that a function changes, as if it had been written so, and gives its sequence.
func (m *memory) rewrite(change func(*journal.Entry) bool) int64 {
	rec, at := &m.runs[id].record, int64(0)
	chain := journal.NewChain(id)
	for i := range rec.Entries {
		e := &rec.Entries[i]
		if at == 0 && change(e) {
			at = e.Sequence
		}
		e.Hash = chain.Next(*e)
		rec.Head = e.Hash
	}
	return at
}
