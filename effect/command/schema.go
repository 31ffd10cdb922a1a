package command

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
)

// Schema is the JSON Schema (2020-12) of an action's arguments. It refers to nothing outside itself. It is safe for
// use by several goroutines.
type Schema struct {
	text     string
	compiled *jsonschema.Schema
	listed   int // values in all its enums

	mu    sync.Mutex // one check at a time: the meter counts for one
	meter *meter
}

const (
	// anyObject is what is said of arguments without a schema.
	anyObject = `{"type":"object"}`
	// schemaAddress is what the schema is called inside the library. Nothing is ever read from there. It has slashes so
	// that a name beside it is another address, and refused.
	schemaAddress = "loom:///arguments"
	// dialect is the one version of JSON Schema that is read.
	dialect = "https://json-schema.org/draft/2020-12/schema"
)

// refusing is a loader that reads nothing: a schema must not open files or connections.
type refusing struct{}

func (refusing) Load(string) (any, error) {
	return nil, errors.New("a schema refers to nothing outside itself")
}

// newSchema reads a schema. Members that it does not name are refused unless it says otherwise, and it is
// about an object.
func newSchema(v document.Value, action string) (*Schema, error) {
	if v.Kind != document.Map {
		return nil, document.Errorf(v.Place, "the arguments of %s are %s instead of a JSON Schema, an object", action, v.Kind)
	}
	if of, given := v.Get("type"); given && (of.Kind != document.Text || of.Text != "object") {
		return nil, document.Errorf(of.Place, "the type of the arguments of %s must be object: arguments are always one", action)
	}
	if of, given := v.Get("$schema"); given && strings.TrimSuffix(of.Text, "#") != dialect {
		return nil, document.Errorf(of.Place, "the arguments of %s must be a JSON Schema of %s", action, dialect)
	}
	v = closed(v)
	s := &Schema{text: canonjson.Compact(v), meter: new(meter), listed: listed(v)}
	err := judgeable(v, 0)
	if err == nil {
		s.compiled, err = compile(s.text, s.meter)
	}
	if err != nil {
		return nil, document.Errorf(v.Place, "the arguments of %s are no JSON Schema that can be used: %s", action, why(err))
	}
	if takesNothing(v) {
		s.text = effect.NoArguments // in just the form by which a run knows a forced move (D10)
	}
	return s, nil
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
		err = compiler.AddResource(schemaAddress, resource)
	}
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = compiler.Compile(schemaAddress)
	}
	return compiled, err
}

// inPlace are the keywords by which another part of a schema speaks about the same object. Beside them
// additionalProperties would refuse what that part allows.
var inPlace = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"}

// closed adds what a schema leaves out: that it is about an object, and takes no other members.
func closed(v document.Value) document.Value {
	members := slices.Clone(v.Members)
	if _, given := v.Get("type"); !given {
		members = append(members, document.M("type", document.TextOf("object")))
	}
	_, additional := v.Get("additionalProperties")
	_, unevaluated := v.Get("unevaluatedProperties")
	if !additional && !unevaluated {
		closing := "additionalProperties"
		if slices.ContainsFunc(v.Members, func(m document.Member) bool { return slices.Contains(inPlace, m.Name) }) {
			closing = "unevaluatedProperties"
		}
		members = append(members, document.M(closing, document.BoolOf(false)))
	}
	return document.Value{Kind: document.Map, Members: members, Place: v.Place}
}

// takesNothing tells a schema that says in the plainest way that it admits {} alone.
func takesNothing(v document.Value) bool {
	for _, m := range v.Members {
		switch {
		case m.Name == "type": // object, as newSchema has seen
		case m.Name == "additionalProperties" && m.Value.Kind == document.Bool && m.Value.Text == "false":
		case m.Name == "properties" && len(m.Value.Members) == 0:
		default:
			return false
		}
	}
	return true
}
