// Package strictyaml reads YAML from sources that are not trusted (YAML 1.2 core schema, DECISIONS D6).
//
// It takes the plain part of YAML that people write and refuses the rest, with line and column:
// anchors, aliases, merge keys, tags, directives, a second document, keys that are not text, null
// values, keys written twice, and nesting beyond a limit. Plain words are true, false and numbers
// only where the core schema says so, so yes, no, 1:30 and dates stay text.
//
// The work is linear in the input, but the library behind it may take 500 bytes of memory for each
// byte of a list written on one line. The caller bounds the input.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/loomrun/loom/internal/document"
)

// MaxDepth bounds the nesting of maps and lists. It leaves room for predicates of the greatest
// depth the governor evaluates, each of which may take a map and a list.
const MaxDepth = 10_000

// Options choose what Parse lets pass.
type Options struct {
	// KeepRepeatedKeys leaves a key written twice in the tree. The caller must look for it with
	// [document.Value.RepeatedMember].
	KeepRepeatedKeys bool
}

// Parse reads one YAML document. Its error is a [*document.Error] whose place lies in the text.
func Parse(data []byte, options Options) (document.Value, error) {
	// A byte order mark at the very beginning is no part of the text (YAML 1.2 section 5.2).
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	v, refused := read(text, options)
	if refused != nil {
		refused.Place = within(text, refused.Place)
		return document.Value{}, refused
	}
	return v, nil
}

// within moves a place to the end of the text where it lies behind it: what the library misses at
// the end, it misses on a line of its own.
func within(text []byte, at document.Place) document.Place {
	end := document.NewCursor(text).At(int64(len(text)))
	if at.Line > end.Line || (at.Line == end.Line && at.Column > end.Column) {
		return end
	}
	return document.Place{Line: max(at.Line, 1), Column: max(at.Column, 1)}
}

func read(text []byte, options Options) (document.Value, *document.Error) {
	if refused := checkCharacters(text); refused != nil {
		return document.Value{}, refused
	}
	if refused := checkLines(text); refused != nil {
		return document.Value{}, refused
	}
	var first, second yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithV4Defaults(),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthFunc(checkDepth)), noAliases{}))
	if err == nil {
		err = guarded(func() error { return loader.Load(&first) })
	}
	switch {
	case err == io.EOF:
		return document.Value{}, document.Errorf(document.Place{Line: 1, Column: 1}, "the document is empty")
	case err != nil:
		return document.Value{}, syntax(err)
	}
	v, refused := converter{options}.value(first.Content[0], 0)
	if refused != nil {
		return document.Value{}, refused
	}
	switch err := guarded(func() error { return loader.Load(&second) }); {
	case err == nil:
		return document.Value{}, document.Errorf(place(&second), "a second document begins here; one file holds one document")
	case err != io.EOF:
		return document.Value{}, syntax(err)
	}
	return v, nil
}

// guarded makes an error of a panic in the library, whose input is the sender's choice.
func guarded(load func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the YAML reader gives up: %v", cause)
		}
	}()
	return load()
}

var (
	errTooDeep = fmt.Errorf("maps and lists are nested more than %d levels deep", MaxDepth)
	errAnchor  = errors.New("anchors are not part of this format; remove this one")
	errTag     = errors.New("tags are not part of this format; remove this one")
	errAlias   = errors.New("aliases are not part of this format; write the value out")
)

// checkDepth stops the library, which counts lists and maps in brackets apart from the indented ones.
// The converter counts them together.
func checkDepth(depth int, _ *loaderlimits.DepthContext) error {
	if depth > MaxDepth {
		return errTooDeep
	}
	return nil
}

// noAliases refuses anchors and aliases while the library composes, before anything hangs on them.
type noAliases struct{}

func (noAliases) NewAliasDataContext(yaml.AliasDataServices) (yaml.AliasDataContext, error) {
	return noAliases{}, nil
}
func (noAliases) BeginDocument() error                          { return nil }
func (noAliases) EndDocument() error                            { return nil }
func (noAliases) DefineAnchor(string, *yaml.Node) error         { return errAnchor }
func (noAliases) ResolveAlias(string) (*yaml.Node, bool, error) { return nil, false, errAlias }

