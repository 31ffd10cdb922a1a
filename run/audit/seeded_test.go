package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/audit"
)

// forgery is a record that somebody changes, with the tables of its cases.
type forgery struct {
	t testing.TB
	*journal.Record
}

// forge begins a forgery of a record.
func forge(t testing.TB, r *journal.Record) *forgery {
	changed := *r
	changed.Entries, changed.Documents = slices.Clone(r.Entries), maps.Clone(r.Documents)
	return &forgery{t, &changed}
}

// seal writes the chain anew, so that it fits.
func (f *forgery) seal() {
	chain := journal.NewChain(f.Run)
	f.Head = journal.Hash{}
	for i := range f.Entries {
		f.Entries[i].Sequence = int64(i) + 1
		f.Entries[i].Hash = chain.Next(f.Entries[i])
		f.Head = f.Entries[i].Hash
	}
}

// find gives the place of the nth entry, from 1, with a name, which is of a step or an event's type; of kind
// Asked where the name begins with "asked ".
func (f *forgery) find(name string, nth int) int {
	f.t.Helper()
	name, asked := strings.CutPrefix(name, "asked ")
	seen := 0
	for i, e := range f.Entries {
		if (e.Name == name || e.Name == "" && string(e.Kind) == name) && (e.Kind == journal.Asked) == asked {
			if seen++; seen == nth {
				return i
			}
		}
	}
	f.t.Fatalf("the record has no %s number %d:\n%s", name, nth, text(f.Entries))
	return 0
}

// drop takes entries out.
func (f *forgery) drop(name string, nth int) {
	i := f.find(name, nth)
	f.Entries = slices.Delete(f.Entries, i, i+1)
}

// repeat puts an entry in twice.
func (f *forgery) repeat(name string, nth int) {
	i := f.find(name, nth)
	f.Entries = slices.Insert(f.Entries, i, f.Entries[i])
}

// insert puts an entry behind another.
func (f *forgery) insert(name string, nth int, e journal.Entry) {
	i := f.find(name, nth)
	f.Entries = slices.Insert(f.Entries, i+1, e)
}

// add puts an entry at the end.
func (f *forgery) add(e journal.Entry) { f.Entries = append(f.Entries, e) }

