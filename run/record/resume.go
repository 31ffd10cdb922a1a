package record

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// OverError says that a run has come to an end and does not go on.
type OverError struct{ Stop, Detail string }

// Error says how the run ended.
func (e *OverError) Error() string {
	if e.Detail == "" {
		return "the run is over: " + e.Stop
	}
	return fmt.Sprintf("the run is over: %s (%s)", e.Stop, e.Detail)
}

// InDoubtError says that an effect of a run was begun and has not reported, so that it is not known
// whether it was performed. A person who has looked says which.
type InDoubtError struct {
	Step      int
	Action    string
	Arguments string // compact JSON
}

// Error names the effect.
func (e *InDoubtError) Error() string {
	return fmt.Sprintf("it is not known whether step %d, %s %s, was performed", e.Step, e.Action, e.Arguments)
}

// ChangedError says that a run cannot go on with what there is now.
type ChangedError struct{ What string }

// Error says what is another now.
func (e *ChangedError) Error() string { return e.What }

// Resumable tells whether a run with such a summary can go on (D17): its stop was an approval that is
// wanted, a budget or a missing model, or it did not stop by a rule at all.
func Resumable(s journal.Summary) bool {
	return slices.Contains([]string{
		"", journal.InterruptedStop, journal.FailedStop,
		string(event.ApprovalRequired), string(event.StepBudget), string(event.NeedsModel),
	}, s.Stop)
}

// Resume goes on with a run (D17): under the same case, definition and binding, with what its record
// holds, so that nothing that was performed is performed again. Of the options, Catalog is what the host
// offers now, which must still have the definition; Intent, Protocol, Threshold and ContextPolicy are those of the run.
// MaxSteps counts from here. Outcome is what a person says of an effect that is in doubt.
//
// Before it goes on nothing is changed, and these are errors: *journal.HeldError, journal.ErrNoRun, *journal.BrokenError,
// *OverError, *InDoubtError, *ChangedError, and a *DiffersError where this version would not have done what
// the record holds.
func Resume(ctx context.Context, o Options, id string, outcome event.Outcome) (Ended, error) {
	o.settle()
	o.ID = id
	lease, err := o.Store.Take(ctx, id, o.Holder)
	if err != nil {
		return Ended{}, err
	}
	r := &recorder{Options: o, reader: o.Events}
	rec, b, err := r.continuable(ctx, outcome)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		defer cancel()
		return Ended{}, errors.Join(err, o.Store.Release(ctx, lease))
	}
	ctx, r.lost = context.WithCancelCause(ctx)
	defer r.lost(nil)
	r.lease, r.leased = lease, true
	r.hold()
	err = r.goOn(ctx, rec, b, outcome)
	options := r.Options.Options
	if err == nil {
		err = r.set(&options, rec, b)
	}
	if unheard, ok := errors.AsType[*run.ReaderError](err); ok {
		err = unheard.Err
	}
	if err != nil {
		err = errors.Join(err, r.end(ctx))
		return Ended{run.Outcome{Run: id}, r.stored}, err
	}
	return r.carryOut(ctx, options)
}

// continuable reads the record of a run and refuses what keeps it from going on.
func (r *recorder) continuable(ctx context.Context, outcome event.Outcome) (*journal.Record, journal.Beginning, error) {
	rec, err := r.Store.Read(ctx, r.ID)
	if err != nil {
		return nil, journal.Beginning{}, err
	}
	if err := rec.Verify(); err != nil {
		return nil, journal.Beginning{}, err
	}
	b, err := beginning(rec)
	if err != nil {
		return nil, b, err
	}
	if r.summary, err = journal.Summarise(rec.Entries); err != nil {
		return nil, b, err
	}
	r.stored = r.summary
	switch doubt, err := inDoubt(rec.Entries, r.summary); {
	case err != nil:
		return nil, b, err
	case !Resumable(r.summary):
		return nil, b, &OverError{r.summary.Stop, r.summary.Detail}
	case doubt != nil && outcome == "":
		return nil, b, doubt
	case doubt == nil && outcome != "":
		return nil, b, errors.New("no effect of the run is in doubt, so there is nothing to say about one")
	}
	if err := unchanged(b, rec.Entries, r.Catalog, r.Bindings); err != nil {
		return nil, b, err
	}
	return rec, b, replay(rec, r.Bindings, false)
}

