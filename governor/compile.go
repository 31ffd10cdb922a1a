package governor

import (
	"maps"
	"slices"

	"github.com/loomrun/loom/protocol"
)

// compiler flattens predicates into nodes.
type compiler struct {
	*Rules
	groupOf map[groupKey]int32
}

// groupKey is what the matches of a group have in common.
type groupKey struct{ kind, subject int32 }

// compilePrograms flattens every predicate of a protocol.
func compilePrograms(r *Rules) {
	c := compiler{Rules: r, groupOf: map[groupKey]int32{}}
	c.collectGroups()
	for _, claim := range r.protocol.Claims {
		r.claimPrograms = append(r.claimPrograms, c.compile(claim.TrueWhen))
	}
	for _, o := range r.protocol.Obligations {
		r.applicablePrograms = append(r.applicablePrograms, c.compile(o.ApplicableWhen))
		r.dischargePrograms = append(r.dischargePrograms, c.compile(o.DischargedWhen))
	}
	for _, a := range r.protocol.Actions {
		r.actionPrograms = append(r.actionPrograms, c.compile(a.Precondition))
	}
	for _, o := range r.protocol.Outcomes {
		r.outcomePrograms = append(r.outcomePrograms, c.compile(o.Requires))
	}
}

// collectGroups gives every kind and subject that some predicate matches a group, and every group
// the results that are asked for, so that compiling finds their numbers settled.
func (c *compiler) collectGroups() {
	results := map[groupKey][]string{}
	c.eachMatch(func(p *protocol.Predicate) {
		key := c.groupKey(p)
		asked := results[key]
		if p.Result != nil {
			asked = append(asked, *p.Result)
		}
		results[key] = asked
	})
	c.byKind = make([]kindGroups, len(c.protocol.EvidenceKinds))
	for i := range c.byKind {
		c.byKind[i].every = none
	}
	for _, key := range slices.SortedFunc(maps.Keys(results), compareGroups) {
		g := int32(len(c.groups))
		c.groupOf[key] = g
		asked := results[key]
		slices.Sort(asked)
		c.groups = append(c.groups, group{kind: key.kind, subject: key.subject, results: slices.Compact(asked)})
		if readers := &c.byKind[key.kind]; key.subject == anySubject {
			readers.every = g
		} else {
			readers.bySubject = append(readers.bySubject, subjectGroup{key.subject, g})
		}
	}
}

// compareGroups orders by kind and puts anySubject before every artifact.
func compareGroups(a, b groupKey) int {
	if a.kind != b.kind {
		return int(a.kind - b.kind)
	}
	return int(a.subject - b.subject)
}

func (c *compiler) groupKey(match *protocol.Predicate) groupKey {
	key := groupKey{c.kinds[match.Kind], anySubject}
	if match.Subject != nil {
		key.subject = c.artifacts[*match.Subject]
	}
	return key
}

// eachMatch visits every evidence match of the protocol.
func (c *compiler) eachMatch(visit func(*protocol.Predicate)) {
	var walk func(*protocol.Predicate)
	walk = func(p *protocol.Predicate) { // bounded by protocol.MaxPredicateDepth
		if p == nil {
			return
		}
		if p.Form == protocol.Evidence {
			visit(p)
		}
		for _, m := range p.Members {
			walk(m)
		}
	}
	for _, claim := range c.protocol.Claims {
		walk(claim.TrueWhen)
	}
	for _, o := range c.protocol.Obligations {
		walk(o.ApplicableWhen)
		walk(o.DischargedWhen)
	}
	for _, a := range c.protocol.Actions {
		walk(a.Precondition)
	}
	for _, o := range c.protocol.Outcomes {
		walk(o.Requires)
	}
}

func (c *compiler) compile(p *protocol.Predicate) program {
	from := int32(len(c.nodes))
	if p != nil {
		c.flatten(p)
	}
	return program{from, int32(len(c.nodes))}
}

// flatten appends p behind its members and gives its number. The recursion is bounded by
// protocol.MaxPredicateDepth.
func (c *compiler) flatten(p *protocol.Predicate) int32 {
	n := node{form: p.Form, is: p.Is}
	members := make([]int32, len(p.Members))
	for i, m := range p.Members {
		members[i] = c.flatten(m)
	}
	n.from = int32(len(c.kids))
	c.kids = append(c.kids, members...)
	n.to = int32(len(c.kids))
	switch p.Form {
	case protocol.OfClaim:
		n.of = c.claims[p.Claim]
	case protocol.OfInput:
		n.of, n.detail = c.inputs[p.Input], int32(len(c.listed))
		c.listed = append(c.listed, p.In)
	case protocol.Evidence:
		n.of, n.detail = c.groupOf[c.groupKey(p)], anyResult
		if p.Result != nil {
			at, _ := slices.BinarySearch(c.groups[n.of].results, *p.Result)
			n.detail = int32(at)
		}
	}
	c.nodes = append(c.nodes, n)
	return int32(len(c.nodes) - 1)
}
