package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
)

// Each case is a file that reads well and binds nothing (6.4; 145, 147).
func TestWhatCannotBeBound(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	w.write(t, "notes/inside", "exit 0")
	w.write(t, "plain", "exit 0")
	for _, err := range []error{
		os.Chmod(filepath.Join(w.Folder, "plain"), 0o600),
		os.Symlink("notes/inside", filepath.Join(w.Folder, "link")),
		os.Symlink("../program", filepath.Join(w.Folder, "notes", "back")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	protocols := teamCatalog(t)
	for name, yaml := range map[string]string{
		"two-artifacts@1": strings.Replace(strings.Replace(teamOps, "team.ops", "two.artifacts", 1), "{intent: {}}", "{intent: {}, note: {}}", 1),
		"no-intent@1": `
format: protocol/1
protocol: {id: no.intent, revision: 1}
artifacts: {lamp: {}}
evidence_kinds: {seen: {}}
claims: {on: {true_when: {evidence: {kind: seen, subject: lamp}}}}
actions: {switch: {}}
outcomes: {lit: {requires: {claim: on}}}
`,
		"asks@1": strings.Replace(teamOps, "team.ops", "asks", 1) + "case: {inputs: {channel: {values: [a, b]}}}\n",
	} {
		var err error
		if protocols, err = protocols.AddYAML(name, []byte(yaml)); err != nil {
			t.Fatal(name, err)
		}
	}
	binding := func(protocol, action, program string) string {
		return `{"protocol":"` + protocol + `","bindings":[{"action":"` + action + `","argv":["` + program + `"]}]}`
	}
	writes := func(program string) string {
		return `{"protocol":"team-ops@1","bindings":[{"action":"note.touch","argv":["` + program + `"]},{"action":"note.record","argv":["./program"],"confine":{"write":["other","notes"]}}]}`
	}
	for _, tc := range []struct{ name, file, want string }{
		{"a definition that is not there", binding("nobody@1", "a", "./program"), "the catalog holds no nobody@1"},
		{"a bundled definition (147)", binding("system-query@1", "system.time.read", "./program"), "system-query@1 is bundled; only an installed protocol can be bound to commands"},
		{"a second artifact (147)", binding("two-artifacts@1", "note.record", "./program"), "two-artifacts@1 declares other artifacts than intent alone, so no command can be bound to it"},
		{"another artifact (147)", binding("no-intent@1", "switch", "./program"), "no-intent@1 declares other artifacts than intent alone, so no command can be bound to it"},
		{"a case input (147)", binding("asks@1", "note.record", "./program"), "asks@1 declares the case input channel, so no command can be bound to it"},
		{"an action that is not declared (145)", binding("team-ops@1", "note.erase", "./program"), "team-ops@1 declares no action note.erase"},
		{"a program that is not there", binding("team-ops@1", "note.record", "./none"), `the action note.record: program "` + w.Folder + `/none": no such file or directory`},
		{"a program that may not be executed", binding("team-ops@1", "note.record", "./plain"), `the action note.record: program "` + w.Folder + `/plain" is not a file that may be executed`},
		{"a folder", binding("team-ops@1", "note.record", "./notes"), `the action note.record: program "` + w.Folder + `/notes" is not a file that may be executed`},
		{"a bare name is not looked up here", binding("team-ops@1", "note.record", "program"), `the action note.record: program "program": not found in the absolute entries of PATH`},
		{"the current folder by a dot", binding("team-ops@1", "note.record", "."), `the action note.record: program ".": not found in the absolute entries of PATH`},
		{"a program that a confined one may write", writes("./notes/inside"), "the action note.touch: its program lies in notes, which the program of note.record may write; keep programs elsewhere"},
		{"a link to such a program", writes("./link"), "the action note.touch: its program lies in notes, which the program of note.record may write; keep programs elsewhere"},
		{"a link that it may write", writes("./notes/back"), "the action note.touch: its program lies in notes, which the program of note.record may write; keep programs elsewhere"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Parse([]byte(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			w.Path = ".::/usr/bin:/bin" // "." and empty entries are where program lies
			if _, err := Bind(f, protocols, w); err == nil || err.Error() != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// What a name stands for (D16, D25).
func TestProgramsAreFound(t *testing.T) {
	w := folder(t)
	w.write(t, "tools/here", "exit 0")
	absolute := filepath.Join(w.Folder, "tools", "here")
	for _, tc := range []struct{ name, path, want string }{
		{"./tools/here", "", absolute},
		{"tools/here", "", absolute},
		{"tools/../tools/here", "", absolute},
		{absolute, "", absolute},
		{"here", filepath.Join(w.Folder, "tools"), absolute},
		{"here", "tools:/usr/bin", ""},
		{"here", "", ""},
		{"", "/usr/bin", ""},
	} {
		w.Path = tc.path
		if got, err := w.find(tc.name); tc.want != got && err == nil || (err == nil) != (tc.want != "") {
			t.Errorf("%q by PATH=%q is %q (%v), want %q", tc.name, tc.path, got, err, tc.want)
		}
	}
}

func TestEnvironmentIsPATHWithoutTheCurrentFolder(t *testing.T) {
	for _, tc := range []struct {
		path string
		want []string
	}{
		{"/usr/bin:/bin", []string{"PATH=/usr/bin:/bin"}},
		{".:/usr/bin::bin:/bin:", []string{"PATH=/usr/bin:/bin"}},
		{"", nil},
		{".", nil},
	} {
		if got := (Where{Path: tc.path}).environment(); !slices.Equal(got, tc.want) {
			t.Errorf("of PATH=%q a program gets %q, want %q", tc.path, got, tc.want)
		}
	}
}

// A path that leads nowhere is judged as it is written.
func TestWhatAFolderHolds(t *testing.T) {
	w := Where{Folder: "/nowhere"}
	for program, want := range map[string]bool{"/nowhere/a/b": true, "/nowhere/a/b/c": true, "/nowhere/ab": false, "/nowhere/a": false, "/a/b": false} {
		if got := w.holds("a", program); got != want {
			t.Errorf("%s: %v", program, got)
		}
	}
}

func TestBindingSaysWhatItIs(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	b := recorder(t, w, `,"confine":{}`)
	protocols := teamCatalog(t)
	entry, _ := protocols.Get("team-ops@1")
	if b.Name() != "bound commands" || len(b.SHA256()) != 64 || b.Unconfined() || !recorder(t, w, "").Unconfined() {
		t.Errorf("%s %s %v", b.Name(), b.SHA256(), b.Unconfined())
	}
	if !b.Serves(entry.Protocol()) || b.Serves(catalog.SystemQuery().Protocol()) {
		t.Error("it serves another definition, or not its own")
	}
	// The first in id order (146).
	if got := b.Lacks(entry.Protocol()); got != "no command is bound to note.touch" {
		t.Error(got)
	}
	all := bind(t, w, `{"protocol":"team-ops@1","bindings":[{"action":"summary.publish","argv":["./program"]},{"action":"note.touch","argv":["./program"]},{"action":"note.record","argv":["./program"]}]}`)
	if got := all.Lacks(entry.Protocol()); got != "" {
		t.Error(got)
	}
	p := b.Open(effect.Intent{Revision: "intent-1"})
	if !p.Performs("note.record") || p.Performs("note.touch") || p.Performs("none") {
		t.Error("it performs another action, or not its own")
	}
	if revisions, err := p.Start(t.Context()); err != nil || len(revisions) != 1 || revisions["intent"] != "intent-1" {
		t.Error(revisions, err)
	}
}

func TestReachSaysWithWhatRights(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	program := "runs " + w.Folder + "/program"
	for _, tc := range []struct{ members, want string }{
		{``, program + ", unconfined: it may read, change and send whatever you may"},
		{`,"confine":{}`, program + ", confined: it may read the files of " + w.Folder + " and of the system, change nothing, and use no network"},
		{`,"confine":{"write":["a","b"],"network":true}`, program + ", confined: it may read the files of " + w.Folder + " and of the system, change a, b, and send what it can read to anybody it can connect to"},
	} {
		if got := recorder(t, w, tc.members).Open(effect.Intent{}).Reach("note.record"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.members, got, tc.want)
		}
	}
}

// What is shown to a model is what is checked.
func TestArgumentsAreShownAndChecked(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "exit 0")
	for _, tc := range []struct{ members, shown, arguments, refused string }{
		{``, anyObject, `{"any":["thing"]}`, ""},
		{`,"arguments":{"properties":{"text":{"type":"string"}}}`, `{"properties":{"text":{"type":"string"}},"type":"object","additionalProperties":false}`, `{"text":1}`, "the arguments do not fit note.record: /text: this is number, and it must be string"},
		{`,"arguments":{"properties":{"text":{"type":"string"}}}`, `{"properties":{"text":{"type":"string"}},"type":"object","additionalProperties":false}`, `{"text":"x"}`, ""},
		{`,"arguments":{}`, effect.NoArguments, `{"text":1}`, "the arguments do not fit note.record: no such member: text"},
	} {
		p := recorder(t, w, tc.members).Open(effect.Intent{})
		if got := p.Arguments("note.record"); got != tc.shown {
			t.Errorf("%s: %s is shown, not %s", tc.members, got, tc.shown)
		}
		if got := p.CheckArguments("note.record", tc.arguments); got != tc.refused {
			t.Errorf("%s: %q is said of %s, not %q", tc.members, got, tc.arguments, tc.refused)
		}
	}
}
