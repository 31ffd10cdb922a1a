package record_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// A reader of events that goes away, whichever event it goes at, leaves a run that can be resumed: no effect is
// in doubt, and the record holds every event.
func TestAReaderThatGoesAway(t *testing.T) {
	want := never(t, newSite(tower(3), lays(3)))
	for n := 1; ; n++ {
		s := newSite(tower(3), lays(3))
		gone := errors.New("the reader has gone")
		s.reader = func(event.Event) error {
			if len(s.told) == n {
				return gone
			}
			return nil
		}
		ended, err := s.run(t)
		if err == nil {
			if n < 30 {
				t.Errorf("there were only %d events", n)
			}
			return
		}
		if !errors.Is(err, gone) || as[*record.StorageError](err) {
			t.Fatalf("event %d: %v", n, err)
		}
		rec := s.sound(t)
		heard := s.told
		s.reader, s.told = nil, nil
		if diff := cmp.Diff(events(t, rec)[:n], heard); diff != "" || rec.Summary.InDoubt != "" {
			t.Fatalf("event %d: in doubt %q; the reader heard something else than the record holds:\n%s", n, rec.Summary.InDoubt, diff)
		}
		if ended.Summary.Stop == "Completed" { // it went at the last event
			if _, err := s.resume(t, ""); !as[*record.OverError](err) {
				t.Errorf("event %d: %v", n, err)
			}
			continue
		}
		if _, err := s.resume(t, ""); err != nil {
			t.Fatalf("event %d: resume: %v\n%s", n, err, shown(s.read(t)))
		}
		after := events(t, s.sound(t))[len(events(t, rec)):]
		if diff := cmp.Diff(want, s.final(t)) + cmp.Diff(after, s.told); diff != "" {
			t.Errorf("event %d:\n%s", n, diff)
		}
		if got := s.performed(t); got != "lay1@1, lay2@2, lay3@3" {
			t.Errorf("event %d: performed %s", n, got)
		}
	}
}

// A run that is interrupted before it does anything is a run all the same.
func TestARunThatIsInterruptedAtOnce(t *testing.T) {
	s := newSite(tower(3), lays(3))
	s.interruptible()
	s.cancel()
	if ended, err := s.run(t); !errors.Is(err, context.Canceled) || ended.Run != id || ended.Summary.Stop != "interrupted" {
		t.Fatalf("%+v, %v", ended, err)
	}
	s.whole(t)
	s.ctx = nil
	if _, err := s.resume(t, ""); err != nil {
		t.Fatal(err)
	}
	s.whole(t)
	if got := s.performed(t); got != "lay1@1, lay2@2, lay3@3" {
		t.Error(got)
	}
}

// An interruption that comes while anything is written leaves no effect in doubt: what is not begun by then is not
// begun, and what was performed is kept.
func TestAnInterruptionWhileTheJournalIsWritten(t *testing.T) {
	want := never(t, newSite(tower(3), lays(3)))
	for n := 1; ; n++ {
		for _, after := range []bool{false, true} {
			s := newSite(tower(3), lays(3))
			m := s.store.(*memory)
			s.interruptible()
			interrupted := false
			m.fails = func(write int, stored bool) error {
				if write == n && stored == after {
					interrupted = true
					s.cancel()
				}
				return nil
			}
			_, err := s.run(t)
			if !interrupted {
				if n <= 2*3 {
					t.Errorf("the run writes %d times", n)
				}
				return
			}
			rec := s.whole(t)
			if rec.Summary.InDoubt != "" || (rec.Summary.Stop == "Completed") != (err == nil) {
				t.Errorf("write %d, after %v: %q in doubt, %v", n, after, rec.Summary.InDoubt, err)
			}
			m.fails, s.ctx = nil, nil
			if _, err := s.resume(t, ""); err != nil && !as[*record.OverError](err) {
				t.Errorf("write %d, after %v: resume: %v", n, after, err)
			}
			s.whole(t)
			if diff := cmp.Diff(want, s.final(t)); diff != "" || s.performed(t) != "lay1@1, lay2@2, lay3@3" {
				t.Errorf("write %d, after %v: performed %s\n%s", n, after, s.performed(t), diff)
			}
		}
	}
}

// A reader that goes away at the first event of a further sitting leaves the run as resumable as it was.
func TestAReaderThatGoesAwayAtOnceWhenARunGoesOn(t *testing.T) {
	s := newSite(tower(3), lays(3))
	s.budget = new(1)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the reader has gone")
	s.budget, s.reader = nil, func(event.Event) error { return gone }
	ended, err := s.resume(t, "")
	if diff := cmp.Diff(s.read(t).Summary, ended.Summary); err == nil || err.Error() != gone.Error() || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	s.whole(t)
	s.reader = nil
	if _, err := s.resume(t, ""); err != nil {
		t.Fatal(err)
	}
	s.whole(t)
	if got := s.performed(t); got != "lay1@1, lay2@2, lay3@3" {
		t.Error(got)
	}
}

// Another version of the program may ask a model in other words: its answer is one all the same, so the run can go
// on. Replay names the difference.
func TestAModelThatWasAskedInOtherWords(t *testing.T) {
	s := shop(calls("thing_check {}"), calls("thing_ship {}"))
	s.authority, s.budget = always(run.Allow), new(1)
	once(t, s)
	at := s.store.(*memory).rewrite(func(e *journal.Entry) bool {
		if e.Kind != journal.Asked || e.Name != "model:Action" {
			return false
		}
		e.Body = `{"About":{"Bytes":1,"SHA256":"00","Tools":["thing_check"]}}`
		return true
	})
	if err := record.Replay(s.read(t), s.bindings(true)); !differsAt(at)(err) {
		t.Errorf("replay: %v", err)
	}
	s.budget = nil
	again(t, s, "")
	if got := s.performed(t); got != "thing.check@1, thing.ship@2" {
		t.Error(got)
	}
}

// Of an effect that an interruption ended no report is kept: what it says of itself then is not to be relied on.
func TestAnInterruptedEffectHasNoReport(t *testing.T) {
	s := interruptedAt("lay2")()
	if _, err := s.run(t); err == nil || !strings.Contains(err.Error(), "called off") {
		t.Error(err)
	}
	rec := s.whole(t)
	if slices.ContainsFunc(rec.Entries, func(e journal.Entry) bool { return e.Kind == journal.Reported && e.Name == "effect:lay2" }) || rec.Summary.InDoubt != "lay2" {
		t.Errorf("in doubt %q\n%s", rec.Summary.InDoubt, shown(rec))
	}
}
