package retrieval_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// alive is a FIFO in the folder of the instance, which everybody of a family holds open as long as he lives.
const alive = "alive"

// family is a program that takes no signal to end, and starts another one like it, which holds its output too. One that is to hang waits for ever;
// of one that strays the second does, when the first has answered and ended.
func family(kind string) {
	deaf := make(chan os.Signal, 1)
	signal.Notify(deaf, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if len(os.Args) == 3 { // search QUERY: the second
		_, _ = os.NewFile(3, alive).WriteString(started)
		_ = os.NewFile(4, "elder").Close()
		for range deaf {
		}
	}
	fifo, err := os.OpenFile(filepath.Join(os.Getenv(retrieval.InstanceVariable), alive), os.O_WRONLY, 0)
	if err != nil {
		os.Exit(9)
	}
	elder, younger, err := os.Pipe()
	if err != nil {
		os.Exit(9)
	}
	second := exec.Command(os.Args[0], "search", kind)
	second.Stdout, second.ExtraFiles = os.Stdout, []*os.File{fifo, younger}
	if err := second.Start(); err != nil {
		os.Exit(9)
	}
	_ = younger.Close()
	_, _ = io.Copy(io.Discard, elder) // until the second has begun
	if kind == "hang" {
		for range deaf {
		}
	}
	fmt.Print(`{"hits":[]}`)
}

const started = "started"

// D33 and A17: when a call ends, in whatever way, nothing that its program started is alive.
func TestNothingOutlivesACall(t *testing.T) {
	for _, c := range []struct {
		name, query string
		seconds     int
		cancel      bool
		want        string
	}{
		{"the time is up", "hang", 1, false, "command_failed"},
		{"A17 it is cancelled", "hang", 300, true, "cancelled"},
		{"it has answered, and left one that holds its output", "stray", 300, false, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			instance := t.TempDir()
			path := filepath.Join(instance, alive)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			heard, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer heard.Close()
			ours, err := os.OpenFile(path, os.O_WRONLY, 0) // so that the FIFO has no end before somebody has opened it
			if err != nil {
				t.Fatal(err)
			}
			defer ours.Close()

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := retrieval.Session{
				ConfigPath: foreignStore(t, fmt.Sprintf(`{"kind":"direct","instanceDir":%q,"runId":"r"}`, instance), c.seconds), Ceiling: label.Unbounded(),
			}
			began := make(chan error, 1)
			go func() {
				_, err := io.ReadFull(heard, make([]byte, len(started)))
				if c.cancel {
					cancel()
				}
				began <- err
			}()
			if got := outcomeOf(t, s.Call(ctx, call(t, "loom_search", fmt.Sprintf(`{"query":%q}`, c.query)))); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if err := <-began; err != nil {
				t.Fatal(err)
			}
			_ = ours.Close()
			if _, err := io.Copy(io.Discard, heard); err != nil { // ends when nobody is left
				t.Error(err)
			}
		})
	}
}
