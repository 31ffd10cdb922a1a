package journaltest

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

func recordComesBack(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{})
	b := newBook(t, "run-1")
	documents := []journal.Document{document("format: protocol/1\n"), document("any \x00 bytes \xff"), document("")}
	l, err := s.Begin(t.Context(), b.run, journal.ThisProcess(), b.beginning("2026-11-30T10:00:00Z"), documents)
	if err != nil {
		t.Fatal(err)
	}
	if want := (journal.Lease{Run: "run-1", Number: 1, Holder: journal.ThisProcess()}); l != want {
		t.Errorf("the lease is %+v, want %+v", l, want)
	}
	// More than one statement holds, an entry of some size, text that is awkward in SQL, and no entry at all.
	var many []event.Event
	for range 40 {
		many = append(many, event.Failed{Error: "'; DROP TABLE journal_runs; -- $1 ? \\ \x00 \xff \u2028 \U0001F600", Steps: 3})
	}
	for _, batch := range []journal.Batch{
		b.told(many...),
		b.told(event.Failed{Error: strings.Repeat("a long text ", 1<<17)}),
		b.batch(),
		b.batch(entry(t, journal.Asked, "effect:clock.read", journal.Asking{}), entry(t, journal.Reported, "effect:clock.read", journal.Report{Error: "no"})),
	} {
		if err := s.Append(t.Context(), l, batch); err != nil {
			t.Fatal(err)
		}
	}
	r := intact(t, open.must(t, sqlstore.Options{Existing: true}), b)
	want := map[string]string{}
	for _, d := range documents {
		want[d.SHA256] = d.Text
	}
	if diff := cmp.Diff(want, r.Documents); diff != "" {
		t.Error(diff)
	}
	if r.Run != "run-1" || r.Summary.InDoubt != "clock.read" {
		t.Errorf("%s, %+v", r.Run, r.Summary)
	}
}

func oddText(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	for _, odd := range []string{"a\x00b", "a\xffb"} {
		for _, e := range []journal.Entry{{Kind: journal.Kind(odd)}, {Kind: journal.Asked, Name: odd}, {Kind: journal.Asked, Body: odd}} {
			e.Sequence = int64(len(b.entries)) + 1
			err := s.Append(t.Context(), l, journal.Batch{Entries: []journal.Entry{e}, Summary: b.summary})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("entry %d: ", e.Sequence)) {
				t.Errorf("%q: %v", odd, err)
			}
		}
		other := newBook(t, odd)
		if _, err := s.Begin(t.Context(), odd, alive, other.beginning("2026-11-30T10:00:00Z"), nil); err == nil {
			t.Errorf("a run %q began", odd)
		}
		began := newBook(t, "odd").beginning("")
		began.Summary.Began = odd
		if _, err := s.Begin(t.Context(), "odd", alive, began, nil); err == nil {
			t.Errorf("a run began at %q", odd)
		}
		// In JSON all of it is safe.
		if err := s.Append(t.Context(), l, b.told(event.Failed{Error: odd})); err != nil {
			t.Error(err)
		}
	}
	for _, run := range []string{"", strings.Repeat("r", 1025)} {
		if _, err := s.Begin(t.Context(), run, alive, newBook(t, run).beginning("2026-11-30T10:00:00Z"), nil); err == nil {
			t.Errorf("a run with an id of %d bytes began", len(run))
		}
	}
	longest := newBook(t, strings.Repeat("\u00e9", 512))
	if _, err := s.Begin(t.Context(), longest.run, alive, longest.beginning("2026-11-30T10:00:00Z"), nil); err != nil {
		t.Error(err)
	}
	intact(t, s, b)
	intact(t, s, longest)
}

