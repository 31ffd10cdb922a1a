package record

import (
	"context"
	"errors"
	"time"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// Replay plays a run again from its record through today's code: no model is asked, nothing is performed,
// no clock is read. Bindings are those that may serve the run's protocol. The error is a *DiffersError for
// the first thing that is done otherwise than it was. A record that breaks off, because the run was killed
// or is still going on, is played as far as it goes.
func Replay(rec *journal.Record, bindings []effect.Binding) error {
	return replay(rec, bindings, true)
}

// replay can let pass that a model is asked in other words.
func replay(rec *journal.Record, bindings []effect.Binding, exact bool) error {
	b, err := beginning(rec)
	if err != nil {
		return err
	}
	r := &recorder{played: played{entries: rec.Entries, at: 1, exact: exact, only: true, agent: absent{}}}
	o := run.Options{Bindings: bindings, Authority: absent{}, Now: func() time.Time { panic("a replayed run reads the clock") }}
	if err := r.set(&o, rec, b); err != nil {
		return err
	}
	_, err = run.Run(context.Background(), o)
	switch {
	case r.differs != nil:
		return r.differs
	case errors.Is(err, journal.ErrDamaged):
		return err
	case errors.Is(err, errRecordEnds):
		return nil
	case r.at < len(r.entries):
		return r.other("the end of the run")
	}
	return nil
}

// set gives a run the options that it began with.
func (r *recorder) set(o *run.Options, rec *journal.Record, b journal.Beginning) (err error) {
	if o.Catalog, err = offered(rec, b); err != nil {
		return err
	}
	if o.Threshold, err = run.ParseDecimal(b.Threshold); err != nil && b.Threshold != "" {
		return err
	}
	o.ID, o.Intent, o.Protocol, o.ContextPolicy = rec.Run, b.Intent, b.Protocol, run.ContextPolicy(b.ContextPolicy)
	switch {
	case !b.Classifier:
		o.Classifier = nil
	case o.Classifier == nil:
		o.Classifier = absent{}
	}
	switch {
	case !b.Executor:
		o.Executor = nil
	case o.Executor == nil:
		o.Executor = absent{}
	}
	o.Seam, o.Events, o.Sitting = r, r.tell, r.present
	r.sit(1, b.Terms)
	return nil
}

// absent stands for a model, an executor or an authority that was there when the run began and is not
// now. It is never asked where the record has the answer.
type absent struct{}

var errAbsent = errors.New("it is not there in this sitting of the run")

func (absent) UpstreamName() string { return "" }

func (absent) Ask(context.Context, model.Request) (model.Reply, error) {
	return model.Reply{}, errors.New("the run waits for the answer of a model, and there is none in this sitting")
}

func (absent) Propose(context.Context, run.Selection) (run.Proposal, error) {
	return run.Proposal{}, errAbsent
}

func (absent) Permit(context.Context, string, effect.Request) (run.Permission, error) {
	return run.NeedsApproval, errAbsent
}
