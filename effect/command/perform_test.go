package command

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/process"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/sandbox"
)

// inBothWays runs a test with the program unconfined and confined.
func inBothWays(t *testing.T, test func(t *testing.T, members string)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			needSandbox(t, way.members)
			test(t, way.members)
		})
	}
}

// What a program prints at exit status 0, and what is told of it. A report keeps the order of its members and the
// digits of its numbers.
func TestReportIsWhatTheProgramPrinted(t *testing.T) {
	inBothWays(t, func(t *testing.T, members string) {
		report, err := does(t, members, `printf ' {"note": "n-1",\n "n": 1.0e2, "evidence":[{"kind":"note_recorded","result":"recorded"}]}\n'`, `{}`)
		if err != nil || report.Refused != "" || report.Unconfined != "" || report.Source != source || report.Subject != "intent" || report.Revisions != nil {
			t.Fatalf("%+v (%v)", report, err)
		}
		if want := `{"note":"n-1","n":1.0e2,"evidence":[{"kind":"note_recorded","result":"recorded"}]}`; report.Text != want {
			t.Errorf("%s, want %s", report.Text, want)
		}
		v, err := strictjson.Parse([]byte(report.Observation), strictjson.MaxDepth)
		how, _ := v.Get("confinement")
		backend, _ := how.Get("backend")
		network, _ := how.Get("network")
		if confined := members != ""; err != nil || confined != (how.Kind == document.Map && backend.Text == "bubblewrap" && network.Text == "false") || confined == (how.Text == "none") {
			t.Errorf("the observation says of confinement %s (%v)", report.Observation, err)
		}
	})
}

// nested is an object of so many levels.
func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
}

// A program that ended well with what is no report: what it did is unknown, so nothing is Performed and the run fails
// (D15, 148).
func TestUnusableReports(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"nothing", `exit 0`, "it printed no report"},
		{"white space", `echo; echo`, "it printed no report"},
		{"a list", `echo '[]'`, "its report is a list, not a JSON object"},
		{"null", `echo null`, "its report is null, not a JSON object"},
		{"two objects", `echo '{}{}'`, "its report is not one JSON object: line 1, column 3: something follows the JSON value"},
		{"words before it", `echo 'done: {}'`, "its report is not one JSON object"},
		{"a byte order mark", `printf '\357\273\277{}'`, "its report is not one JSON object"},
		{"a white space that JSON has not", `printf '\302\240{}'`, "its report is not one JSON object"},
		{"a cut object", `echo '{"a":'`, "the JSON value ends too early"},
		{"bad UTF-8", `printf '{"a":"\377"}'`, "the input is not UTF-8"},
		{"a member twice", `echo '{"a":1,"a":2}'`, "a member is written twice"},
		{"evidence twice", `echo '{"evidence":[],"e\u0076idence":[]}'`, "a member is written twice"},
		{"one byte over 1 MiB", `printf '{}'; head -c 1048575 /dev/zero | tr '\0' ' '`, "its report is longer than 1048576 bytes"},
		{"far over 1 MiB", `head -c 20000000 /dev/zero | tr '\0' ' '; printf '{}'`, "its report is longer than 1048576 bytes"},
		{"a level more than a journal takes", `echo '` + nested(MaxReportDepth+1) + `'`, "the JSON value is nested too deeply"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			report, err := does(t, "", tc.script, `{}`)
			if err == nil || !strings.Contains(err.Error(), "the program ended well, and what it did is not known: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if !reflect.DeepEqual(report, effect.Report{}) {
				t.Errorf("there is a report all the same: %+v", report)
			}
		})
	}
}

// The largest and the deepest report that counts is one that a journal takes.
func TestLargestReports(t *testing.T) {
	for name, script := range map[string]string{
		"1 MiB":   `printf '{}'; head -c 1048574 /dev/zero | tr '\0' ' '`,
		"as deep": `echo '` + nested(MaxReportDepth) + `'`,
		"a NUL":   `echo '{"a":"\u0000"}'`,
	} {
		t.Run(name, func(t *testing.T) {
			report, err := does(t, "", script, `{}`)
			if err != nil || report.Refused != "" {
				t.Fatalf("%s (%v)", report.Refused, err)
			}
			if err := journal.CheckCase(event.Observed{Case: "case-1", Source: "effect", Subject: "note.record", Payload: report.Observation}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Every other end is a refusal, which says how it ended and cites the end of standard error (150).
func TestRefusals(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"a status", `exit 7`, "the program ended with exit status 7"},
		{"a status and a reason", `echo 'no disk' >&2; exit 7`, "the program ended with exit status 7:\nno disk"},
		{"what it printed before does not count", `echo '{"evidence":[{"kind":"note_recorded","result":"recorded"}]}'; exit 1`, "the program ended with exit status 1"},
		{"a long reason (150)", `i=0; while [ $i -lt 5000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 7`, "the program ended with exit status 7:\n" + numbered(4990, 5000)},
		{"a long line (150)", `head -c 100000 /dev/zero | tr '\0' a >&2; exit 7`, "the program ended with exit status 7:\n" + strings.Repeat("a", tailBytes)},
		{"bytes that are no text", `printf 'a\377b' >&2; exit 7`, "the program ended with exit status 7:\na\uFFFDb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBothWays(t, func(t *testing.T, members string) {
				report, err := does(t, members, tc.script, `{}`)
				if err != nil || report.Refused != tc.want || report.Text != "" || report.Observation != "" {
					t.Errorf("%+v (%v), want %q", report, err, tc.want)
				}
			})
		})
	}
	report, err := does(t, "", `kill -KILL $$`, `{}`)
	if want := "the program ended with signal: killed"; err != nil || report.Refused != want {
		t.Errorf("%+v (%v), want %q", report, err, want)
	}
}

