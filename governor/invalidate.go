package governor

import "slices"

// Invalidation (4.5): a record that was made against an artifact which has moved since is taken away
// from the claims that a rule names and from those built on them, throughout. So what is taken away
// from a claim follows from a set of artifacts: those that have moved and that take records away from
// it. A claim has at least the set of each claim it tests.

// assignSets finds the set of each claim.
func (e *evaluation) assignSets() {
	e.setOf = make([]int32, len(e.claimPrograms))
	known := map[string]int32{}
	for i, watched := range e.claimUpstreams {
		if !watched.meets(e.moved) {
			continue
		}
		shared := watched.both(e.moved)
		key := shared.key()
		set, ok := known[key]
		if !ok {
			set = int32(len(e.sets))
			known[key] = set
			e.sets = append(e.sets, shared)
		}
		e.setOf[i] = set
	}
}

// evaluateInvalidated gives the claims with a set their values: set by set, it takes the records out
// of the tally, evaluates the claims together with all they test, and puts the records back.
func (e *evaluation) evaluateInvalidated() {
	records := e.recordsAgainst()
	claims := make([][]int32, len(e.sets)) // by set: the claims that have it
	for i, set := range e.setOf {
		claims[set] = append(claims[set], int32(i))
	}
	e.seen = make([][]truth, len(e.claimPrograms))
	order := e.positions()
	under := make([]truth, len(e.claimPrograms)) // the values under a set; those of another are never read
	visited := make([]int32, len(e.claimPrograms))
	takenFor := make([]int32, len(e.bound))
	for s := int32(1); s < int32(len(e.sets)); s++ {
		var taken []int32
		for _, u := range e.sets[s].members() {
			for _, record := range records[u] {
				if takenFor[record] != s {
					takenFor[record] = s
					taken = append(taken, record)
				}
			}
		}
		for _, record := range taken {
			e.add(&e.bound[record], &e.request.Evidence[record], -1)
		}
		for _, i := range e.restingOn(claims[s], visited, s, order) {
			under[i] = e.run(e.claimPrograms[i], under)
		}
		for _, i := range claims[s] {
			e.own[i] = under[i]
			for _, t := range e.claimTests[i] {
				e.seen[i] = append(e.seen[i], under[t])
			}
		}
		for _, record := range taken {
			e.add(&e.bound[record], &e.request.Evidence[record], 1)
		}
	}
}

// recordsAgainst lists by watched artifact the records made against it at another revision.
func (e *evaluation) recordsAgainst() [][]int32 {
	records := make([][]int32, len(e.upstreams))
	for i := range e.bound {
		for _, u := range e.bound[i].against.members() {
			records[u] = append(records[u], int32(i))
		}
	}
	return records
}

// positions gives the place of each claim in the order of evaluation.
func (r *Rules) positions() []int32 {
	at := make([]int32, len(r.claimOrder))
	for position, i := range r.claimOrder {
		at[i] = int32(position)
	}
	return at
}

// restingOn gives claims and all they test, at any depth, in the order of evaluation. It marks them
// in visited.
func (r *Rules) restingOn(claims, visited []int32, mark int32, order []int32) []int32 {
	var all []int32
	visit := func(claims []int32) {
		for _, i := range claims {
			if visited[i] != mark {
				visited[i] = mark
				all = append(all, i)
			}
		}
	}
	visit(claims)
	for next := 0; next < len(all); next++ {
		visit(r.claimTests[all[next]])
	}
	slices.SortFunc(all, func(a, b int32) int { return int(order[a] - order[b]) })
	return all
}

// setOfClaim gives the number of a claim's set.
func (e *evaluation) setOfClaim(claim int32) int32 {
	if e.setOf == nil {
		return 0
	}
	return e.setOf[claim]
}

// testedValue gives the value that the n-th claim which a claim tests has for it.
func (e *evaluation) testedValue(claim int32, n int) truth {
	if e.setOfClaim(claim) == 0 {
		return e.own[e.claimTests[claim][n]]
	}
	return e.seen[claim][n]
}

// excludedFrom tells why a record does not count under a set, or that it applies.
func (e *evaluation) excludedFrom(record, set int32) reason {
	b := &e.bound[record]
	if b.against.meets(e.sets[set]) { // which is nil for a record that is excluded everywhere
		return invalidated
	}
	return b.excluded
}