func encode(t testing.TB, v any) string {
	body, err := journal.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (f *forgery) told(e event.Event) journal.Entry {
	return journal.Entry{Kind: journal.Told, Name: journal.EventName(e), Body: encode(f.t, e)}
}

func (f *forgery) resumed(r journal.Resumption) journal.Entry {
	return journal.Entry{Kind: journal.Resumed, Body: encode(f.t, r)}
}

// edit changes the body of an entry, which is a T.
func edit[T any](f *forgery, name string, nth int, change func(*T)) {
	f.t.Helper()
	i := f.find(name, nth)
	var v T
	if err := journal.Decode(f.Entries[i].Body, &v); err != nil {
		f.t.Fatal(err)
	}
	change(&v)
	f.Entries[i].Body = encode(f.t, v)
}

// retell changes the nth event of a type.
func retell[T event.Event](f *forgery, nth int, change func(*T)) {
	f.t.Helper()
	edit(f, reflect.TypeFor[T]().Name(), nth, change)
}

// result changes the result of a report.
func result[T any](f *forgery, name string, nth int, change func(*T)) {
	f.t.Helper()
	edit(f, name, nth, func(r *journal.Report) {
		var v T
		if err := journal.Decode(string(r.Result), &v); err != nil {
			f.t.Fatal(err)
		}
		change(&v)
		r.Result = []byte(encode(f.t, v))
	})
}

// request changes what an effect is asked to do.
func request(f *forgery, name string, nth int, change func(*effect.Request)) {
	f.t.Helper()
	edit(f, "asked "+name, nth, func(a *journal.Asking) {
		var r effect.Request
		if err := journal.Decode(string(a.About), &r); err != nil {
			f.t.Fatal(err)
		}
		change(&r)
		a.About = []byte(encode(f.t, r))
	})
}

// redefine opens the case under another definition, which the record holds.
func (f *forgery) redefine(definition string) {
	sum := sha256.Sum256([]byte(definition))
	digest := hex.EncodeToString(sum[:])
	f.Documents[digest] = definition
	edit(f, "begun", 1, func(b *journal.Beginning) { b.Catalog[0].SHA256 = digest })
	retell(f, 1, func(e *event.CaseOpened) { e.SHA256 = digest })
}

// The record of the run that completes has these steps: 1 thing.make, 2 thing.check, 3 thing.ship. A step has two
// decisions, one before its proposal and one behind it, and the last decision is the seventh.
const (
	makes  = "effect:thing.make"
	checks = "effect:thing.check"
	ships  = "effect:thing.ship"
)

// violation is one thing that is wrong with a record.
type violation struct {
	name   string
	change func(*forgery)
	want   verdicts
}

func fails(names ...string) verdicts {
	v := verdicts{}
	for _, name := range names {
		v[name] = audit.Fail
	}
	return v
}

func (v verdicts) unclear(names ...string) verdicts {
	for _, name := range names {
		v[name] = audit.Inconclusive
	}
	return v
}

func unclear(names ...string) verdicts { return verdicts{}.unclear(names...) }

// unreadable is what is left when an entry cannot be read.
func unreadable() verdicts { return unclear(names[1:]...) }

// onlyStructure is what can be said of a run whose definition cannot be used.
func onlyStructure(definition audit.Verdict) verdicts {
	return verdicts{audit.Definition: definition}.unclear(audit.Decisions, audit.Effects, audit.Stop)
}

// seeded are violations in the record of the run that completes.
var seeded = []violation{
	// the definition
	{"the definition is not there", func(f *forgery) { clear(f.Documents) }, onlyStructure(audit.Inconclusive)},
	{"the definition is another", func(f *forgery) {
		for digest := range f.Documents {
			f.Documents[digest] += "\n"
		}
	}, onlyStructure(audit.Fail)},
	{"the definition cannot be read", func(f *forgery) { f.redefine("format: protocol/9\n") }, onlyStructure(audit.Fail)},
	{"no governor takes the definition", func(f *forgery) {
		f.redefine(strings.Replace(shop, "{capability: ship}", "{capability: ship}, {capability: sail}", 1))
	}, onlyStructure(audit.Fail)},
	{"the definition does not declare the artifacts", func(f *forgery) {
		f.redefine(strings.Replace(shop, "order: {}}", "order: {}, box: {}}", 1))
	}, fails(audit.Decisions).unclear(audit.Effects, audit.Stop)},
	{"the catalog did not offer the definition", func(f *forgery) {
		edit(f, "begun", 1, func(b *journal.Beginning) { b.Catalog = nil })
	}, fails(audit.Definition)},
	{"another protocol was asked for", func(f *forgery) {
		edit(f, "begun", 1, func(b *journal.Beginning) { b.Protocol = "doors@1" })
	}, fails(audit.Definition)},
	{"another protocol was picked", func(f *forgery) {
		retell(f, 1, func(e *event.Picked) { e.Protocol = "doors@1" })
	}, fails(audit.Definition, audit.Stop)},
	{"the protocol was not routed to", func(f *forgery) {
		retell(f, 1, func(e *event.Routed) { e.Accepted = false })
	}, fails(audit.Definition)},

	// decisions
	{"the case is opened twice", func(f *forgery) { f.repeat("CaseOpened", 1) }, fails(audit.Decisions)},
	{"the case is opened at other artifacts than the binding gave", func(f *forgery) {
		result(f, "start", 1, func(r *map[string]string) { (*r)["thing"] = "thing-7" })
	}, fails(audit.Decisions)},
	{"the binding did not start", func(f *forgery) { f.drop("start", 1) }, fails(audit.Decisions)},
	{"the case begins at a later revision", func(f *forgery) {
		retell(f, 1, func(e *event.CaseOpened) { e.Revision = 2 })
	}, fails(audit.Decisions)},
	{"a decision is about another case", func(f *forgery) {
		retell(f, 1, func(e *event.Decided) { e.Case = "case-2" })
	}, fails(audit.Decisions)},
	{"the digest of a decision is another", func(f *forgery) {
		retell(f, 1, func(e *event.Decided) { e.SHA256 = strings.Repeat("0", 64) })
	}, fails(audit.Decisions)},
	{"the digest of the decision behind a proposal is another", func(f *forgery) {
		retell(f, 2, func(e *event.Decided) { e.SHA256 = strings.Repeat("0", 64) })
	}, fails(audit.Decisions, audit.Effects)},
	{"a decision rests on other evidence", func(f *forgery) {
		retell(f, 5, func(e *event.Decided) { e.Evidence++ })
	}, fails(audit.Decisions)},
	{"a decision is about other artifacts", func(f *forgery) {
		retell(f, 5, func(e *event.Decided) { e.Artifacts["thing"] = "thing-1" })
	}, fails(audit.Decisions)},
	{"a decision is about another revision", func(f *forgery) {
		retell(f, 5, func(e *event.Decided) { e.Revision = 1 })
	}, fails(audit.Decisions)},
	{"a decision is of another time than the clock's", func(f *forgery) {
		result(f, "clock", 1, func(at *string) { *at = "2026-03-01T09:00:00Z" })
	}, fails(audit.Decisions)},
	{"a decision is of no time at all", func(f *forgery) {
		result(f, "clock", 7, func(at *string) { *at = "soon" })
		retell(f, 7, func(e *event.Decided) { e.At = "soon" })
	}, fails(audit.Decisions).unclear(audit.Stop)},
	{"a frontier is another", func(f *forgery) {
		retell(f, 1, func(e *event.FrontierComputed) { e.Actions[0].Status = "blocked" })
	}, fails(audit.Decisions)},
	{"a frontier has another id", func(f *forgery) {
		retell(f, 1, func(e *event.FrontierComputed) { e.ID = "" })
	}, fails(audit.Decisions)},
	{"a frontier without a decision", func(f *forgery) { f.drop("Decided", 1) }, fails(audit.Decisions)},
	{"evidence is told not to apply", func(f *forgery) {
		f.drop("EvidenceSubmitted", 1)
		retell(f, 1, func(e *event.EvidenceReceived) { e.Applies = false })
	}, fails(audit.Decisions)},
	{"evidence was taken away", func(f *forgery) {
		f.drop("EvidenceSubmitted", 1)
		f.drop("EvidenceReceived", 1)
	}, fails(audit.Decisions, audit.Effects)},
	{"the result of a check was changed", func(f *forgery) {
		retell(f, 1, func(e *event.EvidenceReceived) { e.Data = strings.Replace(e.Data, `"pass"`, `"fail"`, 1) })
		retell(f, 1, func(e *event.EvidenceSubmitted) { e.Result = "fail" })
	}, fails(audit.Decisions, audit.Effects)},
	{"revisions of an artifact that is not declared", func(f *forgery) {
		result(f, makes, 1, func(p *run.Performance) { p.Report.Revisions["box"] = "box-1" })
		retell(f, 1, func(e *event.RevisionsMoved) { e.Artifacts["box"] = "box-1" })
	}, fails(audit.Decisions, audit.Effects).unclear(audit.Stop)},
	{"the case moves further than it does", func(f *forgery) {
		retell(f, 1, func(e *event.RevisionsMoved) { e.Revision = 3 })
	}, fails(audit.Decisions)},
	{"an artifact is lost in a move", func(f *forgery) {
		retell(f, 1, func(e *event.RevisionsMoved) { delete(e.Artifacts, "order") })
	}, fails(audit.Decisions, audit.Effects, audit.Evidence)},
	{"a move of another case", func(f *forgery) {
		retell(f, 1, func(e *event.RevisionsMoved) { e.Case = "case-2" })
	}, fails(audit.Decisions, audit.Effects, audit.Evidence)},
	{"an observation of another case", func(f *forgery) {
		retell(f, 1, func(e *event.Observed) { e.Case = "case-2" })
	}, fails(audit.Decisions)},
	{"evidence of another case", func(f *forgery) {
		retell(f, 2, func(e *event.EvidenceReceived) { e.Case = "case-2" })
	}, fails(audit.Decisions, audit.Evidence, audit.Stop)},
	{"no case was opened", func(f *forgery) { f.drop("CaseOpened", 1) }, fails(audit.Decisions, audit.Effects, audit.Evidence, audit.Stop)},

	// effects
	{"an effect that was not admitted", func(f *forgery) { f.drop("Admitted", 1) }, fails(audit.Effects)},
	{"admitted, but something was told before the effect", func(f *forgery) {
		f.insert("Admitted", 1, f.told(event.TurnCompleted{Turn: 1}))
	}, fails(audit.Effects)},
	{"admitted without a proposal", func(f *forgery) { f.drop("Proposed", 1) }, fails(audit.Effects, audit.Evidence)},
	{"admitted twice", func(f *forgery) { f.repeat("Admitted", 1) }, fails(audit.Effects)},
	{"admitted again behind its effect", func(f *forgery) {
		f.insert("RevisionsMoved", 1, f.Entries[f.find("Admitted", 1)])
	}, fails(audit.Effects)},
	{"admitted without a second decision", func(f *forgery) { f.drop("Decided", 2) }, fails(audit.Effects)},
	{"the proposal was made at no frontier", func(f *forgery) { f.drop("FrontierComputed", 1) }, fails(audit.Effects)},
	{"a later proposal was made at no frontier", func(f *forgery) { f.drop("FrontierComputed", 3) }, fails(audit.Effects)},
	{"the proposal was made at a stale frontier", func(f *forgery) {
		retell(f, 2, func(e *event.FrontierComputed) { e.Revision = 1 })
	}, fails(audit.Decisions, audit.Effects)},
	{"admitted by another decision", func(f *forgery) {
		retell(f, 1, func(e *event.Admitted) { e.SHA256 = "00" })
	}, fails(audit.Effects)},
	{"admitted at another revision", func(f *forgery) {
		retell(f, 2, func(e *event.Admitted) { e.Revision = 1 })
		request(f, checks, 1, func(r *effect.Request) { r.Revision = 1 })
	}, fails(audit.Effects)},
	{"admitted for another action than was proposed", func(f *forgery) {
		retell(f, 1, func(e *event.Proposed) { e.Action = "thing.look" })
	}, fails(audit.Effects, audit.Evidence)},
	{"admitted for a blocked action", func(f *forgery) { // 112
		retell(f, 1, func(e *event.Proposed) { e.Action = "thing.ship" })
		retell(f, 1, func(e *event.Admitted) { e.Action = "thing.ship" })
		f.Entries[f.find(makes, 1)].Name = ships
		request(f, makes, 1, func(r *effect.Request) { r.Action = "thing.ship" })
		f.Entries[f.find("asked "+makes, 1)].Name = ships
		retell(f, 2, func(e *event.Observed) { e.Subject = "thing.ship/1" })
	}, fails(audit.Effects)},
	{"admitted for an action that is not declared", func(f *forgery) { // 113
		retell(f, 1, func(e *event.CaseOpened) { e.Performs = append(e.Performs, "thing.sell") })
		retell(f, 1, func(e *event.Proposed) { e.Action = "thing.sell" })
		retell(f, 1, func(e *event.Admitted) { e.Action = "thing.sell" })
		f.Entries[f.find(makes, 1)].Name = "effect:thing.sell"
		request(f, makes, 1, func(r *effect.Request) { r.Action = "thing.sell" })
		f.Entries[f.find("asked "+makes, 1)].Name = "effect:thing.sell"
		retell(f, 2, func(e *event.Observed) { e.Subject = "thing.sell/1" })
	}, fails(audit.Effects)},
	{"admitted for an action that nothing performs", func(f *forgery) {
		retell(f, 1, func(e *event.CaseOpened) { e.Performs = []string{"thing.check", "thing.ship"} })
	}, fails(audit.Effects)},
	{"the capability was not asked for", func(f *forgery) { f.drop("authority:ship", 1) }, fails(audit.Effects)},
	{"the capability was denied", func(f *forgery) {
		result(f, "authority:ship", 1, func(p *run.Permission) { *p = run.Deny })
	}, fails(audit.Effects)},
	{"the authority failed", func(f *forgery) {
		edit(f, "authority:ship", 1, func(r *journal.Report) { r.Error = "it is away" })
	}, fails(audit.Effects)},
	{"another capability was granted", func(f *forgery) { // 120
		f.Entries[f.find("authority:ship", 1)].Name = "authority:look"
	}, fails(audit.Effects)},
	{"admitted with another capability", func(f *forgery) {
		retell(f, 3, func(e *event.Admitted) { e.Capability = "look" })
	}, fails(audit.Effects)},
	{"admitted with a capability that nobody needs", func(f *forgery) {
		retell(f, 1, func(e *event.Admitted) { e.Capability = "ship" })
	}, fails(audit.Effects)},
	{"the grant was given for an earlier proposal", func(f *forgery) { // 120, 121
		i := f.find("authority:ship", 1)
		grant := f.Entries[i]
		f.Entries = slices.Delete(f.Entries, i, i+1)
		f.insert("FrontierComputed", 3, grant)
	}, fails(audit.Effects)},
	{"the arguments were changed behind the admission", func(f *forgery) { // 121
		request(f, makes, 1, func(r *effect.Request) { r.Arguments = `{"all":true}` })
	}, fails(audit.Effects)},
	{"the arguments were changed behind the proposal", func(f *forgery) { // 121
		retell(f, 1, func(e *event.Admitted) { e.Arguments = `{"all":true}` })
		request(f, makes, 1, func(r *effect.Request) { r.Arguments = `{"all":true}` })
	}, fails(audit.Effects)},
	{"an effect of another run", func(f *forgery) {
		request(f, makes, 1, func(r *effect.Request) { r.Run = "run2" })
	}, fails(audit.Effects)},
	{"an effect of another step", func(f *forgery) {
		request(f, makes, 1, func(r *effect.Request) { r.Step = 2 })
	}, fails(audit.Effects)},
	{"an effect of another case", func(f *forgery) {
		request(f, makes, 1, func(r *effect.Request) { r.Case = "case-2" })
	}, fails(audit.Effects)},
	{"an effect at another case revision", func(f *forgery) {
		request(f, makes, 1, func(r *effect.Request) { r.Revision = 2 })
	}, fails(audit.Effects)},
	{"an effect of another action", func(f *forgery) {
		request(f, makes, 1, func(r *effect.Request) { r.Action = "thing.look" })
	}, fails(audit.Effects)},
	{"an effect at other revisions", func(f *forgery) {
		request(f, makes, 1, func(r *effect.Request) { r.Artifacts["thing"] = "thing-0" })
	}, fails(audit.Effects)},
	{"an effect of another name", func(f *forgery) {
		f.Entries[f.find(makes, 1)].Name = checks
		f.Entries[f.find("asked "+makes, 1)].Name = checks
	}, fails(audit.Effects)},
	{"a report of another effect", func(f *forgery) {
		f.Entries[f.find(makes, 1)].Name = checks
	}, fails(audit.Effects, audit.Evidence)},
	{"an effect that happened twice", func(f *forgery) { // 118
		i := f.find("asked "+makes, 1)
		f.Entries = slices.Insert(f.Entries, i+2, f.Entries[i], f.Entries[i+1])
	}, fails(audit.Effects)},
	{"a second effect of one step", func(f *forgery) {
		i, j := f.find("asked "+makes, 1), f.find("RevisionsMoved", 1)
		f.Entries = slices.Insert(f.Entries, j+1, f.Entries[i], f.Entries[i+1])
	}, fails(audit.Effects)},
	{"a second effect before the revisions of the first have moved", func(f *forgery) {
		f.insert("Observed", 2, f.Entries[f.find("asked "+makes, 1)])
	}, fails(audit.Effects)},
	{"a report of an effect that was not asked for", func(f *forgery) { f.drop("asked "+makes, 1) }, fails(audit.Effects, audit.Evidence)},
	{"the run goes on without the report of an effect", func(f *forgery) { f.drop(makes, 1) }, fails(audit.Effects, audit.Evidence)},
	{"the run goes on behind an effect that failed", func(f *forgery) {
		edit(f, makes, 1, func(r *journal.Report) { r.Error = "it broke" })
	}, fails(audit.Effects, audit.Evidence)},
	{"the run goes on behind an effect that was not begun", func(f *forgery) {
		edit(f, makes, 1, func(r *journal.Report) { *r = journal.Report{NotBegun: true} })
	}, fails(audit.Effects, audit.Evidence)},
	{"an effect reports a person's word", func(f *forgery) {
		result(f, makes, 1, func(p *run.Performance) { p.Outcome = event.Performed })
	}, fails(audit.Effects)},
	{"the report that was told is another", func(f *forgery) {
		retell(f, 1, func(e *event.EffectReported) { e.Report = "all is well" })
	}, fails(audit.Effects)},
	{"the report is told of another step", func(f *forgery) {
		retell(f, 1, func(e *event.EffectReported) { e.Step = 2 })
	}, fails(audit.Effects)},
	{"the report was not told", func(f *forgery) { f.drop("EffectReported", 1) }, fails(audit.Effects)},
	{"a report is told twice", func(f *forgery) {
		i := f.find("EffectReported", 1)
		f.insert("RevisionsMoved", 1, f.Entries[i])
	}, fails(audit.Effects)},
	{"an effect that happened is told as refused", func(f *forgery) {
		f.Entries[f.find("EffectReported", 1)] = f.told(event.StepRefused{Step: 1, Reason: "no"})
	}, fails(audit.Effects, audit.Evidence)},
	{"a step is refused behind its effect", func(f *forgery) {
		f.insert("NoEvidence", 1, f.told(event.StepRefused{Step: 1, Reason: "no"}))
	}, fails(audit.Effects)},
	{"revisions move other than the effect reports", func(f *forgery) {
		result(f, makes, 1, func(p *run.Performance) { p.Report.Revisions["thing"] = "thing-3" })
	}, fails(audit.Effects)},
	{"revisions move without an effect", func(f *forgery) {
		result(f, makes, 1, func(p *run.Performance) { p.Report.Revisions = nil })
	}, fails(audit.Effects)},
	{"revisions move before anything is done", func(f *forgery) {
		f.insert("CaseOpened", 1, f.told(event.RevisionsMoved{Case: "case-1", Revision: 1, Artifacts: map[string]string{"order": "order-1", "thing": "thing-1"}}))
	}, fails(audit.Effects)},
	{"revisions are lost, and move again", func(f *forgery) {
		retell(f, 1, func(e *event.CaseOpened) { e.Artifacts = nil })
	}, fails(audit.Decisions, audit.Effects).unclear(audit.Stop)},
	{"revisions move twice", func(f *forgery) { f.repeat("RevisionsMoved", 1) }, fails(audit.Effects)},
	{"an effect is hidden", func(f *forgery) {
		i, j := f.find("asked "+ships, 1), f.find("EvidenceReceived", 2)
		f.Entries = append(f.Entries[:i], f.Entries[j+2:]...)
	}, fails(audit.Decisions, audit.Effects, audit.Stop)},
	{"revisions move in another step", func(f *forgery) {
		retell(f, 1, func(e *event.RevisionsMoved) { e.Step = 2 })
	}, fails(audit.Effects)},
	{"the revisions that an effect reports are lost", func(f *forgery) { f.drop("RevisionsMoved", 1) }, fails(audit.Decisions, audit.Effects, audit.Evidence)},
	{"revisions are lost before evidence is received", func(f *forgery) {
		result(f, checks, 1, func(p *run.Performance) { p.Report.Revisions = map[string]string{"order": "order-9"} })
	}, fails(audit.Effects)},
	{"a step is left out", func(f *forgery) {
		retell(f, 1, func(e *event.Proposed) { e.Step = 2 })
	}, fails(audit.Effects, audit.Evidence)},

	// evidence
	{"evidence without a producer", func(f *forgery) {
		retell(f, 1, func(e *event.EvidenceReceived) { e.Producer = "" })
	}, fails(audit.Evidence)},
	{"evidence that is no JSON", func(f *forgery) {
		retell(f, 2, func(e *event.EvidenceReceived) { e.Data = "{" })
	}, fails(audit.Decisions, audit.Evidence, audit.Stop)},
	{"evidence of another kind than announced", func(f *forgery) {
		retell(f, 2, func(e *event.EvidenceReceived) { e.Kind = "checked" })
	}, fails(audit.Decisions, audit.Evidence, audit.Stop)},
	{"evidence in no format", func(f *forgery) {
		retell(f, 2, func(e *event.EvidenceReceived) { e.Data = strings.Replace(e.Data, `"canon-evidence/1"`, `1`, 1) })
	}, fails(audit.Decisions, audit.Evidence, audit.Stop)},
	{"evidence of a step that had no effect", func(f *forgery) {
		retell(f, 1, func(e *event.EvidenceReceived) { e.Step = 1 })
	}, fails(audit.Evidence)},
	{"evidence before anything is done", func(f *forgery) {
		f.insert("CaseOpened", 1, f.told(event.EvidenceReceived{Case: "case-1", Kind: "checked", Producer: "me", Data: `{"format":"canon-evidence/1","kind":"checked"}`}))
	}, fails(audit.Evidence)},
	{"the observation of an effect is another", func(f *forgery) {
		retell(f, 4, func(e *event.Observed) { e.Payload = "[]" })
	}, fails(audit.Evidence)},
	{"the observation of an effect is missing", func(f *forgery) { f.drop("Observed", 4) }, fails(audit.Evidence)},
	{"the observation of an effect is an executor's", func(f *forgery) {
		retell(f, 4, func(e *event.Observed) { e.Source = "executor" })
	}, fails(audit.Evidence)},
	{"an observation of nobody", func(f *forgery) {
		retell(f, 1, func(e *event.Observed) { e.Source = "" })
	}, fails(audit.Evidence)},
	{"an executor observes for an effect", func(f *forgery) {
		retell(f, 1, func(e *event.Observed) { e.Source = "effect" })
	}, fails(audit.Evidence)},
	{"evidence of a refused effect", func(f *forgery) {
		result(f, checks, 1, func(p *run.Performance) { p.Report.Refused = "no" })
	}, fails(audit.Effects, audit.Evidence)},
	{"evidence is told that was not received", func(f *forgery) {
		retell(f, 1, func(e *event.EvidenceSubmitted) { e.Record = "other" })
	}, fails(audit.Evidence)},
	{"evidence is told with another result", func(f *forgery) {
		retell(f, 1, func(e *event.EvidenceSubmitted) { e.Result = "fail" })
	}, fails(audit.Evidence)},
	{"evidence is told of another step", func(f *forgery) {
		retell(f, 1, func(e *event.EvidenceSubmitted) { e.Step = 1 })
	}, fails(audit.Evidence)},
	{"evidence is told twice", func(f *forgery) { f.repeat("EvidenceSubmitted", 1) }, fails(audit.Evidence)},

	// the stop
	{"the run came to another outcome", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Detail = "lost" })
	}, fails(audit.Stop)},
	{"completion is told as something else", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Reason, e.Detail = event.NothingAdmissible, "" })
	}, fails(audit.Stop)},
	{"completed before it was", func(f *forgery) {
		f.insert("Decided", 5, f.told(event.Stopped{Reason: event.Completed, Detail: "delivered", Protocol: "shop@1", Steps: 2, CaseOpen: true}))
		f.Entries = f.Entries[:f.find("Stopped", 1)+1]
	}, fails(audit.Stop)},
	{"stopped without a decision", func(f *forgery) { f.drop("Decided", 7) }, fails(audit.Stop)},
	{"stopped after other steps", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Steps = 4 })
	}, fails(audit.Stop)},
	{"stopped under another protocol", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Protocol = "doors@1" })
	}, fails(audit.Stop)},
	{"stopped without a case, and there is one", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.CaseOpen = false })
	}, fails(audit.Stop)},
	{"a completed run names actions that wait", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Actions = []string{"thing.make"} })
	}, fails(audit.Stop)},
	{"it was confined", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Reason = event.ConfinementUnavailable })
	}, fails(audit.Stop)},
	{"it stopped for a reason of a later version", func(f *forgery) {
		retell(f, 1, func(e *event.Stopped) { e.Reason = "Tired" })
	}, unclear(audit.Stop)},
	{"the stop is missing", func(f *forgery) { f.drop("Stopped", 1) }, unclear(audit.Stop)},
	{"it failed instead", func(f *forgery) {
		f.Entries[f.find("Stopped", 1)] = f.told(event.Failed{Error: "it broke"})
	}, unclear(audit.Stop)},
	{"it stopped before its revisions moved", func(f *forgery) {
		f.Entries[f.find("RevisionsMoved", 1)] = f.told(event.Stopped{Reason: event.StepBudget, Protocol: "shop@1", Steps: 1, CaseOpen: true})
		f.Entries = f.Entries[:f.find("Stopped", 1)+1]
	}, fails(audit.Effects, audit.Stop)},
	{"the record goes on behind its end", func(f *forgery) { f.add(f.told(event.TurnCompleted{})) }, fails(audit.Stop)},
	{"the record goes on behind a failure", func(f *forgery) {
		f.Entries[f.find("Stopped", 1)] = f.told(event.Failed{})
		f.add(f.told(event.TurnCompleted{}))
	}, fails(audit.Stop)},
	{"a completed run goes on", func(f *forgery) {
		f.add(f.resumed(journal.Resumption{Told: event.Resumed{Steps: 3, Sitting: 2}}))
	}, fails(audit.Stop)},
	{"a sitting is left out", func(f *forgery) {
		f.insert("Decided", 1, f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 3}}))
	}, fails(audit.Stop)},
	{"a sitting begins after other steps", func(f *forgery) {
		f.insert("Decided", 1, f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Steps: 7}}))
	}, fails(audit.Stop)},
	{"a person speaks of an effect that is not in doubt", func(f *forgery) {
		f.insert("Decided", 1, f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Outcome: event.Performed}}))
	}, fails(audit.Effects)},
	{"a run goes on with an effect in doubt", func(f *forgery) {
		f.insert("asked "+makes, 1, f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Steps: 1}}))
	}, fails(audit.Effects, audit.Evidence)},
	{"an effect in doubt is done again", func(f *forgery) {
		i := f.find("asked "+makes, 1)
		f.Entries = slices.Insert(f.Entries, i, f.Entries[i], f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Steps: 1}}))
	}, fails(audit.Effects)},
	{"an effect in doubt is done again against a person's word", func(f *forgery) {
		i := f.find("asked "+makes, 1)
		f.Entries = slices.Insert(f.Entries, i, f.Entries[i], f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Steps: 1, Outcome: event.Performed}}))
	}, fails(audit.Effects)},
	{"a person's word is evidence", func(f *forgery) {
		i := f.find(checks, 1)
		f.Entries[i] = f.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Steps: 2, Outcome: event.Performed}})
		f.drop("Observed", 4)
	}, fails(audit.Evidence)},

	// what this version cannot read
	{"an entry of another kind", func(f *forgery) { f.Entries[1].Kind = "dreamt" }, unreadable()},
	{"an event of another version", func(f *forgery) { f.Entries[1].Name = "Dreamt" }, unreadable()},
	{"an event with another member", func(f *forgery) { f.Entries[1].Body = `{"Dream":1}` }, unreadable()},
	{"a resumption that cannot be read", func(f *forgery) {
		f.insert("Decided", 1, journal.Entry{Kind: journal.Resumed, Body: "["})
	}, unreadable()},
	{"an asking that cannot be read", func(f *forgery) { f.Entries[f.find("asked "+makes, 1)].Body = "[" }, unreadable()},
	{"a request that cannot be read", func(f *forgery) { f.Entries[f.find("asked "+makes, 1)].Body = "{}" }, unreadable()},
	{"a report that cannot be read", func(f *forgery) { f.Entries[f.find("clock", 1)].Body = "[" }, unreadable()},
	{"the report of an effect that cannot be read", func(f *forgery) { f.Entries[f.find(makes, 1)].Body = `{"Result":1}` }, unreadable()},
	{"a begin that cannot be read", func(f *forgery) { f.Entries[0].Body = "" }, unreadable()},
}

