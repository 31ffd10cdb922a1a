package strictjson_test

import (
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

func TestParseReadsWhatIsWritten(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"null", `null`, `null`},
		{"white space around and between", " \t\r\n[ 1 ,\t2 ] \r\n", `[1,2]`},
		{"members in written order", `{"b":1,"a":{"c":[],"d":{}}}`, `{"b":1,"a":{"c":[],"d":{}}}`},
		{"the same name in different maps", `{"a":{"a":1},"b":{"a":2}}`, `{"a":{"a":1},"b":{"a":2}}`},
		{"names that differ in letter case", `{"a":1,"A":2}`, `{"a":1,"A":2}`},
		{"a text that equals a name", `{"a":"a"}`, `{"a":"a"}`},
		{"numbers as written", `[0,-0,1.10,1E400,1e-07,0.0]`, `[0,-0,1.10,1E400,1e-07,0.0]`},
		{"a number beyond 64 bits (case 94)", `123456789012345678901234567890`, `123456789012345678901234567890`},
		{"booleans", `[true,false]`, `[true,false]`},
		{"escapes", `"\u0061\/\b\f\n\r\t\"\\\u00e9"`, `"a/\b\f\n\r\t\"\\é"`},
		{"a surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"characters of all lengths", "\"aé日𐀀\u2028\x7f\"", "\"aé日𐀀\u2028\x7f\""},
		{"an escaped NUL", `"\u0000"`, `"\u0000"`},
		{"a byte order mark inside a text", "\"\ufeff\"", "\"\ufeff\""},
		{"an empty name", `{"":1}`, `{"":1}`},
	} {
		v, err := strictjson.Parse([]byte(tc.text), strictjson.MaxDepth)
		if got := canonjson.Compact(v); err != nil || got != tc.want {
			t.Errorf("%s: got %s, %v; want %s", tc.name, got, err, tc.want)
		}
	}
}

func TestParseKeepsTheKindsApart(t *testing.T) {
	v, err := strictjson.Parse([]byte(`{"n":1,"t":"1","b":true,"w":"true","z":null,"l":[],"m":{}}`), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]document.Value{
		"n": document.NumberOf("1"), "t": document.TextOf("1"), "b": document.BoolOf(true), "w": document.TextOf("true"),
		"z": {}, "l": document.ListOf(), "m": document.MapOf(),
	} {
		if got, found := v.Get(name); !found || !sameTree(got, want) {
			t.Errorf("%s is %+v", name, got)
		}
	}
}

// sameTree compares trees without their places.
func sameTree(a, b document.Value) bool {
	return cmp.Equal(a, b, cmpopts.IgnoreTypes(document.Place{}), cmpopts.EquateEmpty())
}

