package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
	"github.com/loomrun/loom/store/sqlite"
)

// Regular expressions are tried on so much text, the newest first, and for so long; what they found by then is given, and that there is more.
func TestRegularExpressionsHaveALimit(t *testing.T) {
	at := time.Unix(1767225600, 0)
	path := filepath.Join(t.TempDir(), "store", "loom.db")
	if err := sqlite.Create(t.Context(), path, store.Owner{Subject: "ada", Zone: "UTC", Made: at}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		o     sqlite.Options
		rank  store.Rank
		want  string
		whole bool
	}{
		{"without a limit", sqlite.Options{}, store.ByRecency, "m4 m3 m2 m1 m0", true},
		{"of three bodies", sqlite.Options{ScannedBytes: 350}, store.ByRecency, "m4 m3 m2", false},
		{"of three bodies, by score", sqlite.Options{ScannedBytes: 350}, store.ByScore, "m4 m3 m2", false},
		{"of less than one body", sqlite.Options{ScannedBytes: 50}, store.ByRecency, "", false},
		{"of time", sqlite.Options{ScanTime: -1}, store.ByRecency, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := sqlite.Open(t.Context(), path, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			fiveBodies(t, d, at)
			q, err := query.Parse("body /x+/")
			if err != nil {
				t.Fatal(err)
			}
			v, err := d.View(t.Context(), store.Scope{})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			found, err := v.Search(t.Context(), store.Search{Query: q, Limit: 10, Rank: tc.rank})
			if err != nil {
				t.Fatal(err)
			}
			var refs []string
			for _, r := range found.Rows {
				refs = append(refs, r.Ref)
			}
			if got := strings.Join(refs, " "); got != tc.want || found.Truncated == tc.whole {
				t.Errorf("found %q, truncated %v; want %q", got, found.Truncated, tc.want)
			}
		})
	}
}

// fiveBodies puts five messages of a hundred bytes in, one an hour.
func fiveBodies(t *testing.T, d *sqlite.DB, at time.Time) {
	t.Helper()
	changes := []store.Change{{Op: store.Begin, Container: "a"}}
	for i := range 5 {
		changes = append(changes, store.Change{Op: store.Put, Container: "a", Position: int64(i), Record: &store.Record{
			Ref: fmt.Sprint("m", i), Kind: store.Page, Body: "body " + strings.Repeat("x", 95), Time: at.Add(time.Duration(i) * time.Hour),
		}})
	}
	im, err := d.Import(t.Context(), store.FileCabinet, at)
	if err != nil {
		t.Fatal(err)
	}
	if err := im.Apply(t.Context(), append(changes, store.Change{Op: store.Done, Container: "a", Stamp: "1"})); err != nil {
		t.Fatal(err)
	}
	if _, err := im.Finish(t.Context(), "", at); err != nil {
		t.Fatal(err)
	}
}
