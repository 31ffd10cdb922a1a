package label

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
)

// Clause is a list of alternatives (section 3.2). Whoever satisfies one of them satisfies the clause.
// It has no equal alternatives and keeps them in the order of their hashes, so that the order they were
// written in does not count. The zero Clause has none, is written {"anyOf": []}, and nobody satisfies
// it.
//
// Two clauses are never made into one, and {A or B} stays beside A: each is a demand of its own.
type Clause struct {
	alternatives []Atom
}

// AnyOf makes the clause of these alternatives. That of one alternative is the bare atom, unless the
// atom looks like a clause itself: then it stays inside of an anyOf, as opaque data.
func AnyOf(alternatives ...Atom) Clause { return anyOf(slices.Clone(alternatives)) }

// anyOf is [AnyOf] for a list that is the clause's from now on.
func anyOf(alternatives []Atom) Clause {
	slices.SortFunc(alternatives, compareAtoms)
	return Clause{slices.Compact(alternatives)}
}

// ClauseOf makes a clause from a tree: a record whose only member is anyOf with a list gives the
// alternatives; any other value is an atom. A label on a row demands more of its clauses ([LabelOf]).
// Its error is an [*UnreadableError].
func ClauseOf(v document.Value) (Clause, error) {
	items, isClause := alternativesOf(v)
	if !isClause {
		items = []document.Value{v}
	}
	if len(items) > MaxAtoms {
		return Clause{}, unreadable(at(v.Place, errTooMuch))
	}
	alternatives := make([]Atom, len(items))
	for i := range items {
		atom, err := AtomOf(items[i])
		if err != nil {
			return Clause{}, err
		}
		alternatives[i] = atom
	}
	return anyOf(alternatives), nil
}

// Alternatives lists the atoms, in the order of their hashes.
func (c Clause) Alternatives() []Atom { return slices.Clone(c.alternatives) }

// Equal tells whether two clauses have the same alternatives.
func (c Clause) Equal(other Clause) bool { return slices.Equal(c.alternatives, other.alternatives) }

// Canonical gives the JSON text of the clause: the atom where there is one alternative, or
// {"anyOf":[…]}. Equal clauses have equal texts, and no others.
func (c Clause) Canonical() string { return string(c.append(nil)) }

func (c Clause) append(dst []byte) []byte {
	if len(c.alternatives) == 1 && c.alternatives[0].family != clauseShaped {
		return c.alternatives[0].append(dst)
	}
	dst = append(dst, `{"anyOf":`...)
	dst = appendList(dst, c.alternatives, Atom.append)
	return append(dst, '}')
}

// subsumes tells whether a reader bounded by c may see what l protects (section 3.5): each of the
// readers that c stands for must satisfy l.
func (c Clause) subsumes(l Clause) bool {
	for _, reader := range c.alternatives {
		if !l.satisfiedBy(reader) {
			return false
		}
	}
	return len(c.alternatives) > 0
}

// satisfiedBy tells whether a reader entails one of the alternatives.
func (c Clause) satisfiedBy(reader Atom) bool {
	for _, alternative := range c.alternatives {
		if reader.entails(alternative) {
			return true
		}
	}
	return false
}

// failed tells whether the clause bears the marker of a label that could not be read.
func (c Clause) failed() bool {
	for _, a := range c.alternatives {
		if a.family == readFailed {
			return true
		}
	}
	return false
}
