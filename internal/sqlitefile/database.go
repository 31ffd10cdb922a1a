package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/loomrun/loom/internal/schema"
)

// BusyTime is how long a change waits for another program's.
const BusyTime = 10 * time.Second

// Tables is how the tables of an SQLite database come to be, see [schema.Schema].
func Tables(files fs.FS, table string) schema.Schema {
	return schema.Schema{
		Dialect: goose.DialectSQLite3, Files: files, Table: table,
		Exists: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '" + table + "'",
	}
}

// Fill makes the tables of an empty file that nobody else has yet: it is written ahead for good, and a file that is in use may be too busy
// to become so.
func Fill(ctx context.Context, db *sql.DB, s schema.Schema) error {
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	return s.Up(ctx, db)
}

// purgeAgain is the time between two tries to empty the log.
const purgeAgain = 5 * time.Millisecond

// Primary result codes of SQLite (https://www.sqlite.org/rescode.html).
const (
	corrupt      = 11
	notADatabase = 26
)

// IsDamaged tells whether SQLite says that a file is not a database, or not a whole one.
func IsDamaged(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && (failed.Code()&0xff == corrupt || failed.Code()&0xff == notADatabase)
}

// Purge makes what was removed unreadable in the files of a database. secure_delete overwrites what is removed, but
// not copies of it that were left where SQLite had moved rows to another page: so the file is written anew, and
// the log of changes emptied. That takes time and memory in proportion to the whole database.
//
// SQLite waits for those who read, but not for another that empties the log, so this has to be asked again.
func Purge(ctx context.Context, db *sql.DB) error {
	if err := rewrite(ctx, db); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, BusyTime)
	defer cancel()
	for {
		var busy, log, moved int
		err := db.QueryRowContext(limited, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
		if limited.Err() != nil && ctx.Err() == nil { // the limit may end SQLite's own wait
			return errors.New("another program is reading it")
		}
		if err != nil || busy == 0 {
			return err
		}
		select {
		case <-time.After(purgeAgain):
		case <-limited.Done():
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
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

// Resolve makes a path absolute and follows the symbolic links of its folder, but not one at its end.
func Resolve(path string) (string, error) {
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
