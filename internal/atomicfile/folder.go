package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MakeFolder makes a folder of mode 0700 and what is missing above it. Each is on the disk in its
// parent before the next is made. A folder that is there already is left as it is.
func MakeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		if err := MakeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		info, statErr := os.Lstat(path)
		if statErr == nil && info.IsDir() {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Lock is an exclusive advisory lock on a folder. It ends with Unlock, or with the process.
type Lock struct{ folder *os.File }

// LockFolder is [LockFolderContext] for a caller that waits as long as it takes.
func LockFolder(path string) (*Lock, error) { return LockFolderContext(context.Background(), path) }

// LockFolderContext waits, until ctx is done, for the lock on the folder at path, which may not be a symbolic
// link. The lock is on the folder itself: it keeps holding a folder that was moved away meanwhile,
// which [Lock.Holds] tells.
func LockFolderContext(ctx context.Context, path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	given := make(chan error, 1)
	go func() { given <- flock(f) }()
	select {
	case err = <-given:
	case <-ctx.Done():
		go func() { // nothing can call off the system call; what it is given goes back at once
			<-given
			_ = f.Close()
		}()
		return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Holds tells whether the locked folder is the one that path leads to now.
func (l *Lock) Holds(path string) bool {
	mine, err := l.folder.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// Unlock ends the lock.
func (l *Lock) Unlock() { _ = l.folder.Close() }

// CheckPrivate says why a folder is not one that only the user of this process may use: a real folder of theirs, which nobody else may look into.
func CheckPrivate(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	const others = 0o077
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: put the folder itself there", folder)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to somebody else: only its owner may use it", folder)
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("%s may be used by others (mode %04o): take that away with chmod 700", folder, info.Mode().Perm())
	}
	return nil
}
