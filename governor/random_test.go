package governor_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// drawn makes random protocols and requests that are valid but for a fault here and there. Small pools
// of names make things meet.
type drawn struct{ *rapid.T }

// seldom is true once in n times or less. It shrinks to false.
func (t drawn) seldom(n int) bool { return rapid.IntRange(0, n-1).Draw(t.T, "seldom") == n-1 }

func (t drawn) oneOf(names []string) string { return rapid.SampledFrom(names).Draw(t.T, "name") }

// some gives a part of the names, in any order.
func (t drawn) some(names []string) []string {
	shuffled := rapid.Permutation(names).Draw(t.T, "shuffled")
	return shuffled[:rapid.IntRange(0, len(shuffled)).Draw(t.T, "how many")]
}

// numbered gives between least and most names.
func (t drawn) numbered(prefix string, least, most int) []string {
	var names []string
	for i := range rapid.IntRange(least, most).Draw(t.T, prefix) {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

var (
	results      = []string{"good", "bad", ""}
	revisions    = []string{"v1", "v1", "v2"}
	instants     = []string{"2026-02-28T23:59:59Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:01Z", "2026-03-01T01:00:00Z", "2026-03-02T12:00:01Z"}
	ages         = []string{"0s", "1s", "2s", "60m", "1h", "1d", "5124095576030431h"}
	capabilities = []string{"cap1", "cap2", "cap3"}
	decisions    = []string{"yes", "no"}
	principals   = []string{"ann", "bob", "cid"}
)

// pools are the names that a protocol declares and that predicates draw from.
type pools struct {
	artifacts, kinds, inputs []string
	claims                   []string // that a predicate may test
}

// protocol gives a document. JSON is YAML.
func (t drawn) protocol() *protocol.Protocol {
	pool := pools{artifacts: t.numbered("art", 1, 3), kinds: t.numbered("kind", 1, 3), inputs: t.numbered("in", 0, 2)}
	doc := obj("format", "protocol/1", "protocol", obj("id", "p", "revision", 1))
	add := func(name string, section document.Value) {
		doc.Members = append(doc.Members, document.M(name, section))
	}
	each := func(names []string, entry func(id string) document.Value) document.Value {
		return section(names, func(id string) (string, document.Value) { return id, entry(id) })
	}
	add("artifacts", each(pool.artifacts, func(string) document.Value { return obj() }))
	add("evidence_kinds", each(pool.kinds, func(string) document.Value {
		if t.seldom(3) {
			return obj("max_age", t.oneOf(ages))
		}
		return obj()
	}))
	if len(pool.inputs) > 0 {
		add("case", obj("inputs", each(pool.inputs, func(string) document.Value { return obj("values", document.TextsOf([]string{"x", "y", "z"})) })))
	}
	claims := obj()
	var supported []string // claims that rest on evidence, which alone may be invalidated
	for _, id := range rapid.Permutation(t.numbered("claim", 0, 6)).Draw(t.T, "claims") {
		rule := t.predicate(pool, 3, true)
		claims.Members = append(claims.Members, document.M(id, obj("true_when", rule)))
		pool.claims = append(pool.claims, id)
		if restsOnEvidence(rule, supported) {
			supported = append(supported, id)
		}
	}
	add("claims", claims)
	add("obligations", each(t.numbered("owe", 0, 3), func(string) document.Value {
		o := obj("discharged_when", t.predicate(pool, 2, false))
		if t.seldom(3) {
			o.Members = append(o.Members, document.M("applicable_when", t.predicate(pool, 2, true)))
		}
		return o
	}))
	add("actions", each(t.numbered("act", 0, 3), func(string) document.Value {
		requires := document.ListOf()
		for _, c := range t.some(capabilities) {
			requires.Items = append(requires.Items, obj("capability", c))
		}
		return obj("precondition", t.predicate(pool, 3, true), "requires", requires)
	}))
	add("outcomes", each(t.numbered("out", 0, 3), func(string) document.Value {
		if t.seldom(3) {
			return obj("requires", obj("decision", t.oneOf(decisions)))
		}
		return obj("requires", t.predicate(pool, 3, true))
	}))
	if len(supported) > 0 {
		add("invalidation", each(t.numbered("rule", 0, 3), func(string) document.Value {
			named := append(t.some(pool.claims), t.oneOf(supported))
			return obj("upstream", t.oneOf(pool.artifacts), "invalidates", document.TextsOf(named))
		}))
	}
	p, err := protocol.Compile([]byte(canonjson.Compact(doc)))
	if err != nil {
		t.Fatalf("the generator gives a protocol that is not valid: %v\n%s", err, canonical(doc))
	}
	return p
}

func (t drawn) predicate(pool pools, depth int, evidence bool) document.Value {
	forms := []string{"all", "any", "claim", "not", "input", "evidence", "claim", "evidence"}
	switch form := t.oneOf(forms); {
	case (form == "all" || form == "any") && depth > 0:
		members := document.ListOf()
		for range rapid.IntRange(0, 3).Draw(t.T, "members") {
			members.Items = append(members.Items, t.predicate(pool, depth-1, evidence))
		}
		return obj(form, members)
	case form == "not" && depth > 0:
		return obj(form, t.predicate(pool, depth-1, evidence))
	case form == "input" && len(pool.inputs) > 0:
		return obj("input", t.oneOf(pool.inputs), "in", document.TextsOf(t.some([]string{"x", "y", "z"})))
	case form == "evidence" && evidence:
		match := obj("kind", t.oneOf(pool.kinds))
		if result := t.oneOf(results); result != "" {
			match.Members = append(match.Members, document.M("result", val(result)))
		}
		if t.seldom(2) {
			match.Members = append(match.Members, document.M("subject", val(t.oneOf(pool.artifacts))))
		}
		return obj(form, match)
	case len(pool.claims) > 0:
		return obj("claim", t.oneOf(pool.claims), "is", t.oneOf([]string{"true", "false", "unknown"}))
	}
	return obj("all", document.ListOf())
}

func restsOnEvidence(rule document.Value, supported []string) bool {
	if _, match := rule.Get("evidence"); match || slices.Contains(supported, text(rule, "claim")) {
		return true
	}
	members := append(slices.Clone(optional(rule, "all").Items), optional(rule, "any").Items...)
	members = append(members, optional(rule, "not"))
	return slices.ContainsFunc(members, func(m document.Value) bool { return m.Kind == document.Map && restsOnEvidence(m, supported) })
}

// documents gives a request for p. About one in three has a fault.
func (t drawn) documents(p *protocol.Protocol) governor.Documents {
	ids := func(n int, id func(i int) string) (all []string) {
		for i := range n {
			all = append(all, id(i))
		}
		return all
	}
	artifacts := ids(len(p.Artifacts), func(i int) string { return p.Artifacts[i].ID })
	kinds := ids(len(p.EvidenceKinds), func(i int) string { return p.EvidenceKinds[i].ID })
	outcomes := append(ids(len(p.Outcomes), func(i int) string { return p.Outcomes[i].ID }), t.rare("nowhere", 40)...)

	d := governor.Documents{Snapshot: t.snapshot(p, artifacts, outcomes)}
	names := rapid.Permutation(t.numbered("e", 0, 9)).Draw(t.T, "records")
	for _, id := range append(names, t.rare("e0", 80)...) {
		d.Evidence = append(d.Evidence, t.record(id, append(kinds, t.rare("gossip", 60)...), append(artifacts, t.rare("moon", 60)...)))
	}
	if t.seldom(2) {
		d.Authority = document.ListOf()
		for _, c := range append(append(t.some(append(capabilities, "unasked")), t.rare("cap1", 60)...), t.rare("cap 9", 60)...) {
			d.Authority.Items = append(d.Authority.Items, obj("capability", c, "decision", t.oneOf(append([]string{"granted", "denied"}, t.rare("perhaps", 60)...))))
		}
	}
	if len(outcomes) > 0 && t.seldom(2) {
		d.Decisions = t.decisions(p, outcomes)
	}
	if t.seldom(2) {
		d.At = val(t.oneOf(append(instants, t.rare("2026-02-29T00:00:00Z", 30)...)))
	}
	return d
}

// rare gives a name once in n times or less.
func (t drawn) rare(name string, n int) []string {
	if t.seldom(n) {
		return []string{name}
	}
	return nil
}

func (t drawn) snapshot(p *protocol.Protocol, artifacts, outcomes []string) document.Value {
	present := document.MapOf()
	listed := append(artifacts[t.count(60):], t.rare("moon", 60)...)
	for _, a := range rapid.Permutation(listed).Draw(t.T, "listed") {
		present.Members = append(present.Members, document.M(a, obj("revision", t.oneOf(revisions))))
	}
	s := obj("format", t.oneOf(append([]string{governor.CaseFormat}, t.rare("canon-case/2", 60)...)),
		"id", t.oneOf(append([]string{"CASE-1"}, t.rare("CASE 1", 60)...)),
		"protocol", t.oneOf(append([]string{"p"}, t.rare("q", 60)...)), "artifacts", present)
	if t.seldom(2) {
		s.Members = append(s.Members, document.M("revision", val(t.oneOf(revisions))))
	}
	if len(outcomes) > 0 && t.seldom(6) {
		s.Members = append(s.Members, document.M("termination", val(t.oneOf(outcomes))))
	}
	inputs := document.MapOf()
	for _, in := range p.Inputs {
		inputs.Members = append(inputs.Members, document.M(in.ID, val(t.oneOf(append([]string{"x", "y", "z"}, t.rare("w", 60)...)))))
	}
	for _, extra := range t.rare("wind", 60) {
		inputs.Members = append(inputs.Members, document.M(extra, val("x")))
	}
	if inputs.Members = inputs.Members[min(t.count(60), len(inputs.Members)):]; len(inputs.Members) > 0 {
		s.Members = append(s.Members, document.M("inputs", inputs))
	}
	return s
}

// count is 1 once in n times or less, else 0.
func (t drawn) count(n int) int { return len(t.rare("", n)) }

func (t drawn) record(id string, kinds, subjects []string) document.Value {
	r := obj("format", t.oneOf(append([]string{governor.EvidenceFormat}, t.rare("canon-evidence/0", 90)...)),
		"id", id, "kind", t.oneOf(kinds), "subject", t.oneOf(subjects),
		"subject_revision", t.oneOf(append([]string{"v1", "v1", "v2"}, t.rare("", 90)...)))
	if result := t.oneOf(results); result != "" {
		r.Members = append(r.Members, document.M("result", val(result)))
	}
	if t.seldom(2) {
		r.Members = append(r.Members, document.M("observed_at", val(t.oneOf(append(instants, t.rare("today", 90)...)))))
	}
	if upstream := t.some(subjects); len(upstream) > 0 {
		r.Members = append(r.Members, document.M("upstream_revisions", section(upstream, func(a string) (string, document.Value) {
			return a, val(t.oneOf(revisions))
		})))
	}
	return r
}

// decisions gives decisions that mostly fit their outcome. Each differs from the others.
func (t drawn) decisions(p *protocol.Protocol, outcomes []string) document.Value {
	list := document.ListOf()
	var written []string
	for range rapid.IntRange(0, 4).Draw(t.T, "decisions") {
		outcome := t.oneOf(outcomes)
		i := slices.IndexFunc(p.Outcomes, func(o protocol.Outcome) bool { return o.ID == outcome })
		decision := t.oneOf(decisions)
		if i >= 0 && !t.seldom(20) {
			if !p.Outcomes[i].DecisionOutcome() {
				continue
			}
			decision = p.Outcomes[i].Decision
		}
		d := obj("decision", decision, "outcome", outcome, "principal", t.oneOf(append(principals, t.rare("no body", 60)...)), "case_revision", t.oneOf(revisions))
		if !slices.Contains(written, canonical(d)) || t.seldom(10) {
			list.Items = append(list.Items, d)
			written = append(written, canonical(d))
		}
	}
	return list
}
