// Package run carries one intent out: it picks a protocol, opens a case, and goes on proposing,
// checking, performing and verifying until evidence completes the case or a rule stops the run.
//
// The model only proposes. What is admissible, what counts as evidence and when the work is done is
// decided by the governor, from records that verifiers made (governed-runs 5).
package run

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/reference"
	"github.com/loomrun/loom/run/workingcontext"
)

const (
	// DefaultMaxSteps is the budget of the command line (1.2). Refused steps count.
	DefaultMaxSteps = 20
	// UnboundedMaxSteps is where a run without a budget ends all the same (5.4).
	UnboundedMaxSteps = 64
	// MaxIntentBytes bounds an intent.
	MaxIntentBytes = 1 << 20
)

// DefaultThreshold is the confidence below which a pick is unsure (1.2).
var DefaultThreshold = MustDecimal("0.5")

// Options say what a run is, with what, and for whom.
type Options struct {
	Intent   string
	ID       string // of the run; empty: one is drawn
	Catalog  catalog.Catalog
	Bindings []effect.Binding // the first that serves the picked protocol carries it out

	// Protocol, where it is set, is the registration to use; nothing is classified then (D11).
	Protocol string
	// Classifier picks a protocol. Nil: the built-in matcher does.
	Classifier model.Client
	// Agent proposes actions. Nil: only forced moves are made, and a step that needs a model stops
	// the run with NeedsModel.
	Agent model.Client
	// Sitting gives what holds now, in the place of Agent and MaxSteps, for a run that is resumed: where it gives another
	// number after a stop was told, the run goes on. Nil: there is one sitting.
	Sitting func() Sitting
	// Executor proposes actions in the place of forced moves and Agent. May be nil.
	Executor Executor
	// Threshold is the least confidence of an accepted pick; the zero Decimal accepts every pick
	// that is in the catalog.
	Threshold Decimal
	// MaxSteps is the step budget; nil: UnboundedMaxSteps.
	MaxSteps *int
	// ContextPolicy says what the agent model is shown of the run.
	ContextPolicy ContextPolicy
	// Account is told what the requests to models come to. May be nil.
	Account *Account
	// Authority grants capabilities. Nil: every capability needs approval.
	Authority Authority

	// Events receives what happens, as it happens. An error it returns fails the run, and it is told
	// nothing after that. May be nil.
	Events func(event.Event) error
	// Seam is where the run touches the world. Nil: Direct.
	Seam Seam
	// Now is the clock that evaluations are stamped with (D23). Nil: time.Now.
	Now func() time.Time
}

// Outcome is how a run stopped.
type Outcome struct {
	Run      string // the run's id; empty where none was given or drawn
	Reason   event.StopReason
	Detail   string
	Protocol string // the registration; empty where none was accepted
	Case     string // empty where none was opened
	Steps    int
	Report   string // of the last effect that was performed
}

// IntentRevision gives the revision of an intent as an artifact: intent-sha256- and 64 hexadecimal
// digits (6.1).
func IntentRevision(intent string) string {
	sum := sha256.Sum256([]byte(intent))
	return "intent-sha256-" + hex.EncodeToString(sum[:])
}

// runner is the state of one run.
type runner struct {
	Options
	id        string // of the run
	turns     int
	steps     int
	outcome   Outcome
	rules     *governor.Rules
	governor  *governor.Governor
	port      effect.Port
	toolNames map[string]string // by action
	history   transcript
	before    *governor.Frontier      // as it was before the previous step
	pending   *Proposal               // that waits for its approval
	working   *workingcontext.Context // in the place of history under ContextBounded
	context   observed                // what the model has been shown that bears a label
	shelved   map[string]uint64       // actions not offered again while the case is at this revision
	unheard   *ReaderError            // what Events said when it failed; it is told nothing more
}

// Run carries an intent out. It gives how the run stopped; an error means that it failed, and an
// effect that was performed before stays performed.
func Run(ctx context.Context, options Options) (Outcome, error) {
	return newRunner(options).carryOut(ctx)
}

