package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loomrun/loom/catalog"
)

func TestStoreNeedsAnAbsolutePathWithoutParents(t *testing.T) {
	for _, root := range []string{"", "store", "./store", "/a/../b", "/a/.."} {
		if _, err := catalog.OpenStore(root); err == nil {
			t.Errorf("%q was taken", root)
		}
	}
}

// 2.5: reading makes nothing.
func TestStoreThatDoesNotExistHoldsNothing(t *testing.T) {
	for _, root := range []string{filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "a", "b", "store")} {
		all, err := open(t, root).Load(catalog.Bundled())
		if err != nil || strings.Join(all.Names(), " ") != strings.Join(catalog.Bundled().Names(), " ") {
			t.Errorf("%v, %v", all.Names(), err)
		}
		if err := open(t, root).Remove(t.Context(), catalog.Bundled(), "a@1"); err == nil || err.Error() != "a@1 is not installed" {
			t.Error(err)
		}
		if _, err := os.Lstat(root); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", root, err)
		}
	}
}

// What stands where the store should be, and what every use of the store then says.
func TestStoreIsNotReadThroughAnythingElse(t *testing.T) {
	link := func(t *testing.T, target, path string) {
		t.Helper()
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	file := func(t *testing.T, path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what, want string
		plant      func(t *testing.T, parent, root string)
	}{
		{"case 38: a folder without its manifest", "has no catalog.json; restore that file, or remove the folder", func(t *testing.T, _, root string) {
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			file(t, filepath.Join(root, "other.json"))
		}},
		{"case 41: the manifest is a link", "catalog.json is a symbolic link", func(t *testing.T, parent, root string) {
			install(t, open(t, root), "team-clock@1")
			manifest := filepath.Join(root, "catalog.json")
			if err := os.Rename(manifest, filepath.Join(parent, "moved.json")); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Join(parent, "moved.json"), manifest)
		}},
		{"case 41: the manifest is a link that leads nowhere", "catalog.json is a symbolic link", func(t *testing.T, _, root string) {
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			link(t, "nowhere", filepath.Join(root, "catalog.json"))
		}},
		{"case 41: the store is a link", "is a symbolic link, and the protocol store", func(t *testing.T, parent, root string) {
			install(t, open(t, filepath.Join(parent, "real")), "team-clock@1")
			link(t, "real", root)
		}},
		{"case 41: the store is a link that leads nowhere", "is a symbolic link, and the protocol store", func(t *testing.T, _, root string) {
			link(t, "nowhere", root)
		}},
		{"the store is a file", "is no folder", func(t *testing.T, _, root string) { file(t, root) }},
		{"the manifest is a folder", "catalog.json is not a regular file", func(t *testing.T, _, root string) {
			if err := os.MkdirAll(filepath.Join(root, "catalog.json"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"the manifest is a FIFO, which does not hang", "catalog.json is not a regular file", func(t *testing.T, _, root string) {
			if err := errors.Join(os.Mkdir(root, 0o700), syscall.Mkfifo(filepath.Join(root, "catalog.json"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		parent := t.TempDir()
		root := filepath.Join(parent, "store")
		c.plant(t, parent, root)
		before := tree(t, parent)
		expectEveryUseToFail(t, c.what, open(t, root), c.want)
		if after := tree(t, parent); after != before {
			t.Errorf("%s: something was changed:\n%s\nbefore:\n%s", c.what, after, before)
		}
	}
}

// Case 41: a parent of the store that is a link, also one that leads nowhere, and one that is a file.
func TestStoreIsNotReachedThroughALink(t *testing.T) {
	parent := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(parent, "real"), 0o700),
		os.Symlink("real", filepath.Join(parent, "link")),
		os.Symlink("nowhere", filepath.Join(parent, "dangling")),
		os.WriteFile(filepath.Join(parent, "file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	before := tree(t, parent)
	expectEveryUseToFail(t, "a link above the store", open(t, parent+"/link/loom/store"), parent+"/link is a symbolic link")
	expectEveryUseToFail(t, "a dangling link above the store", open(t, parent+"/dangling/store"), parent+"/dangling is a symbolic link")
	expectEveryUseToFail(t, "a file above the store", open(t, parent+"/file/store"), parent+"/file is no folder")
	if after := tree(t, parent); after != before {
		t.Errorf("something was changed:\n%s", after)
	}
}

// Case 45, of a manifest that no install wrote.
func TestManifestOverItsLimitIsNotRead(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	install(t, open(t, root), "team-clock@1")
	if err := os.Truncate(filepath.Join(root, "catalog.json"), 64<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, root).Load(catalog.Bundled()); err == nil || !strings.HasSuffix(err.Error(), "catalog.json exceeds 64 MiB") {
		t.Error(err)
	}
}

// Case 43; 50: what lies beside the manifest does not matter.
func TestStrayFilesAreIgnored(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	install(t, open(t, root), "team-clock@1")
	for _, stray := range []string{"team-clock@1.json", ".install-1", "catalog.json~"} {
		if err := os.WriteFile(filepath.Join(root, stray), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install(t, open(t, root), "team-watch@1")
	expectInstalled(t, open(t, root), "team-clock@1 team-watch@1")
}

// expectEveryUseToFail loads, installs and removes.
func expectEveryUseToFail(t *testing.T, what string, s *catalog.Store, want string) {
	t.Helper()
	_, load := s.Load(catalog.Bundled())
	for use, err := range map[string]error{
		"load":    load,
		"install": s.Install(t.Context(), catalog.Bundled(), "team-watch@1", catalog.FromFile(definition(t, "team.watch")), false),
		"replace": s.Install(t.Context(), catalog.Bundled(), "team-watch@1", catalog.FromFile(definition(t, "team.watch")), true),
		"remove":  s.Remove(t.Context(), catalog.Bundled(), "team-clock@1"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s: %v, want %q", what, use, err, want)
		}
	}
}

func open(t testing.TB, root string) *catalog.Store {
	t.Helper()
	s, err := catalog.OpenStore(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// definition writes a clock protocol that declares an id, of revision 1, into a file of its own.
func definition(t testing.TB, id string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "definition.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(clock, "self.improvement", id, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// install installs a definition under a name of revision 1.
func install(t testing.TB, s *catalog.Store, name string) {
	t.Helper()
	id := strings.ReplaceAll(strings.TrimSuffix(name, "@1"), "-", ".")
	if err := s.Install(t.Context(), catalog.Bundled(), name, catalog.FromFile(definition(t, id)), false); err != nil {
		t.Fatal(err)
	}
}

// installed gives what a store adds to the bundled definitions.
func installed(t testing.TB, s *catalog.Store) string {
	t.Helper()
	all, err := s.Load(catalog.Bundled())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all.Names()[len(catalog.Bundled().Names()):], " ")
}

func expectInstalled(t testing.TB, s *catalog.Store, want string) {
	t.Helper()
	if got := installed(t, s); got != want {
		t.Errorf("%q is installed, want %q", got, want)
	}
}

// tree lists what is below a folder, with the size and the time of change of each.
func tree(t testing.TB, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(strings.Join([]string{path, info.Mode().String(), info.ModTime().String(), "\n"}, " "))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