func TestParseRefuses(t *testing.T) {
	const (
		empty     = "there is no JSON value"
		notUTF8   = "the input is not UTF-8"
		cut       = "the JSON value ends too early"
		syntax    = "this is not JSON"
		trailing  = "something follows the JSON value"
		duplicate = "a member is written twice"
	)
	for _, tc := range []struct{ name, text, want string }{
		{"nothing (1.7, case 24)", "", "line 1, column 1: " + empty},
		{"white space only (case 24)", " \t\r\n ", "line 2, column 2: " + empty},
		{"a byte order mark", "\ufeff{}", "line 1, column 1: " + syntax},
		{"a byte order mark alone", "\ufeff", "line 1, column 1: " + syntax},

		{"a byte that is not UTF-8, in a text (case 25)", "[\"é\xff\"]", "line 1, column 4: " + notUTF8},
		{"in a name (case 25)", "{\"a\xc3\":1}", "line 1, column 4: " + notUTF8},
		{"outside of texts (case 25)", "\n[\x80]", "line 2, column 2: " + notUTF8},
		{"behind the value (case 25)", "[] \xfe", "line 1, column 4: " + notUTF8},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", "line 1, column 2: " + notUTF8},
		{"UTF-16", "\xff\xfe{\x00}\x00", "line 1, column 1: " + notUTF8},
		{"UTF-16 without a mark", "{\x00}\x00", "line 1, column 2: " + syntax},

		{"a member twice (D6, case 26)", `{"a":1,"a":2}`, "line 1, column 8: " + duplicate},
		{"twice, the second escaped (case 26)", `{"a":1,"\u0061":2}`, "line 1, column 8: " + duplicate},
		{"twice, the first escaped (case 26)", `{"\u0061":1,"a":2}`, "line 1, column 13: " + duplicate},
		{"twice, apart (case 26)", "{\"a\":1,\n \"b\":{\"a\":1},\n \"a\":2}", "line 3, column 2: " + duplicate},
		{"twice at depth (case 26)", `[[{"x":[{"a":1,"a":1}]}]]`, "line 1, column 16: " + duplicate},
		{"twice, empty name", `{"":1,"":1}`, "line 1, column 7: " + duplicate},

		{"a second value", `1 2`, "line 1, column 3: " + trailing},
		{"a second map", `{}{}`, "line 1, column 3: " + trailing},
		{"a word behind", "[1]\n x", "line 2, column 2: " + trailing},
		{"a bracket behind", `[1]]`, "line 1, column 4: " + trailing},
		{"a comma behind", `1,`, "line 1, column 2: " + trailing},
		{"a colon behind", `{} :`, "line 1, column 4: " + trailing},
		{"a NUL behind", "{}\x00", "line 1, column 3: " + trailing},
		{"a leading zero", `01`, "line 1, column 2: " + trailing},
		{"hexadecimal", `0x1`, "line 1, column 2: " + trailing},
		{"a word that goes on", `nulll`, "line 1, column 5: " + trailing},

		{"no comma in a list", `[1 2]`, "line 1, column 4: " + syntax},
		{"no comma in a map", `{"a":1 "b":2}`, "line 1, column 8: " + syntax},
		{"no colon", `{"a" 1}`, "line 1, column 6: " + syntax},
		{"a comma for a colon", `{"a",1}`, "line 1, column 5: " + syntax},
		{"a colon for a comma", `[1:2]`, "line 1, column 3: " + syntax},
		{"a comma first", `[,1]`, "line 1, column 2: " + syntax},
		{"a comma first in a map", `{,"a":1}`, "line 1, column 2: " + syntax},
		{"a comma before all", `,1`, "line 1, column 1: " + syntax},
		{"a colon before all", `:1`, "line 1, column 1: " + syntax},
		{"two commas", `[1,,2]`, "line 1, column 4: " + syntax},
		{"two colons", `{"a"::1}`, "line 1, column 6: " + syntax},
		{"a comma last", "[1\n, ]", "line 2, column 1: " + syntax},
		{"a comma last in a map", `{"a":1,}`, "line 1, column 7: " + syntax},
		{"a name without a value", `{"a"}`, "line 1, column 5: " + syntax},
		{"a number for a name", `{1:2}`, "line 1, column 2: " + syntax},
		{"null for a name", `{null:2}`, "line 1, column 2: " + syntax},
		{"brackets that do not match", `[1}`, "line 1, column 3: " + syntax},
		{"braces that do not match", `{]`, "line 1, column 2: " + syntax},
		{"a bracket that was not opened", `]`, "line 1, column 1: " + syntax},

		{"a lone high surrogate", `"\ud800"`, "line 1, column 2: " + syntax},
		{"a lone low surrogate", `"x\udc00"`, "line 1, column 3: " + syntax},
		{"surrogates in the wrong order", `"\udc00\ud800"`, "line 1, column 2: " + syntax},
		{"a lone surrogate in a name", `{"\ud800":1}`, "line 1, column 3: " + syntax},
		{"an unknown escape", `["a\qb"]`, "line 1, column 4: " + syntax},
		{"a short escape", `"\u12"`, "line 1, column 2: " + syntax},
		{"a control character in a text", "\"a\x1fb\"", "line 1, column 3: " + syntax},
		{"a line feed in a text", "\"a\nb\"", "line 1, column 3: " + syntax},
		{"single quotes", `'a'`, "line 1, column 1: " + syntax},
		{"a comment", `/**/1`, "line 1, column 1: " + syntax},
		{"a word cut by a bracket", `[nul]`, "line 1, column 5: " + syntax},
		{"other words", `True`, "line 1, column 1: " + syntax},
		{"not a number", `NaN`, "line 1, column 1: " + syntax},
		{"a plus sign", `+1`, "line 1, column 1: " + syntax},
		{"no digit before the point", `.5`, "line 1, column 1: " + syntax},
		{"no digit behind the point", `[1.]`, "line 1, column 4: " + syntax},
		{"no digit in the exponent", `[1e+]`, "line 1, column 5: " + syntax},

		{"an open list", "[1,\n 2", "line 2, column 3: " + cut},
		{"an open map", `{"a"`, "line 1, column 5: " + cut},
		{"an open text", `"é`, "line 1, column 3: " + cut},
		{"an open escape", `"\u00`, "line 1, column 6: " + cut},
		{"an open word", `tru`, "line 1, column 4: " + cut},
		{"an open number", `-`, "line 1, column 2: " + cut},
	} {
		v, err := strictjson.Parse([]byte(tc.text), strictjson.MaxDepth)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
		if !sameTree(v, document.Value{}) {
			t.Errorf("%s: a value comes with the error: %+v", tc.name, v)
		}
	}
}

