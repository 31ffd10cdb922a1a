package markdown

import (
	"bytes"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/store"
)

// Limits of what is kept of the text of a page.
const (
	MaxLinks      = 2000
	MaxHeadings   = 1000
	maxLinkBytes  = 1 << 10 // of a target; longer ones are not shown
	maxTitleBytes = 1 << 10 // of a heading
)

// Tables are left as they stand, which is how people write them to be read: the library fills each short row up to the width of the first, so that
// a small page could become gigabytes.
var commonMark = goldmark.New(
	goldmark.WithExtensions(extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(linkGuard{}, beforeLinks))),
).Parser()

// beforeLinks is a priority: the library tries code first (100), then links (200).
const beforeLinks = 150

// Heading is one of the headings of a page.
type Heading struct {
	Level int    `json:"level"` // 1 to 6
	Text  string `json:"text"`
}

// reading is what a reader of a page sees.
type reading struct {
	source []byte
	folder string // of the page, for the links relative to it

	body     []byte
	prose    []byte // the same without code, for the links of a wiki
	headings []Heading
	links    []string
	linked   map[string]bool
	full     bool // that there are more links than are kept
	cut      bool // that it was more than is kept

	hidden hidden
	begun  []int // where the text of the heading or the link begins that is open
}

// readText reads Markdown that stands on a page at a path.
func readText(below string, source []byte) *reading {
	r := &reading{source: source, folder: path.Dir(below), linked: map[string]bool{}}
	// Elements may be nested as deep as the page is long, so the tree is not walked by recursion.
	n := commonMark.Parse(text.NewReader(source))
	for n != nil {
		r.enter(n)
		if child := n.FirstChild(); child != nil {
			n = child
			continue
		}
		for n != nil {
			r.leave(n)
			if next := n.NextSibling(); next != nil {
				n = next
				break
			}
			n = n.Parent()
		}
	}
	r.body = bytes.TrimSpace(r.body)
	r.wikiLinks(string(r.prose))
	return r
}

func (r *reading) enter(n ast.Node) {
	if n.Type() == ast.TypeBlock {
		r.newLine()
	}
	switch n := n.(type) {
	case *ast.Heading, *ast.Link:
		r.begun = append(r.begun, len(r.body))
	case *ast.CodeBlock:
		r.lines(n.Lines(), r.code)
	case *ast.FencedCodeBlock:
		r.lines(n.Lines(), r.code)
	case *ast.HTMLBlock:
		r.lines(n.Lines(), r.hidden.feed)
		if n.HasClosure() {
			r.hidden.feed(n.ClosureLine.Value(r.source))
		}
	case *ast.RawHTML:
		r.rawHTML(n)
	case *ast.Text:
		r.text(n)
	case *ast.String:
		r.write(n.Value)
	case *ast.AutoLink:
		r.write(n.URL(r.source))
	}
}

func (r *reading) leave(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		text := clip(oneLine(string(r.opened())), maxTitleBytes)
		switch {
		case text == "":
		case len(r.headings) == MaxHeadings:
			r.cut = true
		default:
			r.headings = append(r.headings, Heading{n.Level, text})
		}
	case *ast.Link:
		r.link(string(n.Destination), string(r.opened()))
	}
}

// opened is what was written since the heading or the link was entered that is left now.
func (r *reading) opened() []byte {
	last := len(r.begun) - 1
	from := r.begun[last]
	r.begun = r.begun[:last]
	return r.body[min(from, len(r.body)):]
}

func (r *reading) write(text []byte) {
	r.code(text)
	if !r.hidden.now() && !r.cut {
		r.prose = append(r.prose, text...)
	}
}

// code writes text in which no links are looked for.
func (r *reading) code(text []byte) {
	switch {
	case r.hidden.now():
	case len(r.body)+len(text) > store.MaxBodyBytes-utfMax:
		r.cut = true
	default:
		for _, c := range bytes.ToValidUTF8(text, []byte("\ufffd")) {
			if c >= ' ' && c != 0x7f || c == '\n' || c == '\t' {
				r.body = append(r.body, c)
			}
		}
	}
}

const utfMax = 4

func (r *reading) newLine() {
	if last := len(r.body) - 1; last >= 0 && r.body[last] != '\n' {
		r.write([]byte("\n"))
	}
}

func (r *reading) lines(lines *text.Segments, take func([]byte)) {
	for i := range lines.Len() {
		segment := lines.At(i)
		take(segment.Value(r.source))
	}
}

func (r *reading) rawHTML(n *ast.RawHTML) {
	var tag []byte
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		tag = append(tag, segment.Value(r.source)...)
	}
	r.hidden.feed(tag)
	if bytes.HasPrefix(bytes.ToLower(tag[:min(len(tag), 3)]), []byte("<br")) {
		r.newLine()
	}
}

func (r *reading) text(n *ast.Text) {
	value := n.Segment.Value(r.source)
	if n.Parent().Kind() == ast.KindCodeSpan || n.IsRaw() {
		r.code(value)
		r.prose = append(r.prose, 0) // parts what stands on both sides
	} else {
		r.write(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value))))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		r.write([]byte("\n"))
	}
}

// link shows the target of a link behind its text, and keeps it where it is a page of the same source.
func (r *reading) link(target, text string) {
	if target == "" || r.hidden.now() {
		return
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme == "javascript" || u.Scheme == "data" || u.Scheme == "vbscript" {
		return
	}
	if target != text && len(target) <= maxLinkBytes {
		r.code([]byte(" (" + target + ")"))
	}
	if u.Scheme != "" || u.Host != "" || u.Path == "" || len(target) > maxLinkBytes {
		return
	}
	below := path.Join(r.folder, u.Path)
	if strings.HasPrefix(u.Path, "/") {
		below = path.Join(".", u.Path)
	}
	if below = strings.TrimPrefix(below, "/"); below != ".." && !strings.HasPrefix(below, "../") {
		r.addLink(normalPath(below))
	}
}

// wikiForm is a link of a wiki: [[Page]], [[Page#Heading]], [[Page|shown]].
var wikiForm = lazyregexp.New(`\[\[([^\[\]|#\n\x00]+)(?:#[^\[\]|\n\x00]*)?(?:\|[^\[\]\n\x00]*)?\]\]`)

func (r *reading) wikiLinks(prose string) {
	for !r.full {
		m := wikiForm().FindStringSubmatchIndex(prose)
		if m == nil {
			return
		}
		if page := oneLine(prose[m[2]:m[3]]); page != "" && len(page) <= maxLinkBytes {
			r.addLink("[[" + page + "]]")
		}
		prose = prose[m[1]:]
	}
}

func (r *reading) addLink(link string) {
	switch {
	case r.linked[link]:
	case len(r.links) == MaxLinks:
		r.cut, r.full = true, true
	default:
		r.linked[link] = true
		r.links = append(r.links, link)
	}
}

// title is the first heading of level 1.
func (r *reading) title() string {
	i := slices.IndexFunc(r.headings, func(h Heading) bool { return h.Level == 1 })
	if i < 0 {
		return ""
	}
	return r.headings[i].Text
}
