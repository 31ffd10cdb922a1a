package audit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// shop is a protocol under which a thing is made, checked and shipped.
const shop = `
format: protocol/1
protocol: {id: shop, revision: 1, description: Make a thing and ship it.}
artifacts: {thing: {}, order: {}}
evidence_kinds: {checked: {max_age: 10m}, shipped: {}}
claims:
  thing.good: {true_when: {evidence: {kind: checked, result: pass, subject: thing}}}
  order.done: {true_when: {evidence: {kind: shipped, subject: order}}}
actions:
  thing.check: {effect: read, may_produce: [{evidence: checked}]}
  thing.look: {effect: read}
  thing.make: {effect: write}
  thing.ship:
    effect: write
    precondition: {claim: thing.good}
    requires: [{capability: ship}]
    may_produce: [{evidence: shipped}]
outcomes: {delivered: {requires: {claim: order.done}}}
`

// doors is a protocol of one free action and two that need a capability each.
const doors = `
format: protocol/1
protocol: {id: doors, revision: 1}
artifacts: {house: {}}
evidence_kinds: {entered: {}}
claims: {inside: {true_when: {evidence: {kind: entered, subject: house}}}}
actions:
  back.open: {requires: [{capability: key.back}]}
  front.open: {requires: [{capability: key.front}]}
  ring: {}
outcomes: {home: {requires: {claim: inside}}}
`

// scene is a run with all that surrounds it.
type scene struct {
	protocol string // shop if empty
	acts     map[string]act
	choose   func(run.Selection) run.Proposal // nil: forced moves only
	permit   map[string]run.Permission        // others need approval
	persons  bool                             // persons grant, in the place of permit
	matched  bool                             // the intent is matched by words
	unbound  bool
	agent    model.Client
	budget   *int
	deafAt   int // the reader of events fails at this one, counted from 1
}

// act is what an action does.
type act func(effect.Request) (effect.Report, error)

// does makes an act that gives records, each with the request's step and its place as its id.
func does(moves map[string]string, records ...governor.Record) act {
	return func(r effect.Request) (effect.Report, error) {
		given := slices.Clone(records)
		for i := range given {
			if given[i].ID == "" {
				given[i].ID = fmt.Sprintf("e%d.%d", r.Step, i+1)
			}
			if given[i].SubjectRevision == "" {
				given[i].SubjectRevision = r.Artifacts[given[i].Subject]
			}
		}
		observation, err := journal.Encode(given)
		return effect.Report{Text: r.Action + " is done", Source: "shop", Observation: observation, Revisions: moves}, err
	}
}

func about(kind, result, subject string) governor.Record {
	return governor.Record{Kind: kind, Result: &result, Subject: subject}
}

// workers are the acts of a run under shop that completes.
func workers() map[string]act {
	return map[string]act{
		"thing.make":  does(map[string]string{"thing": "thing-2"}),
		"thing.look":  does(nil),
		"thing.check": does(nil, about("checked", "pass", "thing")),
		"thing.ship":  does(nil, about("shipped", "sent", "order")),
	}
}

// onward makes what is not made, checks what is not checked and ships what is good.
func onward(s run.Selection) run.Proposal {
	action := "thing.make"
	if s.Frontier.Revision > 1 {
		action = "thing.check"
	}
	if slices.ContainsFunc(s.Candidates, func(e governor.FrontierEntry) bool { return e.Action == "thing.ship" }) {
		action = "thing.ship"
	}
	return run.Proposal{Action: action, Arguments: "{}"}
}

// inTurn makes proposals in turn, and then none. A resumed run needs a new one.
func inTurn(proposals ...run.Proposal) func(run.Selection) run.Proposal {
	return func(run.Selection) run.Proposal {
		if len(proposals) == 0 {
			return run.Proposal{None: true}
		}
		p := proposals[0]
		proposals = proposals[1:]
		return p
	}
}

func proposes(actions ...string) func(run.Selection) run.Proposal {
	proposals := make([]run.Proposal, len(actions))
	for i, action := range actions {
		proposals[i] = run.Proposal{Action: action, Arguments: "{}"}
	}
	return inTurn(proposals...)
}

// completes is a run under shop that completes.
func completes() scene {
	return scene{acts: workers(), choose: onward, permit: map[string]run.Permission{"ship": run.Allow}}
}

func (s scene) options(t testing.TB, store *desk) record.Options {
	text := s.protocol
	if text == "" {
		text = shop
	}
	p, err := protocol.Compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	name := p.ID + "@1"
	entry, err := catalog.Check(name, []byte(text), catalog.Source{Kind: catalog.Memory})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC)
	heard := 0
	o := record.Options{Store: store, Version: "test", Holder: journal.Holder{Host: "test"}, Options: run.Options{
		ID: "run1", Intent: "go", Catalog: catalog.Of(entry), MaxSteps: s.budget, Authority: permits(s.permit),
		Now: func() time.Time {
			now = now.Add(time.Second)
			return now
		},
		Events: func(event.Event) error {
			if heard++; heard == s.deafAt {
				return errors.New("the reader has gone")
			}
			return nil
		},
	}}
	if !s.matched {
		o.Protocol = name
	}
	if s.persons {
		o.Authority = nil
	}
	if !s.unbound {
		o.Bindings = []effect.Binding{bench{s.acts, p}}
	}
	if s.choose != nil {
		o.Executor = chooser(s.choose)
	}
	o.Agent = s.agent
	return o
}

// plays carries the scene out and gives its record.
func (s scene) plays(t testing.TB) *journal.Record {
	t.Helper()
	store := &desk{}
	// How the run ends is the record's to say.
	_, _ = record.Run(context.Background(), s.options(t, store))
	return store.kept(t)
}

