package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/store/words"
)

// Limits of an excerpt.
const (
	// MaxExcerpt is the length of an excerpt in UTF-16 code units, with the signs that say it was cut.
	MaxExcerpt = 240
	// MaxSearched is the length in bytes of the start of a body that an excerpt is taken from.
	MaxSearched = 256 << 10
)

const (
	ellipsis = "…"
	// maxSpan is the number of code units from the first to the last hit that an excerpt is built around. The
	// rest is left for what stands beside them.
	maxSpan = 170
	// maxLead is the number of code units before the first hit, where there is more behind the last.
	maxLead = 60
	// maxSlack is the number of code units an excerpt may be shorter than it could, to be cut at a space.
	maxSlack = 24
)

// Excerpt is a piece of a text in one line.
type Excerpt struct {
	Text string
	// Hits are the parts of Text that the query asked for, in order and apart from each other.
	Hits []words.Range
}

// Snippet gives the text of [Query.Excerpt].
func (q Query) Snippet(body string) string { return q.Excerpt(body).Text }

// Excerpt gives the piece of body that shows best why the query found it: the one with the most different
// terms, then with the most hits, then the first; else the place where a regular expression first matches;
// else the beginning. White space, line ends and control characters come out as single spaces, bytes that are
// not UTF-8 as U+FFFD; all else is as it was written, so it must be made safe before it is printed.
//
// Where the text goes on, an ellipsis says so, between words if the script separates them and never within
// a character and its marks.
func (q Query) Excerpt(body string) Excerpt {
	searched := head(body, MaxSearched)
	line := squeeze(searched)
	hits := q.hits(line)
	window, found := best(line, hits)
	if !found {
		window = q.firstMatch(searched, line)
		hits.ranges = []words.Range{window}
	}
	from, to := surround(line, hits.tokens, window, len(searched) < len(body))
	e := Excerpt{}
	piece := strings.TrimRight(line[from:to], " ")
	shift := from
	if from > 0 {
		e.Text = ellipsis
		shift -= len(ellipsis)
	}
	e.Text += piece
	end := len(e.Text)
	if to < len(line) || len(searched) < len(body) {
		e.Text += ellipsis
	}
	for _, hit := range hits.ranges {
		hit = words.Range{Start: max(hit.Start-shift, from-shift), End: min(hit.End-shift, end)}
		if hit.Start >= hit.End {
			continue
		}
		if last := len(e.Hits) - 1; last >= 0 && hit.Start < e.Hits[last].End {
			e.Hits[last].End = max(e.Hits[last].End, hit.End)
		} else {
			e.Hits = append(e.Hits, hit)
		}
	}
	return e
}

// squeeze gives text in one line. What it makes of the start of a text is the start of what it makes of the
// text.
func squeeze(text string) string {
	line := make([]byte, 0, len(text))
	gap := true // no space at the start
	for _, c := range text {
		switch {
		case c > ' ' && c < 0x7f:
			line, gap = append(line, byte(c)), false
		case unicode.IsSpace(c), unicode.IsControl(c):
			if !gap {
				line, gap = append(line, ' '), true
			}
		default:
			line, gap = utf8.AppendRune(line, c), false
		}
	}
	return string(line)
}

// found are the hits of a query in a line.
type found struct {
	tokens []words.Range // all of the line
	ranges []words.Range // of the hits, by their first token
	terms  []uint8       // of the hits
	first  []int         // the first token of each
	last   []int
}

// hits finds the terms that are not looked for in one field only.
func (q Query) hits(line string) (f found) {
	folded, tokens := words.AppendTokens(make([]byte, 0, len(line)), nil, line)
	f.tokens = tokens
	if len(q.terms) == 0 {
		return f
	}
	at := 0
	for token := range tokens {
		for _, i := range q.starts[folded[at]] {
			if q.terms[i].Field == Anywhere && q.stands(int(i), folded[at:]) {
				last := token + len(q.terms[i].Tokens) - 1
				f.ranges = append(f.ranges, words.Range{Start: tokens[token].Start, End: tokens[last].End})
				f.terms = append(f.terms, i)
				f.first, f.last = append(f.first, token), append(f.last, last)
			}
		}
		for at < len(folded) && folded[at] != ' ' {
			at++
		}
		at++
	}
	return f
}

