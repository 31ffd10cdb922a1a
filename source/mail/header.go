package mail

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a header.
const (
	maxHeaderBytes = 1 << 20
	maxValueBytes  = 256 << 10 // of one field
	maxParameters  = 100       // of one field
	maxNamesBytes  = 255       // of the name of a party or an attachment
	maxReferences  = 50
	maxIDBytes     = 900 // of a Message-ID
)

// header holds the fields of a header that matter here, as they stand in the message, folded and encoded. Of fields that may stand
// once the first counts.
type header struct {
	from, sender, to, cc, subject, date        []byte
	messageID, inReplyTo, references, received []byte
	listID, gmailLabels, gmailThread           []byte
	contentType, transfer, disposition         []byte
	fields                                     int // of any name
}

// slot gives the place of a field by its name in lower case, nil where it does not matter.
func (h *header) slot(name []byte) *[]byte {
	switch string(name) {
	case "from":
		return &h.from
	case "sender":
		return &h.sender
	case "to":
		return &h.to
	case "cc":
		return &h.cc
	case "subject":
		return &h.subject
	case "date":
		return &h.date
	case "message-id":
		return &h.messageID
	case "in-reply-to":
		return &h.inReplyTo
	case "references":
		return &h.references
	case "received": // the newest stands first (RFC 5321 4.4)
		return &h.received
	case "list-id":
		return &h.listID
	case "x-gmail-labels":
		return &h.gmailLabels
	case "x-gm-thrid":
		return &h.gmailThread
	case "content-type":
		return &h.contentType
	case "content-transfer-encoding":
		return &h.transfer
	case "content-disposition":
		return &h.disposition
	}
	return nil
}

const longestName = len("content-transfer-encoding")

// readHeader reads the header of a message or part and gives what follows its blank line. A line that is no field is passed over where fields
// follow, else the body begins with it: some programs forget the blank line.
func readHeader(message []byte) (h header, body []byte) {
	rest := message
	var last *[]byte // the field that a folded line goes on
	for len(rest) > 0 && len(message)-len(rest) < maxHeaderBytes {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
		}
		after := rest[len(line):]
		c := line[0]
		if c == '\n' || c == '\r' && len(bytes.TrimRight(line, "\r\n")) == 0 {
			return h, after
		}
		if c == ' ' || c == '\t' {
			// The lines of a field stand behind each other: the field grows over its end.
			if last != nil && len(*last)+len(line) <= maxValueBytes {
				*last = (*last)[:len(*last)+len(line)]
			} else {
				last = nil
			}
			rest = after
			continue
		}
		last = nil
		colon := fieldName(line)
		if colon < 0 {
			if h.fields == 0 || !goesOn(after) {
				return h, rest
			}
			rest = after
			continue
		}
		h.fields++
		if name := bytes.TrimRight(line[:colon], " \t"); len(name) <= longestName {
			var lower [longestName]byte
			for i, c := range name {
				if c >= 'A' && c <= 'Z' {
					c |= 0x20
				}
				lower[i] = c
			}
			if slot := h.slot(lower[:len(name)]); slot != nil && *slot == nil && len(line) <= maxValueBytes {
				*slot = line[colon+1:]
				last = slot
			}
		}
		rest = after
	}
	return h, rest
}

// fieldName gives where the colon behind the name of a field stands, -1 where the line is no field (RFC 5322 2.2; 4.5.8 allows space
// before the colon).
func fieldName(line []byte) int {
	for i, c := range line {
		switch {
		case c == ':':
			if i == 0 {
				return -1
			}
			return i
		case c == ' ' || c == '\t':
			rest := bytes.TrimLeft(line[i:], " \t")
			if i == 0 || len(rest) == 0 || rest[0] != ':' {
				return -1
			}
			return len(line) - len(rest)
		case c < '!' || c > '~':
			return -1
		}
	}
	return -1
}

// goesOn says whether a header goes on behind a line that is no field.
func goesOn(rest []byte) bool {
	line, _, _ := bytes.Cut(rest[:min(len(rest), maxFromLine)], []byte("\n"))
	return fieldName(line) > 0 && !bytes.HasPrefix(line, []byte("http"))
}

// decode gives the text of an unstructured field: unfolded, its encoded words (RFC 2047) decoded, on one line.
func decode(raw []byte) string {
	plain := true
	for i, c := range raw {
		if c < ' ' || c >= 0x7f || c == '=' && i+1 < len(raw) && raw[i+1] == '?' {
			plain = false
			break
		}
	}
	if plain {
		return string(bytes.TrimSpace(raw))
	}
	if !bytes.Contains(raw, []byte("=?")) {
		return oneLine(decodeCharset(nil, raw, ""))
	}
	return oneLine(decodeWords(raw))
}

// decodeWords decodes the encoded words of a text. The bytes of words of one charset that follow each other are joined before they are
// decoded: many programs cut a word in the middle of a character.
func decodeWords(raw []byte) []byte {
	var out, pending []byte
	var charset string
	flush := func() {
		out = decodeCharset(out, pending, charset)
		pending = pending[:0]
	}
	for len(raw) > 0 {
		start := bytes.Index(raw, []byte("=?"))
		if start < 0 {
			break
		}
		c, data, rest, ok := encodedWord(pending, raw[start:])
		if !ok {
			flush()
			out = decodeCharset(out, raw[:start+2], "")
			raw = raw[start+2:]
			continue
		}
		between := raw[:start]
		if len(pending) == 0 || len(bytes.TrimSpace(between)) > 0 || !strings.EqualFold(c, charset) {
			word := append([]byte(nil), data[len(pending):]...)
			adjacent := len(pending) > 0 && len(bytes.TrimSpace(between)) == 0
			flush()
			if !adjacent {
				out = decodeCharset(out, between, "")
			}
			pending, charset = word, c
		} else {
			pending = data
		}
		raw = rest
	}
	flush()
	return decodeCharset(out, raw, "")
}