// Each thing that is wrong with a record fails the checks it is about and no others, whoever wrote the chain anew.
func TestSeededViolationsAreFound(t *testing.T) {
	whole := completes().plays(t)
	for _, v := range seeded {
		t.Run(v.name, func(t *testing.T) {
			f := forge(t, whole)
			v.change(f)
			f.seal()
			expect(t, f.Record, tables(f.Entries), v.want)
		})
	}
}

// The same for runs that end in other ways.
func TestSeededStopsAreFound(t *testing.T) {
	stops := func(change func(*event.Stopped)) func(*forgery) {
		return func(f *forgery) { retell(f, 1, change) }
	}
	becomes := func(reason event.StopReason, detail string, actions ...string) func(*forgery) {
		return stops(func(e *event.Stopped) { e.Reason, e.Detail, e.Actions = reason, detail, actions })
	}
	bad := fails(audit.Stop)
	for _, of := range []struct {
		run        string // of those that are good
		violations []violation
	}{
		{"a capability is needed", []violation{
			{"no action waits", stops(func(e *event.Stopped) { e.Actions = nil }), bad},
			{"another action waits", stops(func(e *event.Stopped) { e.Actions = []string{"thing.make"} }), bad},
			{"one more action waits", stops(func(e *event.Stopped) { e.Actions = append(e.Actions, "thing.make") }), bad},
			{"it waits twice", stops(func(e *event.Stopped) { e.Actions = append(e.Actions, e.Actions...) }), bad},
			{"the authority was not asked", func(f *forgery) { f.drop("authority:ship", 1) }, bad},
			{"the authority allowed it", func(f *forgery) { result(f, "authority:ship", 1, func(p *run.Permission) { *p = run.Allow }) }, bad},
			{"it is not admissible", becomes(event.NothingAdmissible, ""), bad},
			{"the budget", becomes(event.StepBudget, ""), bad},
			{"a model", becomes(event.NeedsModel, "Action"), bad},
			{"no executor", becomes(event.NoLocalExecutor, ""), bad},
			{"a refused pick", becomes(event.Refused, ""), bad},
		}},
		{"nothing but approvals can go on", []violation{
			{"no action waits", stops(func(e *event.Stopped) { e.Actions = nil }), bad},
			{"the authority was not asked about one", func(f *forgery) { f.drop("authority:key.back", 1) }, bad},
			{"the authority denied one", func(f *forgery) { result(f, "authority:key.back", 1, func(p *run.Permission) { *p = run.Deny }) }, bad},
		}},
		{"what waits for approval is denied", []violation{
			{"one was not denied", func(f *forgery) {
				result(f, "authority:key.back", 1, func(p *run.Permission) { *p = run.NeedsApproval })
			}, bad},
			{"a model", func(f *forgery) {
				edit(f, "begun", 1, func(b *journal.Beginning) { b.Executor = false })
				becomes(event.NeedsModel, "Action")(f)
			}, bad},
			{"the definition is not there", func(f *forgery) { clear(f.Documents) }, unclear(audit.Definition, audit.Decisions, audit.Stop)},
			{"a step was not refused", func(f *forgery) { f.drop("StepRefused", 2) }, fails(audit.Effects, audit.Stop)},
			{"another step was refused", func(f *forgery) { retell(f, 2, func(e *event.StepRefused) { e.Step = 1 }) }, fails(audit.Effects)},
			{"one was granted and could be performed", func(f *forgery) { result(f, "authority:key.back", 1, func(p *run.Permission) { *p = run.Allow }) }, bad},
		}},
		{"no proposal twice in a row", []violation{
			{"once", func(f *forgery) { i := f.find("propose", 3); f.Entries = slices.Delete(f.Entries, i-1, i+1) }, bad},
			{"not in a row", func(f *forgery) { result(f, "propose", 3, func(p *run.Proposal) { p.None = false }) }, bad},
			{"the budget", becomes(event.StepBudget, ""), bad},
		}},
		{"the budget is used up", []violation{
			{"the budget is higher", func(f *forgery) { edit(f, "begun", 1, func(b *journal.Beginning) { b.Terms.Budget = 3 }) }, bad},
			{"there is none, and yet steps", func(f *forgery) {
				edit(f, "begun", 1, func(b *journal.Beginning) { b.Terms.Budget = 0 })
				i := f.find("Stopped", 1)
				f.Entries = slices.Delete(f.Entries, i-1, i)
			}, bad},
			{"nothing is admissible", becomes(event.NothingAdmissible, ""), bad},
			{"a model", becomes(event.NeedsModel, "Action"), bad},
			{"completed", becomes(event.Completed, "delivered"), bad},
			{"completed with nothing", becomes(event.Completed, ""), bad},
		}},
		{"there is no budget", []violation{
			{"there is one", func(f *forgery) { edit(f, "begun", 1, func(b *journal.Beginning) { b.Terms.Budget = 1 }) }, bad},
			{"nothing is admissible", becomes(event.NothingAdmissible, ""), bad},
		}},
		{"a model is needed", []violation{
			{"there is one", func(f *forgery) { edit(f, "begun", 1, func(b *journal.Beginning) { b.Terms.Agent = true }) }, bad},
			{"there is an executor", func(f *forgery) { edit(f, "begun", 1, func(b *journal.Beginning) { b.Executor = true }) }, bad},
			{"no executor", becomes(event.NoLocalExecutor, ""), bad},
		}},
		{"the pick is refused", []violation{
			{"it was not", func(f *forgery) { f.drop("PickRefused", 1) }, bad},
			{"no executor", becomes(event.NoLocalExecutor, ""), bad},
			{"completed", becomes(event.Completed, "delivered"), bad},
			{"no budget", func(f *forgery) {
				edit(f, "begun", 1, func(b *journal.Beginning) { b.Terms.Budget = 0 })
				becomes(event.StepBudget, "")(f)
			}, bad},
		}},
		{"nothing carries the protocol out", []violation{
			{"something does", func(f *forgery) { retell(f, 1, func(e *event.Routed) { e.Accepted = true }) }, bad},
			{"a refused pick", becomes(event.Refused, ""), bad},
			{"it was not routed", func(f *forgery) { f.drop("Routed", 1) }, bad},
		}},
		{"nothing performs an action", []violation{
			{"something does", func(f *forgery) { retell(f, 1, func(e *event.CaseOpened) { e.Performs = []string{"thing.look"} }) }, bad},
		}},
		{"the effect refuses", []violation{
			{"that was not told", func(f *forgery) { f.drop("StepRefused", 1) }, fails(audit.Effects)},
			{"and is told as done", func(f *forgery) {
				f.Entries[f.find("StepRefused", 1)] = f.told(event.EffectReported{Step: 1, Report: "done"})
			}, fails(audit.Effects)},
		}},
		{"the effect cannot be confined", []violation{
			{"for another reason", stops(func(e *event.Stopped) { e.Detail = "BackendMissing: it is away" }), bad},
			{"for no reason", func(f *forgery) {
				result(f, makes, 1, func(p *run.Performance) { p.Report.Unconfined, p.Report.Refused = "", "no" })
			}, fails(audit.Effects, audit.Stop)},
			{"and is told as something else", becomes(event.StepBudget, ""), fails(audit.Effects, audit.Stop)},
			{"and is told as done", func(f *forgery) {
				f.Entries[f.find("Stopped", 1)] = f.told(event.EffectReported{Step: 1, Report: "done"})
			}, fails(audit.Effects).unclear(audit.Stop)},
		}},
		{"an executor needs a model", []violation{
			{"it did not say so", func(f *forgery) { result(f, "propose", 1, func(p *run.Proposal) { p.NeedsModel = false }) }, bad},
		}},
		{"proposals that come to nothing", []violation{
			{"a step without a proposal is not refused", func(f *forgery) { f.drop("StepRefused", 1) }, fails(audit.Effects)},
			{"a step is told twice", func(f *forgery) { f.repeat("NotProposed", 1) }, fails(audit.Effects)},
			{"a step is refused twice", func(f *forgery) { f.repeat("StepRefused", 3) }, fails(audit.Effects)},
			{"an effect without a proposal", func(f *forgery) {
				i := f.find("asked effect:thing.look", 1)
				f.insert("StepRefused", 1, f.Entries[i])
			}, fails(audit.Effects)},
		}},
		{"evidence that does not apply", []violation{
			{"one that does not apply is told", func(f *forgery) {
				f.insert("EvidenceSubmitted", 1, f.told(event.EvidenceSubmitted{Step: 1, Kind: "unheard", Result: "of", Record: "e1.2"}))
			}, fails(audit.Evidence)},
			{"one about another revision is told", func(f *forgery) {
				f.insert("EvidenceSubmitted", 1, f.told(event.EvidenceSubmitted{Step: 1, Kind: "checked", Record: "old"}))
			}, fails(audit.Evidence)},
			{"one that does not apply is told to", func(f *forgery) {
				retell(f, 2, func(e *event.EvidenceReceived) { e.Applies = true })
			}, fails(audit.Decisions)},
		}},
	} {
		for _, v := range of.violations {
			t.Run(of.run+"/"+v.name, func(t *testing.T) {
				f := forge(t, goodScene(t, of.run).plays(t))
				v.change(f)
				f.seal()
				expect(t, f.Record, tables(f.Entries), v.want)
			})
		}
	}
}

