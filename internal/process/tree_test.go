//go:build linux

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// partArg makes this test binary the program that a test starts, instead of the tests.
const partArg = "part-of-a-process-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == partArg {
		part(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

// part plays one program: who starts whom, in which session, and who ends at once.
func part(name string, rest []string) {
	next := exec.Command(os.Args[0], append([]string{partArg}, rest...)...)
	switch name {
	case "session": // starts the next part in a session of its own, with our output, and ends
		next.Stdout = os.Stdout
		fallthrough
	case "daemon": // the same, with nothing of ours
		next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_, _ = next.StdinPipe() // ends when we end
		if err := next.Start(); err != nil {
			os.Exit(1)
		}
	case "first": // runs the next part and lives on
		next.Stdout = os.Stdout
		if err := next.Run(); err != nil {
			os.Exit(1)
		}
		forever()
	case "parent": // stays the parent of the next part, which is in a session of its own
		next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = next.Run()
	case "hold": // holds the FIFO open, and says so when a parent that ends has ended
		_, _ = io.Copy(io.Discard, os.Stdin)
		fifo, err := os.OpenFile(rest[0], os.O_WRONLY, 0)
		if err != nil {
			os.Exit(1)
		}
		fmt.Fprintln(fifo, "started")
		forever()
	}
}

// forever waits for a signal that ends the process.
func forever() {
	for {
		_ = syscall.Pause()
	}
}

// adopt makes the test's process a parent of orphans until the test ends.
func adopt(t *testing.T) {
	t.Helper()
	if err := AdoptOrphans(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		family.mu.Lock()
		defer family.mu.Unlock()
		family.adopting = false
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 0, 0); errno != 0 {
			t.Error(errno)
		}
	})
}

// TestHiddenGrandchildrenEndAtTheLimit is case 151 of the specification, with every way to hide: a
// session of its own, a parent that ended, no stream of ours.
func TestHiddenGrandchildrenEndAtTheLimit(t *testing.T) {
	for _, tc := range []struct {
		name string
		way  []string
	}{
		{"a session of its own that holds the pipe", []string{"session"}},
		{"a session of its own without our streams", []string{"daemon"}},
		{"a double fork that holds the pipe", []string{"session", "session"}},
		{"a double fork without our streams", []string{"daemon", "daemon"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			adopt(t)
			w := newWitness(t)
			why := errors.New("the time is up")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				w.started(t)
				cancel(why)
			}()
			args := append([]string{partArg, "first"}, tc.way...)
			c := Command{Path: os.Args[0], Args: append(args, "hold", w.name), MaxStdout: 100, MaxStderr: 100}
			if got, err := Run(ctx, c); !errors.Is(err, why) {
				t.Errorf("%+v (%v)", got, err)
			}
			w.alone(t)
			if anyChild() {
				t.Error("a child is left unreaped")
			}
		})
	}
}

func TestHiddenGrandchildrenEndWithTheProgram(t *testing.T) {
	adopt(t)
	w := newWitness(t)
	got, err := Run(t.Context(), script("'"+os.Args[0]+"' "+partArg+" daemon daemon hold '"+w.name+"'; read -r line <'"+w.name+"'; echo $line"))
	if err != nil || got.ExitCode != 0 || string(got.Stdout) != "started\n" {
		t.Errorf("%+v (%v)", got, err)
	}
	w.alone(t)
	if anyChild() {
		t.Error("a child is left unreaped")
	}
}

// TestOrphansOfAnotherProgramLive: which of two programs an orphan came from cannot be told, so that it
// ends with the later one.
func TestOrphansOfAnotherProgramLive(t *testing.T) {
	adopt(t)
	w := newWitness(t)
	c := script("'" + os.Args[0] + "' " + partArg + " daemon daemon hold '" + w.name + "'; read -r go")
	ready, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	defer writer.Close()
	c.Args[1] += " <&3"
	c.Files = []*os.File{ready}
	ended := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), c)
		ended <- err
	}()
	w.started(t)
	if _, err := Run(t.Context(), script("exit 0")); err != nil {
		t.Fatal(err)
	}
	alive := 0
	for pid := range processes() {
		// A process that ended has no arguments any more.
		if args, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil && strings.Contains(string(args), "\x00hold\x00"+w.name) && !strings.Contains(string(args), "daemon") {
			alive++
		}
	}
	if alive != 1 {
		t.Errorf("%d orphans live while their program does, want 1", alive)
	}
	_ = writer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.alone(t)
}

// TestReachableGrandchildrenEndWithoutAdoption is what an embedding program has that did not ask for
// more: a session of its own does not hide, a parent that ended does.
func TestReachableGrandchildrenEndWithoutAdoption(t *testing.T) {
	w := newWitness(t)
	why := errors.New("the time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		w.started(t)
		cancel(why)
	}()
	c := Command{Path: os.Args[0], Args: []string{partArg, "parent", "hold", w.name}}
	if got, err := Run(ctx, c); !errors.Is(err, why) {
		t.Errorf("%+v (%v)", got, err)
	}
	w.alone(t)
}

// TestForksFasterThanTheyEnd: what goes on forking in sessions of its own is ended all the same.
func TestForksFasterThanTheyEnd(t *testing.T) {
	adopt(t)
	w := newWitness(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		w.started(t)
		cancel()
	}()
	text := "exec 9>'" + w.name + "'; set -m; f() { i=0; while [ $i -lt 200 ]; do (sleep 600 &); i=$((i+1)); done; echo started >&9; while :; do (sleep 600 &); done; }; f"
	if _, err := Run(ctx, script(text)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	w.alone(t)
}

// TestMemoryIsFlatUnderAFlood runs 10 GB through a program's output.
func TestMemoryIsFlatUnderAFlood(t *testing.T) {
	const flood, growth = 10_000_000_000, 24 << 10 // bytes; KiB
	before := highWater(t)
	c := script("head -c " + strconv.Itoa(flood) + " /dev/zero")
	got, err := Run(t.Context(), c)
	if err != nil || got.StdoutBytes != flood || len(got.Stdout) != c.MaxStdout || !got.StdoutExceeded {
		t.Errorf("%d bytes, %d kept (%v)", got.StdoutBytes, len(got.Stdout), err)
	}
	if more := highWater(t) - before; more > growth {
		t.Errorf("the memory grew by %d KiB, want at most %d", more, growth)
	}
}

// highWater is the most memory this process ever had, in KiB.
func highWater(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
