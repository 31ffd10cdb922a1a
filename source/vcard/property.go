package vcard

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// Limits of the lines of a card.
const (
	MaxProperties = 25_000   // what follows is left out
	maxHeadBytes  = 16 << 10 // of the name and the parameters; a line with a longer head is no property
	maxRawBytes   = 1 << 20  // of a value as it stands: more than any text that is kept, in any encoding
)

// property is one content line (RFC 6350 section 3.3).
type property struct {
	name   string              // in capitals, without its group
	params map[string][]string // by names in capitals; a word of 2.1 without a name is a TYPE or an ENCODING
	value  string              // decoded to UTF-8, with its backslashes
	old    bool                // of a vCard 2.1, where a backslash escapes only a semicolon
}

// unkept are properties of which only the presence counts.
var unkept = map[string]bool{"PHOTO": true, "LOGO": true, "SOUND": true, "KEY": true}

// properties reads the lines of a card, and says whether there are more than it reads. A line that is no property is left out.
func properties(lines [][]byte) (all []property, cut bool) {
	old := false
	for _, line := range unfold(lines) {
		p, ok := parseProperty(line)
		if !ok {
			continue
		}
		if p.name == "VERSION" {
			old = strings.TrimSpace(p.value) == "2.1"
		}
		if len(all) == MaxProperties {
			cut = true
			break
		}
		all = append(all, p)
	}
	for i := range all {
		all[i].old = old
	}
	return all, cut
}

// unfold joins lines that continue others: those that begin with white space, and in quoted-printable those behind a
// soft break (RFC 2045 section 6.7), which 2.1 uses.
func unfold(lines [][]byte) [][]byte {
	var whole [][]byte
	soft := false // the line so far ends with a soft break
	for _, line := range lines {
		last := len(whole) - 1
		switch {
		case soft:
			whole[last] = append(whole[last], line...)
		case last >= 0 && len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
			whole[last] = append(whole[last], line[1:]...)
		default:
			whole = append(whole, bytes.Clone(line))
			last++
		}
		soft = false
		if text, broken := bytes.CutSuffix(whole[last], []byte("=")); broken && isQuotedPrintable(whole[last]) {
			whole[last], soft = text, true
		}
	}
	return whole
}

func isQuotedPrintable(line []byte) bool {
	head, _, ok := bytes.Cut(line[:min(len(line), 1024)], []byte(":"))
	return ok && bytes.Contains(bytes.ToUpper(head), []byte("QUOTED-PRINTABLE"))
}

func parseProperty(line []byte) (property, bool) {
	head, value, ok := cutHead(line)
	if !ok || len(head) > maxHeadBytes || !utf8.Valid(head) {
		return property{}, false
	}
	parts := splitOutsideQuotes(string(head), ';')
	name := strings.ToUpper(strings.TrimSpace(parts[0]))
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 { // the group of "item1.EMAIL"
		name = name[dot+1:]
	}
	if name == "" {
		return property{}, false
	}
	p := property{name: name, params: map[string][]string{}}
	for _, part := range parts[1:] {
		p.addParameter(part)
	}
	if unkept[name] {
		return p, true
	}
	p.value = text(p.decoded(value[:min(len(value), maxRawBytes)]), p.param("CHARSET"))
	return p, true
}

// cutHead divides a line at the first colon outside quotation marks, or at the first of all where the marks do not pair.
func cutHead(line []byte) (head, value []byte, ok bool) {
	quoted := false
	for i, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case b == ':' && !quoted:
			return line[:i], line[i+1:], true
		}
	}
	return bytes.Cut(line, []byte(":"))
}