func numbered(from, to int) string {
	var lines []string
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	return strings.Join(lines, "\n")
}

func TestTailSplitsNoCharacter(t *testing.T) {
	for _, s := range []string{"é", "€", "😀"} {
		for pad := range 4 {
			got := tail([]byte(strings.Repeat(s, tailBytes) + strings.Repeat("a", pad)))
			if len(got) > tailBytes || len(got) <= tailBytes-4 || strings.Contains(got, "\uFFFD") || strings.Trim(got, s+"a") != "" {
				t.Errorf("%q", got)
			}
		}
	}
}

// Arguments arrive on standard input as they are, and then its end.
func TestArgumentsArrive(t *testing.T) {
	inBothWays(t, func(t *testing.T, members string) {
		const arguments = `{"text":"$(touch x); \u001b[2J é","n":1e400}`
		report, err := does(t, members, `printf '{"got":'; cat; printf '}'`, arguments)
		if want := `{"got":` + arguments + `}`; err != nil || report.Text != want {
			t.Errorf("%+v (%v), want %s", report, err, want)
		}
	})
}

// A program that does not read what it is given ends all the same, and so do we not by a broken pipe (153).
func TestArgumentsMayBeLeftUnread(t *testing.T) {
	inBothWays(t, func(t *testing.T, members string) {
		report, err := does(t, members, `exec <&-; echo '{}'`, `{"text":"`+strings.Repeat("a", 5<<20)+`"}`)
		if err != nil || report.Text != "{}" {
			t.Errorf("%+v (%v)", report, err)
		}
	})
}

// Words of argv are words, whatever a shell would make of them (154).
func TestArgvIsLiteral(t *testing.T) {
	inBothWays(t, func(t *testing.T, members string) {
		w := folder(t)
		w.write(t, "program", `printf '{"n":%d,"argv":["%s","%s","%s","%s"]}' $# "$1" "$2" "$3" "$4"`)
		b := bind(t, w, `{"protocol":"team-ops@1","bindings":[{"action":"note.record","argv":["./program","; touch made","$HOME","*",""]`+members+`}]}`)
		report, err := b.Open(effect.Intent{}).Perform(t.Context(), recordNote(`{}`))
		if want := `{"n":4,"argv":["; touch made","$HOME","*",""]}`; err != nil || report.Text != want {
			t.Errorf("%+v (%v), want %s", report, err, want)
		}
		if _, err := os.Stat(filepath.Join(w.Folder, "made")); err == nil {
			t.Error("a shell has read argv")
		}
	})
}

// The environment is PATH, and what the shell of the program makes itself (152).
func TestEnvironmentIsPATHAlone(t *testing.T) {
	t.Setenv("LOOM_SECRET", "x")
	t.Setenv("HOME", "/nowhere")
	inBothWays(t, func(t *testing.T, members string) {
		report, err := does(t, members, `printf '{"names":"%s","path":"%s"}' "$(env | cut -d= -f1 | tr '\n' ' ')" "$PATH"`, `{}`)
		v, parsed := strictjson.Parse([]byte(report.Text), strictjson.MaxDepth)
		names, _ := v.Get("names")
		path, _ := v.Get("path")
		ofTheShell := []string{"PWD", "OLDPWD", "SHLVL", "_"}
		got := slices.DeleteFunc(strings.Fields(names.Text), func(name string) bool { return slices.Contains(ofTheShell, name) })
		if err != nil || parsed != nil || !slices.Equal(got, []string{"PATH"}) || path.Text != "/usr/bin:/bin" {
			t.Errorf("%+v (%v)", report, err)
		}
	})
}

