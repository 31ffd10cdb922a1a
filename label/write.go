package label

import (
	"slices"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// Canonical gives the JSON text {"confidentiality":[…],"integrity":[…]} of the label: clauses and
// integrity in their order, alternatives in the order of their hashes, atoms as [Atom.Canonical] does.
// Equal labels have equal texts, and no others: the text can stand for the label as a key or in a
// store. [ReadLabel] reads it again, if no clause has an atom that it does not take.
func (l Label) Canonical() string {
	dst := append(make([]byte, 0, 512), `{"confidentiality":`...)
	dst = appendList(dst, l.confidentiality, Clause.append)
	dst = append(dst, `,"integrity":`...)
	dst = appendList(dst, l.integrity, Atom.append)
	return string(append(dst, '}'))
}

// Document gives the canonical form as a tree, to be put into a larger one.
func (l Label) Document() document.Value {
	const depth = depthInLabel + MaxAtomDepth
	v, _ := strictjson.Parse([]byte(l.Canonical()), depth) // all atoms are JSON and within the limits
	return v
}

// appendList writes a JSON list.
func appendList[T any](dst []byte, list []T, item func(T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(list[i], dst)
	}
	return append(dst, ']')
}

// Types is what a model may see of a label (section 5.9): names of kinds, and nothing of whom or what
// they are about. Neither list is nil.
type Types struct {
	// Confidentiality has one list for each clause that has a nameable atom: the types of its
	// alternatives, sorted, so that their order tells nothing of what is not shown.
	Confidentiality [][]string `json:"confidentiality"`
	// Integrity has the types of the atoms, in their order.
	Integrity []string `json:"integrity"`
}

// Types gives the form of the label that a model may see.
func (l Label) Types() Types {
	t := Types{Confidentiality: [][]string{}, Integrity: typesOf(l.integrity)}
	for _, c := range l.confidentiality {
		if names := typesOf(c.alternatives); len(names) > 0 {
			slices.Sort(names)
			t.Confidentiality = append(t.Confidentiality, names)
		}
	}
	return t
}

// typesOf names the atoms that can be named.
func typesOf(atoms []Atom) []string {
	names := []string{}
	for _, a := range atoms {
		if name, named := a.Type(); named {
			names = append(names, name)
		}
	}
	return names
}
