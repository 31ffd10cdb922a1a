// Package sqlitefile is what the SQLite databases of this program share: private files, made whole or not at all, and never taken for
// what they are not.
package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/loomrun/loom/internal/atomicfile"
)

// ErrDamaged is the error of files that are not a whole database.
var ErrDamaged = errors.New("the file is damaged")

// pageBytes is the size of SQLite's pages where nothing else is asked for.
const pageBytes = 4096

// Check looks at the files of a database without opening them: closing one would give up the locks that other
// connections of this process have on it. It says whether there is a database; an error wraps [ErrDamaged] where there was one and is no more.
func Check(path string) (there bool, err error) {
	sizes := map[string]int64{}
	// The file last: another program may be making the database, and its log comes after it.
	for _, file := range []string{path + "-wal", path + "-shm", path} {
		info, err := os.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, syscall.ENOTDIR):
			return false, fmt.Errorf("cannot be used: %s is no folder", filepath.Dir(path))
		}
		if err == nil {
			err = fit(info)
		}
		if err != nil {
			return false, fmt.Errorf("cannot be used: %s %w", file, err)
		}
		sizes[file] = info.Size()
	}
	size, there := sizes[path]
	log, logged := sizes[path+"-wal"]
	switch {
	case !there && logged:
		// SQLite would take the old changes for changes of a new database.
		return false, fmt.Errorf("is gone, but %s-wal is there and holds its last changes: %w: put the file back, or move both away", path, ErrDamaged)
	case there && size == 0:
		return false, fmt.Errorf("is empty: %w", ErrDamaged)
	case there && size%pageBytes != 0 && log == 0:
		// With a log it may have been cut while the log was brought in, and becomes whole from it.
		return false, fmt.Errorf("is cut off: %w", ErrDamaged)
	}
	return there, nil
}

// fit tells whether a file is a private one of this process's user.
func fit(info fs.FileInfo) error {
	owner, ok := info.Sys().(*syscall.Stat_t)
	const others = 0o077
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("is a symbolic link: name the file itself")
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case !ok || int(owner.Uid) != os.Geteuid():
		return errors.New("belongs to somebody else: only its owner may use it")
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("may be used by others (mode %04o): take that away with chmod 600", info.Mode().Perm())
	}
	return nil
}

// Create makes a database that fill makes tables in. It gets its name when it is whole, so that a program that is killed leaves none
// rather than an empty one. Another program that made it meanwhile was first, and that is no error.
func Create(ctx context.Context, path string, fill func(temporary string) error) error {
	folder := filepath.Dir(path)
	if err := atomicfile.MakeFolder(folder); err != nil {
		return err
	}
	lock, err := atomicfile.LockFolderContext(ctx, folder)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if there, err := Check(path); there || err != nil {
		return err
	}
	return atomicfile.Build(path, fill)
}
