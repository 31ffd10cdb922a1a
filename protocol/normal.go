package protocol

import (
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// NormalFormat names the normal form.
const NormalFormat = "canon-ir/1"

// normalize puts a valid document in normal order.
func (d *source) normalize() *Protocol {
	p := &Protocol{ID: d.id.text, Revision: d.revision, Description: d.description}
	p.Inputs = sorted(d.inputs, func(id string, in *Input) { in.ID, in.Values = id, sortedSet(in.Values) })
	p.Artifacts = sorted(d.artifacts, func(id string, a *Artifact) { a.ID = id })
	p.EvidenceKinds = sorted(d.evidenceKinds, func(id string, k *EvidenceKind) { k.ID = id })
	p.Claims = sorted(d.claims, func(id string, c *Claim) { c.ID, c.TrueWhen = id, normalizePredicate(c.TrueWhen) })
	p.Obligations = sorted(d.obligations, func(id string, o *Obligation) {
		o.ID, o.DischargedWhen = id, normalizePredicate(o.DischargedWhen)
		if o.ApplicableWhen != nil {
			o.ApplicableWhen = normalizePredicate(o.ApplicableWhen)
		}
	})
	p.Actions = sorted(d.actions, func(id string, a *Action) {
		a.ID, a.Precondition = id, normalizePredicate(a.Precondition)
		a.Requires, a.MayProduce = sortedSet(a.Requires), sortedSet(a.MayProduce)
	})
	p.Outcomes = sorted(d.outcomes, func(id string, o *Outcome) {
		o.ID = id
		if o.Requires != nil {
			o.Requires = normalizePredicate(o.Requires)
		}
	})
	p.Invalidation = sorted(d.invalidation, func(id string, r *InvalidationRule) { r.ID, r.Invalidates = id, sortedSet(r.Invalidates) })
	return p
}

// sorted gives the values of a section by id, each finished by complete.
func sorted[T any](entries []entry[T], complete func(id string, value *T)) []T {
	slices.SortFunc(entries, func(a, b entry[T]) int { return strings.Compare(a.id.text, b.id.text) })
	values := make([]T, len(entries))
	for i, e := range entries {
		values[i] = e.value
		complete(e.id.text, &values[i])
	}
	return values
}

// NormalForm gives the normal form canon-ir/1 in canonical JSON (2.10, 2.11). Documents that differ
// only in order, style, comments or written-out defaults have the same bytes. The indentation makes
// it as large as the document times the depth of its predicates: for a document of strangers use
// NormalFormWithin.
func (p *Protocol) NormalForm() []byte {
	return canonjson.Append(nil, normalForm{descriptions: true}.document(p))
}

// NormalFormWithin is NormalForm where it has at most limit bytes, else canonjson's ErrTooLarge, early.
func (p *Protocol) NormalFormWithin(limit int) ([]byte, error) {
	return canonjson.AppendLimited(nil, normalForm{descriptions: true}.document(p), limit)
}

// SameRules tells whether two protocols govern alike: their normal forms are equal once the header
// and every description are left out (2.4).
func (p *Protocol) SameRules(q *Protocol) bool {
	bare := func(p *Protocol) string {
		headless := *p
		headless.ID, headless.Revision = "", 0
		return canonjson.Compact(normalForm{}.document(&headless))
	}
	return bare(p) == bare(q)
}

// normalForm builds the tree of a normal form.
type normalForm struct{ descriptions bool }

func (n normalForm) document(p *Protocol) document.Value {
	members := []document.Member{
		document.M("format", document.TextOf(NormalFormat)),
		document.M("protocol", document.MapOf(
			n.description(p.Description),
			document.M("id", document.TextOf(p.ID)),
			document.M("revision", document.UintOf(p.Revision)),
		)),
		document.M("artifacts", n.section(len(p.Artifacts), func(i int) (string, []document.Member) {
			a := p.Artifacts[i]
			return a.ID, []document.Member{n.description(a.Description)}
		})),
		document.M("evidence_kinds", n.section(len(p.EvidenceKinds), func(i int) (string, []document.Member) {
			k := p.EvidenceKinds[i]
			members := []document.Member{n.description(k.Description)}
			if k.MaxAge != nil {
				members = append(members, document.M("max_age", document.TextOf(k.MaxAge.Text)))
			}
			return k.ID, members
		})),
		document.M("claims", n.section(len(p.Claims), func(i int) (string, []document.Member) {
			c := p.Claims[i]
			return c.ID, []document.Member{n.description(c.Description), document.M("true_when", predicate(c.TrueWhen))}
		})),
		document.M("obligations", n.section(len(p.Obligations), func(i int) (string, []document.Member) {
			o := p.Obligations[i]
			members := []document.Member{n.description(o.Description), document.M("discharged_when", predicate(o.DischargedWhen))}
			if o.ApplicableWhen != nil {
				members = append(members, document.M("applicable_when", predicate(o.ApplicableWhen)))
			}
			return o.ID, members
		})),
		document.M("actions", n.section(len(p.Actions), func(i int) (string, []document.Member) {
			a := p.Actions[i]
			return a.ID, []document.Member{
				n.description(a.Description),
				document.M("effect", optionalText(a.Effect)),
				document.M("may_produce", wrapped("evidence", a.MayProduce)),
				document.M("precondition", predicate(a.Precondition)),
				document.M("requires", wrapped("capability", a.Requires)),
			}
		})),
		document.M("outcomes", n.section(len(p.Outcomes), func(i int) (string, []document.Member) {
			o := p.Outcomes[i]
			requires := document.MapOf(document.M("decision", document.TextOf(o.Decision)))
			if !o.DecisionOutcome() {
				requires = predicate(o.Requires)
			}
			return o.ID, []document.Member{n.description(o.Description), document.M("requires", requires)}
		})),
	}
	if len(p.Invalidation) > 0 {
		members = append(members, document.M("invalidation", n.section(len(p.Invalidation), func(i int) (string, []document.Member) {
			r := p.Invalidation[i]
			return r.ID, []document.Member{
				n.description(r.Description),
				document.M("invalidates", document.TextsOf(r.Invalidates)),
				document.M("upstream", document.TextOf(r.Upstream)),
			}
		})))
	}
	if len(p.Inputs) > 0 {
		inputs := n.section(len(p.Inputs), func(i int) (string, []document.Member) {
			in := p.Inputs[i]
			return in.ID, []document.Member{n.description(in.Description), document.M("values", document.TextsOf(in.Values))}
		})
		members = append(members, document.M("case", document.MapOf(document.M("inputs", inputs))))
	}
	return document.MapOf(members...)
}

func (n normalForm) section(count int, entry func(int) (string, []document.Member)) document.Value {
	section := document.MapOf()
	for i := range count {
		id, members := entry(i)
		section.Members = append(section.Members, document.M(id, document.MapOf(members...)))
	}
	return section
}

func (n normalForm) description(text *string) document.Member {
	if !n.descriptions {
		text = nil
	}
	return document.M("description", optionalText(text))
}

func optionalText(text *string) document.Value {
	if text == nil {
		return document.Value{}
	}
	return document.TextOf(*text)
}

func wrapped(member string, names []string) document.Value {
	list := document.ListOf()
	for _, name := range names {
		list.Items = append(list.Items, document.MapOf(document.M(member, document.TextOf(name))))
	}
	return list
}

// predicate builds the tree of a predicate. The recursion is bounded by MaxPredicateDepth.
func predicate(p *Predicate) document.Value {
	members := func() document.Value {
		list := document.ListOf()
		for _, m := range p.Members {
			list.Items = append(list.Items, predicate(m))
		}
		return list
	}
	var name string
	var body document.Value
	switch p.Form {
	case All:
		name, body = "all", members()
	case Any:
		name, body = "any", members()
	case Not:
		name, body = "not", predicate(p.Members[0])
	case OfClaim:
		name, body = "claim", document.MapOf(document.M("id", document.TextOf(p.Claim)), document.M("is", document.TextOf(string(p.Is))))
	case OfInput:
		name, body = "input", document.MapOf(document.M("id", document.TextOf(p.Input)), document.M("in", document.TextsOf(p.In)))
	case Evidence:
		body = document.MapOf(document.M("kind", document.TextOf(p.Kind)), document.M("result", optionalText(p.Result)))
		if p.Subject != nil {
			body.Members = append(body.Members, document.M("subject", document.TextOf(*p.Subject)))
		}
		name = "evidence"
	}
	return document.MapOf(document.M(name, body))
}
