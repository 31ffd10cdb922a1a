package record_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/audit"
	"github.com/loomrun/loom/run/record"
)

// home is a proposal that needs approval.
var home = run.Proposal{Action: "front.open", Arguments: `{"why":"home"}`}

func (s *site) approver() record.Approver {
	return record.Approver{Store: s.store, Holder: journal.Holder{Host: "here", Process: 2}, Now: s.options().Now, By: "ada"}
}

// waits gives what the site's run waits for.
func (s *site) waits(t rapid.TB) []event.Waiting {
	t.Helper()
	waiting, err := record.Waits(s.read(t))
	if err != nil {
		t.Fatal(err)
	}
	return waiting
}

// approve has a person approve what waits first; deny has it denied.
func (s *site) approve(t rapid.TB, holds time.Duration) {
	t.Helper()
	if _, err := s.approver().Approve(context.Background(), s.id, s.waits(t)[0], holds); err != nil {
		t.Fatal(err)
	}
}

func (s *site) deny(t rapid.TB) {
	t.Helper()
	if _, err := s.approver().Deny(context.Background(), s.id, s.waits(t)[0]); err != nil {
		t.Fatal(err)
	}
}

// at sets the clock of a site to so long behind its first moment.
func (s *site) at(later time.Duration) { s.now = func() time.Time { return moment.Add(later) } }

// forged changes the last word that a person said, as if it had been said so.
func (s *site) forged(t *testing.T, change func(*event.Granted)) {
	t.Helper()
	if s.store.(*memory).rewrite(func(e *journal.Entry) bool {
		var g event.Granted
		if e.Name != "Granted" || journal.Decode(e.Body, &g) != nil {
			return false
		}
		change(&g)
		body, err := journal.Encode(g)
		e.Body = body
		return err == nil
	}) == 0 {
		t.Fatal("nothing was granted")
	}
}

// What an approval is for is shown, and kept, to the byte.
func TestWhatIsApproved(t *testing.T) {
	s := house(home)
	once(t, s)
	before := s.whole(t)
	waits := s.waits(t)
	want := event.Waiting{Action: "front.open", Arguments: `{"why":"home"}`, Capability: "key.front", Case: "case-1", Revision: 1, Reach: "does front.open"}
	if diff := cmp.Diff([]event.Waiting{want}, waits); diff != "" {
		t.Error(diff)
	}
	granted, err := s.approver().Approve(t.Context(), s.id, waits[0], 90*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	denied, err := s.approver().Deny(t.Context(), s.id, waits[0])
	if err != nil {
		t.Fatal(err)
	}
	definition, err := record.Definition(before)
	if err != nil {
		t.Fatal(err)
	}
	after := s.whole(t) // held by nobody, and its readers heard nothing
	said := []event.Event{
		event.Granted{
			Action: "front.open", Arguments: `{"why":"home"}`, Capability: "key.front", Case: "case-1", Revision: 1, SHA256: definition,
			Expires: "2026-03-01T10:50:30.000Z", By: "ada",
		},
		event.Denied{Action: "front.open", Arguments: `{"why":"home"}`, Capability: "key.front", Case: "case-1", Revision: 1, SHA256: definition, By: "ada"},
	}
	if diff := cmp.Diff(said, []event.Event{granted, denied}) + cmp.Diff(said, events(t, after)[len(events(t, before)):]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Summary, after.Summary); diff != "" {
		t.Errorf("the run stands otherwise:\n%s", diff)
	}
	if got := s.performed(t); got != "" {
		t.Errorf("to approve has performed %s", got)
	}
}

// A grant is for exactly what was shown, for its time, for one effect, and the latest word counts (D18).
func TestWhatAGrantIsGoodFor(t *testing.T) {
	const (
		waits = "ApprovalRequired front.open | ApprovalRequired front.open"
		done  = "ApprovalRequired front.open | Completed home"
		opens = `front.open {"why":"home"}@2`
	)
	granted := func(change func(*event.Granted)) func(*testing.T, *site) {
		return func(t *testing.T, s *site) {
			s.approve(t, time.Hour)
			s.forged(t, change)
		}
	}
	after := func(later time.Duration) func(*testing.T, *site) {
		return func(t *testing.T, s *site) {
			s.approve(t, time.Hour)
			s.at(later)
		}
	}
	for _, c := range []struct {
		name             string
		say              func(*testing.T, *site)
		stops, performed string
	}{
		{"nothing was said", func(*testing.T, *site) {}, waits, ""},
		{"a grant", granted(func(*event.Granted) {}), done, opens},
		{"of another action", granted(func(g *event.Granted) { g.Action = "back.open" }), waits, ""},
		{"of other arguments (121)", granted(func(g *event.Granted) { g.Arguments = `{"why":"home" }` }), waits, ""},
		{"of no arguments", granted(func(g *event.Granted) { g.Arguments = "" }), waits, ""},
		{"of another capability (120)", granted(func(g *event.Granted) { g.Capability = "key.back" }), waits, ""},
		{"of another case", granted(func(g *event.Granted) { g.Case = "case-2" }), waits, ""},
		{"of another revision", granted(func(g *event.Granted) { g.Revision++ }), waits, ""},
		{"of another definition", granted(func(g *event.Granted) { g.SHA256 = strings.Repeat("0", 64) }), waits, ""},
		{"without an instant", granted(func(g *event.Granted) { g.Expires = "" }), waits, ""},
		{"in its last millisecond", after(time.Hour - time.Millisecond), done, opens},
		{"that has expired", after(time.Hour), waits, ""},
		{"that expired in the same second", func(t *testing.T, s *site) {
			s.approve(t, 500*time.Millisecond)
			s.at(700 * time.Millisecond)
		}, waits, ""},
		{"that had expired before the clock was put back", func(t *testing.T, s *site) {
			s.approve(t, time.Hour)
			s.at(2 * time.Hour)
			again(t, s, "") // it is decided, and nothing is granted
			s.now = nil
		}, waits + " | ApprovalRequired front.open", ""},
		{"that was denied later", func(t *testing.T, s *site) {
			s.approve(t, time.Hour)
			s.deny(t)
		}, "ApprovalRequired front.open | ApprovalRequired back.open", ""},
		{"that was denied before", func(t *testing.T, s *site) {
			s.deny(t)
			s.approve(t, time.Hour)
		}, done, opens},
		{"that was given again when it had expired", func(t *testing.T, s *site) {
			s.approve(t, time.Hour)
			s.at(2 * time.Hour)
			s.approve(t, time.Hour)
		}, done, opens},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := house(home)
			once(t, s)
			c.say(t, s)
			again(t, s, "")
			rec := s.whole(t)
			if got := stops(t, rec); got != c.stops {
				t.Errorf("stops %s, want %s\n%s", got, c.stops, shown(rec))
			}
			if got := s.performed(t); got != c.performed {
				t.Errorf("performed %q, want %q", got, c.performed)
			}
		})
	}
}

