package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/internal/atomicfile"
)

// childWork, where it is set, makes a process of this test change a store instead of running tests.
const childWork = "LOOM_TEST_STORE_WORK"

func TestMain(m *testing.M) {
	if os.Getenv(childWork) != "" {
		if err := changeAsChild(strings.Split(os.Getenv(childWork), "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// changeAsChild waits for standard input to end, then changes a store and is killed on the way at the
// moment whose number it is given. It prints each moment before.
func changeAsChild(work []string) error {
	root, verb, name, file := work[0], work[1], work[2], work[3]
	dies, err := strconv.Atoi(work[4])
	if err != nil {
		return err
	}
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	s, err := catalog.OpenStore(root)
	if err != nil {
		return err
	}
	moments := 0
	s = s.WithSeam(func(step atomicfile.Step, after bool) error {
		when := "before"
		if after {
			when = "after"
		}
		fmt.Printf("%s %s\n", when, step)
		if moments++; moments == dies {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				return err
			}
			select {} // the signal arrives
		}
		return nil
	})
	if verb == "remove" {
		return s.Remove(context.Background(), catalog.Bundled(), name)
	}
	return s.Install(context.Background(), catalog.Bundled(), name, catalog.FromFile(file), verb == "replace")
}

// child gives the command of changeAsChild. Number 0 never dies.
func child(root, verb, name, file string, dies int) *exec.Cmd {
	c := exec.Command(os.Args[0])
	// A program of the race detector else sleeps a second before it ends.
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childWork+"="+strings.Join([]string{root, verb, name, file, strconv.Itoa(dies)}, "\n"))
	return c
}

// Case 50, and every other moment: a process that is killed before or after any step of a change leaves
// the old state or the new one, and a store that goes on working.
func TestKilledAtEveryStep(t *testing.T) {
	oneWrite := []string{
		"before create", "after create", "before fill", "after fill", "before sync", "after sync",
		"before rename", "after rename", "before sync folder", "after sync folder",
	}
	first := slices.Concat([]string{"before create folder", "after create folder"}, oneWrite,
		[]string{"before rename folder", "after rename folder", "before sync parent", "after sync parent"}, oneWrite)
	changed := definition(t, "changed")
	for _, c := range []struct {
		verb, name string
		before     []string // what is installed
		moments    []string
		old, new   string
	}{
		{"add", "a@1", nil, first, "", "a@1 changed"},
		{"add", "a@1", []string{"b@1"}, oneWrite, "b@1 b", "a@1 changed, b@1 b"},
		{"replace", "a@1", []string{"a@1", "b@1"}, oneWrite, "a@1 a, b@1 b", "a@1 changed, b@1 b"},
		{"remove", "a@1", []string{"a@1", "b@1"}, oneWrite, "a@1 a, b@1 b", "b@1 b"},
	} {
		t.Run(fmt.Sprint(c.verb, " to ", len(c.before)), func(t *testing.T) {
			t.Parallel()
			template := filepath.Join(t.TempDir(), "template")
			for _, name := range c.before {
				install(t, open(t, filepath.Join(template, "store")), name)
			}
			// The moment after which the new state is there.
			turn := slices.Index(c.moments, "after rename")
			if c.before == nil {
				turn = len(first) - len(oneWrite) + slices.Index(oneWrite, "after rename")
			}
			for dies := 0; dies <= len(c.moments); dies++ { // 0: not at all
				folder := t.TempDir()
				if c.before != nil {
					if err := os.CopyFS(folder, os.DirFS(template)); err != nil {
						t.Fatal(err)
					}
				}
				root := filepath.Join(folder, "store")
				process := child(root, c.verb, c.name, changed, dies)
				out, err := process.Output()
				moments := strings.Split(strings.TrimSpace(string(out)), "\n")
				want := c.moments
				if dies > 0 {
					want = want[:dies]
					if status, ok := process.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
						t.Fatalf("%d: the process ended by itself: %v", dies, err)
					}
				} else if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(moments, want) {
					t.Fatalf("%d: the moments were %q, want %q", dies, moments, want)
				}
				state := c.old
				if dies == 0 || dies > turn {
					state = c.new
				}
				last := moments[len(moments)-1]
				if got := states(t, root); got != state {
					t.Errorf("killed %s: %q, want %q", last, got, state)
				}
				install(t, open(t, root), "later@1")
				if got, want := states(t, root), strings.TrimPrefix(state+", later@1 later", ", "); got != want {
					t.Errorf("killed %s, then installed: %q, want %q", last, got, want)
				}
			}
		})
	}
}

// states gives the installed names with the ids of their documents.
func states(t *testing.T, root string) string {
	t.Helper()
	all, err := open(t, root).Load(catalog.Bundled())
	if err != nil {
		t.Error(err)
	}
	var found []string
	for _, e := range all.Entries() {
		if !e.Source.Bundled() {
			found = append(found, e.Name+" "+e.Protocol().ID)
		}
	}
	return strings.Join(found, ", ")
}

// Case 49: processes that install at the same moment, also into a store that is not there yet, are all
// heard; of those that want the same name one is.
func TestProcessesInstallAtOnce(t *testing.T) {
	const processes = 6
	root := filepath.Join(t.TempDir(), "data", "store")
	file := definition(t, "many")
	type running struct {
		*exec.Cmd
		gate io.Closer
		said *bytes.Buffer
	}
	var all []running
	for i := range processes {
		for _, name := range []string{fmt.Sprintf("own%d@1", i), "same@1"} {
			r := running{child(root, "add", name, file, 0), nil, new(bytes.Buffer)}
			gate, err := r.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			r.gate, r.Stderr = gate, r.said
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	for _, r := range all {
		if err := r.gate.Close(); err != nil {
			t.Fatal(err)
		}
	}
	refused := 0
	for _, r := range all {
		var exit *exec.ExitError
		if err := r.Wait(); errors.As(err, &exit) && r.said.String() == "same@1 is in the catalog already\n" {
			refused++
		} else if err != nil {
			t.Errorf("%v: %s", err, r.said)
		}
	}
	if refused != processes-1 {
		t.Errorf("%d of %d lost the same name", refused, processes)
	}
	expectInstalled(t, open(t, root), "own0@1 own1@1 own2@1 own3@1 own4@1 own5@1 same@1")
}
