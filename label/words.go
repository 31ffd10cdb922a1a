package label

import (
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

// Words says for a person what clauses name, such as "owner ada; class calendar, email; facet family or work". Clauses of one atom of the same
// type stand together, whatever the order of the clauses; the alternatives of a clause are joined by "or". Atoms that are not those of the own store are shown as their JSON.
// No clause is "public". A clause that has all alternatives of another one is left out, since it says nothing beside it, neither in a label nor
// in a ceiling: the meet of two ceilings has many such.
func Words(clauses []Clause) string {
	if len(clauses) == 0 {
		return "public"
	}
	clauses = telling(clauses)
	type group struct {
		rank int
		text string
	}
	var groups []group
	of := map[string]int{} // the group of the clauses of one atom, by what the atom is called
	for _, c := range clauses {
		kind, text := wordsOf(c)
		i, again := of[kind]
		switch {
		case kind == "":
			groups = append(groups, group{len(own), text})
		case again && len(c.alternatives) == 1:
			groups[i].text += ", " + text
		default:
			if len(c.alternatives) == 1 {
				of[kind] = len(groups)
			}
			groups = append(groups, group{slices.IndexFunc(own, func(o ownAtom) bool { return o.word == kind }), kind + " " + text})
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return a.rank - b.rank })
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = g.text
	}
	return strings.Join(texts, "; ")
}

// telling gives the clauses that say something beside the others.
func telling(clauses []Clause) []Clause {
	const most = 512 // clauses that are compared with one another
	if len(clauses) > most {
		return clauses
	}
	var kept []Clause
	for i, c := range clauses {
		if !slices.ContainsFunc(clauses, func(other Clause) bool { return !other.Equal(c) && contains(c, other) }) {
			kept = append(kept, clauses[i])
		}
	}
	return kept
}

// contains tells whether a clause has every alternative of another one, of which there is at least one.
func contains(c, other Clause) bool {
	for _, a := range other.alternatives {
		if !slices.Contains(c.alternatives, a) {
			return false
		}
	}
	return len(other.alternatives) > 0
}

// ownAtom is a type of the own store's atoms: what it is called, and the member that tells one from another.
type ownAtom struct{ kind, word, member string }

// own are these types, in the order in which people are told them.
var own = []ownAtom{
	{TypeUser, "owner", "subject"}, {TypeClass, "class", "class"}, {TypeFacet, "facet", "facet"}, {TypeObserved, "observed by", "connector"},
}

// wordsOf gives what the atoms of a clause are called, where all are of one type of the own store, and their names; else their JSON.
func wordsOf(c Clause) (kind, text string) {
	var names []string
	for _, a := range c.alternatives {
		word, name := wordOf(a)
		if word == "" || kind != "" && word != kind {
			return "", jsonOf(c)
		}
		kind = word
		names = append(names, name)
	}
	if kind == "" {
		return "", jsonOf(c)
	}
	slices.Sort(names) // their order in the clause is that of hashes
	return kind, strings.Join(names, " or ")
}

func wordOf(a Atom) (word, name string) {
	for _, o := range own {
		if a.facts().name != o.kind {
			continue
		}
		// The text is the atom's own, so it can be read.
		v, _ := strictjson.Parse([]byte(a.Canonical()), MaxAtomDepth)
		if named, _ := v.Get(o.member); named.Kind == document.Text {
			return o.word, named.Text
		}
	}
	return "", ""
}

func jsonOf(c Clause) string { return string(c.append(nil)) }
