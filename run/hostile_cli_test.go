package run_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/cli"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
)

// answer is a reply as a server of chat completions sends it.
func answer(reply model.Reply) modeltest.Answer {
	calls := make([]document.Value, len(reply.Calls))
	for i, c := range reply.Calls {
		calls[i] = document.MapOf(
			document.M("index", document.IntOf(int64(i))), document.M("id", document.TextOf(c.ID)), document.M("type", document.TextOf("function")),
			document.M("function", document.MapOf(
				document.M("name", document.TextOf(c.Name)), document.M("arguments", document.TextOf(strings.ToValidUTF8(c.Arguments, "?"))))))
	}
	delta := []document.Member{document.M("content", document.TextOf(reply.Text))}
	if len(calls) > 0 {
		delta = append(delta, document.M("tool_calls", document.ListOf(calls...)))
	}
	finish := map[model.Stop]string{model.StopToolCalls: "tool_calls", model.StopEndTurn: "stop", model.StopMaxOutputTokens: "length"}[reply.Stop]
	chunk := canonjson.Compact(document.MapOf(document.M("choices", document.ListOf(document.MapOf(
		document.M("index", document.IntOf(0)), document.M("finish_reason", document.TextOf(finish)), document.M("delta", document.MapOf(delta...)))))))
	return modeltest.Answer{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: "data: " + chunk + "\n\ndata: [DONE]\n\n",
	}
}

// cellar is vault with no action that waits for a person, which ends most runs early.
var cellar = strings.NewReplacer("id: vault", "id: cellar", "requires: [{capability: vault.key}]", "precondition: {claim: owner.here}").Replace(vault)

// onlyOurs checks that what a run printed has no line but those that the program makes, each where it belongs, and no
// character that a terminal would obey. Started are the programs that say that they were.
func onlyOurs(t *rapid.T, printed string, reasons, budget int, started []string, honestly, failed bool) {
	for _, c := range printed {
		if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029') {
			t.Errorf("%q is printed", c)
		}
	}
	lines := strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
	next := func() string {
		if len(lines) == 0 {
			return "(nothing)"
		}
		line := lines[0]
		lines = lines[1:]
		return line
	}
	must := func(line, prefix string) {
		if !strings.HasPrefix(line, prefix) {
			t.Fatalf("%.200q stands where a line with %q must", line, prefix)
		}
	}
	must(next(), "picked ")
	for range reasons {
		must(next(), "  reason: ")
	}
	var performed, evidence, expected []string
	for step := 1; ; step++ {
		line := next()
		for frontiers := 0; frontier.MatchString(line); frontiers++ {
			if frontiers == 1 {
				t.Fatal("two frontiers stand together")
			}
			line = next()
		}
		if strings.HasPrefix(line, "stopped: ") || failed && line == "(nothing)" {
			if complete := strings.HasPrefix(line, "stopped: Completed"); complete != (honestly && len(started) > 0 && strings.HasPrefix(started[len(started)-1], "summary.publish ")) {
				t.Errorf("%q after %q", line, started)
			}
			break
		}
		must(line, fmt.Sprintf("step %d: ", step))
		if failed && len(lines) == 0 {
			break
		}
		effect := next()
		if effect == "stopped: ApprovalRequired (vault.open)" && line == fmt.Sprintf("step %d: vault.open {}", step) {
			break
		}
		must(effect, "  effect: ")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "    | ") {
			next()
		}
		if strings.HasPrefix(effect, "  effect: refused: ") {
			continue
		}
		_, action, _ := strings.Cut(line, ": ")
		action, _, _ = strings.Cut(action, " ")
		performed = append(performed, action)
		what := next()
		must(what, "  evidence: ")
		evidence = append(evidence, what)
	}
	if len(lines) > 0 || len(performed) > budget {
		t.Errorf("more lines follow: %.300q", lines)
	}
	for i, line := range started {
		action, _, _ := strings.Cut(line, " ")
		proof := map[string]string{"note.record": "note_recorded recorded", "summary.publish": "summary_published published"}[action]
		if proof == "" || !honestly {
			proof = "none"
		}
		expected = append(expected, "  evidence: "+proof)
		if i < len(performed) && performed[i] != action {
			t.Errorf("%s is shown as performed, and %s was started", performed[i], action)
		}
	}
	// A program whose report cannot be used fails the run, and its effect is not told.
	if unused := len(started) - len(performed); unused == 1 && failed {
		expected = expected[:len(performed)]
	}
	if !slices.Equal(evidence, expected) {
		t.Errorf("the evidence shown is\n%q\nwhere there is\n%q", evidence, expected)
	}
}

