package words

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/loomrun/loom/internal/scripts"
)

// class says what a folded sign does in a text.
type class uint8

const (
	separator    class = iota
	absent             // as if it were not there
	accent             // the same, and belongs to the token before
	several            // folds to several signs
	letter             // part of a word
	solo               // a token of its own
	kanaSign           // the same, and may take a voicing mark
	voicing            // a voicing mark of kana
	emoji              // a token that may take a skin tone
	skinTone           //   the skin tone
	indicator          // half of a flag
	leadingJamo        // parts of a Hangul syllable
	vowelJamo          //   its vowel
	finalJamo          //   its final consonant
	openSyllable       // a syllable without final consonant
)

// Hangul syllables are numbered by their parts (Unicode 3.12).
const (
	hangulFirst  = '\uac00'
	hangulLast   = '\ud7a3'
	leadingFirst = '\u1100'
	leadingLast  = '\u1112'
	vowelFirst   = '\u1161'
	vowelLast    = '\u1175'
	finalFirst   = '\u11a7' // stands for no final consonant; the first real one follows
	finalLast    = '\u11c2'
	vowels       = 21
	finals       = 28
)

// Signs with a rule of their own.
const (
	keycap        = '\u20e3'
	iotaSubscript = '\u0345' // a letter: capitals write it beside the vowel
	tatweel       = '\u0640' // stretches a word
)

// folding is what one sign folds to.
type folding struct {
	class class
	size  uint8 // of text, in bytes
	order uint8 // the canonical combining class of a mark that stays
	text  [utf8.UTFMax]byte
	more  *[]folding
}

func (f folding) rune() rune {
	r, _ := utf8.DecodeRune(f.text[:f.size])
	return r
}

func (f folding) several() []folding { return *f.more }

// plain is what an ASCII sign folds to: 0 for one that separates, and for bytes that are not ASCII.
var plain = func() (table [256]byte) {
	for c := range table {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z':
			table[c] = byte(c)
		case c >= 'A' && c <= 'Z':
			table[c] = byte(c) + 'a' - 'A'
		}
	}
	return table
}()

// page is what 256 neighbouring signs fold to.
type page [256]folding

// pages are made when a text first needs them: a start of the program pays for none, and reading a text is one
// look-up for each sign. What a page holds follows from Unicode alone.
var pages [(tagsLast + 1) / len(page{})]atomic.Pointer[page]

// Planes 4 to 13 have no characters, and what comes behind the tags of plane 14 is for private use (Unicode 2.8).
const (
	emptyFirst = 0x40000
	tagsFirst  = 0xe0000
	tagsLast   = 0xe0fff
)

func lookup(r rune) folding {
	if r >= emptyFirst && (r < tagsFirst || r > tagsLast) {
		return folding{class: separator} // so that no text makes the program keep pages of nothing
	}
	at := &pages[r/rune(len(page{}))]
	p := at.Load()
	if p == nil {
		p = makePage(r - r%rune(len(page{})))
		at.Store(p)
	}
	return p[r%rune(len(page{}))]
}

func makePage(first rune) *page {
	p := new(page)
	full := cases.Fold()
	for i := range p {
		p[i] = foldRune(full, first+rune(i))
	}
	return p
}

// foldRune gives what r folds to.
func foldRune(full cases.Caser, r rune) folding {
	switch {
	// Most signs of the world need no look at the tables of normalisation.
	case r >= '\u4e00' && r <= '\u9fff', r >= '\u3400' && r <= '\u4dbf', r >= '\U00020000' && r <= '\U0002a6df':
		return made(solo, r)
	case r >= hangulFirst && r <= hangulLast:
		if (r-hangulFirst)%finals == 0 {
			return made(openSyllable, r)
		}
		return made(solo, r)
	case unicode.Is(moreEmoji, r):
		return made(emoji, r)
	case unicode.Is(noWord, r):
		return folding{class: separator}
	}
	decomposed := norm.NFKD.String(string(r))
	var all []folding
	for _, c := range foldLetters(full, decomposed) {
		all = append(all, classify(c))
	}
	// What a symbol abbreviates is no part of the word beside it: ½ after 1, ㎏ after 5, ① before a word.
	if (unicode.Is(unicode.So, r) || unicode.Is(unicode.No, r) && !unicode.Is(smallDigits, r)) &&
		decomposed != norm.NFD.String(string(r)) {
		all = append(append([]folding{{class: separator}}, all...), folding{class: separator})
	}
	if len(all) == 1 {
		return all[0]
	}
	return folding{class: several, more: &all}
}

