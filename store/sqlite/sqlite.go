// Package sqlite is a [store.Store] in a file: SQLite with FTS5, written ahead, for the one machine its owner works at.
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
	"time"

	"modernc.org/sqlite"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/schema"
	"github.com/loomrun/loom/internal/sqlitefile"
	"github.com/loomrun/loom/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

var tables = sqlitefile.Tables(migrations, "store_version")

const (
	// lockTime is how long a write waits for another program that writes to the instance.
	lockTime = 2 * time.Second
	// logPages is how long the log of changes grows before it is brought into the file.
	logPages = 4000
	// cacheKiB is the memory for pages of each connection.
	cacheKiB = 16 << 10
	// mapBytes is how much of the file is read through the memory map.
	mapBytes = 256 << 20
	// readers bounds how many views are open at the same time.
	readers = 8
)

// Options are what a test puts in.
type Options struct {
	// Committed is called after each transaction that wrote, with what it did. An error is returned from the write, which stands.
	Committed func(what string) error
	// Committing is called before it.
	Committing func(what string) error
	// ScannedBytes and ScanTime stand for [store.MaxScannedBytes] and [store.MaxScanTime] where they are not zero.
	ScannedBytes int
	ScanTime     time.Duration
}

// DB is the store in a file.
type DB struct {
	path  string
	read  *sql.DB
	write *sql.DB
	o     Options
}

var _ store.Store = (*DB)(nil)

// Create makes a store for its owner. The path must be free; its folder is made where it is missing, for nobody else to enter.
func Create(ctx context.Context, path string, owner store.Owner) error {
	path, err := sqlitefile.Resolve(path)
	if err != nil {
		return err
	}
	there, err := sqlitefile.Check(path)
	if err == nil && there {
		err = fs.ErrExist
	}
	if err != nil {
		return fmt.Errorf("make the store %s: %w", path, err)
	}
	for _, f := range owner.Facets {
		if err := store.CheckFacet(f); err != nil {
			return err
		}
	}
	err = sqlitefile.Create(ctx, path, func(temporary string) error { return fill(ctx, temporary, owner) })
	if err != nil {
		return fmt.Errorf("make the store %s: %w", path, err)
	}
	return nil
}

// fill makes an empty file a store without records.
func fill(ctx context.Context, path string, owner store.Owner) (err error) {
	db, err := connect(path, writing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := sqlitefile.Fill(ctx, db, tables); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO owner (one, subject, zone, made) VALUES (1, ?, ?, ?)",
		owner.Subject, owner.Zone, owner.Made.Unix()); err != nil {
		return err
	}
	for _, f := range owner.Facets {
		if _, err := db.ExecContext(ctx, "INSERT INTO facet (name, added) VALUES (?, ?)", f, owner.Made.Unix()); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, "INSERT INTO source (name, kind, format, location, added) VALUES (?, ?, 'markdown', '', ?)",
		store.FileCabinet, string(store.PagesSource), owner.Made.Unix())
	return err
}

// Open opens the store in the file at path, which must be there and belong to the user of this process alone. A store of an older version
// is brought up to date first. Errors wrap fs.ErrNotExist, [store.ErrDamaged] and [store.ErrNewer].
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	path, err := sqlitefile.Resolve(path)
	if err != nil {
		return nil, err
	}
	there, err := sqlitefile.Check(path)
	switch {
	case errors.Is(err, sqlitefile.ErrDamaged):
		return nil, fmt.Errorf("store %s: %w: %w", path, store.ErrDamaged, err)
	case err != nil:
		return nil, fmt.Errorf("store %s %w", path, err)
	case !there:
		return nil, fmt.Errorf("store %s: %w", path, fs.ErrNotExist)
	}
	d := &DB{path: path, o: o}
	if d.read, err = connect(path, reading); err != nil {
		return nil, err
	}
	if d.write, err = connect(path, writing); err != nil {
		return nil, errors.Join(err, d.read.Close())
	}
	if err := d.update(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store %s: %w", path, known(err)), d.Close())
	}
	return d, nil
}

// Close closes the store; open views end.
func (d *DB) Close() error { return errors.Join(d.read.Close(), d.write.Close()) }

// update brings an existing store to the version of this program.
func (d *DB) update(ctx context.Context) error {
	behind, err := tables.Behind(ctx, d.read)
	switch {
	case errors.Is(err, schema.ErrNone):
		return errors.New("this is a database of something else: name another instance, or move it away")
	case errors.Is(err, schema.ErrNewer):
		return fmt.Errorf("%w: %w", store.ErrNewer, err)
	case err != nil || !behind:
		return err
	}
	lock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return tables.Up(ctx, d.write)
}

// lock keeps other programs from writing to the instance. Readers go on.
func (d *DB) lock(ctx context.Context) (*atomicfile.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	lock, err := atomicfile.LockFolderContext(ctx, filepath.Dir(d.path))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: %w: wait until it is done", filepath.Dir(d.path), store.ErrBusy)
	}
	return lock, err
}

type mode bool

const (
	reading mode = false
	writing mode = true
)

func connect(path string, m mode) (*sql.DB, error) {
	parameters := url.Values{
		"mode":       {"rw"},
		"_defensive": {"1"},
		"_dqs":       {"0"},
		"_error_rc":  {"1"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", sqlitefile.BusyTime.Milliseconds()),
			fmt.Sprintf("cache_size(-%d)", cacheKiB),
			fmt.Sprintf("mmap_size(%d)", mapBytes),
			// A temporary file would hold what was read where others may look.
			"temp_store(MEMORY)",
		},
	}
	if m == writing {
		parameters.Set("_txlock", "immediate")
		parameters["_pragma"] = append(parameters["_pragma"], "synchronous(NORMAL)", "foreign_keys(ON)", "secure_delete(ON)",
			fmt.Sprintf("wal_autocheckpoint(%d)", logPages))
	} else {
		parameters["_pragma"] = append(parameters["_pragma"], "query_only(ON)")
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(sqlitefile.Compiling(connector))
	n := readers
	if m == writing {
		n = 1
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// known gives the errors of a damaged file the name callers branch on.
func known(err error) error {
	if sqlitefile.IsDamaged(err) {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return err
}

// change runs a transaction that writes.
func (d *DB) change(ctx context.Context, what string, do func(*sql.Tx) error) error {
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return known(err)
	}
	err = do(tx)
	if err == nil && d.o.Committing != nil {
		err = d.o.Committing(what)
	}
	if err != nil {
		return known(errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return known(err)
	}
	if d.o.Committed != nil {
		return d.o.Committed(what)
	}
	return nil
}