// syntax gives an error of the library the product's form.
func syntax(err error) *document.Error {
	var failed *yaml.LoadError
	if !errors.As(err, &failed) {
		failed = &yaml.LoadError{Message: err.Error()}
	}
	at, message := document.Place{Line: failed.Mark.Line, Column: failed.Mark.Column}, failed.Message
	if failed.ContextMsg != "" && message != errTooDeep.Error() {
		begun := ""
		if failed.ContextMark.Line < failed.Mark.Line {
			begun = fmt.Sprintf(" begun on line %d", failed.ContextMark.Line)
		}
		message = failed.ContextMsg + begun + ": " + message
	}
	return document.Errorf(at, "%s", message)
}

func place(n *yaml.Node) document.Place { return document.Place{Line: n.Line, Column: n.Column} }

type converter struct{ Options }

// value converts a node inside depth maps and lists. MaxDepth bounds the recursion.
func (c converter) value(n *yaml.Node, depth int) (document.Value, *document.Error) {
	v := document.Value{Place: place(n)}
	switch {
	case isTagged(n):
		return v, document.Errorf(v.Place, "%v", errTag)
	case n.Kind != yaml.ScalarNode && depth == MaxDepth:
		return v, document.Errorf(v.Place, "%v", errTooDeep)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth+1)
	case yaml.SequenceNode:
		v.Kind = document.List
		v.Items = make([]document.Value, 0, len(n.Content))
		for _, item := range n.Content {
			converted, refused := c.value(item, depth+1)
			if refused != nil {
				return v, refused
			}
			v.Items = append(v.Items, converted)
		}
		return v, nil
	}
	v.Kind, v.Text = scalarKind(n), n.Value
	switch {
	case v.Kind == document.Null && v.Text == "":
		return v, document.Errorf(v.Place, "a value is missing; null is not read as absent")
	case v.Kind == document.Null:
		return v, document.Errorf(v.Place, "null is not a value of this format; leave the member out, or put the word in quotes")
	case v.Kind == document.Bool:
		v.Text = strings.ToLower(v.Text)
	}
	return v, nil
}

func (c converter) mapping(n *yaml.Node, depth int) (document.Value, *document.Error) {
	v := document.Value{Kind: document.Map, Place: place(n), Members: make([]document.Member, 0, len(n.Content)/2)}
	for i := 0; i < len(n.Content); i += 2 {
		name, refused := c.key(n.Content[i])
		if refused != nil {
			return v, refused
		}
		member := document.Member{Name: name, Place: place(n.Content[i])}
		if isAbsent(n.Content[i+1]) {
			hint := "null is not read as absent"
			if n.Style&yaml.FlowStyle != 0 && strings.Contains(name, " ") { // the tail of a sentence, not a key
				hint = "between braces a comma begins a new key, so put text with commas in quotes"
			}
			return v, document.Errorf(member.Place, "a value is missing after the key %s; %s", quoted(name), hint)
		}
		member.Value, refused = c.value(n.Content[i+1], depth)
		if refused != nil {
			return v, refused
		}
		v.Members = append(v.Members, member)
	}
	if c.KeepRepeatedKeys {
		return v, nil
	}
	if twice, repeated := v.RepeatedMember(); repeated {
		return v, document.Errorf(twice.Place, "the key %s is written twice", quoted(twice.Name))
	}
	return v, nil
}

// key takes a node for a member's name. What looks like null, true, false or a number is not text:
// other readers take it for just that. A list or a map is refused unread.
func (converter) key(n *yaml.Node) (string, *document.Error) {
	kind, at := document.List, place(n)
	switch n.Kind {
	case yaml.MappingNode:
		kind = document.Map
	case yaml.ScalarNode:
		kind = scalarKind(n)
	}
	switch {
	case isTagged(n):
		return "", document.Errorf(at, "%v", errTag)
	case isAbsent(n):
		return "", document.Errorf(at, "a key is missing")
	case n.Value == "<<" && isPlain(n):
		return "", document.Errorf(at, "merge keys are not part of this format; write the members out")
	case kind != document.Text:
		return "", document.Errorf(at, "a key is %s where text belongs; put it in quotes", kind)
	}
	return n.Value, nil
}

// quoted shows a name in a message, its hidden characters escaped and a long one cut.
func quoted(name string) string {
	const longest = 64 // bytes
	if len(name) <= longest {
		return strconv.Quote(name)
	}
	end := longest
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return strconv.Quote(name[:end]) + "…"
}

// isAbsent tells a place where nothing is written.
func isAbsent(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && isPlain(n) && !isTagged(n)
}

// isTagged tells a node with a tag of any form. The library does not count "!" as a style.
func isTagged(n *yaml.Node) bool {
	return n.Style&yaml.TaggedStyle != 0 || n.Tag == "!"
}
