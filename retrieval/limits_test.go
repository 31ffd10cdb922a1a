package retrieval_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// The readers of the operator's files, each with a text that it takes and the bytes it takes at most.
var readers = []struct {
	name, text string
	most       int
	read       func(path string) error
}{
	{"a configuration", `{"cliPath":"/x","transport":` + viaBroker + `}`, 64 << 10, func(path string) error { _, err := retrieval.ReadConfig(path); return err }},
	{"a record", `{"loomReadCeiling":["a"],"facets":["x"],"facetSource":"x"}`, 2 << 20, func(path string) error { _, err := retrieval.ReadRecord(path); return err }},
	{"a manifest", `{"cfc":{"maxConfidentiality":["a"]}}`, 1 << 20, func(path string) error { _, err := retrieval.ReadManifest(path, ""); return err }},
}

// D5: only a regular file is read, and of that no more than its limit. A FIFO that nobody writes to and a device that never ends are refused at once.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	folder := t.TempDir()
	fifo, link := filepath.Join(folder, "fifo"), filepath.Join(folder, "link")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		for _, path := range []string{fifo, link, folder, "/dev/zero"} {
			if err := r.read(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
				t.Errorf("%s in %s: %v", r.name, path, err)
			}
		}
		full := r.text + strings.Repeat(" ", r.most-len(r.text))
		if err := r.read(written(t, "full.json", full)); err != nil {
			t.Errorf("%s of %d bytes: %v", r.name, r.most, err)
		}
		if err := r.read(written(t, "more.json", full+" ")); err == nil || !strings.Contains(err.Error(), "exceeds") {
			t.Errorf("%s of one byte more: %v", r.name, err)
		}
	}
	program := &foreign{exit: retrieval.Exit{Stdout: []byte(`{"hits":[]}`)}}
	s := session(t, `,"readCeilingFile":"`+fifo+`"`, program)
	if got := outcomeOf(t, s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))); got != "ceiling_unavailable" {
		t.Errorf("E078 a record that is a FIFO: %s", got)
	}
	s.ConfigPath = "/dev/zero"
	if got := outcomeOf(t, s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))); got != "command_failed" {
		t.Errorf("5.1 a configuration that is a device: %s", got)
	}
	if len(program.calls) > 0 {
		t.Errorf("%d processes", len(program.calls))
	}
}

// deaf is a program that never answers, and says how long it was waited for.
type deaf struct{ waited time.Duration }

func (d *deaf) Run(ctx context.Context, _ []string) (retrieval.Exit, error) {
	began := time.Now()
	<-ctx.Done()
	d.waited = time.Since(began)
	return retrieval.Exit{}, ctx.Err()
}

// D33, by a clock that only moves when everybody waits: what the configuration says, and 30 s where it says nothing.
func TestTheTimeLimitOfACall(t *testing.T) {
	for more, want := range map[string]time.Duration{
		"": retrieval.DefaultTimeLimit, `,"timeLimitSeconds":7`: 7 * time.Second, `,"timeLimitSeconds":300`: retrieval.MaxTimeLimit,
	} {
		program := &deaf{}
		s, c := session(t, more, program), call(t, "loom_search", `{"query":"q"}`)
		synctest.Test(t, func(t *testing.T) {
			if got := outcomeOf(t, s.Call(t.Context(), c)); got != "command_failed" || program.waited != want {
				t.Errorf("%s: %s after %v, want %v", more, got, program.waited, want)
			}
		})
		// A run that has less time is cancelled when that is over.
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got := outcomeOf(t, s.Call(ctx, c)); got != "cancelled" || program.waited != time.Second {
				t.Errorf("A17 %s: %s after %v", more, got, program.waited)
			}
		})
	}
	if retrieval.DefaultTimeLimit != 30*time.Second {
		t.Errorf("the limit is %v", retrieval.DefaultTimeLimit)
	}
}

// Where the host stands tells the program nothing: it runs in the root folder.
func TestTheProgramRunsInTheRootFolder(t *testing.T) {
	path := written(t, "loom", "#!/bin/sh\nprintf '{\"hits\":[{\"title\":\"in %s\"}]}' \"$(pwd)\"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	s := retrieval.Session{ConfigPath: written(t, "config.json", `{"cliPath":"`+path+`","transport":`+direct+`}`), Ceiling: label.Unbounded()}
	o := s.Call(t.Context(), call(t, "loom_search", `{"query":"q"}`))
	if got := outcomeOf(t, o); got != "1" || o.Payload != `{"hits":[{"title":"in /"}]}` {
		t.Errorf("%s: %s", got, o.Payload)
	}
}

// An input that is refused is refused in the words for it, and in no others.
func TestARefusalHoldsInItsOwnWords(t *testing.T) {
	s := session(t, "", &foreign{})
	o := s.Call(t.Context(), call(t, "loom_search", `{}`))
	if o.Failure == nil || !o.FailureHolds() {
		t.Fatalf("%+v", o.Failure)
	}
	for _, f := range []retrieval.Failure{
		{Code: retrieval.InvalidInput, Message: "/private/path"},
		{Code: retrieval.InvalidInput, Message: o.Failure.Message, HostCode: "x"},
		{Code: retrieval.InvalidInput},
	} {
		other := o
		other.Failure = &f
		if other.FailureHolds() {
			t.Errorf("%+v holds", f)
		}
	}
}

// 3.1: anyOf beside something else is no clause of alternatives, but an atom that nothing but itself fits.
func TestAnAtomThatLooksLikeAlternatives(t *testing.T) {
	const text = `[{"anyOf":["a"],"x":1}]`
	c, err := retrieval.ParseCeiling(text, "")
	if err != nil || c.Canonical() != text {
		t.Errorf("%s, %v", c.Canonical(), err)
	}
	if label.Fits(confidential(t, `["a"]`), c) {
		t.Error("one of what looks like alternatives fits")
	}
}

// A text that is too large to be an observation is refused before it is looked at.
func TestAnObservationThatIsTooLarge(t *testing.T) {
	_, err := retrieval.ReadObserved([]byte(strings.Repeat(" ", retrieval.MaxObservedBytes+1)))
	if err == nil || !strings.Contains(err.Error(), "it has more than") {
		t.Error(err)
	}
}
