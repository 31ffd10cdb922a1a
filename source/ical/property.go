package ical

import (
	"strings"
	"unicode/utf8"
)

// contentLine is a property of a component (RFC 5545 3.1).
type contentLine struct {
	name       string // in upper case
	parameters []parameter
	value      string // as it stands, escapes and all
}

type parameter struct {
	name  string // in upper case
	value string
}

// parameter gives the value of a parameter, "" where there is none.
func (c *contentLine) parameter(name string) string {
	for _, p := range c.parameters {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// parse takes a content line apart. It is false for what is none: without a colon, or with a
// parameter that does not end.
func parse(s string) (contentLine, bool) {
	end := strings.IndexAny(s, ":;")
	if end <= 0 {
		return contentLine{}, false
	}
	c := contentLine{name: strings.ToUpper(strings.TrimSpace(s[:end]))}
	for s = s[end:]; s[0] == ';'; {
		if len(c.parameters) == MaxParameters {
			return contentLine{}, false
		}
		s = s[1:]
		end := strings.IndexAny(s, "=:;")
		if end < 0 {
			return contentLine{}, false
		}
		p := parameter{name: strings.ToUpper(strings.TrimSpace(s[:end]))}
		if s[end] != '=' { // a parameter without a value, seen in files of old
			s = s[end:]
			continue
		}
		s = s[end+1:]
		// Of a list of values the quotes go and the commas stay: no parameter that is read has one.
		var value strings.Builder
		for quoted := false; ; {
			n := strings.IndexAny(s, `":;`)
			if n < 0 {
				return contentLine{}, false
			}
			if s[n] != '"' && !quoted {
				value.WriteString(s[:n])
				s = s[n:]
				break
			}
			if s[n] == '"' {
				value.WriteString(s[:n])
				quoted = !quoted
			} else {
				value.WriteString(s[:n+1])
			}
			s = s[n+1:]
		}
		p.value = uncaret.Replace(value.String())
		c.parameters = append(c.parameters, p)
	}
	c.value = s[1:]
	return c, true
}

// mendZone puts back together a TZID with a colon, (UTC+01:00) Berlin, that lacks its quotes. No time
// has a colon.
func (c *contentLine) mendZone() {
	colon := strings.LastIndexByte(c.value, ':')
	n := len(c.parameters) - 1
	if colon < 0 || n < 0 || c.parameters[n].name != "TZID" {
		return
	}
	c.parameters[n].value += ":" + c.value[:colon]
	c.value = c.value[colon+1:]
}

// uncaret decodes parameter values (RFC 6868).
var uncaret = strings.NewReplacer("^n", "\n", "^N", "\n", "^'", `"`, "^^", "^")

// text gives a line as UTF-8. One that is something else is read as Windows-1252, which has Latin-1
// in it and, being one byte a letter, always comes out.
func text(line []byte) string {
	if utf8.Valid(line) {
		return string(line)
	}
	var b strings.Builder
	b.Grow(2 * len(line))
	for _, c := range line {
		if c >= 0x80 && c < 0xa0 {
			b.WriteRune(windows1252[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

// windows1252 are the letters of that code page from 0x80 to 0x9f, where Latin-1 has none. Five
// places are empty.
var windows1252 = [32]rune{
	'€', 0xfffd, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0xfffd, 'Ž', 0xfffd,
	0xfffd, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0xfffd, 'ž', 'Ÿ',
}

// unescape reads a TEXT value (RFC 5545 3.3.11), without control characters.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return clean(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n', 'N':
			b.WriteByte('\n')
		case '\\', ',', ';', ':', '"':
			b.WriteByte(s[i])
		default: // no escape of this standard, as in a path of Windows
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return clean(b.String())
}

// clean takes control characters out, other than line breaks and tabs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

// split takes a list of TEXT values apart at the commas that are not escaped.
func split(s string, most int) []string {
	var list []string
	from := 0
	for i := 0; i <= len(s) && len(list) < most; i++ {
		switch {
		case i+1 < len(s) && s[i] == '\\':
			i++
		case i == len(s) || s[i] == ',':
			if one := strings.TrimSpace(unescape(s[from:min(i, len(s))])); one != "" {
				list = append(list, one)
			}
			from = i + 1
		}
	}
	return list
}
