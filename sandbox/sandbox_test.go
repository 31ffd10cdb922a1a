//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/process"
)

// probeVariable names the built probe to a run of these tests as another user.
const probeVariable = "LOOM_SANDBOX_PROBE"

// probe is the path of the built testdata/probe. It is linked without C and without the race detector,
// which takes more address space than any limit here.
var probe string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if probe = os.Getenv(probeVariable); probe != "" {
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "sandbox-probe-")
	if err == nil {
		defer os.RemoveAll(folder)
		err = os.Chmod(folder, 0o755)
	}
	if err == nil {
		probe = filepath.Join(folder, "probe")
		build := exec.Command("go", "build", "-o", probe, "./testdata/probe")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the program that is confined:", err)
		return 1
	}
	return m.Run()
}

// needBackend skips a test where there is no bubblewrap, unless it is required. Where the kernel gives no
// namespaces the program must refuse, and the test says so.
func needBackend(tb testing.TB) {
	tb.Helper()
	if _, err := os.Stat(Backend); err != nil {
		if strings.Contains(os.Getenv("LOOM_TEST_REQUIRE"), "bubblewrap") {
			tb.Fatal(err)
		}
		tb.Skip("no bubblewrap here: ", err)
	}
	_, err := Check(tb.Context(), spec(tb, "exit", "0"))
	if r, ok := errors.AsType[*Refusal](err); ok && (r.Code == NamespacesUnavailable || r.Code == CgroupUndelegated) {
		tb.Skip("refused, as it must be where the machine cannot confine: ", r)
	}
}

const place = "/probe" // where the probe stands in the sandbox

// spec is the probe in a work folder of its own with the writable folder "notes".
func spec(tb testing.TB, args ...string) Spec {
	tb.Helper()
	limits := DefaultLimits
	return Spec{
		Command: process.Command{Path: place, Args: args, Env: []string{"PATH=/usr/bin:/bin"}, MaxStdout: 1 << 20, MaxStderr: 1 << 12},
		Work:    tb.TempDir(), Write: []string{"notes"}, Read: []Root{{Host: probe, At: place}}, Limits: limits,
	}
}

// output runs a spec whose program must end well, and gives what it wrote.
func output(t *testing.T, s Spec) string {
	t.Helper()
	got, applied, err := Run(t.Context(), s)
	if err != nil || got.ExitCode != 0 {
		t.Fatalf("%s %q %q (%v)", got.Status, got.Stdout, got.Stderr, err)
	}
	if len(applied.Namespaces) == 0 {
		t.Error("nothing is said to be applied")
	}
	return string(got.Stdout)
}

