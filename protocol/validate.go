package protocol

import (
	"fmt"
	"strings"
)

// validator collects the problems of a document in the fixed order of 2.9. Inside a section entries
// are visited as they are written.
type validator struct {
	*source
	problems Problems

	artifactIDs, kindIDs map[string]bool
	claimIndex           map[string]int // the first entry of that id
	inputValues          map[string]map[string]bool
}

// validate reports everything that is wrong with a readable document. UnsupportedFormat comes alone,
// since the rest of an unknown format means nothing. PredicateTooDeep, which 2.9 does not place,
// comes last and only where claims have no cycle, since a cycle has no depth.
func (d *source) validate() Problems {
	if d.format.text != Format {
		return Problems{*problemAt(d.format.at, UnsupportedFormat, "the format is %s; this version reads %q", quoted(d.format.text), Format)}
	}
	v := &validator{source: d}
	v.index()
	v.identifiers()
	v.duplicates()
	v.maxAges()
	v.references()
	v.rules()
	if !v.cycles() {
		v.depths()
	}
	return v.problems
}

func (v *validator) report(at named, code Code, format string, args ...any) {
	v.problems = append(v.problems, *problemAt(at.at, code, format, args...))
}

func (v *validator) index() {
	v.artifactIDs, v.kindIDs = ids(v.artifacts), ids(v.evidenceKinds)
	v.claimIndex = make(map[string]int, len(v.claims))
	for i, c := range v.claims {
		if _, ok := v.claimIndex[c.id.text]; !ok {
			v.claimIndex[c.id.text] = i
		}
	}
	v.inputValues = make(map[string]map[string]bool, len(v.inputs))
	for _, in := range v.inputs {
		values := make(map[string]bool, len(in.value.Values))
		for _, value := range in.value.Values {
			values[value] = true
		}
		v.inputValues[in.id.text] = values
	}
}

func ids[T any](entries []entry[T]) map[string]bool {
	set := make(map[string]bool, len(entries))
	for _, e := range entries {
		set[e.id.text] = true
	}
	return set
}

// sectionIDs is the ids of one section, for the rules that hold for every section alike.
type sectionIDs struct {
	what string
	ids  []named
}

// sections gives the sections in the order of 2.9. Case inputs, which it does not place, come last.
func (v *validator) sections() []sectionIDs {
	return []sectionIDs{
		{"artifact", entryIDs(v.artifacts)},
		{"evidence kind", entryIDs(v.evidenceKinds)},
		{"claim", entryIDs(v.claims)},
		{"obligation", entryIDs(v.obligations)},
		{"action", entryIDs(v.actions)},
		{"outcome", entryIDs(v.outcomes)},
		{"invalidation rule", entryIDs(v.invalidation)},
		{"case input", entryIDs(v.inputs)},
	}
}

func entryIDs[T any](entries []entry[T]) []named {
	names := make([]named, len(entries))
	for i, e := range entries {
		names[i] = e.id
	}
	return names
}

func (v *validator) identifiers() {
	v.identifier("protocol id", v.id)
	for _, s := range v.sections() {
		for _, id := range s.ids {
			v.identifier(s.what+" id", id)
		}
	}
	for _, a := range v.actions {
		for _, capability := range a.capabilities {
			v.identifier("capability", capability)
		}
		if a.value.Effect != nil {
			v.identifier("effect class", a.detail)
		}
	}
	for _, o := range v.outcomes {
		if o.value.DecisionOutcome() {
			v.identifier("decision", o.detail)
		}
	}
}

func (v *validator) identifier(what string, id named) {
	if !ValidIdentifier(id.text) {
		v.report(id, InvalidIdentifier, "the %s %s must not be empty or hold white space, control or format characters", what, quoted(id.text))
	}
}

func (v *validator) duplicates() {
	for _, s := range v.sections() {
		v.repeats(s.what, "", s.ids)
	}
	for _, in := range v.inputs {
		v.repeats("value", " of case input "+quoted(in.id.text), in.refs)
	}
}

func (v *validator) repeats(what, where string, names []named) {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n.text] {
			v.report(n, DuplicateIdentifier, "the %s %s%s is written twice", what, quoted(n.text), where)
		}
		seen[n.text] = true
	}
}

// maxAges reads the ages, which the reader left as text so that each bad one is reported.
func (v *validator) maxAges() {
	for _, k := range v.evidenceKinds {
		if k.value.MaxAge == nil {
			continue
		}
		age, refused := parseMaxAge(k.detail.text)
		if refused != "" {
			v.report(k.detail, InvalidMaxAge, "max_age %s of evidence kind %s: %s", quoted(k.detail.text), quoted(k.id.text), refused)
		}
		*k.value.MaxAge = age
	}
}