var frontier = regexp.MustCompile(`^frontier: note\.record \(admissible\), note\.touch \(admissible\), summary\.publish \((admissible|blocked)\), vault\.erase \(blocked\), vault\.open \((blocked|approval required)\)$`)

// The same model, at the other end of a connection, against the whole program: what it and the programs say becomes no
// line of ours.
func TestHostileModelForgesNoLine(t *testing.T) {
	runsDrawn(t, 300)
	folder := t.TempDir()
	t.Chdir(folder)
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(folder, "home"))
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loom := func(args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = cli.Main(append([]string{"loom"}, args...), nil, &o, &e)
		return status, o.String(), e.String()
	}
	files := layVault(t, folder)
	for name, yaml := range map[string]string{"vault": vault, "cellar": cellar} {
		for i, text := range files {
			write(fmt.Sprintf("%s-%d.json", name, i), strings.Replace(text, "vault@1", name+"@1", 1))
		}
		write(name+".yaml", yaml)
		if status, _, errs := loom("protocols", "add", name+"@1", "--file", name+".yaml"); status != 0 {
			t.Fatal(errs)
		}
	}
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		_ = os.Remove("starts")
		protocol := rapid.SampledFrom([]string{"vault", "cellar", "cellar", "cellar"}).Draw(t, "protocol")
		kind := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "programs")
		replies := rapid.SliceOfN(hostileReply, 1, 8).Draw(t, "replies")
		reasons := rapid.SliceOfN(rapid.SampledFrom(forged), 0, 3).Draw(t, "reasons")
		pick := canonjson.Compact(document.MapOf(
			document.M("protocol", document.TextOf(protocol+"@1")), document.M("confidence", document.NumberOf("0.9")), document.M("reasons", document.TextsOf(reasons))))
		recording := &modeltest.Recording{Answers: []modeltest.Answer{
			answer(model.Reply{Stop: model.StopToolCalls, Calls: []model.Call{{ID: "c", Name: "pick_protocol", Arguments: pick}}}),
		}}
		for _, r := range replies {
			recording.Answers = append(recording.Answers, answer(r))
		}
		server, err := modeltest.Serve(recording, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Close() }()
		write("models.toml", modeltest.CatalogTOML(server.BaseURL()))
		status, out, errs := loom("run", "--catalog", "models.toml", "--classifier-model", "demo-classifier", "--model", "demo-agent", "--context-policy", "legacy",
			"--max-steps", fmt.Sprint(len(replies)), "--action-bindings", fmt.Sprintf("%s-%d.json", protocol, kind), "--unconfined-bindings", "note and publish")
		data, err := os.ReadFile("starts")
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		started := strings.FieldsFunc(string(data), func(c rune) bool { return c == '\n' })
		onlyOurs(t, out, len(reasons), len(replies), started, kind == 0, status == 1)
		for line := range strings.Lines(errs) {
			if line != "bound commands: unconfined (--unconfined-bindings)\n" && !strings.HasPrefix(line, "loom: ") {
				t.Errorf("on standard error stands %.200q", line)
			}
		}
		ends[fmt.Sprint("exit status ", status)]++
		if strings.Contains(out, "\n  evidence: note_recorded recorded\n") {
			ends["with evidence"]++
		}
		if t.Failed() {
			t.Logf("%d\n%.5000s\n%.1000s\n%.1000q", status, out, errs, started)
		}
	})
	t.Log(ends)
	if !testing.Short() && ends["with evidence"] == 0 {
		t.Error("the draws do not reach what they are about")
	}
}
