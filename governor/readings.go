package governor

import (
	"slices"
	"strings"
)

// readings is which records matches read: of all records of an evaluation or of some.
type readings struct {
	*evaluation
	reach   reach
	order   []int32   // the records, by id
	byGroup [][]int32 // the ranks in order of the records that a match of the group would read
	bySet   [][]int32 // the same of all matches of a set of the reach; see ofClaim
	taken   []int32   // by rank: the set it was last put into
}

// readingsOf sorts the given records, of which it keeps the slice.
func (e *evaluation) readingsOf(records []int32) readings {
	r := readings{evaluation: e, reach: e.Rules.reach(), order: records, byGroup: make([][]int32, len(e.groups)), taken: make([]int32, len(records))}
	slices.SortFunc(r.order, func(a, b int32) int { return strings.Compare(e.request.Evidence[a].ID, e.request.Evidence[b].ID) })
	for rank, record := range r.order {
		for _, g := range [2]int32{e.bound[record].every, e.bound[record].about} {
			if g != none {
				r.byGroup[g] = append(r.byGroup[g], int32(rank))
			}
		}
	}
	r.bySet = make([][]int32, len(r.reach.sets))
	return r
}

// ofClaim gives the ranks of the records that a match reachable from a claim would read. Claims of
// one reach share the slice.
func (r *readings) ofClaim(claim int32) []int32 {
	set := r.reach.of[claim]
	if r.bySet[set] != nil {
		return r.bySet[set]
	}
	ranks := []int32{}
	for _, g := range r.reach.sets[set] {
		for _, rank := range r.byGroup[g] {
			if r.taken[rank] != set { // sets[0] has no groups
				r.taken[rank] = set
				ranks = append(ranks, rank)
			}
		}
	}
	slices.Sort(ranks)
	r.bySet[set] = ranks
	return ranks
}

// view tells apart claims that may see other records or see them otherwise.
type view struct{ reach, set int32 }

func (r *readings) viewOf(claim int32) view { return view{r.reach.of[claim], r.setOfClaim(claim)} }

// excludedByClaim gives a look-up of the records that were taken away from a claim (4.5). Where no
// record was excluded anywhere there is nothing to prepare.
func (e *evaluation) excludedByClaim() func(claim int32) []ExcludedRecord {
	var suspects []int32
	for i := range e.bound {
		if e.bound[i].excluded != applies || e.bound[i].against != nil {
			suspects = append(suspects, int32(i))
		}
	}
	if suspects == nil {
		return func(int32) []ExcludedRecord { return nil }
	}
	read := e.readingsOf(suspects)
	known := map[view][]ExcludedRecord{}
	return func(claim int32) []ExcludedRecord {
		view := read.viewOf(claim)
		excluded, ok := known[view]
		if ok {
			return excluded
		}
		for _, rank := range read.ofClaim(claim) {
			record := read.order[rank]
			if why := e.excludedFrom(record, view.set); why != applies {
				excluded = append(excluded, ExcludedRecord{e.request.Evidence[record].ID, why.word()})
			}
		}
		known[view] = excluded
		return excluded
	}
}
