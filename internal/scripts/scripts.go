// Package scripts knows which scripts are written without spaces between words, so that a word in them has no border that a program
// could see.
package scripts

import "unicode"

// IsUnspaced says whether a sign belongs to such a script. The list follows Unicode line breaking (UAX 14): the ideographic scripts, those it
// calls complex, and the South Asian ones that break between syllables. Hangul is written with spaces.
func IsUnspaced(r rune) bool { return unicode.In(r, unspaced...) }

var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, sharedKana, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	unicode.Yi, unicode.Tangut, unicode.Nushu, unicode.Khitan_Small_Script,
	unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom,
	unicode.Balinese, unicode.Javanese,
}

// sharedKana are letters of Japanese text that Unicode gives to no script, since several use them:
// the long vowel sign above all, with which very many loan words end.
var sharedKana = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x3006, Hi: 0x3006, Stride: 1}, // closing mark
	{Lo: 0x3031, Hi: 0x3035, Stride: 1}, // vertical repeat marks
	{Lo: 0x303c, Hi: 0x303c, Stride: 1}, // masu mark
	{Lo: 0x30fc, Hi: 0x30fc, Stride: 1}, // long vowel
	{Lo: 0xff70, Hi: 0xff70, Stride: 1}, // long vowel, half width
	{Lo: 0xff9e, Hi: 0xff9f, Stride: 1}, // voicing marks, half width
}}
