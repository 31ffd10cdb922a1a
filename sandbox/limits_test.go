//go:build linux

package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEverythingHoldsForAnotherUser runs the tests of this package as nobody, for whom the kernel limits
// in other ways than for user 0.
func TestEverythingHoldsForAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only user 0 can become another")
	}
	if testing.CoverMode() != "" {
		t.Skip("nobody cannot write a coverage profile here")
	}
	needBackend(t)
	folder, err := os.MkdirTemp("/tmp", "nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	tests := filepath.Join(folder, "tests")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(tests, text, 0o755)
	}
	if err == nil {
		err = os.Chmod(folder, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tests, "-test.run=^Test", "-test.v")
	cmd.Dir = folder
	cmd.Env = []string{"TMPDIR=" + folder, "PATH=/usr/bin:/bin", probeVariable + "=" + probe, "LOOM_TEST_REQUIRE=" + os.Getenv("LOOM_TEST_REQUIRE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestForkBombEnds") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestForkBombEnds is case 177 of the specification, the part of processes.
func TestForkBombEnds(t *testing.T) {
	needBackend(t)
	s := spec(t, "fork", "300")
	s.Limits.Processes = 40
	got, applied, err := Run(t.Context(), s)
	n, _ := strconv.Atoi(strings.TrimSpace(string(got.Stdout)))
	// The probe has threads, and bubblewrap a process.
	if err != nil || n < 5 || n >= 40 {
		t.Errorf("%d processes were started (%v) %s", n, err, got.Stderr)
	}
	by := ByRlimit
	if os.Getuid() == 0 {
		by = ByCgroupV1
	}
	if !slices.Contains(applied.Limits, Limit{"processes", 40, by}) && !slices.Contains(applied.Limits, Limit{"processes", 40, ByCgroup}) {
		t.Errorf("the limits are %+v", applied.Limits)
	}
}

// TestMemoryBombEnds is case 177 of the specification, the part of memory.
func TestMemoryBombEnds(t *testing.T) {
	needBackend(t)
	s := spec(t, "allocate", strconv.Itoa(2<<30))
	s.Limits.Memory = 512 << 20
	if got, _, err := Run(t.Context(), s); err != nil || got.ExitCode == 0 || strings.Contains(string(got.Stdout), "ok") {
		t.Errorf("%s %q (%v)", got.Status, got.Stdout, err)
	}
}

func TestFilesAreBounded(t *testing.T) {
	needBackend(t)
	for _, tc := range []struct {
		path string
		most int64
	}{
		{"notes/big", 1 << 20},
		{"/tmp/big", 1 << 40},
		{"/dev/shm/big", 1 << 40},
	} {
		s := spec(t, "fill", tc.path)
		s.Limits.FileSize = tc.most
		got, _, err := Run(t.Context(), s)
		if err != nil || strings.Contains(string(got.Stdout), "<nil>") {
			t.Errorf("%s: %s %q (%v)", tc.path, got.Status, got.Stdout, err)
		}
		if info, err := os.Stat(filepath.Join(s.Work, tc.path)); err == nil && info.Size() > tc.most {
			t.Errorf("%s has %d bytes", tc.path, info.Size())
		}
	}
}

func TestFloodOfOutputIsCountedAndDropped(t *testing.T) {
	needBackend(t)
	const flood = 1 << 30
	s := spec(t, "flood", strconv.Itoa(flood))
	got, _, err := Run(t.Context(), s)
	if err != nil || got.StdoutBytes != flood || len(got.Stdout) != s.Command.MaxStdout {
		t.Errorf("%d bytes, %d kept (%v)", got.StdoutBytes, len(got.Stdout), err)
	}
}

// TestHiddenGrandchildrenEnd is case 151 of the specification in a sandbox: a session of its own, a
// parent that ended, no stream of ours.
func TestHiddenGrandchildrenEnd(t *testing.T) {
	needBackend(t)
	mark := "loom-hidden-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	s := spec(t, "hide", mark, "notes/hidden")
	why := errors.New("the person pressed a key")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(s.Work, "notes", "hidden")); err == nil {
				if alive(t, mark) == 0 {
					t.Error("the test is void: nothing hides")
				}
				cancel(why)
			}
		}
	}()
	if _, applied, err := Run(ctx, s); !errors.Is(err, why) || applied.Namespaces == nil {
		t.Errorf("the error is %v", err)
	}
	if n := alive(t, mark); n > 0 {
		t.Errorf("%d processes are alive still", n)
	}
}

func TestTimeLimitEndsTheSandbox(t *testing.T) {
	needBackend(t)
	s := spec(t)
	s.Command.Path, s.Command.Args = "/bin/sleep", []string{"600"}
	s.Limits.Time = 300 * time.Millisecond
	if _, _, err := Run(t.Context(), s); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// alive counts the processes of this machine that have a word among their arguments.
func alive(t *testing.T, word string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Error("no processes are seen: ", err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), word) {
			n++
		}
	}
	return n
}

func TestLimitsMustBeSet(t *testing.T) {
	s := spec(t, "exit", "0")
	s.Limits.CPU = 0
	if _, _, err := Run(t.Context(), s); err == nil {
		t.Error("it ran without a limit")
	}
}
