// Package postgres is a [journal.Store] in a PostgreSQL database, for runs that several machines share.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/loomrun/loom/internal/schema"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

var tables = schema.Schema{
	Dialect: goose.DialectPostgres, Files: migrations, Table: "journal_version",
	Exists: "SELECT to_regclass('journal_version') IS NOT NULL",
}

const (
	// connectTime bounds the wait for a connection where the address gives no connect_timeout.
	connectTime = 10 * time.Second
	// connections bounds how many goroutines use the database at the same time.
	connections = 8
	// migrationLock is the advisory lock of those who make the tables: "loom-jnl", in ASCII.
	migrationLock = 0x6c6f6f6d2d6a6e6c
)

// Open opens the journal in the database at an address such as postgres://user@host/database, and makes its tables
// where they are missing, unless the options say that they must exist. What the address leaves out comes from the
// variables and files of PostgreSQL, such as PGHOST and ~/.pgpass. No error tells a password.
func Open(ctx context.Context, address string, o sqlstore.Options) (journal.Store, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// The reason quotes the address, and what of it is a password is a guess where it cannot be read.
		return nil, errors.New("the address of the journal cannot be read: write postgres://USER@HOST/DATABASE, and a password with no other characters than a URL may hold")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTime
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "loom"
	}
	hide := secret(config.Password)
	name := hide.from(fmt.Sprintf("journal %s at %s:%d", config.Database, config.Host, config.Port))
	db := o.Open(guarded{stdlib.GetConnector(*config, stdlib.OptionAfterConnect(durable)), hide})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := update(ctx, db, o.Existing); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open the %s: %w", name, err)
	}
	return sqlstore.New(db, sqlstore.Dialect{
		Name:          name,
		LockRow:       " FOR UPDATE",
		LockDocuments: "LOCK TABLE journal_documents IN SHARE ROW EXCLUSIVE MODE",
		Damaged:       isDamaged,
	}, o), nil
}

// durable makes a connection wait for the disk with every change, also where the database or the user is set up
// not to. Settings that wait for more are left alone.
func durable(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// update makes the tables, or brings them to the version of this program.
func update(ctx context.Context, db *sql.DB, existing bool) error {
	behind, err := tables.Behind(ctx, db)
	switch {
	case errors.Is(err, schema.ErrNone) && existing:
		return fmt.Errorf("there is none in the database: %w", fs.ErrNotExist)
	case errors.Is(err, schema.ErrNone):
	case err != nil || !behind:
		return err
	}
	// One connection holds the lock while others work; it ends with the connection at the latest.
	lock, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := lock.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return err
	}
	err = tables.Up(ctx, db)
	_, unlockErr := lock.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrationLock))
	return errors.Join(err, unlockErr)
}

// isDamaged tells whether PostgreSQL says that what it stores cannot be read: the class XX of its codes
// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
func isDamaged(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "XX001" || failed.Code == "XX002")
}
