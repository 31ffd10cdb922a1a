package governor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// ReasonKind says what a Reason is about.
type ReasonKind uint8

// The kinds of reasons, in the order in which they are given.
const (
	ClaimReason       ReasonKind = iota // claim Name has Value
	EvidenceReason                      // a record of kind Name about Subject is Present or not
	InputReason                         // case input Name has Value
	RequirementReason                   // Value is "unsatisfiable": no evidence could help
	CapabilityReason                    // capability Name was decided Value: "none" or "denied"
	DecisionReason                      // no current decision Name is there
)

// Reason is one cause of a status that is not the wanted one (4.7).
type Reason struct {
	Kind    ReasonKind
	Name    string
	Value   string
	Subject *string // EvidenceReason; nil where the match names none
	Present bool    // EvidenceReason: an applying record is read, whatever its result

	group int32 // EvidenceReason: what the match reads
}

// String gives the reason as compact JSON, such as {"claim":"cooked","value":"unknown"}.
func (r Reason) String() string { return canonjson.Compact(r.document()) }

func (r Reason) document() document.Value {
	name, value := document.TextOf(r.Name), document.M("value", document.TextOf(r.Value))
	switch r.Kind {
	case ClaimReason:
		return document.MapOf(document.M("claim", name), value)
	case InputReason:
		return document.MapOf(document.M("input", name), value)
	case RequirementReason:
		return document.MapOf(document.M("requirement", document.TextOf(r.Value)))
	case CapabilityReason:
		return document.MapOf(document.M("capability", name), document.M("decision", document.TextOf(r.Value)))
	case DecisionReason:
		return document.MapOf(document.M("decision", name), document.M("present", document.BoolOf(false)))
	default:
		v := document.MapOf(document.M("evidence", name), document.M("present", document.BoolOf(r.Present)))
		if r.Subject != nil {
			v.Members = append(v.Members, document.M("subject", document.TextOf(*r.Subject)))
		}
		return v
	}
}

// wanted is a node on the way down and the value it should have had.
type wanted struct {
	node  int32
	value truth
}

// reasons collects the leaves that decide a program that is not true (4.7). A conjunction that fails
// is decided by its opposite members where it has any, else by all that are not as wanted; of a
// disjunction that fails, every member decides. Whether a node is one or the other turns with the
// value that is wanted of it.
func (e *evaluation) reasons(p program) []Reason {
	var reasons []Reason
	way := []wanted{{p.root(), isTrue}}
	for len(way) > 0 {
		at := way[len(way)-1]
		way = way[:len(way)-1]
		n := &e.nodes[at.node]
		members := e.kids[n.from:n.to]
		switch {
		case n.form == protocol.Not:
			way = append(way, wanted{members[0], -at.value})
		case n.form != protocol.All && n.form != protocol.Any:
			reasons = append(reasons, e.leafReason(n))
		case (n.form == protocol.All) == (at.value == isTrue):
			way = append(way, e.deciding(members, at.value)...)
		default:
			for _, m := range members {
				way = append(way, wanted{m, at.value})
			}
		}
	}
	if len(reasons) == 0 {
		return []Reason{{Kind: RequirementReason, Value: "unsatisfiable"}}
	}
	slices.SortFunc(reasons, compareReasons)
	return slices.CompactFunc(reasons, func(a, b Reason) bool { return compareReasons(a, b) == 0 })
}

// deciding gives the members that make a conjunction fail.
func (e *evaluation) deciding(members []int32, value truth) []wanted {
	var opposite, undecided []wanted
	for _, m := range members {
		switch e.value[m] {
		case -value:
			opposite = append(opposite, wanted{m, value})
		case isUnknown:
			undecided = append(undecided, wanted{m, value})
		}
	}
	if opposite != nil {
		return opposite
	}
	return undecided
}

func (e *evaluation) leafReason(n *node) Reason {
	switch n.form {
	case protocol.OfClaim:
		return Reason{Kind: ClaimReason, Name: e.protocol.Claims[n.of].ID, Value: string(e.own[n.of].word())}
	case protocol.OfInput:
		return Reason{Kind: InputReason, Name: e.protocol.Inputs[n.of].ID, Value: e.request.Snapshot.Inputs[n.of].Value}
	default:
		g := &e.groups[n.of]
		return Reason{
			Kind: EvidenceReason, Name: e.protocol.EvidenceKinds[g.kind].ID, Subject: e.subjectOf(g),
			Present: e.tally.applied[n.of] > 0, group: n.of,
		}
	}
}

// subjectOf names the artifact a group is about; nil for every artifact.
func (e *evaluation) subjectOf(g *group) *string {
	if g.subject == anySubject {
		return nil
	}
	return &e.protocol.Artifacts[g.subject].ID
}

// compareReasons orders reasons as they are given. Groups stand by kind and then by subject, a match
// without one first.
func compareReasons(a, b Reason) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), cmp.Compare(a.group, b.group))
}
