package label

import (
	"errors"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// UnreadableError says why an atom, a clause, a ceiling or a label could not be read, and where in the
// text. It never quotes the text.
type UnreadableError struct {
	reason error // with its place
}

// Error gives "the label is unreadable: line L, column C: reason".
func (e *UnreadableError) Error() string { return "the label is unreadable: " + e.reason.Error() }

// Unwrap gives the reason: a [*strictjson.Error] where the text is not JSON as the program takes it.
func (e *UnreadableError) Unwrap() error { return e.reason }

func unreadable(reason error) error { return &UnreadableError{reason} }

func at(place document.Place, reason error) error { return document.Errorf(place, "%v", reason) }

var (
	errBytes           = errors.New("the text is too long")
	errTooMuch         = errors.New("there are too many clauses or atoms")
	errTwice           = errors.New("a member is written twice")
	errNoRow           = errors.New("the row is not a map")
	errNoLabel         = errors.New("a label is a map")
	errConfidentiality = errors.New("confidentiality is not a list")
	errIntegrity       = errors.New("integrity is not a list")
	errNoCeiling       = errors.New("a ceiling is a list of clauses")
	errNoAlternative   = errors.New("anyOf of a label is the only member and a list with an atom in it")
	errUntyped         = errors.New("an atom of a label is neither text nor a map with a text called type")
)

// Depths of the lists and maps around an atom.
const (
	depthInClause  = 2 // {"anyOf":[…]}
	depthInCeiling = 1 + depthInClause
	depthInLabel   = 2 + depthInClause // {"confidentiality":[…]}
)

// parse reads one JSON value that holds atoms, each at most depth lists and maps deep in it.
func parse(data []byte, depth int) (document.Value, error) {
	if len(data) > MaxBytes {
		return document.Value{}, unreadable(errBytes)
	}
	v, err := strictjson.Parse(data, depth+MaxAtomDepth)
	if err != nil {
		return document.Value{}, unreadable(err)
	}
	return v, nil
}

// ReadAtom reads an atom from JSON: any value within the limits of this package. A member that is
// written twice makes it unreadable (D31), here and in all that follows. Its error is an
// [*UnreadableError].
func ReadAtom(data []byte) (Atom, error) {
	v, err := parse(data, 0)
	if err != nil {
		return Atom{}, err
	}
	return AtomOf(v)
}

// ReadClause reads a clause from JSON, as [ClauseOf] does from a tree.
func ReadClause(data []byte) (Clause, error) {
	v, err := parse(data, depthInClause)
	if err != nil {
		return Clause{}, err
	}
	return ClauseOf(v)
}

// ReadClauses reads a list of clauses from JSON, each as [ClauseOf] does, in their order and with those
// that are equal.
func ReadClauses(data []byte) ([]Clause, error) {
	v, err := parse(data, depthInCeiling)
	if err != nil {
		return nil, err
	}
	return clausesOf(v)
}

// ReadCeiling reads a ceiling from JSON, as [CeilingOf] does from a tree.
func ReadCeiling(data []byte) (Ceiling, error) {
	v, err := parse(data, depthInCeiling)
	if err != nil {
		return Ceiling{}, err
	}
	return CeilingOf(v)
}

// CeilingOf makes a ceiling from a list of clauses. The shapes of its atoms are not judged (section
// 5.13): a clause that is malformed subsumes nothing. What is no list, null too, is an error: an absent
// ceiling is for the caller to find absent. Its error is an [*UnreadableError].
func CeilingOf(v document.Value) (Ceiling, error) {
	clauses, err := clausesOf(v)
	if err != nil {
		return Ceiling{}, err
	}
	return UpTo(clauses...), nil
}

func clausesOf(v document.Value) ([]Clause, error) {
	if v.Kind != document.List {
		return nil, unreadable(at(v.Place, errNoCeiling))
	}
	return clauses(v, ClauseOf)
}

// clauses reads the items of a list, within the limits.
func clauses(list document.Value, read func(document.Value) (Clause, error)) ([]Clause, error) {
	if len(list.Items) > MaxClauses {
		return nil, unreadable(at(list.Place, errTooMuch))
	}
	out := make([]Clause, len(list.Items))
	w := weight{bytes: len(`[]`)}
	for i := range list.Items {
		c, err := read(list.Items[i])
		if err != nil {
			return nil, err
		}
		if w.add(c); w.tooMuch() {
			return nil, unreadable(at(list.Items[i].Place, errTooMuch))
		}
		out[i] = c
	}
	return out, nil
}

// ReadLabel reads a label from JSON, as [LabelOf] does from a tree.
func ReadLabel(data []byte) (Label, error) {
	v, err := parse(data, depthInLabel)
	if err != nil {
		return Label{}, err
	}
	return LabelOf(v)
}

// LabelOf makes a label from a tree of the shape {"confidentiality": […], "integrity": […]}, with the
// strictness of section 5.8. confidentiality must be there; without a clause it is readable and public.
// Each clause is an atom, or a record whose only member is anyOf with a list of at least one atom.
// integrity may be missing. Each atom is text, or a record with a text called type and without anyOf.
// Other members beside the two are passed over: what they say cannot make more fit.
//
// Of equal clauses and of equal atoms the first stays. Its error is an [*UnreadableError].
func LabelOf(v document.Value) (Label, error) {
	if v.Kind != document.Map {
		return Label{}, unreadable(at(v.Place, errNoLabel))
	}
	if twin, found := v.RepeatedMember(); found {
		return Label{}, unreadable(at(twin.Place, errTwice))
	}
	list, _ := v.Get("confidentiality")
	if list.Kind != document.List {
		return Label{}, unreadable(at(v.Place, errConfidentiality))
	}
	confidentiality, err := clauses(list, labelClauseOf)
	if err != nil {
		return Label{}, err
	}
	var integrity []Atom
	if vouched, found := v.Get("integrity"); found {
		if vouched.Kind != document.List {
			return Label{}, unreadable(at(vouched.Place, errIntegrity))
		}
		if integrity, err = typedAtoms(vouched); err != nil {
			return Label{}, err
		}
	}
	l := Label{unionOfClauses(nil, confidentiality), unionOfAtoms(nil, integrity)}
	if l.tooLarge() {
		return Label{}, unreadable(at(v.Place, errTooMuch))
	}
	return l, nil
}

// OfRow reads the label that a row of a payload carries as its own member ifc (section 5.8). It reports
// false where there is none. A row that is no map, and one that has ifc twice (D31), is unreadable, as
// is an ifc of null.
func OfRow(row document.Value) (Label, bool, error) {
	if row.Kind != document.Map {
		return Label{}, false, unreadable(at(row.Place, errNoRow))
	}
	var ifc *document.Value
	for i := range row.Members {
		if row.Members[i].Name != "ifc" {
			continue
		}
		if ifc != nil {
			return Label{}, false, unreadable(at(row.Members[i].Place, errTwice))
		}
		ifc = &row.Members[i].Value
	}
	if ifc == nil {
		return Label{}, false, nil
	}
	l, err := LabelOf(*ifc)
	return l, err == nil, err
}

// labelClauseOf is [ClauseOf] with the strictness of a label.
func labelClauseOf(v document.Value) (Clause, error) {
	if _, found := v.Get("anyOf"); !found {
		atom, err := typedAtom(v)
		return AnyOf(atom), err
	}
	items, isClause := alternativesOf(v)
	if !isClause || len(items) == 0 {
		return Clause{}, unreadable(at(v.Place, errNoAlternative))
	}
	alternatives, err := typedAtoms(v.Members[0].Value)
	return anyOf(alternatives), err
}

// typedAtoms reads the items of a list.
func typedAtoms(list document.Value) ([]Atom, error) {
	atoms := make([]Atom, len(list.Items))
	for i := range list.Items {
		atom, err := typedAtom(list.Items[i])
		if err != nil {
			return nil, err
		}
		atoms[i] = atom
	}
	return atoms, nil
}

// typedAtom is [AtomOf] with the strictness of a label.
func typedAtom(v document.Value) (Atom, error) {
	kind, _ := v.Get("type")
	_, clause := v.Get("anyOf")
	if v.Kind != document.Text && kind.Kind != document.Text || clause {
		return Atom{}, unreadable(at(v.Place, errUntyped))
	}
	return AtomOf(v)
}
