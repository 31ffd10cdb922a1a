package record_test

import (
	"context"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// site is one run with all that surrounds it. Its fields may be changed between two sittings.
type site struct {
	id         string
	definition string // of the protocol
	acts       map[string]act
	digest     string // of the binding
	sceptical  string // the action that its verifier makes no evidence of
	producer   string // is added to the name of its verifier
	reach      string // is added to what its actions reach
	unserved   bool   // nothing here carries out anything
	clock      bool   // the run is that of the bundled clock protocol instead, found without a model
	reads      string // the run is one of data-query@1 instead: what its reads print

	store      journal.Store
	holder     journal.Holder
	effects    *effects
	agent      *script // nil: none
	classifier *script // nil: the protocol is given by name
	executor   run.Executor
	authority  authority
	budget     *int
	total      int // the budget of all sittings together, where it is drawn
	policy     run.ContextPolicy
	now        func() time.Time
	reader     func(event.Event) error // hears what is told, after it was kept

	told []event.Event // to all readers

	ctx    context.Context // of the sitting; nil: one that is never done
	cancel func()          // ends ctx
}

// interruptible makes the next sitting one that cancel interrupts.
func (s *site) interruptible() { s.ctx, s.cancel = context.WithCancel(context.Background()) }

func (s *site) context() context.Context {
	if s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// id is the id of a site's run.
const id = "r1"

// moment is what the clock of a site shows.
var moment = time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC)

// newSite makes a site over a store in memory.
func newSite(definition string, acts map[string]act) *site {
	return &site{id: id, definition: definition, acts: acts, digest: "d0d0", store: newMemory(), holder: journal.Holder{Host: "here", Process: 1}, effects: &effects{}}
}

// newTower makes the site of a ten-step run.
func newTower() *site { return newSite(tower(rungs), lays(rungs)) }

func (s *site) protocol() (*protocol.Protocol, string) {
	p, err := protocol.Compile([]byte(s.definition))
	if err != nil {
		panic(err)
	}
	name, ok := catalog.NameFor(p.ID, p.Revision)
	if !ok {
		panic("no name for " + p.ID)
	}
	return p, name.String()
}

func (s *site) catalog() catalog.Catalog {
	_, name := s.protocol()
	c, err := catalog.Bundled().AddYAML(name, []byte(s.definition))
	if err != nil {
		panic(err)
	}
	return c
}

// bindings gives the binding of the site; gone, it must not touch the world.
func (s *site) bindings(gone bool) []effect.Binding {
	if s.unserved {
		return nil
	}
	if s.clock {
		return []effect.Binding{clock(gone)}
	}
	if s.reads != "" {
		return []effect.Binding{reading(gone, s.reads)}
	}
	p, _ := s.protocol()
	return []effect.Binding{clock(gone), &double{protocol: p, acts: s.acts, effects: s.effects, digest: s.digest, gone: gone, sceptical: s.sceptical, producer: "double" + s.producer, reach: s.reach}}
}

func (s *site) options() record.Options {
	o := record.Options{
		Store: s.store, Holder: s.holder, Version: "0.0.1",
		Options: run.Options{
			Intent: "go", ID: s.id, Catalog: s.catalog(), Bindings: s.bindings(false), MaxSteps: s.budget, ContextPolicy: s.policy,
			Executor: s.executor, Now: s.now,
			Events: func(e event.Event) error {
				s.told = append(s.told, e)
				if s.reader != nil {
					return s.reader(e)
				}
				return nil
			},
		},
	}
	if o.Now == nil {
		o.Now = func() time.Time { return moment }
	}
	switch {
	case s.clock:
		o.Intent, o.Catalog, o.Threshold = "need to know the current time", catalog.Bundled(), run.DefaultThreshold
	case s.reads != "":
		o.Protocol, o.Catalog = "data-query@1", catalog.Bundled()
	case s.classifier != nil:
		o.Classifier = s.classifier
	default:
		_, o.Protocol = s.protocol()
	}
	if s.agent != nil {
		o.Agent = s.agent
	}
	if s.authority != nil {
		o.Authority = s.authority
	}
	return o
}

type authority func(capability string, r effect.Request) (run.Permission, error)

func (a authority) Permit(_ context.Context, capability string, r effect.Request) (run.Permission, error) {
	return a(capability, r)
}

// always is an authority that says one thing.
func always(p run.Permission) authority {
	return func(string, effect.Request) (run.Permission, error) { return p, nil }
}

// moves is an executor that makes its proposals, and then none.
type moves struct{ proposals []run.Proposal }

func (m *moves) Propose(context.Context, run.Selection) (run.Proposal, error) {
	if len(m.proposals) == 0 {
		return run.Proposal{None: true}, nil
	}
	p := m.proposals[0]
	m.proposals = m.proposals[1:]
	return p, nil
}
