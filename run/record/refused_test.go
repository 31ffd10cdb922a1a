package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// What keeps a run from going on is refused before anything is changed: the record is the same to the byte,
// nobody was told anything, nothing was performed, and the next one can have the run.
func TestRefusedResumptions(t *testing.T) {
	budgeted := func() *site { s := newSite(tower(3), lays(3)); s.budget = new(2); return s }
	is := func(err error) func(error) bool { return func(got error) bool { return errors.Is(got, err) } }
	for _, c := range []struct {
		name    string
		site    func() *site
		prepare func(s *site)
		outcome event.Outcome
		refused func(error) bool
		says    string
	}{
		{
			name: "a run that completed", site: func() *site { return newSite(tower(3), lays(3)) },
			refused: as[*record.OverError], says: "the run is over: Completed (built)",
		},
		{
			name: "a run with nothing left to do",
			site: func() *site {
				s := newSite(doors, map[string]act{"ring": does(deed{})})
				s.executor = &moves{}
				return s
			},
			refused: as[*record.OverError], says: "the run is over: NothingAdmissible",
		},
		{
			name: "a run that was refused",
			site: func() *site {
				s := newTower()
				s.classifier = says(calls(`pick_protocol {"protocol":"x@1","confidence":0.9,"reasons":[]}`))
				return s
			},
			refused: as[*record.OverError], says: "the run is over: Refused (outside registry)",
		},
		{
			name:    "a run that nothing here carries out",
			site:    func() *site { return newSite(tower(3), map[string]act{}) },
			refused: as[*record.OverError], says: "the run is over: NoLocalExecutor (nothing here performs an action of tower@1)",
		},
		{
			name: "an effect in doubt of which nobody says anything", site: interruptedAt("lay2"),
			refused: func(err error) bool {
				doubt, ok := errors.AsType[*record.InDoubtError](err)
				return ok && *doubt == record.InDoubtError{Step: 2, Action: "lay2", Arguments: "{}"}
			},
			says: "it is not known whether step 2, lay2 {}, was performed",
		},
		{
			name: "an outcome where nothing is in doubt", site: budgeted, outcome: event.Performed,
			refused: func(err error) bool { return err != nil }, says: "no effect of the run is in doubt, so there is nothing to say about one",
		},
		{
			name: "another definition under the name", site: budgeted,
			prepare: func(s *site) { s.definition = strings.ReplaceAll(s.definition, "Lay one", "Put one") },
			refused: as[*record.ChangedError], says: "the definition of tower@1 is not the one the run's case was opened under: it has SHA-256 ",
		},
		{
			name: "no definition under the name", site: budgeted,
			prepare: func(s *site) { s.definition = strings.ReplaceAll(s.definition, "id: tower", "id: wall") },
			refused: as[*record.ChangedError], says: "the catalog does not hold tower@1 any more, which the run's case was opened under",
		},
		{
			name: "another definition, where no case was opened yet",
			site: func() *site { s := newTower(); s.classifier = says(breaks); return s },
			prepare: func(s *site) {
				s.classifier = says(calls(`pick_protocol {"protocol":"tower@1","confidence":1,"reasons":[]}`))
				s.definition = strings.ReplaceAll(s.definition, "Lay one", "Put one")
			},
			refused: as[*record.ChangedError], says: "the catalog does not hold tower@1 any more as it was when the run began; ",
		},
		{
			name: "another binding", site: budgeted, prepare: func(s *site) { s.digest = "d1d1" },
			refused: as[*record.ChangedError], says: "the binding double is not the one the run's case was opened with",
		},
		{
			name: "no binding", site: budgeted, prepare: func(s *site) { s.unserved = true },
			refused: as[*record.ChangedError], says: "nothing here carries tower@1 out; the run's case was opened with the binding double",
		},
		{
			name: "a binding that performs something else", site: budgeted, prepare: func(s *site) { delete(s.acts, "lay3") },
			refused: differsAt(5), says: "entry 5 differs: the record holds told CaseOpened ",
		},
		{
			name: "a binding that takes something else", site: budgeted,
			prepare: func(s *site) { s.acts["lay1"] = act{takes: takesWhy, does: s.acts["lay1"].does} },
			refused: as[*record.DiffersError], says: "entry 9 differs: the record holds told Observed ",
		},
		{
			name: "a run that nobody knows", site: budgeted, prepare: func(s *site) { s.store = newMemory() },
			refused: is(journal.ErrNoRun), says: journal.ErrNoRun.Error(),
		},
		{
			name: "an entry that was changed", site: budgeted,
			prepare: func(s *site) { s.store.(*memory).runs[id].record.Entries[7].Body += " " },
			refused: broken(8), says: "entry 8: it is not what was written",
		},
		{
			name: "an entry that is gone", site: budgeted,
			prepare: func(s *site) {
				rec := &s.store.(*memory).runs[id].record
				rec.Entries = append(rec.Entries[:7:7], rec.Entries[8:]...)
			},
			refused: broken(8), says: "entry 8: it is missing; the next one there is is 9",
		},
		{
			name: "entries that are gone at the end", site: budgeted,
			prepare: func(s *site) {
				rec := &s.store.(*memory).runs[id].record
				rec.Entries = rec.Entries[:8]
			},
			refused: broken(9), says: "entry 9: entries are missing at the end",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.site()
			_, _ = s.run(t)
			s.ctx = nil
			performed, told := s.performed(t), len(s.told)
			if c.prepare != nil {
				c.prepare(s)
			}
			before, _ := s.store.Read(t.Context(), id)
			ended, err := s.resume(t, c.outcome)
			if !c.refused(err) || !strings.HasPrefix(err.Error(), c.says) {
				t.Errorf("error %T %v, want %s", err, err, c.says)
			}
			if diff := cmp.Diff(record.Ended{}, ended); diff != "" {
				t.Errorf("it ended:\n%s", diff)
			}
			after, _ := s.store.Read(t.Context(), id)
			if diff := cmp.Diff(before, after); diff != "" || len(s.told) != told || s.performed(t) != performed {
				t.Errorf("something was changed: told %d, performed %s\n%s", len(s.told)-told, s.performed(t), diff)
			}
			listed, err := s.store.List(t.Context())
			if err != nil || len(listed) == 1 && listed[0].Holder != nil {
				t.Errorf("it is held: %+v, %v", listed, err)
			}
		})
	}
}

