// Package record carries intents out as package run does, and keeps the record of each run in a journal.
//
// Before a run acts, what it is about to do is on the disk; what came of it is there before anything
// else happens. Events reach their reader when they are on the disk, so that nothing a person has seen can be
// lost. From its record a run goes on after it stopped, failed or was killed ([Resume]), and is played
// again with nothing there but the record ([Replay]): the code runs as it did, and is given back what it was given then.
package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// idLength is the length of a run's id, in letters and digits of 5 bits.
const idLength = 12

// writeTime is how long a write to the journal may take. An interruption does not end it.
const writeTime = time.Minute

// Options say what a run is, and where its record is kept. Seam and Sitting are not the caller's to set. Without an
// Authority, what persons have said of the run's requests is in its record: see [Approver].
type Options struct {
	run.Options
	Store journal.Store
	// Holder is this process. The zero Holder: journal.ThisProcess gives it.
	Holder journal.Holder
	// Version is that of the program.
	Version string
}

// Ended is how a sitting of a run ended.
type Ended struct {
	run.Outcome                 // its Run is empty where no record was begun
	Summary     journal.Summary // of its record
}

// Run carries an intent out under a new record. Where nothing can be done at all, none is begun.
func Run(ctx context.Context, o Options) (Ended, error) {
	if err := o.Check(); err != nil {
		return Ended{}, err
	}
	o.settle()
	if o.ID == "" {
		o.ID = strings.ToLower(rand.Text()[:idLength])
	}
	r := &recorder{
		Options: o, chain: journal.NewChain(o.ID), reader: o.Events,
		sitting: run.Sitting{Number: 1, Budget: run.UnboundedMaxSteps, Agent: o.Agent},
	}
	if o.MaxSteps != nil {
		r.sitting.Budget = *o.MaxSteps
	}
	if err := r.begin(); err != nil {
		return Ended{}, err
	}
	ctx, r.lost = context.WithCancelCause(ctx)
	defer r.lost(nil)
	return r.carryOut(ctx, o.Options)
}

// settle fills in what a caller may leave out.
func (o *Options) settle() {
	if o.Holder == (journal.Holder{}) {
		o.Holder = journal.ThisProcess()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// instantForm has milliseconds, so that runs can be told apart by when they began.
const instantForm = "2006-01-02T15:04:05.000Z"

// instant gives the time.
func (o *Options) instant() string { return o.Now().UTC().Format(instantForm) }

// begin makes the first entry. It reaches the disk with what comes before the first act.
func (r *recorder) begin() error {
	b := journal.Beginning{
		Version: r.Version, At: r.instant(), Intent: r.Intent, Protocol: r.Protocol,
		Threshold: r.Threshold.String(), ContextPolicy: string(r.ContextPolicy), Classifier: r.Classifier != nil, Executor: r.Executor != nil,
		Terms: journal.Terms{Budget: r.sitting.Budget, Agent: r.sitting.Agent != nil},
	}
	for _, e := range r.Catalog.Entries() {
		digest := e.SHA256()
		b.Catalog = append(b.Catalog, journal.Definition{Name: e.Name, SHA256: digest, Source: e.Source.String(), Bundled: e.Source.Bundled()})
		r.documents = append(r.documents, journal.Document{SHA256: digest, Text: e.YAML})
	}
	return r.enter(journal.Begun, "", b)
}

// carryOut runs, with the recorder between the run and the world.
func (r *recorder) carryOut(ctx context.Context, o run.Options) (Ended, error) {
	o.ID, o.Seam, o.Events, o.Sitting = r.ID, r, r.tell, r.present
	outcome, err := run.Run(ctx, o)
	if unheard, ok := errors.AsType[*run.ReaderError](err); ok {
		// The run could not tell that it failed; the record says so all the same.
		if _, unkept := errors.AsType[*StorageError](unheard.Err); !unkept {
			r.reader = nil
		}
		err = errors.Join(unheard.Err, r.tell(event.Failed{
			Error: strings.ToValidUTF8(unheard.Error(), "\uFFFD"), Protocol: outcome.Protocol, Steps: outcome.Steps, CaseOpen: outcome.Case != "",
			Interrupted: true,
		}))
	}
	err = errors.Join(err, r.end(ctx))
	if !r.leased {
		outcome.Run = ""
	}
	return Ended{outcome, r.stored}, err
}

// StorageError says that the journal could not be written. The run has stopped: nothing was begun that is
// not in the journal.
type StorageError struct {
	Err error
	// Lost is what an effect or a model said and the journal does not hold, as JSON; empty for nothing.
	Lost string
	// Step is the name of the step that said it.
	Step string
}

// maxLostShown bounds what a message shows of what is lost, in bytes.
const maxLostShown = 4 << 10

// Error says what went wrong and what is lost.
func (e *StorageError) Error() string {
	text := fmt.Sprintf("write the journal: %v", e.Err)
	if e.Lost != "" {
		shown := e.Lost
		if len(shown) > maxLostShown {
			shown = strings.ToValidUTF8(shown[:maxLostShown], "") + "[truncated]"
		}
		text += fmt.Sprintf("; it does not hold what %s gave: %s", e.Step, shown)
	}
	return text
}

// Unwrap gives what the store said.
func (e *StorageError) Unwrap() error { return e.Err }
