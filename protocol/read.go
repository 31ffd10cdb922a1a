package protocol

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictyaml"
)

// named is an identifier where it was written.
type named struct {
	text string
	at   document.Place
}

// source is a document as it was written: entries in written order, repeated ones kept, so that
// validation can report them all.
type source struct {
	format      named
	id          named
	revision    uint64
	description *string

	inputs        []entry[Input]
	artifacts     []entry[Artifact]
	evidenceKinds []entry[EvidenceKind]
	claims        []entry[Claim]
	obligations   []entry[Obligation]
	actions       []entry[Action]
	outcomes      []entry[Outcome]
	invalidation  []entry[InvalidationRule]
}

// entry is one member of a section. Beside its value it keeps, with places, what validation may
// complain about.
type entry[T any] struct {
	id           named
	value        T
	detail       named   // max_age, effect, upstream or decision
	refs         []named // values of an input, kinds an action may produce, claims to invalidate
	capabilities []named // of an action
}

// reader decodes a tree. The first thing that is wrong stays in problem. Decoding goes on with zero
// values and its result is thrown away, which lets it read like the format.
type reader struct{ problem *Problem }

func (r *reader) refuse(at document.Place, format string, args ...any) {
	if r.problem == nil {
		r.problem = problemAt(at, MalformedInput, format, args...)
	}
}

// read decodes a document (2.8). It reports the first parse problem and nothing else.
func read(data []byte) (*source, *Problem) {
	tree, err := strictyaml.Parse(data, strictyaml.Options{KeepRepeatedKeys: true})
	if err != nil {
		var refused *document.Error
		errors.As(err, &refused)
		return nil, problemAt(refused.Place, MalformedInput, "%s", refused.Message)
	}
	var r reader
	d := r.source(tree)
	if r.problem != nil {
		return nil, r.problem
	}
	return d, nil
}

func (r *reader) source(tree document.Value) *source {
	d := &source{}
	r.fields(tree, "the document", "format", "protocol", "case", "artifacts", "evidence_kinds", "claims",
		"obligations", "actions", "outcomes", "invalidation")
	d.format = r.name(r.required(tree, "the document", "format"), "format")

	header := r.required(tree, "the document", "protocol")
	r.fields(header, "protocol", "id", "revision", "description")
	d.id = r.name(r.required(header, "protocol", "id"), "protocol.id")
	d.revision = r.wholeNumber(r.required(header, "protocol", "revision"), "protocol.revision")
	d.description = r.description(header)

	if c, ok := tree.Get("case"); ok {
		r.fields(c, "case", "inputs")
		d.inputs = section(r, c, "inputs", r.input)
	}
	d.artifacts = section(r, tree, "artifacts", r.artifact)
	d.evidenceKinds = section(r, tree, "evidence_kinds", r.evidenceKind)
	d.claims = section(r, tree, "claims", r.claim)
	d.obligations = section(r, tree, "obligations", r.obligation)
	d.actions = section(r, tree, "actions", r.action)
	d.outcomes = section(r, tree, "outcomes", r.outcome)
	d.invalidation = section(r, tree, "invalidation", r.invalidationRule)
	return d
}

// section decodes a map of entries. A section left out is an empty one.
func section[T any](r *reader, tree document.Value, name string, decode func(document.Value) entry[T]) []entry[T] {
	v, ok := tree.Get(name)
	if !ok {
		return nil
	}
	r.kind(v, document.Map, name)
	entries := make([]entry[T], 0, len(v.Members))
	for _, m := range v.Members {
		e := decode(m.Value)
		e.id = named{m.Name, m.Place}
		entries = append(entries, e)
	}
	return entries
}

func (r *reader) input(v document.Value) entry[Input] {
	r.fields(v, "a case input", "description", "values")
	values := r.required(v, "a case input", "values")
	r.kind(values, document.List, "values")
	if len(values.Items) == 0 {
		r.refuse(values.Place, "values must list at least one value")
	}
	e := entry[Input]{value: Input{Description: r.description(v)}}
	for _, item := range values.Items {
		e.refs = append(e.refs, r.name(item, "a value"))
		e.value.Values = append(e.value.Values, item.Text)
	}
	return e
}

