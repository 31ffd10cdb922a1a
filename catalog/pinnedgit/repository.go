package pinnedgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// repository is a bare repository in a private folder that belongs to one fetch. It has no working
// tree, no references, no hooks and no attributes.
type repository struct {
	git    git
	folder string
}

// The configuration as git made it, and a second name for it that nothing writes to.
const (
	configFile = "config"
	configKept = "config.kept"
)

func (r repository) run(ctx context.Context, verb string, stdin []byte, args ...string) ([]byte, error) {
	return r.git.run(ctx, r.folder, verb, stdin, args...)
}

// create makes the repository: no template, so no hooks; pins are SHA-1 whatever git's default is.
func (r repository) create(ctx context.Context) error {
	if _, err := r.run(ctx, "init", nil, "--quiet", "--bare", "--template=", "--object-format=sha1"); err != nil {
		return err
	}
	if err := os.Link(filepath.Join(r.folder, configFile), filepath.Join(r.folder, configKept)); err != nil {
		return fmt.Errorf("set up the private folder of the Git source: %w", err)
	}
	return nil
}

// bring fetches the object with an id.
//
// After a filtered fetch git would contact the server by itself for what is missing whenever a later
// command meets it. The configuration that says so is put back: the server is contacted here only.
func (r repository) bring(ctx context.Context, address, id, filter string) error {
	_, err := r.run(ctx, "fetch", nil, "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", filter, "--", address, id)
	if err != nil {
		return err
	}
	file := filepath.Join(r.folder, configFile)
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("set up the private folder of the Git source: %w", err)
	}
	if err := os.Link(filepath.Join(r.folder, configKept), file); err != nil {
		return fmt.Errorf("set up the private folder of the Git source: %w", err)
	}
	return nil
}

// verify: what was fetched is the pin and a commit. A branch may be named like the pin, and a tag, a
// folder or a file has an id of the same form.
func (r repository) verify(ctx context.Context, pin string) error {
	fetched, err := r.run(ctx, "rev-parse", nil, "--verify", "FETCH_HEAD")
	if err != nil {
		return err
	}
	if string(fetched) != pin+"\n" {
		return errors.New("the server gave another object than the pinned commit")
	}
	o, err := r.inspect(ctx, pin)
	if err != nil {
		return err
	}
	if !o.present || o.kind != "commit" {
		return errors.New("the pin is the id of something that is no commit; pin a commit")
	}
	return nil
}

// object is what is known of an object without its content.
type object struct {
	present bool
	kind    string // "blob", "commit", "tag" or "tree"
	size    int64  // bytes
}

// inspect looks an object up by its id.
func (r repository) inspect(ctx context.Context, id string) (object, error) {
	const verb = "cat-file"
	answer, err := r.run(ctx, verb, []byte(id+"\n"), "--batch-check")
	if err != nil {
		return object{}, err
	}
	words := strings.Fields(string(answer))
	switch {
	case len(words) == 2 && words[0] == id && words[1] == "missing":
		return object{}, nil
	case len(words) == 3 && words[0] == id:
		if size, err := strconv.ParseInt(words[2], 10, 64); err == nil {
			return object{true, words[1], size}, nil
		}
	}
	return object{}, &operationError{verb, "unexpected output", nil}
}

// find gives the id of the regular file at path.
func (r repository) find(ctx context.Context, pin, path string) (string, error) {
	const verb = "ls-tree"
	listing, err := r.run(ctx, verb, nil, "-z", "--full-tree", pin, "--", path)
	if err != nil {
		return "", err
	}
	if len(listing) == 0 {
		return "", errors.New("the pinned commit has no file at the path")
	}
	entry, ok := bytes.CutSuffix(listing, []byte{0})
	about, name, tabbed := strings.Cut(string(entry), "\t")
	words := strings.Split(about, " ")
	if !ok || !tabbed || len(words) != 3 || name != path || strings.ContainsRune(name, 0) || !isPin(words[2]) {
		return "", &operationError{verb, "unexpected output", nil}
	}
	switch mode, kind := words[0], words[1]; {
	case kind == "blob" && (mode == "100644" || mode == "100755"):
		return words[2], nil
	case mode == "120000":
		return "", errors.New("the path names a symbolic link in the pinned commit; name the file itself")
	case mode == "160000":
		return "", errors.New("the path names a submodule in the pinned commit; pin a commit of that repository")
	case mode == "040000":
		return "", errors.New("the path names a folder in the pinned commit; name a file in it")
	}
	return "", errors.New("the path names something other than a regular file in the pinned commit")
}