func splitOutsideQuotes(s string, by byte) []string {
	var parts []string
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == by && !quoted:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// caret undoes RFC 6868.
var caret = strings.NewReplacer("^^", "^", "^n", "\n", "^'", `"`)

func (p property) addParameter(part string) {
	name, value, named := strings.Cut(part, "=")
	name = strings.ToUpper(strings.TrimSpace(name))
	if !named {
		value = name
		switch name {
		case "":
			return
		case "QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT":
			name = "ENCODING"
		default:
			name = "TYPE"
		}
	}
	for _, v := range splitOutsideQuotes(value, ',') {
		p.params[name] = append(p.params[name], caret.Replace(strings.Trim(strings.TrimSpace(v), `"`)))
	}
}

// param is the first value of a parameter, "" where there is none.
func (p property) param(name string) string {
	if values := p.params[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// preferred tells a property that its card prefers to others of its name: a TYPE of pref, or PREF in 4.0.
func (p property) preferred() bool {
	for _, t := range p.params["TYPE"] {
		if strings.EqualFold(t, "pref") {
			return true
		}
	}
	return p.param("PREF") == "1"
}

// decoded undoes the encoding of a value. What does not decode is left as it stands.
func (p property) decoded(value []byte) []byte {
	switch strings.ToUpper(p.param("ENCODING")) {
	case "QUOTED-PRINTABLE", "Q":
		return unquotePrintable(value)
	case "BASE64", "B":
		plain := bytes.Map(func(r rune) rune {
			if r == ' ' || r == '\t' {
				return -1
			}
			return r
		}, value)
		out := make([]byte, base64.StdEncoding.DecodedLen(len(plain)))
		if n, err := base64.StdEncoding.Decode(out, plain); err == nil {
			return out[:n]
		}
	}
	return value
}

// unquotePrintable undoes quoted-printable (RFC 2045 section 6.7) without soft breaks. An equals sign that is no escape stays.
func unquotePrintable(value []byte) []byte {
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		if value[i] == '=' && i+2 < len(value) {
			high, low := hexDigit(value[i+1]), hexDigit(value[i+2])
			if high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		out = append(out, value[i])
	}
	return out
}

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	}
	return -1
}

// text makes UTF-8 of a value: by the character set it names, or, where it is no UTF-8 and names none that is known, as Windows-1252, in
// which the address books of Windows wrote. Line ends become line feeds; other control characters go.
func text(value []byte, charset string) string {
	if charset != "" && !strings.EqualFold(charset, "utf-8") {
		if known, err := htmlindex.Get(charset); err == nil {
			if decoded, err := known.NewDecoder().Bytes(value); err == nil {
				value = decoded
			}
		}
	}
	if !utf8.Valid(value) {
		value, _ = charmap.Windows1252.NewDecoder().Bytes(value)
	}
	s := strings.ReplaceAll(strings.ToValidUTF8(string(value), "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, s)
}

// split divides a value at a sign that no backslash stands before.
func (p property) split(by byte) []property {
	var parts []property
	part, from := p, 0
	for i := 0; i < len(p.value); i++ {
		switch {
		case p.value[i] == '\\':
			i++
		case p.value[i] == by:
			part.value = p.value[from:i]
			parts = append(parts, part)
			from = i + 1
		}
	}
	part.value = p.value[from:]
	return append(parts, part)
}

// plain is the value without its backslashes and without white space around it.
func (p property) plain() string {
	if !strings.Contains(p.value, `\`) {
		return strings.TrimSpace(p.value)
	}
	var b strings.Builder
	for i := 0; i < len(p.value); i++ {
		c := p.value[i]
		if c != '\\' || i+1 == len(p.value) {
			b.WriteByte(c)
			continue
		}
		switch next := p.value[i+1]; {
		case next == ';', !p.old && strings.IndexByte(`\,:`, next) >= 0:
			b.WriteByte(next)
			i++
		case !p.old && (next == 'n' || next == 'N'):
			b.WriteByte('\n')
			i++
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// plains are the parts of a value, divided at a sign, without the empty ones.
func (p property) plains(by byte) []string {
	var all []string
	for _, part := range p.split(by) {
		if s := part.plain(); s != "" {
			all = append(all, s)
		}
	}
	return all
}
