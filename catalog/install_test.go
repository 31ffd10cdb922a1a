package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/protocol"
)

func TestInstalledDefinitionIsItsExactBytes(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "a", "store"))
	yaml := "# \u202e ünï\t\"quoted\"\n" + clock
	file := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), catalog.Bundled(), "self-improvement@1", catalog.FromFile(file), false); err != nil {
		t.Fatal(err)
	}
	all, err := s.Load(catalog.Bundled())
	if err != nil {
		t.Fatal(err)
	}
	e, ok := all.Get("self-improvement@1")
	if !ok || e.YAML != yaml || e.Source != (catalog.Source{Kind: catalog.Local, Location: file}) || e.Protocol().ID != "self.improvement" {
		t.Errorf("%+v", e)
	}
}

// 2.6: the checks in their order. An origin that is not there shows that none was read; a store that is
// not there afterwards shows that none was made.
func TestInstallChecksInOrder(t *testing.T) {
	nowhere := catalog.FromFile(filepath.Join(t.TempDir(), "nowhere.yaml"))
	write := func(text string) catalog.Origin {
		path := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return catalog.FromFile(path)
	}
	own := catalog.FromFile(definition(t, "self.improvement"))
	for _, c := range []struct {
		what, name string
		from       catalog.Origin
		want       string
	}{
		{"the name's form comes first", "Foo", nowhere, `"Foo" is no registration name`},
		{"case 52: the name that a declared id takes", "self.improvement/1", own, "; this document registers as self-improvement@1"},
		{"case 51: a bundled name", "software-change@1", nowhere, "software-change@1 is bundled with the program"},
		{"an origin that is not there", "a@1", nowhere, "no such file"},
		{"case 44: one byte over 1 MiB", "self-improvement@1", write(clock + "#" + strings.Repeat("x", catalog.MaxDefinitionBytes-len(clock))), "x.yaml exceeds 1 MiB"},
		{"case 54: another revision", "self-improvement@2", own, "self-improvement@2 needs a document of revision 2; this one declares revision 1"},
		{"text that is not UTF-8", "a@1", write("format: \xff"), "UTF-8"},
		{"a document with problems", "self-improvement@1", write(clock + "outcomes: {o: {requires: {claim: c}}}\n"), "undeclared-claim"},
		{"a definition that no governor takes", "self-improvement@1", write(clock + "actions: {act: {effect: none, requires: [{capability: x}, {capability: y}]}}\n"), "at most one capability per action"},
	} {
		for _, replace := range []bool{false, true} {
			root := filepath.Join(t.TempDir(), "store")
			err := open(t, root).Install(t.Context(), catalog.Bundled(), c.name, c.from, replace)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.what, err, c.want)
			}
			if _, err := os.Lstat(root); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: a store was made", c.what)
			}
		}
	}
}

// Case 53.
func TestNameWithoutAHint(t *testing.T) {
	err := open(t, filepath.Join(t.TempDir(), "store")).
		Install(t.Context(), catalog.Bundled(), "Foo", catalog.FromFile(definition(t, "Foo")), false)
	var refused *catalog.NameError
	if !errors.As(err, &refused) || refused.Hint != "" {
		t.Error(err)
	}
}

// Cases 55, 56: a locator or path that is refused is refused before a store is made. Nothing here is
// reached over a network.
func TestGitOriginIsCheckedFirst(t *testing.T) {
	const pinned = "git+file:///nowhere#0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		name string
		from catalog.Origin
		want string
	}{
		{"a@1", catalog.FromGit("", "a"), "git source locator: "},
		{"a@1", catalog.FromGit("git+file:///nowhere#main", "a"), "git source locator: "},
		{"a@1", catalog.FromGit("--upload-pack=x", "a"), "git source locator: "},
		{"a@1", catalog.FromGit(pinned, ""), "git source path: "},
		{"a@1", catalog.FromGit(pinned, "../a"), "git source path: "},
		{"Foo", catalog.FromGit(pinned, "a"), `"Foo" is no registration name`},
		{"system-query@1", catalog.FromGit(pinned, ""), "system-query@1 is bundled with the program"},
	} {
		root := filepath.Join(t.TempDir(), "store")
		t.Setenv("PATH", "/nowhere") // a git that was looked for would be told of as missing
		err := open(t, root).Install(t.Context(), catalog.Bundled(), c.name, c.from, true)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s from %s: %v, want %s", c.name, c.from, err, c.want)
		}
		if _, err := os.Lstat(root); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a store was made", c.from)
		}
	}
}

