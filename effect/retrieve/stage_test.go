package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/run"

	"pgregory.net/rapid"
)

// Atoms of the cases of section 11.
const (
	owner  = "https://cfc.test/atom/owner"
	work   = "https://cfc.test/atom/facet/work"
	health = "https://cfc.test/atom/facet/health"
)

// upTo makes a ceiling of texts.
func upTo(t testing.TB, atoms ...string) label.Ceiling {
	t.Helper()
	quoted := make([]string, len(atoms))
	for i, a := range atoms {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	c, err := label.ReadCeiling([]byte("[" + strings.Join(quoted, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hit is a row of a search, labelled with atoms; unlabelled where there are none.
func hit(title string, atoms ...string) string {
	ifc := ""
	if len(atoms) > 0 {
		ifc = `,"ifc":{"confidentiality":["` + strings.Join(atoms, `","`) + `"],"integrity":[]}`
	}
	return fmt.Sprintf(`{"title":%q,"snippet":"about %s"%s}`, title, title, ifc)
}

func found(hits ...string) string {
	return `{"schemaVersion":1,"query":"q","hits":[` + strings.Join(hits, ",") + `],"source_status":{"google.gmail":{"status":"ok","hits":` +
		fmt.Sprint(len(hits)) + `}},"warnings":[],"truncated":false}`
}

// program answers calls with payloads by their first word, and keeps them.
type program struct {
	payloads map[string]string
	status   map[string]int
	fails    error
	calls    []string
}

func (p *program) Run(_ context.Context, argv []string) (retrieval.Exit, error) {
	p.calls = append(p.calls, strings.Join(argv, " "))
	if p.fails != nil {
		return retrieval.Exit{}, p.fails
	}
	return retrieval.Exit{Status: p.status[argv[0]], Stdout: []byte(p.payloads[argv[0]])}, nil
}

// agent is a model that calls what it is told to. {{N}} stands for the Nth token of the request.
type agent struct {
	turns []string
	asked []string // the inputs of its requests
	tools []string
}

func (*agent) UpstreamName() string { return "m" }

func (a *agent) Ask(_ context.Context, r model.Request) (model.Reply, error) {
	input := strings.Join(r.Input, "\n")
	a.asked = append(a.asked, input)
	a.tools = nil
	for _, tool := range r.Tools {
		a.tools = append(a.tools, tool.Name)
	}
	if len(a.asked) > len(a.turns) {
		return model.Reply{}, errors.New("no turn is left")
	}
	name, arguments, _ := strings.Cut(a.turns[len(a.asked)-1], " ")
	for i, token := range tokensIn(input) {
		arguments = strings.ReplaceAll(arguments, fmt.Sprintf("{{%d}}", i+1), token)
	}
	return model.Reply{Stop: model.StopToolCalls, Calls: []model.Call{{ID: "c", Name: name, Arguments: arguments}}}, nil
}

func tokensIn(text string) []string {
	var tokens []string
	for {
		at := strings.Index(text, "cfh:v:")
		if at < 0 || len(text) < at+11 {
			return tokens
		}
		if token := text[at : at+11]; !slices.Contains(tokens, token) && !strings.ContainsAny(token[6:], ` ",.:`) {
			tokens = append(tokens, token)
		}
		text = text[at+6:]
	}
}

// stage is a run under data-query@1, or under another protocol.
type stage struct {
	options  retrieve.Options
	program  *program
	reads    retrieval.Program // in the place of program
	turns    []string
	protocol string // another one: its definition
	bindings []effect.Binding
}

type played struct {
	events  []event.Event
	outcome run.Outcome
	err     error
	agent   *agent
}

// config writes a configuration of retrieval, of which nothing is started.
func config(t testing.TB, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "retrieval.json")
	text := `{"cliPath":"/nowhere/loom","transport":{"kind":"direct","instanceDir":"/nowhere","runId":"r"}` + more + `}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s stage) play(t rapid.TB) *played {
	t.Helper()
	p := &played{agent: &agent{turns: s.turns}}
	o := s.options
	if o.ConfigPath == "" {
		o.ConfigPath = config(t.(testing.TB), "")
	}
	if s.program == nil {
		s.program = &program{}
	}
	if s.reads == nil {
		s.reads = s.program
	}
	o.Program = func(*retrieval.Config) retrieval.Program { return s.reads }
	o.Now = func() time.Time { return time.Date(2026, 3, 12, 9, 0, 0, 0, time.UTC) }
	steps := len(s.turns)
	name, all := "data-query@1", catalog.Bundled()
	if s.protocol != "" {
		var err error
		if name = "other@1"; err == nil {
			all, err = all.AddYAML(name, []byte(s.protocol))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p.outcome, p.err = run.Run(context.Background(), run.Options{
		Intent: "when is it", ID: "run-1", Catalog: all, Protocol: name, Bindings: append(s.bindings, retrieve.New(o)), Agent: p.agent, MaxSteps: &steps,
		Events: func(e event.Event) error {
			p.events = append(p.events, e)
			return nil
		},
	})
	return p
}

// all gives the events of a type.
func all[T event.Event](p *played) []T {
	var found []T
	for _, e := range p.events {
		if e, ok := e.(T); ok {
			found = append(found, e)
		}
	}
	return found
}
