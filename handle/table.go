package handle

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// NewTable makes an empty table. The salt is the id of the run: it decides, with what is held, which tokens are given out.
func NewTable(salt string) *Table {
	return &Table{salt: salt, byToken: map[string]int{}, byKey: map[string]int{}}
}

// Salt gives the salt of the table.
func (t *Table) Salt() string { return t.salt }

// Hold puts a referent into the table and gives its token; the Token of r does not count. One that is held already keeps its token and
// its place, and nothing changes.
//
// Two referents are the same when kind, source, value, label and label source are (6.2). The order of members in the value does not
// count, and neither does the spelling of a number. The table keeps the value of the first.
func (t *Table) Hold(r Referent) string {
	key := keyOf(r)
	if i, held := t.byKey[key]; held {
		return t.referents[i].Token
	}
	for attempt := 0; ; attempt++ {
		r.Token = Prefix + Suffix(t.salt, key, attempt)
		if _, taken := t.byToken[r.Token]; !taken {
			break
		}
	}
	t.byKey[key] = len(t.referents)
	t.byToken[r.Token] = len(t.referents)
	t.referents = append(t.referents, r)
	return r.Token
}

// Get gives what a token stands for. It reports false for a token that the table did not give out.
func (t *Table) Get(token string) (Referent, bool) {
	i, held := t.byToken[token]
	if !held {
		return Referent{}, false
	}
	return t.referents[i], true
}

// Referents lists what is held, in the order of the first [Table.Hold] of each.
func (t *Table) Referents() []Referent { return slices.Clone(t.referents) }

// Clone gives a table of its own that holds the same.
func (t *Table) Clone() *Table {
	return &Table{
		salt:      t.salt,
		referents: slices.Clone(t.referents),
		byToken:   maps.Clone(t.byToken),
		byKey:     maps.Clone(t.byKey),
	}
}

// keyOf gives the identity of a referent: the SHA-256, in hexadecimal, of a JSON list that has one form for each identity (6.2).
func keyOf(r Referent) string {
	text := canonjson.AppendString([]byte(`["referent",`), string(r.Kind))
	text = canonjson.AppendString(append(text, ','), r.Source)
	text = appendNormal(append(text, ','), r.Value)
	text = append(append(text, ','), r.Label.Canonical()...)
	text = canonjson.AppendString(append(text, ','), string(r.LabelSource))
	sum := sha256.Sum256(append(text, ']'))
	return hex.EncodeToString(sum[:])
}

// appendNormal writes a value on one line with its members sorted and its numbers in one spelling.
func appendNormal(dst []byte, v document.Value) []byte {
	switch v.Kind {
	case document.Map:
		members := v.Members
		byName := func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) }
		if !slices.IsSortedFunc(members, byName) {
			members = slices.Clone(members)
			slices.SortStableFunc(members, byName)
		}
		dst = append(dst, '{')
		for i := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(canonjson.AppendString(dst, members[i].Name), ':')
			dst = appendNormal(dst, members[i].Value)
		}
		return append(dst, '}')
	case document.List:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendNormal(dst, v.Items[i])
		}
		return append(dst, ']')
	case document.Number:
		return append(dst, spelled(v)...)
	default:
		return canonjson.AppendCompact(dst, v)
	}
}

// spelled gives the one spelling of a number, that of numbers in atoms. A number too large or too small for an atom has only the
// spelling it was written in: two spellings of it are two identities, and never one of two numbers.
func spelled(number document.Value) string {
	const plainDigits = 20 // whole numbers of no more digits are spelled as they are
	if n := number.Text; len(n) <= plainDigits && strings.Trim(n, "0123456789") == "" {
		return n
	}
	if atom, err := label.AtomOf(number); err == nil {
		return atom.Canonical()
	}
	return number.Text
}
