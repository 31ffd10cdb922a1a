package mail

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of the style sheets of a page.
const (
	maxSheetBytes = 256 << 10
	maxRules      = 2000
)

// colour is a colour of three bytes; noColour is one that is not known.
type colour int32

const (
	white    colour = 0xffffff
	black    colour = 0
	noColour colour = -1
	clear    colour = -2
)

// look is what an element looks like as far as it decides whether its text is seen.
type look struct {
	gone      bool // it and all in it
	invisible bool // visibility, which an element in it may undo
	tiny      bool // its letters, which an element in it may undo
	text      colour
	ground    colour
}

func (l look) hidden() bool {
	return l.gone || l.invisible || l.tiny || l.text == clear || l.text >= 0 && l.ground >= 0 && near(l.text, l.ground)
}

// near says whether nobody can tell two colours apart.
func near(a, b colour) bool {
	const most = 6 // of 255
	for shift := 0; shift < 24; shift += 8 {
		if d := int(a>>shift&0xff) - int(b>>shift&0xff); d > most || d < -most {
			return false
		}
	}
	return true
}

// declared is what a rule or a style attribute says.
type declared struct {
	display    state
	visibility state
	size       state // no: too small to be read
	opacity    state
	box        state // no: zero height or width and nothing over its edge, or outside of the page
	mso        state
	text       colour
	ground     colour
	hasText    bool
	hasGround  bool

	clips, zero bool // of box
	important   bool // of display
}

// state is whether a rule shows, hides, or says nothing.
type state uint8

const (
	unsaid state = iota
	yes
	no
)

func (d *declared) add(o declared) {
	set := func(to *state, from state) {
		if from != unsaid {
			*to = from
		}
	}
	if o.display != unsaid && (!d.important || o.important) {
		d.display, d.important = o.display, o.important
	}
	set(&d.visibility, o.visibility)
	set(&d.size, o.size)
	set(&d.opacity, o.opacity)
	set(&d.box, o.box)
	set(&d.mso, o.mso)
	if o.hasText {
		d.text, d.hasText = o.text, true
	}
	if o.hasGround {
		d.ground, d.hasGround = o.ground, true
	}
	d.clips, d.zero = d.clips || o.clips, d.zero || o.zero
}