func (r *reader) artifact(v document.Value) entry[Artifact] {
	r.fields(v, "an artifact", "description")
	return entry[Artifact]{value: Artifact{Description: r.description(v)}}
}

func (r *reader) evidenceKind(v document.Value) entry[EvidenceKind] {
	r.fields(v, "an evidence kind", "description", "max_age")
	e := entry[EvidenceKind]{value: EvidenceKind{Description: r.description(v)}}
	if age, ok := v.Get("max_age"); ok {
		e.detail = r.name(age, "max_age")
		e.value.MaxAge = &MaxAge{} // validation fills it in
	}
	return e
}

func (r *reader) claim(v document.Value) entry[Claim] {
	r.fields(v, "a claim", "description", "true_when")
	return entry[Claim]{value: Claim{
		Description: r.description(v),
		TrueWhen:    r.predicate(r.required(v, "a claim", "true_when")),
	}}
}

func (r *reader) obligation(v document.Value) entry[Obligation] {
	r.fields(v, "an obligation", "description", "applicable_when", "discharged_when")
	e := entry[Obligation]{value: Obligation{Description: r.description(v)}}
	if applicable, ok := v.Get("applicable_when"); ok {
		e.value.ApplicableWhen = r.predicate(applicable)
	}
	e.value.DischargedWhen = r.predicate(r.required(v, "an obligation", "discharged_when"))
	return e
}

func (r *reader) action(v document.Value) entry[Action] {
	r.fields(v, "an action", "description", "precondition", "requires", "effect", "may_produce")
	e := entry[Action]{
		capabilities: r.wrapped(v, "requires", "capability"),
		refs:         r.wrapped(v, "may_produce", "evidence"),
	}
	e.value = Action{
		Description:  r.description(v),
		Effect:       r.optionalText(v, "effect"),
		Precondition: &Predicate{Form: All},
		Requires:     texts(e.capabilities),
		MayProduce:   texts(e.refs),
	}
	if precondition, ok := v.Get("precondition"); ok {
		e.value.Precondition = r.predicate(precondition)
	}
	if effect, ok := v.Get("effect"); ok {
		e.detail = named{effect.Text, effect.Place}
	}
	return e
}

// wrapped decodes a list of maps with one member each, such as [{capability: c}].
func (r *reader) wrapped(v document.Value, list, member string) []named {
	items, ok := v.Get(list)
	if !ok {
		return nil
	}
	r.kind(items, document.List, list)
	var names []named
	for _, item := range items.Items {
		r.fields(item, "an item of "+list, member)
		names = append(names, r.name(r.required(item, "an item of "+list, member), member))
	}
	return names
}

func (r *reader) outcome(v document.Value) entry[Outcome] {
	r.fields(v, "an outcome", "description", "requires")
	e := entry[Outcome]{value: Outcome{Description: r.description(v)}}
	requires := r.required(v, "an outcome", "requires")
	if decision, ok := requires.Get("decision"); ok {
		r.fields(requires, "a requirement by decision", "decision")
		e.detail = r.name(decision, "decision")
		e.value.Decision = e.detail.text
		return e
	}
	e.value.Requires = r.predicate(requires)
	return e
}

func (r *reader) invalidationRule(v document.Value) entry[InvalidationRule] {
	r.fields(v, "an invalidation rule", "description", "upstream", "invalidates")
	e := entry[InvalidationRule]{value: InvalidationRule{Description: r.description(v)}}
	e.detail = r.name(r.required(v, "an invalidation rule", "upstream"), "upstream")
	e.value.Upstream = e.detail.text
	claims := r.required(v, "an invalidation rule", "invalidates")
	r.kind(claims, document.List, "invalidates")
	for _, item := range claims.Items {
		e.refs = append(e.refs, r.name(item, "a claim to invalidate"))
	}
	e.value.Invalidates = texts(e.refs)
	return e
}

// besideForm gives the keys of a predicate that are no form, and the form that each belongs to.
var besideForm = map[string]string{"is": "claim", "in": "input"}

