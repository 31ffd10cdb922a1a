package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/xdg"
)

// MaxManifest bounds the file of a store, when it is read and when it is written (governed-runs 2.5, 2.6).
const MaxManifest = 64 * boundedfile.MiB

const (
	// manifestName is the one file of a store; all others in its folder are ignored.
	manifestName = "catalog.json"
	// temporaryPrefix begins what an interrupted install leaves behind.
	temporaryPrefix = ".install-"
)

// Store is the folder in which a host keeps the definitions that were installed (2.5). Several
// programs may use one at the same time: a reader sees the whole of one state, and changes come one
// after another.
type Store struct {
	root     string
	manifest string
	limit    boundedfile.Size
	writer   atomicfile.Writer
}

// OpenStore gives the store in the folder root, an absolute path without "..". Nothing is read or made
// yet.
func OpenStore(root string) (*Store, error) {
	if !filepath.IsAbs(root) || xdg.HasParent(root) {
		return nil, fmt.Errorf(`the protocol store %q needs an absolute path without ".."`, root)
	}
	root = filepath.Clean(root)
	return &Store{
		root: root, manifest: filepath.Join(root, manifestName), limit: MaxManifest,
		writer: atomicfile.Writer{Prefix: temporaryPrefix},
	}, nil
}

// Load gives the bundled definitions and the installed ones together. A store that does not exist
// holds none, and is not made. Any record that is not exactly as an install leaves it is an error that
// names it: no record is skipped, and none is replaced by another.
func (s *Store) Load(bundled Catalog) (Catalog, error) {
	installed, err := s.read(bundled)
	if err != nil {
		return Catalog{}, err
	}
	return bundled.with(installed...), nil
}

// read gives the installed definitions in the order of the manifest.
func (s *Store) read(bundled Catalog) ([]*Entry, error) {
	there, err := s.exists()
	if err != nil || !there {
		return nil, err
	}
	data, err := boundedfile.ReadDirect(s.manifest, s.limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the protocol store %s has no %s; restore that file, or remove the folder if it is what an interrupted first install left behind", s.root, manifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("read the protocol store: %w", err)
	}
	installed, err := decodeManifest(data, bundled)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.manifest, err)
	}
	return installed, nil
}

// exists tells whether the folder of the store is there. From the outermost on each component of its
// path must be a folder itself: through a symbolic link another could exchange what is installed, and
// one that leads nowhere would look like a store that was never made.
func (s *Store) exists() (bool, error) {
	for end := 1; end < len(s.root); {
		if next := strings.IndexByte(s.root[end:], filepath.Separator); next > 0 {
			end += next
		} else {
			end = len(s.root)
		}
		part := s.root[:end]
		end++
		info, err := os.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("look for the protocol store: %w", err)
		case info.Mode()&fs.ModeSymlink != 0:
			return false, fmt.Errorf("%s is a symbolic link, and the protocol store %s is not reached through one", part, s.root)
		case !info.IsDir():
			return false, fmt.Errorf("%s is no folder, so the protocol store %s cannot be below it or it", part, s.root)
		}
	}
	return true, nil
}
