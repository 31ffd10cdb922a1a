package query

import (
	"bytes"
	"math"
	"sync"

	"github.com/loomrun/loom/store/words"
)

// Fields are the texts of a record, as they were written.
type Fields struct{ Title, Body, Sender, Recipient string }

// Statistics say how common what a query wants is among the records that may be seen. They must be counted over
// those alone, so that no score depends on a record that is withheld.
type Statistics struct {
	Documents int // how many records there are
	// AverageLength is the mean number of tokens in the title, body, sender and recipient together. Where it is
	// not above zero, length counts for nothing.
	AverageLength float64
	// Frequency is the number of records with each of Query.Terms, in that order. A term without a number counts
	// as one that no record has.
	Frequency []int
}

// How much a place counts: a word in the title says more than one in a name, and that more than one in the body.
const (
	TitleWeight  = 4.0
	PeopleWeight = 2.0
	BodyWeight   = 1.0
)

// Constants of BM25: how soon more of the same term adds little, and how much length counts.
const (
	Saturation = 1.2
	LengthPart = 0.75
)

// MaxScored is the length in bytes of each text that a score looks at.
const MaxScored = 256 << 10

// Score says how well doc fits the terms of the query: zero where it holds none of them, never negative, more
// is better. It is BM25F with one length for all fields (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009, 3.6): phrases and prefixes count as terms. The additions have one order, so equal input
// gives equal bits on machines of one kind; terms of the folder are not scored.
//
// It reads each text once, in time proportional to its length.
func (q Query) Score(doc Fields, stats Statistics) float64 {
	if len(q.terms) == 0 {
		return 0
	}
	var weights [MaxTerms]float64
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	length := 0
	for _, part := range [...]struct {
		text   string
		field  Field
		weight float64
	}{
		{doc.Title, Subject, TitleWeight},
		{doc.Sender, From, PeopleWeight},
		{doc.Recipient, To, PeopleWeight},
		{doc.Body, Anywhere, BodyWeight},
	} {
		folded := words.AppendIndexed((*buffer)[:0], head(part.text, MaxScored))
		*buffer = folded
		length += q.weigh(&weights, folded, part.field, part.weight)
	}
	norm := 1.0
	if stats.AverageLength > 0 {
		norm = 1 - LengthPart + float64(LengthPart*(float64(length)/stats.AverageLength))
	}
	score := 0.0
	for i := range q.terms {
		frequency := 0
		if i < len(stats.Frequency) {
			frequency = stats.Frequency[i]
		}
		// The conversions forbid fused multiplication and addition, which not every machine has.
		score += float64(rarity(stats.Documents, frequency) * weights[i] * (Saturation + 1) / (weights[i] + float64(Saturation*norm)))
	}
	return score
}

// buffers keep folded text between scores.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// rarity is the inverse document frequency of BM25, kept above zero for terms that most records have.
func rarity(documents, frequency int) float64 {
	documents = max(documents, 0)
	frequency = min(max(frequency, 0), documents)
	return math.Log1p((float64(documents-frequency) + 0.5) / (float64(frequency) + 0.5))
}

// weigh adds weight for each place of folded where a term stands, and gives the number of tokens.
func (q Query) weigh(weights *[MaxTerms]float64, folded []byte, field Field, weight float64) (tokens int) {
	for at := 0; at < len(folded); tokens++ {
		for _, i := range q.starts[folded[at]] {
			if of := q.terms[i].Field; (of == Anywhere || of == field) && q.stands(int(i), folded[at:]) {
				weights[i] += weight
			}
		}
		space := bytes.IndexByte(folded[at:], ' ')
		if space < 0 {
			space = len(folded) - at
		}
		at += space + 1
	}
	return tokens
}

// stands says whether folded, which begins with a token, begins with the term.
func (q Query) stands(term int, folded []byte) bool {
	pattern := q.pattern[term]
	if len(folded) < len(pattern) || string(folded[:len(pattern)]) != pattern {
		return false
	}
	return q.terms[term].Prefix || len(folded) == len(pattern) || folded[len(pattern)] == ' '
}

// head gives at most limit bytes of the start of text, cut between characters.
func head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	// What is left of a character cut in two is not UTF-8, and there are at most three bytes of it.
	for i := limit; i > limit-4; i-- {
		if text[i]&0xc0 != 0x80 {
			return text[:i]
		}
	}
	return text[:limit]
}
