package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/loomrun/loom/internal/printable"
)

// Fault is what is wrong with a query.
type Fault string

// The faults of a query.
const (
	TooLong          Fault = "too long"               // more than MaxLength
	TooDeep          Fault = "too deep"               // more than MaxNesting
	TooMany          Fault = "too many"               // more than MaxTerms or MaxRegexps
	OpenQuote        Fault = "open quote"             // no closing quote
	OpenParenthesis  Fault = "open parenthesis"       // no closing parenthesis
	StrayParenthesis Fault = "stray parenthesis"      // a closing parenthesis too many
	LoneOperator     Fault = "lone operator"          // OR, AND or NOT with nothing beside it
	LoneField        Fault = "lone field"             // from: and the like with nothing behind
	NestedField      Fault = "nested field"           // a field in the value of a field
	MisplacedMinus   Fault = "misplaced minus"        // a minus between a field and its value
	MisplacedStar    Fault = "misplaced star"         // a star with nothing before it, or within a word
	NothingToFind    Fault = "nothing to search for"  // no letter, digit or picture
	OpenRegexp       Fault = "open regexp"            // no closing slash
	BadRegexp        Fault = "bad regular expression" // not RE2, or too large
	MisplacedRegexp  Fault = "misplaced regexp"       // in parentheses, beside OR, or in a field
)

// Error says what is wrong with a query and where.
type Error struct {
	Fault  Fault
	Query  string // as it was given; of one that is too long, what is shown
	Byte   int    // the place in Query, counted from 0; len(Query) means behind its end
	Column int    // the same in characters (code points), counted from 1
	// Message says what is wrong and what to do.
	Message string
}

// Error gives the place and the message in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("query, column %d: %s", e.Column, e.Message)
}

// Columns of the line that [Error.Caret] shows: before the place and from it on.
const (
	columnsBefore = 56
	columnsAfter  = 20
)

// Caret gives two lines without a final line feed: the query, made safe to print, and a caret under the place.
// Of a long query the part around the place is shown. East Asian characters count as two columns of a
// terminal and marks as none (UAX 11).
func (e *Error) Caret() string {
	before, after := shown(e.Query[:e.Byte]), shown(e.Query[e.Byte:])
	if cut := trimTo(before, columnsBefore, true); cut != before {
		before = "…" + cut
	}
	if cut := trimTo(after, columnsAfter, false); cut != after {
		after = cut + "…"
	}
	return before + after + "\n" + strings.Repeat(" ", columnsOf(before)) + "^"
}

// shown gives s in one printable line.
func shown(s string) string {
	return printable.Line(strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// trimTo gives as much of the end or the start of s as fits into limit columns.
func trimTo(s string, limit int, end bool) string {
	for columnsOf(s) > limit {
		if end {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
		} else {
			_, size := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-size]
		}
	}
	return s
}

func columnsOf(s string) (n int) {
	for _, c := range s {
		switch kind := width.LookupRune(c).Kind(); {
		case unicode.In(c, unicode.Mn, unicode.Me):
		case kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
