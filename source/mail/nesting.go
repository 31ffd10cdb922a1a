package mail

import (
	"slices"

	"golang.org/x/net/html/atom"
)

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
