package pinnedgit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/loomrun/loom/internal/process"
)

// FetchTimeLimit is how long a fetch may take from the first git process to the last.
const FetchTimeLimit = 2 * time.Minute

// MaxBlob is the largest file taken, in bytes: what a protocol may have (governed-runs 2.3).
const MaxBlob = 1 << 20

// Fetch gives the bytes of the file at path in the pinned commit (governed-runs 2.7).
//
// The git executable fetches that commit, without history and where the server can do it without the
// other files, into a private folder that is removed again whatever happens. The commit is verified
// to be the pin, the path to name a regular file of at most MaxBlob bytes; the size is looked at
// before the content. Nothing is checked out: no hook, filter, attribute or submodule of the
// repository has a part in it, no credential helper is asked and no redirect followed.
//
// The process needs PATH, and HOME and SSH_AUTH_SOCK where ssh needs them; the folder is made where
// os.TempDir says. When ctx is done or FetchTimeLimit has passed, git and all it started are killed,
// and the error wraps context.Canceled or context.DeadlineExceeded. No error repeats what git, the
// server or the repository wrote.
func Fetch(ctx context.Context, l Locator, path string) ([]byte, error) {
	return fetch(ctx, l, path, settings{})
}

// errWithheld means that the server left the file out, as it was asked to, and then would not give it
// by its id.
var errWithheld = errors.New("the server does not give the file")

func fetch(ctx context.Context, l Locator, path string, s settings) ([]byte, error) {
	// A Locator that ParseLocator did not make could hold anything.
	if parsed, err := ParseLocator(l.String()); err != nil || parsed != l {
		return nil, errors.New("git source locator: not one that was read as git+URL#COMMIT")
	}
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	executable, err := process.Find("git", os.Getenv("PATH"))
	if err != nil {
		return nil, fmt.Errorf("a Git source needs git to be installed: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, FetchTimeLimit)
	defer cancel()
	run := git{executable, s}
	content, err := run.attempt(ctx, l, path, withoutBlobs)
	if errors.Is(err, errWithheld) {
		// A server of the older protocol may know filters and yet give objects only by way of a commit.
		content, err = run.attempt(ctx, l, path, withBlobs)
	}
	return content, err
}

// Which files a fetch brings along with the commit and its folders. A server that knows no filters
// ignores the wish and sends them all.
const (
	withoutBlobs = "--filter=blob:none"
	withBlobs    = "--no-filter"
)

// attempt fetches into a folder of its own and reads the file from there.
func (g git) attempt(ctx context.Context, l Locator, path, filter string) (content []byte, err error) {
	folder, err := os.MkdirTemp("", "loom-git-")
	if err != nil {
		return nil, fmt.Errorf("make a private folder for the Git source: %w", err)
	}
	defer func() {
		if removal := os.RemoveAll(folder); removal != nil && err == nil {
			content, err = nil, fmt.Errorf("remove the private folder of the Git source: %w", removal)
		}
	}()
	r := repository{g, folder}
	if err := r.create(ctx); err != nil {
		return nil, err
	}
	if err := r.bring(ctx, l.URL, l.Pin, filter); err != nil {
		return nil, err
	}
	if err := r.verify(ctx, l.Pin); err != nil {
		return nil, err
	}
	blob, err := r.find(ctx, l.Pin, path)
	if err != nil {
		return nil, err
	}
	o, err := r.inspect(ctx, blob)
	if err == nil && !o.present && filter == withoutBlobs {
		if err := r.bring(ctx, l.URL, blob, filter); err != nil {
			if ctx.Err() == nil {
				err = errWithheld
			}
			return nil, err
		}
		o, err = r.inspect(ctx, blob)
	}
	switch {
	case err != nil:
		return nil, err
	case !o.present:
		return nil, errWithheld
	case o.kind != "blob":
		return nil, errors.New("the path names no file in the pinned commit")
	case o.size > MaxBlob:
		return nil, fmt.Errorf("the file is %d bytes long, and at most %d are taken", o.size, MaxBlob)
	}
	content, err = r.run(ctx, "cat-file", nil, "blob", blob)
	if err == nil && int64(len(content)) != o.size {
		err = errors.New("git gave another length of the file than before: " + strconv.Itoa(len(content)))
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}
