// Package journaltest has what every [journal.Store] must pass, databases to try them on, and a way to let a
// database fail at any moment. It is for tests only.
package journaltest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

// Opener opens one and the same database, as often as it is called.
type Opener func(ctx context.Context, o sqlstore.Options) (journal.Store, error)

// Store checks the contract of [journal.Store]. Each of its tests asks for a database of its own.
func Store(t *testing.T, database func(t *testing.T) Opener) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, open Opener)
	}{
		{"a record comes back as it was written", recordComesBack},
		{"text that no database gives back is refused", oddText},
		{"entries go on without a gap", entriesGoOn},
		{"a run begins once", runBeginsOnce},
		{"what is not there is an error", nothingThere},
		{"the latest run is listed first", latestFirst},
		{"documents are kept once and removed with their last run", documentsShared},
		{"a damaged document is left out and becomes whole", documentsDamaged},

		{"case tables follow the events", casesFollow},
		{"case 96: the length of a case id", caseID},
		{"case 97: a lease left by another process of this id", leaseOfOurPid},
		{"case 98: rows cut, added or damaged", rowsDamaged},
		{"case 99: the depth of facts", factDepth},
		{"case 100: an observation without its evidence", observationWithoutEvidence},
		{"a case that cannot be kept is refused whole", caseRefused},
		{"numbers keep their spelling", spelling},
		{"what reads back otherwise is not kept", readBack},

		{"a live holder keeps a lease", liveHolder},
		{"a last batch gives the lease back", lastBatch},
		{"a dead holder loses a lease", deadHolder},
		{"a holder that nobody can look at loses a lease in time", unknownHolder},
		{"a lost lease writes nothing", lostLease},
		{"a released lease writes nothing", releasedLease},
		{"a held run is not removed", heldStays},

		{"two stores lose nothing", twoStores},
		{"one of many takers gets a lease", manyTakers},
		{"runs share a document while others remove theirs", sharedWhileRemoved},
		{"each failing operation leaves a whole journal", failingOperations},
		{"a call that is called off is an error", calledOff},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.test(t, database(t))
		})
	}
}

// must opens a database for the time of a test.
func (open Opener) must(t *testing.T, o sqlstore.Options) journal.Store {
	t.Helper()
	s, err := open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// raw opens the same database without a store, to look at it and to damage it.
func (open Opener) raw(t *testing.T) *sql.DB {
	t.Helper()
	var connector driver.Connector
	open.must(t, sqlstore.Options{Connector: func(c driver.Connector) driver.Connector {
		connector = c
		return c
	}})
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statement string, arguments ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, arguments...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Holders of tests: alive and dead ones are known by their names.
var (
	alive   = journal.Holder{Host: "here", Machine: "m", Process: 1, Started: "alive"}
	dead    = journal.Holder{Host: "here", Machine: "m", Process: 2, Started: "dead"}
	unknown = journal.Holder{Host: "elsewhere", Process: 3}
)

// look tells of the holders of tests whether they are alive.
func look(h journal.Holder) (alive, known bool) { return h.Started == "alive", h.Started != "" }

// begun opens a store and begins a run that is given back.
func begun(t *testing.T, open Opener, o sqlstore.Options, run string) (journal.Store, *book, journal.Lease) {
	t.Helper()
	s := open.must(t, o)
	b := newBook(t, run)
	l, err := s.Begin(t.Context(), run, alive, b.beginning("2026-11-30T10:00:00Z"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, b, l
}

// intact fails where a run's record is not exactly the book, and gives it.
func intact(t *testing.T, s journal.Store, b *book) *journal.Record {
	t.Helper()
	r, err := s.Read(t.Context(), b.run)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if len(r.Entries) != len(b.entries) {
		t.Errorf("%d entries, want %d", len(r.Entries), len(b.entries))
		return r
	}
	for i, e := range r.Entries {
		if e != b.entries[i] {
			t.Errorf("entry %d is %+v, want %+v", i+1, e, b.entries[i])
		}
	}
	if r.Summary != b.summary {
		t.Errorf("the summary is %+v, want %+v", r.Summary, b.summary)
	}
	return r
}
