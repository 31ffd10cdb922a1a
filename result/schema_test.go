package result

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/valueschema"
)

func TestSchemasThatCannotBeUsed(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"too large", `{"title":"` + strings.Repeat("x", int(MaxSchemaBytes)) + `"}`, "it is larger than 32768 bytes"},
		{"no JSON", `{`, "result schema: "},
		{"no map", `true`, "it is true or false, and not a map"},
		{"another version", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "it must be a JSON Schema of " + valueschema.Dialect},
		{"a keyword of another type", `{"type":1}`, "/type: "},
		{"a part that is none", `{"properties":{"a":1}}`, "/properties/a: "},
		{"a reference elsewhere", `{"$ref":"file:///etc/passwd"}`, "a schema refers to nothing outside itself"},
		{"a reference to nothing", `{"$ref":"#/$defs/x"}`, "#/$defs/x"},
		{"a name for a part", `{"$defs":{"a":{"$anchor":"b"}}}`, "$anchor cannot be used here: refer to a part by its path, such as #/$defs/name"},
		{"a reference by name", `{"$ref":"#b","$defs":{"a":{"$anchor":"b"}}}`, "a reference leads to no part of this schema"},
		{"a reference by a number that is spelled otherwise", `{"$ref":"#/allOf/00","allOf":[{}]}`, "a reference leads to no part of this schema"},
		{"a row that is no yes or no", `{"asCell":["cell"]}`, "asCell is a list, and not true or false"},
		{"ifc that is no map", `{"ifc":[]}`, "ifc is a list, and not a map"},
		{"ifc with something else", `{"ifc":{"classification":[]}}`, `ifc has no member "classification": it has maxConfidentiality and requiredIntegrity`},
		{"a ceiling that is no list", `{"ifc":{"maxConfidentiality":"A"}}`, "maxConfidentiality of ifc is text, and not a list"},
		{"a clause of nothing", `{"ifc":{"maxConfidentiality":[{"anyOf":[]}]}}`, "maxConfidentiality of ifc: a clause has no alternative"},
		{"a clause that is none", `{"items":{"ifc":{"maxConfidentiality":[1]}}}`, "maxConfidentiality of ifc: a clause names what is neither text nor a record"},
		{"a clause with one that is none", `{"ifc":{"maxConfidentiality":[{"anyOf":["A",""]}]}}`, "maxConfidentiality of ifc: a clause names what is neither text nor a record"},
		{"integrity without a type", `{"ifc":{"requiredIntegrity":[{"a":1}]}}`, "requiredIntegrity of ifc: "},
		{"integrity that is empty", `{"ifc":{"requiredIntegrity":[""]}}`, "requiredIntegrity of ifc"},
		{"of a property", `{"properties":{"a":{"ifc":[]}}}`, "line 1, column "},
		{"of properties by their names", `{"patternProperties":{"a":{"ifc":[]}}}`, "ifc is a list"},
		{"of a branch", `{"anyOf":[{},{"ifc":[]}]}`, "ifc is a list"},
		{"of a condition", `{"dependentSchemas":{"a":{"ifc":[]}}}`, "ifc is a list"},
		{"of a name of members", `{"propertyNames":{"ifc":[]}}`, "ifc is a list"},
		{"of an item", `{"prefixItems":[{"ifc":[]}],"items":{}}`, "ifc is a list"},
		{"of what nobody refers to", `{"$defs":{"a":{"ifc":[]}}}`, "ifc is a list"},
		{"of a part under no keyword", `{"$ref":"#/parts/a","parts":{"a":{"ifc":[]}}}`, "ifc is a list"},
		{"a part under no keyword that is none", `{"$ref":"#/parts/a","parts":{"a":1}}`, ""},
		{"one in a part under no keyword", `{"$ref":"#/parts/a","parts":{"a":{"properties":{"b":1}}}}`, ""},
		{"a pattern in a part under no keyword", `{"$ref":"#/parts/a","parts":{"a":{"patternProperties":{"(":{}}}}}`, ""},
		{"too many rows", `{"anyOf":[{}` + strings.Repeat(`,{"asCell":true}`, 1000) + `]}`, "there are more than 10000 values"},
		{"a pattern that is none", `{"patternProperties":{"(":{}}}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := ReadSchema([]byte(tc.schema)); err == nil || !strings.HasPrefix(err.Error(), "result schema: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A model sees nothing of labels, and the form of a token where a row may stand. References lead to where parts are then.
func TestSchemaAsItIsShown(t *testing.T) {
	token := canonjson.Compact(tokenForm)
	row := token + "," + canonjson.Compact(linkForm) + "]}"
	for _, tc := range []struct{ name, schema, want string }{
		{"nothing of labels", `{"$schema":"` + valueschema.Dialect + `","type":"object","ifc":{"maxConfidentiality":[],"requiredIntegrity":["v"]}}`, `{"type":"object"}`},
		{"a row", `{"items":{"asCell":true,"type":"object"}}`, `{"items":{"anyOf":[{"type":"object"},` + row + `}`},
		{"no row", `{"items":{"asCell":false,"type":"object"}}`, `{"items":{"type":"object"}}`},
		{"properties of such names", `{"properties":{"ifc":{"type":"string"},"asCell":true}}`, `{"properties":{"ifc":{"type":"string"},"asCell":true}}`},
		{"constants of such names", `{"const":{"ifc":1,"$ref":"x"},"enum":[{"asCell":true}]}`, `{"const":{"ifc":1,"$ref":"x"},"enum":[{"asCell":true}]}`},
		{"a reference", `{"$defs":{"a b/c":{}},"$ref":"#/$defs/a%20b~1c"}`, `{"$defs":{"a b/c":{}},"$ref":"#/properties/result/$defs/a%20b~1c"}`},
		{"a reference through a row", `{"$defs":{"a":{"asCell":true,"properties":{"b":{}}}},"$ref":"#/$defs/a/properties/b"}`, `{"$defs":{"a":{"anyOf":[{"properties":{"b":{}}},` + row + `},"$ref":"#/properties/result/$defs/a/anyOf/0/properties/b"}`},
		{"a reference to the root", `{"items":{"$ref":"#"}}`, `{"items":{"$ref":"#/properties/result"}}`},
		{"a reference into a list", `{"allOf":[{},{"type":"string"}],"items":{"$ref":"#/allOf/1"}}`, `{"allOf":[{},{"type":"string"}],"items":{"$ref":"#/properties/result/allOf/1"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := schemaOf(t, tc.schema)
			if got := canonjson.Compact(s.ShownBelow("/properties/result")); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			whole := `{"properties":{"result":` + canonjson.Compact(s.ShownBelow("/properties/result")) + `}}`
			if _, err := valueschema.Compile(parsed(t, whole)); err != nil {
				t.Errorf("%s: %v", whole, err)
			}
			if got, want := canonjson.Compact(s.Shown()), strings.ReplaceAll(tc.want, "#/properties/result", "#"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Whatever a schema and a value are, the answer ends and says the same again; and what is written names no row that is not held.
func FuzzResult(f *testing.F) {
	for _, tc := range values {
		f.Add(tc.schema, tc.value, "see $0")
	}
	f.Add(`{"$ref":"#"}`, `{}`, "")
	f.Add(`{"properties":{"a":{"$ref":"#/properties"}}}`, `{"a":"$0"}`, "```\n---\n")
	f.Add(`{"ifc":{"maxConfidentiality":[]},"items":{"$ref":"#"}}`, `[["$1"]]`, "\r```\x00")
	f.Fuzz(func(t *testing.T, schema, value, answer string) {
		s, err := ReadSchema([]byte(schema))
		if err != nil {
			return
		}
		r := newRun()
		r.shown("one", labelled(t, "A"))
		r.shown("two", labelled(t, "B", observed))
		v, err := readValue(r.filled(value))
		if err != nil {
			return
		}
		q := r.request(r.filled(answer), r.tokens[1])
		q.Schema, q.Value = s, v
		w, c, _ := write(t, q)
		if w == nil {
			return
		}
		for _, m := range w.Minted {
			if row, held := r.Get(m.Token); !held || !row.Label.Equal(c.pages[m.Link].Label) {
				t.Errorf("minted %v", m)
			}
		}
		onePage(t, q, c)
	})
}
