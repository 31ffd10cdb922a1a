package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotFound means that no absolute entry of the path list has the program.
var ErrNotFound = errors.New("not found in the absolute entries of PATH")

// Find gives the absolute path of the program with a bare name in a list like that of PATH. Relative
// and empty entries are passed over, so that a program in the current folder is never started by
// chance (governed-runs 1.9). Errors name the program and wrap ErrNotFound.
func Find(name, pathList string) (string, error) {
	if name != "" && !strings.ContainsRune(name, filepath.Separator) {
		for _, folder := range filepath.SplitList(pathList) {
			if !filepath.IsAbs(folder) {
				continue
			}
			file := filepath.Join(folder, name)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&executable != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("program %q: %w", name, ErrNotFound)
}

// CheckExecutable refuses a path that is not one of a program: it must be a regular file, also behind symbolic links,
// that somebody may execute. Errors name the path.
func CheckExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("program %q: %w", path, errors.Unwrap(err))
	case !info.Mode().IsRegular() || info.Mode()&executable == 0:
		return fmt.Errorf("program %q is not a file that may be executed", path)
	}
	return nil
}

// executable is the permission of anybody to execute.
const executable fs.FileMode = 0o111