// declarations reads what stands between the braces of a rule or in a style attribute.
func declarations(text string) (d declared) {
	text = strings.ToLower(stripComments(text))
	for len(text) > 0 {
		var one string
		one, text, _ = strings.Cut(text, ";")
		name, value, ok := strings.Cut(one, ":")
		if !ok {
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		value, important := strings.CutSuffix(value, "important")
		if important {
			value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!"))
		}
		d.one(name, value, important)
	}
	return d
}

func (d *declared) one(name, value string, important bool) {
	hides := func(hidden bool) state {
		if hidden {
			return no
		}
		return yes
	}
	const unreadable = 1.5 // pixels
	switch name {
	case "display":
		if !d.important || important {
			d.display, d.important = hides(value == "none"), important
		}
	case "visibility":
		if value != "inherit" {
			d.visibility = hides(value == "hidden" || value == "collapse")
		}
	case "opacity":
		n, percent := number(value)
		d.opacity = hides(n >= 0 && (n < 0.05 || percent && n < 5))
	case "filter":
		if strings.Contains(value, "opacity(0)") || strings.Contains(value, "opacity=0)") || strings.Contains(value, "opacity(0%)") {
			d.opacity = no
		}
	case "mso-hide":
		d.mso = hides(value == "all")
	case "font-size":
		d.size = tinySize(value, unreadable)
	case "font":
		for field := range strings.FieldsSeq(value) {
			field, _, _ = strings.Cut(field, "/")
			if n, _ := number(field); n >= 0 && strings.TrimLeft(field, "0123456789.") != "" || field == "0" {
				d.size = tinySize(field, unreadable)
			}
		}
	case "color":
		d.text, d.hasText = parseColour(value), true
	case "background-color":
		d.ground, d.hasGround = parseColour(value), true
	case "background", "background-image":
		d.ground, d.hasGround = noColour, true
		if name == "background" && !strings.Contains(value, "url") && !strings.Contains(value, "gradient") {
			d.ground = clear
			for field := range strings.FieldsSeq(value) {
				if c := parseColour(field); c != noColour {
					d.ground = c
				}
			}
			if c := parseColour(value); c != noColour { // rgb(1, 2, 3)
				d.ground = c
			}
		} else if value == "none" {
			d.hasGround = false
		}
	case "overflow", "overflow-x", "overflow-y":
		d.clips = d.clips || value == "hidden" || value == "clip"
	case "height", "width", "max-height", "max-width":
		if n, percent := number(value); n >= 0 && n < 1 && !percent || n == 0 {
			d.zero = true
		}
	case "text-indent", "left", "top", "margin-left", "margin-top", "right":
		const outside = -900
		if n, _ := signed(value); n <= outside {
			d.box = no
		}
	case "transform":
		if strings.Contains(value, "scale(0)") || strings.Contains(value, "scale(0,") {
			d.box = no
		}
	case "clip", "clip-path":
		if strings.HasPrefix(value, "rect(0") && !strings.ContainsAny(value, "123456789") || strings.HasPrefix(value, "inset(50%") ||
			strings.HasPrefix(value, "inset(100%") || strings.HasPrefix(value, "circle(0") {
			d.box = no
		}
	}
}

func tinySize(value string, unreadable float64) state {
	n, percent := number(value)
	switch {
	case n < 0: // a word
		return yes
	case percent:
		n = n / 100 * 16
	case strings.HasSuffix(value, "em"):
		n *= 16
	}
	if n < unreadable {
		return no
	}
	return yes
}

// number reads the number that a value begins with, -1 where it begins with none.
func number(value string) (n float64, percent bool) {
	end := 0
	for end < len(value) && (value[end] >= '0' && value[end] <= '9' || value[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	if err != nil {
		return -1, false
	}
	return n, strings.HasPrefix(value[end:], "%")
}

func signed(value string) (float64, bool) {
	if rest, ok := strings.CutPrefix(value, "-"); ok {
		n, percent := number(rest)
		if n < 0 {
			return 0, false
		}
		return -n, percent
	}
	return number(value)
}

// colours are the names that hidden text is written in; others are not known.
var colours = map[string]colour{
	"white": white, "black": black, "red": 0xff0000, "green": 0x008000, "blue": 0x0000ff, "yellow": 0xffff00, "gray": 0x808080, "grey": 0x808080,
	"silver": 0xc0c0c0, "snow": 0xfffafa, "ivory": 0xfffff0, "whitesmoke": 0xf5f5f5, "ghostwhite": 0xf8f8ff, "floralwhite": 0xfffaf0,
	"navy": 0x000080, "maroon": 0x800000, "purple": 0x800080, "lime": 0x00ff00, "aqua": 0x00ffff, "cyan": 0x00ffff, "fuchsia": 0xff00ff,
	"magenta": 0xff00ff, "olive": 0x808000, "teal": 0x008080, "orange": 0xffa500, "lightgray": 0xd3d3d3, "lightgrey": 0xd3d3d3, "gainsboro": 0xdcdcdc,
	"transparent": clear,
}

func parseColour(value string) colour {
	value = strings.ToLower(strings.TrimSpace(value))
	if c, ok := colours[value]; ok {
		return c
	}
	if digits, ok := strings.CutPrefix(value, "#"); ok || len(value) == 6 {
		if len(digits) == 3 || len(digits) == 4 {
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]}) + strings.Repeat(digits[3:], 2)
		}
		if len(digits) == 8 && digits[6:] == "00" {
			return clear
		}
		if n, err := strconv.ParseUint(digits[:min(len(digits), 6)], 16, 32); err == nil && len(digits) >= 6 {
			return colour(n)
		}
		return noColour
	}
	name, inside, ok := strings.Cut(value, "(")
	if !ok || name != "rgb" && name != "rgba" {
		return noColour
	}
	inside, _, _ = strings.Cut(inside, ")")
	fields := strings.FieldsFunc(inside, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(fields) < 3 {
		return noColour
	}
	c := colour(0)
	for _, f := range fields[:3] {
		n, percent := number(f)
		if n < 0 {
			return noColour
		}
		if percent {
			n *= 2.55
		}
		c = c<<8 | colour(min(n, 255))
	}
	if len(fields) > 3 {
		if n, percent := number(fields[3]); n >= 0 && (n < 0.05 || percent && n < 5) {
			return clear
		}
	}
	return c
}

// sheet is what the style sheets of a page say of elements by one class, id or name.
type sheet struct {
	rules map[string][]rule // by ".class", "#id" or name
	count int
	// A rule that is too involved to be followed gives some elements a ground: which colour is behind a text is not known then.
	grounds bool
}

type rule struct {
	name string // the element must be one, "" for any
	said declared
	at   int // later rules go before earlier ones
}

// readSheets collects the rules of all style elements outside of comments. They hold for the whole page, wherever they stand.
func readSheets(source []byte) (s sheet) {
	for budget := maxSheetBytes; budget > 0; {
		at := bytes.IndexByte(source, '<')
		if at < 0 {
			return s
		}
		source = source[at+1:]
		switch {
		case bytes.HasPrefix(source, []byte("!--")):
			end := bytes.Index(source[1:], []byte("-->"))
			if end < 0 {
				return s
			}
			source = source[1+end:]
		case len(source) > 5 && bytes.EqualFold(source[:5], []byte("style")):
			begin := bytes.IndexByte(source, '>')
			if begin < 0 {
				return s
			}
			source = source[begin+1:]
			end := len(source)
			for i := 0; ; i++ {
				j := bytes.Index(source[i:], []byte("</"))
				if j < 0 {
					break
				}
				i += j
				if len(source) >= i+7 && bytes.EqualFold(source[i+2:i+7], []byte("style")) {
					end = i
					break
				}
			}
			text := source[:min(end, budget)]
			budget -= len(text)
			s.read(string(text))
			source = source[end:]
		}
	}
	return s
}

// read takes the rules of one style sheet. Rules under a condition (@media) are left out unless they hold for every screen.
func (s *sheet) read(text string) {
	text = strings.NewReplacer("<!--", " ", "-->", " ").Replace(stripComments(text))
	for s.count < maxRules {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return
		}
		selectors := strings.TrimSpace(text[:open])
		if at := strings.LastIndexAny(selectors, ";}"); at >= 0 {
			selectors = strings.TrimSpace(selectors[at+1:])
		}
		text = text[open+1:]
		if strings.HasPrefix(selectors, "@") {
			condition := strings.Join(strings.Fields(strings.ToLower(selectors)), " ")
			if condition == "@media all" || condition == "@media screen" || condition == "@media" || condition == "@media only screen" ||
				condition == "@media all, screen" || condition == "@media screen, all" {
				continue // its rules follow as if it were not there
			}
			text = text[blockEnd(text):]
			continue
		}
		end := strings.IndexByte(text, '}')
		if end < 0 {
			end = len(text)
		}
		s.rule(selectors, declarations(text[:end]))
		text = text[min(end+1, len(text)):]
	}
}