// predicate decodes a map with exactly one form. The recursion is bounded by the YAML reader's depth.
func (r *reader) predicate(v document.Value) *Predicate {
	p := &Predicate{at: v.Place}
	if r.problem != nil {
		return p
	}
	r.fields(v, "a predicate", "all", "any", "not", "evidence", "claim", "is", "input", "in")
	form := ""
	for _, m := range v.Members {
		if _, companion := besideForm[m.Name]; companion {
			continue
		}
		if form != "" {
			r.refuse(m.Place, "a predicate has exactly one form; this one has %s and %s", form, m.Name)
		}
		form = m.Name
	}
	if form == "" {
		r.refuse(v.Place, "a predicate needs one of all, any, not, evidence, claim, input")
		return p
	}
	for _, m := range v.Members {
		if only, companion := besideForm[m.Name]; companion && form != only {
			r.refuse(m.Place, "%s stands only beside %s", m.Name, only)
		}
	}
	body, _ := v.Get(form)
	switch form {
	case "all", "any":
		if form == "any" {
			p.Form = Any
		}
		r.kind(body, document.List, form)
		for _, item := range body.Items {
			p.Members = append(p.Members, r.predicate(item))
		}
	case "not":
		p.Form = Not
		p.Members = []*Predicate{r.predicate(body)}
	case "evidence":
		p.Form = Evidence
		r.fields(body, "evidence", "kind", "result", "subject")
		p.Kind = r.mention(p, r.required(body, "evidence", "kind"), "kind")
		p.Result = r.optionalText(body, "result")
		if subject, ok := body.Get("subject"); ok {
			text := r.mention(p, subject, "subject")
			p.Subject = &text
		}
	case "claim":
		p.Form = OfClaim
		p.Claim, p.Is = r.mention(p, body, "claim"), True
		if is, ok := v.Get("is"); ok {
			p.Is = r.truth(is)
		}
	case "input":
		p.Form = OfInput
		p.Input = r.mention(p, body, "input")
		in := r.required(v, "a predicate on an input", "in")
		r.kind(in, document.List, "in")
		for _, item := range in.Items {
			p.In = append(p.In, r.mention(p, item, "a value"))
		}
	}
	return p
}

// mention decodes a name that p names and keeps its place in p.
func (r *reader) mention(p *Predicate, v document.Value, what string) string {
	p.names = append(p.names, v.Place)
	return r.name(v, what).text
}

// truth decodes a truth value, for which a YAML boolean and the same word as text are alike.
func (r *reader) truth(v document.Value) Truth {
	switch t := Truth(v.Text); t {
	case True, False, Unknown:
		return t
	}
	r.refuse(v.Place, "is must be true, false or unknown")
	return Unknown
}

// fields checks that v is a map with known members only, each at most once.
func (r *reader) fields(v document.Value, what string, known ...string) {
	if !r.kind(v, document.Map, what) {
		return
	}
	for _, m := range v.Members {
		if !slices.Contains(known, m.Name) {
			r.refuse(m.Place, "%s has no key %s", what, quoted(m.Name))
		}
	}
	if twice, repeated := v.RepeatedMember(); repeated {
		r.refuse(twice.Place, "%s has the key %s twice", what, quoted(twice.Name))
	}
}

func (r *reader) required(v document.Value, what, name string) document.Value {
	got, ok := v.Get(name)
	if !ok {
		r.refuse(v.Place, "%s needs %s", what, name)
	}
	return got
}

func (r *reader) kind(v document.Value, want document.Kind, what string) bool {
	if v.Kind != want {
		r.refuse(v.Place, "%s must be %s, not %s", what, want, v.Kind)
		return false
	}
	return true
}

func (r *reader) name(v document.Value, what string) named {
	r.kind(v, document.Text, what)
	return named{v.Text, v.Place}
}

func (r *reader) optionalText(v document.Value, name string) *string {
	got, ok := v.Get(name)
	if !ok {
		return nil
	}
	text := r.name(got, name).text
	return &text
}

func (r *reader) description(v document.Value) *string { return r.optionalText(v, "description") }

func (r *reader) wholeNumber(v document.Value, what string) uint64 {
	if v.Kind != document.Number || !wholeNumber(v.Text) {
		r.refuse(v.Place, "%s must be a whole number, 0 or more", what)
	}
	n, err := strconv.ParseUint(v.Text, 10, 64)
	if err != nil {
		r.refuse(v.Place, "%s must be at most %d", what, uint64(math.MaxUint64))
	}
	return n
}

func texts(names []named) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = n.text
	}
	return all
}
