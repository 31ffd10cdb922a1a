package codex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
)

// lockFolder takes the one lock under which a login of this folder is renewed, and waits while another
// process has it. The lock leaves nothing behind in a folder that belongs to another program.
func lockFolder(ctx context.Context, folder string) (unlock func(), err error) {
	// Many people keep their settings elsewhere and link to them; a lock takes the folder itself.
	folder, err = filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of the file: %w", err)
	}
	lock, err := atomicfile.LockFolderContext(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of the file: %w", err)
	}
	return lock.Unlock, nil
}

// rewritable says why a login's file cannot be replaced, or nothing. A link would be cut by it: the
// other names of the file would keep the old tokens, which are spent.
func rewritable(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s %w", path, boundedfile.ErrSymbolicLink)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s %w", path, boundedfile.ErrNotRegular)
	case !ok || stat.Nlink > 1:
		return fmt.Errorf("%s %w", path, errHardLinks)
	}
	const write = 2 // W_OK of access(2)
	if err := syscall.Access(filepath.Dir(path), write); err != nil {
		return fmt.Errorf("the folder of %s cannot be written: %w", path, err)
	}
	return nil
}

var errHardLinks = errors.New("has several hard links")
