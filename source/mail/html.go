package mail

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of a text in HTML.
const (
	maxElements  = 512  // open within each other; deeper ones are not told apart from what holds them
	maxLinkBytes = 1000 // a longer address of a link is left out
	maxHTMLBytes = 16 << 20
)

// page turns HTML into text. What a reader of the message does not see is no text: it must not be found, and above all it must not be read
// by a model as if the person had it before their eyes. In doubt an element is hidden where the browser's own rules (HTML 13.2.6)
// would keep it open.
type page struct {
	out   []byte
	limit int
	sheet sheet
	// What style attributes say, by their text: pages repeat few of them thousands of times.
	styles map[string]declared
	open   []element
	// Elements that are open, by name, so that end tags without start tags cost nothing.
	count map[atom.Atom]int
	// Start tags beyond [maxElements], by name: their end tags close nothing.
	over map[atom.Atom]int

	mixed  bool // a formatting element was closed by the end of what held it
	space  bool // white space was read that is not written yet
	breaks int  // line ends to be written before the next text
	tabs   bool // a cell ended
	mark   int  // of out where nothing has been written yet
}

// element is an open element with what it hands down.
type element struct {
	name   atom.Atom
	raw    string // the name where atom does not know it
	look   look
	own    bool // a formatting element that is hidden by itself, not only by what it stands in
	pre    bool
	link   string // its address, of a
	linkAt int    // where its text begins
	items  int    // of a numbered list; -1 for bullets
}

// textOfHTML appends the text of a page of UTF-8, at most limit bytes.
func textOfHTML(dst, source []byte, limit int) (text []byte, cut bool) {
	if len(source) > maxHTMLBytes {
		source, cut = source[:maxHTMLBytes], true
	}
	p := page{styles: map[string]declared{}, out: dst, mark: len(dst), limit: len(dst) + limit, count: map[atom.Atom]int{}, sheet: readSheets(source)}
	p.open = append(make([]element, 0, 32), element{look: p.sheet.page()})
	z := html.NewTokenizer(bytes.NewReader(source))
	z.SetMaxBuf(len(source) + 1)
	for len(p.out) < p.limit {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				cut = true
			}
			return p.end(cut)
		case html.TextToken:
			p.text(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, attributes := z.TagName()
			p.start(z, name, attributes)
		case html.EndTagToken:
			rawName, _ := z.TagName()
			name, raw := atom.Lookup(rawName), ""
			if name == 0 {
				raw = string(rawName)
			}
			p.close(name, raw)
		}
	}
	return p.end(true)
}

func (p *page) end(cut bool) ([]byte, bool) {
	for len(p.open) > 1 { // links that are open have an address
		p.pop()
	}
	if len(p.out) > p.limit {
		p.out = append(p.out[:p.mark], cutText(string(p.out[p.mark:]), p.limit-p.mark)...)
		cut = true
	}
	return p.out, cut
}

func (p *page) top() *element { return &p.open[len(p.open)-1] }

