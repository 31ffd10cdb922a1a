package command

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/valueschema"
)

// Each case is a schema and arguments under it: what is said of them, empty where they fit.
var schemas = []struct{ name, schema, arguments, want string }{
	{"a schema is closed by default (D14)", `{"properties":{"a":{}}}`, `{"a":1,"b":2,"c":3}`, "no such member: b, c"},
	{"what it names is taken", `{"properties":{"a":{}}}`, `{"a":{"any":["thing"]}}`, ""},
	{"it may say that it is open", `{"additionalProperties":true}`, `{"b":2}`, ""},
	{"or to what", `{"additionalProperties":{"type":"string"}}`, `{"b":2}`, "/b: this is number, and it must be string"},
	{"or by what is left over", `{"unevaluatedProperties":true}`, `{"b":2}`, ""},
	{"a pattern names members too", `{"patternProperties":{"^x-":{}}}`, `{"x-a":1,"y":1}`, "no such member: y"},
	{"what another part names is taken", `{"allOf":[{"properties":{"a":{}}}]}`, `{"a":1}`, ""},
	{"and the rest is not", `{"allOf":[{"properties":{"a":{}}}]}`, `{"a":1,"b":1}`, "/b: nothing may stand here"},
	{"a part elsewhere is one too", `{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{}}}}}`, `{"a":1,"b":1}`, "/b: nothing may stand here"},
	{"one of several shapes", `{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, `{"c":1}`, "/c: nothing may stand here; missing a; missing b"},
	{"a member that must be there", `{"properties":{"text":{"type":"string"},"to":{}},"required":["text","to"]}`, `{}`, "missing text, to"},
	{"a schema of itself", `{"properties":{"next":{"$ref":"#"}}}`, `{"next":{"next":{"n":1}}}`, "/next/next: no such member: n"},
	{"what the library would not survive", `{"properties":{"n":{"minimum":1}}}`, `{"n":1e9999999}`, "a number has more than 64 characters or an exponent of more than 3 digits"},
}

func schema(tb testing.TB, text string) *Schema {
	tb.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := newSchema(v, "a")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestArgumentsAreHeldAgainstTheirSchema(t *testing.T) {
	for _, tc := range schemas {
		t.Run(tc.name, func(t *testing.T) {
			s := schema(t, tc.schema)
			// A run that is played again must be refused in the same words.
			for range 2 {
				if got := s.check(tc.arguments); got != tc.want {
					t.Fatalf("%q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"no object", `true`, "the arguments of a are true or false instead of a JSON Schema"},
		{"arguments that are no object", `{"type":"string"}`, "the type of the arguments of a must be object"},
		{"or perhaps not", `{"type":["object","null"]}`, "the type of the arguments of a must be object"},
		{"another version", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "the arguments of a are no JSON Schema that can be used: it must be a JSON Schema of https://json-schema.org/draft/2020-12/schema"},
		{"a keyword of another type", `{"properties":{"a":{"type":"text"}}}`, "/properties/a/type: it does not satisfy enum"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "a schema refers to nothing outside itself"},
		{"too many values", `{"enum":["0"` + strings.Repeat(`,"0"`, valueschema.MaxParts) + `]}`, "there are more than 10000 values"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(one(plain + `,"arguments":` + tc.schema)))
			if err == nil {
				t.Fatal("it is taken")
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "line 1, column ") {
				t.Errorf("%q, want %q", err, tc.want)
			}
		})
	}
}

func TestSchemaIsShownAsItIsMeant(t *testing.T) {
	for _, tc := range []struct{ schema, want string }{
		// What takes nothing is a forced move (D10), however it says so.
		{`{}`, effect.NoArguments},
		{`{"additionalProperties":false,"type":"object"}`, effect.NoArguments},
		{`{"properties":{}}`, effect.NoArguments},
		{`{"type":"object","properties":{},"additionalProperties":false}`, effect.NoArguments},
		// These take something, or might.
		{`{"additionalProperties":true}`, `{"additionalProperties":true,"type":"object"}`},
		{`{"additionalProperties":{}}`, `{"additionalProperties":{},"type":"object"}`},
		{`{"properties":{"a":{}}}`, `{"properties":{"a":{}},"type":"object","additionalProperties":false}`},
		{`{"required":["a"]}`, `{"required":["a"],"type":"object","additionalProperties":false}`},
		{`{"unevaluatedProperties":true}`, `{"unevaluatedProperties":true,"type":"object"}`},
		{`{"if":{"properties":{"a":{}}}}`, `{"if":{"properties":{"a":{}}},"type":"object","unevaluatedProperties":false}`},
	} {
		s := schema(t, tc.schema)
		if s.text != tc.want {
			t.Errorf("%s is shown as %s, not as %s", tc.schema, s.text, tc.want)
		}
		if tc.want == effect.NoArguments && (s.check(`{}`) != "" || s.check(`{"a":1}`) == "") {
			t.Errorf("%s takes something, or not even nothing", tc.schema)
		}
	}
}

// Whatever a model gives, the check ends and says the same again, on one line.
func FuzzArguments(f *testing.F) {
	for _, tc := range schemas {
		f.Add(tc.schema, tc.arguments)
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
		if err != nil || len(text) > 10_000 {
			return
		}
		s, err := newSchema(v, "a")
		if err != nil {
			return
		}
		said := s.check(arguments)
		if again := s.check(arguments); again != said {
			t.Errorf("%q, then %q", said, again)
		}
		if len(said) > (valueschema.MaxFaults+1)*(valueschema.MaxFaultBytes+20) {
			t.Errorf("it says %d bytes", len(said))
		}
	})
}