func TestErrorsWrapWhatCallersBranchOn(t *testing.T) {
	for _, tc := range []struct {
		text   string
		is     error
		offset int64
	}{
		{"\n ", strictjson.ErrEmpty, 2},
		{"[é\xff]", strictjson.ErrNotUTF8, 3},
		{"[\"é\",[[]]]", strictjson.ErrTooDeep, 7},
	} {
		_, err := strictjson.Parse([]byte(tc.text), 2)
		var refused *strictjson.Error
		if !errors.Is(err, tc.is) || !errors.As(err, &refused) || refused.Offset != tc.offset {
			t.Errorf("%q: got %+v", tc.text, err)
		}
	}
}

// Section 1.7 and case 27; D6 for the limits.
func TestParseCountsNestedMapsAndLists(t *testing.T) {
	nested := func(levels int, open, inner, end string) string {
		return strings.Repeat(open, levels) + inner + strings.Repeat(end, levels)
	}
	for _, shape := range []struct{ name, open, inner, end string }{
		{"lists", "[", "", "]"},
		{"maps", `{"a":`, "1", "}"},
		{"maps with more behind", `{"b":0,"a":`, `{}`, `,"c":[]}`},
		{"both", `[{"a":`, "[]", "}]"},
	} {
		// How many levels a repetition and the inner value take.
		each, inside := strings.Count(shape.open, "[")+strings.Count(shape.open, "{"), 0
		if strings.ContainsAny(shape.inner, "[{") {
			inside = 1
		}
		for _, limit := range []int{strictjson.MaxDepth, strictjson.MaxFactDepth, 2} {
			fits := (limit - inside) / each
			if _, err := strictjson.Parse([]byte(nested(fits, shape.open, shape.inner, shape.end)), limit); err != nil {
				t.Errorf("%s: %d levels of %d: %v", shape.name, fits*each+inside, limit, err)
			}
			for _, levels := range []int{fits + 1, 100_000} {
				if _, err := strictjson.Parse([]byte(nested(levels, shape.open, shape.inner, shape.end)), limit); !errors.Is(err, strictjson.ErrTooDeep) {
					t.Errorf("%s: %d levels of %d: %v", shape.name, levels*each+inside, limit, err)
				}
			}
		}
	}
	for _, tc := range []struct {
		name, text string
		limit      int
		refused    bool
	}{
		{"text has no depth", `"a"`, 0, false},
		{"an empty list has one", `[]`, 0, true},
		{"no list within a negative limit", `[]`, -1, true},
		{"siblings do not add up", `[[],[],{"a":[]},[]]`, 3, false},
		{"100,000 levels never closed", strings.Repeat("[", 100_000), 128, true},
	} {
		if _, err := strictjson.Parse([]byte(tc.text), tc.limit); errors.Is(err, strictjson.ErrTooDeep) != tc.refused {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

const sample = "{\n" +
	"  \"é日\": [1, -2.5e+3, \"a\\u00e9\\ud83d\\ude00b\"],\t\"b\" :{ \"c\":null,\r\n" +
	"  \"𐀀\":[[], {}, true] ,\"d\": false}\n" +
	"}"

func TestPlacesCountLinesAndCharacters(t *testing.T) {
	v, err := strictjson.Parse([]byte(sample), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) document.Place { return document.Place{Line: line, Column: column} }
	want := document.Value{Kind: document.Map, Place: at(1, 1), Members: []document.Member{
		{Name: "é日", Place: at(2, 3), Value: document.Value{Kind: document.List, Place: at(2, 9), Items: []document.Value{
			{Kind: document.Number, Text: "1", Place: at(2, 10)},
			{Kind: document.Number, Text: "-2.5e+3", Place: at(2, 13)},
			{Kind: document.Text, Text: "aé😀b", Place: at(2, 22)},
		}}},
		{Name: "b", Place: at(2, 47), Value: document.Value{Kind: document.Map, Place: at(2, 52), Members: []document.Member{
			{Name: "c", Place: at(2, 54), Value: document.Value{Kind: document.Null, Place: at(2, 58)}},
			{Name: "𐀀", Place: at(3, 3), Value: document.Value{Kind: document.List, Place: at(3, 7), Items: []document.Value{
				{Kind: document.List, Place: at(3, 8)},
				{Kind: document.Map, Place: at(3, 12)},
				{Kind: document.Bool, Text: "true", Place: at(3, 16)},
			}}},
			{Name: "d", Place: at(3, 23), Value: document.Value{Kind: document.Bool, Text: "false", Place: at(3, 28)}},
		}}},
	}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInputCutAnywhereIsRefused(t *testing.T) {
	for end := range len(sample) {
		if v, err := strictjson.Parse([]byte(sample[:end]), strictjson.MaxDepth); err == nil {
			t.Errorf("%q is read as %s", sample[:end], canonjson.Compact(v))
		}
	}
}

// Parse looks past commas and colons for the place of a token. That must never make valid what is not.
func TestOneByteMoreOrLessIsJudgedAsTheStandardLibraryDoes(t *testing.T) {
	check := func(text string) {
		_, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
		if valid := jsontext.Value(text).IsValid(); (err == nil) != valid {
			t.Errorf("%q: %v, but valid is %t", text, err, valid)
		}
	}
	for i := range len(sample) {
		check(sample[:i] + sample[i+1:])
		for _, b := range ",: \n\t\"[]{}0\x00" {
			check(sample[:i] + string(b) + sample[i:])
			check(sample[:i] + string(b) + sample[i+1:])
		}
	}
}

func TestErrorsNeverQuoteTheInput(t *testing.T) {
	for _, text := range []string{
		`hunter2`, `"hunter2`, `["hunter2" "x"]`, `{"hunter2" 1}`, `{"hunter2":1,"hunter2":2}`, `{"a":"hunter2`,
		`"hunter2\q"`, `"hunter2\ud800"`, "\"hunter2\xff\"", "\"hunter2\n\"", `1 "hunter2"`, `[[["hunter2"]]]`, `{"hunter2":hunter2}`,
	} {
		_, err := strictjson.Parse([]byte(text), 2)
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "unter") {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", " ", sample, "[1,,2]", `{"a":1,"\u0061":2}`, `"\ud800"`, "\xff", "\ufeff1", "1 2", "-0.0E-0", strings.Repeat("[", 129) + strings.Repeat("]", 129),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := strictjson.Parse(text, strictjson.MaxDepth)
		var refused *strictjson.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("the error is a %T", err)
		}
		const deepest = 10_000 // of both tokenizers
		whole, invalid := strictjson.Parse(text, deepest)
		if valid := jsontext.Value(text).IsValid(); valid != (invalid == nil) || (err == nil && !valid) {
			t.Fatalf("%v, %v, but valid is %t", err, invalid, valid)
		}
		if invalid == nil && errors.Is(err, strictjson.ErrTooDeep) != (levels(whole) > strictjson.MaxDepth) {
			t.Fatalf("%d levels: %v", levels(whole), err)
		}
		if err != nil {
			if refused.Offset < 0 || refused.Offset > int64(len(text)) || refused.Place != document.NewCursor(text).At(refused.Offset) {
				t.Errorf("%+v is no place of the text", refused)
			}
			return
		}
		if !json.Valid(text) {
			t.Error("encoding/json refuses it")
		}
		compact := canonjson.AppendCompact(nil, v)
		again, err := strictjson.Parse(compact, strictjson.MaxDepth)
		if err != nil || !sameTree(v, again) {
			t.Errorf("%s is read as %s, %v", compact, canonjson.Compact(again), err)
		}
		checkPlaces(t, text, v)
	})
}

// levels counts the nested maps and lists of a tree.
func levels(v document.Value) int {
	inside := 0
	for _, item := range v.Items {
		inside = max(inside, levels(item))
	}
	for _, m := range v.Members {
		inside = max(inside, levels(m.Value))
	}
	if v.Kind == document.List || v.Kind == document.Map {
		inside++
	}
	return inside
}

// checkPlaces looks into the text for what a tree says is there.
func checkPlaces(t *testing.T, text []byte, v document.Value) {
	begins := map[document.Place]byte{}
	cursor := document.NewCursor(text)
	for i, b := range text {
		if at := cursor.At(int64(i)); begins[at] == 0 {
			begins[at] = b
		}
	}
	var check func(document.Value)
	check = func(v document.Value) {
		want := map[document.Kind]string{
			document.Null: "n", document.Bool: "tf", document.Number: "-0123456789",
			document.Text: `"`, document.List: "[", document.Map: "{",
		}[v.Kind]
		if strings.IndexByte(want, begins[v.Place]) < 0 {
			t.Errorf("%v: %s begins with %q", v.Place, v.Kind, begins[v.Place])
		}
		for _, item := range v.Items {
			check(item)
		}
		for _, m := range v.Members {
			if begins[m.Place] != '"' {
				t.Errorf("%v: a name begins with %q", m.Place, begins[m.Place])
			}
			check(m.Value)
		}
	}
	check(v)
}

func BenchmarkParse(b *testing.B) {
	record := `{"kind":"test_result","result":"pass","subject":"tree","revision":"0123456789abcdef","n":[1,2,3]}`
	for _, shape := range []struct{ name, text string }{
		{"records", "[" + strings.Repeat(record+",", 10_000) + record + "]"},
		{"numbers", "[" + strings.Repeat("0,", 1<<19) + "0]"},
		{"empty lists", "[" + strings.Repeat("[],", 1<<18) + "0]"},
		{"one text", `"` + strings.Repeat("a", 1<<20) + `"`},
	} {
		b.Run(shape.name, func(b *testing.B) {
			b.SetBytes(int64(len(shape.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := strictjson.Parse([]byte(shape.text), strictjson.MaxDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The memory of a tree is bounded by its parts, whatever the size of the input allows.
func TestPartsAreBounded(t *testing.T) {
	list := func(items int) []byte {
		return []byte("[" + strings.TrimSuffix(strings.Repeat("0,", items), ",") + "]")
	}
	if v, err := strictjson.Parse(list(strictjson.MaxParts-1), 1); err != nil || len(v.Items) != strictjson.MaxParts-1 {
		t.Errorf("the list and its items are %d parts: %v", strictjson.MaxParts, err)
	}
	if _, err := strictjson.Parse(list(strictjson.MaxParts), 1); !errors.Is(err, strictjson.ErrTooMany) {
		t.Errorf("one part more: %v", err)
	}
}
