package record_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/sqlstore"
	"github.com/loomrun/loom/run/record"
)

// The crash test of issue 4. A process that carries out a ten-step run is killed right before and right after each
// durable write in turn, and in the midst of effects, and resumed by another, which is killed as well in some
// cases. A person looks into the log of effects where one is in doubt.
func TestCrash(t *testing.T) {
	for name, database := range map[string]func(t *testing.T) (address func(t *testing.T) string){
		"sqlite":   sqliteFiles,
		"postgres": postgresDatabase,
	} {
		t.Run(name, func(t *testing.T) {
			address := database(t)
			whole := &crash{address: address(t), folder: t.TempDir(), run: "whole"}
			said, _ := whole.order().carryOut(t)
			if said.Error != "" {
				t.Fatal(said.Error)
			}
			want := whole.site(t).final(t)
			if commits := 2*rungs + 1; said.Commits < commits { // two a step, and the end with the lease
				t.Fatalf("the run has %d commits, less than %d", said.Commits, commits)
			}
			for _, kills := range killings(said.Commits) {
				t.Run(fmt.Sprint(kills), func(t *testing.T) {
					t.Parallel()
					c := &crash{address: address(t), folder: t.TempDir(), run: fmt.Sprintf("run%x", fmt.Sprint(kills))}
					c.survive(t, kills)
					if diff := gocmp.Diff(want, c.site(t).final(t)); diff != "" {
						t.Errorf("the case is not that of a run that nobody killed:\n%s", diff)
					}
				})
			}
		})
	}
}

// killings gives where the processes of a run are killed, one after the other.
func killings(commits int) [][]kill {
	var all [][]kill
	for n := 1; n <= commits; n++ {
		all = append(all, []kill{{Commit: n}}, []kill{{Commit: n, After: true}})
	}
	for _, in := range []string{"lay1", "lay5", "lay10"} {
		all = append(all, []kill{{In: in}})
	}
	// Killed again while it is resumed: around the lease, the begin of the sitting, what follows and a later step.
	for n := 1; n <= 4; n++ {
		all = append(all, []kill{{In: "lay3"}, {Commit: n}}, []kill{{In: "lay3"}, {Commit: n, After: true}})
	}
	for _, after := range []bool{false, true} {
		all = append(all, []kill{{Commit: 11}, {Commit: 3, After: after}, {In: "lay8"}, {Commit: 4, After: after}})
	}
	return all
}