// A program runs in the current folder (D16), and writes there as far as it is allowed to.
func TestFolderAndWhatMayBeWritten(t *testing.T) {
	for _, tc := range []struct{ members, want string }{
		{"", "yes yes"},
		{`,"confine":{"write":["notes"]}`, "no yes"},
		{`,"confine":{}`, "no no"},
	} {
		needSandbox(t, tc.members)
		w := folder(t)
		w.write(t, "program", `try() { if (: >"$1") 2>/dev/null; then printf yes; else printf no; fi; }; printf '{"in":"%s","wrote":"%s %s"}' "$(pwd -P)" "$(try here)" "$(try notes/there)"`)
		if err := os.Mkdir(filepath.Join(w.Folder, "notes"), 0o700); err != nil {
			t.Fatal(err)
		}
		report, err := recorder(t, w, tc.members).Open(effect.Intent{}).Perform(t.Context(), recordNote(`{}`))
		if want := `{"in":"` + w.Folder + `","wrote":"` + tc.want + `"}`; err != nil || report.Text != want {
			t.Errorf("%s: %+v (%v), want %s", tc.members, report, err, want)
		}
	}
}

// What was not started has done nothing, so the run goes on.
func TestProgramThatDoesNotStart(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"it is gone":           os.Remove,
		"it is no program":     func(path string) error { return os.WriteFile(path, []byte("\x7fELF and no more"), 0o700) },
		"it may not be":        func(path string) error { return os.Chmod(path, 0) },
		"its shell is missing": func(path string) error { return os.WriteFile(path, []byte("#!/nowhere/sh\n"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			w := folder(t)
			w.write(t, "program", "echo '{}'")
			p := recorder(t, w, "").Open(effect.Intent{})
			if err := spoil(filepath.Join(w.Folder, "program")); err != nil {
				t.Fatal(err)
			}
			report, err := p.Perform(t.Context(), recordNote(`{}`))
			if err != nil || !strings.HasPrefix(report.Refused, "the program was not started: start program: ") {
				t.Errorf("%+v (%v)", report, err)
			}
		})
	}
}

// Arguments that do not fit start nothing, whoever proposed them.
func TestMisfitsStartNothing(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "touch started; echo '{}'")
	p := recorder(t, w, `,"arguments":{}`).Open(effect.Intent{})
	report, err := p.Perform(t.Context(), recordNote(`{"a":1}`))
	if err != nil || report.Refused != "the arguments do not fit note.record: no such member: a" {
		t.Errorf("%+v (%v)", report, err)
	}
	if _, err := os.Stat(filepath.Join(w.Folder, "started")); err == nil {
		t.Error("the program was started")
	}
}

// A program that was started and whose end nobody can tell may have done anything: that is no refusal.
func TestUnknownEndFailsTheRun(t *testing.T) {
	signal.Ignore(syscall.SIGCHLD) // the system then takes the end of children, and tells nobody
	defer func() {                 // signal.Reset undoes no Ignore
		ends := make(chan os.Signal, 1)
		signal.Notify(ends, syscall.SIGCHLD)
		signal.Stop(ends)
	}()
	report, err := does(t, "", "echo '{}'", `{}`)
	if err == nil || !strings.HasPrefix(err.Error(), "the program was started, and what it did is not known: ") {
		t.Errorf("%+v (%v)", report, err)
	}
}

// Where a program cannot be confined, nothing is performed: there is no fallback (173, 175).
func TestNoConfinementNoEffect(t *testing.T) {
	w := folder(t)
	w.write(t, "program", "touch notes/started; echo '{}'")
	if err := os.Symlink("/tmp", filepath.Join(w.Folder, "notes")); err != nil {
		t.Fatal(err)
	}
	b := recorder(t, w, ways[1].members)
	why := noConfinement()
	if err := b.CheckConfinement(t.Context()); err == nil || !strings.HasPrefix(err.Error(), why) {
		t.Errorf("before the run: %v, want %s", err, why)
	}
	report, err := b.Open(effect.Intent{}).Perform(t.Context(), recordNote(`{}`))
	if err != nil || !strings.HasPrefix(report.Unconfined, why) || report.Refused != "" || report.Text != "" {
		t.Errorf("%+v (%v), want %s", report, err, why)
	}
	if err := recorder(t, w, "").CheckConfinement(t.Context()); err != nil {
		t.Errorf("of a program that is not to be confined: %v", err)
	}
}

// noConfinement is why a folder behind a symbolic link is not given to a program: where there is no bubblewrap, that
// comes first.
func noConfinement() string {
	if info, err := os.Stat(sandbox.Backend); err != nil || !info.Mode().IsRegular() {
		return "BackendMissing: "
	}
	return "ScopeInvalid: "
}

func TestLimitIsThatOfTheFile(t *testing.T) {
	f, err := Parse([]byte(`{"protocol":"p@1","timeout_seconds":7,"bindings":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	b := &Binding{file: f}
	if got := b.spec(Bound{Confine: new(Confine)}, process.Command{}).Limits.Time; got != 7*time.Second {
		t.Errorf("a confined program may take %v", got)
	}
}
