// Package valueschema holds values against a JSON Schema, both of which may come from anybody.
//
// It takes one version of JSON Schema ([Dialect]) and bounds what the library behind it would not survive or not be done with: the
// size of schema and value, the digits of numbers, and the steps of one check. A schema refers to nothing outside itself: no
// file and no connection is ever opened. What is said of a value is the same each time, stands on one line, and repeats no text of
// the value but names of members.
package valueschema

import (
	"errors"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// Dialect is the one version of JSON Schema that is read.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// address is what a schema is called inside the library. Nothing is ever read from there. It has slashes so that a name beside it
// is another address, and refused.
const address = "loom:///value"

// Schema is a JSON Schema. It is safe for use by several goroutines.
type Schema struct {
	compiled *jsonschema.Schema
	listed   int // values in all its enums

	mu    sync.Mutex // one check at a time: the meter counts for one
	meter *meter
}

// Compile reads a schema, a map. Its error says on one line what is wrong, without the place of the schema.
func Compile(v document.Value) (*Schema, error) {
	if of, given := v.Get("$schema"); given && strings.TrimSuffix(of.Text, "#") != Dialect {
		return nil, errors.New("it must be a JSON Schema of " + Dialect)
	}
	s := &Schema{meter: new(meter), listed: listed(v)}
	err := judgeable(v, 0)
	if err == nil {
		s.compiled, err = compile(canonjson.Compact(v), s.meter)
	}
	if err != nil {
		return nil, errors.New(why(err))
	}
	return s, nil
}

// refusing is a loader that reads nothing: a schema must not open files or connections.
type refusing struct{}

func (refusing) Load(string) (any, error) {
	return nil, errors.New("a schema refers to nothing outside itself")
}

// compile has the library read a schema that is JSON already.
func compile(text string, m *meter) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(refusing{})
	compiler.RegisterVocabulary(m.vocabulary())
	compiler.AssertVocabs()
	resource, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = compiler.AddResource(address, resource)
	}
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = compiler.Compile(address)
	}
	return compiled, err
}