// best gives the part of line with the hits to show.
func best(line string, f found) (words.Range, bool) {
	if len(f.ranges) == 0 {
		return words.Range{}, false
	}
	ends := make([]int, len(f.tokens)) // of each token in code units of the line
	starts := make([]int, len(f.tokens))
	place, units := 0, 0
	for i, token := range f.tokens {
		// A range may begin before the end of the one before, never before its start.
		if token.Start >= place {
			units += codeunits.Count(line[place:token.Start])
			place = token.Start
		}
		starts[i] = units
		if token.End > place {
			units += codeunits.Count(line[place:token.End])
			place = token.End
		}
		ends[i] = units
	}
	var count [MaxTerms]int
	different, left := 0, 0
	from, to, most, many := 0, 0, 0, 0
	for right, term := range f.terms {
		if count[term]++; count[term] == 1 {
			different++
		}
		for left < right && ends[f.last[right]]-starts[f.first[left]] > maxSpan {
			if count[f.terms[left]]--; count[f.terms[left]] == 0 {
				different--
			}
			left++
		}
		if hits := right - left + 1; different > most || different == most && hits > many {
			from, to, most, many = left, right, different, hits
		}
	}
	window := f.ranges[from]
	for _, hit := range f.ranges[from : to+1] {
		window.End = max(window.End, hit.End)
	}
	return window, true
}

// firstMatch gives where the first of the wanted regular expressions that matches text does so in its line.
func (q Query) firstMatch(text, line string) words.Range {
	for _, r := range q.regexps {
		if r.Not {
			continue
		}
		if at := r.Re.FindStringIndex(text); at != nil {
			return words.Range{Start: len(squeeze(text[:at[0]])), End: len(squeeze(text[:at[1]]))}
		}
	}
	return words.Range{}
}

// surround gives the piece of line to show for the window. More says that the text goes on behind the line.
func surround(line string, tokens []words.Range, window words.Range, more bool) (from, to int) {
	if !more && codeunits.Count(line) <= MaxExcerpt {
		return 0, len(line)
	}
	room := MaxExcerpt - 2 - codeunits.Count(line[window.Start:window.End])
	lead := min(maxLead, room/2) // below zero beside a window that is too long
	if behind := codeunits.Count(line[window.End:]); behind < room-lead {
		lead = room - behind
	}
	if from = back(line, window.Start, lead); from > 0 {
		from = cutLeft(line, tokens, from, window.Start)
	}
	room = MaxExcerpt - 1 // an ellipsis is one code unit
	if from > 0 {
		room--
	}
	to = forth(line, from, room)
	if rest := line[to:]; rest != "" && !more && forth(rest, 0, 1) == len(rest) {
		to = len(line) // what is left fits where the ellipsis would stand
	}
	if to < len(line) {
		to = cutRight(line, tokens, to, min(max(window.End, from+1), to))
	}
	return from, to
}

// cutLeft gives the best place to begin between from and end.
func cutLeft(line string, tokens []words.Range, from, end int) int {
	for at := from; at <= min(end, forth(line, from, maxSlack)); at++ {
		if line[at-1] == ' ' {
			return at
		}
	}
	i, _ := slices.BinarySearchFunc(tokens, from, byStart)
	for ; i < len(tokens) && tokens[i].Start <= end; i++ {
		if whole(line, tokens[i].Start) {
			return tokens[i].Start
		}
	}
	return settle(line, end)
}

// cutRight gives the best place to end between begin and to.
func cutRight(line string, tokens []words.Range, to, begin int) int {
	least := max(begin, back(line, to, maxSlack))
	for at := to; at >= least; at-- {
		if line[at] == ' ' {
			return at
		}
	}
	i, ok := slices.BinarySearchFunc(tokens, to, byStart)
	if !ok {
		i--
	}
	for ; i >= 0 && tokens[i].Start > least; i-- {
		if whole(line, tokens[i].Start) {
			return tokens[i].Start
		}
	}
	return settle(line, to)
}

func byStart(token words.Range, at int) int { return token.Start - at }

// maxMarks is the number of marks that a cut is moved over.
const maxMarks = 32

// settle moves at back to the start of the character that it is within.
func settle(line string, at int) int {
	for range maxMarks {
		if whole(line, at) {
			break
		}
		_, size := utf8.DecodeLastRuneInString(line[:at])
		at -= size
	}
	return at
}

// whole says that a character as people see it begins at the place: no mark or joiner follows there, nor
// stands a joiner before it. Flags, syllables and skin tones are within one token and so need no look.
func whole(line string, at int) bool {
	c, _ := utf8.DecodeRuneInString(line[at:])
	before, _ := utf8.DecodeLastRuneInString(line[:at])
	return before != '\u200d' && !unicode.In(c, unicode.M, unicode.Cf)
}

// back gives the place at most so many code units before at.
func back(line string, at, units int) int {
	for at > 0 {
		c, size := utf8.DecodeLastRuneInString(line[:at])
		if units -= codeunits.Of(c); units < 0 {
			break
		}
		at -= size
	}
	return at
}

// forth gives the place at most so many code units behind at.
func forth(line string, at, units int) int { return at + len(codeunits.Cut(line[at:], units)) }
