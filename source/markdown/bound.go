package markdown

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// MaxNesting bounds the quotes and lists that begin on one line. The library works on a line once for each of those it stands in, and looks
// through all of these for each new one.
const MaxNesting = 100

// MaxDefinitions bounds the link definitions that follow each other without an empty line: each costs work with all that follow.
const MaxDefinitions = 10_000

// tooMuch finds what the library would take too long over: the offset of the line and what is wrong with it, "" where nothing is.
func tooMuch(source []byte) (offset int, reason string) {
	definitions := 0
	for line := range bytes.Lines(source) {
		switch {
		case nesting(line) > MaxNesting:
			return offset, fmt.Sprintf("more than %d quotes and lists begin on this line", MaxNesting)
		case len(bytes.TrimSpace(line)) == 0:
			definitions = 0
		case bytes.Contains(line, []byte("]:")):
			definitions++
		}
		if definitions > MaxDefinitions {
			return offset, fmt.Sprintf("more than %d link definitions follow each other without an empty line", MaxDefinitions)
		}
		offset += len(line)
	}
	return offset, ""
}

// nesting counts the marks of quotes and list items that a line begins with.
func nesting(line []byte) int {
	for _, rule := range []string{"- \t\r\n", "* \t\r\n"} {
		if len(bytes.Trim(line, rule)) == 0 { // a line across the page
			return 0
		}
	}
	n := 0
	for {
		line = bytes.TrimLeft(line, " \t")
		digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
		switch {
		case len(line) == 0:
			return n
		case line[0] == '>':
			line = line[1:]
		case bytes.IndexByte([]byte("-+*"), line[0]) >= 0 && isSpace(line[1:]):
			line = line[1:]
		case digits > 0 && digits < len(line) && (line[digits] == '.' || line[digits] == ')') && isSpace(line[digits+1:]):
			line = line[digits+1:]
		default:
			return n
		}
		n++
	}
}

// isSpace tells a text that begins with white space or is empty.
func isSpace(text []byte) bool {
	return len(text) == 0 || bytes.IndexByte([]byte(" \t\r\n"), text[0]) >= 0
}

// maxLinkWork bounds, for a whole page, the bytes that are looked through for the ends of links: about a tenth of a second. Brackets behind
// that are text.
const maxLinkWork = 64 << 20

// linkGuard stands before the library's reader of links, which for each "](" may read to the end of its paragraph.
type linkGuard struct{}

// work is what a page has cost so far.
type work struct {
	done  int
	block ast.Node // the last one
	size  int      // of its text
}

var workKey = parser.NewContextKey()

func (linkGuard) Trigger() []byte { return []byte{']'} }

func (linkGuard) Parse(block ast.Node, in text.Reader, pc parser.Context) ast.Node {
	line, segment := in.PeekLine()
	if len(line) < 2 || line[1] != '(' {
		return nil
	}
	w, ok := pc.Get(workKey).(*work)
	if !ok {
		w = &work{}
		pc.Set(workKey, w)
	}
	if block != w.block {
		w.block, w.size = block, 0
		for _, s := range block.Lines().Sliced(0, block.Lines().Len()) {
			w.size += s.Len()
		}
	}
	if w.done += w.size; w.done <= maxLinkWork {
		return nil
	}
	in.Advance(1)
	return ast.NewTextSegment(segment.WithStop(segment.Start + 1))
}
