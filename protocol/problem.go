package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/document"
)

// Code names the rule that a document breaks (governed-runs 2.9).
type Code string

// The codes, in the order in which problems are reported. MalformedInput and UnsupportedFormat come
// alone.
const (
	MalformedInput         Code = "malformed-input"
	UnsupportedFormat      Code = "unsupported-format"
	InvalidIdentifier      Code = "invalid-identifier"
	DuplicateIdentifier    Code = "duplicate-identifier"
	InvalidMaxAge          Code = "invalid-max-age"
	UndeclaredClaim        Code = "undeclared-claim"
	UndeclaredEvidenceKind Code = "undeclared-evidence-kind"
	UndeclaredArtifact     Code = "undeclared-artifact"
	UndeclaredInput        Code = "undeclared-input"
	UndeclaredInputValue   Code = "undeclared-input-value"
	EvidenceInDischarge    Code = "evidence-in-discharge"
	InertInvalidation      Code = "inert-invalidation"
	ClaimCycle             Code = "claim-cycle"
	PredicateTooDeep       Code = "predicate-too-deep"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Line, Column int // from 1; both 0 where the document gives no place
	Code         Code
	Message      string
}

// Error gives "LINE:COLUMN: CODE: MESSAGE".
func (p Problem) Error() string {
	return fmt.Sprintf("%d:%d: %s: %s", p.Line, p.Column, p.Code, p.Message)
}

// Problems are all problems of one document, in the order of 2.9. The list is never empty.
type Problems []Problem

// Error gives all problems, separated by "; ".
func (ps Problems) Error() string {
	all := make([]string, len(ps))
	for i, p := range ps {
		all[i] = p.Error()
	}
	return strings.Join(all, "; ")
}

// nameShown bounds the bytes of a name in a message; one character may go over it. A document can
// have a very long name stand in every one of its messages, which should stay in proportion to it.
const nameShown = 60

// quoted is a name as messages write it: in quotation marks, cut after nameShown, and with everything
// escaped that could break a line or turn it around.
func quoted(name string) string {
	text := append(make([]byte, 0, nameShown+8), '"')
	for _, c := range name {
		switch {
		case len(text) > nameShown:
			return string(text) + `…"`
		case c == '"' || c == '\\':
			text = append(text, '\\', byte(c))
		case strconv.IsPrint(c):
			text = utf8.AppendRune(text, c)
		default:
			escaped := strconv.QuoteRune(c)
			text = append(text, escaped[1:len(escaped)-1]...)
		}
	}
	return string(text) + `"`
}

// bare is quoted without the quotation marks, for chains of names.
func bare(name string) string {
	q := quoted(name)
	return q[1 : len(q)-1]
}

func problemAt(at document.Place, code Code, format string, args ...any) *Problem {
	return &Problem{Line: at.Line, Column: at.Column, Code: code, Message: fmt.Sprintf(format, args...)}
}
