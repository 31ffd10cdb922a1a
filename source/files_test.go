package source_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/source"
)

// tree makes a folder of files; a path that ends with a slash is a folder.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(root, p)
		err := os.MkdirAll(filepath.Dir(full), 0o700)
		if strings.HasSuffix(p, "/") {
			err = errors.Join(err, os.MkdirAll(full, 0o700))
		} else {
			err = errors.Join(err, os.WriteFile(full, []byte(p), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func all(string) bool { return true }

func list(t *testing.T, root string, want, enter func(string) bool) (names []string, err error) {
	t.Helper()
	for c, err := range source.Files(t.Context(), root, want, enter) {
		if err != nil {
			return names, err
		}
		names = append(names, c.Name)
		if content, err := os.ReadFile(source.Path(root, c)); err != nil || int64(len(content)) != c.Size || c.Stamp == "" {
			t.Errorf("%+v: %d bytes, %v", c, len(content), err)
		}
	}
	return names, nil
}

func TestFiles(t *testing.T) {
	root := tree(t, "b.md", "a/x.md", "a-b.md", "a.md", "a/y/z.md", "a/.hidden/h.md", ".dot.md", ".git/g.md", "empty/", "ü.md", "B.md", "a/bad\xff.md", "bad\xff/in.md", "x\ny.md")
	for _, link := range []struct{ to, at string }{{"b.md", "link.md"}, {"a", "linked"}, {"..", "a/up"}, {"nowhere", "broken.md"}} {
		if err := os.Symlink(link.to, filepath.Join(root, link.at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := list(t, root, all, nil)
	want := []string{".dot.md", "B.md", "a-b.md", "a.md", "a/x.md", "a/y/z.md", "b.md", "x\ny.md", "ü.md"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
	if !slices.IsSorted(names) {
		t.Errorf("%q are not sorted", names)
	}
	names, err = list(t, root, func(p string) bool { return strings.HasPrefix(p, "a/") }, func(p string) bool { return p != "a/y" })
	if want := []string{"a/.hidden/h.md", "a/x.md"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
	names, err = list(t, filepath.Join(root, "b.md"), nil, nil)
	if err != nil || !slices.Equal(names, []string{"."}) {
		t.Errorf("a file: %q, %v", names, err)
	}
	for path, want := range map[string]string{"missing": "no such file", "fifo.md": "neither a file nor a folder"} {
		if names, err := list(t, filepath.Join(root, path), all, nil); err == nil || !strings.Contains(err.Error(), want) || names != nil {
			t.Errorf("%s: %q, %v", path, names, err)
		}
	}
}

func TestFilesAreKnownByTheirStamps(t *testing.T) {
	root := tree(t, "a", "b", "c", "d")
	stamps := func() map[string]string {
		all := map[string]string{}
		for c, err := range source.Files(t.Context(), root, func(string) bool { return true }, nil) {
			if err != nil {
				t.Fatal(err)
			}
			all[c.Name] = c.Stamp
		}
		return all
	}
	path := func(name string) string { return filepath.Join(root, name) }
	before := stamps()
	info, err := os.Stat(path("b"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.Chtimes(path("a"), time.Time{}, info.ModTime().Add(time.Nanosecond)),
		// Another file of the same size and time, put in its place.
		os.WriteFile(path("new"), []byte("B"), 0o600), os.Chtimes(path("new"), time.Time{}, info.ModTime()), os.Rename(path("new"), path("b")),
		os.WriteFile(path("c"), []byte("cc"), 0o600),
		os.Chmod(path("d"), 0o640),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, stamp := range stamps() {
		if changed := stamp != before[name]; changed != (name != "d") {
			t.Errorf("%s: changed is %v", name, changed)
		}
	}
}

// Files and folders that are taken away while they are listed are not there; what stands beside them is.
func TestFilesThatGoMeanwhile(t *testing.T) {
	root := tree(t, "a", "b", "c/x", "d/y", "e")
	takeAway := func(p string) bool {
		if p == "b" {
			if err := os.Remove(filepath.Join(root, p)); err != nil {
				t.Error(err)
			}
		}
		return true
	}
	var names []string
	for c, err := range source.Files(t.Context(), root, takeAway, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if names = append(names, c.Name); c.Name == "a" {
			if err := os.RemoveAll(filepath.Join(root, "c")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := []string{"a", "d/y", "e"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestFilesAreBounded(t *testing.T) {
	deep := strings.Repeat("d/", source.MaxDepth)
	if names, err := list(t, tree(t, deep+"x"), all, nil); err != nil || len(names) != 1 {
		t.Errorf("%d folders: %q, %v", source.MaxDepth, names, err)
	}
	if _, err := list(t, tree(t, "a", deep+"d/x"), all, nil); err == nil || !strings.Contains(err.Error(), "more than 64 folders within each other") {
		t.Errorf("one more: %v", err)
	}
}

func TestFilesCanBeCalledOff(t *testing.T) {
	root := tree(t, "a/x", "b/y", "c/z")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for c, err := range source.Files(ctx, root, all, nil) {
		got = append(got, fmt.Sprint(c.Name, err))
		cancel()
	}
	if want := []string{"a/x<nil>", "context canceled"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range source.Files(t.Context(), root, all, nil) {
		break // and nothing is listed any more
	}
}

func TestFolderThatCannotBeReadEndsTheList(t *testing.T) {
	root := tree(t, "a", "b/x", "c")
	var got []string
	for c, err := range source.Files(t.Context(), root, all, nil) {
		got = append(got, c.Name)
		if c.Name == "a" { // as what stands in the place of the folder is no folder
			err = errors.Join(os.RemoveAll(filepath.Join(root, "b")), os.WriteFile(filepath.Join(root, "b"), nil, 0o600))
			if err != nil {
				t.Fatal(err)
			}
		} else if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%q: %v", c.Name, err)
		}
	}
	if want := []string{"a", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnyLooksAtTheFirstThousandsOnly(t *testing.T) {
	var names []string
	for i := range 5001 {
		names = append(names, fmt.Sprintf("f%05d", i))
	}
	root := tree(t, names...)
	for name, want := range map[string]bool{"f00000": true, "f04999": true, "f05000": false, "g": false} {
		if got := source.Any(root, nil, func(c source.Container) bool { return c.Name == name }); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !source.Any(root+"/f00001", nil, func(c source.Container) bool { return c.Name == "." }) {
		t.Error("a file is not looked at")
	}
	if source.Any(root+"/none", nil, func(source.Container) bool { return true }) {
		t.Error("there is something in what is not there")
	}
}
