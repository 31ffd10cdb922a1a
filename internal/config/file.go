package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/loomrun/loom/internal/document"
)

// The file is read from the TOML library's syntax tree instead of through its decoder. The tree knows
// the place of every part, and the decoder's errors quote the file, so that a secret in the wrong place
// would be printed.

// maxNameShown bounds how much of an unknown key's name a message shows, in bytes.
const maxNameShown = 64

// entry is what the file says about one key.
type entry struct {
	text string // as the key's flag takes it
	line int    // of the key
}

// parse reads a whole file. Its error has a place.
func parse(data []byte) (map[string]entry, *document.Error) {
	data = data[:len(data):len(data)] // the parser finds offsets by capacity
	if at := document.FirstInvalid(data); at < len(data) {
		return nil, document.Errorf(placeOf(data, at), "this is not UTF-8")
	}
	entries := map[string]entry{}
	var parser unstable.Parser
	parser.Reset(data)
	for parser.NextExpression() {
		expression := parser.Expression()
		name, at := nameOf(expression)
		place := placeOf(data, at)
		key, known := find(name)
		_, twice := entries[name]
		switch {
		case !known:
			return nil, document.Errorf(place, "unknown key %s; the keys are %s", cut(name, maxNameShown), names())
		case twice:
			return nil, document.Errorf(place, "%s is set twice", name)
		case expression.Kind != unstable.KeyValue:
			return nil, document.Errorf(place, "%s is not %s", name, key.form.wants)
		}
		value := expression.Value()
		if value.Raw.Length > 0 {
			at = int(value.Raw.Offset)
		}
		given, fits := key.form.read(string(value.Data))
		if !slices.Contains(key.form.kinds, value.Kind) || !fits {
			return nil, document.Errorf(placeOf(data, at), "%s is not %s", name, key.form.wants)
		}
		entries[name] = entry{given, place.Line}
	}
	if err := parser.Error(); err != nil {
		// Only the place is taken: the message may quote the file.
		at := len(data)
		if syntax, ok := errors.AsType[*unstable.ParserError](err); ok {
			at = len(data) - cap(syntax.Highlight)
		}
		at = min(max(at, 0), len(data))
		for at < len(data) && !utf8.RuneStart(data[at]) {
			at-- // the parser stopped inside a character
		}
		return nil, document.Errorf(placeOf(data, at), "this is not TOML")
	}
	return entries, nil
}

// nameOf gives the name that an expression sets, "a.b" for one in a table, and its offset. No key's
// name has a point, so such a name is never one.
func nameOf(expression *unstable.Node) (name string, at int) {
	var parts []string
	for key := expression.Key(); key.Next(); {
		if len(parts) == 0 {
			at = int(key.Node().Raw.Offset)
		}
		parts = append(parts, string(key.Node().Data))
	}
	return strings.Join(parts, "."), at
}

// placeOf gives the line and the column of an offset.
func placeOf(data []byte, at int) document.Place {
	before := data[:at]
	line := bytes.LastIndexByte(before, '\n') + 1
	return document.Place{Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(before[line:])}
}

// cut gives at most limit bytes of UTF-8 text, with a mark where something is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for !utf8.RuneStart(s[limit]) {
		limit--
	}
	return fmt.Sprintf("%s […]", s[:limit])
}
