package governor

import (
	"slices"

	"github.com/loomrun/loom/protocol"
)

// reach says which evidence matches each claim rests on: its own and those of all claims it tests, at
// any depth. Claims that rest on the same share a set, so that a long chain costs no more than its
// links.
type reach struct {
	sets [][]int32 // of groups, sorted; sets[0] is empty
	of   []int32   // by claim: its set
}

func (r *Rules) findReach() reach {
	x := reach{sets: [][]int32{nil}, of: make([]int32, len(r.claimPrograms))}
	// What was last added for which claim, to add everything once.
	const nobody = none
	groupAddedFor := slices.Repeat([]int32{nobody}, len(r.groups))
	setAddedFor := []int32{nobody}
	for _, claim := range r.claimOrder {
		var merged []int32
		add := func(g int32) {
			if groupAddedFor[g] != claim {
				groupAddedFor[g] = claim
				merged = append(merged, g)
			}
		}
		p := r.claimPrograms[claim]
		for _, n := range r.nodes[p.from:p.to] {
			if n.form == protocol.Evidence {
				add(n.of)
			}
		}
		largest := int32(0)
		for _, t := range r.claimTests[claim] {
			set := x.of[t]
			if setAddedFor[set] == claim {
				continue
			}
			setAddedFor[set] = claim
			for _, g := range x.sets[set] {
				add(g)
			}
			if len(x.sets[set]) > len(x.sets[largest]) {
				largest = set
			}
		}
		if len(merged) == len(x.sets[largest]) {
			x.of[claim] = largest
			continue
		}
		slices.Sort(merged)
		x.of[claim] = int32(len(x.sets))
		x.sets = append(x.sets, merged)
		setAddedFor = append(setAddedFor, nobody)
	}
	return x
}
