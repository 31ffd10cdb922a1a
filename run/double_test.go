package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/run"
)

// stage is one run with all that surrounds it scripted. The zero stage is a run under workshop@1 that
// can perform nothing, has no model and no budget.
type stage struct {
	intent   string // "go" if empty
	protocol string // a definition; workshop if empty

	// classifier and agent are the turns of two models, in order; nil: there is no such model. Without
	// a classifier the protocol is given by name, or matched by words.
	classifier, agent []turn
	matched           bool
	twice             bool           // the catalog holds the definition under a second name as well
	executor          []run.Proposal // in the place of a model, then none
	threshold         string

	performs   map[string]act // what this host performs, by action
	revisions  map[string]string
	startFails string
	bound      *effect.Bound // what the port's run is held to; nil: the port has no ceiling
	authority  func(capability string, r effect.Request) (run.Permission, error)

	budget    *int
	tick      time.Duration // from one reading of the clock to the next
	year      int           // of the clock; 2026 if 0
	deafAfter int           // the reader of events fails at this one, counted from 1; 0: never
	policy    run.ContextPolicy
	cancel    func() // called by an act of which interrupts is true
	ctx       context.Context
}

// act is what an action of the double does: its deeds in turn, the last again and again.
type act struct {
	takes string // the schema of its arguments; empty: none are taken
	deeds []deed
}

// does makes an act that takes no arguments.
func does(deeds ...deed) act { return act{deeds: deeds} }

// deed is what comes of performing an action once.
type deed struct {
	says       string
	refuses    string
	fails      string
	moves      map[string]string // artifact revisions
	proves     []string          // records: KIND [RESULT] on SUBJECT [at REVISION] [as ID]
	why        string            // there is no evidence
	lies       string            // the verifier fails
	shows      string            // to the model, in the place of what it says
	labelled   string            // what it shows, as ATOM ATOM
	interrupts bool              // the run is interrupted meanwhile
}

// turn is one answer of a scripted model.
type turn func(model.Request) (model.Reply, error)

// calls makes a turn of tool calls, written as NAME ARGUMENTS.
func calls(written ...string) turn {
	reply := model.Reply{Stop: model.StopToolCalls}
	for i, w := range written {
		name, arguments, _ := strings.Cut(w, " ")
		reply.Calls = append(reply.Calls, model.Call{ID: fmt.Sprintf("c%d", i+1), Name: name, Arguments: arguments})
	}
	return replies(reply)
}

func replies(reply model.Reply) turn {
	return func(model.Request) (model.Reply, error) { return reply, nil }
}

// picks makes the turn of a classifier.
func picks(protocol, confidence string) turn {
	return calls(fmt.Sprintf(`pick_protocol {"protocol":%q,"confidence":%s,"reasons":["so"]}`, protocol, confidence))
}

// workshop is the protocol most cases are played under: a thing is made, checked and shipped. Shipping
// takes a good thing and permission, and ends the work. Checks are good for ten minutes.
const workshop = `
format: protocol/1
protocol: {id: workshop, revision: 1, description: Make a thing and ship it.}
artifacts: {thing: {}, order: {}}
evidence_kinds: {checked: {max_age: 10m}, shipped: {}}
claims:
  thing.good: {true_when: {evidence: {kind: checked, result: pass, subject: thing}}}
  order.done: {true_when: {evidence: {kind: shipped, subject: order}}}
actions:
  thing.check: {description: look whether it is good, effect: read, may_produce: [{evidence: checked}]}
  thing.look: {effect: read}
  thing.make: {description: make or change the thing., effect: write}
  thing.ship:
    effect: write
    precondition: {claim: thing.good}
    requires: [{capability: ship}]
    may_produce: [{evidence: shipped}]
outcomes:
  delivered: {requires: {claim: order.done}}
`

