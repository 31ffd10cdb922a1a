package audit_test

import (
	"context"
	"testing"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// A run of the bundled clock passes: its definition and its records are not made for these tests.
func TestARunOfTheClockPasses(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC) }
	entry, _ := catalog.Bundled().Get("system-query@1")
	store := &desk{}
	ended, err := record.Run(context.Background(), record.Options{Store: store, Options: run.Options{
		ID: "run1", Intent: "what time is it?", Catalog: catalog.Bundled(), Now: now, Threshold: run.DefaultThreshold,
		Bindings: []effect.Binding{effect.NewClock(
			func() *protocol.Protocol { return entry.Protocol() }, now, func() (*time.Location, error) { return time.UTC, nil })},
	}})
	if err != nil || ended.Reason != "Completed" {
		t.Fatalf("the run ended with %s: %v", ended.Reason, err)
	}
	expect(t, store.kept(t), tables(store.record.Entries), nil)
}
