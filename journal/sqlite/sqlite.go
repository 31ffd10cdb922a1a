// Package sqlite is a [journal.Store] in a file, for the runs of one machine.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/schema"
	"github.com/loomrun/loom/internal/sqlitefile"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

var tables = sqlitefile.Tables(migrations, "journal_version")

const (
	// logPages is how long the log of changes grows, in pages, before it is brought into the file. A program that
	// opens the journal first reads the whole log, and most runs are short.
	logPages = 256
	// connections bounds how many goroutines read at the same time; those that write come one after another.
	connections = 4
)

// Open opens the journal in the file at path. Where it is missing it is made, with its folder, unless the options
// say that it must exist. Nobody but the user of this process may read it or write it: another file is refused,
// and so is a symbolic link at the end of the path.
//
// The error wraps journal.ErrDamaged where the file is not a journal any more; it is then left as it is.
func Open(ctx context.Context, path string, o sqlstore.Options) (journal.Store, error) {
	path, err := sqlitefile.Resolve(path)
	if err != nil {
		return nil, err
	}
	name := "journal " + path
	there, err := sqlitefile.Check(path)
	if errors.Is(err, sqlitefile.ErrDamaged) {
		err = damaged{err}
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	if !there {
		if o.Existing {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		if err := sqlitefile.Create(ctx, path, func(temporary string) error { return fill(ctx, temporary, o) }); err != nil {
			return nil, fmt.Errorf("make the %s: %w", name, err)
		}
	}
	db, err := connect(path, o)
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", name, err)
	}
	if err := update(ctx, db, path); err != nil {
		_ = db.Close()
		if sqlitefile.IsDamaged(err) {
			return nil, fmt.Errorf("open the %s: %w: %w", name, journal.ErrDamaged, err)
		}
		return nil, fmt.Errorf("open the %s: %w", name, err)
	}
	return sqlstore.New(db, sqlstore.Dialect{Name: name, Damaged: sqlitefile.IsDamaged, Purge: sqlitefile.Purge}, o), nil
}

// connect opens a pool of connections to a file, which must exist.
func connect(path string, o sqlstore.Options) (*sql.DB, error) {
	parameters := url.Values{
		"mode":       {"rw"},
		"_txlock":    {"immediate"},
		"_defensive": {"1"},
		"_dqs":       {"0"},
		"_error_rc":  {"1"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", sqlitefile.BusyTime.Milliseconds()),
			"synchronous(FULL)", "foreign_keys(ON)", "secure_delete(ON)",
			fmt.Sprintf("wal_autocheckpoint(%d)", logPages),
		},
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	db := o.Open(sqlitefile.Compiling(connector))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// update brings an existing journal to the version of this program.
func update(ctx context.Context, db *sql.DB, path string) error {
	behind, err := tables.Behind(ctx, db)
	if errors.Is(err, schema.ErrNone) {
		return errors.New("this is a database of something else: choose another path, or move it away")
	}
	if err != nil || !behind {
		return err
	}
	lock, err := atomicfile.LockFolderContext(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return tables.Up(ctx, db)
}

// damaged is an error of the file that is one of the journal too.
type damaged struct{ error }

func (d damaged) Unwrap() []error { return []error{d.error, journal.ErrDamaged} }
