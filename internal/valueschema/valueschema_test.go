package valueschema

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/loomrun/loom/internal/strictjson"
)

// Each case is a schema and a value under it: what is said of the value, empty where it fits.
var schemas = []struct{ name, schema, value, want string }{
	{"no rule at all", `{}`, `{"a":["any",{"thing":null}]}`, ""},
	{"a member that must be there", `{"properties":{"text":{"type":"string"},"to":{}},"required":["text","to"]}`, `{}`, "missing text, to"},
	{"a member that is not named", `{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"c":1,"b":1}`, "no such member: b, c"},
	{"a value that is no map", `{"type":"array","items":{"type":"string"}}`, `["a",1]`, "/1: this is number, and it must be string"},
	{"a value at the root", `{"type":"string"}`, `1`, "this is number, and it must be string"},
	{"nothing", `{"type":"string"}`, ``, "line 1, column 1: there is no JSON value"},
	{"a member that stands twice", `{}`, `{"a":1,"a":2}`, `line 1, column 8: a member is written twice`},
	{"a member that is no prototype", `{"properties":{"__proto__":{"type":"string"}}}`, `{"__proto__":1}`, "/__proto__: this is number, and it must be string"},
	{"a type", `{"properties":{"n":{"type":["integer","null"]}}}`, `{"n":"1"}`, "/n: this is string, and it must be null or integer"},
	{"a whole number in another way", `{"properties":{"n":{"type":"integer"}}}`, `{"n":1e2}`, ""},
	{"what a value must not be", `{"properties":{"n":{"not":{"const":1}}}}`, `{"n":1}`, "/n: it is what the schema excludes"},
	{"any other rule by its name", `{"properties":{"n":{"maxLength":2}}}`, `{"n":"abc"}`, "/n: it does not satisfy maxLength"},
	{"a choice of words", `{"properties":{"n":{"enum":["a","b"]}}}`, `{"n":"\u001b[2J"}`, "/n: it does not satisfy enum"},
	{"a place for nothing", `{"properties":{"n":false}}`, `{"n":1}`, "/n: nothing may stand here"},
	{"a place deep inside", `{"properties":{"a":{"items":{"properties":{"b":{"type":"boolean"}}}}}}`, `{"a":[{},{"b":0}]}`, "/a/1/b: this is number, and it must be boolean"},
	{"a schema of itself", `{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{"n":1}}}`, "/next/next: no such member: n"},
	{"an endless reference", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"a":1}`, "/a: the schema refers to itself without end"},
	{"its version may be named", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{}}}`, `{"a":1}`, ""},
	{"a name of its own", `{"$id":"https://example.org/a","properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, `{"a":1}`, "/a: this is number, and it must be string"},
	{"a format is a word to the model", `{"properties":{"a":{"format":"email"}}}`, `{"a":"nobody"}`, ""},
	{
		"no more than five faults", `{"additionalProperties":{"type":"null"}}`, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`,
		"/a: this is number, and it must be null; /b: this is number, and it must be null; /c: this is number, and it must be null; /d: this is number, and it must be null; /e: this is number, and it must be null; and 2 more",
	},

	// What the library would not survive, or not end with.
	{"a pattern that other engines run for ever", `{"properties":{"a":{"pattern":"^(a+)+$"}}}`, `{"a":"` + strings.Repeat("a", 50_000) + `!"}`, "/a: it does not satisfy pattern"},
	{"an exponent that ends the process", `{"properties":{"n":{"minimum":1}}}`, `{"n":1e9999999}`, "a number has more than 64 characters or an exponent of more than 3 digits"},
	{"an exponent that takes long", `{"properties":{"n":{"type":"integer"}}}`, `{"n":1e-1000000}`, "a number has more than 64 characters or an exponent of more than 3 digits"},
	{"more digits than anybody needs", `{"properties":{"n":{"type":"integer"}}}`, `{"n":` + strings.Repeat("9", 65) + `}`, "a number has more than 64 characters or an exponent of more than 3 digits"},
	{"as many as there may be", `{"properties":{"n":{"multipleOf":3}}}`, `{"n":` + strings.Repeat("1", 56) + `e000999}`, "/n: it does not satisfy multipleOf"},
	{"a great many values", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1` + strings.Repeat(`,1`, 10_000) + `]}`, "there are more than 10000 values"},
	{"a schema that doubles at each level", doubling, `{"a":` + strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 61), "to check them against the schema takes more than 500000 steps"},
	{"a schema that doubles by itself", doublingAlone, `{}`, "to check them against the schema takes more than 500000 steps"},
	{"members that are counted again and again", `{"allOf":[true` + strings.Repeat(`,{"title":"x"}`, 500) + `]}`, `{"a":1` + many(2000) + `}`, "to check them against the schema takes more than 500000 steps"},
	{"items that are held against many values", `{"properties":{"a":{"items":{"enum":[0` + strings.Repeat(`,1`, 2000) + `]}}}}`, `{"a":[2` + strings.Repeat(`,2`, 2000) + `]}`, "to check them against the schema takes more than 500000 steps"},
	{"items that are counted again and again", `{"properties":{"a":{"allOf":[true` + strings.Repeat(`,{"title":"x"}`, 500) + `]}}}`, `{"a":[1` + strings.Repeat(`,1`, 2000) + `]}`, "to check them against the schema takes more than 500000 steps"},
	{"a long place is cut", `{"additionalProperties":false}`, `{"` + strings.Repeat("a", 1000) + `":1}`, "no such member: " + strings.Repeat("a", 300-len("no such member: ")) + "[truncated]"},
	{"too deep", `{"additionalProperties":true}`, strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200), "line 1, column 641: the JSON value is nested too deeply"},
}

// doubling is a schema that is held twice against each level of the arguments below the last.
const doubling = `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"allOf":[{"properties":{"a":{"$ref":"#/$defs/x"}}},{"properties":{"a":{"$ref":"#/$defs/x"}}}]}}}`

// doublingAlone is a schema of forty parts, each of which holds the next twice against the same value.
var doublingAlone = func() string {
	var s strings.Builder
	s.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&s, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	s.WriteString(`"d40":{}}}`)
	return s.String()
}()

func many(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `,"m%d":1`, i)
	}
	return s.String()
}

func compiled(tb testing.TB, text string) *Schema {
	tb.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := Compile(v)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestValuesAreHeldAgainstTheirSchema(t *testing.T) {
	for _, tc := range schemas {
		t.Run(tc.name, func(t *testing.T) {
			s := compiled(t, tc.schema)
			// A run that is played again must be refused in the same words.
			for range 2 {
				if got := s.Check(tc.value); got != tc.want {
					t.Fatalf("%q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"another version", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "it must be a JSON Schema of https://json-schema.org/draft/2020-12/schema"},
		{"a version from elsewhere", `{"$schema":"http://127.0.0.1:1/s"}`, "it must be a JSON Schema of https://json-schema.org/draft/2020-12/schema"},
		{"a keyword of another type", `{"properties":{"a":{"type":"text"}}}`, "/properties/a/type: it does not satisfy enum"},
		{"a pattern that does not compile", `{"properties":{"a":{"pattern":"("}}}`, "/properties/a/pattern: it does not satisfy format"},
		{"a pattern of too many states", `{"properties":{"a":{"pattern":"((a{100}){100}){100}"}}}`, "/properties/a/pattern: it does not satisfy format"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "a schema refers to nothing outside itself"},
		{"a server", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/s"}}}`, "a schema refers to nothing outside itself"},
		{"a file beside it", `{"properties":{"a":{"$ref":"other.json"}}}`, "a schema refers to nothing outside itself"},
		{"a part with a version from elsewhere", `{"$defs":{"a":{"$id":"b","$schema":"file:///etc/passwd"}}}`, "a schema refers to nothing outside itself"},
		{"a part that is not there", `{"$ref":"#/$defs/x"}`, "#/$defs/x"},
		{"a name that is no address", `{"$id":"http://[","properties":{}}`, ""},
		{"a number that ends the process", `{"properties":{"n":{"multipleOf":1e9999999}}}`, "a number has more than 64 characters"},
		{"a number in a list", `{"enum":[{"n":1e9999999}]}`, "a number has more than 64 characters"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, err := strictjson.Parse([]byte(tc.schema), strictjson.MaxDepth)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Compile(v)
			if err == nil {
				t.Fatal("it is taken")
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, want %q", err, tc.want)
			}
		})
	}
}

