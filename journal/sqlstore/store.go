// Package sqlstore is a [journal.Store] in the tables of an SQL database. The two databases it serves,
// [sqlite] and [postgres], have the same tables and take the same statements; what differs is a [Dialect].
//
// [sqlite]: https://pkg.go.dev/github.com/loomrun/loom/journal/sqlite
// [postgres]: https://pkg.go.dev/github.com/loomrun/loom/journal/postgres
package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/loomrun/loom/journal"
)

// Options are what a program may choose of its journal. The zero Options serve.
type Options struct {
	// Existing keeps Open from making a journal where there is none: its error then wraps fs.ErrNotExist. For
	// commands that only read.
	Existing bool
	// Alive tells whether the process of a holder is alive. Nil: [journal.Holder.Alive].
	Alive func(journal.Holder) (alive, known bool)
	// Now reads the clock. Nil: time.Now. Programs that share a journal should agree on the time within much
	// less than journal.LeaseTime; if they do not, a lease may be taken too early, and its holder is then
	// refused by Append.
	Now func() time.Time
	// Connector stands between the store and its database, for tests that let the database fail. Nil: nothing.
	Connector func(driver.Connector) driver.Connector
}

// Open opens a pool of connections.
func (o Options) Open(c driver.Connector) *sql.DB {
	if o.Connector != nil {
		c = o.Connector(c)
	}
	return sql.OpenDB(c)
}

// Dialect is in what the databases differ.
type Dialect struct {
	// Name is what errors call the database. It holds no secret.
	Name string
	// LockRow ends a query of a row that the transaction is about to change. Empty where a transaction that
	// writes has the database for itself.
	LockRow string
	// LockDocuments is a statement that keeps other transactions from adding and removing documents. May be empty.
	LockDocuments string
	// Damaged tells whether an error means that what is stored cannot be read any more.
	Damaged func(error) bool
	// Purge makes what was removed unreadable also below the database. May be nil.
	Purge func(context.Context, *sql.DB) error
}

// Store is a journal.Store. It is safe for use by several goroutines.
type Store struct {
	db      *sql.DB
	dialect Dialect
	alive   func(journal.Holder) (alive, known bool)
	now     func() time.Time
}

var _ journal.Store = (*Store)(nil)

// New makes a store of a database whose tables are there (see [Schema]). It closes the database when it is closed.
func New(db *sql.DB, d Dialect, o Options) *Store {
	s := &Store{db: db, dialect: d, alive: o.Alive, now: o.Now}
	if s.alive == nil {
		s.alive = journal.Holder.Alive
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Close implements journal.Store.
func (s *Store) Close() error { return s.db.Close() }
