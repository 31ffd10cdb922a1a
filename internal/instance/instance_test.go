package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/internal/xdg"
	"github.com/loomrun/loom/store"
)

func environment(variables map[string]string) xdg.Lookup {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

// data gives an environment whose folder of data is a new one, and that folder.
func data(t *testing.T) (xdg.Lookup, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return environment(map[string]string{"XDG_DATA_HOME": root, "HOME": root}), root
}

var ada = store.Owner{Subject: "ada", Zone: "Europe/Berlin", Facets: []string{"work"}, Made: time.Unix(1_700_000_000, 0)}

func create(t *testing.T, lookup xdg.Lookup, name string) Instance {
	t.Helper()
	i, err := Create(context.Background(), lookup, name, ada)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestAnInstanceIsForItsOwnerAloneWhateverTheUmask(t *testing.T) {
	lookup, root := data(t)
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	i := create(t, lookup, "home")
	if want := filepath.Join(root, "loom/instances/home"); i.Folder != want || i.Name() != "home" {
		t.Errorf("%s in %s, want home in %s", i.Name(), i.Folder, want)
	}
	s, err := i.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.AddFacet(context.Background(), "garden", ada.Made); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "loom"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	size, err := i.Size()
	if info, statErr := os.Stat(i.Database()); err != nil || statErr != nil || size <= info.Size() {
		t.Errorf("a size of %d (%v); with what is beside it, it is more than that of the file (%v)", size, err, statErr)
	}
}

func TestWhatCannotBeAnInstanceIsNotMade(t *testing.T) {
	lookup, root := data(t)
	create(t, lookup, "there")
	with := func(change func(*store.Owner)) store.Owner {
		o := ada
		change(&o)
		return o
	}
	many := make([]string, store.MaxFacets+1)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	for _, tc := range []struct {
		name  string
		owner store.Owner
		want  string
	}{
		{"there", ada, "the instance there exists: "},
		{"", ada, "cannot be the name of an instance"},
		{"Home", ada, "cannot be the name of an instance"},
		{"-a", ada, "cannot be the name of an instance"},
		{"..", ada, "cannot be the name of an instance"},
		{"a/b", ada, "cannot be the name of an instance"},
		{"a\n", ada, "cannot be the name of an instance"},
		{strings.Repeat("a", 65), ada, "cannot be the name of an instance"},
		{"new", with(func(o *store.Owner) { o.Subject = "" }), "cannot be an owner"},
		{"new", with(func(o *store.Owner) { o.Subject = " ada" }), "cannot be an owner"},
		{"new", with(func(o *store.Owner) { o.Subject = "a\u202eda" }), "cannot be an owner"},
		{"new", with(func(o *store.Owner) { o.Subject = "a\xffda" }), "cannot be an owner"},
		{"new", with(func(o *store.Owner) { o.Subject = strings.Repeat("a", MaxSubjectBytes+1) }), "cannot be an owner"},
		{"new", with(func(o *store.Owner) { o.Zone = "" }), "is no zone"},
		{"new", with(func(o *store.Owner) { o.Zone = "Local" }), "is no zone"},
		{"new", with(func(o *store.Owner) { o.Zone = "../etc/passwd" }), "is no zone"},
		{"new", with(func(o *store.Owner) { o.Zone = "/etc/localtime" }), "is no zone"},
		{"new", with(func(o *store.Owner) { o.Zone = "posixrules" }), "is no zone"},
		{"new", with(func(o *store.Owner) { o.Facets = []string{"Work"} }), "cannot be a facet"},
		{"new", with(func(o *store.Owner) { o.Facets = many }), "there are 201 facets, and 200 can be"},
	} {
		if _, err := Create(context.Background(), lookup, tc.name, tc.owner); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q for %+v: %v, want %s", tc.name, tc.owner, err, tc.want)
		} else if errors.Is(err, fs.ErrExist) != (tc.name == "there") {
			t.Errorf("%q: %v", tc.name, err)
		}
	}
	if names, err := List(lookup); err != nil || !slices.Equal(names, []string{"there"}) {
		t.Errorf("there are %q, %v", names, err)
	}
	if _, err := os.Lstat(filepath.Join(root, "loom/instances/new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

// A place in which the instance cannot be made.
func TestNoPlaceForAnInstance(t *testing.T) {
	lookup, root := data(t)
	create(t, lookup, "first")
	all := filepath.Join(root, "loom/instances")
	for name, make := range map[string]func(path string) error{
		"file":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"dangling": func(path string) error { return os.Symlink("nowhere", path) },
		"pages": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "pages"), nil, 0o600))
		},
	} {
		if err := make(filepath.Join(all, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(context.Background(), lookup, name, ada); err == nil || !strings.HasPrefix(err.Error(), "make the instance "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Create(context.Background(), environment(nil), "x", ada); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("without a home: %v", err)
	}
	if _, err := List(environment(nil)); err == nil {
		t.Error("instances are listed without a home")
	}
	if _, err := List(environment(map[string]string{"XDG_DATA_HOME": filepath.Join(all, "file")})); err == nil {
		t.Error("instances are listed in a file")
	}
}

// A link to an empty folder of the owner's is where the instance is made.
func TestALinkIsFollowed(t *testing.T) {
	lookup, root := data(t)
	create(t, lookup, "first")
	disk := filepath.Join(root, "disk")
	if err := errors.Join(os.Mkdir(disk, 0o700), os.Symlink(disk, filepath.Join(root, "loom/instances/second"))); err != nil {
		t.Fatal(err)
	}
	if i := create(t, lookup, "second"); i.Folder != disk {
		t.Errorf("it was made in %s", i.Folder)
	}
	for _, flag := range []string{"second", filepath.Join(root, "loom/instances/second"), disk + "/"} {
		if i, err := Find(lookup, flag); err != nil || i.Folder != disk {
			t.Errorf("%s: found in %q, %v", flag, i.Folder, err)
		}
	}
}

// The scripts of the command line have the order in which an instance is chosen; this is what they do not reach.
func TestFindSaysWhatIsWrong(t *testing.T) {
	lookup, root := data(t)
	for i := range maxNamed + 2 {
		create(t, lookup, fmt.Sprintf("i%02d", i))
	}
	home := func(text string) xdg.Lookup {
		folder := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(folder, "loom"), 0o700), os.WriteFile(filepath.Join(folder, "loom/config.toml"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return environment(map[string]string{"XDG_DATA_HOME": root, "XDG_CONFIG_HOME": folder})
	}
	for _, tc := range []struct {
		name   string
		lookup xdg.Lookup
		flag   string
		want   string
	}{
		{"several", lookup, "", "there are several instances: i00, i01, "},
		{"more than are named", lookup, "", ", i19 and 2 more; say which"},
		{"a NUL", lookup, "a/\x00", "a path holds no NUL"},
		{"neither", lookup, ".", `--instance: "." is neither the name of an instance nor a path with a slash`},
		{"a folder without a store", lookup, root, "there is no instance in " + root},
		{"below a file", lookup, filepath.Join(root, "loom/instances/i00/loom.db/x"), "there is no instance in "},
		{"a path that is too long", lookup, "/" + strings.Repeat("a", 300), "file name too long"},
		{"a name without a home", environment(nil), "x", "neither XDG_DATA_HOME nor HOME is set"},
		{"nothing without a home", environment(nil), "", "neither XDG_DATA_HOME nor HOME is set"},
		{"a file that is wrong", home("instance = 3\n"), "", "config.toml:1:12: instance is not the name"},
		{"a file that names none", home("instance = 'garden'\n"), "", "config.toml:1: there is no instance garden; there are i00, "},
		{"a variable with a name", environment(map[string]string{"HOME": root, "LOOM_INSTANCE_DIR": "i00"}), "", "LOOM_INSTANCE_DIR is not an absolute path"},
	} {
		if _, err := Find(tc.lookup, tc.flag); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if i, err := Find(home("instance = 'i07'\n"), ""); err != nil || i.Name() != "i07" {
		t.Errorf("by the file: %s, %v", i.Folder, err)
	}
	one, _ := data(t)
	create(t, one, "only")
	if _, err := Find(one, "other"); err == nil || !strings.HasSuffix(err.Error(), "there is no instance other, only only; loom init --name other makes it") {
		t.Errorf("another than the only one: %v", err)
	}
	none, _ := data(t)
	if _, err := Find(none, "other"); err == nil || !strings.HasSuffix(err.Error(), "there is no instance other; loom init --name other makes it") {
		t.Errorf("one of none: %v", err)
	}
}

func TestOpenRefusesWhatOthersMayUse(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(Instance) error
		want  string // "" where it is opened all the same
	}{
		{"a folder for the group", func(i Instance) error { return os.Chmod(i.Folder, 0o750) }, "may be used by others (mode 0750)"},
		{"pages for all", func(i Instance) error { return os.Chmod(i.Pages(), 0o701) }, "may be used by others (mode 0701)"},
		{"a store for all", func(i Instance) error { return os.Chmod(i.Database(), 0o604) }, "may be used by others (mode 0604)"},
		{"pages that are a file", func(i Instance) error { return errors.Join(os.Remove(i.Pages()), os.WriteFile(i.Pages(), nil, 0o600)) }, "pages is not a folder"},
		{"pages that are a link", func(i Instance) error { return errors.Join(os.Remove(i.Pages()), os.Symlink("/", i.Pages())) }, "pages is a symbolic link"},
		{"no store", func(i Instance) error { return os.Remove(i.Database()) }, "file does not exist"},
		{"no folder", func(i Instance) error { return os.RemoveAll(i.Folder) }, "no such file"},
		{"no pages", func(i Instance) error { return os.Remove(i.Pages()) }, ""},
	} {
		lookup, _ := data(t)
		i := create(t, lookup, "home")
		if err := tc.spoil(i); err != nil {
			t.Fatal(err)
		}
		s, err := i.Open(context.Background())
		if err == nil {
			err = s.Close()
		}
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if _, err := (Instance{"/nowhere"}).Size(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the size of nothing: %v", err)
	}
}

func TestTheZoneOfTheMachine(t *testing.T) {
	link := filepath.Join(t.TempDir(), "localtime")
	if err := os.Symlink("../usr/share/zoneinfo/Asia/Kathmandu", link); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "localtime")
	if err := os.Symlink("/somewhere/else", odd); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		tz, link string
		want     string
	}{
		{"Europe/Berlin", link, "Europe/Berlin from TZ"},
		{":Europe/Berlin", link, "Europe/Berlin from TZ"},
		{":/usr/share/zoneinfo/Europe/Berlin", link, "Europe/Berlin from TZ"},
		{"", link, "UTC from TZ"},
		{"unset", link, "Asia/Kathmandu from " + link},
		{"unset", odd, "UTC from nothing"},
		{"unset", "/nowhere", "UTC from nothing"},
		{"CET-1CEST,M3.5.0,M10.5.0/3", link, "UTC from nothing"},
	} {
		variables := map[string]string{"TZ": tc.tz}
		if tc.tz == "unset" {
			variables = nil
		}
		name, from, err := machineZone(environment(variables), tc.link)
		if err != nil {
			from = "nothing"
		}
		if got := name + " from " + from; got != tc.want {
			t.Errorf("TZ %s, link %s: %s, want %s", tc.tz, tc.link, got, tc.want)
		}
	}
	if name, _, _ := MachineZone(environment(map[string]string{"TZ": "Asia/Tokyo"})); name != "Asia/Tokyo" {
		t.Errorf("the machine is in %s", name)
	}
}