// stripComments puts a space for each comment.
func stripComments(text string) string {
	if !strings.Contains(text, "/*") {
		return text
	}
	var b strings.Builder
	for {
		from := strings.Index(text, "/*")
		if from < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:from])
		b.WriteByte(' ')
		end := strings.Index(text[from+2:], "*/")
		if end < 0 {
			return b.String()
		}
		text = text[from+2+end+2:]
	}
}

// blockEnd gives where the block ends that text stands in.
func blockEnd(text string) int {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func (s *sheet) rule(selectors string, said declared) {
	if said == (declared{}) {
		return
	}
	for selector := range strings.SplitSeq(selectors, ",") {
		selector = strings.TrimSpace(selector)
		if strings.ContainsAny(selector, " >+~:[*\\\t\n") || selector == "" {
			s.grounds = s.grounds || said.hasGround
			continue
		}
		at := strings.IndexAny(selector, ".#")
		r := rule{said: said, at: s.count}
		key := strings.ToLower(selector)
		if at >= 0 {
			r.name, key = strings.ToLower(selector[:at]), selector[at:]
			if strings.ContainsAny(key[1:], ".#") {
				s.grounds = s.grounds || said.hasGround
				continue
			}
		}
		if s.rules == nil {
			s.rules = map[string][]rule{}
		}
		const most = 20 // of one selector
		if len(s.rules[key]) < most {
			s.rules[key] = append(s.rules[key], r)
		}
		if s.count++; s.count >= maxRules {
			return
		}
	}
}

// page is what a page looks like before anything says otherwise: black on white.
func (s *sheet) page() look {
	l := look{text: black, ground: white}
	if s.grounds {
		l.ground = noColour
	}
	return l
}

// styling is what the attributes of one element say of its look.
type styling struct {
	class, id string
	style     declared
	hints     declared // bgcolor and color, which any rule goes before
	hidden    bool
}

// look gives what an element looks like within another.
func (s *sheet) look(up look, name string, a styling) look {
	said := a.hints
	if s.rules != nil {
		apply := func(key string) {
			for _, r := range s.rules[key] {
				if r.name == "" || r.name == name {
					said.add(r.said)
				}
			}
		}
		apply(name)
		if a.class != "" {
			const most = 50 // classes of one element
			n := 0
			for class := range strings.FieldsSeq(a.class) {
				if n++; n > most {
					break
				}
				apply("." + class)
			}
		}
		if a.id != "" {
			apply("#" + a.id)
		}
	}
	said.add(a.style)
	l := up
	if said.display == no || a.hidden && said.display != yes || said.opacity == no || said.mso == no || said.box == no || said.clips && said.zero {
		l.gone = true
	}
	switch said.visibility {
	case yes:
		l.invisible = false
	case no:
		l.invisible = true
	}
	switch said.size {
	case yes:
		l.tiny = false
	case no:
		l.tiny = true
	}
	if said.hasText {
		l.text = said.text
	}
	if said.hasGround && said.ground != clear {
		l.ground = said.ground
	}
	return l
}

// attributes reads those of an element that matter.
func (p *page) attributes(z *html.Tokenizer, name atom.Atom, e *element) (a styling) {
	const most = 100
	for n, more := 0, true; more && n < most; n++ {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "style":
			a.style = p.declarations(value)
		case "class":
			if p.sheet.rules != nil && len(value) < 4096 {
				a.class = string(value)
			}
		case "id":
			if p.sheet.rules != nil && len(value) < 4096 {
				a.id = string(value)
			}
		case "hidden":
			a.hidden = true
		case "bgcolor":
			a.hints.ground, a.hints.hasGround = hintColour(value), true
		case "background":
			a.hints.ground, a.hints.hasGround = noColour, true
		case "color", "text":
			if key[0] == 'c' == (name == atom.Font) && (name == atom.Font || name == atom.Body) {
				a.hints.text, a.hints.hasText = hintColour(value), true
			}
		case "href":
			if name == atom.A {
				e.link = address(value)
			}
		}
	}
	return a
}

// declarations reads a style attribute, each text once.
func (p *page) declarations(style []byte) declared {
	if len(style) > maxSheetBytes {
		return declared{}
	}
	said, ok := p.styles[string(style)]
	if !ok {
		said = declarations(string(style))
		const most = 1000 // texts
		if len(p.styles) < most {
			p.styles[string(style)] = said
		}
	}
	return said
}

// hintColour is a colour of an attribute, which may lack its sign.
func hintColour(value []byte) colour {
	s := strings.ToLower(strings.TrimSpace(string(value)))
	if c := parseColour(s); c != noColour {
		return c
	}
	return parseColour("#" + s)
}
