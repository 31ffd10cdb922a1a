package sqlite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

// keep keeps a run with a text in every place a text may be in.
func keep(t *testing.T, s journal.Store, run, text string, entries int) {
	t.Helper()
	chain, sequence := journal.NewChain(run), int64(0)
	batch := func(kind journal.Kind, name string, values ...any) (batch journal.Batch) {
		for _, v := range values {
			sequence++
			body, err := journal.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			e := journal.Entry{Sequence: sequence, Kind: kind, Name: name, Body: body}
			e.Hash = chain.Next(e)
			batch.Entries = append(batch.Entries, e)
		}
		batch.Summary = journal.Summary{Intent: text}
		return batch
	}
	l, err := s.Begin(t.Context(), run, journal.ThisProcess(), batch(journal.Begun, "", journal.Beginning{Intent: text}), nil)
	if err == nil {
		err = s.Append(t.Context(), l, batch(journal.Told, "CaseOpened", event.CaseOpened{Case: "case-1", Protocol: text}))
	}
	for range entries {
		if err == nil {
			err = s.Append(t.Context(), l, batch(journal.Told, "Observed", event.Observed{Case: "case-1", Source: "effect", Subject: text, Payload: `"` + text + `"`}))
		}
		if err == nil {
			err = s.Append(t.Context(), l, batch(journal.Told, "EvidenceReceived", event.EvidenceReceived{Case: "case-1", Producer: text, Data: `"` + text + `"`}))
		}
	}
	if err == nil {
		err = s.Release(t.Context(), l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What is removed is gone: no byte of it is left in any file of the journal, also where runs were written by
// turns and their rows moved from page to page.
func TestRemovedTextIsInNoFile(t *testing.T) {
	folder := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "journal.db"), sqlstore.Options{Alive: func(journal.Holder) (bool, bool) { return false, true }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(1, 2))
	texts := map[string]string{}
	for n := range 40 {
		run := fmt.Sprintf("run-%x-%d", r.Uint64(), n)
		texts[run] = strings.Repeat(fmt.Sprintf("secret-%d-", n), 1+r.IntN(200))
		keep(t, s, run, texts[run], 1+r.IntN(12))
	}
	left := func(text string) (files []string) {
		for _, name := range []string{"journal.db", "journal.db-wal"} {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte(text)) {
				files = append(files, name)
			}
		}
		return files
	}
	if files := left("secret-7-"); len(files) == 0 {
		t.Fatal("what is there is not found: this test finds nothing")
	}
	for run, text := range texts {
		if err := s.Remove(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		secret, _, _ := strings.Cut(text, "-secret")
		for _, mark := range []string{strings.TrimSuffix(secret, "-") + "-", run} {
			if files := left(mark); len(files) > 0 {
				t.Errorf("%s is in %v", mark, files)
			}
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}
