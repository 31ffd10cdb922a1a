package postgres_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/postgres"
	"github.com/loomrun/loom/journal/sqlstore"
)

// raw opens a journal and gives its database as well.
func raw(t *testing.T, address string) *sql.DB {
	t.Helper()
	var connector driver.Connector
	s, err := postgres.Open(t.Context(), address, sqlstore.Options{Connector: func(c driver.Connector) driver.Connector {
		connector = c
		return c
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestNoErrorTellsThePassword(t *testing.T) {
	const password = "hunter2secret"
	for _, address := range []string{
		"postgres://u:" + password + "@127.0.0.1:1/db",
		"postgres://u:" + password + "@127.0.0.1:1/" + password + "?connect_timeout=1",
		"postgres://u:" + password + "%zz@h/db",
		"postgres://u:" + password + "@h:port/db",
		"postgres://u:" + password + "@h/db?sslmode=" + password,
		"postgres://u:" + password + " @[h/db",
		"host=127.0.0.1 port=1 user=u password='" + password,
		"host=127.0.0.1 port=1 user=u password=" + password,
		"user:" + password + "@h/db",
	} {
		s, err := postgres.Open(t.Context(), address, sqlstore.Options{})
		if err == nil {
			t.Errorf("%s: opened %v", address, s)
			continue
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if text := e.Error(); strings.Contains(text, password) || e == err && strings.Contains(text, "\n") {
				t.Errorf("the error tells the password, or has two lines: %s", text)
			}
		}
	}
}

// The server of the tests is set up not to wait for the disk with a commit.
func TestCommitsAreDurableWhateverTheServerSays(t *testing.T) {
	address := journaltest.PostgreSQL(t)
	var setting, reset string
	db := raw(t, address)
	if err := db.QueryRowContext(t.Context(), "SELECT setting, reset_val FROM pg_settings WHERE name = 'synchronous_commit'").Scan(&setting, &reset); err != nil {
		t.Fatal(err)
	}
	if setting != "on" || reset != "off" {
		t.Errorf("synchronous_commit is %s, and was %s", setting, reset)
	}
	stronger := raw(t, address+"&synchronous_commit=remote_apply")
	if err := stronger.QueryRowContext(t.Context(), "SHOW synchronous_commit").Scan(&setting); err != nil || setting != "remote_apply" {
		t.Errorf("synchronous_commit is %s, %v", setting, err)
	}
}

func TestManyOpenersMakeTheTablesOnce(t *testing.T) {
	address := journaltest.PostgreSQL(t)
	if s, err := postgres.Open(t.Context(), address, sqlstore.Options{Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", s, err)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), address, sqlstore.Options{})
			if err == nil {
				_, err = s.List(t.Context())
			}
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestNewerVersionIsRefused(t *testing.T) {
	address := journaltest.PostgreSQL(t)
	if _, err := raw(t, address).ExecContext(t.Context(), "INSERT INTO journal_version (version_id, is_applied) VALUES (99, true)"); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), address, sqlstore.Options{})
	if err == nil || !strings.Contains(err.Error(), "it has version 99, and this program knows versions up to 1") {
		t.Errorf("%v, %v", s, err)
	}
}

// Errors name the database as people know it, without the address as it was given.
func TestErrorsNameTheDatabase(t *testing.T) {
	s, err := postgres.Open(t.Context(), journaltest.PostgreSQL(t), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Read(t.Context(), "none")
	if !errors.Is(err, journal.ErrNoRun) || !strings.HasPrefix(err.Error(), "journal test") || !strings.HasSuffix(err.Error(), `: read run "none": the journal holds no such run`) {
		t.Error(err)
	}
}
