package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/sqlite"
	"github.com/loomrun/loom/store/storetest"
)

// files are stores in files of their own.
type files struct {
	folder string
	mu     sync.Mutex
	made   int
	empty  []byte // a store of the owner of the tests
	paths  map[store.Store]string
}

func backend(t *testing.T) storetest.Backend {
	f := &files{folder: t.TempDir(), paths: map[store.Store]string{}}
	return storetest.Backend{Make: f.make, Again: f.again, Mislabel: f.mislabel, Intact: f.intact}
}

func (f *files) make(t storetest.T, owner store.Owner) store.Store {
	t.Helper()
	f.mu.Lock()
	f.made++
	path := filepath.Join(f.folder, fmt.Sprint(f.made), "loom.db")
	if f.empty == nil { // to copy a file is faster than to make one, and all of them have the same owner
		first := filepath.Join(f.folder, "0", "loom.db")
		err := sqlite.Create(t.Context(), first, owner)
		if err == nil {
			f.empty, err = os.ReadFile(first)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	f.mu.Unlock()
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, f.empty, 0o600)); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(path)) })
	return f.open(t, path)
}

func (f *files) open(t storetest.T, path string) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths[s] = path
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("%v", err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.paths, s)
	})
	return s
}

func (f *files) path(s store.Store) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paths[s]
}

func (f *files) again(t storetest.T, s store.Store) store.Store {
	t.Helper()
	return f.open(t, f.path(s))
}

func (f *files) mislabel(t storetest.T, s store.Store, source, ref, label string) {
	t.Helper()
	alter(t, f.path(s), "INSERT INTO label (text) VALUES (?) ON CONFLICT DO NOTHING", label)
	alter(t, f.path(s), "UPDATE record SET label = (SELECT number FROM label WHERE text = ?) WHERE ref = ? AND source = (SELECT number FROM source WHERE name = ?)", label, ref, source)
}

func (f *files) intact(t storetest.T, s store.Store) error { return intact(t.Context(), f.path(s)) }

// intact says what is wrong with a store: what SQLite sees itself, and what is in no step.
func intact(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
		return fmt.Errorf("%s, %w", found, err)
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO word (word) VALUES ('integrity-check')"); err != nil {
		return fmt.Errorf("the index of words: %w", err)
	}
	for what, query := range map[string]string{
		"rows that refer to none":            "SELECT count(*) FROM pragma_foreign_key_check",
		"records that are not in the index":  "SELECT count(*) FROM record WHERE tokens >= 0 AND number NOT IN (SELECT rowid FROM word)",
		"records that should not be in it":   "SELECT count(*) FROM record WHERE tokens < 0 AND number IN (SELECT rowid FROM word)",
		"rows of the index without a record": "SELECT count(*) FROM word WHERE rowid NOT IN (SELECT number FROM record)",
		"items of no record":                 "SELECT count(*) FROM item WHERE record NOT IN (SELECT number FROM record)",
		"items of no container":              "SELECT count(*) FROM item WHERE container NOT IN (SELECT number FROM container)",
		"records of no item":                 "SELECT count(*) FROM record WHERE number NOT IN (SELECT record FROM item) AND number NOT IN (SELECT record FROM orphan) AND source NOT IN (SELECT number FROM source WHERE format = 'written')",
		"written records with an item":       "SELECT count(*) FROM record r JOIN source s ON s.number = r.source JOIN item ON item.record = r.number WHERE format = 'written'",
		"written sources without a record":   "SELECT count(*) FROM source WHERE format = 'written' AND records = 0",
		"labels of other sources":            "SELECT count(*) FROM source WHERE (format = 'written') = (written = '')",
		"skips of no container":              "SELECT count(*) FROM skip WHERE container NOT IN (SELECT number FROM container)",
		"miscounted sources": `SELECT count(*) FROM source s WHERE (records, searched, tokens, bytes) IS NOT
			(SELECT count(*), count(*) FILTER (WHERE tokens >= 0), coalesce(sum(max(tokens, 0)), 0), coalesce(sum(octet_length(title) + octet_length(body)), 0)
			FROM record WHERE source = s.number)`,
	} {
		var n int
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil || n > 0 {
			return fmt.Errorf("%d %s, %w", n, what, err)
		}
	}
	return nil
}

// alter changes a database past the store.
func alter(t storetest.T, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatalf("%v", err)
	}
	_, err = db.ExecContext(t.Context(), statement, args...)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// number asks a database past the store.
func number(t *testing.T, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStore(t *testing.T) { storetest.Run(t, backend(t)) }

func TestRandomStores(t *testing.T) { storetest.Random(t, backend(t)) }
