// Package words folds text and splits it into tokens: the one reading of text that the index of the store
// and a search in it share.
//
// Two texts have the same tokens where a person would call them the same: upper and lower case, with and
// without accents, composed and decomposed, full width and ligature, with typographic or plain apostrophes,
// with or without soft hyphens, zero-width and bidirectional signs.
//
// A token is a run of letters and digits, or one sign of a script that is written without spaces between
// words (Chinese, Japanese, Thai, Lao, Khmer, Myanmar and others), one Hangul syllable, or one emoji. So a
// text in these scripts is found from one character on, and several characters are found as a phrase. A flag
// is one token. An emoji's skin tone, variation selectors and joiners are no part of the token; a family is
// the phrase of its members. A keycap is the phrase of its digit and of the cap. Bytes that are not UTF-8
// separate tokens, as punctuation does.
//
// A token is never empty, at most [MaxToken] bytes of UTF-8, and holds no ASCII sign but a-z and 0-9, so that
// the ascii tokenizer of SQLite's FTS5 splits tokens joined by spaces exactly where they were joined.
//
// How a sign folds: compatibility decomposition (NFKD, UAX 15), full case folding (Unicode 5.18), then marks
// are left out where a script's readers leave them out too: in Latin, Greek, Cyrillic, Hebrew, Arabic,
// Syriac and Hangul text. Marks of other scripts stay, in canonical order.
package words

import (
	"unicode/utf8"
)

// MaxToken is the length in bytes a token is cut to, between two characters. What follows in the same word is
// not looked at, in text and query alike.
const MaxToken = 64

// Range is a part of a text: from the byte at Start to the one before End.
type Range struct{ Start, End int }

// Token is a folded word and where it stands in the text: text[Start:End] is what it was made from. Tokens
// come in the order of the text, and neither end of a range stands before that of the token before. Ranges
// overlap only where one sign gives several tokens (½ gives 1 and 2): it is in the range of each.
type Token struct {
	Text string
	Range
}

// Split gives the tokens of text.
func Split(text string) []Token {
	folded, ranges := AppendTokens(nil, nil, text)
	tokens := make([]Token, len(ranges))
	rest := string(folded)
	for i, where := range ranges {
		end := 0
		for end < len(rest) && rest[end] != ' ' {
			end++
		}
		tokens[i] = Token{rest[:end], where}
		rest = rest[min(end+1, len(rest)):]
	}
	return tokens
}

// Fold gives the tokens of text joined by single spaces. Folding what was folded changes nothing.
func Fold(text string) string { return string(AppendIndexed(nil, text)) }

// AppendIndexed appends to dst the tokens of text joined by single spaces, which is what the index takes. It
// allocates nothing but the growth of dst. No space is put before the first token, whatever dst holds.
func AppendIndexed(dst []byte, text string) []byte {
	s := splitter{dst: dst, base: len(dst)}
	s.read(text)
	return s.dst
}

// AppendTokens is AppendIndexed that also appends to ranges where each token stands in text, in order.
func AppendTokens(dst []byte, ranges []Range, text string) ([]byte, []Range) {
	s := splitter{dst: dst, base: len(dst), ranges: ranges, ranged: true}
	s.read(text)
	return s.dst, s.ranges
}

// state says what the token that is open may still take in.
type state uint8

const (
	nothing   state = iota // no token is open
	word                   // letters and digits
	sign                   // complete
	kana                   // may take a voicing mark
	leading                // a leading jamo, may take a vowel
	open                   // a syllable without final consonant, may take one
	regional               // the first half of a flag
	pictogram              // an emoji, may take a skin tone
)

// maxMarks is the number of marks in a row that are put in canonical order. The Stream-Safe Text Format
// (UAX 15, section 13) allows 30.
const maxMarks = 32

// splitter appends tokens to dst. The open token is dst[token:].
type splitter struct {
	dst    []byte
	base   int // the length dst came with
	ranges []Range
	ranged bool

	state    state
	full     bool // the open word has reached MaxToken
	token    int
	from, to int  // of the open token
	jamo     rune // the syllable so far

	marks  [maxMarks]folding // sorted by combining class
	places [maxMarks]Range   // in the order of the text
	waits  int               // how many marks wait
}

