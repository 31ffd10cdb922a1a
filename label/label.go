// Package label holds what may be said of who may see a piece of data, and decides who may.
//
// A [Label] says it of data. Its confidentiality is a list of clauses that must all be met; a [Clause]
// is a list of alternatives of which one is enough; an alternative is an [Atom], an opaque JSON value
// that names a principal, a class of sources, a facet, an expiry. Its integrity is a list of atoms that
// vouch for the data. A [Ceiling] says what a reader may see. [Fits] compares the two, [Outside] tells
// what does not fit, [Join] gives the label of data made from labelled data, and [Meet] the ceiling
// that holds two readers' bounds at once.
//
// The rules are those of sections 3.1 to 3.6, 5.8 and 5.9 of the retrieval specification. The atoms of
// the product's own store are described with [User], [Class], [Facet] and [Observed].
//
// All values are immutable and safe for concurrent use. Atoms are interned: equal atoms compare equal
// with ==, and an atom that nothing holds any more is collected.
package label

import "slices"

// Limits of one label and of one list of clauses. What is read, joined or met keeps within them, so
// that a label that was written can be read again.
const (
	// MaxBytes bounds the JSON text, as read and in canonical form.
	MaxBytes = 1 << 20
	// MaxClauses bounds the clauses.
	MaxClauses = 4096
	// MaxAtoms bounds the alternatives of all clauses together with the integrity atoms.
	MaxAtoms = 16384
	// MaxAtomDepth bounds how deep the lists and maps of one atom nest. A text has depth 0.
	MaxAtomDepth = 16
)

// Label is the label of a piece of data (section 3.3). The zero Label is public: no clause, nothing
// vouched for.
type Label struct {
	confidentiality []Clause
	integrity       []Atom
}

// New makes a label. Of equal clauses and of equal atoms the first stays; the order is kept. A label
// beyond the limits of this package becomes one with the sole clause [ReadFailed], which fits no
// ceiling.
func New(confidentiality []Clause, integrity []Atom) Label {
	return Label{
		confidentiality: unionOfClauses(nil, confidentiality),
		integrity:       unionOfAtoms(nil, integrity),
	}.bounded()
}

// Confidentiality lists the clauses in order.
func (l Label) Confidentiality() []Clause { return slices.Clone(l.confidentiality) }

// Integrity lists the atoms that vouch for the data, in order.
func (l Label) Integrity() []Atom { return slices.Clone(l.integrity) }

// Public tells whether the label has no clause, so that it fits every ceiling.
func (l Label) Public() bool { return len(l.confidentiality) == 0 }

// Equal tells whether two labels have the same clauses and the same integrity, each in the same order.
// That is so exactly when their canonical texts are equal.
func (l Label) Equal(other Label) bool {
	return slices.EqualFunc(l.confidentiality, other.confidentiality, Clause.Equal) && slices.Equal(l.integrity, other.integrity)
}

// Join gives the label of a value that was made from data with these labels. It has every clause of
// each, in the order of their first appearance (section 3.4): joining never removes a clause.
//
// Of integrity it has only hereditary atoms (PolicyCertified), and of these only what all the labels
// carry (section 3.7): that a connector observed a record does not say that it observed what was made
// from the record.
//
// A join beyond the limits of this package becomes a label with the sole clause [ReadFailed], which
// fits no ceiling.
func Join(labels ...Label) Label {
	if len(labels) == 0 {
		return Label{}
	}
	joined := Label{labels[0].confidentiality, inherited(labels[0].integrity)}
	for _, l := range labels[1:] {
		joined.confidentiality = unionOfClauses(joined.confidentiality, l.confidentiality)
		joined.integrity = shared(joined.integrity, l.integrity)
	}
	return joined.bounded()
}

// inherited gives the hereditary atoms of a list.
func inherited(atoms []Atom) []Atom {
	var kept []Atom
	for _, a := range atoms {
		if a.family == hereditary {
			kept = append(kept, a)
		}
	}
	return kept
}

// shared gives the atoms of a that are in b too, in the order of a.
func shared(a, b []Atom) []Atom {
	if len(a) == 0 {
		return nil
	}
	carried := make(map[Atom]struct{}, len(b))
	for _, atom := range b {
		carried[atom] = struct{}{}
	}
	var kept []Atom
	for _, atom := range a {
		if _, both := carried[atom]; both {
			kept = append(kept, atom)
		}
	}
	return kept
}

// bounded gives the label itself, or in place of one that is too large the label that fits nothing.
func (l Label) bounded() Label {
	if l.tooLarge() {
		return Label{confidentiality: []Clause{AnyOf(ReadFailed())}}
	}
	return l
}

func (l Label) tooLarge() bool {
	w := weightOf(l.confidentiality)
	w.bytes += len(`{"confidentiality":,"integrity":[]}`)
	for _, a := range l.integrity {
		w.atoms++
		w.bytes += a.size() + len(`,`)
	}
	return w.tooMuch()
}

// weight is what the limits bound.
type weight struct{ clauses, atoms, bytes int }

// weightOf weighs a list of clauses. The bytes are those of its canonical text, or a few more.
func weightOf(clauses []Clause) weight {
	w := weight{clauses: len(clauses), bytes: len(`[]`)}
	for _, c := range clauses {
		w.add(c)
	}
	return w
}

func (w *weight) add(c Clause) {
	w.atoms += len(c.alternatives)
	w.bytes += len(`{"anyOf":[]},`)
	for _, a := range c.alternatives {
		w.bytes += a.size() + len(`,`)
	}
}

func (w weight) tooMuch() bool {
	return w.clauses > MaxClauses || w.atoms > MaxAtoms || w.bytes > MaxBytes
}

func unionOfClauses(have, more []Clause) []Clause {
	return union(have, more, Clause.Equal, Clause.Canonical)
}

func unionOfAtoms(have, more []Atom) []Atom {
	return union(have, more, func(a, b Atom) bool { return a == b }, func(a Atom) Atom { return a })
}

// union gives have, which has no equal elements, followed by what of more it lacks. It never writes to
// the array behind have.
func union[T any, K comparable](have, more []T, same func(a, b T) bool, key func(T) K) []T {
	const fewPairs = 1 << 12 // up to this many, comparing pairs is cheaper than an index
	have = slices.Clip(have)
	if (len(have)+len(more))*len(more) <= fewPairs {
		for _, t := range more {
			if !slices.ContainsFunc(have, func(h T) bool { return same(h, t) }) {
				have = append(have, t)
			}
		}
		return have
	}
	seen := make(map[K]struct{}, len(have)+len(more))
	for _, h := range have {
		seen[key(h)] = struct{}{}
	}
	for _, t := range more {
		k := key(t)
		if _, twice := seen[k]; !twice {
			seen[k] = struct{}{}
			have = append(have, t)
		}
	}
	return have
}
