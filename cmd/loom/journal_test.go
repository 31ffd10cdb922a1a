package main

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

// The scripts in testdata/postgresql keep their runs in a PostgreSQL database, at $DATABASE.
func TestScriptsOnPostgreSQL(t *testing.T) {
	database := journaltest.PostgreSQL(t)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/postgresql",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "append": appendFile},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TZ", "Europe/Berlin")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // see TestScripts
			env.Setenv("DATABASE", database)
			return nil
		},
	})
}

// openJournal opens a journal that is there.
func openJournal(ts *testscript.TestScript, path string) journal.Store {
	store, err := sqlite.Open(context.Background(), ts.MkAbs(path), sqlstore.Options{Existing: true})
	ts.Check(err)
	return store
}

func openDatabase(ts *testscript.TestScript, path string) *sql.DB {
	_, err := os.Stat(ts.MkAbs(path))
	ts.Check(err)
	db, err := sql.Open("sqlite", ts.MkAbs(path))
	ts.Check(err)
	return db
}

// ran JOURNAL VARIABLE INTENT: set the variable to the id of the run of this intent that began last.
func ran(ts *testscript.TestScript, _ bool, args []string) {
	store := openJournal(ts, args[0])
	defer store.Close()
	all, err := store.List(context.Background())
	ts.Check(err)
	i := slices.IndexFunc(all, func(l journal.Listed) bool { return l.Summary.Intent == args[2] })
	if i < 0 {
		ts.Fatalf("there is no run of %q", args[2])
	}
	ts.Setenv(args[1], all[i].Run)
}

// tamper JOURNAL STATEMENT: change the database of a journal behind its back. In the statement " stands for '.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	db := openDatabase(ts, args[0])
	defer db.Close()
	result, err := db.Exec(strings.ReplaceAll(args[1], `"`, "'"))
	ts.Check(err)
	changed, err := result.RowsAffected()
	ts.Check(err)
	if changed == 0 {
		ts.Fatalf("nothing was changed")
	}
}

// reseal JOURNAL: compute the chain of the only run anew, as somebody would who covers up a change.
func reseal(ts *testscript.TestScript, _ bool, args []string) {
	store := openJournal(ts, args[0])
	record := onlyRun(ts, store)
	ts.Check(store.Close())
	db := openDatabase(ts, args[0])
	defer db.Close()
	chain := journal.NewChain(record.Run)
	var head journal.Hash
	for _, e := range record.Entries {
		head = chain.Next(e)
		_, err := db.Exec("UPDATE journal_entries SET hash = $1 WHERE run = $2 AND sequence = $3", head[:], record.Run, e.Sequence)
		ts.Check(err)
	}
	_, err := db.Exec("UPDATE journal_runs SET head = $1, head_sequence = $2", head[:], len(record.Entries))
	ts.Check(err)
}

// cut FROM TO KIND NAME: leave in the journal TO what there was in FROM when its only run was killed right behind
// the first entry of this kind and name.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	from := openJournal(ts, args[0])
	defer from.Close()
	record := onlyRun(ts, from)
	i := slices.IndexFunc(record.Entries, func(e journal.Entry) bool { return string(e.Kind) == args[2] && e.Name == args[3] })
	if i < 0 {
		ts.Fatalf("there is no entry %s", strings.Join(args[2:], " "))
	}
	kept := record.Entries[:i+1]
	summary, err := journal.Summarise(kept)
	ts.Check(err)
	var documents []journal.Document
	for digest, text := range record.Documents {
		documents = append(documents, journal.Document{SHA256: digest, Text: text})
	}
	to, err := sqlite.Open(context.Background(), ts.MkAbs(args[1]), sqlstore.Options{})
	ts.Check(err)
	defer to.Close()
	// No process has this id: who had the lease is dead.
	dead := journal.ThisProcess()
	dead.Process = 1 << 30
	_, err = to.Begin(context.Background(), record.Run, dead, journal.Batch{Entries: kept, Summary: summary}, documents)
	ts.Check(err)
}

// onlyRun reads the record of a journal's only run.
func onlyRun(ts *testscript.TestScript, store journal.Store) *journal.Record {
	all, err := store.List(context.Background())
	ts.Check(err)
	if len(all) != 1 {
		ts.Fatalf("the journal holds %d runs, not one", len(all))
	}
	record, err := store.Read(context.Background(), all[0].Run)
	ts.Check(err)
	return record
}
