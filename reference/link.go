package reference

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/scripts"
)

// schemeEnd stands between the scheme of a link and its host.
const schemeEnd = "://"

// Brackets that may be part of a link if they come in pairs, as in a_(b) and {id}. The angle ones
// are not among them: RFC 3986 has them in no URL, and they enclose links in mail, HTML and chat.
const (
	openBrackets  = "([{"
	closeBrackets = ")]}"
)

// trailing are the ASCII signs that end a sentence, a quotation, a table cell or an emphasis and not
// a link, and brackets that open after it.
const trailing = ".,;:!?'_|" + openBrackets

// link is an http or https URL found in a text (governed-runs 3.1).
type link struct {
	scheme string // lower case
	host   string // lower case, with the port, without user and password
	tail   string // path, query and fragment as written
	end    int    // where in the text it ends
}

// linkAt returns the link whose scheme is the word from start to end. The word must be the whole
// scheme: in xhttp://host and git+https://host it is not.
func linkAt(text string, start, end int) (link, bool) {
	var before byte
	if start > 0 {
		before = text[start-1]
	}
	if before == '+' || !startsLink(text[start:]) {
		return link{}, false
	}
	from := end + len(schemeEnd)
	l := linkReader{text: text, before: before, pos: from}
	// The host is judged before the rest is read, so that a text of nothing but schemes without
	// hosts is not read to its end from each of them.
	l.readTo("/?#|")
	if !named(hostOf(text[from:l.pos])) {
		return link{}, false
	}
	// After a bare host a bar is the edge of a table cell.
	if !strings.HasPrefix(text[l.pos:], "|") {
		l.readTo("")
	}
	body := trimLink(text[from:l.pos], before)
	tail := strings.IndexAny(body, "/?#")
	if tail < 0 {
		tail = len(body)
	}
	return link{
		scheme: strings.ToLower(text[start:end]),
		host:   strings.ToLower(hostOf(body[:tail])),
		tail:   body[tail:],
		end:    from + len(body),
	}, true
}

// startsLink says whether s starts with the scheme of a link, in any case.
func startsLink(s string) bool {
	head := strings.ToLower(s[:min(len(s), len("https"+schemeEnd))])
	return strings.HasPrefix(head, "http"+schemeEnd) || strings.HasPrefix(head, "https"+schemeEnd)
}

// hostOf takes user and password off the authority of a link (RFC 3986 3.2). They are no part of
// what is named, and a password is not to be printed, stored and shown to a model.
func hostOf(authority string) string {
	return authority[strings.LastIndexByte(authority, '@')+1:]
}

// named says whether host has a letter or digit. Dots alone are what prose writes for any host.
func named(host string) bool {
	return strings.ContainsFunc(host, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// hostname returns the host without its port.
func (l link) hostname() string {
	name, _, _ := strings.Cut(l.host, ":")
	return name
}

// path returns the part of the tail before query and fragment.
func (l link) path() string {
	if n := strings.IndexAny(l.tail, "?#"); n >= 0 {
		return l.tail[:n]
	}
	return l.tail
}

// linkReader finds how far a link reaches, before the signs at its end are trimmed.
type linkReader struct {
	text   string
	before byte // what stands before the scheme, 0 at the start of the text
	pos    int
	open   [len(openBrackets)]int // brackets not closed yet
}

// readTo moves on to the first sign that is one of stops or cannot be part of the link.
func (l *linkReader) readTo(stops string) {
	for l.pos < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.pos:])
		if strings.ContainsRune(stops, r) || l.endsAt(r) {
			return
		}
		l.pos += size
	}
}

// endsAt says whether r, the sign at pos, cannot be part of the link. It counts brackets.
func (l *linkReader) endsAt(r rune) bool {
	if n := strings.IndexRune(openBrackets, r); n >= 0 {
		l.open[n]++
		return false
	}
	if n := strings.IndexRune(closeBrackets, r); n >= 0 {
		l.open[n]--
		return l.open[n] < 0
	}
	switch r {
	case ' ', '<', '>', '"', '`', '\\', utf8.RuneError:
		return true
	case '\'':
		return l.before == '\''
	case ',', ';':
		// A list of links without spaces.
		return startsLink(l.text[l.pos+1:])
	case '|':
		// Browsers leave this sign as it is in a link, so that it needs more to end one.
		return l.before == '<' || l.before == '|' || closesLabel(l.text[l.pos+1:])
	}
	return !unicode.IsPrint(r) || endsLink(r)
}

// closesLabel says whether s, which follows a bar, is the label of a chat link: <URL|label>.
func closesLabel(s string) bool {
	n := strings.IndexAny(s, "<>|\n")
	return n >= 0 && s[n] == '>'
}

// cjkSigns are the punctuation of Chinese, Japanese and Korean text and the full-width forms.
var cjkSigns = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x3000, Hi: 0x303f, Stride: 1},
	{Lo: 0x30a0, Hi: 0x30a0, Stride: 1},
	{Lo: 0x30fb, Hi: 0x30fb, Stride: 1},
	{Lo: 0xfe10, Hi: 0xfe1f, Stride: 1},
	{Lo: 0xfe30, Hi: 0xfe4f, Stride: 1},
	{Lo: 0xff00, Hi: 0xffef, Stride: 1},
}}

// endsLink says whether r is text that follows a link without a space: CJK text and punctuation, of
// which Korean adds its particles to the word before, every other script written without spaces, and
// quotes and brackets outside ASCII.
func endsLink(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.In(r, unicode.Hangul, cjkSigns,
		unicode.Pi, unicode.Pf, unicode.Ps, unicode.Pe) || scripts.IsUnspaced(r))
}

// trimLink takes off the end of s what belongs to the sentence and not to the link. There is always
// a host in s, so that some of it stays.
func trimLink(s string, before byte) string {
	for {
		r, size := utf8.DecodeLastRuneInString(s)
		switch {
		case strings.HasSuffix(s, "**"):
			size = len("**")
		case r == '*' && before == '*':
			// A single star may be a pattern. After another one before the link it is emphasis.
		case !trailsLink(r):
			return s
		}
		s = s[:len(s)-size]
	}
}

// trailsLink says whether r at the end of a link belongs to the sentence around it.
func trailsLink(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune(trailing, r)
	}
	return unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.Is(unicode.Variation_Selector, r)
}
