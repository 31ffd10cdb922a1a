// Package query holds the search language: what a person types, what the index is asked for it, how well a
// record fits, and the piece of it that shows why.
//
//	budget report          both words, in the title, the body, the sender or a recipient
//	"budget report"        the words side by side
//	budg*                  words that begin so; also "annual budg"*
//	-draft, NOT draft      without the word
//	a OR b, a AND b        either, both; AND binds more closely than OR, and need not be written
//	(a OR b) c             groups
//	from: to: subject: in: in one field: from:alice, subject:"budget report", in:inbox, to:(alice OR bob)
//	/colou?r/, -/draft \d/ a regular expression (RE2) that the text matches or does not, in any case
//
// Words are read as [words] reads text: case and accents make no difference, alice@example.com is the phrase
// alice example com, and so are several characters of Chinese. A colon after a word that is no field is
// punctuation, and so are signs alone: tom & jerry asks for two words. OR, AND and NOT count in capitals only.
//
// [Parse] reads a query. It is pure, and all it gives is bounded by the constants of this package.
package query

import (
	"regexp"
	"slices"
	"strings"
)

// Limits of a query.
const (
	// MaxLength is the length of a query in UTF-16 code units (DECISIONS D30).
	MaxLength = 500
	// MaxTerms is the number of words, phrases and prefixes.
	MaxTerms = 64
	// MaxNesting is the number of parentheses that may be open at one place.
	MaxNesting = 16
	// MaxRegexps is the number of regular expressions.
	MaxRegexps = 4
	// MaxRegexp is the length of a regular expression in bytes.
	MaxRegexp = 256
	// MaxProgram is the number of instructions a regular expression may compile to, which bounds what it costs
	// to run over a text: at most this many steps for each byte.
	MaxProgram = 2000
)

// Everything is the expression of the index that every record matches. It holds the store to a contract: the
// column scope of each record has the token a. FTS5 has no way to say only what is not wanted, so a query
// such as -draft asks for this without drafts.
const Everything = `scope : "a"`

// Field says where a term is looked for.
type Field uint8

// The fields of the language.
const (
	Anywhere Field = iota // title, body, sender and recipient
	From                  // from: the sender
	To                    // to: the recipients
	Subject               // subject: the title
	In                    // in: the folder
)

// columns of the index, by field, as FTS5 filters are written.
var columns = [...]string{
	Anywhere: "{title body sender recipient}", From: "sender", To: "recipient", Subject: "title", In: "folder",
}

// fieldNames are how a query names fields, in any case.
var fieldNames = map[string]Field{"from": From, "to": To, "subject": Subject, "in": In}

// Term is a word, a phrase or a prefix that a query asks for.
type Term struct {
	Field Field
	// Tokens are folded as package words does. They stand side by side; there is at least one.
	Tokens []string
	// Prefix says that the last token may go on.
	Prefix bool
}

// Match gives the expression of the index for this term alone, for counting the records it is in.
func (t Term) Match() string {
	// Tokens hold letters and digits only (package words), so nothing in them ends the quotation.
	s := columns[t.Field] + ` : "` + strings.Join(t.Tokens, " ") + `"`
	if t.Prefix {
		s += " *"
	}
	return s
}

func (t Term) equal(u Term) bool {
	return t.Field == u.Field && t.Prefix == u.Prefix && slices.Equal(t.Tokens, u.Tokens)
}

// Regexp is a regular expression that a record must match, or must not.
type Regexp struct {
	Re  *regexp.Regexp
	Not bool
}

// Query is what [Parse] made of a text. It does not change and may be used by several goroutines. The zero
// Query is empty.
type Query struct {
	root    *node // nil where nothing is asked of the index
	regexps []Regexp
	terms   []Term
	starts  *[256][]uint8 // the terms by the first byte of their pattern
	pattern []string      // of each term: its tokens joined by spaces
}

// Empty says that the query matches every record.
func (q Query) Empty() bool { return q.root == nil && len(q.regexps) == 0 }