func entriesGoOn(t *testing.T, open Opener) {
	s, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	good := entry(t, journal.Asked, "clock", journal.Asking{})
	for name, sequences := range map[string][]int64{"again": {1}, "the first again": {1, 2}, "a gap": {3}, "a gap within": {2, 4}, "twice": {2, 2}, "none": {0}} {
		var batch journal.Batch
		for _, n := range sequences {
			e := good
			e.Sequence = n
			batch.Entries = append(batch.Entries, e)
		}
		if err := s.Append(t.Context(), l, batch); err == nil || errors.Is(err, journal.ErrLeaseLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := entry(t, journal.Begun, "", journal.Beginning{})
	second.Sequence = 2
	if err := s.Append(t.Context(), l, journal.Batch{Entries: []journal.Entry{second}}); err == nil {
		t.Error("a record began twice")
	}
	if err := s.Append(t.Context(), l, b.batch(good)); err != nil {
		t.Error(err)
	}
	intact(t, s, b)
}

func runBeginsOnce(t *testing.T, open Opener) {
	s, b, _ := begun(t, open, sqlstore.Options{}, "run-1")
	if _, err := s.Begin(t.Context(), "run-1", alive, newBook(t, "run-1").beginning("2030-01-01T00:00:00Z"), []journal.Document{document("d")}); err == nil {
		t.Error("a run began twice")
	}
	for name, batch := range map[string]journal.Batch{
		"no entry":        {},
		"another kind":    {Entries: []journal.Entry{{Sequence: 1, Kind: journal.Asked}}},
		"another number":  {Entries: []journal.Entry{{Sequence: 2, Kind: journal.Begun}}},
		"two beginnings":  {Entries: []journal.Entry{{Sequence: 1, Kind: journal.Begun}, {Sequence: 2, Kind: journal.Begun}}},
		"a case unopened": newBook(t, "run-2").batch(entry(t, journal.Begun, "", journal.Beginning{}), entry(t, journal.Told, "Observed", observed("case-1", "{}"))),
	} {
		if _, err := s.Begin(t.Context(), "run-2", alive, batch, nil); err == nil {
			t.Errorf("%s: a run began", name)
		}
	}
	if _, err := s.Begin(t.Context(), "run-2", alive, newBook(t, "run-2").beginning(""), []journal.Document{{SHA256: "00", Text: "d"}}); err == nil {
		t.Error("a document has a wrong digest")
	}
	intact(t, s, b)
	db := open.raw(t)
	if runs, documents := count(t, db, "journal_runs"), count(t, db, "journal_documents"); runs != 1 || documents != 0 {
		t.Errorf("%d runs and %d documents, want 1 and 0", runs, documents)
	}
	// Nothing of what failed is in the way.
	b = newBook(t, "run-2")
	if _, err := s.Begin(t.Context(), "run-2", alive, b.beginning("2026-11-30T10:00:00Z"), nil); err != nil {
		t.Error(err)
	}
	intact(t, s, b)
}

func nothingThere(t *testing.T, open Opener) {
	if s, err := open(t.Context(), sqlstore.Options{Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", s, err)
	}
	s := open.must(t, sqlstore.Options{})
	open.must(t, sqlstore.Options{Existing: true})
	if listed, err := s.List(t.Context()); len(listed) != 0 || err != nil {
		t.Errorf("%v, %v", listed, err)
	}
	lease := journal.Lease{Run: "none", Number: 1, Holder: alive}
	_, readErr := s.Read(t.Context(), "none")
	_, takeErr := s.Take(t.Context(), "none", alive)
	_, caseErr := s.Case(t.Context(), "none", "case-1")
	for name, tc := range map[string]struct{ got, want error }{
		"read":    {readErr, journal.ErrNoRun},
		"take":    {takeErr, journal.ErrNoRun},
		"case":    {caseErr, journal.ErrNoRun},
		"remove":  {s.Remove(t.Context(), "none"), journal.ErrNoRun},
		"renew":   {s.Renew(t.Context(), lease), journal.ErrLeaseLost},
		"append":  {s.Append(t.Context(), lease, journal.Batch{}), journal.ErrLeaseLost},
		"release": {s.Release(t.Context(), lease), nil},
	} {
		if !errors.Is(tc.got, tc.want) {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
}

func latestFirst(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{Alive: look})
	for _, run := range []struct {
		id, at string
		by     journal.Holder
	}{
		{"b", "2026-11-30T10:00:00Z", dead},
		{"C", "2026-11-30T10:00:01Z", alive},
		{"a", "2026-11-30T10:00:01Z", alive},
		{"d", "2025-11-30T10:00:01Z", unknown},
	} {
		b := newBook(t, run.id)
		l, err := s.Begin(t.Context(), run.id, run.by, b.beginning(run.at), nil)
		if err == nil && run.id == "a" {
			err = errors.Join(s.Append(t.Context(), l, b.told(event.CaseOpened{Case: "case-1", Protocol: "p@1"})), s.Release(t.Context(), l))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	summary := func(at string) journal.Summary {
		return journal.Summary{Began: at, Intent: "count to three"}
	}
	answered := summary("2026-11-30T10:00:01Z")
	answered.Protocol = "p@1"
	want := []journal.Listed{
		{Run: "a", Summary: answered, Entries: 2},
		{Run: "C", Summary: summary("2026-11-30T10:00:01Z"), Entries: 1, Holder: &alive},
		{Run: "b", Summary: summary("2026-11-30T10:00:00Z"), Entries: 1}, // its holder is dead
		{Run: "d", Summary: summary("2025-11-30T10:00:01Z"), Entries: 1, Holder: &unknown},
	}
	listed, err := s.List(t.Context())
	if diff := cmp.Diff(want, listed); diff != "" || err != nil {
		t.Error(diff, err)
	}
	execute(t, open.raw(t), "UPDATE journal_runs SET summary = '{' WHERE id = 'b'")
	if _, err := s.List(t.Context()); !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), `run "b"`) {
		t.Error(err)
	}
}
