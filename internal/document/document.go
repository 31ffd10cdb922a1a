// Package document holds a JSON or YAML value as a tree that remembers where each part was written.
//
// The strict readers ([strictjson] and [strictyaml]) make these trees, the canonical writer
// ([canonjson]) writes them, and whoever decodes a format walks them. A tree keeps what a Go map
// would lose: the written order of members, a member written twice, and a number's own digits.
//
// [strictjson]: https://pkg.go.dev/github.com/loomrun/loom/internal/strictjson
// [strictyaml]: https://pkg.go.dev/github.com/loomrun/loom/internal/strictyaml
// [canonjson]: https://pkg.go.dev/github.com/loomrun/loom/internal/canonjson
package document

import (
	"fmt"
	"strconv"
)

// Kind says what a Value is.
type Kind uint8

// The kinds of a value. The zero Value is a Null.
const (
	Null Kind = iota
	Bool
	Number
	Text
	List
	Map
)

// String names the kind as messages do: "null", "true or false", "a number", "text", "a list", "a map".
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "true or false"
	case Number:
		return "a number"
	case Text:
		return "text"
	case List:
		return "a list"
	default:
		return "a map"
	}
}

// Place is a position in the text a value was read from. Lines and columns count from 1, columns
// in characters. The zero Place means that the value was not read from a text.
type Place struct {
	Line, Column int
}

// Member is one entry of a Map.
type Member struct {
	Name  string
	Place Place // of the name
	Value Value
}

// Value is one node of a tree. Values are not changed after they are made.
type Value struct {
	Kind    Kind
	Text    string   // a Text's characters; a Number as it was written; a Bool's "true" or "false"
	Items   []Value  // of a List, in order
	Members []Member // of a Map, in written order
	Place   Place
}

// TextOf makes a Text.
func TextOf(s string) Value { return Value{Kind: Text, Text: s} }

// BoolOf makes a Bool.
func BoolOf(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// IntOf makes a Number from an int64.
func IntOf(n int64) Value { return Value{Kind: Number, Text: strconv.FormatInt(n, 10)} }

// UintOf makes a Number from a uint64.
func UintOf(n uint64) Value { return Value{Kind: Number, Text: strconv.FormatUint(n, 10)} }

// NumberOf makes a Number from digits that are already a JSON number.
func NumberOf(written string) Value { return Value{Kind: Number, Text: written} }

// ListOf makes a List of items in the given order.
func ListOf(items ...Value) Value { return Value{Kind: List, Items: items} }

// TextsOf makes a List of Texts in the given order.
func TextsOf(texts []string) Value {
	items := make([]Value, len(texts))
	for i, t := range texts {
		items[i] = TextOf(t)
	}
	return Value{Kind: List, Items: items}
}

// MapOf makes a Map of members in the given order.
func MapOf(members ...Member) Value { return Value{Kind: Map, Members: members} }

// M makes a Member that was not read from a text.
func M(name string, v Value) Member { return Member{Name: name, Value: v} }

// Get finds the first member called name. It reports false when v is no Map or has no such member.
func (v Value) Get(name string) (Value, bool) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value, true
		}
	}
	return Value{}, false
}

// RepeatedMember finds the first member of a Map whose name an earlier member has too. The name
// index costs memory in proportion to the map, so that a wide map stays linear.
func (v Value) RepeatedMember() (Member, bool) {
	const smallMap = 12 // up to this many, comparing pairs is cheaper than an index
	if len(v.Members) <= smallMap {
		for i := range v.Members {
			for j := range i {
				if v.Members[i].Name == v.Members[j].Name {
					return v.Members[i], true
				}
			}
		}
		return Member{}, false
	}
	seen := make(map[string]struct{}, len(v.Members))
	for i := range v.Members {
		if _, twice := seen[v.Members[i].Name]; twice {
			return v.Members[i], true
		}
		seen[v.Members[i].Name] = struct{}{}
	}
	return Member{}, false
}

// Error says what is wrong with a document and where.
type Error struct {
	Place   Place
	Message string
}

// Error gives "line L, column C: message", without the place where none is known.
func (e *Error) Error() string {
	if e.Place == (Place{}) {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Place.Line, e.Place.Column, e.Message)
}

// Errorf makes an Error at a place.
func Errorf(at Place, format string, args ...any) *Error {
	return &Error{Place: at, Message: fmt.Sprintf(format, args...)}
}
