package run_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/command"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/workingcontext"
)

// runsDrawn makes rapid draw so many runs.
func runsDrawn(t *testing.T, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	if err := checks.Value.Set(fmt.Sprint(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(before) })
}

// witness stands between a run and its programs and judges each start by a governor of its own, which knows nothing of
// the run but the evidence.
type witness struct {
	effect.Binding
	t        *rapid.T
	rules    *governor.Rules
	governor *governor.Governor
	shadow   string   // the case there
	started  []string // ACTION ARGUMENTS
	now      time.Time
}

type witnessed struct {
	effect.Port
	*witness
}

func (w *witness) Open(intent effect.Intent) effect.Port {
	return witnessed{w.Binding.Open(intent), w}
}

func (w *witness) frontier() governor.Frontier {
	f, err := w.governor.Frontier(w.shadow, w.now.Format("2006-01-02T15:04:05Z"))
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w witnessed) Perform(ctx context.Context, r effect.Request) (effect.Report, error) {
	if admission := w.frontier().Admit(r.Action); admission.Verdict != governor.Perform {
		w.t.Errorf("%s is performed, and the frontier says %v: %s", r.Action, admission.Verdict, admission.Refusal)
	}
	w.started = append(w.started, r.Action+" "+r.Arguments)
	return w.Port.Perform(ctx, r)
}

// hear follows what is told of a run: the case is opened in the shadow too, and gets the evidence that was received.
func (w *witness) hear(e event.Event) error {
	var err error
	switch e := e.(type) {
	case event.CaseOpened:
		if w.governor, err = governor.New(governor.Definition{Name: e.Protocol, SHA256: e.SHA256, Rules: w.rules}); err == nil {
			w.shadow, err = w.governor.OpenCase(e.Protocol, governor.Opening{Revisions: e.Artifacts})
		}
	case event.EvidenceReceived:
		if e.Producer != "loom/bound-command-verifier" {
			w.t.Errorf("%s makes evidence", e.Producer)
		}
		_, err = w.governor.Evidence(w.shadow, governor.Received{Kind: e.Kind, Producer: e.Producer, Data: []byte(e.Data)})
	}
	return err
}

// offered checks that a model is offered what the frontier lists as open, or as open to a person's word, and nothing
// else but to look things up.
func (w *witness) offered(tools []model.Tool) {
	for _, tool := range tools {
		if slices.Contains(workingcontext.LookupTools, tool.Name) {
			continue
		}
		if !slices.ContainsFunc(w.frontier().Entries, func(e governor.FrontierEntry) bool {
			return strings.ReplaceAll(e.Action, ".", "_") == tool.Name && e.Status != governor.Blocked
		}) {
			w.t.Errorf("a model is offered %s", tool.Name)
		}
	}
}

// worst is a model that answers the next drawn reply, whatever it is asked.
type worst struct {
	*witness
	draws int
}

func (*worst) UpstreamName() string { return "m-worst" }

func (m *worst) Ask(_ context.Context, r model.Request) (model.Reply, error) {
	m.offered(r.Tools)
	m.draws++
	return hostileReply.Draw(m.t, fmt.Sprint("reply ", m.draws)), nil
}

// Propose is the same without tools, for a run that takes its proposals elsewhere: nothing but the governor is in the way.
func (m *worst) Propose(context.Context, run.Selection) (run.Proposal, error) {
	m.draws++
	action := rapid.SampledFrom(append(slices.Clone(vaultActions), forged...)).Draw(m.t, fmt.Sprint("proposal ", m.draws))
	return run.Proposal{Action: action, Arguments: hostileArguments.Draw(m.t, "arguments")}, nil
}

// fitsNote tells whether arguments are what note.record takes, without a schema.
func fitsNote(arguments string) bool {
	v, err := strictjson.Parse([]byte(arguments), strictjson.MaxDepth)
	text, given := v.Get("text")
	n, counted := v.Get("n")
	members := 1
	if counted {
		members = 2
	}
	return err == nil && given && text.Kind == document.Text && len([]rune(text.Text)) <= 500 && len(v.Members) == members &&
		(!counted || n.Kind == document.Number && !strings.HasPrefix(n.Text, "-"))
}

// A model that always picks the worst, against real programs: none is started that the frontier does not admit or with
// arguments that miss its schema, and nothing is completed but by the evidence of programs that did it.
func TestHostileModelStartsNothingElse(t *testing.T) {
	runsDrawn(t, 1000)
	folder := t.TempDir()
	files := layVault(t, folder)
	protocols, err := catalog.Bundled().AddYAML("vault@1", []byte(vault))
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := protocols.Get("vault@1")
	rules := governor.Prepare(entry.Protocol())
	var bindings [len(files)]*command.Binding
	for i, text := range files {
		file, err := command.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if bindings[i], err = command.Bind(file, protocols, command.Where{Folder: folder, Path: "/usr/bin:/bin"}); err != nil {
			t.Fatal(err)
		}
	}
	ends := map[string]int{}
	starts := 0
	rapid.Check(t, func(t *rapid.T) {
		log := filepath.Join(folder, "starts")
		if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		kind := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "programs")
		w := &witness{Binding: bindings[kind], t: t, rules: rules, now: time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC)}
		m := &worst{witness: w}
		var executor run.Executor
		if rapid.IntRange(0, 2).Draw(t, "proposer") == 0 {
			executor = m
		}
		outcome, err := run.Run(context.Background(), run.Options{
			Intent: "note and publish", ID: "run-1", Catalog: protocols, Protocol: "vault@1", Bindings: []effect.Binding{w},
			Authority: authority(always(rapid.SampledFrom([]run.Permission{run.Deny, run.Deny, run.Deny, run.NeedsApproval}).Draw(t, "authority"))),
			Agent:     m, Executor: executor, MaxSteps: new(rapid.IntRange(1, 12).Draw(t, "budget")), Events: w.hear, Now: func() time.Time { return w.now },
			ContextPolicy: rapid.SampledFrom([]run.ContextPolicy{run.ContextLegacy, run.ContextBounded}).Draw(t, "policy"),
		})
		data, readErr := os.ReadFile(log)
		if readErr != nil && !os.IsNotExist(readErr) {
			t.Fatal(readErr)
		}
		lines := slices.Collect(strings.Lines(string(data)))
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], "\n")
		}
		if !slices.Equal(lines, w.started) {
			t.Errorf("the programs say that they were started by\n%q\nand the run by\n%q", lines, w.started)
		}
		published := 0
		for _, line := range lines {
			action, arguments, _ := strings.Cut(line, " ")
			switch action {
			case "note.record":
				if !fitsNote(arguments) {
					t.Errorf("note.record is started with %.200s", arguments)
				}
			case "note.touch", "summary.publish":
				if arguments != "{}" {
					t.Errorf("%s is started with %.200s", action, arguments)
				}
				if action == "summary.publish" {
					published++
				}
			default:
				t.Errorf("%s was started", action)
			}
		}
		if complete := err == nil && outcome.Reason == event.Completed; complete != (published > 0 && kind == 0) {
			t.Errorf("the run ended with %v %v after\n%q", outcome.Reason, err, lines)
		}
		if kind != 0 && published > 0 {
			t.Error("a summary was published without a note")
		}
		if err != nil {
			ends["a failure"]++
		} else {
			ends[string(outcome.Reason)]++
		}
		starts += len(lines)
	})
	t.Log(ends, starts, "programs started")
	if !testing.Short() && (ends[string(event.Completed)] == 0 || ends[string(event.ApprovalRequired)] == 0 || starts < 500) {
		t.Error("the draws do not reach what they are about")
	}
}
