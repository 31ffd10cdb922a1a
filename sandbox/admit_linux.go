package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// admit waits until the sandbox stands and the program is about to begin, limits it, and lets it go if
// all is as asked.
func (b *box) admit(backend int) error {
	_ = b.infoTheirs.Close() // so that bubblewrap's end is the end of what it says
	_ = b.gateTheirs.Close()
	latest := time.Now().Add(setupLimit)
	pid, err := b.firstProcess(latest)
	if err != nil {
		return err
	}
	if b.child, err = openChild(pid, backend); err != nil {
		return fmt.Errorf("%w: its first process: %w", errNoSetup, err)
	}
	if err := b.limits.take(pid); err != nil {
		if _, alive := living(pid); !alive {
			return fmt.Errorf("%w: its first process ended", errNoSetup)
		}
		return err
	}
	if err := b.awaitGate(pid, latest); err != nil {
		return err
	}
	asked := b.layout.asked()
	asked.Namespaces = namespaceKinds
	if b.spec.Network {
		asked.Namespaces = slices.DeleteFunc(slices.Clone(namespaceKinds), func(kind string) bool { return kind == "net" })
	}
	if asked.Limits, err = b.limits.asked(); err != nil {
		return err
	}
	limits, err := b.limits.apply(pid)
	if err != nil {
		return err
	}
	applied, err := observed(pid)
	if err != nil {
		return err
	}
	applied.Limits = limits
	if err := same(pid, b.layout.given()); err != nil {
		return err
	}
	if err := applied.difference(asked); err != nil {
		return err
	}
	if err := b.visible(pid); err != nil {
		return err
	}
	b.applied = applied
	if !b.letGo {
		return errNotStarted
	}
	if _, err := b.gate.Write([]byte{1}); err != nil {
		return fmt.Errorf("let the program go: %w", err)
	}
	return nil
}

// firstProcess reads the id of the sandbox's first process.
func (b *box) firstProcess(latest time.Time) (int, error) {
	_ = b.info.SetReadDeadline(latest)
	text, err := io.ReadAll(io.LimitReader(b.info, int64(procLimit)))
	if err != nil || len(text) == 0 {
		return 0, fmt.Errorf("%w: it says nothing of itself (%w)", errNoSetup, cmp.Or(err, io.EOF))
	}
	said, err := strictjson.Parse(text, infoDepth)
	if err != nil {
		return 0, fmt.Errorf("%w: what it says of itself: %w", errNoSetup, err)
	}
	id, _ := said.Get("child-pid")
	pid, err := strconv.Atoi(id.Text)
	if id.Kind != document.Number || err != nil {
		return 0, fmt.Errorf("%w: it says no child-pid", errNoSetup)
	}
	return pid, nil
}

// awaitGate returns when the sandbox's first process has given up its rights, which is the last thing
// that it does before it waits to be let go. Nothing tells of that moment, so it is looked for.
func (b *box) awaitGate(pid int, latest time.Time) error {
	for time.Now().Before(latest) {
		status, alive := living(pid)
		if !alive {
			return fmt.Errorf("%w: its first process ended", errNoSetup)
		}
		if capabilities, newPrivileges := rights(status); !capabilities && !newPrivileges {
			return nil
		}
		time.Sleep(setupPause)
	}
	return fmt.Errorf("the sandbox was not set up within %v", setupLimit)
}

// living gives the status of proc(5) of a process, unless it has ended.
func living(pid int) (status string, alive bool) {
	text, err := boundedfile.Read(proc(pid, "status"), procLimit)
	return string(text), err == nil && !strings.Contains(string(text), "\nState:\tZ")
}

// visible refuses a program that is not to be seen in its sandbox.
func (b *box) visible(pid int) error {
	fd, err := openIn(pid, b.spec.Command.Path)
	if err != nil {
		return refuse(ScopeInvalid, "the program %s is not in its sandbox (%v); keep it in the work folder or with the system's programs", b.spec.Command.Path, err)
	}
	return syscall.Close(fd)
}
