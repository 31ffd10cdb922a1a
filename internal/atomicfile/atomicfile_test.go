package atomicfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/loomrun/loom/internal/atomicfile"
)

var errPlanted = errors.New("planted")

// written are the steps of one write, in order.
var written = []atomicfile.Step{atomicfile.Create, atomicfile.Fill, atomicfile.Sync, atomicfile.Rename, atomicfile.SyncFolder}

func TestWriteReplacesTheWholeContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"a long first content", "", "short"} {
		if err := atomicfile.Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		expectFile(t, path, content)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	expectNames(t, filepath.Dir(path), "file")
}

// The order of the steps is what makes a file durable: filled, on the disk, then named, then the name
// on the disk.
func TestStepsComeInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	var steps []string
	w := atomicfile.Writer{Seam: func(step atomicfile.Step, after bool) error {
		if after {
			steps = append(steps, string(step))
		}
		return nil
	}}
	if err := w.Write(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(steps, ", "); got != "create, fill, sync, rename, sync folder" {
		t.Error(got)
	}
	steps, w.Passing = nil, true
	if err := w.Write(filepath.Join(dir, "passing"), nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(steps, ", "); got != "create, fill, rename" {
		t.Error(got)
	}
	steps, w.Passing = nil, false
	if err := w.WriteFolder(filepath.Join(dir, "folder"), "file", nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(steps, ", "); got != "create folder, create, fill, sync, rename, sync folder, rename folder, sync parent" {
		t.Error(got)
	}
}

// A step that fails leaves the old file, or, once it is renamed, the new one; never a third.
func TestEveryFailedStepLeavesOldOrNew(t *testing.T) {
	for _, step := range written {
		for _, after := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "file")
			if err := atomicfile.Write(path, []byte("old")); err != nil {
				t.Fatal(err)
			}
			err := failingAt(step, after).Write(path, []byte("new"))
			want, told := "old", "write "+path+": planted"
			if step == atomicfile.SyncFolder || step == atomicfile.Rename && after {
				want, told = "new", path+" is written, but may be lost in a power failure: planted"
			}
			if err == nil || err.Error() != told || !errors.Is(err, errPlanted) {
				t.Errorf("%s, after %v: %v, want %s", step, after, err, told)
			}
			expectFile(t, path, want)
			expectNames(t, filepath.Dir(path), "file")
		}
	}
}

// A folder is there with its file or not at all, and a failure leaves nothing beside it.
func TestEveryFailedStepLeavesAWholeFolderOrNone(t *testing.T) {
	steps := append([]atomicfile.Step{atomicfile.CreateFolder, atomicfile.RenameFolder, atomicfile.SyncParent}, written...)
	for _, step := range steps {
		for _, after := range []bool{false, true} {
			parent := t.TempDir()
			path := filepath.Join(parent, "folder")
			if err := failingAt(step, after).WriteFolder(path, "file", []byte("new")); !errors.Is(err, errPlanted) {
				t.Errorf("%s, after %v: %v", step, after, err)
			}
			if step == atomicfile.SyncParent || step == atomicfile.RenameFolder && after {
				expectNames(t, parent, "folder")
				expectFile(t, filepath.Join(path, "file"), "new")
			} else {
				expectNames(t, parent, "")
			}
		}
	}
}

func TestWriteNamesTheFileAndNotTheTemporaryOne(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing", "file")
	if err := atomicfile.Write(missing, nil); err == nil || err.Error() != "write "+missing+": no such file or directory" || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := atomicfile.Write(dir, nil); err == nil || err.Error() != "write "+dir+": file exists" {
		t.Error(err)
	}
}

func TestWriteReplacesASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(other, []byte("other"), 0o600), os.Symlink(other, link), atomicfile.Write(link, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	expectFile(t, other, "other")
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestFolderThatIsThereIsLeftAsItIs(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "folder")
	w := atomicfile.Writer{}
	if err := w.WriteFolder(path, "file", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFolder(path, "file", []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v is not fs.ErrExist", err)
	}
	// One that another process makes after the first look.
	late := filepath.Join(parent, "late")
	w.Seam = func(step atomicfile.Step, after bool) error {
		if step == atomicfile.RenameFolder && !after {
			return (atomicfile.Writer{}).WriteFolder(late, "file", []byte("first"))
		}
		return nil
	}
	if err := w.WriteFolder(late, "file", []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v is not fs.ErrExist", err)
	}
	expectFile(t, filepath.Join(path, "file"), "first")
	expectFile(t, filepath.Join(late, "file"), "first")
	expectNames(t, parent, "folder late")
}

func TestMakeFolderMakesWhatIsMissing(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "a", "b", "c")
	for range 2 { // the second time it is there
		if err := atomicfile.MakeFolder(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, made := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(made); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", made, info.Mode(), err)
		}
	}
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if err := atomicfile.MakeFolder(bad); err == nil {
			t.Errorf("%s was made", bad)
		}
	}
}

