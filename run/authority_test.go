package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/run"
)

// A stop for approval says what an approval would be for: the very arguments where they are known, and whom the action
// reaches.
func TestWhatAnApprovalWouldBeFor(t *testing.T) {
	opens := act{takes: takesWhy, deeds: []deed{{}}}
	ring := run.Proposal{Action: "ring", Arguments: "{}"}
	waiting := func(action, arguments, capability, reach string) event.Waiting {
		return event.Waiting{Action: action, Arguments: arguments, Capability: capability, Case: "case-1", Revision: 1, Reach: reach}
	}
	for _, c := range []struct {
		name  string
		stage stage
		want  []event.Waiting
	}{
		{
			"a proposal, with its arguments as they are compared",
			stage{performs: map[string]act{"front.open": opens}, executor: []run.Proposal{{Action: "front.open", Arguments: ` { "why" : "home" } `}}},
			[]event.Waiting{waiting("front.open", `{"why":"home"}`, "key.front", "does front.open")},
		},
		{
			"a proposal that nothing here performs",
			stage{executor: []run.Proposal{{Action: "front.open", Arguments: "{}"}}},
			[]event.Waiting{waiting("front.open", "{}", "key.front", "nothing here performs it")},
		},
		{
			"the gate: one that can have no arguments, and one whose arguments nobody knows yet",
			stage{performs: map[string]act{"ring": does(), "back.open": does(), "front.open": opens}, executor: []run.Proposal{ring}},
			[]event.Waiting{waiting("back.open", "{}", "key.back", "does back.open"), waiting("front.open", "", "key.front", "does front.open")},
		},
		{
			"the gate: one that nothing here performs",
			stage{performs: map[string]act{"ring": does(), "front.open": opens}, executor: []run.Proposal{ring}},
			[]event.Waiting{waiting("back.open", "{}", "key.back", "nothing here performs it"), waiting("front.open", "", "key.front", "does front.open")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.stage.protocol = doors
			p := c.stage.play(t)
			stopped, _ := p.events[len(p.events)-1].(event.Stopped)
			if diff := cmp.Diff(c.want, stopped.Waiting); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
