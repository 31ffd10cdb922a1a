// Package instance says where the data of one owner is, and opens it: a folder with the store and the pages of the File Cabinet,
// closed to everybody but its owner.
//
//	$XDG_DATA_HOME/loom/instances/NAME   mode 0700
//	  loom.db                            mode 0600, with loom.db-wal and loom.db-shm beside it while it is used
//	  pages/                             mode 0700, the source [store.FileCabinet]
//
// The folder may be moved elsewhere, or be a symbolic link to elsewhere: links in a path are followed, and it is the folder at
// their end that is looked at and used. The store and the pages in it may not be links.
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

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/internal/xdg"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/sqlite"
)

const (
	// DefaultName is the name of an instance that is made without one.
	DefaultName = "default"
	// MaxSubjectBytes bounds the name of an owner.
	MaxSubjectBytes = 256

	instances = "instances" // below the folder of what is kept for a person
	database  = "loom.db"
	pages     = "pages"
	// maxListed bounds how many instances are looked at, and maxNamed how many a message names.
	maxListed = 10_000
	maxNamed  = 20
)

// Instance is where one is. The zero value is none.
type Instance struct {
	Folder string // absolute, without symbolic links
}

// Name is what a person calls the instance: the name of its folder.
func (i Instance) Name() string { return filepath.Base(i.Folder) }

// Database is the path of the store.
func (i Instance) Database() string { return filepath.Join(i.Folder, database) }

// Pages is the folder of the pages of the File Cabinet.
func (i Instance) Pages() string { return filepath.Join(i.Folder, pages) }

