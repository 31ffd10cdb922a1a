package mail

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/store"
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

// parties reads a list of addresses (RFC 5322 3.4, 4.4), at most limit. What stands there instead of an address is kept as a name.
func parties(raw []byte, limit int) []store.Party {
	var all []store.Party
	var name, address []byte // name is not decoded
	angle, quoted := false, false
	comment := 0
	var remark []byte
	flush := func() {
		p := store.Party{Name: cutText(decode(name), maxNamesBytes)}
		if address != nil {
			p.Address = mailbox(address)
		} else if p.Address = mailbox([]byte(p.Name)); p.Address != "" {
			p.Name = cutText(decode(remark), maxNamesBytes)
		}
		if p.Name == "" && p.Address == "" {
			p.Name = cutText(decode(address), maxNamesBytes)
		}
		if string(p.Address) == strings.ToLower(p.Name) {
			p.Name = ""
		}
		if p != (store.Party{}) && len(all) < limit {
			all = append(all, p)
		}
		name, address, remark, angle, quoted, comment = nil, nil, nil, false, false, 0
	}
	for i := 0; i < len(raw) && len(all) < limit; i++ {
		c := raw[i]
		into := &name
		switch {
		case angle:
			into = &address
		case comment > 0:
			into = &remark
		}
		switch {
		case c == '\\' && (quoted || comment > 0) && i+1 < len(raw):
			i++
			*into = append(*into, raw[i])
		case comment > 0 && c == ')':
			if comment--; comment > 0 {
				*into = append(*into, c)
			}
		case comment > 0 && c == '(':
			comment++
			*into = append(*into, c)
		case comment > 0:
			*into = append(*into, c)
		case c == '"':
			quoted = !quoted
		case quoted:
			*into = append(*into, c)
		case c == '(' && !angle:
			comment = 1
		case c == '<' && address == nil:
			angle, address = true, []byte{}
		case c == '>':
			angle = false
		case c == ':' && !angle && !bytes.Contains(name, []byte("@")): // a group: its members are what counts
			name = nil
		case (c == ',' || c == ';') && (!angle || c == ','):
			// A route (RFC 5322 4.4) has commas of its own.
			if angle && bytes.HasPrefix(bytes.TrimSpace(address), []byte("@")) {
				*into = append(*into, c)
				continue
			}
			flush()
		default:
			*into = append(*into, c)
		}
	}
	flush()
	return all
}

func mailbox(raw []byte) store.Identifier {
	if at := bytes.LastIndexByte(raw, ':'); at >= 0 && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("@")) {
		raw = raw[at+1:]
	}
	if bytes.IndexByte(raw, '@') < 0 {
		return ""
	}
	return store.EmailIdentifier(string(raw))
}

// normalID gives a Message-ID without brackets, white space and control characters.
func normalID(raw []byte) string {
	if from := bytes.IndexByte(raw, '<'); from >= 0 {
		raw = raw[from+1:]
		if to := bytes.IndexByte(raw, '>'); to >= 0 {
			raw = raw[:to]
		}
	}
	id := strings.ToValidUTF8(string(raw), "")
	id = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || unseen(r) || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, id)
	return cutText(id, maxIDBytes)
}

// ids gives the Message-IDs of References or In-Reply-To. Of more than [maxReferences] the first and the last are kept.
func ids(raw []byte) []string {
	var all []string
	for {
		from := bytes.IndexByte(raw, '<')
		if from < 0 {
			return all
		}
		raw = raw[from:]
		to := bytes.IndexByte(raw, '>')
		if to < 0 {
			return all
		}
		if id := normalID(raw[:to+1]); id != "" && strings.Contains(id, "@") {
			if len(all) == maxReferences {
				copy(all[1:], all[2:])
				all = all[:maxReferences-1]
			}
			all = append(all, id)
		}
		raw = raw[to+1:]
	}
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
			if first.section == "" || p.name != first.name || number != itoa(want) {
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

// decodeBase64 appends what can be decoded (RFC 2045 6.8): signs that are not of the alphabet are passed over, and text that goes on behind
// its padding too.
func decodeBase64(dst, text []byte) []byte {
	start := len(dst)
	need := base64.StdEncoding.DecodedLen(len(text))
	dst = append(dst, make([]byte, need)...)
	// The common case, whole lines without damage, is the library's: it passes over line ends.
	if n, err := base64.StdEncoding.Decode(dst[start:], text); err == nil {
		return dst[:start+n]
	}
	dst = dst[:start]
	var bits uint32
	held := 0
	for _, c := range text {
		v := base64Values[c]
		if v == 0xff {
			if c == '=' {
				bits, held = 0, 0
			}
			continue
		}
		bits = bits<<6 | uint32(v)
		if held += 6; held >= 8 {
			held -= 8
			dst = append(dst, byte(bits>>held))
		}
	}
	return dst
}

var base64Values = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(alphabet) {
		values[alphabet[i]] = byte(i)
	}
	values['+'], values['-'], values['/'], values['_'] = 62, 62, 63, 63
	return values
}()

// decodeQuoted appends what quoted-printable text stands for (RFC 2045 6.7). What is no escape stays as it is.
func decodeQuoted(dst, text []byte) []byte {
	for len(text) > 0 {
		line := text
		end := bytes.IndexByte(text, '\n')
		if end >= 0 {
			line = text[:end]
		}
		text = text[min(len(line)+1, len(text)):]
		line = bytes.TrimRight(line, " \t\r")
		soft := bytes.HasSuffix(line, []byte("="))
		if soft {
			line = line[:len(line)-1]
		}
		for {
			at := bytes.IndexByte(line, '=')
			if at < 0 {
				break
			}
			dst = append(dst, line[:at]...)
			line = line[at+1:]
			if len(line) >= 2 {
				if v, ok := hexByte(line[0], line[1]); ok {
					dst = append(dst, v)
					line = line[2:]
					continue
				}
			}
			dst = append(dst, '=')
		}
		dst = append(dst, line...)
		if !soft && end >= 0 {
			dst = append(dst, '\n')
		}
	}
	return dst
}

func hexByte(high, low byte) (byte, bool) {
	h, l := hexValues[high], hexValues[low]
	return h<<4 | l, h|l != 0xff
}

var hexValues = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i := range 10 {
		values['0'+i] = byte(i)
	}
	for i := range 6 {
		values['a'+i], values['A'+i] = byte(10+i), byte(10+i)
	}
	return values
}()