// goodScene gives the scene of a good run.
func goodScene(t *testing.T, name string) scene {
	t.Helper()
	for _, g := range goodRuns() {
		if g.name == name {
			return g.scene
		}
	}
	t.Fatalf("there is no run of the name %q", name)
	return scene{}
}

// Where several findings fail one check, each is made all the same.
func TestEachFindingIsMade(t *testing.T) {
	whole := completes().plays(t)
	for name, says := range map[string]string{
		"the case begins at a later revision":                "the case is opened at revision 2",
		"the case moves further than it does":                "the case comes to revision 2, and is told to come to 3",
		"an artifact is lost in a move":                      "not the revision of each artifact",
		"admitted, but something was told before the effect": "as the last thing told before it",
		"an effect that was not admitted":                    "as the last thing told before it",
		"the run goes on without the report of an effect":    "the run goes on behind an effect",
		"the run goes on behind an effect that failed":       "the run goes on behind an effect",
		"a report of an effect that was not asked for":       "the report is of an effect that was not asked for",
		"evidence that is no JSON":                           "the record cannot be read",
		"evidence of another kind than announced":            "the record is no canon-evidence/1 document",
		"evidence in no format":                              "the record is no canon-evidence/1 document",
		"the observation of an effect is missing":            "does not tell the observation of the effect",
		"a step is left out":                                 "it is step 2; the next is step 1",
		"admitted without a proposal":                        "there is no proposal to be admitted",
		"admitted again behind its effect":                   "there is no proposal to be admitted",
		"admitted without a second decision":                 "the frontier was not computed again",
	} {
		i := slices.IndexFunc(seeded, func(v violation) bool { return v.name == name })
		f := forge(t, whole)
		seeded[i].change(f)
		f.seal()
		found := false
		for _, c := range audit.Check(f.Record, nil).Checks {
			found = found || slices.ContainsFunc(c.Findings, func(f audit.Finding) bool { return strings.Contains(f.What, says) })
		}
		if !found {
			t.Errorf("%s: no finding says %q", name, says)
		}
	}
}

