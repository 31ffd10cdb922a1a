package record_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// passes checks a thing and finds it good, and ships proves that it was shipped.
var (
	passes = does(deed{says: "good", proves: []string{"checked pass on thing"}})
	ships  = does(deed{says: "shipped", proves: []string{"shipped on order"}})
	enters = deed{says: "in", proves: []string{"entered on house"}}
)

// shop makes a site on which a model checks and ships a thing.
func shop(answers ...answer) *site {
	s := newSite(workshop, map[string]act{"thing.check": passes, "thing.look": does(deed{says: "a thing"}), "thing.ship": ships})
	s.agent = says(answers...)
	return s
}

// house makes a site on which an executor opens doors.
func house(proposals ...run.Proposal) *site {
	opens := act{takes: takesWhy, does: does(enters).does}
	s := newSite(doors, map[string]act{"front.open": opens, "back.open": opens, "ring": does(deed{says: "rung"})})
	s.executor = &moves{proposals}
	return s
}

// when changes the deed of one action of a tower.
func (s *site) when(action string, do func(context.Context, effect.Request) deed) *site {
	s.acts[action] = act{does: do}
	return s
}

// onlyOnce does something the first time it is called.
func onlyOnce(do func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			do()
		}
	}
}

// sitting prepares a site for its next sitting, and gives what a person says of an effect in doubt.
type sitting func(s *site) event.Outcome

func plainly(*site) event.Outcome { return "" }

func budgeted(n int) sitting {
	return func(s *site) event.Outcome {
		s.budget = &n
		return ""
	}
}

func unbounded(s *site) event.Outcome {
	s.budget = nil
	return ""
}

func granted(a authority) sitting {
	return func(s *site) event.Outcome {
		s.authority = a
		return ""
	}
}

func outcome(o event.Outcome) sitting { return func(*site) event.Outcome { return o } }

// never is a run of a site that is not stopped by anything that can be continued.
func never(t *testing.T, s *site) final {
	t.Helper()
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	return s.final(t)
}

