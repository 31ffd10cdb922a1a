package mail

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// appendFlowed appends text whose lines flow (RFC 3676): a line that ends in a space goes on in the next of the same depth of quotes.
// With delSp the space is no part of the text.
func appendFlowed(dst, text []byte, delSp bool) []byte {
	flows, depth := false, 0
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line = text[:end]
		}
		text = text[min(len(line)+1, len(text)):]
		line = bytes.TrimSuffix(line, []byte("\r"))
		quotes := 0
		for quotes < len(line) && line[quotes] == '>' {
			quotes++
		}
		content := bytes.TrimPrefix(line[quotes:], []byte(" "))
		signature := string(content) == "-- "
		if flows && quotes == depth && !signature {
			dst = append(dst, content...)
		} else {
			if flows {
				dst = append(dst, '\n')
			}
			dst = append(dst, line[:quotes]...)
			if quotes > 0 && len(content) > 0 {
				dst = append(dst, ' ')
			}
			dst = append(dst, content...)
		}
		depth = quotes
		flows = len(content) > 0 && content[len(content)-1] == ' ' && !signature
		switch {
		case !flows:
			dst = append(dst, '\n')
		case delSp:
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

// hasWords says whether a text holds a letter or digit.
func hasWords(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
				return true
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
		i += n
	}
	return false
}
