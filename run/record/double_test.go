package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/protocol"
)

// act is what an action of the double does. What comes of it follows from the request, so that it is the same
// in whichever sitting it is done.
type act struct {
	takes string // the schema of its arguments; empty: none are taken
	does  func(ctx context.Context, r effect.Request) deed
}

func does(d deed) act { return act{does: func(context.Context, effect.Request) deed { return d }} }

// deed is what comes of performing an action once.
type deed struct {
	says, refuses string
	fails         string            // Perform gives this error
	moves         map[string]string // artifact revisions
	proves        []string          // records: KIND [RESULT] on SUBJECT
	why           string            // there is no evidence
	lies          string            // the verifier fails
}

// begunEffect is a line of the log of effects: what was begun, written before anything of it was done.
type begunEffect struct {
	Run       string
	Step      int
	Action    string
	Arguments string
}

// effects is the log of all effects that were begun: what really happened, whatever a record says. With a path it
// is a file that outlives a process.
type effects struct {
	path string

	mu  sync.Mutex
	log []begunEffect
}

func (e *effects) begin(r effect.Request) error {
	line := begunEffect{r.Run, r.Step, r.Action, r.Arguments}
	if e.path != "" {
		return appendLine(e.path, line)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = append(e.log, line)
	return nil
}

// begun gives the log.
func (e *effects) begun() ([]begunEffect, error) {
	if e.path != "" {
		return readLines[begunEffect](e.path)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.log), nil
}

// appendLine adds a line of JSON to a file, and waits until it is on the disk.
func appendLine(path string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

func readLines[T any](path string) ([]T, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var all []T
	for line := range strings.Lines(string(data)) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// double is a recording binding: it logs each effect before it does anything, then reports, moves revisions and
// leaves evidence to its verifier.
type double struct {
	protocol *protocol.Protocol
	acts     map[string]act
	effects  *effects
	digest   string
	gone     bool // the world is taken away

	sceptical string // the action that the verifier makes no evidence of
	producer  string // of evidence
	reach     string // is added to what its actions reach
}

func (d *double) Name() string { return "double" }

func (d *double) SHA256() string { return d.digest }

func (*double) Lacks(*protocol.Protocol) string { return "" }

func (d *double) Reach(action string) string { return "does " + action + d.reach }

func (d *double) Serves(p *protocol.Protocol) bool { return p.SameRules(d.protocol) }

func (d *double) Open(effect.Intent) effect.Port { return d }

// Start opens every artifact at its own name and -1.
func (d *double) Start(context.Context) (map[string]string, error) {
	d.mustBeThere()
	revisions := map[string]string{}
	for _, a := range d.protocol.Artifacts {
		revisions[a.ID] = a.ID + "-1"
	}
	return revisions, nil
}

func (d *double) mustBeThere() {
	if d.gone {
		panic("a replayed run touches the world")
	}
}

func (d *double) Performs(action string) bool {
	_, ok := d.acts[action]
	return ok
}

func (d *double) Arguments(action string) string {
	if d.acts[action].takes == "" {
		return effect.NoArguments
	}
	return d.acts[action].takes
}

func (d *double) CheckArguments(action, arguments string) string {
	if d.acts[action].takes == "" && arguments != "{}" {
		return action + " takes no arguments"
	}
	return ""
}

// observed is what a deed leaves for the verifier.
type observed struct {
	Proves    []string
	Why, Lies string
}

func (d *double) Perform(ctx context.Context, r effect.Request) (effect.Report, error) {
	d.mustBeThere()
	if err := d.effects.begin(r); err != nil {
		return effect.Report{}, err
	}
	it := d.acts[r.Action].does(ctx, r)
	if it.fails != "" {
		return effect.Report{}, errors.New(it.fails)
	}
	observation, err := json.Marshal(observed{it.proves, it.why, it.lies})
	return effect.Report{Refused: it.refuses, Text: it.says, Source: "double", Observation: string(observation), Revisions: it.moves}, err
}

func (d *double) Verify(r effect.Request, report effect.Report) (effect.Verdict, error) {
	var o observed
	if err := json.Unmarshal([]byte(report.Observation), &o); err != nil {
		return effect.Verdict{}, err
	}
	if o.Lies != "" {
		return effect.Verdict{}, errors.New(o.Lies)
	}
	verdict := effect.Verdict{Why: o.Why}
	if r.Action == d.sceptical {
		return verdict, nil
	}
	for i, written := range o.Proves {
		what, subject, _ := strings.Cut(written, " on ")
		kind, result, has := strings.Cut(what, " ")
		proof := governor.Record{ID: fmt.Sprintf("e%d.%d", r.Step, i+1), Kind: kind, Subject: subject, SubjectRevision: r.Artifacts[subject]}
		if has {
			proof.Result = &result
		}
		if moved, ok := report.Revisions[subject]; ok {
			proof.SubjectRevision = moved
		}
		verdict.Evidence = append(verdict.Evidence, effect.Evidence{Record: proof, Producer: d.producer})
	}
	return verdict, nil
}