// inDoubt gives the effect that has not reported.
func inDoubt(entries []journal.Entry, s journal.Summary) (*InDoubtError, error) {
	if s.InDoubt == "" {
		return nil, nil
	}
	for _, e := range slices.Backward(entries) {
		if e.Kind != journal.Asked || e.Name != journal.EffectStep+s.InDoubt {
			continue
		}
		var asked journal.Asking
		if err := journal.Decode(e.Body, &asked); err != nil {
			return nil, err
		}
		var request effect.Request
		err := journal.Decode(string(asked.About), &request)
		return &InDoubtError{request.Step, request.Action, request.Arguments}, err
	}
	return nil, fmt.Errorf("%w: it holds no begin of %s", journal.ErrDamaged, s.InDoubt)
}

// unchanged refuses another definition, and another binding, than the case was opened under. Where no case was opened
// yet, any definition that the run began with may still become that of its case.
func unchanged(b journal.Beginning, entries []journal.Entry, now catalog.Catalog, bindings []effect.Binding) error {
	opened, err := caseOpened(entries)
	if err != nil {
		return err
	}
	if opened == nil {
		for _, d := range b.Catalog {
			if offered, known := now.Get(d.Name); !known || offered.SHA256() != d.SHA256 {
				return &ChangedError{fmt.Sprintf("the catalog does not hold %s any more as it was when the run began; it has opened no case: start it anew", d.Name)}
			}
		}
		return nil
	}
	definition, known := now.Get(opened.Protocol)
	switch {
	case !known:
		return &ChangedError{fmt.Sprintf("the catalog does not hold %s any more, which the run's case was opened under", opened.Protocol)}
	case definition.SHA256() != opened.SHA256:
		return &ChangedError{fmt.Sprintf("the definition of %s is not the one the run's case was opened under: it has SHA-256 %s, and the case has %s",
			opened.Protocol, definition.SHA256(), opened.SHA256)}
	}
	for _, b := range bindings {
		if !b.Serves(definition.Protocol()) {
			continue
		}
		if b.SHA256() != opened.BindingSHA256 {
			return &ChangedError{fmt.Sprintf("the binding %s is not the one the run's case was opened with", b.Name())}
		}
		return nil
	}
	return &ChangedError{fmt.Sprintf("nothing here carries %s out; the run's case was opened with the binding %s", opened.Protocol, opened.Binding)}
}

// goOn enters that another sitting begins, and makes the record what is given back first.
func (r *recorder) goOn(ctx context.Context, rec *journal.Record, b journal.Beginning, outcome event.Outcome) error {
	budget := run.UnboundedMaxSteps
	if r.MaxSteps != nil {
		budget = *r.MaxSteps
	}
	sitting := 2
	r.chain = journal.NewChain(rec.Run)
	r.follow(rec.Entries)
	for _, e := range rec.Entries {
		if e.Kind == journal.Resumed {
			sitting++
		}
	}
	if r.Authority == nil {
		r.grants = &grants{now: r.Now}
		for _, e := range rec.Entries {
			if err := r.grants.take(e); err != nil {
				return err
			}
		}
		r.Authority = r.grants
	}
	told := event.Resumed{Steps: r.summary.Steps, Sitting: sitting, Outcome: outcome}
	err := r.enter(journal.Resumed, "", journal.Resumption{
		Version: r.Version, At: r.instant(), Told: told,
		Terms: journal.Terms{Budget: r.summary.Steps + min(budget, math.MaxInt-r.summary.Steps), Agent: r.Agent != nil},
	})
	if err != nil {
		return err
	}
	r.held = append(r.held, told)
	r.played = played{entries: append(slices.Clip(rec.Entries), r.pending...), at: 1, agent: absent{}}
	if r.Agent != nil {
		r.agent = r.Agent
	}
	return r.write(ctx)
}