// TestWritesOutsideAreDenied is case 177 of the specification, the part of writing. The switches of the
// kernel in /proc belong to user 0, whoever holds no capability.
func TestWritesOutsideAreDenied(t *testing.T) {
	needBackend(t)
	s := spec(t)
	write := func(path string) string { return strings.ReplaceAll(path, "WORK", s.Work) }
	// What stands beside the work folder and what is outside are in /tmp, which is the sandbox's own.
	may := []string{"../a", "notes/a", "WORK/notes/b", "/tmp/c", "/dev/shm/d", "/dev/null"}
	mayNot := []string{
		"a", "WORK/a", "notes/../a", "/a", "/usr/a", "/usr/bin/env", "/etc/passwd", "/etc/a", "/dev/a", "/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/pid_max", "/proc/sysrq-trigger", "/proc/1/oom_score_adj", "/root/a", "/home/a", "/run/a", "/var/a", place,
	}
	s.Command.Args = []string{"write"}
	for _, path := range append(slices.Clone(may), mayNot...) {
		s.Command.Args = append(s.Command.Args, write(path))
	}
	out := "\n" + output(t, s)
	for _, path := range may {
		if !strings.Contains(out, "\n"+write(path)+": ok\n") {
			t.Errorf("%s cannot be written", path)
		}
	}
	for _, path := range mayNot {
		if !strings.Contains(out, "\n"+write(path)+": ") || strings.Contains(out, "\n"+write(path)+": ok\n") {
			t.Errorf("%s was written", path)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.Work, "notes", "a")); err != nil || string(text) != "written\n" {
		t.Errorf("what was written is %q (%v)", text, err)
	}
	for _, path := range []string{filepath.Join(s.Work, "a"), filepath.Join(s.Work, "../a"), "/usr/a", "/etc/a", "/tmp/c", "/dev/shm/d", "/a"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	if info, err := os.Stat(filepath.Join(s.Work, "notes")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder that was made is %v (%v)", info.Mode(), err)
	}
}

func TestNothingOfThePersonIsSeen(t *testing.T) {
	needBackend(t)
	t.Setenv("LOOM_SECRET", "of the environment")
	home := t.TempDir()
	secret := filepath.Join(home, "secret")
	if err := os.WriteFile(secret, []byte("of the home folder"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := spec(t, "read", secret, "/etc/shadow", "/root/.profile", "/proc/1/environ", "/proc/2/environ", "/proc/self/environ", fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/self/mounts")
	s.Home = home
	out := output(t, s)
	for _, word := range []string{"secret", "LOOM_SECRET"} {
		if strings.Contains(strings.ReplaceAll(out, secret, ""), word) {
			t.Errorf("the program sees %q:\n%s", word, out)
		}
	}
	if !strings.Contains(out, `/proc/1/environ: ok ""`) {
		t.Errorf("the environment of the first process is not the sandbox's:\n%s", out)
	}
	s.Command.Args = []string{"list", "/"}
	for name := range strings.Lines(output(t, s)) {
		if slices.Contains([]string{"home", "root", "run", "var", "srv", "mnt", "sys", "work", "opt", "boot"}, strings.TrimSpace(name)) {
			t.Errorf("the program sees %s", name)
		}
	}
	s.Command.Args = []string{"list", "/proc"}
	if out := "\n" + output(t, s); strings.Contains(out, fmt.Sprintf("\n%d\n", os.Getpid())) || !strings.Contains(out, "\n2\n") {
		t.Errorf("the processes it sees are not the sandbox's:\n%s", out)
	}
}

func TestEnvironmentAndDescriptorsAreTheGivenOnes(t *testing.T) {
	needBackend(t)
	t.Setenv("LOOM_SECRET", "x")
	s := spec(t, "environment")
	// Bubblewrap adds PWD.
	if got, want := output(t, s), "PATH=/usr/bin:/bin\nPWD="+s.Work+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s = spec(t, "descriptors")
	s.Command.Stdin = []byte("{}")
	if got, want := output(t, s), "0 pipe\n1 pipe\n2 pipe\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRightsAreGivenUp(t *testing.T) {
	needBackend(t)
	s := spec(t, "read", "/proc/self/status")
	out := strings.ReplaceAll(output(t, s), `\n`, "\n")
	for _, want := range []string{`CapPrm:\t0000000000000000`, `CapEff:\t0000000000000000`, `CapBnd:\t0000000000000000`, `NoNewPrivs:\t1`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if got := output(t, spec(t, "unshare")); !strings.Contains(got, "no space left") {
		t.Errorf("a further user namespace: %s", got)
	}
}

func TestEndsArePassedOn(t *testing.T) {
	needBackend(t)
	for _, tc := range []struct {
		args []string
		want int
	}{
		{[]string{"exit", "0"}, 0},
		{[]string{"exit", "7"}, 7},
		{[]string{"signal", "15"}, 128 + 15},
		{[]string{"signal", "9"}, 128 + 9},
	} {
		got, _, err := Run(t.Context(), spec(t, tc.args...))
		if err != nil || got.ExitCode != tc.want {
			t.Errorf("%v: %s (%v), want %d", tc.args, got.Status, err, tc.want)
		}
	}
}

func TestInputAndArgumentsArePassedAsTheyAre(t *testing.T) {
	needBackend(t)
	s := spec(t)
	s.Command.Path, s.Command.Args = "/bin/sh", []string{"-c", `cat; printf '%s|' "$@"`, "sh", "; rm -rf $HOME", "*", "--bind", ""}
	s.Command.Stdin = []byte("in\xff\x00put")
	if got, want := output(t, s), "in\xff\x00put; rm -rf $HOME|*|--bind||"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWorkFolderCanStandElsewhere(t *testing.T) {
	needBackend(t)
	s := spec(t, "write", "/workspace/target/a", "/workspace/a", "target/b")
	s.At, s.Write = "/workspace", []string{"target"}
	s.Read = append(s.Read, Root{Host: t.TempDir(), At: "/toolchain/rust"})
	got, applied, err := Run(t.Context(), s)
	want := "/workspace/target/a: ok\n/workspace/a: open /workspace/a: read-only file system\ntarget/b: ok\n"
	if err != nil || string(got.Stdout) != want {
		t.Errorf("%q (%v), want %q", got.Stdout, err, want)
	}
	if !slices.Equal(applied.Write, []string{"/workspace/target"}) || !slices.Contains(applied.Read, "/workspace") || !slices.Contains(applied.Read, "/toolchain/rust") {
		t.Errorf("%+v", applied)
	}
}

func TestWholeWorkFolderCanBeWritten(t *testing.T) {
	needBackend(t)
	s := spec(t, "write", "a", "notes/b")
	s.Write = []string{".", "notes"}
	if err := os.Mkdir(filepath.Join(s.Work, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := output(t, s); got != "a: ok\nnotes/b: ok\n" {
		t.Errorf("%q", got)
	}
}

func TestCheckStartsNothing(t *testing.T) {
	needBackend(t)
	s := spec(t, "write", "notes/a")
	checked, err := Check(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Work, "notes", "a")); err == nil {
		t.Error("the program was started")
	}
	_, applied, err := Run(t.Context(), s)
	if err != nil || !bytes.Equal(applied.Canonical(), checked.Canonical()) || applied.Digest() != checked.Digest() {
		t.Errorf("%s (%v), want %s", applied.Canonical(), err, checked.Canonical())
	}
}

func TestNothingIsStartedForACallerThatGaveUp(t *testing.T) {
	needBackend(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, applied, err := Run(ctx, spec(t, "exit", "0")); !errors.Is(err, context.Canceled) || applied.Namespaces != nil {
		t.Errorf("%+v (%v)", applied, err)
	}
}
