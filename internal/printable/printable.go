// Package printable makes text from outside safe to print (governed-runs 1.6, DECISIONS D4).
//
// A model, a file, a program or a server must not be able to forge a line of the program's own
// output, hide text, or drive the terminal. So every character that moves the cursor, breaks a line
// or changes how its neighbours look is shown as an escape such as \u{1b}.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line gives s as one printable line: line feeds are escaped like every other control character.
func Line(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c == utf8.RuneError || hidden(c) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			escape(&b, rune(s[i])) // a byte that is not UTF-8, shown by its value
		case hidden(c):
			escape(&b, c)
		default:
			b.WriteRune(c)
		}
		i += size
	}
	return b.String()
}

// Lines splits s at line feeds and gives each line printable. A line feed at the very end does not
// make another, empty line.
func Lines(s string) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return lines
}

// hidden tells the characters that are escaped: controls but the tab (C0, DEL, C1), format
// characters (bidirectional controls, zero-width characters), and the line and paragraph separators.
func hidden(c rune) bool {
	if c == '\t' || (c >= ' ' && c < 0x7f) {
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func escape(b *strings.Builder, c rune) {
	b.WriteString(`\u{` + strconv.FormatInt(int64(c), 16) + `}`)
}