func TestLockHasOneHolder(t *testing.T) {
	path := t.TempDir()
	var holders atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			lock, err := atomicfile.LockFolder(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer lock.Unlock()
			if n := holders.Add(1); n != 1 {
				t.Errorf("%d hold the lock", n)
			}
			holders.Add(-1)
		})
	}
	all.Wait()
	// What the others wait for is a lock that every program sees.
	lock, err := atomicfile.LockFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK {
		t.Errorf("a second lock is given: %v", err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := atomicfile.LockFolderContext(impatient, path); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting went on: %v", err)
	}
	lock.Unlock()
	// The one that was called off is given the lock and gives it back, so this one may have to wait.
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		t.Errorf("the lock outlives Unlock: %v", err)
	}
}

func TestLockTellsWhatItHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	if err := atomicfile.MakeFolder(path); err != nil {
		t.Fatal(err)
	}
	lock, err := atomicfile.LockFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if !lock.Holds(path) {
		t.Error("a lock does not hold its folder")
	}
	if err := errors.Join(os.Rename(path, path+"-away"), atomicfile.MakeFolder(path)); err != nil {
		t.Fatal(err)
	}
	if lock.Holds(path) {
		t.Error("a lock holds a folder that took the place of its own")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if lock.Holds(path) {
		t.Error("a lock holds a path that leads nowhere")
	}
}

func TestLockTakesFoldersOnly(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, link, filepath.Join(dir, "missing")} {
		if _, err := atomicfile.LockFolder(bad); err == nil {
			t.Errorf("%s was locked", bad)
		}
	}
}

func failingAt(step atomicfile.Step, after bool) atomicfile.Writer {
	return atomicfile.Writer{Seam: func(s atomicfile.Step, a bool) error {
		if s == step && a == after {
			return errPlanted
		}
		return nil
	}}
}

func expectFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func expectNames(t *testing.T, folder, want string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s holds %q, want %q", folder, got, want)
	}
}

func TestBuiltFileIsThereWholeAndAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	before := syscall.Umask(0o277)
	err := atomicfile.Build(path, func(temporary string) error {
		if info, err := os.Stat(temporary); err != nil || info.Mode() != 0o600 || info.Size() != 0 {
			t.Errorf("%v, %v", info, err)
		}
		expectNames(t, dir, filepath.Base(filepath.Dir(temporary)))
		return errors.Join(os.WriteFile(temporary, []byte("built"), 0o600), os.WriteFile(temporary+"-log", nil, 0o600))
	})
	syscall.Umask(before)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	expectFile(t, path, "built")
	expectNames(t, dir, "file")
	err = atomicfile.Build(path, func(string) error {
		t.Error("it was built twice")
		return nil
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v is not fs.ErrExist", err)
	}
}

// A step that fails leaves no file, or, once it is renamed, the whole one; and nothing beside it.
func TestEveryFailedStepLeavesABuiltFileOrNone(t *testing.T) {
	steps := []atomicfile.Step{atomicfile.CreateFolder, atomicfile.Create, atomicfile.Fill, atomicfile.Sync, atomicfile.Rename, atomicfile.SyncFolder}
	for _, step := range steps {
		for _, after := range []bool{false, true} {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			err := failingAt(step, after).Build(path, func(temporary string) error {
				return os.WriteFile(temporary, []byte("built"), 0o600)
			})
			if !errors.Is(err, errPlanted) || !strings.HasPrefix(err.Error(), "make "+path+": ") {
				t.Errorf("%s, after %v: %v", step, after, err)
			}
			if step == atomicfile.SyncFolder || step == atomicfile.Rename && after {
				expectFile(t, path, "built")
				expectNames(t, dir, "file")
			} else {
				expectNames(t, dir, "")
			}
		}
	}
}
