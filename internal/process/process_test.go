package process

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const shell = "/bin/sh"

// script makes a command of shell text, with a path to look programs up in and nothing else.
func script(text string) Command {
	return Command{Path: shell, Args: []string{"-c", text}, Env: []string{"PATH=/usr/bin:/bin"}, MaxStdout: 100, MaxStderr: 100}
}

func TestResultTellsTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Result
	}{
		{"success", "exit 0", Result{ExitCode: 0, Status: "exit status 0"}},
		{"failure", "exit 7", Result{ExitCode: 7, Status: "exit status 7"}},
		{"a signal", "kill -TERM $$", Result{ExitCode: -1, Status: "signal: terminated"}},
		{"a kill by itself", "kill -KILL $$", Result{ExitCode: -1, Status: "signal: killed"}},
		{"both streams", "echo out; echo err >&2", Result{Stdout: []byte("out\n"), Stderr: []byte("err\n"), Status: "exit status 0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Run(t.Context(), script(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Stdout) != string(tc.want.Stdout) || string(got.Stderr) != string(tc.want.Stderr) || got.ExitCode != tc.want.ExitCode || got.Status != tc.want.Status || got.StdoutExceeded {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestOutputIsBoundedAndDrained(t *testing.T) {
	c := script("head -c 1000000 /dev/zero | tr '\\0' a; echo end >&2; head -c 1000000 /dev/zero | tr '\\0' b >&2; printf END >&2")
	c.MaxStdout, c.MaxStderr = 10, 5
	got, err := Run(t.Context(), c)
	if err != nil || got.ExitCode != 0 {
		t.Fatal(got, err)
	}
	if string(got.Stdout) != "aaaaaaaaaa" || !got.StdoutExceeded || string(got.Stderr) != "bbEND" {
		t.Errorf("%+v", got)
	}
}

// A flood ends with the first byte too many, where that is asked for.
func TestAFloodEnds(t *testing.T) {
	c := script("while :; do echo aaaaaaaaaaaaaaaa; done")
	c.MaxStdout, c.EndAtMaxStdout = 10, true
	got, err := Run(t.Context(), c)
	if err != nil || got.ExitCode != -1 || string(got.Stdout) != "aaaaaaaaaa" || !got.StdoutExceeded {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInputIsFedAndEnds(t *testing.T) {
	c := script("cat")
	c.Stdin = []byte("some input")
	if got, err := Run(t.Context(), c); err != nil || string(got.Stdout) != "some input" {
		t.Errorf("%+v (%v)", got, err)
	}
	c.Stdin = nil
	if got, err := Run(t.Context(), c); err != nil || len(got.Stdout) != 0 {
		t.Errorf("without input: %+v (%v)", got, err)
	}
}

func TestInputMayBeLeftUnread(t *testing.T) {
	c := script("exit 3")
	c.Stdin = make([]byte, 1<<20)
	if got, err := Run(t.Context(), c); err != nil || got.ExitCode != 3 {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestEnvironmentIsTheGivenOne(t *testing.T) {
	t.Setenv("LOOM_SECRET", "x")
	for _, tc := range []struct {
		name string
		env  []string
		want string
	}{
		{"none", nil, ""},
		{"some", []string{"A=1", "B=2"}, "A=1\nB=2\n"},
		{"the last of one name", []string{"A=1", "A=2"}, "A=2\n"},
	} {
		got, err := Run(t.Context(), Command{Path: "/usr/bin/env", Env: tc.env, MaxStdout: 1000})
		if err != nil || string(got.Stdout) != tc.want {
			t.Errorf("%s: %q (%v), want %q", tc.name, got.Stdout, err, tc.want)
		}
	}
}

func TestFolderIsTheGivenOne(t *testing.T) {
	c := script("pwd -P")
	c.Dir = t.TempDir()
	want, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Run(t.Context(), c); err != nil || string(got.Stdout) != want+"\n" {
		t.Errorf("%q (%v)", got.Stdout, err)
	}
}

func TestNoDescriptorIsInherited(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	// As our own parent would leave it.
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), syscall.F_SETFD, 0); errno != 0 {
		t.Fatal(errno)
	}
	probe := "if [ -e /dev/fd/" + strconv.Itoa(int(w.Fd())) + " ]; then echo open; else echo closed; fi"
	direct := exec.Command(shell, "-c", probe)
	if out, err := direct.Output(); err != nil || string(out) != "open\n" {
		t.Fatalf("the test is void: %q (%v)", out, err)
	}
	if got, err := Run(t.Context(), script(probe)); err != nil || string(got.Stdout) != "closed\n" {
		t.Errorf("%q (%v)", got.Stdout, err)
	}
}

// witness is a FIFO: whoever holds it open for writing is alive.
type witness struct {
	name string
	end  *os.File
}

func newWitness(t *testing.T) witness {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Opened for writing too, so that reading waits for the first writer. The deadline is for a test
	// that fails.
	t.Cleanup(func() { _ = end.Close() })
	if err := end.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return witness{name, end}
}

// started waits for a line from the program.
func (w witness) started(t *testing.T) {
	t.Helper()
	line := make([]byte, len("started\n"))
	if _, err := io.ReadFull(w.end, line); err != nil {
		t.Fatal(err)
	}
}

// alone reports, when nobody else holds the FIFO any more.
func (w witness) alone(t *testing.T) {
	t.Helper()
	reader, err := os.OpenFile(w.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := reader.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_ = w.end.Close()
	if _, err := io.ReadAll(reader); err != nil {
		t.Errorf("somebody is alive still: %v", err)
	}
}

func TestCancelKillsTheWholeGroup(t *testing.T) {
	w := newWitness(t)
	why := errors.New("the person pressed a key")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		w.started(t)
		cancel(why)
	}()
	c := script("exec 9>'" + w.name + "'; trap '' TERM INT HUP; (sleep 600 & wait) & echo started >&9; wait")
	if got, err := Run(ctx, c); !errors.Is(err, why) {
		t.Errorf("%+v (%v)", got, err)
	}
	w.alone(t)
}

func TestTimeLimitKills(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if got, err := Run(ctx, script("sleep 600; echo over")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestWhatAProgramLeavesBehindIsKilled(t *testing.T) {
	w := newWitness(t)
	got, err := Run(t.Context(), script("exec 9>'"+w.name+"'; sleep 600 & echo done"))
	if err != nil || got.ExitCode != 0 || string(got.Stdout) != "done\n" {
		t.Errorf("%+v (%v)", got, err)
	}
	w.alone(t)
}

func TestGroupIsTheProgramsOwn(t *testing.T) {
	got, err := Run(t.Context(), script("echo $$; ps -o pgid= -p $$"))
	words := strings.Fields(string(got.Stdout))
	if err != nil || len(words) != 2 || words[0] != words[1] {
		t.Errorf("%q (%v)", got.Stdout, err)
	}
}

func TestNothingIsStartedForACallerThatGaveUp(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, script("touch '"+mark+"'")); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it was started")
	}
}

func TestCancelAtAnyMomentIsEitherAnEndOrACancel(t *testing.T) {
	for range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		got, err := Run(ctx, script("exit 5"))
		if err == nil && got.ExitCode != 5 || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%+v (%v)", got, err)
		}
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	if _, err := Run(t.Context(), Command{Path: "/nowhere/program"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

func TestHeadAndTailKeepTheEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		pieces := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 30)).Draw(t, "pieces")
		h, l := head{limit: limit}, tail{limit: limit}
		var all []byte
		for _, p := range pieces {
			for _, w := range []io.Writer{&h, &l} {
				if n, err := w.Write(p); n != len(p) || err != nil {
					t.Fatalf("wrote %d of %d (%v)", n, len(p), err)
				}
			}
			all = append(all, p...)
		}
		n := min(limit, len(all))
		if string(h.kept) != string(all[:n]) || h.seen != int64(len(all)) || l.seen != h.seen {
			t.Errorf("head of %q by %d is %q, of %d", all, limit, h.kept, h.seen)
		}
		if string(l.kept) != string(all[len(all)-n:]) {
			t.Errorf("tail of %q by %d is %q", all, limit, l.kept)
		}
	})
}

// TestInputThatIsNeverRead is case 153 of the specification: more than a pipe holds, and a program that
// goes on without reading and then closes it.
func TestInputThatIsNeverRead(t *testing.T) {
	c := script("exec <&-; echo on; echo on >&2")
	c.Stdin = make([]byte, 4<<20)
	if got, err := Run(t.Context(), c); err != nil || string(got.Stdout) != "on\n" || got.ExitCode != 0 {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestOutputIsKeptAsBytes(t *testing.T) {
	got, err := Run(t.Context(), script(`printf 'a\377\0\200b'`))
	if err != nil || string(got.Stdout) != "a\xff\x00\x80b" || got.StdoutBytes != 5 || got.StdoutExceeded {
		t.Errorf("%q (%v)", got.Stdout, err)
	}
}

func TestOutputIsCountedPastWhatIsKept(t *testing.T) {
	c := script("printf 12345; printf 123 >&2")
	c.MaxStdout, c.MaxStderr = 5, 2
	got, err := Run(t.Context(), c)
	if err != nil || got.StdoutBytes != 5 || got.StdoutExceeded || got.StderrBytes != 3 || string(got.Stderr) != "23" {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestFilesAreHandedOverInOrder(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := script("echo three >&3; echo four >&4")
	c.Files = []*os.File{w, w}
	if got, err := Run(t.Context(), c); err != nil || got.ExitCode != 0 {
		t.Errorf("%+v (%v)", got, err)
	}
	_ = w.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "three\nfour\n" {
		t.Errorf("%q (%v)", text, err)
	}
}

func TestRefusalAfterTheStartEndsTheProgram(t *testing.T) {
	why := errors.New("not what was asked")
	c := script("sleep 600")
	c.Started = func(pid int) error {
		if pid <= 0 {
			t.Errorf("the id is %d", pid)
		}
		return why
	}
	if got, err := Run(t.Context(), c); !errors.Is(err, why) {
		t.Errorf("%+v (%v)", got, err)
	}
}

func BenchmarkRun(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/true")
			cmd.Env = []string{}
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bound", func(b *testing.B) {
		for b.Loop() {
			if _, err := Run(b.Context(), Command{Path: "/bin/true", MaxStdout: 1 << 20, MaxStderr: 1 << 12}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