// A person's word is one of two.
func TestAWordThatSaysNothingSettlesNothing(t *testing.T) {
	s := completes()
	whole := s.plays(t)
	f := forge(t, whole)
	f.Entries = f.Entries[:f.find("asked "+makes, 1)+1]
	f.seal()
	for _, outcome := range []event.Outcome{"", "perhaps"} {
		g := forge(t, f.Record)
		g.add(g.resumed(journal.Resumption{Told: event.Resumed{Sitting: 2, Steps: 1, Outcome: outcome}}))
		g.seal()
		expect(t, g.Record, tables(g.Entries), doubtful)
	}
}

// Changes that the chain is there to show.
func TestABrokenChainIsFound(t *testing.T) {
	whole := completes().plays(t)
	for _, v := range []violation{
		{"an entry was changed", func(f *forgery) { f.Entries[1].Hash[0]++ }, fails(audit.Chain)},
		{"an entry was removed", func(f *forgery) { f.drop("NoEvidence", 1) }, fails(audit.Chain)},
		{"entries were cut off", func(f *forgery) { f.drop("Stopped", 1) }, fails(audit.Chain).unclear(audit.Stop)},
		{"a run that begins twice", func(f *forgery) { f.repeat("begun", 1); f.seal() }, fails(audit.Chain).unclear(names[1:]...)},
		{"a run that does not begin", func(f *forgery) { f.drop("begun", 1); f.seal() }, fails(audit.Chain).unclear(names[1:]...)},
		{"nothing at all", func(f *forgery) { f.Entries = nil; f.seal() }, fails(audit.Chain).unclear(names[1:]...)},
	} {
		t.Run(v.name, func(t *testing.T) {
			f := forge(t, whole)
			v.change(f)
			expect(t, f.Record, tables(f.Entries), v.want)
		})
	}
}

