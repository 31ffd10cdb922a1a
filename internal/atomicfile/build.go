package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Build is [Writer.Build] of the zero Writer.
func Build(path string, build func(temporary string) error) error {
	return Writer{}.Build(path, build)
}

// Build makes a new file of mode 0600 at path that something else writes, such as a database: build gets the
// path of an empty file in a temporary folder, where it may leave other files too, which are removed. The file
// takes its name when build is done with it and it is on the disk. The folder of path must exist. Where path
// exists the error wraps [fs.ErrExist]; callers that race for it need a lock of their own ([LockFolder]).
//
// The steps are create folder, create, fill (by build), sync, rename and sync folder.
func (w Writer) Build(path string, build func(temporary string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("make %s: %w", path, fs.ErrExist)
	}
	folder, place, temporary := filepath.Dir(path), "", ""
	err := w.take(CreateFolder, func() (err error) {
		if place, err = os.MkdirTemp(folder, w.prefix()+"*"); err == nil {
			err = os.Chmod(place, 0o700) // a umask may take it from its owner
		}
		return err
	})
	if place != "" {
		defer os.RemoveAll(place) // what is left behind is ignored
		temporary = filepath.Join(place, filepath.Base(path))
	}
	if err == nil {
		err = w.take(Create, func() error { return createPrivate(temporary) })
	}
	if err == nil {
		err = w.take(Fill, func() error { return build(temporary) })
	}
	if err == nil {
		err = w.take(Sync, func() error { return syncFile(temporary) })
	}
	if err == nil {
		err = w.take(Rename, func() error { return os.Rename(temporary, path) })
	}
	if err == nil {
		err = w.take(SyncFolder, func() error { return syncFolder(folder) })
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", path, reason(err))
	}
	return nil
}

// createPrivate makes an empty file of mode 0600, whatever the umask.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
