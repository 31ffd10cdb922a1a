package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/loomrun/loom/protocol"
)

// vocabulary is the telling words of a definition, by stem, in code-point order: those it is about,
// and those it uses beside that.
type vocabulary struct {
	subject []string // of its id, description and actions
	aside   []string // of its artifacts, evidence, claims, obligations and outcomes, and in no subject
}

// bundledWords is the vocabulary of each bundled definition, so that a match by words compiles
// nothing. A test keeps it equal to what the definitions say, and writes it anew with -update.
//
//go:embed bundled/words.txt
var bundledWords string

// vocabulary gives the words of a definition.
func (e *Entry) vocabulary() vocabulary {
	if !e.Source.Bundled() {
		return vocabularyOf(e.Protocol())
	}
	for line := range strings.Lines(bundledWords) {
		if name, rest, _ := strings.Cut(line, ":"); name == e.Name {
			subject, aside, _ := strings.Cut(rest, "|")
			return vocabulary{strings.Fields(subject), strings.Fields(aside)}
		}
	}
	return vocabularyOf(e.Protocol())
}

// String gives the form in which bundledWords holds a vocabulary.
func (v vocabulary) String() string {
	return fmt.Sprintf("%s | %s", strings.Join(v.subject, " "), strings.Join(v.aside, " "))
}

func vocabularyOf(p *protocol.Protocol) vocabulary {
	var v vocabulary
	take := func(words []string, id string, description *string) []string {
		text := id
		if description != nil {
			text += " " + *description
		}
		for _, word := range tellingWords(text) {
			words = append(words, stem(word))
		}
		return words
	}
	v.subject = take(v.subject, p.ID, p.Description)
	for _, a := range p.Actions {
		v.subject = take(v.subject, a.ID, a.Description)
	}
	for _, a := range p.Artifacts {
		v.aside = take(v.aside, a.ID, a.Description)
	}
	for _, k := range p.EvidenceKinds {
		v.aside = take(v.aside, k.ID, k.Description)
	}
	for _, c := range p.Claims {
		v.aside = take(v.aside, c.ID, c.Description)
	}
	for _, o := range p.Obligations {
		v.aside = take(v.aside, o.ID, o.Description)
	}
	for _, o := range p.Outcomes {
		v.aside = take(v.aside, o.ID, o.Description)
	}
	slices.Sort(v.subject)
	v.subject = slices.Compact(v.subject)
	slices.Sort(v.aside)
	v.aside = slices.DeleteFunc(slices.Compact(v.aside), func(word string) bool {
		_, subject := slices.BinarySearch(v.subject, word)
		return subject
	})
	return v
}

// weight is how much a word belongs to the definition, from 0 to 1.
func (v vocabulary) weight(word string) float64 {
	if _, found := slices.BinarySearch(v.subject, word); found {
		return 1
	}
	if _, found := slices.BinarySearch(v.aside, word); found {
		return asideWeight
	}
	return 0
}

// tellingWords gives the words of a text that say what it is about, in lower case.
func tellingWords(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.DeleteFunc(fields, func(word string) bool { return len(word) < 2 || isFiller(word) })
}

// stem takes the common English endings off a word, so that tests, tested and testing are one word.
// It is applied to both sides alike, so what is left need not be a word.
func stem(word string) string {
	const shortest = 3 // letters that must be left
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		if rest, found := strings.CutSuffix(word, ending); found && len(rest) >= shortest && !strings.HasSuffix(rest, "s") {
			word = rest
			break
		}
	}
	if rest, found := strings.CutSuffix(word, "e"); found && len(rest) > shortest {
		return rest
	}
	return word
}

// fillers are words that say nothing about what an intent is for, in code-point order.
var fillers = []string{
	"a", "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "ask", "asked", "at", "be",
	"been", "before", "but", "by", "can", "could", "current", "currently", "did", "do", "does", "done", "each",
	"for", "from", "get", "give", "had", "has", "have", "he", "her", "here", "him", "his", "how", "i", "if",
	"in", "into", "is", "it", "its", "just", "know", "let", "like", "make", "may", "me", "might", "more",
	"most", "must", "my", "need", "needs", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only",
	"or", "our", "out", "over", "own", "please", "present", "see", "shall", "she", "should", "so", "some",
	"tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
	"through", "to", "today", "too", "under", "until", "up", "us", "very", "want", "was", "we", "were", "what",
	"when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "yes", "you", "your",
}

func isFiller(word string) bool {
	_, found := slices.BinarySearch(fillers, word)
	return found
}
