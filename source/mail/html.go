package mail

import (
	"bytes"
	"io"
	"slices"
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
					p.out = append(p.out, itoa(l.items)+". "...)
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

// isBlock says whether an element stands on lines of its own; these are the special elements that an end tag of another does not close.
func isBlock(name atom.Atom) bool {
	switch name {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
		atom.H6, atom.Header, atom.Hgroup, atom.Html, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Pre,
		atom.Section, atom.Summary, atom.Ul, atom.Xmp, atom.Plaintext:
		return true
	}
	return isTable(name)
}

func isHeading(name atom.Atom) bool {
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

func isTable(name atom.Atom) bool {
	switch name {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		return true
	}
	return false
}

// isSpecial are blocks and others that end tags of phrases do not reach over.
func isSpecial(name atom.Atom) bool {
	switch name {
	case atom.Head, atom.Style, atom.Script, atom.Template, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Textarea,
		atom.Applet, atom.Button, atom.Marquee, atom.Object, atom.Select, atom.Frameset, atom.Colgroup:
		return true
	}
	return isBlock(name)
}

// isBarrier are the elements that nothing inside closes (13.2.4.2, "has an element in scope").
func isBarrier(name atom.Atom) bool {
	switch name {
	case atom.Applet, atom.Caption, atom.Html, atom.Table, atom.Td, atom.Th, atom.Marquee, atom.Object, atom.Template:
		return true
	}
	return false
}

// isMarker are the elements that formatting elements do not go on behind (13.2.4.3).
func isMarker(name atom.Atom) bool { return isBarrier(name) && name != atom.Table && name != atom.Html }

// isPhrase are the formatting elements, which go on behind an end tag that closes what holds them (13.2.4.3).
func isPhrase(name atom.Atom) bool {
	switch name {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// inScope gives the place of the innermost open element of a name, 0 where there is none or a barrier is before it.
func (p *page) inScope(name atom.Atom, barrier func(atom.Atom) bool) int {
	if p.count[name] == 0 {
		return 0
	}
	for i := len(p.open) - 1; i > 0; i-- {
		if p.open[i].name == name {
			return i
		}
		if barrier(p.open[i].name) {
			break
		}
	}
	return 0
}

// implied closes what a start tag closes.
func (p *page) implied(name atom.Atom) {
	if p.count[atom.Head] > 0 {
		switch name {
		case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Title, atom.Noscript, atom.Noframes, atom.Style, atom.Script,
			atom.Template, atom.Head, atom.Html:
		default:
			if at := p.inScope(atom.Head, func(n atom.Atom) bool { return n == atom.Template }); at > 0 {
				p.popTo(at)
			}
		}
	}
	isTableOf := func(n atom.Atom) bool { return n == atom.Table || n == atom.Template }
	closes := func(names ...atom.Atom) {
		for _, n := range names {
			if at := p.inScope(n, isTableOf); at > 0 {
				p.popTo(at)
			}
		}
	}
	switch name {
	case atom.Table: // one that stands in no cell of another ends it
		if at := p.inScope(name, isMarker); at > 0 {
			p.popTo(at)
		}
	case atom.Td, atom.Th:
		closes(atom.Td, atom.Th, atom.Caption)
		p.backTo(atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Table)
		p.imply(atom.Table, atom.Tbody)
		p.imply(atom.Tbody, atom.Tr)
		p.imply(atom.Thead, atom.Tr)
		p.imply(atom.Tfoot, atom.Tr)
	case atom.Tr:
		closes(atom.Td, atom.Th, atom.Tr, atom.Caption)
		p.backTo(atom.Tbody, atom.Thead, atom.Tfoot, atom.Table)
		p.imply(atom.Table, atom.Tbody)
	case atom.Tbody, atom.Thead, atom.Tfoot:
		closes(atom.Td, atom.Th, atom.Tr, atom.Caption, atom.Tbody, atom.Thead, atom.Tfoot)
		p.backTo(atom.Table)
	case atom.Li, atom.Dd, atom.Dt:
		p.item(name)
	case atom.Option, atom.Optgroup:
		if p.top().name == atom.Option {
			p.popTo(len(p.open) - 1)
		}
	case atom.A, atom.Nobr, atom.Button:
		if at := p.inScope(name, isBarrier); at > 0 {
			p.popOnly(at)
		}
	}
	if isBlock(name) && (!isTable(name) || name == atom.Table) && name != atom.Html && name != atom.Body || name == atom.Hr {
		// Old pages (those without a DOCTYPE) keep a paragraph open around a table: taken so where something is hidden.
		if at := p.inScope(atom.P, inButton); at > 0 && (name != atom.Table || !p.top().look.hidden()) {
			p.popTo(at)
		}
	}
	// A formatting element may be due in the heading, which then is not closed: a hidden one is taken to stay.
	if isHeading(name) && isHeading(p.top().name) && (!p.mixed || !p.top().look.hidden()) {
		p.popTo(len(p.open) - 1)
	}
}

// backTo closes what was opened in a table outside of its cells, up to the innermost of the names.
func (p *page) backTo(names ...atom.Atom) {
	for i := len(p.open) - 1; i > 0; i-- {
		if slices.Contains(names, p.open[i].name) {
			if i+1 < len(p.open) {
				p.popTo(i + 1)
			}
			return
		}
	}
}

// imply opens a part of a table that has no tag of its own.
func (p *page) imply(in, name atom.Atom) {
	if up := p.top(); up.name == in && len(p.open) < maxElements {
		p.count[name]++
		p.open = append(p.open, element{name: name, look: up.look, items: -1})
	}
}

func inButton(name atom.Atom) bool { return name == atom.Button || isBarrier(name) }

// item closes the item of a list before the next.
func (p *page) item(name atom.Atom) {
	for i := len(p.open) - 1; i > 0; i-- {
		n := p.open[i].name
		if n == name || name != atom.Li && (n == atom.Dd || n == atom.Dt) {
			p.popTo(i)
			return
		}
		if isSpecial(n) && n != atom.Address && n != atom.Div && n != atom.P {
			return
		}
	}
}

// close closes what an end tag closes.
func (p *page) close(name atom.Atom, raw string) {
	switch {
	case p.over[name] > 0:
		p.over[name]--
		return
	case name == atom.Br: // </br> breaks a line as <br> does
		p.line(1)
		return
	case name == atom.Body || name == atom.Html:
		return // what follows is of the body still
	case name == atom.P:
		if at := p.inScope(name, inButton); at > 0 {
			p.popTo(at)
		} else if !p.top().look.hidden() {
			p.line(2)
		}
		return
	case isTable(name):
		at := p.inScope(name, func(n atom.Atom) bool { return n == atom.Template || n == atom.Table && name != atom.Table })
		if at > 0 {
			p.popTo(at)
		}
		return
	case name == atom.Li:
		if at := p.inScope(name, func(n atom.Atom) bool { return n == atom.Ul || n == atom.Ol || isBarrier(n) }); at > 0 {
			p.popTo(at)
		}
		return
	case isHeading(name): // it ends one of any size
		for i := len(p.open) - 1; i > 0 && !isBarrier(p.open[i].name); i-- {
			if isHeading(p.open[i].name) {
				p.popTo(i)
				return
			}
		}
		return
	case isPhrase(name):
		if at := p.inScope(name, isBarrier); at > 0 {
			p.popOnly(at)
		}
		return
	case isSpecial(name):
		if at := p.inScope(name, isBarrier); at > 0 {
			p.popTo(at)
		}
		return
	}
	if p.count[name] == 0 {
		return
	}
	for i := len(p.open) - 1; i > 0; i-- {
		e := &p.open[i]
		if e.name == name && e.raw == raw {
			p.popTo(i)
			return
		}
		if isSpecial(e.name) {
			return
		}
	}
}

// popTo closes the element at a place with all in it. While a formatting element is open that is hidden by itself, all formatting
// elements that are closed so are open again behind it, as in a browser: else a later end tag would close the wrong one.
func (p *page) popTo(at int) {
	var again []element
	if slices.ContainsFunc(p.open, func(e element) bool { return e.own }) {
		for _, e := range p.open[at:] {
			if isMarker(e.name) { // what is in a cell ends with it
				break
			}
			if isPhrase(e.name) {
				again = append(again, e)
			}
		}
	}
	for len(p.open) > at {
		p.mixed = p.mixed || isPhrase(p.top().name)
		p.pop()
	}
	for _, e := range again {
		e.look, e.link = p.top().look, ""
		e.look.gone = e.look.gone || e.own
		p.count[e.name]++
		p.open = append(p.open, e)
	}
}

// popOnly closes a formatting element and leaves open what was opened in it, which no longer looks as in it where that was hidden only
// by it. In doubt what is in it stays hidden.
func (p *page) popOnly(at int) {
	inner := append([]element(nil), p.open[at+1:]...)
	for len(p.open) > at+1 {
		e := p.top()
		p.count[e.name]--
		p.open = p.open[:len(p.open)-1]
	}
	p.pop()
	for _, e := range inner {
		p.count[e.name]++
		p.open = append(p.open, e)
	}
}
