package mail

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// decodeCharset appends text in a charset as UTF-8. Without a charset, or with one that is not known, text is UTF-8 where it is valid
// as that and windows-1252 else.
func decodeCharset(dst, text []byte, charset string) []byte {
	charset = strings.ToLower(strings.Trim(charset, " \t\"'"))
	var named encoding.Encoding
	switch charset {
	case "", "us-ascii", "ascii", "utf-8", "utf8":
	default:
		named = charsetEncoding(charset)
		if named != nil && isASCII(text) && asciiBased(charset) {
			return append(dst, text...)
		}
	}
	if named == nil {
		if utf8.Valid(text) {
			return append(dst, text...)
		}
		if strings.HasPrefix(charset, "utf") && hasMultibyte(text) {
			return append(dst, bytes.ToValidUTF8(text, []byte("\ufffd"))...)
		}
		named = charmap.Windows1252
	}
	out, err := named.NewDecoder().Bytes(text)
	if err != nil {
		return append(dst, bytes.ToValidUTF8(text, []byte("\ufffd"))...)
	}
	return append(dst, out...)
}

// charsetEncoding gives the encoding of a charset, nil where it is not known. What browsers take a name for goes before what it was registered
// for: mail that says iso-8859-1 is windows-1252.
func charsetEncoding(name string) encoding.Encoding {
	const longest = 40
	if len(name) > longest {
		return nil
	}
	if e, err := htmlindex.Get(name); err == nil && e != encoding.Replacement {
		return e
	}
	if e, err := ianaindex.MIME.Encoding(name); err == nil {
		return e // nil where it is registered and not implemented
	}
	return nil
}

// asciiBased says whether a text of ASCII bytes reads the same in a charset.
func asciiBased(charset string) bool {
	return !strings.HasPrefix(charset, "utf-") && !strings.HasPrefix(charset, "utf16") &&
		!strings.HasPrefix(charset, "iso-2022") && !strings.HasPrefix(charset, "csiso2022") &&
		!strings.HasPrefix(charset, "iso-10646") && !strings.Contains(charset, "unicode") &&
		!strings.HasPrefix(charset, "hz") && !strings.HasPrefix(charset, "ucs") && !strings.Contains(charset, "037") && !strings.Contains(charset, "1140") && !strings.Contains(charset, "1047")
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hasMultibyte says whether a text holds a character of several bytes of UTF-8.
func hasMultibyte(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			if r, _ := utf8.DecodeRune(text[i:]); r != utf8.RuneError {
				return true
			}
		}
	}
	return false
}

// unseen says whether a character is one that nobody sees and that no writing needs: fillers of preview lines, marks that hide words
// from filters, tags that hide ASCII in other planes, controls.
func unseen(r rune) bool {
	switch {
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return r != '\n' && r != '\t'
	case r == 0xad || r == 0x34f || r == 0x200b || r == 0xfeff || r >= 0x2060 && r <= 0x2064 || r >= 0x206a && r <= 0x206f:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// appendClean appends text of UTF-8 without what is unseen, with line ends of one "\n".
func appendClean(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		run := i
		for i < len(text) && (text[i] >= ' ' && text[i] < 0x7f || text[i] == '\n' || text[i] == '\t') {
			i++
		}
		dst = append(dst, text[run:i]...)
		if i == len(text) {
			break
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '\r':
			if i+1 == len(text) || text[i+1] != '\n' {
				dst = append(dst, '\n')
			}
		case r == '\f' || r == '\v' || r == 0x85 || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\n')
		case !unseen(r):
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return dst
}
