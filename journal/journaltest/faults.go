package journaltest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

// minOperations is fewer than the methods of a store need by any means.
const minOperations = 40

// failingOperations lets each operation fail in turn, before and after it is done. Whatever fails, a new look
// finds a whole journal with all that was acknowledged.
func failingOperations(t *testing.T, open Opener) {
	// The first open of a database, which makes its tables, until it meets no failure any more.
	for n := int64(0); ; n++ {
		hook, asked := FailAt(n, n%2 == 1)
		s, err := open(t.Context(), sqlstore.Options{Connector: Faulty(hook)})
		if err == nil {
			err = s.Close()
		}
		if asked() <= n {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if n > 1000 {
			t.Fatal("it never ends")
		}
	}
	clean := open.must(t, sqlstore.Options{Alive: look})
	for n := int64(0); ; n++ {
		met := false
		for _, after := range []bool{false, true} {
			hook, asked := FailAt(n, after)
			a := &attempt{b: newBook(t, fmt.Sprintf("run-%d-%v", n, after))}
			s, err := open(t.Context(), sqlstore.Options{Alive: look, Connector: Faulty(hook)})
			if err == nil {
				a.run(t, s)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			met = met || asked() > n
			a.check(t, clean)
			if t.Failed() {
				t.Fatalf("the failure was at operation %d, after it: %v", n, after)
			}
		}
		if !met {
			if n < minOperations {
				t.Errorf("only %d operations were seen, so that they were let fail", n)
			}
			break
		}
	}
	if n := count(t, open.raw(t), "journal_documents"); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

// attempt is a run on a database that fails once.
type attempt struct {
	b            *book
	acknowledged int // entries
	tried        int
	removed      bool // was asked for
}

// run writes until a write fails, and reads in between, where a failure does not matter.
func (a *attempt) run(t *testing.T, s journal.Store) {
	ctx := t.Context()
	first := a.b.beginning("2026-11-30T10:00:00Z")
	a.tried = 1
	l, err := s.Begin(ctx, a.b.run, dead, first, []journal.Document{document(a.b.run), document("shared")})
	if err != nil {
		return
	}
	a.acknowledged = 1
	for i, batch := range [][]event.Event{
		{opened("case-1"), observed("case-1", "1")},
		{observed("case-1", "2"), event.RevisionsMoved{Case: "case-1", Revision: 2, Artifacts: map[string]string{"query": "q-2"}}, received("case-1", "3"), event.Stopped{}},
	} {
		written := a.b.told(batch...)
		a.tried = len(a.b.entries)
		if err := s.Append(ctx, l, written); err != nil {
			return
		}
		a.acknowledged = a.tried
		if i > 0 {
			break
		}
		_ = s.Renew(ctx, l)
		_ = s.Release(ctx, l)
		if l, err = s.Take(ctx, a.b.run, dead); err != nil {
			return
		}
	}
	if r, err := s.Read(ctx, a.b.run); err == nil && r.Verify() != nil {
		t.Error(r.Verify())
	}
	if c, err := s.Case(ctx, a.b.run, "case-1"); err == nil && (len(c.Observations) != 2 || len(c.Received) != 1) {
		t.Errorf("%+v", c)
	}
	if listed, err := s.List(ctx); err == nil && len(listed) != 1 {
		t.Errorf("%+v", listed)
	}
	a.removed = true
	_ = s.Remove(ctx, a.b.run)
}

// check looks at what is there with a database that does not fail, and removes it.
func (a *attempt) check(t *testing.T, clean journal.Store) {
	t.Helper()
	r, err := clean.Read(t.Context(), a.b.run)
	if errors.Is(err, journal.ErrNoRun) && (a.acknowledged == 0 || a.removed) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if n := len(r.Entries); n != a.acknowledged && n != a.tried {
		t.Errorf("%d entries are there, %d were acknowledged and %d written", n, a.acknowledged, a.tried)
	}
	if summary, err := journal.Summarise(r.Entries); err != nil || summary != r.Summary {
		t.Errorf("the summary is %+v, want %+v, %v", r.Summary, summary, err)
	}
	if len(r.Documents) != 2 {
		t.Errorf("%d documents, want 2", len(r.Documents))
	}
	observations, records := 0, 0
	for _, e := range r.Entries {
		switch e.Name {
		case "Observed":
			observations++
		case "EvidenceReceived":
			records++
		}
	}
	if len(r.Entries) > 1 {
		c, err := clean.Case(t.Context(), a.b.run, "case-1")
		if err != nil || len(c.Observations) != observations || len(c.Received) != records {
			t.Errorf("%+v, %v; want %d observations and %d records", c, err, observations, records)
		}
	}
	if err := clean.Remove(t.Context(), a.b.run); err != nil {
		t.Error(err)
	}
}