func (s *splitter) read(text string) {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			s.take(lookup(r), i, i+size)
			i += size
			continue
		}
		if plain[c] == 0 {
			if s.state != nothing || s.waits > 0 {
				s.close()
			}
			i++
			continue
		}
		if s.waits > 0 {
			s.order()
		}
		if s.state != word {
			s.open(word, i)
		}
		end := i + 1
		for end < len(text) && plain[text[end]] != 0 {
			end++
		}
		taken := end
		if room := MaxToken - (len(s.dst) - s.token); s.full || end-i > room {
			if s.full {
				room = 0
			}
			taken, s.full = i+room, true
		}
		at := len(s.dst)
		s.dst = append(s.dst, text[i:taken]...)
		for k, b := range s.dst[at:] {
			s.dst[at+k] = plain[b]
		}
		s.to = end
		i = end
	}
	s.close()
}

// take reads what the sign at text[from:to] folds to.
func (s *splitter) take(f folding, from, to int) {
	switch f.class {
	case several:
		for _, one := range f.several() {
			s.take(one, from, to)
		}
	case separator:
		s.close()
	case absent:
	case accent:
		switch {
		case s.waits > 0:
			s.places[s.waits-1].End = to
		case s.state != nothing:
			s.to = to
		}
	default:
		switch {
		case f.order != 0:
			s.wait(f, from, to)
		case s.waits > 0:
			s.order()
			s.put(f, from, to)
		default:
			s.put(f, from, to)
		}
	}
}

// wait keeps a mark back until all marks of the sign before are known: their order in a text says nothing
// (Unicode 3.11, canonical ordering).
func (s *splitter) wait(f folding, from, to int) {
	if s.waits == maxMarks {
		s.order()
	}
	at := s.waits
	for at > 0 && s.marks[at-1].order > f.order {
		s.marks[at] = s.marks[at-1]
		at--
	}
	s.marks[at] = f
	s.places[s.waits] = Range{from, to}
	s.waits++
}

// order puts the marks that wait.
func (s *splitter) order() {
	for i := range s.waits {
		s.put(s.marks[i], s.places[i].Start, s.places[i].End)
	}
	s.waits = 0
}

func (s *splitter) put(f folding, from, to int) {
	switch f.class {
	case letter:
		if s.state != word {
			s.open(word, from)
		}
		s.full = s.full || len(s.dst)-s.token+int(f.size) > MaxToken
		if s.full {
			s.to = to
			return
		}
	case voicing:
		if s.state == kana {
			s.state = sign
		} else {
			s.open(sign, from)
		}
	case indicator:
		if s.state == regional {
			s.state = sign
		} else {
			s.open(regional, from)
		}
	case skinTone:
		if s.state == pictogram {
			s.to = to
			return
		}
		s.open(pictogram, from)
	case leadingJamo:
		s.open(leading, from)
		s.jamo = hangulFirst + (f.rune()-leadingFirst)*vowels*finals
	case vowelJamo:
		if s.state == leading {
			s.jamo += (f.rune() - vowelFirst) * finals
			s.syllable(open, to)
			return
		}
		s.open(sign, from)
	case finalJamo:
		if s.state == open {
			s.jamo += f.rune() - finalFirst
			s.syllable(sign, to)
			return
		}
		s.open(sign, from)
	case openSyllable:
		s.open(open, from)
		s.jamo = f.rune()
	case kanaSign:
		s.open(kana, from)
	case emoji:
		s.open(pictogram, from)
	default:
		s.open(sign, from)
	}
	s.dst = append(s.dst, f.text[:f.size]...)
	s.to = to
}

// syllable puts the syllable in place of what the token held.
func (s *splitter) syllable(now state, to int) {
	s.dst = utf8.AppendRune(s.dst[:s.token], s.jamo)
	s.state, s.to = now, to
}

// open ends the token before and begins one.
func (s *splitter) open(now state, from int) {
	s.end()
	if len(s.dst) > s.base {
		s.dst = append(s.dst, ' ')
	}
	s.state, s.token, s.from, s.full = now, len(s.dst), from, false
}

// close ends the open token with all marks that wait.
func (s *splitter) close() {
	if s.waits > 0 {
		s.order()
	}
	s.end()
}

func (s *splitter) end() {
	if s.state != nothing && s.ranged {
		s.ranges = append(s.ranges, Range{s.from, s.to})
	}
	s.state = nothing
}
