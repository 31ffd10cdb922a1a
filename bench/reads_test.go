package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/sqlite"
)

// inProcess answers reads from a store that is open, as the broker does.
type inProcess struct{ store.Store }

func (p inProcess) Run(ctx context.Context, argv []string) (retrieval.Exit, error) {
	verb, err := readverb.Parse(argv)
	if err != nil {
		return retrieval.Exit{}, err
	}
	v, err := p.View(ctx, store.Scope{})
	if err != nil {
		return retrieval.Exit{}, err
	}
	defer v.Close()
	answer, err := verb.Read(ctx, readverb.Reader{View: v, Now: time.Now()})
	if err != nil {
		return retrieval.Exit{}, err
	}
	data, err := answer.JSON()
	return retrieval.Exit{Stdout: data}, err
}

// BenchmarkRead compares what one search of 20 rows takes: the process of the command line alone, the same asked by a run (directly, and through a
// broker), measured against a ceiling; and the same without any process.
func BenchmarkRead(b *testing.B) {
	home := b.TempDir()
	b.Setenv("HOME", home)
	for _, name := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		b.Setenv(name, "")
	}
	loom := filepath.Join(home, "loom")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", loom, "./cmd/loom")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	do := func(args ...string) []byte {
		out, err := exec.Command(loom, args...).Output()
		if err != nil {
			b.Fatalf("loom %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	var mbox bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&mbox, "From a@b.example Mon Mar  2 07:14:00 2026\nFrom: A <a@b.example>\nSubject: letter %d about linux\nDate: Mon, 2 Mar 2026 07:%02d:00 +0000\nMessage-ID: <%d@b.example>\n\n%s\n\n",
			i, i%60, i, strings.Repeat("Some words about linux and other things that letters are about. ", 12))
	}
	mail := filepath.Join(home, "mail.mbox")
	if err := os.WriteFile(mail, mbox.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	do("init", "--owner", "ada", "--facet", "work")
	do("source", "add", "mail", mail, "--name", "post", "--facet", "work")
	do("sync")
	queue, direct, brokered := filepath.Join(home, "queue"), filepath.Join(home, "direct.json"), filepath.Join(home, "broker.json")
	do("retrieval", "write", "--out", direct)
	do("retrieval", "write", "--out", brokered, "--queue", queue)
	broker := exec.Command(loom, "broker", "serve", "--queue", queue, "--facets", "work")
	ready, err := broker.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := broker.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = broker.Process.Signal(os.Interrupt)
		_ = broker.Wait()
	})
	if line, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		b.Fatalf("the broker says %q: %v", line, err)
	}
	data, err := sqlite.Open(b.Context(), filepath.Join(home, ".local/share/loom/instances/default/loom.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = data.Close() })

	b.Run("loom-search", func(b *testing.B) {
		for b.Loop() {
			do("search", "linux", "--json", "--limit", "20")
		}
	})
	input := document.MapOf(document.M("query", document.TextOf("linux")), document.M("limit", document.IntOf(20)))
	for _, c := range []struct {
		name, config string
		program      func(*retrieval.Config) retrieval.Program
	}{
		{"loom_search-direct", direct, nil},
		{"loom_search-broker", brokered, nil},
		{"loom_search-in-process", direct, func(*retrieval.Config) retrieval.Program { return inProcess{data} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := retrieval.Session{ConfigPath: c.config, Ceiling: label.ScopeCeiling("ada", store.Classes(), []string{"work"}), Program: c.program}
			for b.Loop() {
				o := s.Call(b.Context(), retrieval.Call{OutputID: "o", Tool: "loom_search", Input: input})
				r, failure := o.Measure(handle.NewTable("run"))
				if failure != nil || r.Admitted != 20 {
					b.Fatalf("%+v, %+v", r, failure)
				}
				_ = r.Shown()
			}
		})
	}
}