// The tables hold what the entries tell, to the byte.
func TestTablesThatDifferAreFound(t *testing.T) {
	whole := completes().plays(t)
	for name, change := range map[string]func(c *journal.Case){
		"another run":          func(c *journal.Case) { c.Run = "run2" },
		"another case":         func(c *journal.Case) { c.ID = "case-2" },
		"another protocol":     func(c *journal.Case) { c.Protocol = "doors@1" },
		"another definition":   func(c *journal.Case) { c.SHA256 = "" },
		"another revision":     func(c *journal.Case) { c.Revision++ },
		"another artifact":     func(c *journal.Case) { c.Artifacts["thing"] = "thing-1" },
		"another input":        func(c *journal.Case) { c.Inputs = map[string]string{"a": "b"} },
		"a record less":        func(c *journal.Case) { c.Received = c.Received[1:] },
		"records moved":        func(c *journal.Case) { slices.Reverse(c.Received) },
		"a record changed":     func(c *journal.Case) { c.Received[0].Data[0] = ' ' },
		"a record applies":     func(c *journal.Case) { c.Received[0].Applies = false },
		"a producer changed":   func(c *journal.Case) { c.Received[0].Producer = "me" },
		"a kind changed":       func(c *journal.Case) { c.Received[0].Kind = "shipped" },
		"an observation less":  func(c *journal.Case) { c.Observations = c.Observations[1:] },
		"a source changed":     func(c *journal.Case) { c.Observations[0].Source = governor.EffectSource },
		"a subject changed":    func(c *journal.Case) { c.Observations[0].Subject = "" },
		"a payload is another": func(c *journal.Case) { c.Observations[0].Payload[0] = ' ' },
	} {
		t.Run(name, func(t *testing.T) {
			cases := tables(whole.Entries)
			cases[0].Artifacts = maps.Clone(cases[0].Artifacts)
			change(cases[0])
			expect(t, whole, cases, fails(audit.Cases))
		})
	}
	refused := scene{unbound: true}.plays(t)
	expect(t, whole, nil, unclear(audit.Cases))
	expect(t, whole, []*journal.Case{}, fails(audit.Cases))
	expect(t, whole, append(tables(whole.Entries), tables(whole.Entries)...), fails(audit.Cases))
	expect(t, refused, tables(whole.Entries), fails(audit.Cases))
	expect(t, refused, nil, nil)
}