// A run that stopped, was interrupted or failed goes on where it was: what was performed is not performed again,
// its readers hear everything once, and in the end its case is that of a run that never stopped (D17).
func TestResumedRuns(t *testing.T) {
	front := run.Proposal{Action: "front.open", Arguments: `{"why":"home"}`}
	for _, c := range []struct {
		name      string
		site      func() *site
		sittings  []sitting // after the first
		stops     string
		performed string // ACTION ARGUMENTS @STEP
		like      func() *site
	}{
		{
			name:     "a budget that is used up, twice",
			site:     func() *site { s := newTower(); s.budget = new(3); return s },
			sittings: []sitting{budgeted(4), unbounded},
			stops:    "StepBudget | StepBudget | Completed built", performed: "lay1@1, lay2@2, lay3@3, lay4@4, lay5@5, lay6@6, lay7@7, lay8@8, lay9@9, lay10@10",
			like: newTower,
		},
		{
			name:     "a budget of nothing",
			site:     func() *site { s := newSite(tower(2), lays(2)); s.budget = new(0); return s },
			sittings: []sitting{budgeted(0), budgeted(-1), budgeted(1), budgeted(0), unbounded},
			stops:    "StepBudget | StepBudget | StepBudget | StepBudget | StepBudget | Completed built", performed: "lay1@1, lay2@2",
			like: func() *site { return newSite(tower(2), lays(2)) },
		},
		{
			name:     "the largest budget there is",
			site:     func() *site { s := newTower(); s.budget = new(3); return s },
			sittings: []sitting{budgeted(int(^uint(0) >> 1))},
			stops:    "StepBudget | Completed built", performed: "lay1@1, lay2@2, lay3@3, lay4@4, lay5@5, lay6@6, lay7@7, lay8@8, lay9@9, lay10@10",
			like: newTower,
		},
		{
			name:     "a grant that came meanwhile",
			site:     func() *site { return shop(calls("thing_check {}"), calls("thing_ship {}")) },
			sittings: []sitting{plainly, granted(always(run.Allow))},
			stops:    "ApprovalRequired thing.ship | ApprovalRequired thing.ship | Completed delivered", performed: "thing.check@1, thing.ship@3",
			like: func() *site {
				s := shop(calls("thing_check {}"), calls("thing_ship {}"))
				s.authority = always(run.Allow)
				return s
			},
		},
		{
			name:     "a denial that came meanwhile is a refused step, and the run goes on",
			site:     func() *site { return shop(calls("thing_check {}"), calls("thing_ship {}"), calls("thing_look {}")) },
			sittings: []sitting{func(s *site) event.Outcome { s.budget = new(2); return granted(always(run.Deny))(s) }},
			stops:    "ApprovalRequired thing.ship | StepBudget", performed: "thing.check@1, thing.look@4",
		},
		{
			name: "an approval of other arguments is void (121)",
			site: func() *site { return house(front) },
			sittings: []sitting{
				granted(func(_ string, r effect.Request) (run.Permission, error) {
					if r.Arguments == `{"why":"work"}` {
						return run.Allow, nil
					}
					return run.NeedsApproval, nil
				}),
				granted(func(_ string, r effect.Request) (run.Permission, error) {
					if r.Action == "front.open" && r.Arguments == `{"why":"home"}` {
						return run.Allow, nil
					}
					return run.NeedsApproval, nil
				}),
			},
			stops:     "ApprovalRequired front.open | ApprovalRequired front.open | Completed home",
			performed: `front.open {"why":"home"}@2`,
			like:      func() *site { s := house(front); s.authority = always(run.Allow); return s },
		},
		{
			name: "an approval at the gate is none for a proposal with its step (121)",
			site: func() *site { return house(front) },
			sittings: []sitting{granted(func(_ string, r effect.Request) (run.Permission, error) {
				if r.Step == 0 {
					return run.Allow, nil
				}
				return run.NeedsApproval, nil
			})},
			stops: "ApprovalRequired front.open | ApprovalRequired front.open",
		},
		{
			name: "an approval of one capability does not serve another (120)",
			site: func() *site { return house(front) },
			sittings: []sitting{granted(func(capability string, _ effect.Request) (run.Permission, error) {
				if capability == "key.back" {
					return run.Allow, nil
				}
				return run.NeedsApproval, nil
			})},
			stops: "ApprovalRequired front.open | ApprovalRequired front.open",
		},
		{
			name: "a model that is there now",
			site: func() *site { s := shop(); s.agent = nil; s.authority = always(run.Allow); return s },
			sittings: []sitting{plainly, func(s *site) event.Outcome {
				s.agent = says(calls("thing_check {}"), calls("thing_ship {}"))
				return ""
			}},
			stops: "NeedsModel Action | NeedsModel Action | Completed delivered", performed: "thing.check@1, thing.ship@2",
			like: func() *site {
				s := shop(calls("thing_check {}"), calls("thing_ship {}"))
				s.authority = always(run.Allow)
				return s
			},
		},
		{
			name: "an interruption between two effects",
			site: func() *site {
				s := newTower()
				s.interruptible()
				cancel := onlyOnce(s.cancel)
				return s.when("lay3", func(context.Context, effect.Request) deed {
					cancel()
					return lays(rungs)["lay3"].does(nil, effect.Request{})
				})
			},
			sittings: []sitting{func(s *site) event.Outcome { s.ctx = nil; return "" }},
			stops:    "interrupted | Completed built", performed: "lay1@1, lay2@2, lay3@3, lay4@4, lay5@5, lay6@6, lay7@7, lay8@8, lay9@9, lay10@10",
			like: newTower,
		},
		{
			name: "an effect that an interruption ended, and that a person saw performed",
			site: interruptedAt("lay2"),
			sittings: []sitting{func(s *site) event.Outcome {
				s.ctx = nil
				return event.Performed
			}},
			stops: "interrupted | performed Completed built", performed: "lay1@1, lay2@2, lay2@3, lay3@4",
			like: func() *site { return newSite(tower(3), lays(3)) },
		},
		{
			name: "an effect that an interruption ended, and that was not performed",
			site: interruptedAt("lay2"),
			sittings: []sitting{func(s *site) event.Outcome {
				s.ctx = nil
				return event.NotPerformed
			}},
			stops: "interrupted | not-performed Completed built", performed: "lay1@1, lay2@2, lay2@3, lay3@4",
			like: func() *site { return newSite(tower(3), lays(3)) },
		},
		{
			name: "an effect that failed",
			site: func() *site {
				s, failed := newSite(tower(3), lays(3)), false
				return s.when("lay2", func(ctx context.Context, r effect.Request) deed {
					if !failed {
						failed = true
						return deed{fails: "it broke"}
					}
					return lays(3)["lay2"].does(ctx, r)
				})
			},
			sittings: []sitting{outcome(event.NotPerformed)},
			stops:    "failed | not-performed Completed built", performed: "lay1@1, lay2@2, lay2@3, lay3@4",
			like: func() *site { return newSite(tower(3), lays(3)) },
		},
		{
			name: "an effect that failed in words that are not UTF-8",
			site: func() *site {
				s, failed := newSite(tower(3), lays(3)), false
				return s.when("lay2", func(ctx context.Context, r effect.Request) deed {
					if !failed {
						failed = true
						return deed{fails: "it broke \xff\xfe\xff"}
					}
					return lays(3)["lay2"].does(ctx, r)
				})
			},
			sittings: []sitting{outcome(event.NotPerformed)},
			stops:    "failed | not-performed Completed built", performed: "lay1@1, lay2@2, lay2@3, lay3@4",
			like: func() *site { return newSite(tower(3), lays(3)) },
		},
		{
			name: "a request to a model that failed, twice",
			site: func() *site {
				s := shop(breaks, breaks, calls("thing_check {}"), calls("thing_ship {}"))
				s.authority = always(run.Allow)
				return s
			},
			sittings: []sitting{plainly, plainly},
			stops:    "failed | failed | Completed delivered", performed: "thing.check@1, thing.ship@2",
			like: func() *site {
				s := shop(calls("thing_check {}"), calls("thing_ship {}"))
				s.authority = always(run.Allow)
				return s
			},
		},
		{
			name: "a request to a model that an interruption ended",
			site: func() *site {
				s := shop()
				s.interruptible()
				s.agent = says(calls("thing_check {}"), func(ctx context.Context, _ model.Request) (model.Reply, error) {
					s.cancel()
					return model.Reply{}, model.Fail(model.Cancelled, ctx.Err(), "called off")
				}, calls("thing_ship {}"))
				s.authority = always(run.Allow)
				return s
			},
			sittings: []sitting{func(s *site) event.Outcome { s.ctx = nil; return "" }},
			stops:    "interrupted | Completed delivered", performed: "thing.check@1, thing.ship@2",
		},
		{
			name: "a request to a model that failed, with no model now, and then one",
			site: func() *site {
				s := shop(breaks)
				s.authority = always(run.Allow)
				return s
			},
			sittings: []sitting{func(s *site) event.Outcome { s.agent = nil; return "" }, func(s *site) event.Outcome {
				s.agent = says(calls("thing_check {}"), calls("thing_ship {}"))
				return ""
			}},
			stops: "failed | failed | Completed delivered", performed: "thing.check@1, thing.ship@2",
		},
		{
			name: "a classification that failed",
			site: func() *site {
				s := newTower()
				s.classifier = says(breaks, calls(`pick_protocol {"protocol":"tower@1","confidence":0.9,"reasons":["so"]}`))
				return s
			},
			sittings: []sitting{plainly},
			stops:    "failed | Completed built", performed: "lay1@1, lay2@2, lay3@3, lay4@4, lay5@5, lay6@6, lay7@7, lay8@8, lay9@9, lay10@10",
			like: newTower,
		},
		{
			name: "an authority that failed",
			site: func() *site {
				s := shop(calls("thing_check {}"), calls("thing_ship {}"))
				s.authority = func(string, effect.Request) (run.Permission, error) { return run.Deny, errors.New("nobody there") }
				return s
			},
			sittings: []sitting{granted(always(run.Allow))},
			stops:    "failed | Completed delivered", performed: "thing.check@1, thing.ship@2",
		},
		{
			name: "a verifier that does not take what an effect reported fails the run in every sitting",
			site: func() *site {
				return newSite(tower(3), lays(3)).when("lay2", func(context.Context, effect.Request) deed { return deed{says: "up", lies: "that is not so"} })
			},
			sittings: []sitting{plainly, plainly},
			stops:    "failed | failed | failed", performed: "lay1@1, lay2@2",
		},
		{
			name: "an executor that has no idea, and then one",
			site: func() *site {
				s := house(run.Proposal{NeedsModel: true}, front)
				s.authority = always(run.Allow)
				return s
			},
			sittings: []sitting{plainly},
			stops:    "NeedsModel Action | Completed home", performed: `front.open {"why":"home"}@1`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.site()
			_, _ = s.run(t) // how it ended is in the record
			s.whole(t)
			for _, prepare := range c.sittings {
				_, err := s.resume(t, prepare(s))
				rec := s.whole(t)
				if failed := rec.Summary.Stop == "failed"; failed != (err != nil) {
					t.Errorf("resume: %v\n%s", err, shown(rec))
				}
			}
			if got := stops(t, s.read(t)); got != c.stops {
				t.Errorf("stops %s, want %s", got, c.stops)
			}
			if got := s.performed(t); got != c.performed {
				t.Errorf("performed %s, want %s", got, c.performed)
			}
			if c.like != nil {
				if diff := cmp.Diff(never(t, c.like()), s.final(t)); diff != "" {
					t.Errorf("the case is not that of a run that never stopped:\n%s", diff)
				}
			}
		})
	}
}

// interruptedAt makes the site of a run that is interrupted while it performs an action.
func interruptedAt(action string) func() *site {
	return func() *site {
		s := newSite(tower(3), lays(3))
		s.interruptible()
		first := true
		return s.when(action, func(ctx context.Context, r effect.Request) deed {
			if first {
				first = false
				s.cancel()
				return deed{fails: "called off"}
			}
			return lays(3)[action].does(ctx, r)
		})
	}
}
