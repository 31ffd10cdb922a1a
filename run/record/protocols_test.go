package record_test

import (
	"fmt"
	"strings"
)

// rungs is how many actions the tower of the crash tests takes.
const rungs = 10

// tower is a protocol of n actions, each with a precondition that only the evidence of the one before meets, and
// only once: every move is forced, so no model is needed. Each effect moves an artifact.
func tower(n int) string {
	var kinds, claims, actions strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&kinds, "  laid%d: {}\n", i)
		fmt.Fprintf(&claims, "  up%d: {true_when: {evidence: {kind: laid%d, result: well, subject: plan}}}\n", i, i)
		before := ""
		if i > 1 {
			before = fmt.Sprintf("{claim: up%d}, ", i-1)
		}
		fmt.Fprintf(&actions, "  lay%d: {effect: write, precondition: {all: [%s{claim: up%d, is: unknown}]}, may_produce: [{evidence: laid%d}]}\n",
			i, before, i, i)
	}
	return "format: protocol/1\nprotocol: {id: tower, revision: 1, description: Lay one stone on the other.}\n" +
		"artifacts: {plan: {}, stones: {}}\nevidence_kinds:\n" + kinds.String() + "claims:\n" + claims.String() +
		"actions:\n" + actions.String() + fmt.Sprintf("outcomes: {built: {requires: {claim: up%d}}}\n", n)
}

// lays is what the actions of a tower do.
func lays(n int) map[string]act {
	acts := map[string]act{}
	for i := 1; i <= n; i++ {
		acts[fmt.Sprintf("lay%d", i)] = does(deed{
			says: fmt.Sprintf("stone %d is up", i), moves: map[string]string{"stones": fmt.Sprintf("stones-%d", i+1)},
			proves: []string{fmt.Sprintf("laid%d well on plan", i)},
		})
	}
	return acts
}

// workshop is a protocol in which a thing is made, checked and, with permission, shipped.
const workshop = `
format: protocol/1
protocol: {id: workshop, revision: 1, description: Make a thing and ship it.}
artifacts: {thing: {}, order: {}}
evidence_kinds: {checked: {max_age: 10m}, shipped: {}}
claims:
  thing.good: {true_when: {evidence: {kind: checked, result: pass, subject: thing}}}
  order.done: {true_when: {evidence: {kind: shipped, subject: order}}}
actions:
  thing.check: {effect: read, may_produce: [{evidence: checked}]}
  thing.look: {effect: read}
  thing.make: {effect: write}
  thing.ship: {effect: write, precondition: {claim: thing.good}, requires: [{capability: ship}], may_produce: [{evidence: shipped}]}
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

// takesWhy is the schema of arguments with one optional member.
const takesWhy = `{"type":"object","properties":{"why":{"type":"string"}},"additionalProperties":false}`
