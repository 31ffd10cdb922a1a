package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// startTime is how long a broker waits for one that starts or ends at the same time.
const startTime = time.Second

// folder is a queue that is served.
type folder struct {
	path     string
	id       string // of the broker, another one each time
	made     bool   // by this broker, which takes it away again
	lock     *atomicfile.Lock
	presence *os.File // locked
}

// openFolder makes the folder at path, or takes one that is there, as the only broker of it. What an earlier broker or its clients have left is
// gone then.
func openFolder(ctx context.Context, path string) (_ *folder, err error) {
	f := &folder{path: path, id: rand.Text()}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.MakeFolder(path); err != nil {
			return nil, fmt.Errorf("make the queue: %w", err)
		}
		f.made = true
	}
	if err := atomicfile.CheckPrivate(path); err != nil {
		return nil, fmt.Errorf("the queue %w", err)
	}
	if p, err := readPresence(path); err == nil {
		held := p.held()
		p.close()
		if held {
			return nil, f.taken()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if f.lock, err = atomicfile.LockFolderContext(ctx, path); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, f.taken()
		}
		return nil, fmt.Errorf("the queue: %w", err)
	}
	if err = f.sweep(); err == nil {
		err = f.appear()
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *folder) taken() error {
	return fmt.Errorf("another broker serves %s already: stop it, or use another folder", f.path)
}

// names lists the folder, which must still be the one that is locked. That nobody can fill it without end follows from how often it is listed.
func (f *folder) names() ([]string, error) {
	if !f.lock.Holds(f.path) {
		return nil, fmt.Errorf("the queue %s is gone, or another folder stands in its place", f.path)
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("list the queue: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

// ours tells whether a name is one that brokers and their clients give. No other file is touched, in case the folder is one that has its own.
func ours(name string) bool {
	_, isRequest := idOf(name, requestEnd)
	_, isReply := idOf(name, replyEnd)
	return isRequest || isReply || name == presenceName || name == presenceDraft || isDraft(name)
}

// sweep takes away what brokers and their clients have left. Other files stay.
func (f *folder) sweep() error {
	names, err := f.names()
	if err != nil {
		return err
	}
	others := 0
	for _, name := range names {
		if !ours(name) {
			others++
			continue
		}
		_ = os.Remove(f.file(name)) // a folder that is not empty stays, and is never read
	}
	if others > maxFiles {
		return fmt.Errorf("the queue %s holds %d files of something else: use a folder of its own", f.path, others)
	}
	return nil
}

// appear says who serves the folder. The file has its lock before it has its name, so that who sees it without one knows that its broker is gone.
func (f *folder) appear() error {
	text := append(canonjson.AppendCompact(nil, document.MapOf(document.M("broker", document.TextOf(f.id)))), '\n')
	err := atomicfile.Write(f.file(presenceDraft), text)
	if err == nil {
		f.presence, err = boundedfile.Open(f.file(presenceDraft))
	}
	if err == nil {
		err = syscall.Flock(int(f.presence.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		err = os.Rename(f.file(presenceDraft), f.file(presenceName))
	}
	if err != nil {
		return fmt.Errorf("serve the queue %s: %w", f.path, err)
	}
	return nil
}

// close leaves the folder as it was found.
func (f *folder) close() {
	if f.lock.Holds(f.path) {
		_ = f.sweep()
		if f.made {
			_ = os.Remove(f.path) // it stays where somebody put something else into it
		}
	}
	if f.presence != nil {
		_ = f.presence.Close()
	}
	f.lock.Unlock()
}

// presence is a broker as its clients see it.
type presence struct {
	id   string
	file *os.File
}

// readPresence reads which broker serves the queue at path. It must be closed.
func readPresence(path string) (presence, error) {
	name := filepath.Join(path, presenceName)
	data, err := boundedfile.ReadPrivate(name, maxPresence)
	if err != nil {
		return presence{}, err
	}
	v, err := strictjson.Parse(data, requestDepth)
	if err != nil {
		return presence{}, fmt.Errorf("%s: %w", name, err)
	}
	id, _ := v.Get("broker")
	if id.Kind != document.Text || !isID(id.Text) {
		return presence{}, fmt.Errorf("%s names no broker", name)
	}
	f, err := boundedfile.Open(name)
	return presence{id.Text, f}, err
}

// held tells whether the broker lives.
func (p presence) held() bool {
	fd := int(p.file.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
	}
	_ = syscall.Flock(fd, syscall.LOCK_UN)
	return false
}

func (p presence) close() { _ = p.file.Close() }