// A step that fails, as on a full disk, leaves what was installed.
func TestFailedWriteLeavesTheOldState(t *testing.T) {
	for _, step := range []atomicfile.Step{atomicfile.Create, atomicfile.Fill, atomicfile.Sync, atomicfile.Rename} {
		root := filepath.Join(t.TempDir(), "store")
		s := open(t, root)
		install(t, s, "a@1")
		full := s.WithSeam(func(at atomicfile.Step, after bool) error {
			if at == step && !after {
				return syscall.ENOSPC
			}
			return nil
		})
		if err := full.Install(t.Context(), catalog.Bundled(), "b@1", catalog.FromFile(definition(t, "b")), false); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", step, err)
		}
		if err := full.Remove(t.Context(), catalog.Bundled(), "a@1"); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", step, err)
		}
		if entries, err := os.ReadDir(root); err != nil || len(entries) != 1 {
			t.Errorf("%s: something is left beside the manifest: %v, %v", step, entries, err)
		}
		expectInstalled(t, s, "a@1")
	}
}

// A path that JSON cannot hold is not recorded as another.
func TestPathThatIsNotUTF8IsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "\xff.yaml")
	if err := os.WriteFile(path, []byte(clock), 0o600); err != nil {
		t.Skip("this file system takes no such name")
	}
	err := open(t, filepath.Join(t.TempDir(), "store")).
		Install(t.Context(), catalog.Bundled(), "self-improvement@1", catalog.FromFile(path), false)
	if err == nil || !strings.Contains(err.Error(), "is not UTF-8, so it cannot be recorded") {
		t.Error(err)
	}
}

// Case 44.
func TestDefinitionOfExactly1MiBIsInstalled(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(path, []byte(clock+"#"+strings.Repeat("x", catalog.MaxDefinitionBytes-len(clock)-1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), catalog.Bundled(), "self-improvement@1", catalog.FromFile(path), false); err != nil {
		t.Error(err)
	}
	expectInstalled(t, s, "self-improvement@1")
}

// 2.6: a file is read only where it is one, and its path is recorded without links.
func TestOriginIsARegularFile(t *testing.T) {
	folder := t.TempDir()
	file, link, fifo := definition(t, "a"), filepath.Join(folder, "link.yaml"), filepath.Join(folder, "fifo")
	if err := errors.Join(os.Symlink(file, link), syscall.Mkfifo(fifo, 0o600), os.Symlink(filepath.Dir(file), filepath.Join(folder, "dir"))); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(t.TempDir(), "store"))
	for path, want := range map[string]string{
		link:        link + " is a symbolic link",
		fifo:        fifo + " is not a regular file",
		folder:      folder + " is not a regular file",
		"/dev/zero": "/dev/zero is not a regular file",
	} {
		if err := s.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(path), false); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	t.Chdir(folder)
	for i, path := range []string{"dir/definition.yaml", "dir/../" + filepath.Base(filepath.Dir(file)) + "/definition.yaml", file} {
		if err := s.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(path), i > 0); err != nil {
			t.Fatal(err)
		}
		all, err := s.Load(catalog.Bundled())
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := all.Get("a@1"); e.Source.String() != "Local "+file {
			t.Errorf("%s is recorded as %s, want %s", path, e.Source, file)
		}
	}
}

// Case 46: the source of a name that is taken is not opened; a FIFO would say so.
func TestInstallOverANameNeedsReplace(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	install(t, s, "a@1")
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(fifo), false); !errors.Is(err, catalog.ErrExists) {
		t.Error(err)
	}
}

