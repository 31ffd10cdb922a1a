// Package strictjson reads JSON from sources that are not trusted (RFC 8259, DECISIONS D6).
//
// It refuses what lenient readers let pass: a member written twice, text that is not UTF-8, a lone
// surrogate, anything after the value, and nesting beyond a stated depth. Numbers keep the digits
// they were written with. The work is linear in the input and uses no recursion.
package strictjson

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"strings"

	"github.com/loomrun/loom/internal/document"
)

// Depth limits, in nested maps and lists (DECISIONS D6). A plain number or text has depth 0.
const (
	// MaxDepth bounds requests, model arguments, references and reports.
	MaxDepth = 128
	// MaxFactDepth bounds the facts that a case keeps.
	MaxFactDepth = 64
)

// MaxParts bounds the values and member names of one input. Each takes about a hundred bytes of
// memory, and a hostile input can have one in every two bytes.
const MaxParts = 1 << 21

// Reasons that callers branch on; an [*Error] wraps one of them or the reason of the syntax error.
var (
	// ErrEmpty means that there was no value at all.
	ErrEmpty = errors.New("there is no JSON value")
	// ErrNotUTF8 means that the input is not UTF-8.
	ErrNotUTF8 = errors.New("the input is not UTF-8")
	// ErrTooDeep means nesting beyond the limit.
	ErrTooDeep = errors.New("the JSON value is nested too deeply")
	// ErrTooMany means more values and names than [MaxParts].
	ErrTooMany = errors.New("the JSON value has too many parts")

	errDuplicate = errors.New("a member is written twice")
	errTrailing  = errors.New("something follows the JSON value")
	errCut       = errors.New("the JSON value ends too early")
	errSyntax    = errors.New("this is not JSON")
)

// Error says why an input was refused, and where. It never quotes the input.
type Error struct {
	Place  document.Place
	Offset int64 // bytes before the trouble
	reason error
}

// Error gives "line L, column C: reason".
func (e *Error) Error() string { return document.Errorf(e.Place, "%v", e.reason).Error() }

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.reason }

// Parse reads exactly one JSON value that nests at most depth levels, itself at most the 10,000
// that the tokenizer takes. Its error is an [*Error].
//
// A tree may take a hundred times the memory of its text. The caller bounds the input.
func Parse(data []byte, depth int) (document.Value, error) {
	r := reader{data: data, depth: depth, cursor: document.NewCursor(data)}
	if at := document.FirstInvalid(data); at < len(data) {
		return document.Value{}, r.refuse(int64(at), ErrNotUTF8)
	}
	r.tokens = jsontext.NewDecoder(bytes.NewReader(data))
	return r.read()
}

// ParseForeign reads JSON that a program outside of this product wrote, as Parse does but for two faults that such programs have and that a
// caller has to judge: a member may stand twice in a map, and all its values are kept; and half of a surrogate pair becomes U+FFFD.
func ParseForeign(data []byte, depth int) (document.Value, error) {
	r := reader{data: data, depth: depth, cursor: document.NewCursor(data)}
	if at := document.FirstInvalid(data); at < len(data) {
		return document.Value{}, r.refuse(int64(at), ErrNotUTF8)
	}
	r.tokens = jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return r.read()
}

// frame is a map or list that is not closed yet.
type frame struct {
	value document.Value
	name  document.Member // the member whose value comes next
	named bool
}

type reader struct {
	data   []byte
	depth  int
	tokens *jsontext.Decoder
	cursor *document.Cursor
	parts  int
	open   []frame // a stack of the reader's own: the depth of the input is the sender's choice
}

func (r *reader) read() (document.Value, error) {
	for {
		start := r.skip(separators)
		token, err := r.tokens.ReadToken()
		if err != nil {
			return document.Value{}, r.failure(start, err)
		}
		if kind := token.Kind(); kind != jsontext.KindEndObject && kind != jsontext.KindEndArray {
			if r.parts++; r.parts > MaxParts {
				return document.Value{}, r.refuse(start, ErrTooMany)
			}
		}
		value := document.Value{Place: r.cursor.At(start)}
		switch token.Kind() {
		case jsontext.KindBeginObject, jsontext.KindBeginArray:
			if len(r.open) >= r.depth {
				return document.Value{}, r.refuse(start, ErrTooDeep)
			}
			value.Kind = document.List
			if token.Kind() == jsontext.KindBeginObject {
				value.Kind = document.Map
			}
			r.open = append(r.open, frame{value: value})
			continue
		case jsontext.KindEndObject, jsontext.KindEndArray:
			value = r.open[len(r.open)-1].value
			r.open = r.open[:len(r.open)-1]
		case jsontext.KindString:
			value.Kind, value.Text = document.Text, token.String()
			if r.takeName(value) {
				continue
			}
		case jsontext.KindNumber:
			value.Kind, value.Text = document.Number, token.String()
		case jsontext.KindTrue, jsontext.KindFalse:
			value.Kind, value.Text = document.Bool, token.String()
		}
		if len(r.open) == 0 {
			if err := r.end(); err != nil {
				return document.Value{}, err
			}
			return value, nil
		}
		r.attach(value)
	}
}

// takeName keeps a text as a member's name where the innermost open value is a map that waits for one.
func (r *reader) takeName(text document.Value) bool {
	if len(r.open) == 0 {
		return false
	}
	inner := &r.open[len(r.open)-1]
	if inner.value.Kind != document.Map || inner.named {
		return false
	}
	inner.name, inner.named = document.Member{Name: text.Text, Place: text.Place}, true
	return true
}

// attach puts a finished value into the innermost open one.
func (r *reader) attach(v document.Value) {
	inner := &r.open[len(r.open)-1]
	if inner.value.Kind == document.List {
		inner.value.Items = append(inner.value.Items, v)
		return
	}
	inner.name.Value = v
	inner.value.Members = append(inner.value.Members, inner.name)
	inner.named = false
}

// end makes sure that nothing but white space follows the value.
func (r *reader) end() error {
	start := r.skip(whiteSpace)
	if _, err := r.tokens.ReadToken(); err != io.EOF {
		return r.refuse(start, errTrailing)
	}
	return nil
}

// failure turns an error of the tokenizer, met before or in the token at start, into one that quotes
// nothing.
func (r *reader) failure(start int64, err error) *Error {
	var syntax *jsontext.SyntacticError
	switch {
	case err == io.EOF:
		return r.refuse(start, ErrEmpty)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return r.refuse(int64(len(r.data)), errCut)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return r.refuse(start, errDuplicate)
	case errors.As(err, &syntax):
		start = syntax.ByteOffset
	}
	return r.refuse(start, errSyntax)
}

func (r *reader) refuse(offset int64, reason error) *Error {
	return &Error{Place: r.cursor.At(offset), Offset: offset, reason: reason}
}

// What may stand before a token. The tokenizer alone judges whether it may stand there: skipping only
// finds where the token begins.
const (
	whiteSpace = " \t\r\n"
	separators = whiteSpace + ",:"
)

// skip gives the offset of the first byte after the last token that is none of those to pass over.
func (r *reader) skip(over string) int64 {
	offset := r.tokens.InputOffset()
	for offset < int64(len(r.data)) && strings.IndexByte(over, r.data[offset]) >= 0 {
		offset++
	}
	return offset
}
