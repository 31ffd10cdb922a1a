package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

const (
	// DefaultGrantTime is how long a grant holds where nothing else is said (D18).
	DefaultGrantTime = time.Hour
	// MaxGrantTime bounds how long a grant holds.
	MaxGrantTime = 7 * 24 * time.Hour
)

// Approver is a person who says yes or no to what a run waits for. Nothing is run by it: that is for [Resume].
type Approver struct {
	Store journal.Store
	// Holder is this process. The zero Holder: journal.ThisProcess gives it.
	Holder journal.Holder
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
	// By names the person in the record.
	By string
}

// Approve enters a grant of what waits, as the person has seen it, for so long. It is for exactly that action,
// arguments, capability, case, revision and definition, and is used up by the first effect that is admitted with it.
//
// Errors that nothing was entered with: *journal.HeldError, journal.ErrNoRun, *journal.BrokenError, ErrNothingWaits,
// *NotProposedError, and *OtherError where the run has gone on since the person looked. A time that is not above 0, or
// above MaxGrantTime, is an error too.
func (a Approver) Approve(ctx context.Context, run string, what event.Waiting, holds time.Duration) (event.Granted, error) {
	if holds <= 0 || holds > MaxGrantTime {
		return event.Granted{}, fmt.Errorf("a grant holds for more than nothing and at most %s, not for %s", MaxGrantTime, holds)
	}
	granted := event.Granted{
		Action: what.Action, Arguments: what.Arguments, Capability: what.Capability, Case: what.Case, Revision: what.Revision, By: a.By,
	}
	err := a.say(ctx, run, what, func(definition string, now time.Time) event.Event {
		granted.SHA256, granted.Expires = definition, now.Add(holds).UTC().Format(instantForm)
		return granted
	})
	return granted, err
}

// Deny enters a denial of what waits, as the person has seen it: until the case has another revision, or the same is
// granted. Its errors are those of Approve.
func (a Approver) Deny(ctx context.Context, run string, what event.Waiting) (event.Denied, error) {
	denied := event.Denied{
		Action: what.Action, Arguments: what.Arguments, Capability: what.Capability, Case: what.Case, Revision: what.Revision, By: a.By,
	}
	err := a.say(ctx, run, what, func(definition string, _ time.Time) event.Event {
		denied.SHA256 = definition
		return denied
	})
	return denied, err
}

// say takes the run, enters what a person says of what waits, and gives the run back.
func (a Approver) say(ctx context.Context, run string, what event.Waiting, of func(definition string, now time.Time) event.Event) error {
	o := Options{Store: a.Store, Holder: a.Holder}
	o.Now = a.Now
	o.settle()
	lease, err := o.Store.Take(ctx, run, o.Holder)
	if err != nil {
		return err
	}
	release := func(err error) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		defer cancel()
		return errors.Join(err, o.Store.Release(ctx, lease))
	}
	rec, err := o.Store.Read(ctx, run)
	if err != nil {
		return release(err)
	}
	definition, err := waitsStill(rec, what)
	if err != nil {
		return release(err)
	}
	r := &recorder{Options: o, chain: journal.NewChain(run)}
	r.follow(rec.Entries)
	if r.summary, err = journal.Summarise(rec.Entries); err != nil {
		return release(err)
	}
	said := of(definition, o.Now())
	if err := r.enter(journal.Told, journal.EventName(said), said); err != nil {
		return release(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	if err := o.Store.Append(ctx, lease, journal.Batch{Entries: r.pending, Summary: r.summary, Last: true}); err != nil {
		return release(&StorageError{Err: err})
	}
	return nil
}

// waitsStill tells whether something of a run waits, to the byte, and gives the digest of the definition of its case.
func waitsStill(rec *journal.Record, what event.Waiting) (definition string, err error) {
	if err := rec.Verify(); err != nil {
		return "", err
	}
	waiting, err := Waits(rec)
	if err != nil {
		return "", err
	}
	if !slices.Contains(waiting, what) {
		return "", &OtherError{what.Action}
	}
	if what.Arguments == "" {
		return "", &NotProposedError{what.Action}
	}
	return Definition(rec)
}

// Definition gives the digest of the definition that the case of a run was opened under, in hexadecimal.
func Definition(rec *journal.Record) (string, error) {
	opened, err := caseOpened(rec.Entries)
	if err == nil && opened == nil {
		err = fmt.Errorf("%w: a run waits for an approval and has opened no case", journal.ErrDamaged)
	}
	if err != nil {
		return "", err
	}
	return opened.SHA256, nil
}

// caseOpened gives how the case of a run was opened; nil where none was.
func caseOpened(entries []journal.Entry) (*event.CaseOpened, error) {
	i := slices.IndexFunc(entries, func(e journal.Entry) bool {
		return e.Kind == journal.Told && e.Name == journal.EventName(event.CaseOpened{})
	})
	if i < 0 {
		return nil, nil
	}
	var opened event.CaseOpened
	return &opened, journal.Decode(entries[i].Body, &opened)
}
