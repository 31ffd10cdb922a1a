package label_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/label"
)

const registry = "https://commonfabric.org/cfc/atom/"

// named are the atoms that the tables call by a short name. Any other name is a text atom.
var named = map[string]string{
	"marker":        `"cfc:label-read-failed"`,
	"Expires(10)":   `{"type":"` + registry + `Expires","timestamp":10}`,
	"Expires(20)":   `{"type":"` + registry + `Expires","timestamp":20}`,
	`Expires("10")`: `{"type":"` + registry + `Expires","timestamp":"10"}`,
	`Expires("20")`: `{"type":"` + registry + `Expires","timestamp":"20"}`,
	"User(d)":       `{"type":"` + registry + `User","subject":"did:key:d"}`,
	"User(e)":       `{"type":"` + registry + `User","subject":"did:key:e"}`,
	"Space(d)":      `{"type":"` + registry + `PersonalSpace","owner":"did:key:d"}`,
	"Certified(x)":  `{"type":"` + registry + `PolicyCertified","by":"x"}`,
	"Certified(y)":  `{"type":"` + registry + `PolicyCertified","by":"y"}`,
}

// atom reads one atom: a short name, JSON that starts with a brace, or a text.
func atom(t testing.TB, s string) label.Atom {
	t.Helper()
	text, found := named[s]
	if !found {
		text = s
		if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
			text = `"` + s + `"`
		}
	}
	a, err := label.ReadAtom([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return a
}

// clauses reads a list as the tables write it: clauses apart by spaces, alternatives by "|", "-" for a
// clause without alternatives.
func clauses(t testing.TB, list string) []label.Clause {
	t.Helper()
	var out []label.Clause
	for _, c := range strings.Fields(list) {
		var alternatives []label.Atom
		for _, a := range strings.Split(c, "|") {
			if a != "-" {
				alternatives = append(alternatives, atom(t, a))
			}
		}
		out = append(out, label.AnyOf(alternatives...))
	}
	return out
}

// ceiling reads a list of clauses, or "absent".
func ceiling(t testing.TB, list string) label.Ceiling {
	t.Helper()
	if list == "absent" {
		return label.Unbounded()
	}
	return label.UpTo(clauses(t, list)...)
}

// of makes a label of a list of clauses and a list of integrity atoms.
func of(t testing.TB, confidentiality, integrity string) label.Label {
	t.Helper()
	var vouched []label.Atom
	for _, a := range strings.Fields(integrity) {
		vouched = append(vouched, atom(t, a))
	}
	return label.New(clauses(t, confidentiality), vouched)
}

// texts gives the canonical texts of clauses in one line.
func texts(list []label.Clause) string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.Canonical()
	}
	return strings.Join(out, " ")
}
