// Package process runs a child program within bounds: a group of its own, a given environment and
// nothing of ours, no descriptors but the three standard ones, a limit on what is kept of its output,
// and an end to the whole group when the time is up.
//
// It decides nothing about what the program may do; that is confinement, and stands elsewhere.
package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// straggleLimit is how long after the program's end its output is awaited from a process that left the
// group and still holds the pipe. Everything in the group is dead by then.
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
	// MaxStdout is how many bytes from the beginning of standard output are kept. The rest is read
	// and dropped, so the program does not block.
	MaxStdout int
	// MaxStderr is how many bytes from the end of standard error are kept.
	MaxStderr int
}

// Result is how a program ended and what it wrote.
type Result struct {
	// Stdout is the beginning of standard output.
	Stdout []byte
	// StdoutExceeded says that there was more than MaxStdout.
	StdoutExceeded bool
	// Stderr is the end of standard error.
	Stderr []byte
	// ExitCode is the exit status; -1 when a signal ended the program.
	ExitCode int
	// Status says the same in words: "exit status 128", "signal: killed".
	Status string
}

// Run starts the program in a process group of its own and waits for it. When the program has ended,
// or ctx is done, the whole group is killed, so that nothing it started in the group outlives the
// call.
//
// An error means that the program was not started, or that ctx ended it (the error then wraps the
// cause of ctx). Otherwise the program ran to an end of its own, good or bad; the Result says which.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("not started: %w", err)
	}
	if err := keepDescriptors(); err != nil {
		return Result{}, err
	}
	stdout := &head{limit: c.MaxStdout}
	stderr := &tail{limit: c.MaxStderr}
	var group group
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append([]string{}, c.Env...) // never nil, which would mean our own environment
	cmd.Stdin = newFeed(c.Stdin)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return group.kill(cmd.Process.Pid) }
	cmd.WaitDelay = straggleLimit
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("start program: %w", err)
	}
	group.awaitEnd(cmd.Process.Pid)
	// The state says how the program ended. What Wait adds is about the pipes: input that was not
	// read, or a straggler outside the group that was cut off.
	_ = cmd.Wait()
	if err := context.Cause(ctx); err != nil && signalled(cmd.ProcessState) {
		return Result{}, fmt.Errorf("killed: %w", err)
	}
	return Result{
		Stdout: stdout.kept, StdoutExceeded: stdout.exceeded, Stderr: stderr.kept,
		ExitCode: cmd.ProcessState.ExitCode(), Status: cmd.ProcessState.String(),
	}, nil
}

// signalled reports an end by SIGKILL, the only signal sent here: a program that was already done when
// ctx ended keeps its own result.
func signalled(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
