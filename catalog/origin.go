package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/loomrun/loom/catalog/pinnedgit"
	"github.com/loomrun/loom/internal/boundedfile"
)

// Origin is where Install gets the bytes of a definition: [FromFile] or [FromGit].
type Origin struct {
	git           bool
	file          string
	locator, path string
}

// FromFile gives the origin of a file on this machine: a regular file of at most 1 MiB at a path that
// does not end in a symbolic link. Its canonical absolute path is recorded.
func FromFile(path string) Origin { return Origin{file: path} }

// FromGit gives the origin of one file of a pinned Git commit, git+URL#COMMIT (governed-runs 2.7). Both
// texts are checked when it is read, before a process is started.
func FromGit(locator, path string) Origin { return Origin{git: true, locator: locator, path: path} }

// String gives what messages call the origin: the file, or the path in the repository.
func (o Origin) String() string { return o.file + o.path }

// read gives the bytes of a definition and where they come from.
func (o Origin) read(ctx context.Context) ([]byte, Source, error) {
	if o.git {
		return o.readGit(ctx)
	}
	path, err := canonicalPath(o.file)
	if err != nil {
		return nil, Source{}, err
	}
	data, err := boundedfile.ReadDirect(path, MaxDefinitionBytes)
	return data, Source{Kind: Local, Location: path}, err
}

func (o Origin) readGit(ctx context.Context) ([]byte, Source, error) {
	locator, err := pinnedgit.ParseLocator(o.locator)
	if err != nil {
		return nil, Source{}, err
	}
	if err := pinnedgit.CheckPath(o.path); err != nil {
		return nil, Source{}, err
	}
	data, err := pinnedgit.Fetch(ctx, locator, o.path)
	return data, Source{Git, locator.String(), locator.Pin, o.path}, err
}

// glance gives the bytes of a local definition, if it can be read, for a message about its name.
// Nothing is fetched for one.
func (o Origin) glance() []byte {
	if o.git {
		return nil
	}
	data, _, err := o.read(context.Background())
	if err != nil {
		return nil
	}
	return data
}

// canonicalPath gives the absolute path of a file without symbolic links on the way to it. What the
// path itself names is left to the reader.
func canonicalPath(path string) (string, error) {
	if !filepath.IsAbs(path) {
		folder, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = folder + string(filepath.Separator) + path // not joined: "link/.." leads elsewhere than its text says
	}
	folder, name := filepath.Split(path)
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, name)
	if !utf8.ValidString(path) {
		return "", fmt.Errorf("the path %q is not UTF-8, so it cannot be recorded", path)
	}
	return path, nil
}
