package governor

import (
	"slices"
	"sync"

	"github.com/loomrun/loom/protocol"
)

// Rules are one protocol, resolved for evaluation: names are numbers, predicates are flat programs
// in which members stand before what they are members of, and claims are ordered so that a claim
// comes after those it tests. Rules are immutable and may be used by several goroutines.
type Rules struct {
	protocol  *protocol.Protocol
	semantics string

	artifacts map[string]int32
	kinds     map[string]int32
	claims    map[string]int32
	inputs    map[string]int32
	outcomes  map[string]int32

	nodes  []node
	kids   []int32    // nodes that are members, by the ranges in nodes
	listed [][]string // the values that input tests list
	groups []group    // by kind, then subject
	byKind []kindGroups

	claimPrograms      []program
	claimOrder         []int32
	claimTests         [][]int32 // the claims each claim tests, by id, each once
	claimUpstreams     []upstreams
	applicablePrograms []program // by obligation; absent where always applicable
	dischargePrograms  []program
	actionPrograms     []program
	outcomePrograms    []program // absent for an outcome by decision

	upstreams     []int32          // the artifacts that invalidation rules watch, in artifact order
	upstreamIndex map[string]int32 // by artifact id, into upstreams

	reach func() reach // made when it is first asked for
}

// node is one predicate. Its value is found from the values of its members, which stand before it.
type node struct {
	form     protocol.Form
	is       protocol.Truth // of a claim test
	of       int32          // the claim, the group or the input
	detail   int32          // of a match: its result among the group's, or anyResult; of an input test: its values in listed
	from, to int32          // its members in kids
}

const anyResult = -1

// program is a range of nodes; the outermost predicate is the last. Where there is no predicate, the
// program is absent.
type program struct{ from, to int32 }

func (p program) root() int32  { return p.to - 1 }
func (p program) absent() bool { return p.from == p.to }

// group is the records that evidence matches of one kind and subject read. Matches that differ only
// in their result share a group.
type group struct {
	kind    int32
	subject int32    // anySubject: records about every artifact
	results []string // the results that matches ask for, sorted
}

const anySubject = -1

// kindGroups finds the groups that read a record of a kind.
type kindGroups struct {
	every     int32 // the group of anySubject, or none
	bySubject []subjectGroup
}

type subjectGroup struct{ subject, group int32 }

const none = -1

// Prepare resolves a protocol for evaluation.
func Prepare(p *protocol.Protocol) *Rules { return PrepareAs(p, SemanticsVersion) }

// PrepareAs is Prepare with another semantics version in explanations, for hosts that must tell
// their decisions apart from this product's (D22).
func PrepareAs(p *protocol.Protocol, semantics string) *Rules {
	r := &Rules{
		protocol:  p,
		semantics: semantics,
		artifacts: index(p.Artifacts, func(a protocol.Artifact) string { return a.ID }),
		kinds:     index(p.EvidenceKinds, func(k protocol.EvidenceKind) string { return k.ID }),
		claims:    index(p.Claims, func(c protocol.Claim) string { return c.ID }),
		inputs:    index(p.Inputs, func(in protocol.Input) string { return in.ID }),
		outcomes:  index(p.Outcomes, func(o protocol.Outcome) string { return o.ID }),
	}
	compilePrograms(r)
	r.linkClaims()
	r.linkUpstreams()
	r.reach = sync.OnceValue(r.findReach)
	return r
}

// Protocol gives the protocol the rules were made from.
func (r *Rules) Protocol() *protocol.Protocol { return r.protocol }

func index[T any](section []T, id func(T) string) map[string]int32 {
	numbers := make(map[string]int32, len(section))
	for i, entry := range section {
		numbers[id(entry)] = int32(i)
	}
	return numbers
}

// linkClaims notes what each claim tests, and orders claims so that tested ones come first.
func (r *Rules) linkClaims() {
	r.claimTests = make([][]int32, len(r.claimPrograms))
	for i, p := range r.claimPrograms {
		for _, n := range r.nodes[p.from:p.to] {
			if n.form == protocol.OfClaim {
				r.claimTests[i] = append(r.claimTests[i], n.of)
			}
		}
		r.claimTests[i] = sortedSet(r.claimTests[i])
	}
	// Claims go into the order once all they test is in it (Kahn), so no chain is too long.
	waitsFor := make([]int, len(r.claimTests))
	testedBy := make([][]int32, len(r.claimTests))
	for i, tests := range r.claimTests {
		waitsFor[i] = len(tests)
		for _, t := range tests {
			testedBy[t] = append(testedBy[t], int32(i))
		}
		if len(tests) == 0 {
			r.claimOrder = append(r.claimOrder, int32(i))
		}
	}
	for next := 0; next < len(r.claimOrder); next++ {
		for _, i := range testedBy[r.claimOrder[next]] {
			if waitsFor[i]--; waitsFor[i] == 0 {
				r.claimOrder = append(r.claimOrder, i)
			}
		}
	}
}

// linkUpstreams notes for each claim which moved artifacts take records away from it: those of the
// rules that name the claim, or a claim it is built on.
func (r *Rules) linkUpstreams() {
	for _, rule := range r.protocol.Invalidation {
		r.upstreams = append(r.upstreams, r.artifacts[rule.Upstream])
	}
	r.upstreams = sortedSet(r.upstreams)
	r.upstreamIndex = make(map[string]int32, len(r.upstreams))
	for u, artifact := range r.upstreams {
		r.upstreamIndex[r.protocol.Artifacts[artifact].ID] = int32(u)
	}
	r.claimUpstreams = make([]upstreams, len(r.claimPrograms))
	for i := range r.claimUpstreams {
		r.claimUpstreams[i] = newUpstreams(len(r.upstreams))
	}
	for _, rule := range r.protocol.Invalidation {
		for _, claim := range rule.Invalidates {
			r.claimUpstreams[r.claims[claim]].add(r.upstreamIndex[rule.Upstream])
		}
	}
	for _, i := range r.claimOrder {
		for _, t := range r.claimTests[i] {
			r.claimUpstreams[i].addAll(r.claimUpstreams[t])
		}
	}
}

func sortedSet(numbers []int32) []int32 {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