// The largest schemas that are read are read, and one value more is refused.
func TestLargeSchemas(t *testing.T) {
	const room = MaxParts - 10
	deep := strictjson.MaxDepth - 20
	for _, tc := range []struct{ name, schema, want string }{
		{"many values", `{"properties":{"a":{"enum":["0"` + strings.Repeat(`,"0"`, room-10) + `]}}}`, ""},
		{"many parts", `{"allOf":[{"title":"x"}` + strings.Repeat(`,{"title":"x"}`, room/2-10) + `]}`, ""},
		{"deep parts", strings.Repeat(`{"not":`, deep) + `{}` + strings.Repeat(`}`, deep), ""},
		{"too many", `{"enum":["0"` + strings.Repeat(`,"0"`, MaxParts) + `]}`, "there are more than 10000 values"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, err := strictjson.Parse([]byte(tc.schema), strictjson.MaxDepth)
			if err == nil {
				_, err = Compile(v)
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
		})
	}
}

func TestAFaultOfTheLibraryIsNotHidden(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it is")
		}
	}()
	s := compiled(t, `{}`)
	s.compiled = nil
	s.Check(`{}`)
}

func TestValuesAreCheckedFromManyGoroutines(t *testing.T) {
	s := compiled(t, doubling)
	var all sync.WaitGroup
	said := make([]string, 2)
	for i := range said {
		all.Go(func() { said[i] = s.Check(schemas[slices.IndexFunc(schemas, isDoubling)].value) })
	}
	all.Wait()
	if slices.Sort(said); said[0] != said[1] || said[0] == "" {
		t.Errorf("%q", said)
	}
}

func isDoubling(tc struct{ name, schema, value, want string }) bool { return tc.schema == doubling }

// Whatever anybody gives, the check ends and says the same again, on one line.
func FuzzCheck(f *testing.F) {
	for _, tc := range schemas {
		if !strings.Contains(tc.want, "steps") { // these take the fuzzer's time and nothing else
			f.Add(tc.schema, tc.value)
		}
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
		if err != nil || len(text) > 10_000 {
			return
		}
		s, err := Compile(v)
		if err != nil {
			return
		}
		said := s.Check(value)
		if again := s.Check(value); again != said {
			t.Errorf("%q, then %q", said, again)
		}
		if len(said) > (MaxFaults+1)*(MaxFaultBytes+20) {
			t.Errorf("it says %d bytes", len(said))
		}
	})
}