// A report lists so many findings of a check, what is wrong before what is missing, and counts the rest.
func TestFindingsAreCounted(t *testing.T) {
	f := forge(t, completes().plays(t))
	for range 2 * audit.MaxFindings {
		f.add(f.told(event.EvidenceSubmitted{Record: "none"}))
	}
	f.drop("asked "+makes, 1)
	f.seal()
	report := audit.Check(f.Record, nil)
	for _, c := range report.Checks {
		switch {
		case len(c.Findings) > audit.MaxFindings:
			t.Errorf("%s has %d findings", c.Name, len(c.Findings))
		case c.Name == audit.Evidence && c.More <= audit.MaxFindings:
			t.Errorf("%s has %d findings that are not listed", c.Name, c.More)
		}
	}
}

// What takes too much work is not done, and not passed.
func TestARecordThatTakesTooMuchWorkIsInconclusive(t *testing.T) {
	whole := completes().plays(t)
	cases := tables(whole.Entries)
	passed := false
	for work := 1; !passed; work *= 2 {
		want := audit.Inconclusive
		report := audit.CheckWithin(whole, cases, work)
		if passed = report.Verdict == audit.Pass; passed {
			want = audit.Pass
		}
		if got := report.Checks[2].Verdict; got != want || report.Verdict != want {
			t.Errorf("with %d, the decisions are %s and all is %s", work, got, report.Verdict)
		}
	}
}

// One decision that is too large is not made either, however little was done before (4.12).
func TestADecisionThatIsTooLargeIsInconclusive(t *testing.T) {
	f := forge(t, completes().plays(t))
	f.redefine(shop + strings.Repeat("#", catalog.MaxDefinitionBytes-len(shop)-1) + "\n")
	f.repeat("EvidenceReceived", 1)
	retell(f, 2, func(e *event.EvidenceReceived) { e.Applies = false })
	received := f.Entries[f.find("EvidenceReceived", 2)]
	f.Entries = slices.Insert(f.Entries, f.find("EvidenceReceived", 2), slices.Repeat([]journal.Entry{received}, 300)...)
	f.seal()
	report := audit.Check(f.Record, nil)
	found := func(c audit.Checked) bool {
		return slices.ContainsFunc(c.Findings, func(f audit.Finding) bool { return strings.Contains(f.What, "more work") })
	}
	if decisions := report.Checks[2]; !found(decisions) {
		t.Errorf("the decisions are %s: %v", decisions.Verdict, decisions.Findings)
	}
	if report.Checks[5].Verdict != audit.Inconclusive {
		t.Errorf("the stop is %s", report.Checks[5].Verdict)
	}
}
