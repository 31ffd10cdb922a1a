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
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

func schema() (sqlstore.Schema, error) {
	files, err := fs.Sub(migrations, "migrations")
	return sqlstore.Schema{
		Dialect: goose.DialectSQLite3, Files: files,
		Exists: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'journal_version'",
	}, err
}

const (
	// busyTime is how long a change waits for another program's.
	busyTime = 10 * time.Second
	// purgeAgain is the time between two tries to empty the log.
	purgeAgain = 5 * time.Millisecond
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
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	name := "journal " + path
	there, err := check(path)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	if !there {
		if o.Existing {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		if err := create(ctx, path, o); err != nil {
			return nil, fmt.Errorf("make the %s: %w", name, err)
		}
	}
	db, err := connect(path, o)
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", name, err)
	}
	if err := update(ctx, db, path); err != nil {
		_ = db.Close()
		if isDamaged(err) {
			return nil, fmt.Errorf("open the %s: %w: %w", name, journal.ErrDamaged, err)
		}
		return nil, fmt.Errorf("open the %s: %w", name, err)
	}
	return sqlstore.New(db, sqlstore.Dialect{Name: name, Damaged: isDamaged, Purge: purge}, o), nil
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
			fmt.Sprintf("busy_timeout(%d)", busyTime.Milliseconds()),
			"synchronous(FULL)", "foreign_keys(ON)", "secure_delete(ON)",
			fmt.Sprintf("wal_autocheckpoint(%d)", logPages),
		},
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	db := o.Open(compiling{connector})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// update brings an existing journal to the version of this program.
func update(ctx context.Context, db *sql.DB, path string) error {
	s, err := schema()
	if err != nil {
		return err
	}
	version, err := s.Version(ctx, db)
	if err != nil {
		return err
	}
	if version == 0 {
		return errors.New("this is a database of something else: choose another path, or move it away")
	}
	current, err := s.Current(version)
	if err != nil || current {
		return err
	}
	lock, err := atomicfile.LockFolderContext(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return s.Up(ctx, db)
}

// Primary result codes of SQLite (https://www.sqlite.org/rescode.html).
const (
	corrupt      = 11
	notADatabase = 26
)

// isDamaged tells whether SQLite says that a file is not a database, or not a whole one.
func isDamaged(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && (failed.Code()&0xff == corrupt || failed.Code()&0xff == notADatabase)
}

// purge makes what was removed unreadable in the files of a journal. secure_delete overwrites what is removed, but
// not copies of it that were left where SQLite had moved rows to another page: so the file is written anew, and
// the log of changes emptied. That takes time and memory in proportion to the whole journal.
//
// SQLite waits for those who read, but not for another that empties the log, so this has to be asked again.
func purge(ctx context.Context, db *sql.DB) error {
	if err := rewrite(ctx, db); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, busyTime)
	defer cancel()
	for {
		var busy, log, moved int
		err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
		if err != nil || busy == 0 {
			return err
		}
		select {
		case <-time.After(purgeAgain):
		case <-ctx.Done():
			return errors.New("another program is reading it")
		}
	}
}

// rewrite writes the file anew, without a temporary one that would hold everything where others may look.
func rewrite(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, statement := range []string{"PRAGMA temp_store = MEMORY", "VACUUM"} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// resolve makes a path absolute and follows the symbolic links of its folder, but not one at its end.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if strings.Contains(path, "\x00") {
		return "", errors.New("a path holds no NUL")
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	}
	return path, nil
}
