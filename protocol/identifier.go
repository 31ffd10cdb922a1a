package protocol

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidIdentifier tells whether s may name something: not empty, UTF-8, and without white space,
// control characters and format characters, which could make two names look alike (2.8).
func ValidIdentifier(s string) bool {
	for i, c := range s {
		if c > ' ' && c < 0x7f {
			continue // nearly every character of every record that is evaluated
		}
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false // a byte that is not UTF-8, and no U+FFFD that was written
			}
		}
		if unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return false
		}
	}
	return s != ""
}

// MaxAge is how long a record of a kind applies after it was observed.
type MaxAge struct {
	Text    string // as it was written: 60m and 1h are not the same text
	Seconds uint64
}

// secondsPer gives the units of an age.
var secondsPer = map[byte]uint64{'s': 1, 'm': 60, 'h': 60 * 60, 'd': 24 * 60 * 60}

// parseMaxAge reads digits without a leading zero and a unit (2.8). The text it gives beside the age
// is empty or says why the age is refused.
func parseMaxAge(text string) (MaxAge, string) {
	const form = "an age is a whole number without leading zeros and one of s, m, h, d, such as 36h"
	if text == "" {
		return MaxAge{}, form
	}
	count, unit := text[:len(text)-1], secondsPer[text[len(text)-1]]
	if unit == 0 || !wholeNumber(count) {
		return MaxAge{}, form
	}
	n, err := strconv.ParseUint(count, 10, 64)
	if err != nil || n > math.MaxUint64/unit {
		return MaxAge{}, "the age is too long to count in seconds"
	}
	return MaxAge{Text: text, Seconds: n * unit}, ""
}

// wholeNumber tells whether s is 0 or decimal digits without a leading zero.
func wholeNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}
