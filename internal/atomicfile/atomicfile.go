// Package atomicfile writes durable files: after a crash at any moment a file holds what it held
// before or all of what was written, and what was reported as written stays written.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Step is one thing a write asks of the file system, in the order in which they come.
type Step string

// The steps of [Writer.Write]; [Writer.WriteFolder] has them all between its own first and last two. [Writer.Build]
// begins with a folder too.
const (
	CreateFolder Step = "create folder" // a temporary folder beside the folder, mode 0700

	Create     Step = "create"      // a temporary file in the folder of the file, mode 0600
	Fill       Step = "fill"        // it gets the bytes
	Sync       Step = "sync"        // it reaches the disk
	Rename     Step = "rename"      // it takes the file's name
	SyncFolder Step = "sync folder" // the name reaches the disk

	RenameFolder Step = "rename folder" // the temporary folder takes the folder's name
	SyncParent   Step = "sync parent"   // that name reaches the disk
)

// Seam is called before and after each step, so that a test can end the process, or let the step
// fail, at every one of them. An error it returns is the step's error. A step that failed has no
// after.
type Seam func(step Step, after bool) error

// Writer writes files. The zero Writer serves; several goroutines may use it.
type Writer struct {
	// Prefix begins the names of temporary files and folders, which a crash may leave behind. Empty: ".loom-".
	Prefix string
	// Passing is for files that mean nothing after a crash: they appear whole or not at all, and Write waits for no disk. Folders are made as ever.
	Passing bool
	// Seam is for tests.
	Seam Seam
}

func (w Writer) prefix() string {
	if w.Prefix == "" {
		return ".loom-"
	}
	return w.Prefix
}

// Write is [Writer.Write] of the zero Writer.
func Write(path string, data []byte) error { return Writer{}.Write(path, data) }

// Write makes data the whole content of the file at path, which need not exist. The file is a new one
// of mode 0600 that belongs to this process's user; a symbolic link at path is replaced, not followed.
// The folder must exist.
//
// On an error the file holds what it held before, with one exception that the error tells: where only
// the last step failed, the new content is there and a power failure may still undo it.
func (w Writer) Write(path string, data []byte) error {
	folder := filepath.Dir(path)
	var f *os.File
	err := w.take(Create, func() (err error) {
		f, err = os.CreateTemp(folder, w.prefix()+"*")
		return err
	})
	if f != nil {
		defer f.Close() // an error of closing is told by the sync before it
	}
	if err == nil {
		err = w.take(Fill, func() error {
			_, err := f.Write(data)
			return err
		})
	}
	if err == nil && !w.Passing {
		err = w.take(Sync, f.Sync)
	}
	renamed := false
	if err == nil {
		err = w.take(Rename, func() error {
			err := os.Rename(f.Name(), path)
			renamed = err == nil
			return err
		})
	}
	switch {
	case err != nil && !renamed:
		if f != nil {
			_ = os.Remove(f.Name()) // what is left behind is ignored
		}
		return fmt.Errorf("write %s: %w", path, reason(err))
	case err == nil && !w.Passing:
		err = w.take(SyncFolder, func() error { return syncFolder(folder) })
	}
	if err != nil {
		return fmt.Errorf("%s is written, but may be lost in a power failure: %w", path, reason(err))
	}
	return nil
}

// WriteFolder makes a folder of mode 0700 at path with one file in it. The folder is there with its
// file or not at all. The parent must exist. Where path exists the error wraps [fs.ErrExist], and
// nothing is changed.
func (w Writer) WriteFolder(path, name string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("make %s: %w", path, fs.ErrExist)
	}
	parent, temporary := filepath.Dir(path), ""
	err := w.take(CreateFolder, func() (err error) {
		temporary, err = os.MkdirTemp(parent, w.prefix()+"*")
		return err
	})
	if err == nil {
		err = w.Write(filepath.Join(temporary, name), data)
	}
	if err == nil {
		// A folder that came into being meanwhile keeps its place: only an empty one gives way.
		err = w.take(RenameFolder, func() error { return os.Rename(temporary, path) })
	}
	if err == nil {
		err = w.take(SyncParent, func() error { return syncFolder(parent) })
	}
	if err == nil {
		return nil
	}
	if temporary != "" {
		_ = os.RemoveAll(temporary) // gone already where it was renamed
	}
	err = reason(err)
	if errors.Is(err, syscall.ENOTEMPTY) {
		err = fs.ErrExist
	}
	return fmt.Errorf("make %s: %w", path, err)
}

// take takes one step between the two calls of the seam.
func (w Writer) take(step Step, do func() error) error {
	if w.Seam == nil {
		return do()
	}
	err := w.Seam(step, false)
	if err == nil {
		err = do()
	}
	if err == nil {
		err = w.Seam(step, true)
	}
	return err
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// Some file systems have no sync of folders and say so; their renames are as durable as they get.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// reason takes the path off an error of the system: messages name the file, not its temporary name.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
