package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
	"github.com/loomrun/loom/store/sqlite"
)

func ada() store.Owner {
	return store.Owner{Subject: "ada", Zone: "UTC", Facets: []string{"work"}, Made: day}
}

// Not in parallel with others: the umask is the process's.
func TestFilesArePrivateUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		parent := t.TempDir()
		path := filepath.Join(parent, "loom.db")
		if umask == 0 {
			path = filepath.Join(parent, "a", "b", "loom.db")
		}
		before := syscall.Umask(umask)
		err := sqlite.Create(t.Context(), path, ada())
		var db *sqlite.DB
		if err == nil {
			db, err = sqlite.Open(t.Context(), path, sqlite.Options{})
		}
		if err == nil {
			_, err = db.AddSource(t.Context(), store.Source{Name: "post", Kind: store.MailSource, Format: "mbox", Added: day})
		}
		if err == nil {
			err = syncShelf(t.Context(), db, 0)
		}
		syscall.Umask(before)
		if err != nil {
			t.Fatalf("umask %03o: %v", umask, err)
		}
		for _, file := range []string{path, path + "-wal", path + "-shm"} {
			if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
				t.Errorf("umask %03o: %s: %v, %v", umask, file, info, err)
			}
		}
		if umask == 0 {
			if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the folder: %v, %v", info, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != 1 {
			t.Errorf("umask %03o: %v, %v", umask, entries, err)
		}
	}
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	whole := shelved(t, 1)
	for _, tc := range []struct {
		name string
		do   func(path string) error
		want string
	}{
		{"others may read", func(path string) error { return os.Chmod(path, 0o604) }, "loom.db may be used by others (mode 0604)"},
		{"the group may write", func(path string) error { return os.Chmod(path, 0o620) }, "loom.db may be used by others (mode 0620)"},
		{"somebody else's", func(path string) error { return os.Chown(path, 12345, -1) }, "loom.db belongs to somebody else"},
		{"a symbolic link", func(path string) error {
			return errors.Join(os.Rename(path, path+"-1"), os.Symlink(path+"-1", path))
		}, "loom.db is a symbolic link"},
		{"a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "loom.db is not a regular file"},
		{"a FIFO", func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, "loom.db is not a regular file"},
		{"its log", func(path string) error { return os.WriteFile(path+"-wal", nil, 0o644) }, "loom.db-wal may be used by others"},
		{"its index", func(path string) error { return os.Symlink("/etc/passwd", path+"-shm") }, "loom.db-shm is a symbolic link"},
	} {
		path := copied(t, whole)
		if err := tc.do(path); err != nil {
			if errors.Is(err, fs.ErrPermission) {
				continue // only root gives files away
			}
			t.Fatal(err)
		}
		if db, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v; want %q", tc.name, db, err, tc.want)
		}
		if err := sqlite.Create(t.Context(), path, ada()); err == nil {
			t.Errorf("%s: another one was made", tc.name)
		}
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "loom.db")
	if db, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", db, err)
	}
	bad := ada()
	bad.Facets = []string{"No Facet"}
	if err := sqlite.Create(t.Context(), path, bad); err == nil {
		t.Error("a store with a bad facet was made")
	}
	if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	if err := sqlite.Create(t.Context(), path, ada()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Create(t.Context(), path, ada()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed, %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A file that is no store any more is an error and stays as it is.
func TestDamagedFileIsKeptAsItIs(t *testing.T) {
	whole, err := os.ReadFile(shelved(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	garbled := bytes.Clone(whole)
	for i := 4096; i < len(garbled); i++ {
		garbled[i] = 0x5a
	}
	for name, content := range map[string][]byte{
		"empty":              {},
		"no database":        []byte(strings.Repeat("observations ", 1000)),
		"the header, cut":    whole[:50],
		"the first page":     whole[:4096],
		"within a page":      whole[:len(whole)-1000],
		"without its end":    whole[:len(whole)/4096/2*4096],
		"one byte":           {0},
		"all pages but one":  garbled,
		"another first byte": append([]byte("s"), whole[1:]...),
	} {
		path := filepath.Join(t.TempDir(), "loom.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil {
			err = lookAround(t.Context(), db)
			_ = db.Close()
		}
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
			t.Errorf("%s: the file has changed, %v", name, err)
		}
	}
}

// lookAround reads everything.
func lookAround(ctx context.Context, s store.Store) error {
	v, err := s.View(ctx, store.Scope{})
	if err != nil {
		return err
	}
	defer v.Close()
	for _, err := range v.Records(ctx, store.Filter{}) {
		if err != nil {
			return err
		}
	}
	_, err = v.Search(ctx, store.Search{Limit: 1})
	return err
}

// A page that was overwritten is found where it is read, and no read falls over it.
func TestDamagedPageIsAnError(t *testing.T) {
	whole, err := os.ReadFile(shelved(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for page := 1; page < len(whole)/4096; page++ {
		content := bytes.Clone(whole)
		copy(content[page*4096:], bytes.Repeat([]byte{0xa5}, 4096))
		path := filepath.Join(t.TempDir(), "loom.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil {
			err = lookAround(t.Context(), db)
			_ = db.Close()
		}
		if err != nil {
			if found++; !errors.Is(err, store.ErrDamaged) {
				t.Errorf("page %d: %v", page, err)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d damaged pages were found", found)
	}
}

func TestLogWithoutItsStoreIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loom.db")
	if err := os.WriteFile(path+"-wal", []byte("changes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%v, %v", db, err)
	}
	if err := sqlite.Create(t.Context(), path, ada()); err == nil {
		t.Error("the changes were given to another store")
	}
}

func TestVersionsAndDatabasesThisProgramDoesNotKnowAreRefused(t *testing.T) {
	newer := shelved(t, 1)
	alter(t, newer, "INSERT INTO store_version (version_id, is_applied) VALUES (99, 1)")
	foreign := filepath.Join(t.TempDir(), "loom.db")
	alter(t, foreign, "CREATE TABLE notes (body TEXT)")
	if err := os.Chmod(foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{newer: "it has version 99", foreign: "this is a database of something else"} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || errors.Is(err, store.ErrNewer) != (path == newer) {
			t.Errorf("%v; want %q", err, want)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s has changed, %v", path, err)
		}
	}
}

// Those who read go on while a sync writes, and see what was there when they began.
func TestReadersGoOnDuringATransaction(t *testing.T) {
	path := shelved(t, 1)
	reader, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	count := func(text string) string {
		v, err := reader.View(t.Context(), store.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := v.Search(t.Context(), store.Search{Query: q, Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range v.Records(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return fmt.Sprint(len(found.Rows), " of ", n)
	}
	var during []string
	writer, err := sqlite.Open(t.Context(), path, sqlite.Options{Committing: func(string) error {
		during = append(during, count("gone"))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := syncShelf(t.Context(), writer, 1); err != nil {
		t.Fatal(err)
	}
	if len(during) < 5 || during[0] != "1 of 10" || during[len(during)-1] == during[0] {
		t.Errorf("during the sync: %q", during)
	}
	if got := count("gone"); got != "0 of 14" {
		t.Errorf("then %s", got)
	}
}

// What a transaction that fails did is not there, and the next one works.
func TestFailedTransactionLeavesNothing(t *testing.T) {
	path := shelved(t, 1)
	want := dump(t, path)
	fail := errors.New("no")
	const last = 6
	for n := 1; ; n++ {
		at := 0
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Committing: func(string) error {
			if at++; at == 1 {
				return fail
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		switch n {
		case 1:
			err = db.AddFacet(t.Context(), "club", day)
		case 2:
			_, err = db.AddSource(t.Context(), store.Source{Name: "new", Kind: store.MailSource, Format: "mbox", Added: day})
		case 3:
			_, err = db.SetFacets(t.Context(), "post", nil, day)
		case 4:
			_, err = db.RemoveSource(t.Context(), "post")
		case 5:
			err = writeSome(t.Context(), db, 1)
		case last:
			err = syncShelf(t.Context(), db, 1)
		}
		if !errors.Is(err, fail) {
			t.Errorf("change %d: %v", n, err)
		}
		if n < last {
			if err := db.AddFacet(t.Context(), "work", day); err != nil {
				t.Errorf("after change %d: %v", n, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if got := dump(t, path); got != want {
			t.Errorf("after change %d the store is\n%s\nwant\n%s", n, got, want)
		}
		if n == last {
			return
		}
	}
}

// A document whose source has another label than it was written with, or none that can be read, is withheld from its owner and not there for
// others.
func TestDocumentsOfASpoiltSourceAreWithheld(t *testing.T) {
	for _, text := range []string{"", "no label", label.Label{}.Canonical(), label.OfRecord("ada", "document", "pages.markdown", []string{"work"}).Canonical()} {
		path := shelved(t, 0)
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := writeSome(t.Context(), db, 1); err != nil {
			t.Fatal(err)
		}
		alter(t, path, "UPDATE source SET written = ? WHERE format = 'written'", text)
		for _, facets := range [][]string{nil, {"work"}} {
			v, err := db.View(t.Context(), store.Scope{Facets: facets})
			if err != nil {
				t.Fatal(err)
			}
			withheld := 0
			for r, err := range v.Records(t.Context(), store.Filter{Kinds: []store.Kind{store.Page}}) {
				if withheld++; !errors.Is(err, store.ErrMislabelled) {
					t.Errorf("%q, from %v: %v, %v", text, facets, r, err)
				}
			}
			found, err := v.Search(t.Context(), store.Search{Limit: 10})
			if err != nil || len(found.Rows) > 0 || found.Mislabelled != withheld || facets == nil && withheld != 3 {
				t.Errorf("%q, from %v: %d withheld, %v, %v", text, facets, withheld, found, err)
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPathMayHoldWhatAURLMayNot(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a?b#c %41;d'e\u00e9")
	path := filepath.Join(folder, "lo?mode=memory&om.db")
	if err := sqlite.Create(t.Context(), path, ada()); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("%v, %v", entries, err)
	}
}

// What is removed with its source is gone: no word of it is left in any file of the store.
func TestRemovedTextIsInNoFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "loom.db")
	if err := sqlite.Create(t.Context(), path, ada()); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// Each text begins otherwise, so that the index has none of them as the end of another.
	secret := func(source string, n int, field string) string {
		return fmt.Sprintf("%c%c%s%04dx%s", 'a'+n%26, 'a'+n/26%26, source, n, field)
	}
	// So few of many that the index does not write itself anew because of them.
	records := map[string]int{"stays": 300, "goes": 12}
	for _, name := range []string{"stays", "goes"} {
		if _, err := db.AddSource(t.Context(), store.Source{Name: name, Kind: store.MailSource, Format: "mbox", Location: "/at" + name, Added: day}); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 { // by turns, so that the rows of both stand on the same pages and move between them
		for _, name := range []string{"stays", "goes"} {
			i, err := db.Import(t.Context(), name, day)
			if err != nil {
				t.Fatal(err)
			}
			changes := []store.Change{{Op: store.Begin, Container: "in" + name, Keep: true}}
			for n := round * records[name] / 3; n < (round+1)*records[name]/3; n++ {
				changes = append(changes, store.Change{Op: store.Put, Container: "in" + name, Position: int64(n), Record: &store.Record{
					Ref: secret(name, n, "ref"), Kind: store.Mail, Title: secret(name, n, "title"), Body: strings.Repeat(secret(name, n, "body")+" ", 1+n%300),
					Folder: secret(name, n, "folder"), Thread: secret(name, n, "thread"), Keys: []string{secret(name, n, "key")}, Time: day.Add(time.Duration(n*7919%5000) * time.Minute),
					From: []store.Party{{Name: secret(name, n, "name"), Address: store.Identifier(secret(name, n, "address"))}}, Details: []byte(`{"a":"` + secret(name, n, "details") + `"}`),
				}})
			}
			changes = append(changes, store.Change{Op: store.Skipped, Container: "in" + name, Position: int64(1e6 + round), Reason: "why" + name},
				store.Change{Op: store.Done, Container: "in" + name, Stamp: "stamp" + name, Note: "note" + name})
			if err := i.Apply(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
			if _, err := i.Finish(t.Context(), "problem"+name, day); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func(name string) (found int) {
		var content []byte
		for _, file := range []string{path, path + "-wal", path + "-shm"} {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content = append(content, bytes.ToLower(data)...)
		}
		marks := []string{"/at" + name, "in" + name, "why" + name, "stamp" + name, "note" + name, "problem" + name}
		for n := range records[name] {
			for _, field := range []string{"ref", "title", "body", "folder", "thread", "key", "name", "address", "details"} {
				marks = append(marks, secret(name, n, field))
			}
		}
		for _, mark := range marks {
			if bytes.Contains(content, []byte(mark)) {
				found++
			}
		}
		// The index keeps words without what they have in common with those before.
		return found + bytes.Count(content, []byte(name+"0"))
	}
	alter(t, path, "INSERT INTO word (word) VALUES ('optimize')") // the words of both in one list
	for _, name := range []string{"stays", "goes"} {
		if n := left(name); n < 9*records[name] {
			t.Fatalf("of what is there %d are found", n)
		}
	}
	if n, err := db.RemoveSource(t.Context(), "goes"); n != int64(records["goes"]) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if n := left("goes"); n > 0 {
		t.Errorf("%d of what was removed are there", n)
	}
	if left("stays") < 9*records["stays"] {
		t.Errorf("what was not removed is not there")
	}
	if err := intact(t.Context(), path); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}