// text writes what stands between two tags.
func (p *page) text(text []byte) {
	e := p.top()
	if e.look.hidden() {
		return
	}
	if e.pre {
		p.gap()
		p.out = append(p.out, text...)
		return
	}
	for len(text) > 0 {
		n := 0
		for n < len(text) && !isSpace(text[n]) {
			n++
		}
		if n > 0 {
			p.gap()
			p.out = append(p.out, text[:n]...)
			text = text[n:]
			continue
		}
		p.space = true
		text = text[1:]
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// gap writes what is due before text: line ends, a tab or a space.
func (p *page) gap() {
	if len(p.out) > p.mark {
		last := p.out[len(p.out)-1]
		switch {
		case p.breaks > 0:
			for range p.breaks {
				p.out = append(p.out, '\n')
			}
		case p.tabs:
			p.out = append(p.out, '\t')
		case p.space && last != ' ' && last != '\n':
			p.out = append(p.out, ' ')
		}
	}
	p.breaks, p.tabs, p.space = 0, false, false
}

func (p *page) line(breaks int) {
	p.breaks, p.space, p.tabs = max(p.breaks, breaks), false, false
}

// start opens an element.
func (p *page) start(z *html.Tokenizer, rawName []byte, attributes bool) {
	name := atom.Lookup(rawName)
	e := element{name: name, items: -1}
	if name == 0 {
		e.raw = string(rawName)
	}
	if isTable(name) && name != atom.Table && p.count[atom.Table] == 0 {
		p.line(1) // a part of no table is none
		return
	}
	p.implied(name)
	up := p.top()
	e.look, e.pre = up.look, up.pre
	a := styling{}
	if attributes {
		a = p.attributes(z, name, &e)
	}
	e.look = p.sheet.look(up.look, name.String()+e.raw, a)
	if isPhrase(name) && e.look.hidden() {
		e.own = !up.look.hidden() || p.sheet.look(p.open[0].look, name.String(), a).hidden()
	}
	switch name {
	case atom.Br:
		if !up.look.hidden() {
			p.breaks, p.space, p.tabs = min(p.breaks+1, 2), false, false
		}
		return
	case atom.Hr:
		p.line(2)
		return
	case atom.Img, atom.Input, atom.Meta, atom.Link, atom.Base, atom.Area, atom.Col, atom.Wbr, atom.Embed, atom.Param, atom.Source, atom.Track,
		atom.Frame, atom.Basefont, atom.Bgsound, atom.Keygen, atom.Image:
		return
	case atom.Head, atom.Style, atom.Script, atom.Template, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript:
		e.look.gone = true
	case atom.Body, atom.Html:
		// There is one of each; another start tag only adds to it.
		if p.count[name] > 0 {
			return
		}
	case atom.Pre, atom.Textarea, atom.Xmp, atom.Plaintext, atom.Listing:
		e.pre = true
	case atom.Ol:
		e.items = 0
	case atom.A:
		e.linkAt = -1
	}
	if !e.look.hidden() {
		p.open = append(p.open, e) // before what it looks like is written
		p.opening(name)
		p.open = p.open[:len(p.open)-1]
	}
	if len(p.open) >= maxElements {
		if p.over == nil {
			p.over = map[atom.Atom]int{}
		}
		p.over[name]++
		if e.look.hidden() { // with all that follows in the innermost element that is kept
			up.look.gone = true
		}
		return
	}
	if name == atom.A && e.link != "" {
		e.linkAt = len(p.out)
	}
	p.count[name]++
	p.open = append(p.open, e)
}

// opening writes what an element begins with.
func (p *page) opening(name atom.Atom) {
	switch name {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Table, atom.Ul, atom.Ol, atom.Dl:
		breaks := 2
		if name == atom.Table || p.within(atom.Li) {
			breaks = 1
		}
		p.line(breaks)
	case atom.Td, atom.Th:
		if p.breaks == 0 {
			p.tabs = true
		}
	case atom.Li:
		p.line(1)
		p.gap()
		for i := len(p.open) - 2; i >= 0; i-- {
			if l := &p.open[i]; l.name == atom.Ol || l.name == atom.Ul {
				if l.items >= 0 {
					l.items++
					p.out = append(p.out, strconv.Itoa(l.items)+". "...)
					return
				}
				break
			}
		}
		p.out = append(p.out, "- "...)
	default:
		if isBlock(name) {
			p.line(1)
		}
	}
}

func (p *page) within(name atom.Atom) bool { return p.count[name] > 0 }

// pop closes the innermost element.
func (p *page) pop() {
	e := p.top()
	if e.link != "" && e.linkAt >= 0 && !e.look.hidden() {
		p.link(e.link, e.linkAt)
	}
	p.count[e.name]--
	hidden, name := e.look.hidden(), e.name
	p.open = p.open[:len(p.open)-1]
	if hidden {
		return
	}
	switch name {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl:
		if p.within(atom.Li) {
			p.line(1)
			return
		}
		p.line(2)
	case atom.Td, atom.Th:
	default:
		if isBlock(name) {
			p.line(1)
		}
	}
}

// link writes the address of a link behind its text, where it says something that the text does not.
func (p *page) link(address string, at int) {
	text := strings.TrimSpace(string(p.out[min(at, len(p.out)):]))
	if text == "" {
		return
	}
	if to, ok := strings.CutPrefix(address, "mailto:"); ok {
		to, _, _ = strings.Cut(to, "?")
		if strings.Contains(strings.ToLower(text), strings.ToLower(to)) {
			return
		}
	} else if bare(text) == bare(address) {
		return
	}
	p.out = append(p.out, " <"+address+">"...)
}

func bare(address string) string {
	address = strings.ToLower(address)
	address = strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
	return strings.TrimSuffix(address, "/")
}

// address gives the address of a link that is worth showing, "" for others: only the web and mail.
func address(href []byte) string {
	s := strings.TrimSpace(string(href))
	if len(s) > maxLinkBytes || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '<' || r == '>' || r == 0x7f || unseen(r) }) {
		return ""
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return ""
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "http", "https", "mailto":
		return scheme + ":" + rest
	}
	return ""
}

// The rules by which tags close elements that are open. They follow HTML 13.2.6.4.7 as far as text depends on it.