// Size is how many bytes the files of the store have.
func (i Instance) Size() (int64, error) {
	var all int64
	for _, end := range []string{"", "-wal", "-shm"} {
		info, err := os.Lstat(i.Database() + end)
		switch {
		case err == nil:
			all += info.Size()
		case end == "" || !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	return all, nil
}

// Create makes an instance under a name and opens nothing. Where there is one of this name the error wraps fs.ErrExist and
// nothing is changed; what a program left that was killed while it made one is completed. The owner's zone and facets are checked, and
// the owner's name has 1 to [MaxSubjectBytes] bytes of UTF-8 without control characters.
func Create(ctx context.Context, lookup xdg.Lookup, name string, owner store.Owner) (Instance, error) {
	if !config.IsInstanceName(name) {
		return Instance{}, fmt.Errorf("%q cannot be the name of an instance: use 1 to 64 of a-z, 0-9 and -, and begin with a letter or digit", name)
	}
	if err := checkOwner(owner); err != nil {
		return Instance{}, err
	}
	root, err := folderOfAll(lookup)
	if err != nil {
		return Instance{}, err
	}
	i := Instance{filepath.Join(root, name)}
	if err := atomicfile.MakeFolder(i.Folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return Instance{}, fmt.Errorf("make the instance %s: %w", name, err)
	}
	if i.Folder, err = filepath.EvalSymlinks(i.Folder); err != nil {
		return Instance{}, fmt.Errorf("make the instance %s: %w", name, err)
	}
	if err := atomicfile.CheckPrivate(i.Folder); err != nil {
		return Instance{}, fmt.Errorf("make the instance %s: %w", name, err)
	}
	if _, err := os.Lstat(i.Database()); err == nil {
		return Instance{}, there(name, i.Folder)
	}
	if err := atomicfile.MakeFolder(i.Pages()); err != nil {
		return Instance{}, fmt.Errorf("make the instance %s: %w", name, err)
	}
	// The store comes last and whole: an instance is there when its store is.
	err = sqlite.Create(ctx, i.Database(), owner)
	if errors.Is(err, fs.ErrExist) {
		return Instance{}, there(name, i.Folder)
	}
	return i, err
}

func there(name, folder string) error {
	return fmt.Errorf("the instance %s exists: %s: %w", name, folder, fs.ErrExist)
}

// Find gives the instance that is meant, by the first of these that says something:
//
//   - flag, the value of --instance: the name of an instance, or a path, which has a slash in it
//   - the variable LOOM_INSTANCE_DIR, an absolute path
//   - the key instance of the configuration file, a name or an absolute path
//   - the only instance there is, or the one named default
//
// Where several are left, and where there is none, the error says how to choose or make one. That the folder holds an instance
// is known then, but nothing of it is opened.
func Find(lookup xdg.Lookup, flag string) (Instance, error) {
	if flag != "" {
		return chosen(lookup, flag, "--instance")
	}
	settings, err := config.Read(lookup)
	if err != nil {
		return Instance{}, err
	}
	for _, key := range config.Keys() {
		if key.Name != "instance" {
			continue
		}
		setting, found, err := settings.Get(key)
		switch {
		case err != nil:
			return Instance{}, err
		case !found:
			continue
		case setting.Source.Origin == config.Environment && !filepath.IsAbs(setting.Text):
			return Instance{}, fmt.Errorf("%s is not an absolute path", key.Variable)
		}
		return chosen(lookup, setting.Text, setting.Source.String())
	}
	return only(lookup)
}

// chosen gives the instance that a text names. From is what named it.
func chosen(lookup xdg.Lookup, text, from string) (Instance, error) {
	var folder string
	switch {
	case strings.Contains(text, "\x00"):
		return Instance{}, fmt.Errorf("%s: a path holds no NUL", from)
	case strings.Contains(text, "/"):
		absolute, err := filepath.Abs(text)
		if err != nil {
			return Instance{}, fmt.Errorf("%s: %w", from, err)
		}
		folder = absolute
	case config.IsInstanceName(text):
		root, err := folderOfAll(lookup)
		if err != nil {
			return Instance{}, err
		}
		folder = filepath.Join(root, text)
	default:
		return Instance{}, fmt.Errorf("%s: %q is neither the name of an instance nor a path with a slash", from, text)
	}
	resolved, err := filepath.EvalSymlinks(folder)
	if err == nil {
		_, err = os.Lstat(filepath.Join(resolved, database))
	}
	switch {
	case err == nil:
		return Instance{resolved}, nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return Instance{}, fmt.Errorf("%s: %w", from, err)
	case strings.Contains(text, "/"):
		return Instance{}, fmt.Errorf("%s: there is no instance in %s: no %s is there", from, folder, database)
	}
	names, err := List(lookup)
	if err != nil {
		return Instance{}, err
	}
	return Instance{}, fmt.Errorf("%s: there is no instance %s%s; loom init --name %s makes it", from, text, among(names), text)
}

// among says which instances there are.
func among(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return ", only " + names[0]
	}
	return "; there are " + listed(names)
}

func listed(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}

// only gives the instance of which there is no other, or the default one.
func only(lookup xdg.Lookup) (Instance, error) {
	names, err := List(lookup)
	if err != nil {
		return Instance{}, err
	}
	name := DefaultName
	switch {
	case len(names) == 0:
		return Instance{}, errors.New("there is no instance yet, so no data to work with; loom init makes one")
	case len(names) == 1:
		name = names[0]
	case !slices.Contains(names, DefaultName):
		return Instance{}, fmt.Errorf("there are several instances: %s; say which with --instance NAME, or set instance in config.toml", listed(names))
	}
	return chosen(lookup, name, "the instance")
}

// List gives the names of the instances there are, sorted. Links to folders that hold one are among them.
func List(lookup xdg.Lookup) ([]string, error) {
	root, err := folderOfAll(lookup)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the instances: %w", err)
	}
	var names []string
	for _, e := range entries[:min(len(entries), maxListed)] {
		if !config.IsInstanceName(e.Name()) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, e.Name(), database)); err == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func folderOfAll(lookup xdg.Lookup) (string, error) {
	data, err := xdg.Data(lookup)
	if err != nil {
		return "", fmt.Errorf("find the instances: %w", err)
	}
	return filepath.Join(data, instances), nil
}

// Open opens the store of the instance. A folder, a store or a folder of pages that others may look into, or that belongs to
// somebody else, is refused, and so is a store or a folder of pages that is a symbolic link. Other errors are those of [sqlite.Open].
func (i Instance) Open(ctx context.Context) (store.Store, error) {
	if err := atomicfile.CheckPrivate(i.Folder); err != nil {
		return nil, fmt.Errorf("the instance %w", err)
	}
	// Pages that are not there are told by the sync of the File Cabinet, as of any other source.
	if err := atomicfile.CheckPrivate(i.Pages()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the instance's pages: %w", err)
	}
	db, err := sqlite.Open(ctx, i.Database(), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	return db, nil
}
