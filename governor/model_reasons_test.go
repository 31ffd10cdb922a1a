package governor_test

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// reasons gives the leaves that keep a predicate from being true, as 4.7 and D25 write them: claims,
// matches, inputs, each by what it names and once. No identifier holds a U+0000.
func (m model) reasons(p *protocol.Predicate) []document.Value {
	reasons := map[string]document.Value{}
	for _, leaf := range m.deciding(p, protocol.True) {
		switch leaf.Form {
		case protocol.OfClaim:
			reasons["1"+leaf.Claim] = obj("claim", leaf.Claim, "value", string(m.outside().value(leaf.Claim)))
		case protocol.OfInput:
			reasons["3"+leaf.Input] = obj("input", leaf.Input, "value", text(m.Snapshot, "inputs", leaf.Input))
		case protocol.Evidence:
			present := slices.ContainsFunc(m.Evidence, func(r document.Value) bool { return reads(leaf, r) && m.outside().applies(r) })
			reason, subject := obj("evidence", leaf.Kind, "present", present), ""
			if leaf.Subject != nil {
				subject, reason = *leaf.Subject, obj("evidence", leaf.Kind, "present", present, "subject", *leaf.Subject)
			}
			reasons["2"+leaf.Kind+"\x00"+subject] = reason
		}
	}
	if len(reasons) == 0 {
		return []document.Value{obj("requirement", "unsatisfiable")}
	}
	return byKey(reasons)
}

// deciding is the walk with polarity of 4.7.
func (m model) deciding(p *protocol.Predicate, wanted protocol.Truth) (collected []*protocol.Predicate) {
	is := func(value protocol.Truth) func(*protocol.Predicate) bool {
		return func(q *protocol.Predicate) bool { return m.eval(q, m.outside()) == value }
	}
	follow := p.Members
	switch {
	case p.Form == protocol.Not:
		return m.deciding(p.Members[0], swapped(wanted))
	case p.Form != protocol.All && p.Form != protocol.Any:
		return matching([]*protocol.Predicate{p}, func(q *protocol.Predicate) bool { return !is(wanted)(q) })
	case (p.Form == protocol.All) == (wanted == protocol.True): // a conjunction
		if follow = matching(p.Members, is(swapped(wanted))); len(follow) == 0 {
			follow = matching(p.Members, is(protocol.Unknown))
		}
	}
	for _, q := range follow {
		collected = append(collected, m.deciding(q, wanted)...)
	}
	return collected
}
