package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
)

// A store of each version there was opens as one of this version, with all that was in it. A migration that is added comes with a store
// of its version in testdata/versions.
func TestStoresOfEachVersionOpen(t *testing.T) {
	newest, err := tables.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for version := int64(1); version <= newest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			filled, err := os.ReadFile(filepath.Join("testdata", "versions", fmt.Sprint(version)+".sql"))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "loom.db")
			old(t, path, version, string(filled))
			d, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var now int64
			if err := d.read.QueryRowContext(t.Context(), "SELECT max(version_id) FROM store_version").Scan(&now); now != newest || err != nil {
				t.Errorf("version %d, %v", now, err)
			}
			if got, want := seen(t, d), heldBy(version); got != want {
				t.Errorf("the store holds\n%s\nwant\n%s", got, want)
			}
			writeInto(t, d)
			im, err := d.Import(t.Context(), "post", time.Unix(1767232800, 0))
			if err != nil {
				t.Fatal(err)
			}
			stamp, note, ok := im.Known("a")
			_, _, half := im.Known("b")
			if stamp != "stamp" || note != "note" || !ok || half {
				t.Errorf("a is known by %q, %q, %v; b: %v", stamp, note, ok, half)
			}
			changes := []store.Change{{Op: store.Begin, Container: "a"}, {Op: store.Put, Container: "a", Record: &store.Record{Ref: "m1", Kind: store.Mail}}, {Op: store.Done, Container: "a"}}
			if err := im.Apply(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
			if counts, err := im.Finish(t.Context(), "", time.Unix(1767232800, 0)); err != nil || counts != (store.Counts{Changed: 1, Gone: 2, Skipped: 1}) {
				t.Errorf("%+v, %v", counts, err)
			}
		})
	}
}

// writeInto writes a document, in the place of the one that stores of newer versions hold.
func writeInto(t *testing.T, d *DB) {
	t.Helper()
	trust, err := d.Trust(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := label.OfRecord("ada", "email", "mail.mbox", []string{"work"})
	if err := d.Write(t.Context(), trust, []store.Written{{Record: &store.Record{Ref: "results/1.md", Kind: store.Page}, Label: l}}, time.Unix(1767232800, 0)); err != nil {
		t.Fatal(err)
	}
	v, err := d.View(t.Context(), store.Scope{Facets: []string{"work"}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	n := 0
	for r, err := range v.Records(t.Context(), store.Filter{Kinds: []store.Kind{store.Page}}) {
		if n++; err != nil || r.Ref != "results/1.md" || !r.Label.Equal(l) {
			t.Errorf("%v, %v", r, err)
		}
	}
	if n != 1 || len(v.Sources()) != 2 {
		t.Errorf("%d documents, and %d sources", n, len(v.Sources()))
	}
}

// old makes a store of a version.
func old(t *testing.T, path string, version int64, statements string) {
	t.Helper()
	s := tables
	files, err := fs.ReadDir(s.Files, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	for _, f := range files {
		of, err := goose.NumericComponent(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		content, err := fs.ReadFile(s.Files, "migrations/"+f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if of <= version {
			some["migrations/"+f.Name()] = &fstest.MapFile{Data: content}
		}
	}
	s.Files = some
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := connect(path, writing)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "PRAGMA journal_mode = WAL")
	if err == nil {
		err = s.Up(t.Context(), db)
	}
	if err == nil {
		_, err = db.ExecContext(t.Context(), "BEGIN;"+statements+";COMMIT")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// heldBy are the lines of what a store of a version holds.
func heldBy(version int64) string {
	var held strings.Builder
	for line := range strings.Lines(whatVersionsHold) {
		since, rest, ok := strings.Cut(line, "+ ")
		from, err := strconv.ParseInt(since, 10, 64)
		if !ok || err != nil {
			from, rest = 1, line
		}
		if from <= version {
			held.WriteString(rest)
		}
	}
	return held.String()
}

// whatVersionsHold begins its lines with a number and a plus where an older version did not have them.
const whatVersionsHold = `ada Europe/Vienna 2026-01-01 00:00:00 +0000 UTC [family work]
fc pages markdown "" [] 0 0 false
post mail mbox "/home/ada/mail" [family work] 3 42 false
2+ written-7558a6d4e293 pages written "" [] 1 16 true
changed post [work] [family work] 3
skipped b 9 no date
2+ results/1.md page 2026-01-01 00:02:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC "Result" "pie was it" "results" "" [] [] [page:P-1] "{\"pageId\":\"P-1\"}" 2026-01-01 01:01:40 +0000 UTC
m2 mail 2026-01-01 00:01:00 +0000 UTC 2026-01-01 00:02:00 +0000 UTC "Plum" "another body" "INBOX" "" [] [] [] "null" 2026-01-01 01:00:00 +0000 UTC
m1 mail 2026-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC "Apple pie" "the body" "INBOX" "t" [{Grace grace@example.com}] [] [] "{\"a\":1}" 2026-01-01 01:00:00 +0000 UTC
c1 contact 0001-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC "Grace" "friend" "" "" [] [] [grace@example.com] "null" 2026-01-01 01:00:00 +0000 UTC
search grace: c1 m1
search body -plum: m1
key: c1
`

// seen is what a store holds, in lines.
func seen(t *testing.T, d *DB) string {
	t.Helper()
	v, err := d.View(t.Context(), store.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var b strings.Builder
	o := v.Owner()
	fmt.Fprintln(&b, o.Subject, o.Zone, o.Made, o.Facets)
	for _, s := range v.Sources() {
		fmt.Fprintf(&b, "%s %s %s %q %v %d %d %v\n", s.Name, s.Kind, s.Format, s.Location, s.Facets, s.Records, s.Bytes, s.Complete)
	}
	changes, err := v.FacetChanges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		fmt.Fprintln(&b, "changed", c.Source, c.Before, c.After, c.Records)
	}
	skipped, err := v.Skipped(t.Context(), "post", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range skipped {
		fmt.Fprintln(&b, "skipped", s.Container, s.Position, s.Reason)
	}
	for r, err := range v.Records(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %v %v %q %q %q %q %v %v %v %q %v\n", r.Ref, r.Kind, r.Time, r.Until, r.Title, r.Body, r.Folder, r.Thread, r.From, r.To, r.Keys, r.Details, r.Observed)
	}
	for _, text := range []string{"grace", "body -plum"} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := v.Search(t.Context(), store.Search{Query: q, Limit: 10, Rank: store.ByScore})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "search %s:", text)
		for _, r := range found.Rows {
			fmt.Fprint(&b, " ", r.Ref)
		}
		fmt.Fprintln(&b)
	}
	for r, err := range v.Records(t.Context(), store.Filter{Keys: []string{"grace@example.com"}}) {
		fmt.Fprintln(&b, "key:", r.Ref)
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