// encodedWord appends to dst the bytes of the encoded word that text begins with.
func encodedWord(dst, text []byte) (charset string, data, rest []byte, ok bool) {
	const longest = 4096 // RFC 2047 says 75; programs do not
	word := text[2:min(len(text), longest)]
	c, word, ok := bytes.Cut(word, []byte("?"))
	if !ok || len(word) < 2 || word[1] != '?' || len(c) == 0 {
		return "", nil, nil, false
	}
	encoding := word[0] | 0x20
	word = word[2:]
	end := bytes.Index(word, []byte("?="))
	if end < 0 || bytes.ContainsRune(word[:end], '\n') && encoding == 'q' {
		return "", nil, nil, false
	}
	rest = text[len(text[:min(len(text), longest)])-len(word)+end+2:]
	charset, _, _ = strings.Cut(string(c), "*") // RFC 2231 5: a language may follow
	if dst == nil {
		dst = []byte{}
	}
	switch encoding {
	case 'b':
		return charset, decodeBase64(dst, word[:end]), rest, true
	case 'q':
		for i := 0; i < end; i++ {
			c := word[i]
			if c == '_' {
				c = ' '
			} else if c == '=' && i+2 < len(word) {
				if v, ok := hexByte(word[i+1], word[i+2]); ok {
					c = v
					i += 2
				}
			}
			dst = append(dst, c)
		}
		return charset, dst, rest, true
	}
	return "", nil, nil, false
}

// oneLine gives a text without signs that are not shown, each run of white space one space.
func oneLine(text []byte) string {
	out := make([]byte, 0, len(text))
	space := false
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		switch {
		case r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029:
			space = len(out) > 0
		case unseen(r):
		default:
			if space {
				out, space = append(out, ' '), false
			}
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return string(out)
}

// cutText is text of at most limit bytes, cut between two characters.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// parameters splits a field like Content-Type into its value in lower case and its parameters, as RFC 2045 5.1 and RFC 2231 say, and takes
// what programs write instead: no quotes, no value, encoded words in quotes. Each gets a name in lower case and a decoded text.
func parameters(raw []byte, each func(name, value string)) string {
	value, rest, _ := bytes.Cut(raw, []byte(";"))
	var pieces []piece
	for n := 0; len(rest) > 0 && n < maxParameters; n++ {
		var name, text []byte
		at := bytes.IndexAny(rest, "=;")
		if at < 0 {
			break
		}
		if rest[at] == ';' {
			rest = rest[at+1:]
			continue
		}
		name, rest = bytes.TrimSpace(rest[:at]), bytes.TrimLeft(rest[at+1:], " \t\r\n")
		if len(rest) > 0 && rest[0] == '"' {
			text, rest = quotedString(rest[1:])
		} else {
			end := bytes.IndexByte(rest, ';')
			if end < 0 {
				end = len(rest)
			}
			text, rest = bytes.TrimSpace(rest[:end]), rest[end:]
		}
		if end := bytes.IndexByte(rest, ';'); end >= 0 {
			rest = rest[end+1:]
		} else {
			rest = nil
		}
		key := strings.ToLower(string(name))
		if base, section, extended := strings.Cut(key, "*"); extended {
			pieces = append(pieces, piece{base, section, text})
			continue
		}
		each(key, decode(text))
	}
	joinPieces(pieces, each)
	return strings.ToLower(string(bytes.TrimSpace(value)))
}

// piece is a parameter with an asterisk in its name: name*, name*0 or name*0* (RFC 2231 3 and 4).
type piece struct {
	name, section string
	text          []byte
}

func joinPieces(pieces []piece, each func(name, value string)) {
	for i, first := range pieces {
		if first.section != "" && first.section != "0" && first.section != "0*" {
			continue
		}
		text, charset := first.text, ""
		if first.section != "0" {
			if parts := bytes.SplitN(text, []byte("'"), 3); len(parts) == 3 {
				charset, text = string(parts[0]), parts[2]
			}
			text = percent(text)
		}
		text = append([]byte(nil), text...)
		want := 1
		for _, p := range pieces[i+1:] { // in the order they should stand in
			number, encoded := strings.CutSuffix(p.section, "*")
			if first.section == "" || p.name != first.name || number != strconv.Itoa(want) {
				continue
			}
			want++
			if encoded {
				text = append(text, percent(p.text)...)
			} else {
				text = append(text, p.text...)
			}
		}
		each(first.name, oneLine(decodeCharset(nil, text, charset)))
	}
}

func percent(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' && i+2 < len(text) {
			if v, ok := hexByte(text[i+1], text[i+2]); ok {
				c = v
				i += 2
			}
		}
		out = append(out, c)
	}
	return out
}

// quotedString reads behind the first quote to the second.
func quotedString(text []byte) (value, rest []byte) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			value = append(value, text[i])
		case c == '"':
			return value, text[i+1:]
		default:
			value = append(value, c)
		}
	}
	return value, nil
}
