package loom_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

// A run with a journal is kept under the id that its outcome names, its events are those of a run without one,
// and it goes on with what it then gets.
func TestARunIsKeptAndResumed(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	options := func(told *[]loom.Event) loom.Options {
		return loom.Options{
			Intent: "what time is it", MaxSteps: 1,
			Now: func() time.Time { return time.Unix(0, 0) }, Zone: time.UTC,
			Events: func(e loom.Event) error {
				*told = append(*told, e)
				return nil
			},
		}
	}
	var plain, kept []loom.Event
	if _, err := loom.Run(t.Context(), options(&plain)); err != nil {
		t.Fatal(err)
	}
	o := options(&kept)
	o.Journal = store
	outcome, err := loom.Run(t.Context(), o)
	if err != nil || outcome.Reason != event.Completed {
		t.Fatal(outcome, err)
	}
	if diff := cmp.Diff(names(plain), names(kept)); diff != "" {
		t.Errorf("other events (-plain +kept):\n%s", diff)
	}
	rec, err := store.Read(t.Context(), outcome.Run)
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Verify(); err != nil {
		t.Error(err)
	}
	if _, err := loom.Resume(t.Context(), o, outcome.Run, ""); err == nil {
		t.Error("a run that is complete goes on")
	}
	// An interrupted run is complete after it was resumed.
	ctx, cancel := context.WithCancel(t.Context())
	o.Events = func(e loom.Event) error {
		if _, ok := e.(event.CaseOpened); ok {
			cancel()
		}
		return nil
	}
	interrupted, err := loom.Run(ctx, o)
	if err == nil {
		t.Fatal(interrupted)
	}
	outcome, err = loom.Resume(t.Context(), o, interrupted.Run, "")
	if err != nil || outcome.Reason != event.Completed || outcome.Run != interrupted.Run {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// names gives the types of events: their times and ids are those of each run.
func names(events []loom.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, journal.EventName(e))
	}
	return all
}