// One grant is for one effect, also where that refuses, and where the same is proposed in the same sitting.
func TestAGrantIsUsedUp(t *testing.T) {
	s := house(home, home, home)
	s.acts["front.open"] = act{takes: takesWhy, does: does(deed{refuses: "it sticks"}).does}
	once(t, s)
	s.approve(t, time.Hour)
	again(t, s, "") // the effect refuses, nothing changes, and there is no grant any more
	again(t, s, "") // the same is proposed again
	s.acts["front.open"] = act{takes: takesWhy, does: does(enters).does}
	s.approve(t, time.Hour)
	again(t, s, "")
	rec := s.whole(t)
	const want = "ApprovalRequired front.open | ApprovalRequired back.open, front.open | ApprovalRequired front.open | Completed home"
	if got := stops(t, rec); got != want {
		t.Errorf("stops %s, want %s", got, want)
	}
	if got := s.performed(t); got != `front.open {"why":"home"}@2, front.open {"why":"home"}@4` {
		t.Errorf("performed %s", got)
	}
	audited(t, rec)
}

// A denial holds until the case has another revision.
func TestADenialHoldsUntilTheCaseMoves(t *testing.T) {
	ring := run.Proposal{Action: "ring", Arguments: "{}"}
	s := house(home, home, ring, home)
	s.acts["ring"] = does(deed{says: "rung", moves: map[string]string{"house": "house-2"}})
	once(t, s)
	s.deny(t)
	for range 4 { // denied, denied again, the case moves, and it is proposed
		again(t, s, "")
	}
	rec := s.whole(t)
	const want = "ApprovalRequired front.open | ApprovalRequired back.open | ApprovalRequired back.open | " +
		"ApprovalRequired back.open, front.open | ApprovalRequired front.open"
	if got := stops(t, rec); got != want {
		t.Errorf("stops %s, want %s", got, want)
	}
	refused := 0
	for _, e := range events(t, rec) {
		if e, ok := e.(event.StepRefused); ok && e.Reason == "denied: capability key.front was denied" {
			refused++
		}
	}
	if refused != 2 || s.waits(t)[0].Revision != 2 {
		t.Errorf("%d steps are refused, and %+v waits", refused, s.waits(t))
	}
	audited(t, rec)
}

