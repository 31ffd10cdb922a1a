package run_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/run"
)

func TestToolNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, c := range []struct{ actions, names []string }{
		{[]string{"system.time.read"}, []string{"system_time_read"}},
		{[]string{"A-z_0.9"}, []string{"A-z_0_9"}},
		{[]string{"löschen", "時刻", "…"}, []string{"l_schen", "__", "_"}},
		{[]string{"a.b", "a:b", "a_b", "a_b_2"}, []string{"a_b", "a_b_2", "a_b_3", "a_b_2_2"}},
		{[]string{long, long + ".", long + "y"}, []string{long[:64], long[:56] + "_2", long[:56] + "_3"}},
	} {
		got := run.ToolNames(c.actions)
		for i, action := range c.actions {
			if got[action] != c.names[i] {
				t.Errorf("%v: %s is %s, want %s", c.actions, action, got[action], c.names[i])
			}
		}
	}
}

var validTool = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Whatever the actions of a protocol are called, each has a name that providers take and no other has.
func TestToolNamesAreValidAndUnique(t *testing.T) {
	id := rapid.OneOf(
		rapid.StringMatching(`[ab._]{1,4}(_[2-9])?`),
		rapid.StringMatching(`[a-z.:/é時]{50,70}`),
		rapid.StringMatching(`a{56,66}(_[2-4])?`),
		rapid.StringN(1, 8, -1),
	)
	rapid.Check(t, func(t *rapid.T) {
		actions := rapid.SliceOfNDistinct(id, 1, 40, rapid.ID).Draw(t, "actions")
		names := run.ToolNames(actions)
		taken := map[string]string{}
		for _, action := range actions {
			name := names[action]
			if !validTool.MatchString(name) {
				t.Fatalf("%q is called %q", action, name)
			}
			if other, twice := taken[name]; twice {
				t.Fatalf("%q and %q are both called %q", other, action, name)
			}
			taken[name] = action
		}
	})
}

// A protocol may have thousands of actions that read alike.
func TestManyActionsOfOneNameAreTold(t *testing.T) {
	var actions []string
	for i := range 20_000 {
		actions = append(actions, strings.Repeat("é", 60)+fmt.Sprint(i))
	}
	names := run.ToolNames(actions)
	distinct := map[string]bool{}
	for _, name := range names {
		distinct[name] = true
	}
	if len(distinct) != len(actions) {
		t.Errorf("%d names for %d actions", len(distinct), len(actions))
	}
}

// The name of a tool means the same action in every step, whichever others are offered beside it.
func TestAToolNameMeansOneActionThroughoutARun(t *testing.T) {
	s := stage{
		protocol: `
format: protocol/1
protocol: {id: alike, revision: 1}
artifacts: {a: {}}
evidence_kinds: {seen: {}}
claims: {once: {true_when: {evidence: {kind: seen, subject: a}}}}
actions:
  go.on: {precondition: {claim: once, is: unknown}}
  go_on: {}
  go:on: {}
outcomes: {o: {requires: {all: [{claim: once}, {claim: once, is: "false"}]}}}
`,
		performs: map[string]act{"go.on": does(deed{says: "on", proves: []string{"seen on a"}}), "go_on": does(), "go:on": does()},
		agent:    []turn{calls("go_on {}"), calls("go_on_3 {}")}, budget: new(2),
	}
	s.protocol = strings.Replace(s.protocol, `{claim: once, is: "false"}`, "{not: {claim: once}}", 1)
	p := s.play(t)
	want := lines(`
		frontier 1: +go.on +go:on +go_on
		~ m-agent is asked: go_on go_on_2 go_on_3
		turn 1 Action of m-agent: ToolCalls
		call c1: go.on {}
		step 1: go.on {}
		~ go.on is performed
		effect: on
		evidence: seen (e1.1)
		frontier 1: -go.on +go:on +go_on
		~ m-agent is asked: go_on_2 go_on_3
		turn 2 Action of m-agent: ToolCalls
		call c1: go_on {}
		step 2: go_on {}
		~ go_on is performed
		effect: go_on is done
		evidence: none:
		stopped after 2: StepBudget`)
	if diff := cmp.Diff(want, lines(p.loop())); diff != "" {
		t.Error(diff)
	}
}