// lamp is a protocol of one action.
const lamp = `
format: protocol/1
protocol: {id: lamp, revision: 1}
artifacts: {lamp: {}}
evidence_kinds: {seen: {}}
claims: {lamp.on: {true_when: {evidence: {kind: seen, result: lit, subject: lamp}}}}
actions: {lamp.switch: {}}
outcomes: {lit: {requires: {claim: lamp.on}}}
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

// played is what came of a run on a stage.
type played struct {
	lines   []string // events, and behind ~ what was asked of the world
	events  []event.Event
	outcome run.Outcome
	err     error
	asked   []model.Request // of the agent
	sorted  []model.Request // of the classifier
	account *run.Account    // with a clock that stands still
}

// transcript gives the lines, one line each.
func (p *played) transcript() string { return strings.Join(p.lines, "\n") }

// loop gives the lines behind those that say how the protocol was chosen.
func (p *played) loop() string {
	at := slices.IndexFunc(p.lines, func(line string) bool { return strings.HasPrefix(line, "routed ") })
	return strings.Join(p.lines[at+1:], "\n")
}

func (p *played) note(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// definition compiles the protocol of the stage and names it.
func (s stage) definition() (name string, yaml []byte, p *protocol.Protocol) {
	text := s.protocol
	if text == "" {
		text = workshop
	}
	p, err := protocol.Compile([]byte(text))
	if err != nil {
		panic(err)
	}
	registered, ok := catalog.NameFor(p.ID, p.Revision)
	if !ok {
		panic("no registration name for " + p.ID)
	}
	return registered.String(), []byte(text), p
}

// options are those of a live run on the stage, which writes into p.
func (s stage) options(p *played) run.Options {
	name, yaml, definition := s.definition()
	protocols, err := catalog.Bundled().AddYAML(name, yaml)
	if err != nil {
		panic(err)
	}
	if s.twice {
		if protocols, err = protocols.AddYAML("a-"+name, yaml); err != nil {
			panic(err)
		}
	}
	o := run.Options{
		Intent: s.intent, Catalog: protocols, MaxSteps: s.budget, ContextPolicy: s.policy, Account: p.account,
		Bindings: []effect.Binding{&double{stage: s, protocol: definition, note: p.note, done: map[string]int{}}},
		Events: func(e event.Event) error {
			p.events = append(p.events, e)
			if told := line(e); told != "" {
				p.lines = append(p.lines, told)
			}
			if len(p.events) == s.deafAfter {
				return errors.New("the reader has gone")
			}
			return nil
		},
	}
	if o.Intent == "" {
		o.Intent = "go"
	}
	if s.threshold != "" {
		o.Threshold = run.MustDecimal(s.threshold)
	}
	if s.classifier != nil {
		o.Classifier = &script{name: "m-small", turns: s.classifier, asked: &p.sorted, note: p.note}
	} else if !s.matched {
		o.Protocol = name
	}
	if s.agent != nil {
		o.Agent = &script{name: "m-agent", turns: s.agent, asked: &p.asked, note: p.note}
	}
	if s.executor != nil {
		o.Executor = &moves{proposals: s.executor}
	}
	if s.authority != nil {
		o.Authority = authority(func(capability string, r effect.Request) (run.Permission, error) {
			permission, err := s.authority(capability, r)
			p.note("~ authority over %s for %s %s at %d: %s", capability, r.Action, r.Arguments, r.Revision, permissionWord(permission))
			return permission, err
		})
	}
	now := time.Date(max(s.year, 2026), 3, 1, 9, 20, 30, 0, time.UTC)
	o.Now = func() time.Time {
		now = now.Add(s.tick)
		return now
	}
	return o
}

// play runs the stage, and again from the record of that run with the world taken away: that must come
// out the same. It holds every run to what must be true of all of them.
func (s stage) play(t rapid.TB) *played {
	t.Helper()
	p := &played{account: stillAccount(s.policy)}
	o := s.options(p)
	record := &recorder{}
	o.Seam = record
	ctx := s.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	p.outcome, p.err = run.Run(ctx, o)
	holds(t, p, s.deafAfter > 0)
	replay(t, s, p, record.steps, ctx.Err() != nil)
	return p
}

func stillAccount(policy run.ContextPolicy) *run.Account {
	return run.NewAccount(policy, func() time.Time { return time.Time{} })
}

// double is the binding of a stage, and its port.
type double struct {
	stage
	protocol *protocol.Protocol
	note     func(format string, args ...any)
	done     map[string]int // how often each action was performed
	gone     bool           // the world is taken away
}

func (d *double) Name() string { return "double" }

func (d *double) SHA256() string { return "d0d0" }

func (*double) Lacks(*protocol.Protocol) string { return "" }

func (*double) Reach(action string) string { return "does " + action }

func (d *double) Serves(p *protocol.Protocol) bool { return p.SameRules(d.protocol) }

func (d *double) Open(effect.Intent) effect.Port {
	if d.bound != nil {
		return &bounded{double: d}
	}
	return d
}

// bounded is a double whose run is held to something.
type bounded struct {
	*double
	held effect.Bound
}

func (b *bounded) Bound(context.Context) (effect.Bound, error) {
	b.mustBeThere()
	b.note("~ the ceiling is asked for")
	if b.bound.Ceiling == "" {
		return effect.Bound{}, errors.New("there is none")
	}
	return *b.bound, nil
}

func (b *bounded) Hold(held effect.Bound) error {
	b.held = held
	if held.Terms == "unknown" {
		return errors.New("terms that nobody knows")
	}
	return nil
}

// Perform performs nothing above its ceiling.
func (b *bounded) Perform(ctx context.Context, r effect.Request) (effect.Report, error) {
	report, err := b.double.Perform(ctx, r)
	report.Text += " under " + b.held.Ceiling + " knowing " + r.Label
	return report, err
}

// Start opens every artifact at its own name and -1.
func (d *double) Start(context.Context) (map[string]string, error) {
	d.mustBeThere()
	if d.startFails != "" {
		return nil, errors.New(d.startFails)
	}
	if d.revisions != nil {
		return d.revisions, nil
	}
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
	_, ok := d.performs[action]
	return ok
}

func (d *double) Arguments(action string) string {
	if d.performs[action].takes == "" {
		return effect.NoArguments
	}
	return d.performs[action].takes
}

// CheckArguments takes the members that the schema names.
func (d *double) CheckArguments(action, arguments string) string {
	var schema struct{ Properties map[string]any }
	var given map[string]any
	if err := errors.Join(json.Unmarshal([]byte(d.Arguments(action)), &schema), json.Unmarshal([]byte(arguments), &given)); err != nil {
		panic(err)
	}
	for name := range given {
		if _, ok := schema.Properties[name]; !ok {
			return action + " takes no such argument"
		}
	}
	return ""
}

// observed is what a deed leaves for the verifier.
type observed struct {
	Proves    []string
	Why, Lies string
}

func (d *double) Perform(_ context.Context, r effect.Request) (effect.Report, error) {
	d.mustBeThere()
	d.note("~ %s is performed", r.Action)
	deeds := d.performs[r.Action].deeds
	if len(deeds) == 0 {
		deeds = []deed{{says: r.Action + " is done"}}
	}
	it := deeds[min(d.done[r.Action], len(deeds)-1)]
	d.done[r.Action]++
	if it.interrupts {
		d.cancel()
	}
	observation, err := json.Marshal(observed{it.proves, it.why, it.lies})
	if err != nil {
		panic(err)
	}
	if it.fails != "" {
		return effect.Report{}, errors.New(it.fails)
	}
	report := effect.Report{
		Refused: it.refuses, Text: it.says, Source: "double", Observation: string(observation), Revisions: it.moves,
	}
	if it.shows != "" {
		report.Disclosed = &effect.Disclosure{OutputID: fmt.Sprint("out-", r.Step), Text: it.shows, Label: labelOf(it.labelled), Truncated: it.labelled == "a b"}
	}
	return report, nil
}

// labelOf makes a label of atoms that are texts.
func labelOf(atoms string) string {
	var clauses []string
	for _, atom := range strings.Fields(atoms) {
		clauses = append(clauses, fmt.Sprintf("%q", atom))
	}
	if clauses == nil {
		return ""
	}
	return `{"confidentiality":[` + strings.Join(clauses, ",") + `],"integrity":[]}`
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
	for i, written := range o.Proves {
		record := recordOf(written)
		if record.ID == "" {
			record.ID = fmt.Sprintf("e%d.%d", r.Step, i+1)
		}
		if record.SubjectRevision == "" {
			record.SubjectRevision = r.Artifacts[record.Subject]
			if moved, ok := report.Revisions[record.Subject]; ok {
				record.SubjectRevision = moved
			}
		}
		verdict.Evidence = append(verdict.Evidence, effect.Evidence{Record: record, Producer: "double"})
	}
	return verdict, nil
}

// recordOf reads KIND [RESULT] on SUBJECT [at REVISION] [as ID] [seen INSTANT].
func recordOf(written string) governor.Record {
	what, about, _ := strings.Cut(written, " on ")
	kind, result, has := strings.Cut(what, " ")
	record := governor.Record{Kind: kind}
	if has {
		record.Result = &result
	}
	words := strings.Fields(about)
	record.Subject = words[0]
	for i := 1; i+1 < len(words); i += 2 {
		switch words[i] {
		case "at":
			record.SubjectRevision = words[i+1]
		case "as":
			record.ID = words[i+1]
		case "seen":
			record.ObservedAt = &words[i+1]
		}
	}
	return record
}

// script is a model that answers with its turns, and keeps what it was asked.
type script struct {
	name  string
	turns []turn
	asked *[]model.Request
	note  func(format string, args ...any)
}

func (c *script) UpstreamName() string { return c.name }

func (c *script) Ask(_ context.Context, r model.Request) (model.Reply, error) {
	tools := make([]string, len(r.Tools))
	for i, tool := range r.Tools {
		tools[i] = tool.Name
	}
	c.note("~ %s is asked: %s", c.name, strings.Join(tools, " "))
	*c.asked = append(*c.asked, r)
	if err := r.Check(); err != nil { // as every wire does
		return model.Reply{}, err
	}
	if len(*c.asked) > len(c.turns) {
		return model.Reply{}, model.Fail(model.Unavailable, nil, "the script has no turn left")
	}
	return c.turns[len(*c.asked)-1](r)
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

type authority func(capability string, r effect.Request) (run.Permission, error)

func (a authority) Permit(_ context.Context, capability string, r effect.Request) (run.Permission, error) {
	return a(capability, r)
}

// always is an authority that says one thing.
func always(p run.Permission) func(string, effect.Request) (run.Permission, error) {
	return func(string, effect.Request) (run.Permission, error) { return p, nil }
}

func permissionWord(p run.Permission) string {
	switch p {
	case run.NeedsApproval:
		return "needs approval"
	case run.Allow:
		return "allowed"
	default:
		return "denied"
	}
}