// maxRounds is how often folding and decomposing may bring new signs to fold.
const maxRounds = 4

// foldLetters folds s, which is decomposed, until nothing changes.
func foldLetters(full cases.Caser, s string) []rune {
	for range maxRounds {
		var next []rune
		for _, c := range norm.NFKD.String(s) {
			same, ok := sameLetters[c]
			switch {
			case ok:
				next = append(next, []rune(same)...)
			case c == iotaSubscript: // stays a mark until all marks beside it are in order
				next = append(next, c)
			default:
				next = append(next, []rune(full.String(string(digit(cherokee(c)))))...)
			}
		}
		if string(next) == s {
			break
		}
		s = string(next)
	}
	return []rune(s)
}

// cherokee gives the capital of a Cherokee letter, the only script whose case folding goes that way
// (Unicode 5.18) and which the library leaves as it is.
func cherokee(c rune) rune {
	if unicode.Is(unicode.Cherokee, c) {
		return unicode.ToUpper(c)
	}
	return c
}

// digit gives the ASCII digit of the same value for a decimal digit of any script.
func digit(c rune) rune {
	if c < utf8.RuneSelf || !unicode.Is(unicode.Nd, c) {
		return c
	}
	// Decimal digits stand in tens, beginning with zero (Unicode 4.6), sometimes several tens in a row.
	zero := c
	for unicode.Is(unicode.Nd, zero-1) {
		zero--
	}
	return '0' + (c-zero)%10
}

// classify says what c does, which is folded.
func classify(c rune) folding {
	switch {
	case c < utf8.RuneSelf:
		if plain[c] == 0 {
			return folding{class: separator}
		}
		return made(letter, c)
	case c >= leadingFirst && c <= leadingLast:
		return made(leadingJamo, c)
	case c >= vowelFirst && c <= vowelLast:
		return made(vowelJamo, c)
	case c > finalFirst && c <= finalLast:
		return made(finalJamo, c)
	case c == '\u3099' || c == '\u309a':
		return mark(voicing, c)
	case c == iotaSubscript:
		f := made(letter, 'ι')
		f.order = mark(letter, c).order
		return f
	case c == keycap:
		return made(solo, c)
	case c == tatweel, unicode.Is(unicode.Cf, c), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c):
		return folding{class: absent}
	case unicode.Is(unicode.Variation_Selector, c), unicode.Is(unicode.M, c) && unicode.In(c, unmarked...):
		return folding{class: accent}
	case c >= '\U0001f1e6' && c <= '\U0001f1ff':
		return made(indicator, c)
	case c >= '\U0001f3fb' && c <= '\U0001f3ff':
		return made(skinTone, c)
	case scripts.IsUnspaced(c) && unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.So):
		if unicode.In(c, unicode.Hiragana, unicode.Katakana) {
			return made(kanaSign, c)
		}
		return mark(solo, c)
	case unicode.Is(noWord, c):
		return folding{class: separator}
	case c >= '\u1113' && c <= '\u11ff', unicode.Is(unicode.Hangul, c):
		return made(solo, c)
	case unicode.In(c, unicode.L, unicode.M, unicode.N):
		if c >= '\u2776' && c <= '\u2793' {
			return made(emoji, c) // digits in circles
		}
		return mark(letter, c)
	case unicode.Is(moreEmoji, c), unicode.Is(pictograms, c), c >= '\u2100' && unicode.Is(unicode.So, c):
		return made(emoji, c)
	}
	return folding{class: separator}
}

func made(as class, c rune) folding {
	f := folding{class: as}
	f.size = uint8(utf8.EncodeRune(f.text[:], c))
	return f
}

// mark is made for a sign that may be a mark.
func mark(as class, c rune) folding {
	f := made(as, c)
	f.order = norm.NFC.Properties(f.text[:f.size]).CCC()
	return f
}
