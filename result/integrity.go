package result

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// TypeDerived says that an agent made a document from what it was shown: {"type":"loom/Derived","by":"agent"}. Integrity, and not inherited by
// what is made from the document.
const TypeDerived = "loom/Derived"

// Derived is the atom of [TypeDerived].
func Derived() label.Atom {
	// No error: it is within every limit.
	a, _ := label.AtomOf(document.MapOf(document.M("type", document.TextOf(TypeDerived)), document.M("by", document.TextOf("agent"))))
	return a
}

// conceptType is the type of an atom that stands for what others vouch for. Without a closure of trust nothing does, least of all the same atom (3.7).
const conceptType = "https://commonfabric.org/cfc/atom/Concept"

// requirement is an atom that data must be vouched for with: itself, or, of a record, one that has its members and perhaps more (3.7).
type requirement struct {
	atom    label.Atom
	concept bool
	members map[string]label.Atom // nil for a text
}

// requirementOf makes a requirement of an atom that [label.LabelOf] has taken as integrity.
func requirementOf(v document.Value) requirement {
	kind, _ := v.Get("type")
	atom, _ := label.AtomOf(v)
	return requirement{atom: atom, concept: kind.Text == conceptType, members: membersOf(v)}
}

// membersOf gives the members of an atom, nil for a text.
func membersOf(v document.Value) map[string]label.Atom {
	if v.Kind != document.Map {
		return nil
	}
	all := map[string]label.Atom{}
	for _, m := range v.Members {
		all[m.Name], _ = label.AtomOf(m.Value)
	}
	return all
}

// metBy tells whether an atom meets the requirement.
func (r requirement) metBy(a label.Atom) bool {
	switch {
	case r.concept:
		return false
	case a == r.atom:
		return true
	case r.members == nil:
		return false
	}
	v, _ := strictjson.Parse([]byte(a.Canonical()), label.MaxAtomDepth)
	has := membersOf(v)
	for name, want := range r.members {
		if got, ok := has[name]; !ok || got != want {
			return false
		}
	}
	return true
}

// metByAll tells whether one atom meets the requirement that every label carries.
func (r requirement) metByAll(all []label.Label) bool {
	if len(all) == 0 {
		return true
	}
	return slices.ContainsFunc(all[0].Integrity(), func(witness label.Atom) bool {
		return r.metBy(witness) && !slices.ContainsFunc(all[1:], func(l label.Label) bool { return !slices.Contains(l.Integrity(), witness) })
	})
}