// resumes goes on from a record.
func (s scene) resumes(t testing.TB, from *journal.Record, outcome event.Outcome) (*journal.Record, error) {
	t.Helper()
	store := &desk{record: *from}
	store.record.Entries = slices.Clone(from.Entries)
	ended, err := record.Resume(context.Background(), s.options(t, store), from.Run, outcome)
	if err != nil && ended.Run == "" {
		return nil, err
	}
	return store.kept(t), nil
}

// desk is a store that holds one run in memory.
type desk struct {
	journal.Store // its other methods are not used
	record        journal.Record
}

func (d *desk) Begin(_ context.Context, id string, by journal.Holder, batch journal.Batch, documents []journal.Document) (journal.Lease, error) {
	d.record = journal.Record{Run: id, Documents: map[string]string{}}
	for _, document := range documents {
		d.record.Documents[document.SHA256] = document.Text
	}
	return journal.Lease{Run: id, Holder: by}, d.Append(context.Background(), journal.Lease{}, batch)
}

func (d *desk) Append(_ context.Context, _ journal.Lease, batch journal.Batch) error {
	d.record.Entries = append(d.record.Entries, batch.Entries...)
	d.record.Head = d.record.Entries[len(d.record.Entries)-1].Hash
	return nil
}

func (d *desk) Take(context.Context, string, journal.Holder) (journal.Lease, error) {
	return journal.Lease{}, nil
}
func (d *desk) Renew(context.Context, journal.Lease) error            { return nil }
func (d *desk) Release(context.Context, journal.Lease) error          { return nil }
func (d *desk) Read(context.Context, string) (*journal.Record, error) { return &d.record, nil }

func (d *desk) kept(t testing.TB) *journal.Record {
	t.Helper()
	if len(d.record.Entries) == 0 {
		t.Fatal("the run left no record")
	}
	return &d.record
}

// tables gives what the tables of cases hold beside entries.
func tables(entries []journal.Entry) []*journal.Case {
	cases := []*journal.Case{}
	var c journal.Case
	for _, e := range entries {
		told, err := e.Event()
		if err != nil {
			continue
		}
		switch told := told.(type) {
		case event.CaseOpened:
			if c.ID != "" {
				continue
			}
			c = journal.Case{
				Run: "run1", ID: told.Case, Protocol: told.Protocol, SHA256: told.SHA256,
				Revision: told.Revision, Artifacts: told.Artifacts, Inputs: told.Inputs,
			}
			cases = append(cases, &c)
		case event.RevisionsMoved:
			if told.Case == c.ID {
				c.Revision, c.Artifacts = told.Revision, maps.Clone(told.Artifacts)
			}
		case event.EvidenceReceived:
			if told.Case == c.ID {
				c.Received = append(c.Received, governor.Received{Kind: told.Kind, Producer: told.Producer, Data: []byte(told.Data), Applies: told.Applies})
			}
		case event.Observed:
			if told.Case == c.ID {
				c.Observations = append(c.Observations, governor.Observation{Source: governor.Source(told.Source), Subject: told.Subject, Payload: []byte(told.Payload)})
			}
		}
	}
	return cases
}

// bench is a binding whose acts say what they do.
type bench struct {
	acts     map[string]act
	protocol *protocol.Protocol
}

func (b bench) Name() string   { return "bench" }
func (b bench) SHA256() string { return "bb" }

func (bench) Lacks(*protocol.Protocol) string { return "" }

func (bench) Reach(action string) string         { return "does " + action }
func (b bench) Serves(p *protocol.Protocol) bool { return p.SameRules(b.protocol) }
func (b bench) Open(effect.Intent) effect.Port   { return b }
func (b bench) Performs(action string) bool      { return b.acts[action] != nil }
func (b bench) Arguments(string) string          { return effect.NoArguments }

func (b bench) CheckArguments(_, arguments string) string {
	if arguments != "{}" {
		return "it takes nothing"
	}
	return ""
}

func (b bench) Start(context.Context) (map[string]string, error) {
	revisions := map[string]string{}
	for _, a := range b.protocol.Artifacts {
		revisions[a.ID] = a.ID + "-1"
	}
	return revisions, nil
}

func (b bench) Perform(_ context.Context, r effect.Request) (effect.Report, error) {
	return b.acts[r.Action](r)
}

func (b bench) Verify(_ effect.Request, report effect.Report) (effect.Verdict, error) {
	var records []governor.Record
	if err := journal.Decode(report.Observation, &records); err != nil {
		return effect.Verdict{}, err
	}
	verdict := effect.Verdict{Why: "there is none"}
	for _, r := range records {
		verdict.Evidence = append(verdict.Evidence, effect.Evidence{Record: r, Producer: "bench"})
	}
	return verdict, nil
}

type chooser func(run.Selection) run.Proposal

func (c chooser) Propose(_ context.Context, s run.Selection) (run.Proposal, error) { return c(s), nil }

type permits map[string]run.Permission

func (p permits) Permit(_ context.Context, capability string, _ effect.Request) (run.Permission, error) {
	return p[capability], nil
}

// calls is a model that calls one tool, or fails where it names none.
type calls string

func (calls) UpstreamName() string { return "m" }

func (c calls) Ask(context.Context, model.Request) (model.Reply, error) {
	if c == "" {
		return model.Reply{}, errors.New("no answer")
	}
	return model.Reply{Stop: model.StopToolCalls, Calls: []model.Call{{ID: "c1", Name: string(c), Arguments: "{}"}}}, nil
}
