package record

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// recorder stands between a run and the world. As long as there are entries of an earlier sitting it gives
// back what they hold and checks that the run is the same; then it lets the run act, and writes.
type recorder struct {
	Options
	played // what was recorded before

	sitting run.Sitting // that holds now
	reader  func(event.Event) error

	grants    *grants // nil: the authority is not in the record
	chain     journal.Chain
	sequence  int64 // of the last entry
	summary   journal.Summary
	stored    journal.Summary    // without what is pending
	pending   []journal.Entry    // not on the disk yet
	held      []event.Event      // for the reader, once pending is on the disk
	documents []journal.Document // for the first write
	leased    bool
	last      bool // the next write is the last of the sitting
	lease     journal.Lease
	broken    error // the first write that failed; there is none after it
	lost      context.CancelCauseFunc
	renewing  chan struct{} // closed when renewing has ended
	enough    context.CancelFunc
}

// present gives the sitting that holds now.
func (r *recorder) present() run.Sitting { return r.sitting }

// enter adds an entry to those that the next write takes.
func (r *recorder) enter(kind journal.Kind, name string, body any) error {
	text, err := journal.Encode(body)
	if err != nil {
		return &StorageError{Err: err}
	}
	e := journal.Entry{Sequence: r.sequence + 1, Kind: kind, Name: name, Body: text}
	summary, err := r.summary.With(e)
	if err != nil {
		return &StorageError{Err: err}
	}
	e.Hash = r.chain.Next(e)
	r.sequence, r.summary = e.Sequence, summary
	r.pending = append(r.pending, e)
	if r.grants == nil {
		return nil
	}
	return r.grants.take(e)
}

// follow makes the next entry the one behind these.
func (r *recorder) follow(entries []journal.Entry) {
	for _, e := range entries {
		r.chain.Next(e)
	}
	r.sequence = int64(len(entries))
}

// tell is where the run tells its events.
func (r *recorder) tell(e event.Event) error {
	if again, err := r.toldBefore(e); again || err != nil {
		return err
	}
	if err := r.enter(journal.Told, journal.EventName(e), e); err != nil {
		return err
	}
	r.held = append(r.held, e)
	return nil
}

// Step does what the run asks for, or gives back what came of it before.
func (r *recorder) Step(ctx context.Context, step run.Step, result any, do func(context.Context) error) error {
	if again, err := r.doneBefore(step, result); again || err != nil {
		return err
	}
	if step.Acts {
		about, err := asking(step)
		if err != nil {
			return &StorageError{Err: err}
		}
		if err := r.enter(journal.Asked, step.Name, about); err != nil {
			return err
		}
		if err := r.write(ctx); err != nil {
			if r.broken != nil {
				return err // the asking may not be on the disk, and nothing more will be
			}
			return errors.Join(err, r.notBegun(step)) // the reader of events has gone
		}
		if ctx.Err() != nil { // while the asking was written
			return errors.Join(context.Cause(ctx), r.notBegun(step))
		}
	}
	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return err // it is done again, or in doubt
	}
	report, encodeErr := reporting(result, err)
	stored := encodeErr
	if stored == nil {
		stored = r.enter(journal.Reported, step.Name, report)
	}
	if stored == nil && step.Acts {
		stored = r.write(ctx)
	}
	if stored == nil {
		return err
	}
	failed := &StorageError{Err: stored, Lost: string(report.Result), Step: step.Name}
	if inner, ok := errors.AsType[*StorageError](stored); ok {
		failed.Err = inner.Err
	}
	return errors.Join(failed, err)
}

// notBegun enters that a step whose asking is on the disk was not begun.
func (r *recorder) notBegun(step run.Step) error {
	return r.enter(journal.Reported, step.Name, journal.Report{NotBegun: true})
}

// asking gives what an entry says of a step that is about to be done.
func asking(step run.Step) (journal.Asking, error) {
	if step.About == nil {
		return journal.Asking{}, nil
	}
	about, err := journal.Encode(step.About)
	return journal.Asking{About: []byte(about)}, err
}

func reporting(result any, failed error) (journal.Report, error) {
	report := journal.Report{}
	if failed != nil {
		// Mended as a run mends it when it tells that it failed: Encode would mend it otherwise.
		report.Error = strings.ToValidUTF8(failed.Error(), "\uFFFD")
	}
	text, err := journal.Encode(result)
	report.Result = []byte(text)
	return report, err
}

// write puts the pending entries on the disk and then tells the reader. An interruption of the run
// does not end it.
func (r *recorder) write(ctx context.Context) error {
	if r.broken != nil {
		return r.broken
	}
	if len(r.pending) > 0 {
		if err := r.store(ctx); err != nil {
			r.broken = &StorageError{Err: err}
			return r.broken
		}
		r.pending, r.stored = nil, r.summary
	}
	return r.pass()
}

// pass tells the reader what is held for it.
func (r *recorder) pass() error {
	held := r.held
	r.held = nil
	for _, e := range held {
		if r.reader == nil {
			break
		}
		if err := r.reader(e); err != nil {
			r.reader = nil // it is told nothing more
			return &run.ReaderError{Err: err}
		}
	}
	return nil
}

// passFailure tells the reader that a run failed that the journal does not take, and nothing else of what the
// journal does not hold: it would be told again, or be otherwise, when the run is resumed.
func (r *recorder) passFailure() error {
	failed := event.Failed{
		Error: strings.ToValidUTF8(r.broken.Error(), "\uFFFD"), Protocol: r.stored.Protocol, Steps: r.stored.Steps, CaseOpen: r.stored.Protocol != "",
	}
	for _, e := range r.held {
		if told, ok := e.(event.Failed); ok {
			failed = told
		}
	}
	r.held = []event.Event{failed}
	return r.pass()
}

func (r *recorder) store(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	batch := journal.Batch{Entries: r.pending, Summary: r.summary, Last: r.last}
	if r.leased {
		return r.Store.Append(ctx, r.lease, batch)
	}
	lease, err := r.Store.Begin(ctx, r.ID, r.Holder, batch, r.documents)
	if err != nil {
		return err
	}
	r.lease, r.leased = lease, true
	if !r.last {
		r.hold()
	}
	return nil
}

// hold keeps the lease alive from now on. A run whose lease is lost is interrupted.
func (r *recorder) hold() {
	ctx, cancel := context.WithCancel(context.Background())
	r.enough, r.renewing = cancel, make(chan struct{})
	go func() {
		defer close(r.renewing)
		for ticker := time.NewTicker(journal.RenewEvery); ; {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
			}
			// A database that is away for a moment may be back before the lease has run out.
			if err := r.Store.Renew(ctx, r.lease); errors.Is(err, journal.ErrLeaseLost) {
				r.lost(err)
				return
			}
		}
	}()
}

// end writes what is left and gives the lease back.
func (r *recorder) end(ctx context.Context) error {
	if r.renewing != nil {
		r.enough()
		<-r.renewing
	}
	before := r.broken
	r.last = len(r.pending) > 0
	err := r.write(ctx)
	if before != nil {
		err = nil // the run has failed of it already
	}
	if r.broken != nil {
		err = errors.Join(err, r.passFailure())
	}
	if r.leased && (r.broken != nil || !r.last) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		defer cancel()
		// What is left of a lease that cannot be given back ends with this process.
		_ = r.Store.Release(ctx, r.lease)
	}
	if unheard, ok := errors.AsType[*run.ReaderError](err); ok && r.broken == nil {
		return unheard.Err
	}
	return err
}
