package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/loomrun/loom/model/modeltest"
)

// Every console block of the documents is run as it stands, in a folder with the examples, and must
// print what the document says; only instants, the ids of runs and the hashes of heads may differ. A block that runs
// bound programs is left out where the machine cannot confine them. A block that is marked as continued goes on in the
// folder of the one before it. The home folder is shown as /home/ada, and so is the folder with the examples. A block with --catalog demo.toml is
// answered by the recorded model tide-review.
func TestDocumentsShowWhatHappens(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, document := range append(documents, "../../README.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range consoleBlocks(string(text)) {
			found++
			if strings.Contains(block, "--action-bindings") && !confines() {
				continue
			}
			script := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d.txt", strings.TrimSuffix(filepath.Base(document), ".md"), i+1))
			content := "documented console\n-- console --\n" + block
			if err := os.WriteFile(script, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			testscript.Run(t, testscript.Params{
				Files: []string{script},
				Cmds:  map[string]func(*testscript.TestScript, bool, []string){"documented": documented},
				Setup: func(env *testscript.Env) error {
					// No program is confined to a folder that has the home folder in it.
					env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
					env.Setenv("TZ", "Europe/Berlin")
					env.Setenv("GORACE", "atexit_sleep_ms=0") // see TestScripts
					if strings.Contains(block, "--catalog demo.toml") {
						server := modeltest.Start(t, modeltest.Recorded(t, "tide-review"))
						if err := os.WriteFile(filepath.Join(env.WorkDir, "demo.toml"), []byte(modeltest.CatalogTOML(server.BaseURL())), 0o600); err != nil {
							return err
						}
					}
					return os.CopyFS(env.WorkDir, os.DirFS("../../examples"))
				},
			})
		}
	}
	if found == 0 {
		t.Error("no console block was found")
	}
}

func consoleBlocks(text string) []string {
	var blocks []string
	for {
		_, rest, ok := strings.Cut(text, "```console\n")
		if !ok {
			return blocks
		}
		block, after, _ := strings.Cut(rest, "```\n")
		for {
			between, rest, ok := strings.Cut(after, "```console continued\n")
			if !ok || strings.Contains(between, "```console\n") {
				break
			}
			var more string
			more, after, _ = strings.Cut(rest, "```\n")
			block += more
		}
		blocks, text = append(blocks, block), after
	}
}

var (
	commandLine = regexp.MustCompile(`(?m)^\$ .*\n`)
	word        = regexp.MustCompile(`"([^"]*)"|(\S+)`)
	instant     = regexp.MustCompile(`\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d([+-]\d\d:\d\d|Z)| \d\d:\d\d\b)`)
	runID       = regexp.MustCompile(`(?m)^[a-z2-7]{12}\b|\b(run|removed) [a-z2-7]{12}\b`)
	seconds     = regexp.MustCompile(`\(\d+\.\d s\)`)
	token       = regexp.MustCompile(`cfh:v:[2-9a-hjkmnp-tv-z]{5}`)
	head        = regexp.MustCompile(`head [0-9a-f]{64}`)
)

// lasting takes away what differs from one time to the next.
func lasting(text string) string {
	text = instant.ReplaceAllString(text, "INSTANT")
	text = runID.ReplaceAllString(text, "$1 RUN")
	text = seconds.ReplaceAllString(text, "(TIME)")
	text = token.ReplaceAllString(text, "TOKEN")
	return head.ReplaceAllString(text, "head HASH")
}

// documented FILE: run the commands of a console block and compare what they print.
func documented(ts *testscript.TestScript, _ bool, args []string) {
	block := ts.ReadFile(args[0])
	status := 0
	starts := commandLine.FindAllStringIndex(block, -1)
	for i, start := range starts {
		end := len(block)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		command, want := strings.TrimSpace(block[start[0]+2:start[1]]), block[start[1]:end]
		got := fmt.Sprintln(status)
		if folder, changes := strings.CutPrefix(command, "cd "); changes {
			ts.Check(ts.Chdir(folder))
			got = ""
		} else if command != "echo $?" {
			var words []string
			for _, match := range word.FindAllStringSubmatch(command, -1) {
				words = append(words, strings.ReplaceAll(match[1]+match[2], "/home/ada", ts.Getenv("HOME")))
			}
			status = 0
			var exit *exec.ExitError
			if err := ts.Exec(words[0], words[1:]...); errors.As(err, &exit) {
				status = exit.ExitCode()
			} else {
				ts.Check(err)
			}
			got = ts.ReadFile("stdout") + ts.ReadFile("stderr")
			for _, variable := range []string{"HOME", "WORK"} {
				got = strings.ReplaceAll(got, ts.Getenv(variable), "/home/ada")
			}
		}
		if diff := cmp.Diff(lasting(want), lasting(got)); diff != "" {
			ts.Fatalf("$ %s (-document +program):\n%s", command, diff)
		}
	}
}