// D25; and a replaced definition is the new one.
func TestReplaceInstallsWhatIsNotThere(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	for _, id := range []string{"first", "second"} {
		if err := s.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(definition(t, id)), true); err != nil {
			t.Fatal(err)
		}
		expectID(t, s, "a@1", id)
	}
	expectInstalled(t, s, "a@1")
}

// Case 47.
func TestFailedReplaceLeavesTheOldDefinition(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s := open(t, root)
	install(t, s, "a@1")
	before := tree(t, root)
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("nonsense: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	var problems protocol.Problems
	if err := s.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(bad), true); !errors.As(err, &problems) {
		t.Error(err)
	}
	if tree(t, root) != before {
		t.Error("the store was changed")
	}
	expectID(t, s, "a@1", "a")
}

// Case 48.
func TestChangedSourceChangesNothing(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	file := definition(t, "a")
	if err := s.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(file), false); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(file, []byte("nonsense"), 0o600) },
		func() error { return os.Remove(file) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		expectID(t, s, "a@1", "a")
	}
}

func TestRemove(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	install(t, s, "a@1")
	install(t, s, "b@1")
	for name, want := range map[string]string{
		"c@1": "c@1 is not installed",
		"Foo": "Foo is not installed",
		// Case 51.
		"software-change@1": "software-change@1 is bundled with the program; it can be neither replaced nor removed",
	} {
		if err := s.Remove(t.Context(), catalog.Bundled(), name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for _, step := range []struct{ name, left string }{{"a@1", "b@1"}, {"b@1", ""}} {
		if err := s.Remove(t.Context(), catalog.Bundled(), step.name); err != nil {
			t.Fatal(err)
		}
		expectInstalled(t, s, step.left)
	}
}

// Case 45: what would be larger than the limit is refused, and the old manifest stays.
func TestManifestStaysWithinItsLimit(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s := open(t, root)
	install(t, s, "a@1")
	b := catalog.FromFile(definition(t, "b"))
	if err := s.Install(t.Context(), catalog.Bundled(), "b@1", b, false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(root, "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), catalog.Bundled(), "b@1"); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	both := boundedfile.Size(info.Size())
	if err := s.WithLimit(both-1).Install(t.Context(), catalog.Bundled(), "b@1", b, false); err == nil || !strings.HasPrefix(err.Error(), "the protocol store would exceed") {
		t.Error(err)
	}
	if tree(t, root) != before {
		t.Error("the store was changed")
	}
	if err := s.WithLimit(both).Install(t.Context(), catalog.Bundled(), "b@1", b, false); err != nil {
		t.Error(err)
	}
	expectInstalled(t, s, "a@1 b@1")
}

// Case 49: what another installs between the first look and the lock stays, and a name that it took is
// taken.
func TestLookUnderTheLockCounts(t *testing.T) {
	for _, c := range []struct {
		other   string
		replace bool
		want    error
		left    string
	}{
		{"b@1", false, nil, "a@1 b@1"},
		{"a@1", false, catalog.ErrExists, "a@1"},
		{"a@1", true, nil, "a@1"},
	} {
		root := filepath.Join(t.TempDir(), "store")
		late := open(t, root).WithSeam(func(step atomicfile.Step, after bool) error {
			if step == atomicfile.CreateFolder && !after { // the first install makes the store
				return open(t, root).Install(t.Context(), catalog.Bundled(), c.other, catalog.FromFile(definition(t, "other")), false)
			}
			return nil
		})
		err := late.Install(t.Context(), catalog.Bundled(), "a@1", catalog.FromFile(definition(t, "mine")), c.replace)
		if !errors.Is(err, c.want) {
			t.Errorf("beside %s, replace %v: %v, want %v", c.other, c.replace, err, c.want)
		}
		expectInstalled(t, open(t, root), c.left)
	}
}

func expectID(t *testing.T, s *catalog.Store, name, id string) {
	t.Helper()
	all, err := s.Load(catalog.Bundled())
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := all.Get(name); !ok || e.Protocol().ID != id {
		t.Errorf("%s is not the definition of %s", name, id)
	}
}
