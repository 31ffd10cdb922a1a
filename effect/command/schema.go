package command

import (
	"slices"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/valueschema"
)

// Schema is the JSON Schema (2020-12) of an action's arguments. It refers to nothing outside itself. It is safe for
// use by several goroutines.
type Schema struct {
	text   string // as a model is shown it
	values *valueschema.Schema
}

// anyObject is what is said of arguments without a schema.
const anyObject = `{"type":"object"}`

// newSchema reads a schema. Members that it does not name are refused unless it says otherwise, and it is
// about an object.
func newSchema(v document.Value, action string) (*Schema, error) {
	if v.Kind != document.Map {
		return nil, document.Errorf(v.Place, "the arguments of %s are %s instead of a JSON Schema, an object", action, v.Kind)
	}
	if of, given := v.Get("type"); given && (of.Kind != document.Text || of.Text != "object") {
		return nil, document.Errorf(of.Place, "the type of the arguments of %s must be object: arguments are always one", action)
	}
	v = closed(v)
	values, err := valueschema.Compile(v)
	if err != nil {
		return nil, document.Errorf(v.Place, "the arguments of %s are no JSON Schema that can be used: %s", action, err)
	}
	s := &Schema{text: canonjson.Compact(v), values: values}
	if takesNothing(v) {
		s.text = effect.NoArguments // in just the form by which a run knows a forced move (D10)
	}
	return s, nil
}

// check says why arguments do not fit; empty where they do.
func (s *Schema) check(arguments string) string { return s.values.Check(arguments) }

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
