package strictyaml

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/document"
)

// checkCharacters refuses what YAML 1.2 section 5.1 does not let stand in a text, and what it lets
// stand but the library misreads: it breaks lines at U+0085, U+2028 and U+2029, as YAML 1.1 did, so
// that a comment could hide a key, and it loses characters behind a second byte order mark. A lone
// carriage return breaks a line by the standard, but not for who looks at the file.
func checkCharacters(text []byte) *document.Error {
	if at := document.FirstInvalid(text); at < len(text) {
		return document.Errorf(document.NewCursor(text).At(int64(at)), "the document is not UTF-8")
	}
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if !mayStand(c) && !bytes.HasPrefix(text[i:], []byte("\r\n")) {
			at := document.NewCursor(text).At(int64(i))
			return document.Errorf(at, "the character %U may not stand in YAML; write it escaped in double quotes", c)
		}
		i += size
	}
	return nil
}

// mayStand tells the characters that may stand in a text by themselves.
func mayStand(c rune) bool {
	switch {
	case c < 0xa0:
		return c == '\t' || c == '\n' || (c >= ' ' && c < 0x7f)
	case c == '\u2028', c == '\u2029', c == '\ufeff':
		return false
	default:
		return c != 0xfffe && c != 0xffff
	}
}

// keyWork bounds, for a whole document, the bytes before each end of a list or map that is followed
// by a colon on its line. No such key is ever accepted, but the library moves every token of the key
// for it: 1 MiB of nested ones would take a minute.
const keyWork = 1 << 27

// checkLines refuses, line by line, what the library would take too long over: directives, which it
// compares with each other, and keys that are lists or maps by the thousand.
func checkLines(text []byte) *document.Error {
	prologue := true // before the first line of a document, where a directive may stand
	work, offset := 0, 0
	refuse := func(at int, message string) *document.Error {
		return document.Errorf(document.NewCursor(text).At(int64(at)), "%s", message)
	}
	for line := range bytes.Lines(text) {
		switch content := bytes.TrimLeft(line, " \t\r\n"); {
		case isDocumentEnd(line):
			prologue = true
		case prologue && line[0] == '%':
			return refuse(offset, "directives are not part of this format; remove this line")
		case len(content) > 0 && content[0] != '#':
			prologue = false
		}
		for i, b := range line {
			if b != ']' && b != '}' {
				continue
			}
			if bytes.HasPrefix(bytes.TrimLeft(line[i+1:], " \t"), []byte(":")) {
				work += i
			}
			if work > keyWork {
				return refuse(offset+i, "too many keys that are lists or maps; a key is text")
			}
		}
		offset += len(line)
	}
	return nil
}

// isDocumentEnd tells a line that ends a document, wherever it stands (YAML 1.2 section 9.1.2).
func isDocumentEnd(line []byte) bool {
	rest, marked := bytes.CutPrefix(line, []byte("..."))
	return marked && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}
