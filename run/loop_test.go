package run_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run"
)

// What the workshop's host can do: make things, and check them well or badly.
var (
	makes  = does(deed{says: "made", moves: map[string]string{"thing": "thing-2"}})
	passes = does(deed{says: "looks good", proves: []string{"checked pass on thing"}})
	breaks = does(deed{says: "is broken", proves: []string{"checked fail on thing"}})
	ships  = does(deed{says: "shipped", proves: []string{"shipped on order"}})
)

const takesWhy = `{"type":"object","properties":{"why":{"type":"string"}},"additionalProperties":false}`

// Each case is a run from its first frontier on: what a run says, and behind ~ what it asks of the
// world. In a frontier + is admissible, ? needs approval, - is blocked. Every one of them is also
// replayed from its record.
var loops = []struct {
	name string
	stage
	want string
}{
	// The way through.
	{
		"a model's proposals lead from the first frontier to completion",
		stage{
			performs:  map[string]act{"thing.make": makes, "thing.check": passes, "thing.ship": ships},
			agent:     []turn{calls("thing_make {}"), calls("thing_check { }"), calls("thing_ship {}")},
			authority: always(run.Allow),
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_check thing_make
		turn 1 Action of m-agent: ToolCalls
		call c1: thing.make {}
		step 1: thing.make {}
		~ thing.make is performed
		effect: made
		evidence: none:
		frontier 2: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_check thing_make
		turn 2 Action of m-agent: ToolCalls
		call c1: thing.check { }
		step 2: thing.check {}
		~ thing.check is performed
		effect: looks good
		evidence: checked pass (e2.1)
		frontier 2: +thing.check +thing.look +thing.make ?thing.ship
		~ m-agent is asked: thing_check thing_make thing_ship
		turn 3 Action of m-agent: ToolCalls
		call c1: thing.ship {}
		step 3: thing.ship {}
		~ authority over ship for thing.ship {} at 2: allowed
		~ thing.ship is performed
		effect: shipped
		evidence: shipped (e3.1)
		stopped after 3: Completed (delivered)`,
	},
	{
		"an action alone that takes nothing is a forced move: no model is asked (D10)",
		stage{
			protocol: lamp, agent: []turn{},
			performs: map[string]act{"lamp.switch": does(deed{says: "click", proves: []string{"seen lit on lamp"}})},
		},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		evidence: seen lit (e1.1)
		stopped after 1: Completed (lit)`,
	},
	{
		"an action alone that takes arguments is no forced move",
		stage{protocol: lamp, performs: map[string]act{"lamp.switch": {takes: takesWhy}}},
		`frontier 1: +lamp.switch
		stopped after 0: NeedsModel (Action)`,
	},
	{
		"without a model a choice stops the run (D11)",
		stage{performs: map[string]act{"thing.check": passes, "thing.make": makes}},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		stopped after 0: NeedsModel (Action)`,
	},
	{
		"a completion is read after the last step of the budget",
		stage{
			protocol: lamp, budget: new(2),
			performs: map[string]act{"lamp.switch": does(deed{says: "nothing"}, deed{says: "click", proves: []string{"seen lit on lamp"}})},
		},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: nothing
		evidence: none:
		frontier 1: +lamp.switch
		step 2: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		evidence: seen lit (e2.1)
		stopped after 2: Completed (lit)`,
	},
	{
		"a model that claims success and calls nothing has done nothing (127)",
		stage{
			performs: map[string]act{"thing.make": makes, "thing.look": does()}, budget: new(1),
			agent: []turn{replies(model.Reply{Text: "It is shipped.", Stop: model.StopEndTurn})},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 1 Action of m-agent: EndTurn
		step 1:  (not proposed)
		refused: the model's selection names no action
		stopped after 1: StepBudget`,
	},

	// Refused steps count, and the run goes on.
	{
		"an action that is blocked, or that the protocol does not declare, is a refused step (112, 113)",
		stage{
			performs: map[string]act{"thing.look": does(), "thing.ship": ships}, budget: new(3),
			executor: []run.Proposal{{Action: "thing.ship", Arguments: "{}"}, {Action: "thing.sell", Arguments: "{}"}, {Action: "thing.look", Arguments: "{}"}},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.ship {}
		refused: blocked: thing.ship is blocked by {"claim":"thing.good","value":"unknown"}
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 2: thing.sell {}
		refused: not-in-frontier: the protocol declares no action "thing.sell"
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 3: thing.look {}
		~ thing.look is performed
		effect: thing.look is done
		evidence: none:
		stopped after 3: StepBudget`,
	},
	{
		"what the model calls is checked again: neither blocked, nor unperformable, nor undeclared actions are offered (112, 113)",
		stage{
			performs: map[string]act{"thing.look": does(), "thing.make": makes, "thing.ship": ships}, budget: new(3),
			agent: []turn{calls("thing_ship {}"), calls("thing_check {}"), calls("sell {}")},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 1 Action of m-agent: ToolCalls
		call c1: thing_ship {}
		step 1: thing_ship (not proposed)
		refused: the model's selection names thing_ship, which is not offered
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 2 Action of m-agent: ToolCalls
		call c1: thing_check {}
		step 2: thing_check (not proposed)
		refused: the model's selection names thing_check, which is not offered
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 3 Action of m-agent: ToolCalls
		call c1: sell {}
		step 3: sell (not proposed)
		refused: the model's selection names sell, which is not offered
		stopped after 3: StepBudget`,
	},
	{
		"a selection that is repeated is refused until the budget ends (114)",
		stage{
			performs: map[string]act{"thing.look": does(), "thing.make": makes}, budget: new(2),
			agent: []turn{calls("merge {}"), calls("merge {}"), calls("merge {}")},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 1 Action of m-agent: ToolCalls
		call c1: merge {}
		step 1: merge (not proposed)
		refused: the model's selection names merge, which is not offered
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 2 Action of m-agent: ToolCalls
		call c1: merge {}
		step 2: merge (not proposed)
		refused: the model's selection names merge, which is not offered
		stopped after 2: StepBudget`,
	},
	{
		"a step takes one action; an answer that was cut says so",
		stage{
			performs: map[string]act{"thing.look": does(), "thing.make": makes}, budget: new(2),
			agent: []turn{calls("thing_look {}", "thing_make {}"), replies(model.Reply{Stop: model.StopMaxOutputTokens})},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 1 Action of m-agent: ToolCalls
		call c1: thing.look {}
		call c2: thing.make {}
		step 1:  (not proposed)
		refused: the model's selection names 2 actions; a step takes one
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		turn 2 Action of m-agent: MaxOutputTokens
		step 2:  (not proposed)
		refused: the model's selection names no action; its answer was cut (MaxOutputTokens)
		stopped after 2: StepBudget`,
	},
	{
		"arguments are checked after the selection, whoever proposes",
		stage{
			performs: map[string]act{"thing.make": {takes: takesWhy}}, budget: new(5),
			executor: []run.Proposal{
				{Action: "thing.make", Arguments: `{"how":1}`},
				{Action: "thing.make", Arguments: `[]`},
				{Action: "thing.make", Arguments: `{"why":1,"why":2}`},
				{Action: "thing.make"},
				{Action: "thing.make", Arguments: " { \"why\" : 1.50 } \n"},
			},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.make (not proposed)
		refused: thing.make takes no such argument
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 2: thing.make (not proposed)
		refused: the arguments are a list, not an object
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 3: thing.make (not proposed)
		refused: the arguments are malformed: line 1, column 10: a member is written twice
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 4: thing.make (not proposed)
		refused: the arguments are malformed: line 1, column 1: there is no JSON value
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 5: thing.make {"why":1.50}
		~ thing.make is performed
		effect: thing.make is done
		evidence: none:
		stopped after 5: StepBudget`,
	},
	{
		"an effect may refuse; nothing it says beside that counts",
		stage{
			protocol: lamp, budget: new(2),
			performs: map[string]act{"lamp.switch": does(
				deed{refuses: "the switch is held", says: "click", moves: map[string]string{"lamp": "lamp-2"}, proves: []string{"seen lit on lamp"}},
				deed{says: "click"},
			)},
		},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		refused: the switch is held
		frontier 1: +lamp.switch
		step 2: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		evidence: none:
		stopped after 2: StepBudget`,
	},
	{
		"an effect that fails fails the run and is not tried again (118)",
		stage{protocol: lamp, performs: map[string]act{"lamp.switch": does(deed{fails: "the connection was reset"})}},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		failed after 1: lamp.switch: the connection was reset`,
	},

	// Evidence.
	{
		"a moved revision takes old evidence out of the case, and back in when it returns (117)",
		stage{
			performs: map[string]act{
				"thing.check": passes,
				"thing.make": does(
					deed{says: "changed", moves: map[string]string{"thing": "thing-2"}},
					deed{says: "changed back", moves: map[string]string{"thing": "thing-1"}},
				),
			},
			executor: []run.Proposal{{Action: "thing.check", Arguments: "{}"}, {Action: "thing.make", Arguments: "{}"}, {Action: "thing.make", Arguments: "{}"}},
			budget:   new(3),
			// Nothing but the budget would end it: the gate finds the frontier moved each time.
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.check {}
		~ thing.check is performed
		effect: looks good
		evidence: checked pass (e1.1)
		frontier 1: +thing.check +thing.look +thing.make ?thing.ship
		step 2: thing.make {}
		~ thing.make is performed
		effect: changed
		evidence: none:
		frontier 2: +thing.check +thing.look +thing.make -thing.ship
		step 3: thing.make {}
		~ thing.make is performed
		effect: changed back
		evidence: none:
		stopped after 3: StepBudget`,
	},
	{
		"evidence about a revision applies again when its artifact is back there, and the case is at a new one (117)",
		stage{
			performs: map[string]act{
				"thing.check": passes,
				"thing.make": does(
					deed{says: "changed", moves: map[string]string{"thing": "thing-2"}},
					deed{says: "changed back", moves: map[string]string{"thing": "thing-1"}},
				),
			},
			executor: []run.Proposal{{Action: "thing.check", Arguments: "{}"}, {Action: "thing.make", Arguments: "{}"}, {Action: "thing.make", Arguments: "{}"}},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.check {}
		~ thing.check is performed
		effect: looks good
		evidence: checked pass (e1.1)
		frontier 1: +thing.check +thing.look +thing.make ?thing.ship
		step 2: thing.make {}
		~ thing.make is performed
		effect: changed
		evidence: none:
		frontier 2: +thing.check +thing.look +thing.make -thing.ship
		step 3: thing.make {}
		~ thing.make is performed
		effect: changed back
		evidence: none:
		frontier 3: +thing.check +thing.look +thing.make ?thing.ship
		frontier 3: +thing.check +thing.look +thing.make ?thing.ship
		stopped after 3: NothingAdmissible`,
	},
	{
		"a verifier says why there is no evidence",
		stage{protocol: lamp, budget: new(1), performs: map[string]act{"lamp.switch": does(deed{says: "click", why: "nobody looked"})}},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		evidence: none: nobody looked
		stopped after 1: StepBudget`,
	},
	{
		"records that the governor sets aside are not told as evidence",
		stage{
			protocol: lamp, budget: new(1),
			performs: map[string]act{"lamp.switch": does(deed{says: "click", proves: []string{
				"seen dark on lamp as once", "heard on lamp", "seen lit on sun at noon", "seen lit on lamp as once", "seen lit on lamp seen noon",
			}})},
		},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		evidence: seen dark (once)
		evidence: none: the record e1.2 (heard about lamp) was set aside: a name in it is not declared, its id was used before, or it is malformed
		evidence: none: the record e1.3 (seen lit about sun) was set aside: a name in it is not declared, its id was used before, or it is malformed
		evidence: none: the record once (seen lit about lamp) was set aside: a name in it is not declared, its id was used before, or it is malformed
		evidence: none: the record e1.5 (seen lit about lamp) was set aside: a name in it is not declared, its id was used before, or it is malformed
		stopped after 1: StepBudget`,
	},
	{
		"a record about a revision that the case is not at is kept and not told as evidence",
		stage{
			protocol: lamp, budget: new(2),
			performs: map[string]act{"lamp.switch": does(
				deed{says: "replaced", moves: map[string]string{"lamp": "lamp-2"}, proves: []string{"seen lit on lamp at lamp-1"}},
				deed{says: "put back", moves: map[string]string{"lamp": "lamp-1"}},
			)},
		},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: replaced
		evidence: none: seen lit is about lamp at lamp-1, and the case is at lamp-2
		frontier 2: +lamp.switch
		step 2: lamp.switch {}
		~ lamp.switch is performed
		effect: put back
		evidence: none:
		stopped after 2: Completed (lit)`,
	},
	{
		"bad news counts as well: what a check found keeps an action blocked, and two results leave it unknown",
		stage{
			performs: map[string]act{"thing.check": does(breaks.deeds[0], passes.deeds[0]), "thing.ship": ships}, budget: new(4),
			executor: []run.Proposal{
				{Action: "thing.check", Arguments: "{}"},
				{Action: "thing.ship", Arguments: "{}"},
				{Action: "thing.check", Arguments: "{}"},
				{Action: "thing.ship", Arguments: "{}"},
			},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.check {}
		~ thing.check is performed
		effect: is broken
		evidence: checked fail (e1.1)
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 2: thing.ship {}
		refused: blocked: thing.ship is blocked by {"claim":"thing.good","value":"false"}
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 3: thing.check {}
		~ thing.check is performed
		effect: looks good
		evidence: checked pass (e3.1)
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 4: thing.ship {}
		refused: blocked: thing.ship is blocked by {"claim":"thing.good","value":"unknown"}
		stopped after 4: StepBudget`,
	},
	{
		"what a proposal rests on is looked at again before its effect: here it expires meanwhile",
		stage{
			performs: map[string]act{"thing.check": does(deed{says: "looks good", proves: []string{"checked pass on thing seen 2026-03-01T09:26:29Z"}}), "thing.ship": ships},
			executor: []run.Proposal{{Action: "thing.check", Arguments: "{}"}, {Action: "thing.ship", Arguments: "{}"}},
			// The clock reads 24:30 and 28:30 in the first step, 32:30 and 36:30 in the second.
			tick: 4 * time.Minute, authority: always(run.Allow), budget: new(2),
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.check {}
		~ thing.check is performed
		effect: looks good
		evidence: checked pass (e1.1)
		frontier 1: +thing.check +thing.look +thing.make ?thing.ship
		step 2: thing.ship {}
		refused: blocked: thing.ship is blocked by {"claim":"thing.good","value":"unknown"}
		stopped after 2: StepBudget`,
	},
	{
		"an effect whose report cannot be verified has happened all the same",
		stage{protocol: lamp, performs: map[string]act{"lamp.switch": does(deed{says: "click", lies: "the report is not the switch's"})}},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		failed after 1: verify lamp.switch: the report is not the switch's`,
	},
	{
		"so has an effect that reports a revision the case cannot take",
		stage{protocol: lamp, performs: map[string]act{"lamp.switch": does(deed{says: "click", moves: map[string]string{"sun": "sun-2"}})}},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		failed after 1: the revisions that lamp.switch reports: UndeclaredArtifact: lamp declares no artifact "sun"`,
	},

	// Approval and authority.
	{
		"an action that needs approval stops the run when it is proposed",
		stage{
			performs: map[string]act{"thing.check": passes, "thing.ship": ships},
			executor: []run.Proposal{{Action: "thing.check", Arguments: "{}"}, {Action: "thing.ship", Arguments: "{}"}},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.check {}
		~ thing.check is performed
		effect: looks good
		evidence: checked pass (e1.1)
		frontier 1: +thing.check +thing.look +thing.make ?thing.ship
		step 2: thing.ship {}
		stopped after 2: ApprovalRequired (thing.ship) for thing.ship`,
	},
	{
		"a step that changes nothing opens the gate: what waits is listed in frontier order, the frontier shown again, and the authority asked before",
		stage{
			protocol: doors, performs: map[string]act{"ring": does()}, authority: always(run.NeedsApproval),
			agent: []turn{calls("ring {}")},
		},
		`frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open ring
		turn 1 Action of m-agent: ToolCalls
		call c1: ring {}
		step 1: ring {}
		~ ring is performed
		effect: ring is done
		evidence: none:
		~ authority over key.back for back.open  at 1: needs approval
		~ authority over key.front for front.open  at 1: needs approval
		frontier 1: ?back.open ?front.open +ring
		stopped after 1: ApprovalRequired (back.open, front.open) for back.open, front.open`,
	},
	{
		"other reasons for the same statuses keep the gate shut for a step",
		stage{
			protocol: strings.NewReplacer("kind: entered, ", "kind: entered, result: in, ", "  ring: {}", "  ring: {}\n  leave: {precondition: {claim: inside}}").Replace(doors),
			performs: map[string]act{"ring": does(deed{says: "nobody opens", proves: []string{"entered out on house"}})},
			executor: []run.Proposal{{Action: "ring", Arguments: "{}"}, {Action: "ring", Arguments: "{}"}, {Action: "ring", Arguments: "{}"}},
		},
		`frontier 1: ?back.open ?front.open -leave +ring
		step 1: ring {}
		~ ring is performed
		effect: nobody opens
		evidence: entered out (e1.1)
		frontier 1: ?back.open ?front.open -leave +ring
		step 2: ring {}
		~ ring is performed
		effect: nobody opens
		evidence: entered out (e2.1)
		frontier 1: ?back.open ?front.open -leave +ring
		stopped after 2: ApprovalRequired (back.open, front.open) for back.open, front.open`,
	},
	{
		"the gate is reported before the budget",
		stage{protocol: doors, performs: map[string]act{"ring": does()}, agent: []turn{calls("ring {}")}, budget: new(1)},
		`frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open ring
		turn 1 Action of m-agent: ToolCalls
		call c1: ring {}
		step 1: ring {}
		~ ring is performed
		effect: ring is done
		evidence: none:
		frontier 1: ?back.open ?front.open +ring
		stopped after 1: ApprovalRequired (back.open, front.open) for back.open, front.open`,
	},
	{
		"a grant at the gate is none for the proposal: that is asked for with its arguments (121)",
		stage{
			protocol: doors, performs: map[string]act{"ring": does(), "front.open": {takes: takesWhy, deeds: []deed{{says: "open", proves: []string{"entered on house"}}}}},
			agent: []turn{calls("ring {}"), calls(`front_open {"why":"home"}`)},
			authority: func(_ string, r effect.Request) (run.Permission, error) {
				if r.Action == "front.open" && r.Arguments == "" {
					return run.Allow, nil
				}
				return run.NeedsApproval, nil
			},
		},
		`frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open ring
		turn 1 Action of m-agent: ToolCalls
		call c1: ring {}
		step 1: ring {}
		~ ring is performed
		effect: ring is done
		evidence: none:
		~ authority over key.back for back.open  at 1: needs approval
		~ authority over key.front for front.open  at 1: allowed
		frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open ring
		turn 2 Action of m-agent: ToolCalls
		call c1: front.open {"why":"home"}
		step 2: front.open {"why":"home"}
		~ authority over key.front for front.open {"why":"home"} at 1: needs approval
		stopped after 2: ApprovalRequired (front.open) for front.open`,
	},
	{
		"a grant of one capability does not serve another (120)",
		stage{
			protocol: doors, performs: map[string]act{"front.open": does(deed{says: "open", proves: []string{"entered on house"}}), "back.open": does()},
			executor: []run.Proposal{{Action: "front.open", Arguments: "{}"}},
			authority: func(capability string, _ effect.Request) (run.Permission, error) {
				if capability == "key.back" {
					return run.Allow, nil
				}
				return run.NeedsApproval, nil
			},
		},
		`frontier 1: ?back.open ?front.open +ring
		step 1: front.open {}
		~ authority over key.front for front.open {} at 1: needs approval
		stopped after 1: ApprovalRequired (front.open) for front.open`,
	},
	{
		"a denied action is a refused step, is neither awaited nor offered again, and the rest goes on",
		stage{
			protocol: doors, performs: map[string]act{"front.open": does(), "back.open": does(), "ring": does(deed{says: "rung", moves: map[string]string{"house": "house-2"}})},
			executor:  []run.Proposal{{Action: "front.open", Arguments: "{}"}, {Action: "back.open", Arguments: "{}"}, {Action: "ring", Arguments: "{}"}},
			authority: always(run.Deny), budget: new(3),
		},
		`frontier 1: ?back.open ?front.open +ring
		step 1: front.open {}
		~ authority over key.front for front.open {} at 1: denied
		refused: denied: capability key.front was denied
		~ authority over key.back for back.open  at 1: denied
		frontier 1: ?back.open ?front.open +ring
		step 2: back.open {}
		~ authority over key.back for back.open {} at 1: denied
		refused: denied: capability key.back was denied
		frontier 1: ?back.open ?front.open +ring
		step 3: ring {}
		~ ring is performed
		effect: rung
		evidence: none:
		~ authority over key.back for back.open  at 2: denied
		~ authority over key.front for front.open  at 2: denied
		stopped after 3: StepBudget`,
	},
	{
		"when all that is left was denied, nothing is admissible",
		stage{
			protocol: doors, performs: map[string]act{"front.open": does(), "back.open": does()}, agent: []turn{calls("front_open {}")},
			authority: always(run.Deny),
		},
		`frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open
		turn 1 Action of m-agent: ToolCalls
		call c1: front.open {}
		step 1: front.open {}
		~ authority over key.front for front.open {} at 1: denied
		refused: denied: capability key.front was denied
		~ authority over key.back for back.open  at 1: denied
		frontier 1: ?back.open ?front.open +ring
		step 2: back.open {}
		~ authority over key.back for back.open {} at 1: denied
		refused: denied: capability key.back was denied
		stopped after 2: NothingAdmissible`,
	},
	{
		"a denied action is offered again when the case has moved",
		stage{
			protocol: doors, performs: map[string]act{"front.open": does(deed{says: "open", proves: []string{"entered on house"}}), "ring": does(deed{says: "rung", moves: map[string]string{"house": "house-2"}})},
			agent: []turn{calls("front_open {}"), calls("ring {}"), calls("front_open {}")},
			authority: func(_ string, r effect.Request) (run.Permission, error) {
				if r.Revision == 1 {
					return run.Deny, nil
				}
				return run.Allow, nil
			},
		},
		`frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open ring
		turn 1 Action of m-agent: ToolCalls
		call c1: front.open {}
		step 1: front.open {}
		~ authority over key.front for front.open {} at 1: denied
		refused: denied: capability key.front was denied
		~ authority over key.back for back.open  at 1: denied
		frontier 1: ?back.open ?front.open +ring
		~ m-agent is asked: back_open ring
		turn 2 Action of m-agent: ToolCalls
		call c1: ring {}
		step 2: ring {}
		~ ring is performed
		effect: rung
		evidence: none:
		~ authority over key.back for back.open  at 2: allowed
		frontier 2: ?back.open ?front.open +ring
		~ m-agent is asked: back_open front_open ring
		turn 3 Action of m-agent: ToolCalls
		call c1: front.open {}
		step 3: front.open {}
		~ authority over key.front for front.open {} at 2: allowed
		~ front.open is performed
		effect: open
		evidence: entered (e3.1)
		stopped after 3: Completed (home)`,
	},
	{
		"what needs approval is offered though nothing here performs it, and alone it is a forced move",
		stage{
			protocol: strings.ReplaceAll(lamp, "{lamp.switch: {}}", "{lamp.switch: {requires: [{capability: mains}]}}"),
		},
		`frontier 1: ?lamp.switch
		step 1: lamp.switch {}
		stopped after 1: ApprovalRequired (lamp.switch) for lamp.switch`,
	},
	{
		"once approved, an action that nothing here performs is a refused step, and nothing is left",
		stage{
			protocol:  strings.ReplaceAll(lamp, "{lamp.switch: {}}", "{lamp.switch: {requires: [{capability: mains}]}}"),
			authority: always(run.Allow),
		},
		`frontier 1: ?lamp.switch
		step 1: lamp.switch {}
		~ authority over mains for lamp.switch {} at 1: allowed
		refused: not-performable: nothing here performs lamp.switch
		frontier 1: ?lamp.switch
		stopped after 1: NoLocalExecutor (nothing here performs an action of lamp@1)`,
	},
	{
		"an action that nothing here performs takes no arguments",
		stage{
			protocol: doors, authority: always(run.Allow), budget: new(2),
			executor: []run.Proposal{{Action: "ring", Arguments: `{"why":1}`}, {Action: "front.open", Arguments: `{"why":1}`}},
		},
		`frontier 1: ?back.open ?front.open +ring
		step 1: ring {"why":1}
		refused: not-performable: nothing here performs ring
		~ authority over key.back for back.open  at 1: allowed
		frontier 1: ?back.open ?front.open +ring
		step 2: front.open (not proposed)
		refused: front.open takes no arguments
		~ authority over key.back for back.open  at 1: allowed
		stopped after 2: StepBudget`,
	},
	{
		"a permission that is none is a denial",
		stage{protocol: doors, executor: []run.Proposal{{Action: "front.open", Arguments: "{}"}}, authority: always(run.Deny + 1), budget: new(1)},
		`frontier 1: ?back.open ?front.open +ring
		step 1: front.open {}
		~ authority over key.front for front.open {} at 1: denied
		refused: denied: capability key.front was denied
		~ authority over key.back for back.open  at 1: denied
		stopped after 1: StepBudget`,
	},
	{
		"an authority that fails fails the run",
		stage{
			protocol: doors, executor: []run.Proposal{{Action: "front.open", Arguments: "{}"}},
			authority: func(string, effect.Request) (run.Permission, error) { return run.Allow, errGone },
		},
		`frontier 1: ?back.open ?front.open +ring
		step 1: front.open {}
		~ authority over key.front for front.open {} at 1: allowed
		failed after 1: ask for authority over key.front: it has gone`,
	},
	{
		"at the gate as well",
		stage{
			protocol: doors, executor: []run.Proposal{{Action: "ring", Arguments: "{}"}}, performs: map[string]act{"ring": does()},
			authority: func(string, effect.Request) (run.Permission, error) { return run.Allow, errGone },
		},
		`frontier 1: ?back.open ?front.open +ring
		step 1: ring {}
		~ ring is performed
		effect: ring is done
		evidence: none:
		~ authority over key.back for back.open  at 1: allowed
		failed after 1: ask for authority over key.back: it has gone`,
	},

	// Other ways to stop.
	{
		"a budget of nothing shows no frontier and asks nobody (16)",
		stage{performs: map[string]act{"thing.look": does()}, agent: []turn{}, budget: new(0)},
		`stopped after 0: StepBudget`,
	},
	{
		"a budget below nothing is one of nothing",
		stage{performs: map[string]act{"thing.look": does()}, budget: new(-1)},
		`stopped after 0: StepBudget`,
	},
	{
		"two iterations without a proposal end the run (122)",
		stage{performs: map[string]act{"thing.look": does()}, executor: []run.Proposal{{None: true}}},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		stopped after 0: NothingAdmissible`,
	},
	{
		"a step between them begins the count anew",
		stage{
			performs: map[string]act{"thing.look": does()},
			executor: []run.Proposal{{None: true}, {Action: "thing.look", Arguments: "{}"}, {None: true}, {Refused: "I cannot say"}},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 1: thing.look {}
		~ thing.look is performed
		effect: thing.look is done
		evidence: none:
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		step 2:  (not proposed)
		refused: I cannot say
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		frontier 1: +thing.check +thing.look +thing.make -thing.ship
		stopped after 2: NothingAdmissible`,
	},
	{
		"an executor may need a model",
		stage{performs: map[string]act{"thing.look": does()}, executor: []run.Proposal{{NeedsModel: true}}},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		stopped after 0: NeedsModel (Action)`,
	},
	{
		"a proposal that is no text fails the run",
		stage{performs: map[string]act{"thing.look": does()}, executor: []run.Proposal{{Action: "thing.look", Arguments: "{\"\xff\":1}"}}},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		failed after 0: propose an action: the proposal is not UTF-8`,
	},
	{
		"where the port performs nothing that the frontier lists, there is no executor",
		stage{performs: map[string]act{"thing.paint": does()}},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		stopped after 0: NoLocalExecutor (nothing here performs an action of workshop@1)`,
	},
	{
		"where all that it performs is blocked, nothing is admissible",
		stage{performs: map[string]act{"thing.ship": ships}},
		`stopped after 0: NothingAdmissible`,
	},
	{
		"a protocol without actions admits nothing",
		stage{protocol: "format: protocol/1\nprotocol: {id: still, revision: 1}\nartifacts: {a: {}}\nevidence_kinds: {e: {}}\nclaims: {c: {true_when: {evidence: {kind: e}}}}\noutcomes: {o: {requires: {claim: c}}}\n"},
		`stopped after 0: NothingAdmissible`,
	},
	{
		"a case with two legitimate outcomes is open",
		stage{
			protocol: strings.Replace(lamp, "outcomes: {", "outcomes: {bright: {requires: {claim: lamp.on}}, ", 1), budget: new(2),
			performs: map[string]act{"lamp.switch": does(deed{says: "click", proves: []string{"seen lit on lamp"}}, deed{says: "clack"})},
		},
		`frontier 1: +lamp.switch
		step 1: lamp.switch {}
		~ lamp.switch is performed
		effect: click
		evidence: seen lit (e1.1)
		frontier 1: +lamp.switch
		step 2: lamp.switch {}
		~ lamp.switch is performed
		effect: clack
		evidence: none:
		stopped after 2: StepBudget`,
	},
	{
		"a model that fails fails the run",
		stage{
			performs: map[string]act{"thing.look": does(), "thing.make": makes},
			agent: []turn{func(model.Request) (model.Reply, error) {
				return model.Reply{}, model.Fail(model.Unauthorized, nil, "who are you")
			}},
		},
		`frontier 1: +thing.check +thing.look +thing.make -thing.ship
		~ m-agent is asked: thing_look thing_make
		failed after 0: propose an action: Unauthorized: who are you`,
	},
	{
		"a clock that shows no instant fails the run",
		stage{year: 12026, performs: map[string]act{"thing.look": does()}},
		`failed after 0: Time: invalid-instant: the evaluation instant "12026-03-01T09:20:30Z" is not a UTC date and time such as 2026-03-01T08:00:00Z`,
	},
	{
		"a binding that cannot start fails the run before a case opens",
		stage{startFails: "the work tree is not clean"},
		`failed after 0: start double: the work tree is not clean`,
	},
	{
		"so does a binding whose revisions do not fit",
		stage{revisions: map[string]string{"thing": "thing-1"}},
		`failed after 0: open a case of workshop@1: MissingRevision: artifact order has no revision`,
	},
}

func TestLoop(t *testing.T) {
	for _, c := range loops {
		t.Run(c.name, func(t *testing.T) { plays(t, c.stage, c.want) })
	}
}

// plays holds a run to its transcript from the first frontier on.
func plays(t *testing.T, s stage, want string) *played {
	t.Helper()
	p := s.play(t)
	if diff := cmp.Diff(lines(want), lines(p.loop())); diff != "" {
		t.Errorf("the run differs (-want +got):\n%s\ngot:\n%s", diff, p.loop())
	}
	return p
}