// A run that stopped at the gate, where nothing has been proposed, goes on: what waits is proposed, and waits then
// with its arguments; what can have none can be approved at once.
func TestTheGate(t *testing.T) {
	ring := run.Proposal{Action: "ring", Arguments: "{}"}
	back := run.Proposal{Action: "back.open", Arguments: "{}"}
	gate := func(next ...run.Proposal) *site {
		s := house(append([]run.Proposal{ring}, next...)...)
		s.acts["back.open"] = does(enters)
		once(t, s)
		return s
	}
	says := func(t *testing.T, s *site, action string, yes bool) {
		t.Helper()
		w, err := record.Choose(s.waits(t), action)
		if err != nil {
			t.Fatal(err)
		}
		if yes {
			_, err = s.approver().Approve(t.Context(), s.id, w, time.Hour)
		} else {
			_, err = s.approver().Deny(t.Context(), s.id, w)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const gated = "ApprovalRequired back.open, front.open"
	for _, c := range []struct {
		name             string
		site             *site
		say              func(*testing.T, *site)
		stops, performed string
	}{
		{"what has no arguments yet is proposed", gate(home), func(*testing.T, *site) {}, gated + " | ApprovalRequired front.open", "ring@1"},
		{"a step that changes nothing closes it again", gate(ring, home), func(*testing.T, *site) {}, gated + " | " + gated, "ring@1, ring@2"},
		{
			"what can have no arguments is approved before it is proposed", gate(back), func(t *testing.T, s *site) { says(t, s, "back.open", true) },
			gated + " | Completed home", "ring@1, back.open@2",
		},
		{
			"a grant that waits to be used keeps it open", gate(ring, back), func(t *testing.T, s *site) { says(t, s, "back.open", true) },
			gated + " | Completed home", "ring@1, ring@2, back.open@3",
		},
		{"a grant that has expired does not", gate(ring, back), func(t *testing.T, s *site) {
			says(t, s, "back.open", true)
			s.at(time.Hour)
		}, gated + " | " + gated, "ring@1, ring@2"},
		{
			"what is denied is not awaited", gate(ring), func(t *testing.T, s *site) { says(t, s, "back.open", false) },
			gated + " | ApprovalRequired front.open", "ring@1, ring@2",
		},
		{"what was approved and then denied is not either", gate(ring), func(t *testing.T, s *site) {
			says(t, s, "back.open", true)
			says(t, s, "back.open", false)
		}, gated + " | ApprovalRequired front.open", "ring@1, ring@2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.say(t, c.site)
			again(t, c.site, "")
			rec := c.site.whole(t)
			if got := stops(t, rec); got != c.stops {
				t.Errorf("stops %s, want %s\n%s", got, c.stops, shown(rec))
			}
			if got := c.site.performed(t); got != c.performed {
				t.Errorf("performed %s, want %s", got, c.performed)
			}
			audited(t, rec)
		})
	}
}

// What was approved is what was shown: where the action would reach something else now, the run does not go on with it.
func TestAnApprovalOfAnotherReach(t *testing.T) {
	s := house(home)
	once(t, s)
	s.approve(t, time.Hour)
	n := len(s.read(t).Entries)
	s.reach = " and tells everybody"
	if _, err := s.resume(t, ""); !as[*record.DiffersError](err) || len(s.read(t).Entries) != n || s.performed(t) != "" {
		t.Errorf("resume: %v, performed %q", err, s.performed(t))
	}
	s.reach = ""
	again(t, s, "")
	if got := s.performed(t); got != `front.open {"why":"home"}@2` {
		t.Errorf("performed %q", got)
	}
}

// What does not wait is not approved: nothing is entered, and the run is nobody's.
func TestRefusedApprovals(t *testing.T) {
	is := func(err error) func(error) bool { return func(got error) bool { return errors.Is(got, err) } }
	waiting := event.Waiting{Action: "front.open", Arguments: `{"why":"home"}`, Capability: "key.front", Case: "case-1", Revision: 1, Reach: "does front.open"}
	for _, c := range []struct {
		name    string
		site    func() *site
		prepare func(*testing.T, *site)
		what    func(*event.Waiting)
		holds   time.Duration
		refused func(error) bool
	}{
		{name: "a run that is held", prepare: func(_ *testing.T, s *site) { s.store.(*memory).runs[id].holder = &journal.Holder{Host: "elsewhere"} }, refused: as[*journal.HeldError]},
		{name: "a record that is not what was written", prepare: func(_ *testing.T, s *site) { s.store.(*memory).runs[id].record.Entries[3].Body = "{}" }, refused: as[*journal.BrokenError]},
		{name: "no such run", prepare: func(_ *testing.T, s *site) { s.id = "r2" }, refused: is(journal.ErrNoRun)},
		{name: "a run that is over", site: func() *site { s := house(home); s.authority = always(run.Allow); return s }, refused: is(record.ErrNothingWaits)},
		{name: "a run that used up its budget", site: func() *site { s := newTower(); s.budget = new(1); return s }, refused: is(record.ErrNothingWaits)},
		{name: "a run that was killed when it went on", prepare: func(t *testing.T, s *site) {
			n := len(s.read(t).Entries)
			again(t, s, "")
			s.store.(*memory).cut(n + 1)
		}, refused: is(record.ErrNothingWaits)},
		{name: "other arguments than were shown", what: func(w *event.Waiting) { w.Arguments = `{"why":"work"}` }, refused: as[*record.OtherError]},
		{name: "another reach than was shown", what: func(w *event.Waiting) { w.Reach = "nobody" }, refused: as[*record.OtherError]},
		{name: "another revision than was shown", what: func(w *event.Waiting) { w.Revision++ }, refused: as[*record.OtherError]},
		{
			name: "arguments that nobody proposed yet", site: func() *site { return house(run.Proposal{Action: "ring", Arguments: "{}"}) },
			what: func(w *event.Waiting) { w.Arguments = "" }, refused: as[*record.NotProposedError],
		},
		{name: "for no time", holds: -1, refused: func(err error) bool { return strings.Contains(err.Error(), "more than nothing") }},
		{name: "for too long", holds: record.MaxGrantTime + 1, refused: func(err error) bool { return strings.Contains(err.Error(), "at most 168h0m0s") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := house(home)
			if c.site != nil {
				s = c.site()
			}
			once(t, s)
			if c.prepare != nil {
				c.prepare(t, s)
			}
			w, holds := waiting, time.Hour
			if c.what != nil {
				c.what(&w)
			}
			if c.holds != 0 {
				holds = c.holds
			}
			m := s.store.(*memory)
			before, holder := slices.Clone(m.runs[id].record.Entries), m.runs[id].holder
			if holder != nil && m.dead[*holder] {
				holder = nil // whoever looks gives back what was left behind
			}
			if _, err := s.approver().Approve(t.Context(), s.id, w, holds); err == nil || !c.refused(err) {
				t.Errorf("approve: %v", err)
			}
			if _, err := s.approver().Deny(t.Context(), s.id, w); c.holds == 0 && (err == nil || !c.refused(err)) {
				t.Errorf("deny: %v", err)
			}
			if diff := cmp.Diff(before, m.runs[id].record.Entries[:len(before)]); diff != "" || c.holds == 0 && len(before) != len(m.runs[id].record.Entries) {
				t.Errorf("the record is another:\n%s", diff)
			}
			if diff := cmp.Diff(holder, m.runs[id].holder); diff != "" {
				t.Errorf("the run is held otherwise:\n%s", diff)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	front, back := event.Waiting{Action: "front.open", Arguments: "{}"}, event.Waiting{Action: "back.open"}
	for _, c := range []struct {
		waiting []event.Waiting
		action  string
		want    string // the action or the error
	}{
		{[]event.Waiting{front}, "", "front.open"},
		{[]event.Waiting{back, front}, "front.open", "front.open"},
		{[]event.Waiting{back, front}, "", "several actions wait for an approval, so say which: back.open, front.open"},
		{[]event.Waiting{back, front}, "ring", "ring does not wait for an approval; what waits is back.open, front.open"},
		{[]event.Waiting{back, front}, "back.open", "the arguments of back.open have not been proposed yet; resume the run: it will stop again with them"},
		{[]event.Waiting{back}, "", "the arguments of back.open have not been proposed yet; resume the run: it will stop again with them"},
	} {
		got, err := record.Choose(c.waiting, c.action)
		if text := got.Action; err != nil && err.Error() != c.want || err == nil && text != c.want {
			t.Errorf("%q of %v: %q, %v", c.action, c.waiting, text, err)
		}
	}
}

// A journal that breaks while something is said does not give the run away.
func TestAnApprovalThatIsNotKept(t *testing.T) {
	s := house(home)
	once(t, s)
	m := s.store.(*memory)
	m.fails = func(int, bool) error { return errors.New("the disk is full") }
	if _, err := s.approver().Approve(t.Context(), s.id, s.waits(t)[0], time.Hour); !as[*record.StorageError](err) {
		t.Error(err)
	}
	m.fails = nil
	again(t, s, "")
	if got := stops(t, s.whole(t)); got != "ApprovalRequired front.open | ApprovalRequired front.open" {
		t.Error(got)
	}
}

// A run that is killed anywhere behind its approval performs what was approved once.
func TestAnApprovedRunThatIsKilled(t *testing.T) {
	whole := house(home)
	once(t, whole)
	whole.approve(t, time.Hour)
	n := len(whole.read(t).Entries)
	again(t, whole, "")
	rec := whole.whole(t)
	for ; n < len(rec.Entries); n++ {
		s := house(home)
		s.executor = &moves{}
		s.store = whole.store.(*memory).clone()
		s.store.(*memory).cut(n)
		cut := s.read(t)
		s.told, s.effects = slices.DeleteFunc(events(t, cut), isSaid), &effects{log: asked(t, cut)}
		said := event.Outcome("")
		if cut.Summary.InDoubt != "" {
			said = event.Performed
		}
		if _, err := s.resume(t, said); err != nil && !as[*record.OverError](err) {
			t.Errorf("behind entry %d: %v", n, err)
		}
		if got := s.performed(t); got != `front.open {"why":"home"}@2` {
			t.Errorf("behind entry %d, performed %s", n, got)
		}
		audited(t, s.whole(t))
	}
}

// audited checks that an audit finds nothing wrong with a record.
func audited(t rapid.TB, rec *journal.Record) {
	t.Helper()
	for _, c := range audit.Check(rec, nil).Checks {
		if c.Verdict == audit.Fail {
			t.Errorf("the audit fails %s: %+v\n%s", c.Name, c.Findings, shown(rec))
		}
	}
}

// Whatever persons say, and whenever a run is killed: each effect that needs a capability is begun with a grant of
// exactly it, said before, not used, not expired and not taken back.
func TestWhateverPersonsSay(t *testing.T) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.definition = rapid.SampledFrom([]string{workshop, doors}).Draw(t, "definition")
		w.budget, w.classified, w.proposer = 9, false, rapid.IntRange(0, 3).Draw(t, "who proposes")
		p, _ := (&site{definition: w.definition}).protocol()
		for _, a := range p.Actions {
			if _, performs := w.performs[a.ID]; !performs && rapid.IntRange(0, 3).Draw(t, "performs after all") > 0 {
				w.performs[a.ID] = ""
			}
		}
		s := w.site()
		s.authority = nil
		later := time.Duration(0)
		_, _ = s.run(t)
		for range rapid.IntRange(1, 6).Draw(t, "sittings") {
			rec := s.whole(t)
			audited(t, rec)
			if said, err := record.Waits(rec); err == nil {
				for range rapid.IntRange(0, 2).Draw(t, "words") {
					what := rapid.SampledFrom(said).Draw(t, "waiting")
					var err error
					if rapid.IntRange(0, 3).Draw(t, "yes") > 0 {
						_, err = s.approver().Approve(context.Background(), s.id, what, time.Hour)
					} else {
						_, err = s.approver().Deny(context.Background(), s.id, what)
					}
					if (err != nil) != (what.Arguments == "") {
						t.Fatalf("%+v: %v", what, err)
					}
				}
			}
			later += time.Duration(rapid.IntRange(0, 40).Draw(t, "minutes")) * time.Minute
			s.at(later)
			if rapid.IntRange(0, 2).Draw(t, "killed") == 0 {
				entries := s.read(t).Entries
				n := rapid.IntRange(1, len(entries)).Draw(t, "entries")
				if n < len(entries) && entries[n].Name == "Stopped" {
					n++ // a stop and the decision before it reach the disk together
				}
				s.store.(*memory).cut(n)
				rec := s.read(t)
				s.told, s.effects = slices.DeleteFunc(events(t, rec), isSaid), &effects{log: asked(t, rec)}
			}
			said := event.Outcome("")
			if s.read(t).Summary.InDoubt != "" {
				said = rapid.SampledFrom([]event.Outcome{event.Performed, event.NotPerformed}).Draw(t, "outcome")
			}
			if _, err := s.resume(t, said); as[*record.OverError](err) {
				break
			}
		}
		rec := s.whole(t)
		audited(t, rec)
		for _, e := range events(t, rec) {
			if e, ok := e.(event.Admitted); ok && e.Capability != "" {
				ends["performed with a grant"]++
			}
		}
		ends[rec.Summary.Stop]++
	})
	t.Log(ends) // what the draws reach
	if ends["performed with a grant"] == 0 {
		t.Error("no draw performs anything that was approved")
	}
}