// references reports every name that is not declared, section by section.
func (v *validator) references() {
	for _, c := range v.claims {
		v.predicate("claim "+quoted(c.id.text), c.value.TrueWhen)
	}
	for _, o := range v.obligations {
		where := "obligation " + quoted(o.id.text)
		if o.value.ApplicableWhen != nil {
			v.predicate(where, o.value.ApplicableWhen)
		}
		v.discharge(where, o.value.DischargedWhen)
	}
	for _, a := range v.actions {
		where := "action " + quoted(a.id.text)
		v.predicate(where, a.value.Precondition)
		for _, kind := range a.refs {
			v.kind(where, kind)
		}
	}
	for _, o := range v.outcomes {
		if !o.value.DecisionOutcome() {
			v.predicate("outcome "+quoted(o.id.text), o.value.Requires)
		}
	}
	for _, rule := range v.invalidation {
		where := "invalidation rule " + quoted(rule.id.text)
		v.artifact(where, rule.detail)
		for _, c := range rule.refs {
			v.claim(where, c)
		}
	}
}

func (v *validator) predicate(where string, p *Predicate) {
	p.walk(func(leaf *Predicate) { v.leaf(where, leaf) })
}

// leaf reports what p names and the document does not declare. The subject follows its kind.
func (v *validator) leaf(where string, p *Predicate) {
	switch p.Form {
	case Evidence:
		v.kind(where, named{p.Kind, p.names[0]})
		if p.Subject != nil {
			v.artifact(where, named{*p.Subject, p.names[1]})
		}
	case OfClaim:
		v.claim(where, named{p.Claim, p.names[0]})
	case OfInput:
		v.input(where, named{p.Input, p.names[0]}, p)
	}
}

func (v *validator) input(where string, input named, p *Predicate) {
	values, declared := v.inputValues[input.text]
	if !declared {
		v.report(input, UndeclaredInput, "%s names case input %s, which is not declared", where, quoted(input.text))
		return
	}
	for i, value := range p.In {
		if !values[value] {
			v.report(named{at: p.names[1+i]}, UndeclaredInputValue, "%s tests case input %s for %s, which is none of its values", where, quoted(input.text), quoted(value))
		}
	}
}

func (v *validator) kind(where string, kind named) {
	if !v.kindIDs[kind.text] {
		v.report(kind, UndeclaredEvidenceKind, "%s names evidence kind %s, which is not declared", where, quoted(kind.text))
	}
}

func (v *validator) artifact(where string, artifact named) {
	if !v.artifactIDs[artifact.text] {
		v.report(artifact, UndeclaredArtifact, "%s names artifact %s, which is not declared", where, quoted(artifact.text))
	}
}

func (v *validator) claim(where string, claim named) {
	if _, ok := v.claimIndex[claim.text]; !ok {
		v.report(claim, UndeclaredClaim, "%s names claim %s, which is not declared", where, quoted(claim.text))
	}
}

// discharge checks the predicate of a debt, which may test claims only: evidence must first become
// a claim, so that a debt never hides what it rests on.
func (v *validator) discharge(where string, p *Predicate) {
	var path []step
	var visit func(*Predicate)
	visit = func(p *Predicate) {
		if p.Form == Evidence {
			v.report(named{at: p.at}, EvidenceInDischarge, "%s reads evidence at discharged_when%s.evidence; test a claim instead", where, joined(path))
		}
		v.leaf(where, p)
		for i, m := range p.Members {
			path = append(path, step{p.Form, i})
			visit(m)
			path = path[:len(path)-1]
		}
	}
	visit(p)
}

// step goes from a predicate to one of its members.
type step struct {
	from   Form
	member int
}

func (s step) String() string {
	switch s.from {
	case All:
		return fmt.Sprintf(".all[%d]", s.member)
	case Any:
		return fmt.Sprintf(".any[%d]", s.member)
	default:
		return ".not"
	}
}

// joined writes a path. It leaves out the middle of a very long one, for the reason of nameShown.
func joined(path []step) string {
	const shown = 16 // steps at either end
	if hidden := len(path) - 2*shown; hidden > 0 {
		return fmt.Sprintf("%s…(%d levels)…%s", joined(path[:shown]), hidden, joined(path[shown+hidden:]))
	}
	var text strings.Builder
	for _, s := range path {
		text.WriteString(s.String())
	}
	return text.String()
}
