package audit_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/audit"
	"github.com/loomrun/loom/run/record"
)

// approves has a person say yes to what a run waits for.
func approves(t testing.TB, r *journal.Record) *journal.Record {
	t.Helper()
	waiting, err := record.Waits(r)
	if err != nil {
		t.Fatal(err)
	}
	store := &desk{record: *r}
	store.record.Entries = slices.Clone(r.Entries)
	a := record.Approver{Store: store, Holder: journal.Holder{Host: "test"}, By: "ada", Now: func() time.Time { return time.Date(2026, 3, 1, 9, 20, 40, 0, time.UTC) }}
	if _, err := a.Approve(context.Background(), r.Run, waiting[0], time.Hour); err != nil {
		t.Fatal(err)
	}
	return store.kept(t)
}

func (s scene) goesOn(t testing.TB, r *journal.Record, stop string) *journal.Record {
	t.Helper()
	r, err := s.resumes(t, r, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := stopOf(r); got != stop {
		t.Fatalf("the run ended with %s, not %s:\n%s", got, stop, text(r.Entries))
	}
	return r
}

// approvedTwice is a run whose effect is approved, refuses, is proposed again, approved again, and is performed.
func approvedTwice(t testing.TB) *journal.Record {
	s := scene{acts: workers(), choose: onward, persons: true}
	ship, refused := s.acts["thing.ship"], false
	s.acts["thing.ship"] = func(r effect.Request) (effect.Report, error) {
		if !refused {
			refused = true
			return effect.Report{Refused: "not today"}, nil
		}
		return ship(r)
	}
	r := s.goesOn(t, approves(t, s.plays(t)), "ApprovalRequired")
	return s.goesOn(t, approves(t, r), "Completed")
}

// What persons say is part of a good record, wherever it ends.
func TestAnApprovedRunPasses(t *testing.T) {
	whole := approvedTwice(t)
	expect(t, whole, tables(whole.Entries), nil)
	for i, e := range whole.Entries {
		if e.Name == "Granted" {
			said := cut(whole, i+1)
			expect(t, said, tables(said.Entries), nil)
		}
	}
	f := forge(t, whole)
	i := f.find("Granted", 2)
	var g event.Granted
	if err := journal.Decode(f.Entries[i].Body, &g); err != nil {
		t.Fatal(err)
	}
	denied := f.told(event.Denied{Action: g.Action, Arguments: g.Arguments, Capability: g.Capability, Case: g.Case, Revision: g.Revision, SHA256: g.SHA256, By: "bo"})
	f.Entries = slices.Insert(f.Entries, i, denied) // a person may think again
	f.seal()
	expect(t, f.Record, tables(f.Entries), nil)
}

// An effect that needs a capability is one that a person granted: that action, with those arguments, that capability,
// case, revision and definition, in time, once, and not denied since (120, 121).
func TestViolatedGrantsAreFound(t *testing.T) {
	whole := approvedTwice(t)
	grants := func(change func(*event.Granted)) func(*forgery) {
		return func(f *forgery) { retell(f, 2, change) }
	}
	bad := fails(audit.Effects)
	for _, v := range []struct {
		violation
		says string
	}{
		{violation{"of another action", grants(func(g *event.Granted) { g.Action = "thing.make" }), bad}, "the grant for it was used before"},
		{violation{"of other arguments", grants(func(g *event.Granted) { g.Arguments = `{"a":1}` }), bad}, "the grant for it was used before"},
		{violation{"of another capability", grants(func(g *event.Granted) { g.Capability = "look" }), bad}, "the grant for it was used before"},
		{violation{"of another case", grants(func(g *event.Granted) { g.Case = "case-2" }), bad}, "the grant for it was used before"},
		{violation{"of another revision", grants(func(g *event.Granted) { g.Revision++ }), bad}, "the grant for it was used before"},
		{violation{"of another definition", grants(func(g *event.Granted) { g.SHA256 = strings.Repeat("0", 64) }), bad}, "the grant for it was used before"},
		{violation{"of other arguments, the first", func(f *forgery) {
			retell(f, 1, func(g *event.Granted) { g.Arguments = `{"a":1}` })
		}, bad}, "nobody granted"},
		{violation{"of no arguments, the first", func(f *forgery) {
			retell(f, 1, func(g *event.Granted) { g.Arguments = "" })
		}, bad}, "nobody granted"},
		{violation{"used twice", func(f *forgery) { f.drop("Granted", 2) }, bad}, "the grant for it was used before"},
		{violation{"given after it", func(f *forgery) { f.drop("Granted", 1) }, bad}, "nobody granted"},
		{violation{"expired", grants(func(g *event.Granted) { g.Expires = "2026-03-01T09:20:31.000Z" }), bad}, "had expired"},
		{violation{"that expires never", grants(func(g *event.Granted) { g.Expires = "never" }), bad}, "cannot be told whether"},
		{violation{"denied after it", func(f *forgery) {
			var g event.Granted
			i := f.find("Granted", 2)
			if err := journal.Decode(f.Entries[i].Body, &g); err != nil {
				f.t.Fatal(err)
			}
			f.insert("Granted", 2, f.told(event.Denied{
				Action: g.Action, Arguments: g.Arguments, Capability: g.Capability, Case: g.Case, Revision: g.Revision, SHA256: g.SHA256,
			}))
		}, bad}, "a person denied it last"},
		{violation{"a denial in its place", func(f *forgery) {
			for nth := 2; nth > 0; nth-- {
				i := f.find("Granted", nth)
				var g event.Granted
				if err := journal.Decode(f.Entries[i].Body, &g); err != nil {
					f.t.Fatal(err)
				}
				f.Entries[i] = f.told(event.Denied{Action: g.Action, Arguments: g.Arguments, Capability: g.Capability, Case: g.Case, Revision: g.Revision, SHA256: g.SHA256})
			}
		}, bad}, "a person denied it last"},
		{violation{"given while the run goes on", func(f *forgery) {
			i := f.find("Granted", 1)
			f.Entries[i], f.Entries[i+1] = f.Entries[i+1], f.Entries[i]
		}, bad}, "where the run does not wait"},
		{violation{"given behind the end", func(f *forgery) {
			f.add(f.Entries[f.find("Granted", 1)])
		}, fails(audit.Effects, audit.Stop)}, "where the run does not wait"},
		{violation{"of what does not wait", func(f *forgery) {
			f.insert("Granted", 2, f.told(event.Granted{Action: "thing.make", Arguments: "{}"}))
		}, bad}, "does not wait like this"},
	} {
		t.Run(v.name, func(t *testing.T) {
			f := forge(t, whole)
			v.change(f)
			f.seal()
			report := expect(t, f.Record, tables(f.Entries), v.want)
			if !slices.ContainsFunc(report.Checks[3].Findings, func(f audit.Finding) bool { return strings.Contains(f.What, v.says) }) {
				t.Errorf("no finding says %q: %+v", v.says, report.Checks[3].Findings)
			}
		})
	}
}

// Where no case was opened there is nothing to grant.
func TestAGrantWithoutACaseIsFound(t *testing.T) {
	f := forge(t, scene{unbound: true}.plays(t))
	f.add(f.told(event.Granted{Action: "thing.ship", Arguments: "{}"}))
	f.seal()
	expect(t, f.Record, tables(f.Entries), fails(audit.Effects, audit.Stop))
}

// A stop says what an approval would be for, as it is then.
func TestAStopThatSaysWrongWhatWaitsIsFound(t *testing.T) {
	proposed := scene{acts: workers(), choose: onward, persons: true}.plays(t)
	gate := goodScene(t, "nothing but approvals can go on").plays(t)
	for _, c := range []struct {
		what   string
		record *journal.Record
		change func(*event.Stopped)
	}{
		{"nothing", proposed, func(e *event.Stopped) { e.Waiting = nil }},
		{"another action", proposed, func(e *event.Stopped) { e.Waiting[0].Action = "thing.look" }},
		{"other arguments than were proposed", proposed, func(e *event.Stopped) { e.Waiting[0].Arguments = `{"a":1}` }},
		{"no arguments, and some were proposed", proposed, func(e *event.Stopped) { e.Waiting[0].Arguments = "" }},
		{"another capability", proposed, func(e *event.Stopped) { e.Waiting[0].Capability = "look" }},
		{"another case", proposed, func(e *event.Stopped) { e.Waiting[0].Case = "case-2" }},
		{"another revision", proposed, func(e *event.Stopped) { e.Waiting[0].Revision++ }},
		{"more than waits", gate, func(e *event.Stopped) { e.Waiting = append(e.Waiting, e.Waiting[0]) }},
		{"in another order", gate, func(e *event.Stopped) { slices.Reverse(e.Waiting) }},
		{"arguments that nobody proposed", gate, func(e *event.Stopped) { e.Waiting[0].Arguments = `{"a":1}` }},
		{"at a stop for something else", gate, func(e *event.Stopped) { e.Reason, e.Actions = event.NothingAdmissible, nil }},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := forge(t, c.record)
			retell(f, 1, c.change)
			f.seal()
			expect(t, f.Record, tables(f.Entries), fails(audit.Stop))
		})
	}
}
