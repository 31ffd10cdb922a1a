package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/effect"
)

// alive counts the processes, dead ones that nobody has awaited aside, that have one of these words in their command
// line.
func alive(t *testing.T, words ...string) (n int) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatal("no processes can be seen: ", err)
	}
	for _, name := range lines {
		line, _ := os.ReadFile(name) // it may have ended meanwhile
		if slices.ContainsFunc(strings.Split(string(line), "\x00"), func(word string) bool { return slices.Contains(words, word) }) {
			n++
		}
	}
	return n
}

// mustBeGone fails where a process with one of these words lives on. One that was killed may take a moment to be gone.
func mustBeGone(t *testing.T, words ...string) {
	t.Helper()
	const looks = 1000
	for range looks {
		if alive(t, words...) == 0 {
			return
		}
	}
	t.Error("what the program started lives on")
}

// A program that takes longer than it may is killed with all that it started (151).
func TestLimitEndsTheWholeTree(t *testing.T) {
	for _, tc := range []struct{ name, start string }{
		{"a grandchild that holds the pipes", `sh -c 'echo >notes/started; while :; do sleep 1000; done' grandchild "$word" &`},
		{"a grandchild in a session of its own", `setsid sh -c 'echo >notes/started; while :; do sleep 1000; done' grandchild "$word" >/dev/null 2>&1 </dev/null &`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); err != nil && strings.Contains(tc.start, "setsid") {
				t.Skip(err)
			}
			inBothWays(t, func(t *testing.T, members string) {
				w := folder(t)
				w.write(t, "program", `word='`+w.Folder+`'; `+tc.start+` while :; do sleep 1000; done`)
				if err := os.Mkdir(filepath.Join(w.Folder, "notes"), 0o700); err != nil {
					t.Fatal(err)
				}
				// On a busy machine a limit may be over before there is a grandchild; then a longer one shows it.
				for limit := 1; ; limit *= 2 {
					if limit > 60 {
						t.Fatal("the test is void: the grandchild is not started")
					}
					file := fmt.Sprintf(`{"protocol":"team-ops@1","timeout_seconds":%d,"bindings":[{"action":"note.record","argv":["./program"]%s}]}`, limit, members)
					report, err := bind(t, w, file).Open(effect.Intent{}).Perform(t.Context(), recordNote(`{}`))
					mustBeGone(t, w.Folder)
					if want := fmt.Sprintf("the program was killed after %d s", limit); err != nil || report.Refused != want {
						t.Fatalf("%+v (%v), want %q", report, err, want)
					}
					if _, err := os.Stat(filepath.Join(w.Folder, "notes", "started")); err == nil {
						return
					}
				}
			})
		})
	}
}

// An interruption leaves no report: what the program did is not known.
func TestInterruption(t *testing.T) {
	inBothWays(t, func(t *testing.T, members string) {
		w := folder(t)
		w.write(t, "program", "echo >notes/started; while :; do sleep 1000; done")
		if err := os.Mkdir(filepath.Join(w.Folder, "notes"), 0o700); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer cancel()
			for {
				if _, err := os.Stat(filepath.Join(w.Folder, "notes", "started")); err == nil {
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		}()
		report, err := recorder(t, w, members).Open(effect.Intent{}).Perform(ctx, recordNote(`{}`))
		close(done)
		if !errors.Is(err, context.Canceled) || report.Refused != "" || report.Text != "" {
			t.Errorf("%+v (%v)", report, err)
		}
		mustBeGone(t, w.Folder+"/program")
	})
}
