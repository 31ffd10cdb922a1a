package markdown

import (
	"bytes"
	"html"
	"strings"

	"github.com/loomrun/loom/internal/lazyregexp"
)

// hidden follows the HTML of a page, of which nothing is shown, to know what of the Markdown between its tags a browser would not show either. An
// element that is never closed hides all that follows, as it does there.
type hidden struct {
	name  string // of the element that hides, "" where none does
	depth int    // elements of that name that are open
}

func (h *hidden) now() bool { return h.name != "" }

// silent are elements whose content is no text of a page.
var silent = map[string]bool{
	"script": true, "style": true, "template": true, "head": true, "title": true, "noscript": true, "iframe": true, "object": true,
	"svg": true, "textarea": true, "select": true, "audio": true, "video": true, "canvas": true, "datalist": true,
}

// void are elements that have no content.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true,
	"meta": true, "source": true, "track": true, "wbr": true,
}

var (
	tagName = lazyregexp.New(`^</?([A-Za-z][A-Za-z0-9-]*)`)
	// hides finds what hides an element in its tag, from which white space about colons was taken.
	hides = lazyregexp.New(`[\s"']hidden(?:[\s=/>]|$)|display:none|visibility:(?:hidden|collapse)|` +
		`(?:font-size|opacity|max-height|max-width):0(?:\.0*)?(?:px|pt|em|rem|%)?(?:[\s;"'!>]|$)`)
	aboutColon = lazyregexp.New(`\s*:\s*`)
)

// feed takes a piece of HTML as it stands on the page.
func (h *hidden) feed(text []byte) {
	for {
		at := bytes.IndexByte(text, '<')
		if at < 0 {
			return
		}
		text = text[at:]
		if bytes.HasPrefix(text, []byte("<!--")) {
			_, behind, _ := bytes.Cut(text[4:], []byte("-->"))
			text = behind
			continue
		}
		size := tagSize(text)
		h.tag(text[:size])
		text = text[size:]
	}
}

// tagSize is how long the tag is that a text begins with.
func tagSize(text []byte) int {
	var quote byte
	for i, b := range text {
		switch {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
		case b == '>':
			return i + 1
		}
	}
	// Quotation marks that do not pair must not swallow the page.
	if at := bytes.IndexByte(text, '>'); at >= 0 {
		return at + 1
	}
	return len(text)
}

func (h *hidden) tag(tag []byte) {
	m := tagName().FindSubmatch(tag)
	if m == nil {
		return
	}
	name := strings.ToLower(string(m[1]))
	switch {
	case void[name]:
	case tag[1] == '/':
		if name == h.name {
			if h.depth--; h.depth == 0 {
				h.name = ""
			}
		}
	case bytes.HasSuffix(tag, []byte("/>")) && silent[name]: // <svg/>
	case name == h.name:
		h.depth++
	case h.name == "" && (silent[name] || hides().MatchString(aboutColon().ReplaceAllString(strings.ToLower(html.UnescapeString(string(tag))), ":"))):
		h.name, h.depth = name, 1
	}
}
