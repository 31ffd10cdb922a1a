// Package codeunits counts characters as the specification's limits do: in UTF-16 code units, of which a character beyond the basic plane
// has two (DECISIONS D30).
package codeunits

// Of is how many code units a character has. A byte that is no UTF-8 has one, as the sign that stands for it.
func Of(c rune) int {
	if c > 0xffff {
		return 2
	}
	return 1
}

// Count is how many code units a text has.
func Count(text string) int {
	n := 0
	for _, c := range text {
		n += Of(c)
	}
	return n
}

// Cut is the beginning of a text that has at most so many code units. No character is cut in two.
func Cut(text string, most int) string {
	n := 0
	for i, c := range text {
		if n += Of(c); n > most {
			return text[:i]
		}
	}
	return text
}
