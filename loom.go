// Package loom lets a program carry out intents under governed protocols.
//
// A program builds a [Catalog] of protocols, adds its own in memory, and calls [Run] with an intent
// and a model client of its own. It receives what happens as [event.Event] values while the run goes
// on, and an [Outcome] at its end. The model only proposes: a governor admits or blocks each action,
// and evidence, made by verifiers from what effects reported, is all that completes a run.
//
//	protocols, err := loom.Bundled().AddYAML("team-clock@1", yaml)
//	outcome, err := loom.Run(ctx, loom.Options{
//		Intent:  "what time is it",
//		Catalog: protocols,
//		Model:   client, // implements model.Client
//	})
//
// A run whose Reason is [event.Completed] has reached the outcome named in its Detail; whatever the
// model said on the way.
//
// With a [Journal], which package journal/sqlite or journal/postgres opens, everything a run did is kept,
// and [Resume] goes on with a run that stopped, failed or was killed.
package loom

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/version"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// The types an embedding program meets, so that one import is enough to begin with.
type (
	// Catalog is an immutable set of protocol definitions.
	Catalog = catalog.Catalog
	// Outcome is how a run stopped.
	Outcome = run.Outcome
	// Event is one thing that happened in a run.
	Event = event.Event
	// Binding performs and verifies the actions of a protocol.
	Binding = effect.Binding
	// Authority grants capabilities for proposals.
	Authority = run.Authority
	// Client asks a language model.
	Client = model.Client
	// Journal keeps the records of runs.
	Journal = journal.Store
)

// Bundled gives the protocols that ship with Loom.
func Bundled() Catalog { return catalog.Bundled() }

// Options say what a run is, with what, and for whom.
type Options struct {
	// Intent is what is asked for, in free text.
	Intent string
	// Catalog holds the protocols to choose from. The zero Catalog means Bundled.
	Catalog Catalog
	// Protocol, where it is set, is the registration to use; nothing is classified then.
	Protocol string
	// Model picks the protocol and proposes actions. It is asked as it is: model.Retry makes of a client
	// that asks once one that asks again where that is safe. Nil: the intent is matched by words, only
	// forced moves are made, and a step that needs a model stops the run.
	Model Client
	// Classifier picks the protocol in the place of Model. May be nil.
	Classifier Client
	// Threshold is the least confidence of an accepted pick, a decimal from 0 to 1. Empty: 0.5.
	Threshold string
	// MaxSteps is the step budget. Zero: 64.
	MaxSteps int
	// ContextPolicy says what a model is shown of the steps before. Empty: run.ContextLegacy.
	ContextPolicy run.ContextPolicy
	// Bindings carry protocols out besides the host clock, which is always there and comes last.
	Bindings []Binding
	// Authority grants capabilities. Nil: an action that needs one stops the run for approval.
	Authority Authority
	// Events receives what happens, in order; with a Journal, once it is kept. An error it returns fails the run. May be nil.
	Events func(Event) error
	// Journal keeps the record of the run, under the id that the Outcome names. Nil: none is kept.
	Journal Journal
	// Now and Zone are the clock and the time zone. Nil: this machine's.
	Now  func() time.Time
	Zone *time.Location
}

// Run carries an intent out. It gives how the run stopped by a rule; an error means that it failed.
// A failed run's Outcome still tells how far it came, and what was performed stays performed.
func Run(ctx context.Context, o Options) (Outcome, error) {
	options, err := o.settled()
	if err != nil {
		return Outcome{}, err
	}
	if o.Journal == nil {
		return run.Run(ctx, options)
	}
	ended, err := record.Run(ctx, o.recorded(options))
	return ended.Outcome, err
}

// Resume goes on with a run of o.Journal that waits for an approval, used up its budget, needs a model,
// failed or was killed. What was performed is not performed again. Intent, Protocol, Threshold and ContextPolicy are
// those of the run, MaxSteps counts from here, and the definition and the binding must be the ones that
// the run began with.
//
// Said is what a person says of an effect that was begun and has not reported, which a
// *record.InDoubtError asks for; empty otherwise. Other errors are those of record.Resume.
func Resume(ctx context.Context, o Options, id string, said event.Outcome) (Outcome, error) {
	if o.Journal == nil {
		return Outcome{}, errors.New("a run is resumed from a journal, and the options name none")
	}
	options, err := o.settled()
	if err != nil {
		return Outcome{}, err
	}
	ended, err := record.Resume(ctx, o.recorded(options), id, said)
	return ended.Outcome, err
}

func (o Options) recorded(options run.Options) record.Options {
	return record.Options{Options: options, Store: o.Journal, Version: version.Number}
}

// settled gives the options of the run, with what was left out.
func (o Options) settled() (run.Options, error) {
	if len(o.Catalog.Names()) == 0 {
		o.Catalog = Bundled()
	}
	if o.Threshold == "" {
		o.Threshold = run.DefaultThreshold.String()
	}
	threshold, err := run.ParseDecimal(o.Threshold)
	if err != nil {
		return run.Options{}, errors.New("the threshold " + err.Error())
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	zone := func() (*time.Location, error) { return o.Zone, nil }
	if o.Zone == nil {
		zone = func() (*time.Location, error) { return effect.HostZone(os.LookupEnv) }
	}
	options := run.Options{
		Intent: o.Intent, Catalog: o.Catalog, Protocol: o.Protocol,
		Bindings:   append(o.Bindings[:len(o.Bindings):len(o.Bindings)], effect.NewClock(catalog.SystemQuery().Protocol, now, zone)),
		Classifier: o.Classifier, Agent: o.Model, Threshold: threshold, Authority: o.Authority, Events: o.Events, Now: now,
		ContextPolicy: o.ContextPolicy,
	}
	if options.Classifier == nil {
		options.Classifier = o.Model
	}
	if o.MaxSteps > 0 {
		options.MaxSteps = &o.MaxSteps
	}
	return options, nil
}
