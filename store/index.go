package store

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/loomrun/loom/store/words"
)

// Indexed is a record as the index of words holds it: folded tokens with one space between them, by column, and the record's hash.
type Indexed struct {
	Title, Body, Sender, Recipient, Folder string
	Parties                                string // the scope words of its parties and keys
	Hash                                   [sha256.Size]byte
}

// Index folds the words of a record. It is pure, and the most work of an import beside the database's own.
func Index(r *Record) *Indexed {
	x := &Indexed{Hash: r.Hash()}
	if r.Unsearched {
		return x
	}
	var b []byte
	fold := func(texts ...string) string {
		b = b[:0]
		for _, t := range texts {
			before := len(b)
			if before > 0 {
				b = append(b, ' ')
			}
			start := len(b)
			if b = words.AppendIndexed(b, t); len(b) == start {
				b = b[:before] // it has no words, and leaves no gap
			}
		}
		return string(b)
	}
	parties := func(parties []Party) string {
		texts := make([]string, 0, 2*len(parties))
		for _, p := range parties {
			texts = append(texts, p.Name, string(p.Address))
		}
		return fold(texts...)
	}
	x.Title, x.Body, x.Folder = fold(r.Title), fold(r.Body), fold(r.Folder)
	x.Sender, x.Recipient = parties(r.From), parties(r.To)
	for _, parties := range [][]Party{r.From, r.To} {
		for _, p := range parties {
			if p.Address != "" {
				x.Parties += " " + PartyWord(p.Address)
			}
		}
	}
	for _, k := range r.Keys {
		x.Parties += " " + PartyWord(Identifier(k))
	}
	return x
}

// Tokens is how many tokens the record has in the index.
func (x *Indexed) Tokens() int {
	n := 0
	for _, column := range []string{x.Title, x.Body, x.Sender, x.Recipient} {
		if column != "" {
			n += strings.Count(column, " ") + 1
		}
	}
	return n
}

// Scope is what the scope column holds of the record.
func (x *Indexed) Scope(source int64, k Kind) string {
	return Everything + " " + SourceWord(source) + " " + KindWord(k) + x.Parties
}

// The words of the scope column, by which the index is limited to what a search may find. No text of a record gets there.
const Everything = "a" // every record of the index has it

// SourceWord is the scope word of a source.
func SourceWord(number int64) string { return "s" + strconv.FormatInt(number, 10) }

// KindWord is the scope word of a kind.
func KindWord(k Kind) string { return "k" + string(k) }

// PartyWord is the scope word of one who takes part.
func PartyWord(i Identifier) string { return token('p', string(i)) }
