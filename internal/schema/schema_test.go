package schema_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/loomrun/loom/internal/schema"
)

func tables(migrations ...string) schema.Schema {
	files := fstest.MapFS{}
	for _, m := range migrations {
		name, statement, _ := strings.Cut(m, ": ")
		files["migrations/"+name] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + statement)}
	}
	return schema.Schema{
		Dialect: goose.DialectSQLite3, Files: files, Table: "t_version",
		Exists: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 't_version'",
	}
}

const (
	first  = "00001_a.sql: CREATE TABLE a (x INTEGER);"
	second = "00002_b.sql: ALTER TABLE a ADD COLUMN y TEXT;"
)

func TestBehind(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	older, newer := tables(first), tables(first, second)
	if _, err := older.Behind(t.Context(), db); !errors.Is(err, schema.ErrNone) {
		t.Errorf("an empty database: %v", err)
	}
	if err := older.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		s    schema.Schema
		want bool
	}{{"its own version", older, false}, {"a later version", newer, true}} {
		if behind, err := tc.s.Behind(t.Context(), db); behind != tc.want || err != nil {
			t.Errorf("%s: %v, %v", tc.name, behind, err)
		}
	}
	if err := newer.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := older.Behind(t.Context(), db); !errors.Is(err, schema.ErrNewer) || !strings.Contains(err.Error(), "it has version 2, and this program knows versions up to 1") {
		t.Errorf("a database of a later version: %v", err)
	}
}

// Another program makes the tables after this one found none and before it asks whether there are any.
func TestBehindWhileAnotherMakesTheTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	plain, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	s := tables(first)
	inner, err := sqlite.NewConnector(path)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(meddled{inner, s.Exists, func() {
		if err := s.Up(context.Background(), plain); err != nil {
			t.Error(err)
		}
	}})
	defer db.Close()
	if behind, err := s.Behind(t.Context(), db); behind || err != nil {
		t.Errorf("%v, %v", behind, err)
	}
}

// meddled calls meddle before each statement of a text.
type meddled struct {
	driver.Connector
	text   string
	meddle func()
}

func (m meddled) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := m.Connector.Connect(ctx)
	return conn{c, m}, err
}

type conn struct {
	driver.Conn
	m meddled
}

func (c conn) Prepare(text string) (driver.Stmt, error) {
	if text == c.m.text {
		c.m.meddle()
	}
	return c.Conn.Prepare(text)
}
