package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

// BenchmarkAppend is what the record of one step costs: eight entries before its effect and one after it, each
// batch durable. [BenchmarkTwoBareCommits] is the least that two durable writes can cost.
func BenchmarkAppend(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), sqlstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	chain, sequence := journal.NewChain("run"), int64(0)
	batch := func(kind journal.Kind, events ...event.Event) (batch journal.Batch) {
		for _, e := range events {
			sequence++
			body, err := journal.Encode(e)
			if err != nil {
				b.Fatal(err)
			}
			entry := journal.Entry{Sequence: sequence, Kind: kind, Name: journal.EventName(e), Body: body}
			entry.Hash = chain.Next(entry)
			batch.Entries = append(batch.Entries, entry)
		}
		return batch
	}
	lease, err := s.Begin(b.Context(), "run", journal.ThisProcess(), batch(journal.Begun, event.Stopped{}), nil)
	if err == nil {
		err = s.Append(b.Context(), lease, batch(journal.Told, event.CaseOpened{Case: "case-1", Revision: 1}))
	}
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 200)
	for b.Loop() {
		before := batch(journal.Told, event.Decided{Case: "case-1", SHA256: text}, event.Failed{Error: text}, event.Failed{Error: text},
			event.Observed{Case: "case-1", Source: "executor", Payload: `"` + text + `"`}, event.Failed{Error: text}, event.Failed{Error: text},
			event.Decided{Case: "case-1", SHA256: text}, event.Admitted{Case: "case-1", SHA256: text})
		after := batch(journal.Told, event.Observed{Case: "case-1", Source: "effect", Payload: `"` + text + `"`})
		for _, add := range []journal.Batch{before, after} {
			if err := s.Append(b.Context(), lease, add); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkTwoBareCommits is two commits of one row each, as durable as those of the journal.
func BenchmarkTwoBareCommits(b *testing.B) {
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", filepath.Join(b.TempDir(), "bare.db")))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.PrepareContext(b.Context(), "INSERT INTO t (body) VALUES ($1)")
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	text := strings.Repeat("x", 200)
	for b.Loop() {
		for range 2 {
			if _, err := insert.ExecContext(b.Context(), text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkOpen is what a program that uses a journal pays for at its start.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.db")
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlstore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
