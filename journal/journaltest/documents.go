package journaltest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

func document(text string) journal.Document {
	sum := sha256.Sum256([]byte(text))
	return journal.Document{SHA256: hex.EncodeToString(sum[:]), Text: text}
}

func documentsShared(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{})
	db := open.raw(t)
	shared, own := document("shared"), document("own")
	for run, documents := range map[string][]journal.Document{"run-1": {shared, own, shared}, "run-2": {shared}} {
		b := newBook(t, run)
		l, err := s.Begin(t.Context(), run, alive, b.beginning("2026-11-30T10:00:00Z"), documents)
		if err == nil {
			err = errors.Join(s.Append(t.Context(), l, b.told(opened("case-1"), received("case-1", "{}"), observed("case-1", "{}"))), s.Release(t.Context(), l))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, db, "journal_documents"); n != 2 {
		t.Errorf("%d documents, want 2", n)
	}
	if err := s.Remove(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	r, err := s.Read(t.Context(), "run-2")
	if err != nil || r.Documents[shared.SHA256] != "shared" || count(t, db, "journal_documents") != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Read(t.Context(), "run-1"); !errors.Is(err, journal.ErrNoRun) {
		t.Error(err)
	}
	if err := s.Remove(t.Context(), "run-2"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{
		"journal_runs", "journal_entries", "journal_documents", "journal_run_documents",
		"journal_cases", "journal_case_records", "journal_case_observations",
	} {
		if n := count(t, db, table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
}

func documentsDamaged(t *testing.T, open Opener) {
	s := open.must(t, sqlstore.Options{})
	whole, cut := document("whole"), document("cut")
	begin := func(run string) {
		t.Helper()
		if _, err := s.Begin(t.Context(), run, alive, newBook(t, run).beginning("2026-11-30T10:00:00Z"), []journal.Document{whole, cut}); err != nil {
			t.Fatal(err)
		}
	}
	begin("run-1")
	execute(t, open.raw(t), "UPDATE journal_documents SET content = $1 WHERE sha256 = $2", []byte("c"), cut.SHA256)
	r, err := s.Read(t.Context(), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{whole.SHA256: "whole"}, r.Documents); diff != "" {
		t.Error(diff)
	}
	begin("run-2")
	for _, run := range []string{"run-1", "run-2"} {
		if r, err := s.Read(t.Context(), run); err != nil || r.Documents[cut.SHA256] != "cut" {
			t.Errorf("%s: %+v, %v", run, r, err)
		}
	}
}
