package journaltest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

func expectHeld(t *testing.T, err error, by journal.Holder) {
	t.Helper()
	if held, ok := errors.AsType[*journal.HeldError](err); !ok || held.Holder != by {
		t.Errorf("%v, want that %s holds it", err, by)
	}
}

// Case 97: what a process of the same id left behind stops nobody; this process itself does.
func leaseOfOurPid(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{})
	b := newBook(t, "run-1")
	before := journal.ThisProcess()
	before.Started += "0"
	if _, err := s.Begin(t.Context(), "run-1", before, b.beginning("2026-11-30T10:00:00Z"), nil); err != nil {
		t.Fatal(err)
	}
	l, err := s.Take(t.Context(), "run-1", journal.ThisProcess())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), l, b.told(event.Stopped{})); err != nil {
		t.Error(err)
	}
	_, err = s.Take(t.Context(), "run-1", journal.ThisProcess())
	expectHeld(t, err, journal.ThisProcess())
	intact(t, s, b)
}

// The last batch of a sitting gives the lease back, be it the first of the run or a later one.
func lastBatch(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{Alive: look})
	for _, c := range []struct {
		run   string
		first bool
	}{{"run-1", true}, {"run-2", false}} {
		b := newBook(t, c.run)
		batch := b.beginning("2026-11-30T10:00:00Z")
		batch.Last = c.first
		l, err := s.Begin(t.Context(), c.run, alive, batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !c.first {
			_, err = s.Take(t.Context(), c.run, unknown)
			expectHeld(t, err, alive)
			batch = b.told(event.Stopped{})
			batch.Last = true
			if err := s.Append(t.Context(), l, batch); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range []error{s.Append(t.Context(), l, b.told(event.Stopped{})), s.Renew(t.Context(), l)} {
			if !errors.Is(err, journal.ErrLeaseLost) {
				t.Errorf("%s: %v, want that the lease is gone", c.run, err)
			}
		}
		if _, err := s.Take(t.Context(), c.run, unknown); err != nil {
			t.Errorf("%s: %v", c.run, err)
		}
	}
}

func liveHolder(t *testing.T, open Opener) {
	now := time.Unix(1000, 0)
	s, b, l := begun(t, open, sqlstore.Options{Alive: look, Now: func() time.Time { return now }}, "run-1")
	now = now.Add(1000 * journal.LeaseTime)
	for _, by := range []journal.Holder{dead, unknown, alive} {
		_, err := s.Take(t.Context(), "run-1", by)
		expectHeld(t, err, alive)
	}
	if err := errors.Join(s.Append(t.Context(), l, b.told(event.Stopped{})), s.Release(t.Context(), l)); err != nil {
		t.Error(err)
	}
	next, err := s.Take(t.Context(), "run-1", alive)
	if err != nil || next.Number <= l.Number || next.Run != "run-1" || next.Holder != alive {
		t.Errorf("%+v, %v", next, err)
	}
	if err := s.Append(t.Context(), next, b.told(event.Stopped{})); err != nil {
		t.Error(err)
	}
	intact(t, s, b)
}

func deadHolder(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{Alive: look})
	b := newBook(t, "run-1")
	l, err := s.Begin(t.Context(), "run-1", dead, b.beginning("2026-11-30T10:00:00Z"), nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.Take(t.Context(), "run-1", dead)
	if err != nil || next.Number <= l.Number {
		t.Errorf("%+v, %v", next, err)
	}
}

func unknownHolder(t *testing.T, open Opener) {
	now := time.Unix(1000, 0)
	s := open.must(t, sqlstore.Options{Alive: look, Now: func() time.Time { return now }})
	b := newBook(t, "run-1")
	l, err := s.Begin(t.Context(), "run-1", unknown, b.beginning("2026-11-30T10:00:00Z"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, renew := range []func() error{
		func() error { return nil },
		func() error { return s.Renew(t.Context(), l) },
		func() error { return s.Append(t.Context(), l, b.told(event.Stopped{})) },
		func() error { return s.Append(t.Context(), l, b.batch()) },
	} {
		if err := renew(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(journal.LeaseTime - time.Millisecond)
		_, err := s.Take(t.Context(), "run-1", unknown)
		expectHeld(t, err, unknown)
	}
	now = now.Add(time.Millisecond)
	next, err := s.Take(t.Context(), "run-1", unknown)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), l, journal.Batch{}); !errors.Is(err, journal.ErrLeaseLost) {
		t.Error(err)
	}
	if err := s.Append(t.Context(), next, b.told(event.Stopped{})); err != nil {
		t.Error(err)
	}
	intact(t, s, b)
}

func lostLease(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{Alive: look})
	b := newBook(t, "run-1")
	l, err := s.Begin(t.Context(), "run-1", dead, b.beginning("2026-11-30T10:00:00Z"), nil)
	if err != nil {
		t.Fatal(err)
	}
	other := open.must(t, sqlstore.Options{Alive: look})
	next, err := other.Take(t.Context(), "run-1", alive)
	if err != nil {
		t.Fatal(err)
	}
	undo := *b
	for name, got := range map[string]error{
		"append": s.Append(t.Context(), l, b.told(opened("case-1"))),
		"renew":  s.Renew(t.Context(), l),
	} {
		if !errors.Is(got, journal.ErrLeaseLost) {
			t.Errorf("%s: %v", name, got)
		}
	}
	*b = undo
	if err := s.Release(t.Context(), l); err != nil {
		t.Error(err)
	}
	intact(t, s, b)
	if err := other.Append(t.Context(), next, b.told(opened("case-1"))); err != nil {
		t.Error(err)
	}
	// A run that was removed meanwhile.
	if err := errors.Join(other.Release(t.Context(), next), other.Remove(t.Context(), "run-1")); err != nil {
		t.Fatal(err)
	}
	if err := other.Append(t.Context(), next, b.told(event.Stopped{})); !errors.Is(err, journal.ErrLeaseLost) {
		t.Error(err)
	}
}

func releasedLease(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	if err := errors.Join(s.Release(t.Context(), l), s.Release(t.Context(), l)); err != nil {
		t.Fatal(err)
	}
	undo := *b
	for name, got := range map[string]error{
		"append": s.Append(t.Context(), l, b.told(event.Stopped{})),
		"renew":  s.Renew(t.Context(), l),
	} {
		if !errors.Is(got, journal.ErrLeaseLost) {
			t.Errorf("%s: %v", name, got)
		}
	}
	*b = undo
	intact(t, s, b)
}

func heldStays(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{Alive: look}, "run-1")
	err := s.Remove(t.Context(), "run-1")
	expectHeld(t, err, alive)
	if err == nil || !strings.Contains(err.Error(), `remove run "run-1": the run is held by process 1 on here`) {
		t.Error(err)
	}
	intact(t, s, b)
	if err := errors.Join(s.Release(t.Context(), l), s.Remove(t.Context(), "run-1")); err != nil {
		t.Error(err)
	}
}