func newRunner(options Options) *runner {
	r := &runner{Options: options, shelved: map[string]uint64{}, outcome: Outcome{Run: options.ID}}
	if r.Seam == nil {
		r.Seam = Direct{}
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Authority == nil {
		r.Authority = AskAlways{}
	}
	return r
}

func (r *runner) carryOut(ctx context.Context) (Outcome, error) {
	err := r.run(ctx)
	r.outcome.Steps = r.steps
	if unheard, ok := errors.AsType[*ReaderError](err); ok {
		return r.outcome, unheard // that is what failed, whatever was being done
	}
	if err != nil {
		failed := event.Failed{
			Error: validText(err.Error()), Protocol: r.outcome.Protocol, Steps: r.steps, CaseOpen: r.outcome.Case != "",
		}
		_, failed.Interrupted = errors.AsType[*interruption](err)
		if unheard := r.emit(failed); unheard != nil {
			err = errors.Join(err, unheard)
		}
	}
	return r.outcome, err
}

func (r *runner) run(ctx context.Context) error {
	if err := r.Check(); err != nil {
		return err
	}
	r.history.references = reference.Extract(r.Intent)
	for _, ref := range r.history.references {
		if err := r.emit(event.ReferenceFound{Kind: string(ref.Kind), Value: ref.Value}); err != nil {
			return err
		}
	}
	entry, err := r.pick(ctx)
	if err != nil || entry == nil {
		return err
	}
	binding, lacks := r.binding(entry), NoExecutor(entry.Name)
	if binding != nil {
		lacks = binding.Lacks(entry.Protocol())
	}
	if err := r.emit(event.Routed{Protocol: entry.Name, Accepted: lacks == ""}); err != nil {
		return err
	}
	r.outcome.Protocol = entry.Name
	if lacks != "" {
		return r.stop(event.NoLocalExecutor, lacks)
	}
	if err := r.open(ctx, entry, binding); err != nil {
		return err
	}
	return r.loop(ctx)
}

// Check refuses what can be refused before anything is asked or told. Run begins with it.
func (o Options) Check() error {
	switch {
	case len(o.Intent) > MaxIntentBytes:
		return fmt.Errorf("the intent is longer than %d bytes", MaxIntentBytes)
	case !utf8.ValidString(o.Intent):
		return errors.New("the intent is not UTF-8")
	}
	entries := o.Catalog.Entries()
	if len(entries) == 0 {
		return errors.New("the catalog holds no definition")
	}
	for _, e := range entries {
		if e.Source.Bundled() {
			continue // a test holds these to the rule; they need not be compiled for it here
		}
		if err := governor.CheckDefinition(e.Name, e.Protocol()); err != nil {
			return err
		}
	}
	if _, known := o.Catalog.Get(o.Protocol); o.Protocol != "" && !known {
		return fmt.Errorf("the catalog holds no %s; it holds %s", o.Protocol, strings.Join(o.Catalog.Names(), ", "))
	}
	return nil
}

// NoExecutor says why a definition cannot be carried out here (1.8).
func NoExecutor(name string) string {
	return name + " requires bindings or artifact initialization beyond the supported system.time.read clock contract"
}

func (r *runner) binding(entry *catalog.Entry) effect.Binding {
	for _, b := range r.Bindings {
		if b.Serves(entry.Protocol()) {
			return b
		}
	}
	return nil
}

// open opens the case.
func (r *runner) open(ctx context.Context, entry *catalog.Entry, binding effect.Binding) error {
	if r.id = r.ID; r.id == "" {
		var err error
		if r.id, err = outside(ctx, r, Step{Name: "run id"}, func(context.Context) (string, error) { return rand.Text(), nil }); err != nil {
			return err
		}
	}
	r.outcome.Run = r.id
	r.port = binding.Open(effect.Intent{Text: r.Intent, Revision: IntentRevision(r.Intent)})
	if err := r.bound(ctx); err != nil {
		return err
	}
	revisions, err := outside(ctx, r, Step{Name: "start", About: binding.Name()}, r.port.Start)
	if err != nil {
		return fmt.Errorf("start %s: %w", binding.Name(), err)
	}
	r.rules = governor.Prepare(entry.Protocol())
	if r.governor, err = governor.New(governor.Definition{Name: entry.Name, SHA256: entry.SHA256(), Rules: r.rules}); err != nil {
		return err
	}
	if r.outcome.Case, err = r.governor.OpenCase(entry.Name, governor.Opening{Revisions: revisions}); err != nil {
		return fmt.Errorf("open a case of %s: %w", entry.Name, err)
	}
	actions := make([]string, len(entry.Protocol().Actions))
	for i, a := range entry.Protocol().Actions {
		actions[i] = a.ID
	}
	opened := event.CaseOpened{
		Case: r.outcome.Case, Protocol: entry.Name, SHA256: entry.SHA256(), Binding: binding.Name(), BindingSHA256: binding.SHA256(),
		Revision: 1, Artifacts: revisions,
		Performs: slices.DeleteFunc(slices.Clone(actions), func(a string) bool { return !r.port.Performs(a) }),
	}
	if err := r.emit(opened); err != nil {
		return err
	}
	var reserved []string
	if r.ContextPolicy == ContextBounded {
		r.working = workingcontext.New(r.Intent, r.history.references)
		reserved = workingcontext.LookupTools
	}
	r.toolNames = toolNames(actions, reserved...)
	return nil
}

// emit tells events. The first error ends the run, and nothing is told after it.
func (r *runner) emit(events ...event.Event) error {
	for _, e := range events {
		if r.Events == nil || r.unheard != nil {
			break
		}
		if err := r.Events(e); err != nil {
			r.unheard = &ReaderError{err}
		}
	}
	if r.unheard != nil {
		return r.unheard
	}
	return nil
}

// stop ends the run by a rule.
func (r *runner) stop(reason event.StopReason, detail string) error {
	r.outcome.Reason, r.outcome.Detail = reason, detail
	return r.emit(event.Stopped{
		Reason: reason, Detail: detail,
		Protocol: r.outcome.Protocol, Steps: r.steps, CaseOpen: r.outcome.Case != "",
	})
}