// differsAt tells whether an error names a place where today's code does something else.
func differsAt(sequence int64) func(error) bool {
	return func(err error) bool {
		differs, ok := errors.AsType[*record.DiffersError](err)
		return ok && differs.Sequence == sequence
	}
}

// broken tells whether an error names the entry that breaks a chain.
func broken(sequence int64) func(error) bool {
	return func(err error) bool {
		broken, ok := errors.AsType[*journal.BrokenError](err)
		return ok && broken.Sequence == sequence
	}
}

// What nobody can carry out begins no record.
func TestARunThatCannotBegin(t *testing.T) {
	s := newTower()
	o := s.options()
	o.Protocol = "nothing@1"
	ended, err := record.Run(t.Context(), o)
	if diff := cmp.Diff(record.Ended{}, ended); err == nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if listed, err := s.store.List(t.Context()); err != nil || len(listed) != 0 {
		t.Errorf("%+v, %v", listed, err)
	}
}

// A run draws an id, reads the clock and takes its lease as this process where nobody says otherwise.
func TestARunByItself(t *testing.T) {
	s := newSite(tower(1), lays(1))
	ids := map[string]bool{}
	for range 2 {
		o := s.options()
		o.ID, o.Holder, o.Now = "", journal.Holder{}, nil
		ended, err := record.Run(t.Context(), o)
		if err != nil || len(ended.Run) != 12 || ended.Outcome.Run != ended.Run || ended.Summary.Began == "" {
			t.Errorf("%+v, %v", ended, err)
		}
		ids[ended.Run] = true
	}
	if len(ids) != 2 {
		t.Errorf("ids %v", ids)
	}
	if by := s.store.(*memory).began; by[0] != journal.ThisProcess() {
		t.Errorf("it is held by %+v", by)
	}
}

// A resumed run has what its sitting has, and keeps what it began with: its intent, its way of choosing, its policy.
func TestWhatAResumedRunKeeps(t *testing.T) {
	s := shop(calls("thing_check {}"))
	s.policy, s.budget, s.authority = run.ContextBounded, new(1), always(run.Allow)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	var asked effect.Request
	s.budget, s.agent = nil, says(calls("thing_ship {}"))
	s.acts["thing.ship"] = act{does: func(_ context.Context, r effect.Request) deed {
		asked = r
		return ships.does(nil, r)
	}}
	o := s.options()
	o.Intent, o.Protocol, o.ContextPolicy, o.Threshold, o.ID = "something else", "", run.ContextLegacy, run.MustDecimal("1"), "other"
	o.Executor = &moves{[]run.Proposal{{Action: "thing.look", Arguments: "{}"}}}
	o.Classifier = says()
	if _, err := record.Resume(t.Context(), o, id, ""); err != nil {
		t.Fatal(err)
	}
	rec := s.whole(t)
	if got := stops(t, rec); got != "StepBudget | Completed delivered" || asked.Run != id {
		t.Errorf("%s, run %s", got, asked.Run)
	}
	if !strings.Contains(s.agent.asked[0].Instructions, "look-up") || !strings.Contains(strings.Join(s.agent.asked[0].Input, ""), "Intent:\ngo") {
		t.Errorf("the model is asked %+v", s.agent.asked[0])
	}
}
