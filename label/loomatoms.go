package label

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
)

// Types of the atoms of the product's own store (D39). This file is their documentation.
//
// A record is labelled from columns of the store that no content can reach, by [OfRecord]:
//
//	confidentiality: User(owner), Class(class, owner), anyOf of Facet(facet, owner)
//	integrity:       Observed(connector)
//
// A reader of the owner's data is bounded by [ScopeCeiling] or [OwnerCeiling], which name the atoms that
// the reader may have, each as a clause of its own. Both the class and one of the facets of a record must
// then be named for it to be seen.
//
// All of them compare by equality alone, and they are other atoms than those of the registry with
// similar names. Texts must be UTF-8: other bytes become U+FFFD.
const (
	// TypeUser is a person whose data it is: {"type":"loom/User","subject":…}, the subject as the store
	// names its owner. Confidentiality.
	TypeUser = "loom/User"
	// TypeClass is a class of sources of a person's data, such as mail or calendar:
	// {"type":"loom/Class","class":…,"subject":…}. Confidentiality.
	TypeClass = "loom/Class"
	// TypeFacet is a side of a person's life that a record belongs to, such as work or family:
	// {"type":"loom/Facet","facet":…,"subject":…}, the facet an id as [IsFacet] tells, or [NoFacet].
	// Confidentiality.
	TypeFacet = "loom/Facet"
	// TypeObserved says which connector brought the record: {"type":"loom/Observed","connector":…}, for
	// instance "google.gmail". Integrity, and not inherited by what is made from the record.
	TypeObserved = "loom/Observed"
)

// NoFacet stands in the facet atom of a record that has no facet. It is no facet id, so that a ceiling
// of facets cannot name it: only [OwnerCeiling] does.
const NoFacet = "(none)"

// MaxFacetBytes bounds a facet id.
const MaxFacetBytes = 64

// IsFacet tells whether id is a facet id: lower case letters, digits and hyphens, of which the first is
// no hyphen, 1 to 64 of them (section 5.1).
func IsFacet(id string) bool {
	if id == "" || len(id) > MaxFacetBytes || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// User is the atom of a person.
func User(subject string) Atom { return typed(TypeUser, field("subject", subject)) }

// Class is the atom of a class of sources of a person's data.
func Class(class, subject string) Atom {
	return typed(TypeClass, field("class", class), field("subject", subject))
}

// Facet is the atom of a facet of a person's data. It takes [NoFacet] too, and any other text.
func Facet(facet, subject string) Atom {
	return typed(TypeFacet, field("facet", facet), field("subject", subject))
}

// Observed is the atom of a connector that brought a record.
func Observed(connector string) Atom { return typed(TypeObserved, field("connector", connector)) }

func field(name, text string) document.Member { return document.M(name, document.TextOf(text)) }

// typed makes a record of texts. The fields are sorted by name, and none sorts behind type.
func typed(kind string, fields ...document.Member) Atom {
	return atomOf(document.MapOf(append(fields, field("type", kind))...))
}

// OfRecord gives the label of a record of the own store (D39). The order of the facets does not count,
// nor how often one is named. What is no facet id is left out, which lets fewer readers see the record;
// a record that has no facet then has the clause Facet([NoFacet]).
func OfRecord(owner, class, connector string, facets []string) Label {
	var sides []Atom
	for _, f := range facets {
		if IsFacet(f) {
			sides = append(sides, Facet(f, owner))
		}
	}
	if len(sides) == 0 {
		sides = []Atom{Facet(NoFacet, owner)}
	}
	return New(
		[]Clause{AnyOf(User(owner)), AnyOf(Class(class, owner)), anyOf(sides)},
		[]Atom{Observed(connector)},
	)
}

// ScopeCeiling gives the ceiling of a reader that may see the owner's records of these classes and
// these facets, and none without a facet: the owner, each class and each facet as clauses of their own,
// in this order. What is no facet id names nothing and is left out.
func ScopeCeiling(owner string, classes, facets []string) Ceiling {
	clauses := []Clause{AnyOf(User(owner))}
	for _, c := range classes {
		clauses = append(clauses, AnyOf(Class(c, owner)))
	}
	for _, f := range facets {
		if IsFacet(f) {
			clauses = append(clauses, AnyOf(Facet(f, owner)))
		}
	}
	return UpTo(clauses...)
}

// OwnerCeiling is [ScopeCeiling] for the owner's own view: it names the records without a facet too.
func OwnerCeiling(owner string, classes, facets []string) Ceiling {
	scope := ScopeCeiling(owner, classes, facets)
	return UpTo(append(slices.Clip(scope.clauses), AnyOf(Facet(NoFacet, owner)))...)
}
