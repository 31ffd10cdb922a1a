package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/store"
)

// plan is how SQLite carries out a statement, without what it tells of no choice.
func plan(t *testing.T, d *DB, statement string, args ...any) string {
	t.Helper()
	rows, err := d.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var id, parent, unused int
		var text string
		if err := rows.Scan(&id, &parent, &unused, &text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "; ")
}

func planned(t *testing.T) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loom.db")
	if err := Create(t.Context(), path, store.Owner{Subject: "ada", Zone: "UTC", Made: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// What is read in order comes from an index in that order, so that the newest few of a million records cost as much as those of a thousand.
func TestPlansOfStatements(t *testing.T) {
	d := planned(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const (
		bySource  = "SEARCH record USING INDEX record_source (source=?)"
		byWindow  = "SEARCH record USING INDEX record_source (source=? AND number<?)"
		byRef     = "SEARCH record USING INDEX record_ref (source=? AND ref=?)"
		byNumbers = "SEARCH record USING INTEGER PRIMARY KEY (rowid=?); LIST SUBQUERY 1; "
		byKey     = byNumbers + "SEARCH key USING PRIMARY KEY (key=?)"
		byParty   = byNumbers + "SCAN word VIRTUAL TABLE INDEX 0:M6"
		byThread  = "SEARCH record USING INDEX record_thread (thread=?)"
	)
	for _, tc := range []struct {
		sources int
		f       store.Filter
		want    string
	}{
		{1, store.Filter{Limit: 20}, bySource},
		{1, store.Filter{Oldest: true}, bySource},
		{1, store.Filter{Kinds: []store.Kind{store.Event}, Limit: 1}, bySource},
		{1, store.Filter{From: at, To: at}, byWindow},
		{1, store.Filter{To: at, Limit: 3}, byWindow},
		{1, store.Filter{From: at}, bySource},
		{1, store.Filter{Ref: "r"}, byRef},
		{1, store.Filter{Keys: []string{"a", "b"}}, byKey},
		{3, store.Filter{Keys: []string{"a"}, Kinds: []store.Kind{store.Contact}, Limit: 2}, byKey},
		{3, store.Filter{Thread: "t", Oldest: true}, byThread},
		{3, store.Filter{Party: "a@example.com", Limit: 20}, byParty},
		{2, store.Filter{Limit: 20}, "MERGE (UNION ALL); LEFT; " + bySource + "; RIGHT; " + bySource},
		{2, store.Filter{From: at, To: at}, "MERGE (UNION ALL); LEFT; " + byWindow + "; RIGHT; " + byWindow},
	} {
		statement, args := selection(some(tc.sources), tc.f)
		if got := plan(t, d, statement, args...); got != tc.want {
			t.Errorf("%d sources, %+v: %s, want %s", tc.sources, tc.f, got, tc.want)
		}
	}
	for _, sources := range []int{maxMerged, maxMerged + 1, store.MaxSources} {
		statement, args := selection(some(sources), store.Filter{Limit: 20, From: at, To: at, Kinds: store.Kinds})
		if got, sorted := plan(t, d, statement, args...), sources > maxMerged; strings.Contains(got, "TEMP B-TREE") != sorted || strings.Contains(got, "SCAN record") {
			t.Errorf("%d sources: %s", sources, got)
		}
	}
	// The index of words gives its rows in the order asked for: 64 is by rows, 128 the newest first.
	if got := plan(t, d, candidates, "a", 1, 2); got != "SCAN word VIRTUAL TABLE INDEX 192:M6><" && got != "SCAN word VIRTUAL TABLE INDEX 96:M6><" {
		t.Errorf("words: %s", got)
	}
}

func some(n int) (sources []*source) {
	for range n {
		sources = append(sources, &source{})
	}
	return sources
}

// A view that cannot have a connection waits no longer than its caller.
func TestViewsBeyondTheConnections(t *testing.T) {
	d := planned(t)
	ctx, cancel := context.WithCancel(t.Context())
	for range readers {
		v, err := d.View(ctx, store.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
	}
	cancel()
	if _, err := d.View(ctx, store.Scope{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a view too many: %v", err)
	}
}
