package reference

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/scripts"
)

// smallDigits are the superscript digits, which end a key as its exponent or footnote, and the
// subscript ones, which do the same below the line.
var smallDigits = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00b2, Hi: 0x00b3, Stride: 1},
		{Lo: 0x00b9, Hi: 0x00b9, Stride: 1},
		{Lo: 0x2070, Hi: 0x2070, Stride: 1},
		{Lo: 0x2074, Hi: 0x2079, Stride: 1},
		{Lo: 0x2080, Hi: 0x2089, Stride: 1},
	},
	LatinOffset: 2,
}

// keycap turns the sign before it into an emoji.
const keycap = '\u20e3'

// dashes are the signs that join the parts of a dashed id: the ASCII one, the hyphen and the
// hyphen that does not break. Longer dashes stand between words.
var dashes = []string{"-", "\u2010", "\u2011"}

// isWord says whether r is part of a word, so that a key beside it is part of that word too
// (governed-runs 3.1, the border). Numbers of no script, such as a circled one, are ornaments.
func isWord(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return isWordByte(byte(r))
	case unicode.IsMark(r) || unicode.Is(smallDigits, r):
		return true
	case scripts.IsUnspaced(r): // their letters touch a key because the writer had no space to put there (governed-runs 3.1)
		return false
	case unicode.IsNumber(r):
		return unicode.IsDigit(r) || !unicode.Is(unicode.Common, r)
	}
	return unicode.IsLetter(r)
}

// joinedBefore says whether what stands before i makes the word at i part of a longer one: a letter
// or digit, also across underscores (foo_PR-1) or a dash (X-PR-1). Underscores with no word behind
// them are emphasis.
func joinedBefore(text string, i int) bool {
	rest := strings.TrimRight(text[:i], "_")
	for _, dash := range dashes {
		if before, ok := strings.CutSuffix(rest, dash); ok {
			rest = strings.TrimRight(before, "_")
			break
		}
	}
	return endsInWord(rest)
}

// joinedAfter is joinedBefore for what follows a key that ends at i.
func joinedAfter(text string, i int) bool {
	rest := strings.TrimLeft(text[i:], "_")
	for _, dash := range dashes {
		if after, ok := strings.CutPrefix(rest, dash); ok {
			rest = strings.TrimLeft(after, "_")
			break
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return isWord(r)
}

// endsInWord says whether the last sign of text is part of a word. Here, unlike after a key, a mark
// has its own letter before it and goes with that: a word of Thai may end in one.
func endsInWord(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	if r == keycap {
		return false
	}
	marked := false
	for unicode.IsMark(r) {
		// A variation selector only chooses between the text and the emoji form of its sign.
		marked = marked || !unicode.Is(unicode.Variation_Selector, r)
		text = text[:len(text)-size]
		r, size = utf8.DecodeLastRuneInString(text)
	}
	if marked {
		return !scripts.IsUnspaced(r)
	}
	return isWord(r)
}
