package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

func twoStores(t *testing.T, open Opener) {
	const writers, batches = 3, 8
	stores := []journal.Store{open.must(t, sqlstore.Options{Alive: look}), open.must(t, sqlstore.Options{Alive: look})}
	shared, _, l := begun(t, open, sqlstore.Options{Alive: look}, "shared")
	if err := shared.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	var books []*book
	var all sync.WaitGroup
	for i, s := range stores {
		for w := range writers {
			b := newBook(t, fmt.Sprintf("run-%d-%d", i, w))
			books = append(books, b)
			all.Go(func() {
				l, err := s.Begin(t.Context(), b.run, alive, b.beginning("2026-11-30T10:00:00Z"), []journal.Document{document("shared")})
				if err == nil {
					err = s.Append(t.Context(), l, b.told(opened("case-1")))
				}
				for range batches {
					if err == nil {
						err = s.Append(t.Context(), l, b.told(observed("case-1", "1"), received("case-1", "2")))
					}
				}
				if err != nil {
					t.Error(err)
				}
			})
			all.Go(func() { addToShared(t, s, batches) })
		}
		all.Go(func() {
			for range batches {
				if _, err := s.List(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, b := range books {
		intact(t, stores[0], b)
		c, err := stores[1].Case(t.Context(), b.run, "case-1")
		if err != nil || len(c.Received) != batches || len(c.Observations) != batches {
			t.Errorf("%s: %+v, %v", b.run, c, err)
		}
	}
	r, err := stores[0].Read(t.Context(), "shared")
	if err != nil || r.Verify() != nil || len(r.Entries) != 1+len(stores)*writers*batches {
		t.Errorf("%d entries, %v, %v", len(r.Entries), r.Verify(), err)
	}
}

// addToShared adds entries to a run that others add to as well: one at a time, each under a lease of its own.
func addToShared(t *testing.T, s journal.Store, entries int) {
	for added := 0; added < entries; {
		l, err := s.Take(t.Context(), "shared", alive)
		if _, held := errors.AsType[*journal.HeldError](err); held {
			continue
		}
		var r *journal.Record
		if err == nil {
			r, err = s.Read(t.Context(), "shared")
		}
		if err == nil {
			b := newBook(t, "shared")
			for _, e := range r.Entries {
				b.batch(e)
			}
			err = s.Append(t.Context(), l, b.told(event.Stopped{}))
		}
		if err == nil {
			err = s.Release(t.Context(), l)
		}
		if err != nil {
			t.Error(err)
			return
		}
		added++
	}
}

func manyTakers(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{Alive: look})
	stores := []journal.Store{s, open.must(t, sqlstore.Options{Alive: look})}
	if _, err := s.Begin(t.Context(), "run-1", dead, newBook(t, "run-1").beginning("2026-11-30T10:00:00Z"), nil); err != nil {
		t.Fatal(err)
	}
	const takers = 8
	given := make(chan error, takers)
	for i := range takers {
		go func() {
			_, err := stores[i%2].Take(t.Context(), "run-1", alive)
			given <- err
		}()
	}
	got := 0
	for range takers {
		err := <-given
		if err == nil {
			got++
			continue
		}
		expectHeld(t, err, alive)
	}
	if got != 1 {
		t.Errorf("%d takers got the lease", got)
	}
}

func sharedWhileRemoved(t *testing.T, open Opener) {
	stores := []journal.Store{open.must(t, sqlstore.Options{}), open.must(t, sqlstore.Options{})}
	var all sync.WaitGroup
	for i := range 4 {
		s := stores[i%2]
		all.Go(func() {
			for n := range 6 {
				run := fmt.Sprintf("run-%d-%d", i, n)
				l, err := s.Begin(t.Context(), run, alive, newBook(t, run).beginning("2026-11-30T10:00:00Z"), []journal.Document{document("shared")})
				if err == nil {
					r, readErr := s.Read(t.Context(), run)
					if readErr != nil || len(r.Documents) != 1 {
						t.Errorf("%+v, %v", r, readErr)
					}
					err = errors.Join(s.Release(t.Context(), l), s.Remove(t.Context(), run))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := count(t, open.raw(t), "journal_documents"); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

func calledOff(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	off, cancel := context.WithCancel(t.Context())
	cancel()
	undo := *b
	_, beginErr := s.Begin(off, "run-2", alive, newBook(t, "run-2").beginning(""), nil)
	_, takeErr := s.Take(off, "run-1", alive)
	_, readErr := s.Read(off, "run-1")
	_, listErr := s.List(off)
	_, caseErr := s.Case(off, "run-1", "case-1")
	for name, err := range map[string]error{
		"begin": beginErr, "take": takeErr, "read": readErr, "list": listErr, "case": caseErr,
		"append": s.Append(off, l, b.told(event.Stopped{})), "renew": s.Renew(off, l), "release": s.Release(off, l), "remove": s.Remove(off, "run-1"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	*b = undo
	intact(t, s, b)
}
