package words

import "unicode"

// unmarked are the scripts whose marks are left out. Inherited are the marks that stand on letters of any
// script, in practice the accents.
var unmarked = []*unicode.RangeTable{
	unicode.Inherited, unicode.Common, unicode.Latin, unicode.Greek, unicode.Cyrillic,
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Hangul,
}

// noWord are signs that Unicode counts as letters or symbols and that a search takes for punctuation.
var noWord = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x02b9, Hi: 0x02df, Stride: 1}, // letters that look like apostrophes and accents
	{Lo: 0x02e5, Hi: 0x02ff, Stride: 1}, // tone letters and the like
	{Lo: 0x2120, Hi: 0x2120, Stride: 1}, // service mark, which abbreviates SM
	{Lo: 0x2500, Hi: 0x259f, Stride: 1}, // lines and blocks that frame text
	{Lo: 0x2800, Hi: 0x28ff, Stride: 1}, // Braille, which is used to draw
	{Lo: 0xfffd, Hi: 0xfffd, Stride: 1}, // stands for what could not be read
}}

// moreEmoji are emoji (UTS 51) that Unicode does not count as symbols of their own, or that abbreviate
// something which is not what a person looks for.
var moreEmoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00a9, Hi: 0x00a9, Stride: 1}, // copyright
		{Lo: 0x00ae, Hi: 0x00ae, Stride: 1}, // registered
		{Lo: 0x203c, Hi: 0x203c, Stride: 1}, // two exclamation marks
		{Lo: 0x2049, Hi: 0x2049, Stride: 1}, // exclamation and question mark
		{Lo: 0x2122, Hi: 0x2122, Stride: 1}, // trade mark
		{Lo: 0x2194, Hi: 0x2194, Stride: 1}, // arrow to both sides
		{Lo: 0x25fb, Hi: 0x25fe, Stride: 1}, // squares
		{Lo: 0x3030, Hi: 0x3030, Stride: 1}, // wavy dash
	},
	LatinOffset: 2,
}

// pictograms are the blocks kept for pictures, also where no character is assigned yet.
var pictograms = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0x1f000, Hi: 0x1faff, Stride: 1}}}

// smallDigits are the superscript and subscript digits, which are read with the word they stand at: m².
var smallDigits = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00b2, Hi: 0x00b3, Stride: 1},
		{Lo: 0x00b9, Hi: 0x00b9, Stride: 1},
		{Lo: 0x2070, Hi: 0x2089, Stride: 1},
	},
	LatinOffset: 2,
}

// sameLetters are letters that Unicode does not decompose and that many keyboards lack, by what people type
// instead. All are folded already.
var sameLetters = map[rune]string{
	'ı': "i", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ħ': "h", 'ŧ': "t", 'þ': "th",
	'\u0671': "\u0627", // alef wasla: alef
	'\u0649': "\u064a", // alef maksura: yeh
	'\u06cc': "\u064a", // Farsi yeh: yeh
	'\u06a9': "\u0643", // keheh: kaf
}
