package result

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/sqlite"
)

// A result in an instance is there for its owner, and each page for whoever may see all that it was made from.
func TestResultsInAnInstance(t *testing.T) {
	ctx, made := context.Background(), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "instance", "loom.db")
	if err := sqlite.Create(ctx, path, store.Owner{Subject: "ada", Zone: "Europe/Berlin", Facets: []string{"family", "work"}, Made: made}); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := newRun()
	mail := r.shown("the offer", label.OfRecord("ada", "email", "mail.mbox", []string{"work"}))
	r.shown("the birthday", label.OfRecord("ada", "calendar", "calendar.ics", []string{"family"}))
	q := r.structured(t, `{"properties":{"offer":{"asCell":true}}}`, `{"offer":"`+mail+`"}`)

	refused := q
	refused.Ceiling = label.ScopeCeiling("ada", store.Classes(), []string{"work"})
	if _, err := Write(ctx, s, refused); failure(t, err).Code != CommitRefused {
		t.Error(err)
	}
	read := func(scope store.Scope, ref string) string {
		t.Helper()
		view, err := s.View(ctx, scope)
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		answer, err := readverb.PageRead{Target: ref}.Read(ctx, readverb.Reader{View: view, Now: q.At})
		if err != nil {
			return err.Error()
		}
		page, ok := answer.Payload.(*readverb.Content)
		if !ok {
			return "no page"
		}
		return page.Ifc.Label.Canonical() + page.Content
	}
	for _, page := range []string{"results/run-1.md", pathOfRow("run-1", mail)} {
		if got := read(store.Scope{}, page); strings.Contains(got, "confidentiality") {
			t.Errorf("of what was refused there is %s", got)
		}
	}
	w, err := Write(ctx, s, q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(ctx, s, q); err != nil {
		t.Errorf("the same once more: %v", err) // a run that is resumed
	}
	for _, tc := range []struct {
		facets string // "*" is the owner
		result bool
		row    bool
	}{{"*", true, true}, {"family work", true, true}, {"work", false, true}, {"family", false, false}, {"", false, false}} {
		scope := store.Scope{}
		if tc.facets != "*" {
			scope.Facets = append([]string{}, strings.Fields(tc.facets)...)
		}
		if got := read(scope, w.Link); strings.HasPrefix(got, w.Label.Canonical()) != tc.result || strings.Contains(got, "It is so.") != tc.result {
			t.Errorf("%q reads of the result: %s", tc.facets, got)
		}
		row, _ := r.Get(mail)
		if got := read(scope, w.Minted[0].Link); strings.HasPrefix(got, row.Label.Canonical()) != tc.row || strings.Contains(got, "the offer") != tc.row {
			t.Errorf("%q reads of the row: %s", tc.facets, got)
		}
	}
}