// Match gives the expression of the index for FTS5. It is empty where the index is asked nothing: the query is
// empty or holds only regular expressions, and all records are candidates.
//
// The index is an FTS5 table with the columns title, body, sender, recipient, folder and scope, the tokenizer
// ascii, filled with what words.AppendIndexed gives; see also [Everything].
func (q Query) Match() string {
	if q.root == nil {
		return ""
	}
	var b strings.Builder
	q.root.write(&b)
	return b.String()
}

// Regexps gives the regular expressions of the query in its order. The index knows nothing of them: each
// record that it finds must be held against them, see [Query.Admits].
func (q Query) Regexps() []Regexp { return slices.Clone(q.regexps) }

// Terms gives the words, phrases and prefixes that the query wants, each once, in its order: at most
// [MaxTerms]. What it wants left out is not among them.
func (q Query) Terms() []Term { return slices.Clone(q.terms) }

// Admits says whether doc passes all regular expressions of the query: one is matched where the title, the
// body, the sender or the recipient matches it, as they were written. It takes time in proportion to the
// length of the text times [MaxProgram] at worst.
func (q Query) Admits(doc Fields) bool {
	for _, r := range q.regexps {
		found := r.Re.MatchString(doc.Title) || r.Re.MatchString(doc.Sender) ||
			r.Re.MatchString(doc.Recipient) || r.Re.MatchString(doc.Body)
		if found == r.Not {
			return false
		}
	}
	return true
}

// kind of a node.
type kind uint8

const (
	wanted kind = iota // a term
	all                // of several
	some               // of several
	not                // the only kid
	expression
)

// node is a part of a query.
type node struct {
	kind   kind
	term   Term
	kids   []*node
	regexp *regexp.Regexp
	at     int // where it begins in the query, in bytes
}

// write appends the expression of the index for n. Each operator gets parentheses of its own, so that nothing
// hangs on which binds more closely.
func (n *node) write(b *strings.Builder) {
	switch n.kind {
	case wanted:
		b.WriteString(n.term.Match())
	case some:
		writeJoined(b, " OR ", n.kids)
	case not:
		writeWithout(b, nil, n.kids)
	case all:
		var with, without []*node
		for _, kid := range n.kids {
			if kid.kind == not {
				without = append(without, kid.kids[0])
			} else {
				with = append(with, kid)
			}
		}
		if len(without) == 0 {
			writeJoined(b, " AND ", with)
		} else {
			writeWithout(b, with, without)
		}
	}
}

func writeJoined(b *strings.Builder, operator string, nodes []*node) {
	if len(nodes) == 1 {
		nodes[0].write(b)
		return
	}
	b.WriteByte('(')
	for i, n := range nodes {
		if i > 0 {
			b.WriteString(operator)
		}
		n.write(b)
	}
	b.WriteByte(')')
}

func writeWithout(b *strings.Builder, with, without []*node) {
	b.WriteByte('(')
	if len(with) == 0 {
		b.WriteString(Everything)
	} else {
		writeJoined(b, " AND ", with)
	}
	b.WriteString(" NOT ")
	writeJoined(b, " OR ", without)
	b.WriteByte(')')
}

// wants appends the terms that n asks for.
func (n *node) wants(terms []Term, negated bool) []Term {
	if n.kind == wanted && !negated && !slices.ContainsFunc(terms, n.term.equal) {
		terms = append(terms, n.term)
	}
	for _, kid := range n.kids {
		terms = kid.wants(terms, negated != (n.kind == not))
	}
	return terms
}

// made gives the query of a parsed root, which may be nil.
func made(root *node, regexps []Regexp) Query {
	q := Query{root: root, regexps: regexps}
	if root == nil {
		return q
	}
	q.terms = root.wants(nil, false)
	q.starts = new([256][]uint8)
	for i, term := range q.terms {
		q.pattern = append(q.pattern, strings.Join(term.Tokens, " "))
		first := q.pattern[i][0]
		q.starts[first] = append(q.starts[first], uint8(i))
	}
	return q
}
