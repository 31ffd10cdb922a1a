package protocol

import (
	"slices"
	"strings"
)

// The rules about what claims rest on. A document may chain as many claims as fit into it, so
// everything here that follows claims is iterative; only the inside of one predicate, whose depth
// the reader bounds, is walked by recursion. All of it is linear in the document.

// tested gives the entries of the claims that p tests, in order, undeclared ones left out.
func (v *validator) tested(p *Predicate) []int {
	var claims []int
	p.walk(func(leaf *Predicate) {
		if leaf.Form != OfClaim {
			return
		}
		if i, declared := v.claimIndex[leaf.Claim]; declared {
			claims = append(claims, i)
		}
	})
	return claims
}

// rules reports invalidation rules that can never take a record away: no named claim reaches an
// evidence match (D25). A rule that names an undeclared claim has been reported for that.
func (v *validator) rules() {
	if len(v.invalidation) == 0 {
		return
	}
	reads := v.claimsReadingEvidence()
	for _, rule := range v.invalidation {
		inert := true
		for _, c := range rule.refs {
			if i, declared := v.claimIndex[c.text]; !declared || reads[i] {
				inert = false
			}
		}
		if inert {
			v.report(rule.id, InertInvalidation, "invalidation rule %s names no claim that rests on evidence, so it can never take effect", quoted(rule.id.text))
		}
	}
}

// claimsReadingEvidence tells for each claim whether an evidence match is reachable from it, by
// going from the claims that hold a match back to the claims that test them.
func (v *validator) claimsReadingEvidence() []bool {
	reads := make([]bool, len(v.claims))
	testedBy := make([][]int, len(v.claims))
	var frontier []int
	for i, c := range v.claims {
		c.value.TrueWhen.walk(func(leaf *Predicate) {
			if leaf.Form == Evidence && !reads[i] {
				reads[i] = true
				frontier = append(frontier, i)
			}
		})
		for _, t := range v.tested(c.value.TrueWhen) {
			testedBy[t] = append(testedBy[t], i)
		}
	}
	for len(frontier) > 0 {
		last := frontier[len(frontier)-1]
		frontier = frontier[:len(frontier)-1]
		for _, i := range testedBy[last] {
			if !reads[i] {
				reads[i] = true
				frontier = append(frontier, i)
			}
		}
	}
	return reads
}

// visit is one claim on the way of a depth-first walk.
type visit struct {
	claim int
	tests []int
	next  int
}

// walkClaims goes depth first through all claims in written order and calls done for each claim once
// everything it tests is done. A test of a claim that is still on the way closes a cycle. The walk
// then calls cycle with that part of the way and goes on as if its claims were not there, so that no
// claim is in two cycles. It passes over claims that test themselves.
func (v *validator) walkClaims(cycle func([]visit), done func(claim int)) {
	const (
		unseen = -1 - iota
		left
	)
	at := make([]int, len(v.claims)) // the index on the way, where it is not negative
	for i := range at {
		at[i] = unseen
	}
	var way []visit
	enter := func(claim int) {
		at[claim] = len(way)
		way = append(way, visit{claim: claim, tests: v.tested(v.claims[claim].value.TrueWhen)})
	}
	leave := func(part []visit) {
		for _, passed := range part {
			at[passed.claim] = left
		}
		way = way[:len(way)-len(part)]
	}
	for i := range v.claims {
		if at[i] != unseen {
			continue
		}
		enter(i)
		for len(way) > 0 {
			last := &way[len(way)-1]
			if last.next == len(last.tests) {
				done(last.claim)
				leave(way[len(way)-1:])
				continue
			}
			to := last.tests[last.next]
			last.next++
			switch {
			case at[to] == unseen:
				enter(to)
			case at[to] >= 0 && to != last.claim:
				part := way[at[to]:]
				cycle(part)
				leave(part)
			}
		}
	}
}

// cycles reports claims that rest on themselves: first those that test themselves, then the longer
// ways. A claim is shown in one cycle of each sort at most, which keeps the report in proportion to
// the document.
func (v *validator) cycles() bool {
	found := false
	report := func(claims []visit) {
		found = true
		var chain strings.Builder
		for _, passed := range claims {
			chain.WriteString(bare(v.claims[passed.claim].id.text) + " → ")
		}
		first := v.claims[claims[0].claim].id
		v.report(first, ClaimCycle, "claims rest on themselves: %s%s", chain.String(), bare(first.text))
	}
	for i, c := range v.claims {
		if slices.Contains(v.tested(c.value.TrueWhen), i) {
			report([]visit{{claim: i}})
		}
	}
	v.walkClaims(report, func(int) {})
	return found
}

// noClaim stands where no claim is.
const noClaim = -1

// reach is how deep a predicate goes together with the claims it tests.
type reach struct {
	depth    int  // see MaxPredicateDepth
	via      int  // the claim the longest way goes on into, or noClaim
	reported bool // it is too deep or tests what is, has been reported, and is measured without that
}

// depths reports predicates that nest too deeply together with the claims they test. What tests a
// reported claim is not reported for that again.
func (v *validator) depths() {
	m := measure{validator: v, reaches: make([]reach, len(v.claims))}
	v.walkClaims(nil, func(i int) {
		m.reaches[i] = m.check("claim", v.claims[i].id, v.claims[i].value.TrueWhen)
	})
	for _, o := range v.obligations {
		if o.value.ApplicableWhen != nil {
			m.check("obligation", o.id, o.value.ApplicableWhen)
		}
		m.check("obligation", o.id, o.value.DischargedWhen)
	}
	for _, a := range v.actions {
		m.check("action", a.id, a.value.Precondition)
	}
	for _, o := range v.outcomes {
		if !o.value.DecisionOutcome() {
			m.check("outcome", o.id, o.value.Requires)
		}
	}
}

// measure holds the reach of each claim that is done.
type measure struct {
	*validator
	reaches []reach
}

// check reports p where it is too deep, with the beginning of the longest way.
func (m measure) check(what string, id named, p *Predicate) reach {
	r := m.of(p)
	if r.depth <= MaxPredicateDepth {
		return r
	}
	const shown = 8 // claims that a message names
	chain := bare(id.text)
	for n, via := 1, r.via; via != noClaim; n, via = n+1, m.reaches[via].via {
		if n == shown {
			chain += " → …"
			break
		}
		chain += " → " + bare(m.claims[via].id.text)
	}
	m.report(id, PredicateTooDeep, "%s %s nests %d predicates deep, more than %d: %s", what, quoted(id.text), r.depth, MaxPredicateDepth, chain)
	return reach{reported: true}
}

// of measures a predicate whose claims are all done.
func (m measure) of(p *Predicate) reach {
	deepest := reach{via: noClaim}
	if p.Form == OfClaim {
		if i, declared := m.claimIndex[p.Claim]; declared {
			if m.reaches[i].reported {
				return reach{depth: 1, via: noClaim, reported: true}
			}
			return reach{depth: m.reaches[i].depth + 1, via: i}
		}
	}
	for _, member := range p.Members {
		r := m.of(member)
		r.reported = r.reported || deepest.reported
		if r.depth <= deepest.depth {
			r.depth, r.via = deepest.depth, deepest.via
		}
		deepest = r
	}
	deepest.depth++
	return deepest
}
