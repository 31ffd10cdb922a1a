package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loomrun/loom/internal/process"
)

const (
	// setupLimit is how long a sandbox may take until the program can begin.
	setupLimit = 10 * time.Second
	// setupPause is how often a sandbox that is being made is looked at.
	setupPause = 50 * time.Microsecond
	// endLimit is how long a killed sandbox may take to be gone.
	endLimit = 10 * time.Second
	// ownStderr is how much of bubblewrap's messages is kept when the sandbox fails.
	ownStderr = 4096
	// infoDepth is how deep bubblewrap's description of a sandbox may be nested.
	infoDepth = 4
)

// errNotStarted is how a sandbox ends in which nothing was to run.
var errNotStarted = errors.New("checked only")

// errNoSetup means that bubblewrap ended before the sandbox was there; its messages say why.
var errNoSetup = errors.New("the sandbox was not set up")

// Run runs the program confined and waits for it. When it returns, nothing of the sandbox lives.
//
// A *Refusal, or any other error with an empty Applied, means that the program was never started. An
// error with an Applied means that ctx or Limits.Time ended the program, or that something of the
// sandbox could not be cleared away. Otherwise the program ran to an end of its own; a program that a
// signal ended has the exit status 128 and the signal's number, as bubblewrap passes it on.
func Run(ctx context.Context, s Spec) (process.Result, Applied, error) {
	return confine(ctx, s, true)
}

// Check makes the sandbox of Run, compares it with what was asked, and starts nothing in it. It says at
// once whether this machine can confine, and whether the folders may be given.
func Check(ctx context.Context, s Spec) (Applied, error) {
	_, applied, err := confine(ctx, s, false)
	if errors.Is(err, errNotStarted) {
		return applied, nil
	}
	return Applied{}, err
}

// confine makes one sandbox. The program is let go only where letGo says so.
func confine(ctx context.Context, s Spec, letGo bool) (result process.Result, applied Applied, err error) {
	if c := s.Command; c.Files != nil || c.Cgroup != nil || c.Started != nil || !strings.HasPrefix(c.Path, "/") {
		return result, applied, fmt.Errorf("run %q confined: it needs an absolute path, and no files, group or caller of its own", c.Path)
	}
	backend := cmp.Or(s.Bwrap, Backend)
	const execute = 1 // X_OK
	if info, err := os.Stat(backend); err != nil || !info.Mode().IsRegular() || syscall.Access(backend, execute) != nil {
		return result, applied, refuse(BackendMissing, "%s is not there or not executable; install the package bubblewrap", backend)
	}
	l, err := prepare(s)
	if err != nil {
		return result, applied, err
	}
	defer l.close()
	limits, err := newLimiter(s)
	if err != nil {
		return result, applied, err
	}
	defer func() { err = errors.Join(err, limits.close()) }()
	box := &box{spec: s, layout: l, limits: limits, letGo: letGo}
	if err := box.openPipes(); err != nil {
		return result, applied, fmt.Errorf("open the pipes of a sandbox: %w", err)
	}
	defer box.close()
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limits.Time, fmt.Errorf("over the time limit of %v: %w", s.Limits.Time, context.DeadlineExceeded))
	defer cancel()
	result, err = box.run(ctx, backend)
	if box.child >= 0 {
		err = errors.Join(err, box.child.end(endLimit))
		box.child.close()
	}
	if errors.Is(err, errNoSetup) && ctx.Err() == nil {
		return process.Result{}, applied, setupError(string(result.Stderr))
	}
	if surplus := len(result.Stderr) - s.Command.MaxStderr; surplus > 0 {
		result.Stderr = result.Stderr[surplus:]
	}
	return result, box.applied, err
}

// box is one sandbox while it is made and while it runs.
type box struct {
	spec    Spec
	layout  *layout
	limits  *limiter
	letGo   bool
	applied Applied
	child   pidfd // the first process of the sandbox; -1 before it is known

	info, infoTheirs *os.File // what bubblewrap says of the sandbox
	gate, gateTheirs *os.File // one byte lets the program go
}

func (b *box) openPipes() (err error) {
	b.child = -1
	if b.info, b.infoTheirs, err = os.Pipe(); err != nil {
		return err
	}
	b.gateTheirs, b.gate, err = os.Pipe()
	if err != nil {
		b.close()
	}
	return err
}

func (b *box) close() {
	for _, f := range []*os.File{b.info, b.infoTheirs, b.gate, b.gateTheirs} {
		_ = f.Close() // nil says so and does nothing
	}
}

// run starts bubblewrap on a thread of its own, which ends with it. Bubblewrap dies with the thread
// that started it, so the thread must live as long; and a session keyring is a thing of a thread.
func (b *box) run(ctx context.Context, backend string) (result process.Result, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked
		if err = leaveKeyring(); err == nil {
			result, err = process.Run(ctx, b.command(backend))
		}
	}()
	<-done
	return result, err
}

// leaveKeyring gives this thread, and what it starts, an empty session keyring in place of the person's,
// which no namespace hides. A kernel without keyrings has none to hide, and one that denies them to us
// denies them to the program.
func leaveKeyring() error {
	const joinSession = 1 // KEYCTL_JOIN_SESSION_KEYRING
	_, _, errno := syscall.Syscall(syscall.SYS_KEYCTL, joinSession, 0, 0)
	if errno != 0 && errno != syscall.ENOSYS && errno != syscall.EPERM {
		return fmt.Errorf("leave the session keyring: %w", errno)
	}
	return nil
}

// firstFile is the descriptor that a program's first file has.
const firstFile = 3

// command is bubblewrap with the program as its arguments.
func (b *box) command(backend string) process.Command {
	c := b.spec.Command
	args := []string{"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup"}
	if !b.spec.Network {
		args = append(args, "--unshare-net")
	}
	// A user namespace of its own would give the program the kernel's privileged calls to attack.
	args = append(args, "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		args = append(args, "--setenv", name, value)
	}
	// The sandbox's first process holds our end of the gate too (--sync-fd): were it closed by our own
	// death, bubblewrap would take that for leave to go.
	args = append(args, "--info-fd", strconv.Itoa(firstFile), "--block-fd", strconv.Itoa(firstFile+1), "--sync-fd", strconv.Itoa(firstFile+2))
	args = append(args, b.layout.arguments(firstFile+3)...)
	args = append(args, "--chdir", cmp.Or(c.Dir, b.layout.work.at), "--", c.Path)
	c.Args = append(args, c.Args...)
	c.Path, c.Dir, c.Env = backend, "/", nil
	c.MaxStderr = max(c.MaxStderr, ownStderr)
	c.Files = append([]*os.File{b.infoTheirs, b.gateTheirs, b.gate}, b.layout.files()...)
	if b.limits.group != nil {
		c.Cgroup = b.limits.group.folder
	}
	c.Started = b.admit
	return c
}

// setupError tells what bubblewrap's messages mean.
func setupError(said string) error {
	said = strings.TrimSpace(said)
	switch {
	case strings.Contains(said, "Unknown option"):
		return refuse(BackendMissing, "bubblewrap is too old: %s", said)
	case strings.Contains(said, "namespace"), strings.Contains(said, "uid map"), strings.Contains(said, "Operation not permitted"), strings.Contains(said, "loopback"):
		return refuse(NamespacesUnavailable, "this machine lets this user make no namespaces: %s", said)
	}
	return fmt.Errorf("set up the sandbox: %s", cmp.Or(said, "bubblewrap ended without a word"))
}
