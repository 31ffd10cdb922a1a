// Package process runs a child program within bounds: a group of its own, a given environment and
// nothing of ours, no descriptors but the three standard ones and those handed over, a limit on what is
// kept of its output, and an end to everything it started when the time is up.
//
// It decides nothing about what the program may do; that is confinement, and stands elsewhere.
//
// # What is ended, and what cannot be
//
// The process group ends with its leader, always and everywhere. A process that left the group (setsid)
// and whose parent has ended as well (a double fork) is nobody's descendant any more, so only the kernel
// can keep it within reach. Three ways were weighed:
//
//   - cgroup.kill needs a control group that was delegated to this user, which a login without systemd
//     and most containers do not give, and a process of the same user may leave the group again.
//   - A mark that children inherit (a variable of the environment, an odd limit) is either taken away by
//     the next program, or cannot be read of a process that is no longer ours, or cannot be set between
//     fork and exec from Go.
//   - A child subreaper (prctl(2)) gets every process below it whose parent ended, whatever that process
//     did to its session, its environment and its descriptors. It costs one system call a program.
//
// So a program of ours calls [AdoptOrphans] once. It is a switch and not the default because it holds for
// the whole process: what other children leave behind is adopted and ended too, and an embedding program
// may want that to live. Without it the descendants that can still be reached from the leader are ended
// at the time limit, and a double fork that left the group is not.
//
// Neither way reaches a process that another user owns (a set-user-id program), nor one that somebody
// else was asked to start: a service manager, a container engine, at(1).
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// straggleLimit is how long after the program's end its output is awaited from a process that is out of
// reach and still holds the pipe.
const straggleLimit = time.Second

// Command is what to run.
type Command struct {
	// Path is the executable, as Find gives it. It is started directly, never by a shell.
	Path string
	// Args are the arguments after the program's own name.
	Args []string
	// Dir is the folder to run in; empty means the current one.
	Dir string
	// Env is the whole environment as NAME=value; nothing is added. The last of two with one name
	// counts.
	Env []string
	// Stdin is fed to standard input, then its end follows. A program may leave it unread.
	Stdin []byte
	// MaxStdout is how many bytes from the beginning of standard output are kept. The rest is read,
	// counted and dropped, so the program does not block.
	MaxStdout int
	// EndAtMaxStdout ends the program, and all it started, when it has written more than MaxStdout. Run returns no error then; the Result says
	// StdoutExceeded.
	EndAtMaxStdout bool
	// MaxStderr is how many bytes from the end of standard error are kept.
	MaxStderr int
	// Files are further descriptors of the program, from 3 on. They stay open here.
	Files []*os.File
	// Cgroup is an open folder of a control group (v2) that the program is born in; nil means ours.
	// Linux only.
	Cgroup *os.File
	// Started is called with the process's id when it has been started, before it is waited for. An
	// error ends the program and is what Run returns, with what was written until then. Until Started
	// returns, the id is this program's, whether it lives or not. Nil means nothing to do.
	Started func(pid int) error
}

// Result is how a program ended and what it wrote. Output is bytes, as they came.
type Result struct {
	// Stdout is the beginning of standard output.
	Stdout []byte
	// StdoutBytes is how many bytes of standard output came in all.
	StdoutBytes int64
	// StdoutExceeded says that there was more than MaxStdout.
	StdoutExceeded bool
	// Stderr is the end of standard error.
	Stderr []byte
	// StderrBytes is how many bytes of standard error came in all.
	StderrBytes int64
	// ExitCode is the exit status; -1 when a signal ended the program.
	ExitCode int
	// Status says the same in words: "exit status 128", "signal: killed".
	Status string
}

// Run starts the program in a process group of its own and waits for it. When the program has ended,
// or ctx is done, everything it started is killed, as far as the package comment says, so that nothing
// of it outlives the call.
//
// An error means that the program was not started, that Started refused it, or that ctx ended it (the
// error then wraps the cause of ctx). The Result then has what was written so far and no end. Otherwise
// the program ran to an end of its own, good or bad; the Result says which.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("not started: %w", err)
	}
	if err := keepDescriptors(); err != nil {
		return Result{}, err
	}
	streams, err := openStreams(c)
	if err != nil {
		return Result{}, fmt.Errorf("open the pipes of a program: %w", err)
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append([]string{}, c.Env...) // never nil, which would mean our own environment
	streams.give(cmd)
	cmd.ExtraFiles = c.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	bornIn(c.Cgroup, cmd.SysProcAttr)
	born, err := family.start(cmd)
	if err != nil {
		streams.abandon()
		return Result{}, fmt.Errorf("start program: %w", err)
	}
	if c.EndAtMaxStdout {
		streams.stdout.full = born.kill
	}
	streams.carry(c.Stdin)
	stop := context.AfterFunc(ctx, born.kill)
	var refused error
	if c.Started != nil {
		if refused = c.Started(born.leader); refused != nil {
			born.kill()
		}
	}
	state, unended := born.awaitEnd()
	stop()
	streams.await(straggleLimit)
	result := streams.result()
	switch cause := context.Cause(ctx); {
	case cause != nil && (refused != nil || signalled(state)):
		return result, fmt.Errorf("killed: %w", cause)
	case refused != nil:
		return result, refused
	case unended != nil:
		return result, unended
	case state == nil:
		return result, errors.New("the program's end was taken by other code of this process")
	}
	result.ExitCode, result.Status = state.ExitCode(), state.String()
	return result, nil
}

// signalled reports an end by SIGKILL, the only signal sent here: a program that was already done when
// ctx ended keeps its own result.
func signalled(s *os.ProcessState) bool {
	if s == nil {
		return true
	}
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