// sqliteFiles gives each run a file of its own.
func sqliteFiles(t *testing.T) func(t *testing.T) string {
	t.Helper()
	made := filepath.Join(t.TempDir(), "journal.db")
	store, err := open(t.Context(), made, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// postgresDatabase gives all runs one database.
func postgresDatabase(t *testing.T) func(t *testing.T) string {
	t.Helper()
	address := journaltest.PostgreSQL(t)
	store, err := open(t.Context(), address, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return func(*testing.T) string { return address }
}

// crash is a run whose processes are killed.
type crash struct {
	address, folder, run string
	told                 int // logs of what readers were told
}

func (c *crash) effects() string { return filepath.Join(c.folder, "effects") }

func (c *crash) log(n int) string { return filepath.Join(c.folder, fmt.Sprint("told", n)) }

// order gives the order for the next process.
func (c *crash) order() order {
	c.told++
	return order{Database: c.address, Run: c.run, Effects: c.effects(), Told: c.log(c.told)}
}

// site gives the site of the run as this process sees it.
func (c *crash) site(t *testing.T) *site {
	t.Helper()
	store, err := open(t.Context(), c.address, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := newTower()
	s.id, s.store, s.effects = c.run, store, &effects{path: c.effects()}
	return s
}

// looked gives the record of the run after a process of it ended, nil where none was begun, and what a person says
// of an effect in doubt who looked whether it was begun. A run that is over, or of which nobody says that, does not
// go on.
func (c *crash) looked(t *testing.T) (rec *journal.Record, outcome event.Outcome) {
	t.Helper()
	store, err := open(t.Context(), c.address, sqlstore.Options{})
	if err != nil {
		t.Fatal(err) // what is stored opens
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := newTower()
	s.id, s.store, s.holder, s.effects = c.run, store, journal.Holder{}, &effects{path: c.effects()}
	begun, err := s.effects.begun()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Read(context.Background(), c.run); errors.Is(err, journal.ErrNoRun) {
		if len(begun) > 0 {
			t.Errorf("effects %v are begun, and there is no record", begun)
		}
		return nil, ""
	}
	rec = s.sound(t)
	c.nothingLost(t, events(t, rec))
	over := !record.Resumable(rec.Summary)
	if !over && rec.Summary.InDoubt == "" {
		return rec, ""
	}
	_, err = s.resume(t, "")
	doubt, ok := errors.AsType[*record.InDoubtError](err)
	if over && !as[*record.OverError](err) || !over && (!ok || doubt.Step != rec.Summary.Steps || doubt.Action != rec.Summary.InDoubt) {
		t.Errorf("to resume a run with %+v says %v", rec.Summary, err)
	}
	after, err := s.effects.begun()
	if diff := cmp.Or(gocmp.Diff(rec, s.read(t)), gocmp.Diff(begun, after)); diff != "" || err != nil || s.told != nil {
		t.Errorf("a refused resumption changed something: %v\n%s", err, diff)
	}
	if slices.ContainsFunc(begun, func(b begunEffect) bool { return b.Step == rec.Summary.Steps }) {
		return rec, event.Performed
	}
	return rec, event.NotPerformed
}

// nothingLost checks that the record holds, in order, all that the readers of the processes were told, and that what
// they were not told is only what was written last by a process that was killed.
func (c *crash) nothingLost(t *testing.T, recorded []event.Event) {
	t.Helper()
	var sittings [][]event.Event
	for i, e := range recorded {
		if _, resumed := e.(event.Resumed); resumed || i == 0 {
			sittings = append(sittings, nil)
		}
		sittings[len(sittings)-1] = append(sittings[len(sittings)-1], e)
	}
	for n := 1; n <= c.told; n++ {
		entries, err := readLines[journal.Entry](c.log(n))
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			continue // it was killed before it told anything, or refused
		}
		var told []event.Event
		for _, e := range entries {
			v, err := e.Event()
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, v)
		}
		at := slices.IndexFunc(sittings, func(s []event.Event) bool { return len(s) >= len(told) && gocmp.Equal(s[:len(told)], told) })
		if at < 0 {
			t.Errorf("process %d told what no sitting of the record holds: %+v", n, told)
			continue
		}
		sittings = sittings[at+1:]
	}
}

// survive has the processes of the run killed one after the other, and the run resumed until it is over.
func (c *crash) survive(t *testing.T, kills []kill) {
	t.Helper()
	for range len(kills) + 2 {
		rec, outcome := c.looked(t)
		if rec != nil && !record.Resumable(rec.Summary) {
			if len(kills) > 0 {
				t.Errorf("the run was over before it was killed %v", kills)
			}
			if got := stops(t, rec); strings.Count(got, "Completed") != 1 || strings.Contains(got, journal.FailedStop) {
				t.Errorf("it did not stop once: %s", got)
			}
			return
		}
		next := c.order()
		next.Resume, next.Outcome = rec != nil, outcome
		if len(kills) > 0 {
			next.Kill, kills = kills[0], kills[1:]
		}
		said, killed := next.carryOut(t)
		switch {
		case !killed && next.Kill != kill{}:
			t.Fatalf("the process was not killed %v: %+v", next.Kill, said)
		case !killed && said.Error != "":
			t.Fatal(said.Error)
		}
	}
	t.Error("the run does not come to an end")
}
