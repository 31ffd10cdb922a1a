package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/sandbox"
)

// teamOps is the example of 6.4.
const teamOps = `
format: protocol/1
protocol: {id: team.ops, revision: 1, description: Keep a team note and publish a summary of it.}
artifacts: {intent: {}}
evidence_kinds: {note_recorded: {}, summary_published: {}}
claims:
  note.exists: {true_when: {evidence: {kind: note_recorded, result: recorded, subject: intent}}}
  summary.out: {true_when: {evidence: {kind: summary_published, result: published, subject: intent}}}
actions:
  note.record: {effect: write, may_produce: [{evidence: note_recorded}]}
  note.touch: {effect: write}
  summary.publish: {effect: write, precondition: {claim: note.exists}, may_produce: [{evidence: summary_published}]}
outcomes: {done: {requires: {claim: summary.out}}}
`

func teamCatalog(tb testing.TB) catalog.Catalog {
	tb.Helper()
	c, err := catalog.Bundled().AddYAML("team-ops@1", []byte(teamOps))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// folder is where programs are kept and started, with a PATH that finds what a shell needs.
func folder(tb testing.TB) Where {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return Where{Folder: dir, Path: "/usr/bin:/bin"}
}

// write puts a program of shell text into the folder.
func (w Where) write(tb testing.TB, name, script string) {
	tb.Helper()
	path := filepath.Join(w.Folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		tb.Fatal(err)
	}
}

// bind binds by the text of a file that must be fine.
func bind(tb testing.TB, w Where, file string) *Binding {
	tb.Helper()
	f, err := Parse([]byte(file))
	if err != nil {
		tb.Fatal(err)
	}
	b, err := Bind(f, teamCatalog(tb), w)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// recorder binds note.record to ./program with further members of the binding.
func recorder(tb testing.TB, w Where, members string) *Binding {
	tb.Helper()
	return bind(tb, w, fmt.Sprintf(`{"protocol":"team-ops@1","bindings":[{"action":"note.record","argv":["./program"]%s}]}`, members))
}

// recordNote is the request of most tests.
func recordNote(arguments string) effect.Request {
	return effect.Request{
		Run: "run-1", Step: 1, Case: "case-1", Revision: 1, Artifacts: map[string]string{artifact: "intent-1"},
		Action: "note.record", Arguments: arguments,
	}
}

// does performs note.record by a program of shell text.
func does(t *testing.T, members, script, arguments string) (effect.Report, error) {
	t.Helper()
	w := folder(t)
	w.write(t, "program", script)
	return recorder(t, w, members).Open(effect.Intent{Revision: "intent-1"}).Perform(t.Context(), recordNote(arguments))
}

// The two ways a program runs, as members of a binding. What must hold in both is tested in both.
var ways = []struct{ name, members string }{
	{"unconfined", ""},
	{"confined", `,"confine":{"write":["notes"]}`},
}

// needSandbox leaves a test out where nothing can be confined, or fails it where that must not be.
func needSandbox(tb testing.TB, members string) {
	tb.Helper()
	if !strings.Contains(members, "confine") {
		return
	}
	w := folder(tb)
	w.write(tb, "program", "exit 0")
	err := recorder(tb, w, members).CheckConfinement(tb.Context())
	refusal, ok := errors.AsType[*sandbox.Refusal](err)
	switch {
	case err == nil:
	case strings.Contains(os.Getenv("LOOM_TEST_REQUIRE"), "bubblewrap") || !ok:
		tb.Fatal(err)
	default:
		tb.Skip("nothing can be confined here: ", refusal)
	}
}
