// Package canonjson writes JSON in the product's two forms.
//
// [Append] is the canonical form (governed-runs 2.11): members sorted by code point, two-space
// indentation, one line feed at the end. [AppendCompact] is one line in written order, for records,
// arguments and reports. Both escape only what JSON demands, so the same value is always the same
// bytes, and both keep the digits of a number as they are: 0x1F or .inf, which YAML reads as numbers,
// come out as no JSON.
//
// The recursion is as deep as the value. The strict readers bound it.
package canonjson

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/document"
)

// ErrTooLarge means that the canonical form is longer than the caller takes.
var ErrTooLarge = errors.New("the canonical form is too large")

// Append writes v in canonical form behind dst, with a line feed at the end. A member that occurs
// twice is written twice, in written order.
func Append(dst []byte, v document.Value) []byte {
	dst, _ = AppendLimited(dst, v, math.MaxInt)
	return dst
}

// AppendLimited is [Append] for a value whose shape another chose. Indentation makes a value that is
// deep and wide thousands of times longer than its text. Where the form has more than limit bytes it
// stops early and gives dst as it was and [ErrTooLarge].
func AppendLimited(dst []byte, v document.Value, limit int) ([]byte, error) {
	w := indenter{dst: dst, start: len(dst), limit: limit}
	w.value(v, 0)
	w.dst = append(w.dst, '\n')
	if w.full() {
		return dst, ErrTooLarge
	}
	return w.dst, nil
}

// AppendCompact writes v on one line behind dst, members in written order, without white space.
func AppendCompact(dst []byte, v document.Value) []byte {
	switch v.Kind {
	case document.Map:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, m.Name), ':')
			dst = AppendCompact(dst, m.Value)
		}
		return append(dst, '}')
	case document.List:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCompact(dst, item)
		}
		return append(dst, ']')
	default:
		return appendScalar(dst, v)
	}
}

// Compact gives the one-line form of v as text.
func Compact(v document.Value) string { return string(AppendCompact(nil, v)) }

// indenter writes the canonical form, and little more once it is full.
type indenter struct {
	dst   []byte
	start int // where the form begins in dst
	limit int // of the form's length
}

func (w *indenter) full() bool { return len(w.dst)-w.start > w.limit }

func (w *indenter) value(v document.Value, level int) {
	switch {
	case v.Kind == document.Map && len(v.Members) == 0:
		w.dst = append(w.dst, "{}"...)
	case v.Kind == document.List && len(v.Items) == 0:
		w.dst = append(w.dst, "[]"...)
	case v.Kind == document.Map:
		sorted := slices.Clone(v.Members)
		// For UTF-8 the order of bytes is the order of code points.
		slices.SortStableFunc(sorted, func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) })
		w.dst = append(w.dst, '{')
		for i, m := range sorted {
			if w.full() {
				return
			}
			w.line(i > 0, level+1)
			w.dst = append(AppendString(w.dst, m.Name), ": "...)
			w.value(m.Value, level+1)
		}
		w.line(false, level)
		w.dst = append(w.dst, '}')
	case v.Kind == document.List:
		w.dst = append(w.dst, '[')
		for i, item := range v.Items {
			if w.full() {
				return
			}
			w.line(i > 0, level+1)
			w.value(item, level+1)
		}
		w.line(false, level)
		w.dst = append(w.dst, ']')
	default:
		w.dst = appendScalar(w.dst, v)
	}
}

// line begins a line at a level.
func (w *indenter) line(comma bool, level int) {
	if w.full() { // the lines that close a deep value are long too
		return
	}
	if comma {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '\n')
	for range level {
		w.dst = append(w.dst, "  "...)
	}
}

func appendScalar(dst []byte, v document.Value) []byte {
	switch v.Kind {
	case document.Null:
		return append(dst, "null"...)
	case document.Text:
		return AppendString(dst, v.Text)
	default: // a number or a boolean stands as it was written
		return append(dst, v.Text...)
	}
}

// AppendString writes s as a JSON string behind dst (2.11): only the quotation mark, the backslash
// and the characters below U+0020 are escaped. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	plain := 0 // from here on up to i all stands as it is
	for i := 0; i < len(s); {
		b := s[i]
		if b >= utf8.RuneSelf {
			c, size := utf8.DecodeRuneInString(s[i:])
			if c == utf8.RuneError && size == 1 {
				dst = utf8.AppendRune(append(dst, s[plain:i]...), c)
				plain = i + 1
			}
			i += size
			continue
		}
		if b >= ' ' && b != '"' && b != '\\' {
			i++
			continue
		}
		dst = append(dst, s[plain:i]...)
		i++
		plain = i
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[b>>4], hex[b&15])
		}
	}
	dst = append(dst, s[plain:]...)
	return append(dst, '"')
}
