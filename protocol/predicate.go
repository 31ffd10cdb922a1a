package protocol

import (
	"cmp"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/document"
)

// Form is the form of a predicate. The order of the constants is the order of the forms (2.10).
type Form uint8

// The forms of a predicate.
const (
	All      Form = iota // all Members; true when there is none
	Any                  // any of Members; false when there is none
	OfClaim              // a claim has a truth value
	Evidence             // a record of a kind is there, with a result where one is named
	OfInput              // a case input has one of the listed values
	Not                  // the one member, swapped
)

// Truth is one of the three values a claim can have.
type Truth string

// The truth values, in their order.
const (
	False   Truth = "false"
	True    Truth = "true"
	Unknown Truth = "unknown"
)

// Predicate is a three-valued proposition. Which fields count depends on the form.
type Predicate struct {
	Form    Form
	Members []*Predicate // All, Any: in predicate order, no two equal; Not: exactly one

	Claim string // OfClaim
	Is    Truth  // OfClaim

	Kind    string  // Evidence
	Result  *string // Evidence; nil: any record of the kind will do
	Subject *string // Evidence; nil: records about every artifact

	Input string   // OfInput
	In    []string // OfInput: sorted, no value twice

	// Where it was written, until it is in normal order: the predicate, and of a leaf what it names,
	// namely the kind and the subject, or the claim, or the input and its values.
	at    document.Place
	names []document.Place
}

// comparePredicates is the predicate order of 2.10: by form, then by what the form holds. An absent
// result or subject comes before a present one. The recursion is bounded by MaxPredicateDepth.
func comparePredicates(a, b *Predicate) int {
	if a.Form != b.Form {
		return cmp.Compare(a.Form, b.Form)
	}
	switch a.Form {
	case OfClaim:
		return cmp.Or(strings.Compare(a.Claim, b.Claim), strings.Compare(string(a.Is), string(b.Is)))
	case Evidence:
		return cmp.Or(strings.Compare(a.Kind, b.Kind), compareOptional(a.Result, b.Result), compareOptional(a.Subject, b.Subject))
	case OfInput:
		return cmp.Or(strings.Compare(a.Input, b.Input), slices.Compare(a.In, b.In))
	default:
		return slices.CompareFunc(a.Members, b.Members, comparePredicates)
	}
}

func compareOptional(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	default:
		return strings.Compare(*a, *b)
	}
}

// normalizePredicate sorts the members of all and any and drops repeats. Nothing else is simplified:
// an all of one member and a double not stay as they were written. The places are left behind, so
// that predicates that say the same thing are equal.
func normalizePredicate(p *Predicate) *Predicate {
	n := *p
	n.at, n.names = document.Place{}, nil
	n.Members = make([]*Predicate, len(p.Members))
	for i, m := range p.Members {
		n.Members[i] = normalizePredicate(m)
	}
	slices.SortFunc(n.Members, comparePredicates)
	n.Members = slices.CompactFunc(n.Members, func(a, b *Predicate) bool { return comparePredicates(a, b) == 0 })
	n.In = sortedSet(p.In)
	return &n
}

// sortedSet gives the texts by code point, each once.
func sortedSet(texts []string) []string {
	sorted := slices.Clone(texts)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// walk visits p and everything in it, outermost first, members in order.
func (p *Predicate) walk(visit func(*Predicate)) {
	visit(p)
	for _, m := range p.Members {
		m.walk(visit)
	}
}
