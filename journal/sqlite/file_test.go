package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

// made makes a journal with a run and gives its path.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	s, err := sqlite.Open(t.Context(), path, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, s, "run-1", "text", 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Not in parallel with others: the umask is the process's.
func TestFilesArePrivateUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		parent := t.TempDir()
		// Above the folder itself everything is there: no mode helps a process that may not enter its own folders.
		path := filepath.Join(parent, "journal.db")
		if umask == 0 {
			path = filepath.Join(parent, "a", "b", "journal.db")
		}
		before := syscall.Umask(umask)
		s, err := sqlite.Open(t.Context(), path, sqlstore.Options{})
		if err == nil {
			keep(t, s, "run-1", "text", 1)
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
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != 1 {
			t.Errorf("umask %03o: %v, %v", umask, entries, err)
		}
	}
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(path string) error
		want string
	}{
		{"others may read", func(path string) error { return os.Chmod(path, 0o604) }, "journal.db may be used by others (mode 0604): take that away with chmod 600"},
		{"the group may write", func(path string) error { return os.Chmod(path, 0o620) }, "journal.db may be used by others (mode 0620): take that away with chmod 600"},
		{"somebody else's", func(path string) error { return os.Chown(path, 12345, -1) }, "journal.db belongs to somebody else"},
		{"a symbolic link", func(path string) error {
			return errors.Join(os.Rename(path, path+"-1"), os.Symlink(path+"-1", path))
		}, "journal.db is a symbolic link: name the file itself"},
		{"a link to nothing", func(path string) error { return errors.Join(os.Remove(path), os.Symlink(path+"-1", path)) }, "journal.db is a symbolic link"},
		{"a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "journal.db is not a regular file"},
		{"a FIFO", func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, "journal.db is not a regular file"},
		{"its log", func(path string) error { return os.WriteFile(path+"-wal", nil, 0o644) }, "journal.db-wal may be used by others"},
		{"its index", func(path string) error { return os.Symlink("/etc/passwd", path+"-shm") }, "journal.db-shm is a symbolic link"},
	} {
		path := made(t)
		if err := tc.do(path); err != nil {
			if errors.Is(err, fs.ErrPermission) {
				continue // only root gives files away
			}
			t.Fatal(err)
		}
		if s, err := sqlite.Open(t.Context(), path, sqlstore.Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v; want %q", tc.name, s, err, tc.want)
		}
	}
}

// Case 98: a file that is not a journal any more is an error and stays as it is.
func TestDamagedFileIsKeptAsItIs(t *testing.T) {
	whole, err := os.ReadFile(made(t))
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
		"without its end":    whole[:len(whole)-4096],
		"one byte":           {0},
		"all pages but one":  garbled,
		"another first byte": append([]byte("s"), whole[1:]...),
	} {
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), path, sqlstore.Options{})
		if err == nil {
			_, err = s.Read(t.Context(), "run-1")
			_ = s.Close()
		}
		if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
			t.Errorf("%s: the file has changed, %v", name, err)
		}
	}
}

func TestLogWithoutItsJournalIsNotGivenToANewOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.WriteFile(path+"-wal", []byte("changes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(t.Context(), path, sqlstore.Options{}); !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), path+" is gone, but") {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestVersionsAndDatabasesThisProgramDoesNotKnowAreRefused(t *testing.T) {
	newer := made(t)
	alter(t, newer, "INSERT INTO journal_version (version_id, is_applied) VALUES (99, 1)")
	foreign := filepath.Join(t.TempDir(), "journal.db")
	alter(t, foreign, "CREATE TABLE notes (body TEXT)")
	for path, want := range map[string]string{
		newer:   "it has version 99, and this program knows versions up to 1: use the newer program that wrote it",
		foreign: "this is a database of something else",
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := sqlite.Open(t.Context(), path, sqlstore.Options{}); err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("%v, %v; want %q", s, err, want)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s has changed, %v", path, err)
		}
	}
}

func TestPathMayHoldWhatAURLMayNot(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a?b#c %41;d'e\u00e9")
	path := filepath.Join(folder, "jour?mode=memory&nal.db")
	for range 2 {
		s, err := sqlite.Open(t.Context(), path, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestFolderMayBeASymbolicLink(t *testing.T) {
	parent := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(parent, "real"), 0o700), os.Symlink("real", filepath.Join(parent, "link"))); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(parent, "link", "journal.db"), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(parent, "real", "journal.db")); err != nil {
		t.Error(err)
	}
}

// openerVariable names the journal that another process of this test opens.
const openerVariable = "LOOM_TEST_OPEN"

func TestManyProcessesMakeOneJournal(t *testing.T) {
	if path := os.Getenv(openerVariable); path != "" {
		s, err := sqlite.Open(context.Background(), path, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, s, "run-"+journal.ThisProcess().String(), "text", 2)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "a", "journal.db")
	var commands []*exec.Cmd
	var outputs []*bytes.Buffer
	const processes = 4
	for range processes {
		c := exec.Command(os.Args[0], "-test.run=^TestManyProcessesMakeOneJournal$")
		c.Env = append(os.Environ(), openerVariable+"="+path)
		output := new(bytes.Buffer)
		c.Stdout, c.Stderr = output, output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands, outputs = append(commands, c), append(outputs, output)
	}
	for i, c := range commands {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i])
		}
	}
	s, err := sqlite.Open(t.Context(), path, sqlstore.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if listed, err := s.List(t.Context()); err != nil || len(listed) != processes {
		t.Errorf("%d runs, %v", len(listed), err)
	}
}

// Two programs that make a journal at once would otherwise take each other's away.
func TestJournalIsMadeUnderALock(t *testing.T) {
	folder := t.TempDir()
	locked := []bool{}
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "journal.db"), sqlstore.Options{Connector: func(c driver.Connector) driver.Connector {
		f, err := os.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		locked = append(locked, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == syscall.EWOULDBLOCK)
		return c
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if want := []bool{true, false}; !slices.Equal(locked, want) {
		t.Errorf("the folder was locked while it was made and opened: %v, want %v", locked, want)
	}
}

func TestWithoutAJournalNoneIsMade(t *testing.T) {
	folder := t.TempDir()
	if s, err := sqlite.Open(t.Context(), filepath.Join(folder, "a", "journal.db"), sqlstore.Options{Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", s, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
