package strictyaml_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/strictyaml"
)

func parse(text string) (document.Value, error) {
	return strictyaml.Parse([]byte(text), strictyaml.Options{})
}

func TestParseReadsWhatPeopleWrite(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a map in written order", "b: x\na:\n  c: y\n", `{"b":"x","a":{"c":"y"}}`},
		{"a list", "- a\n- b\n", `["a","b"]`},
		{"a list in a map, indented or not", "a:\n- b\nc:\n  - d\n", `{"a":["b"],"c":["d"]}`},
		{"maps in a list", "- a: 1\n  b: 2\n- c: 3\n", `[{"a":1,"b":2},{"c":3}]`},
		{"lists in lists", "- - a\n  - b\n- - c\n", `[["a","b"],["c"]]`},
		{"flow style", "a: [b, {c: d, e: [f]}, ]\n", `{"a":["b",{"c":"d","e":["f"]}]}`},
		{"flow style over lines", "a: [\n  b,\n  c # d\n]\n", `{"a":["b","c"]}`},
		{"empty collections", "a: {}\nb: []\n", `{"a":{},"b":[]}`},
		{"a pair in a list", "[a: b]", `[{"a":"b"}]`},
		{"scalar documents", "text", `"text"`},
		{"JSON", `{"a":[1,-2.5e+3,true,"\u00e9\/"],"b":{"c":""}}`, `{"a":[1,-2.5e+3,true,"é/"],"b":{"c":""}}`},
		{"quotes of both kinds", `a: 'it''s'` + "\n" + `b: "\x41\t\U0001f600"`, `{"a":"it's","b":"A\t😀"}`},
		{"an empty text in quotes", "a: ''\nb: \"\"\n", `{"a":"","b":""}`},
		{"folded plain text", "a: b\n  c\n\n  d\n", `{"a":"b c\nd"}`},
		{"a literal block", "a: |\n  b\n   c\n\n  d\n", `{"a":"b\n c\n\nd\n"}`},
		{"a folded block, chomped", "a: >-\n  b\n  c\n", `{"a":"b c"}`},
		{"an empty block is text", "a: |\n", `{"a":""}`},
		{"explicit keys", "? a\n: b\n? |\n  c\n: d\n", `{"a":"b","c\n":"d"}`},
		{"keys in quotes", "\"1\": a\n'true': b\n\"\": c\n'~': d\n", `{"1":"a","true":"b","":"c","~":"d"}`},
		{"keys that are text by the core schema", "yes: a\n2026-01-01: b\n1:30: c\n0b1: d\n", `{"yes":"a","2026-01-01":"b","1:30":"c","0b1":"d"}`},
		{"the merge word as a value", "a: <<\n", `{"a":"<<"}`},
		{"the merge word in quotes", "\"<<\": a\n", `{"<<":"a"}`},
		{"a long key", strings.Repeat("k", 2000) + ": a", `{"` + strings.Repeat("k", 2000) + `":"a"}`},
		{"comments", "# head\na: b # line\n# between\nc: d\n# foot\n", `{"a":"b","c":"d"}`},
		{"a number sign inside text", "a: b#c\n", `{"a":"b#c"}`},
		{"document markers round one document", "---\na: b\n...\n", `{"a":"b"}`},
		{"a marker behind comments", "# c\n\n--- a\n...\n...\n# d\n", `"a"`},
		{"carriage returns before line feeds", "a: b\r\nc: |\r\n  d\r\n  e\r\n", `{"a":"b","c":"d\ne\n"}`},
		{"a byte order mark at the beginning", "\ufeffa: b\nc: d\n", `{"a":"b","c":"d"}`},
		{"tabs between tokens and in text", "a:\tb\nc: 'd\te'\n", `{"a":"b","c":"d\te"}`},
		{"a comma in a plain text", "a: 1,000\n", `{"a":"1,000"}`},
		{"a percent sign that begins a line of text", "a\n%b", `"a %b"`},
		{"dots that begin a line of text", "a\n...b\n%c", `"a ...b %c"`},
		{"characters of all lengths", "é: 日\n𐀀: \u00a0x\n", "{\"é\":\"日\",\"𐀀\":\"\u00a0x\"}"},
		{"hidden characters that are escaped", `a: "\x00\x1b\x7f\N\L\P\uFEFF\uFFFE"`, "{\"a\":\"\\u0000\\u001b\x7f\u0085\u2028\u2029\ufeff\ufffe\"}"},
	} {
		v, err := parse(tc.text)
		if got := canonjson.Compact(v); err != nil || got != tc.want {
			t.Errorf("%s: got %s, %v; want %s", tc.name, got, err, tc.want)
		}
	}
}

// YAML 1.2 section 10.3.2; 2.8 and 2.9 rest on it.
func TestPlainWordsAreWhatTheCoreSchemaSays(t *testing.T) {
	const (
		text   = document.Text
		number = document.Number
		truth  = document.Bool
	)
	for _, tc := range []struct {
		word string
		want document.Kind
	}{
		{"true", truth},
		{"True", truth},
		{"TRUE", truth},
		{"false", truth},
		{"False", truth},
		{"FALSE", truth},
		{"tRUE", text},
		{"yes", text},
		{"Yes", text},
		{"no", text},
		{"on", text},
		{"off", text},
		{"y", text},
		{"N", text},

		{"0", number},
		{"12", number},
		{"-0", number},
		{"+0", number},
		{"-19", number},
		{"010", number},
		{"08", number},
		{"123456789012345678901234567890", number},
		{"0o7", number},
		{"0o", text},
		{"0o8", text},
		{"-0o7", text},
		{"0O7", text},
		{"0x1F", number},
		{"0x1f", number},
		{"0x", text},
		{"0xg", text},
		{"+0x1F", text},
		{"0X1F", text},
		{"0b1", text},
		{"1_000", text},
		{"1__0", text},
		{"+-5", text},
		{"--5", text},
		{"+", text},
		{"5-", text},
		{"1 2", text},

		{"1.", number},
		{"1.5", number},
		{".5", number},
		{"+.5", number},
		{"-.5", number},
		{"1.10", number},
		{"1e3", number},
		{"1E+3", number},
		{"-1.e-03", number},
		{".5e0", number},
		{".", text},
		{"..", text},
		{"...5", text},
		{"-.", text},
		{".e3", text},
		{"e3", text},
		{"1e", text},
		{"1e+", text},
		{"1e+-3", text},
		{"1e3.0", text},
		{"1.2.3", text},
		{"685_230.15", text},

		{".inf", number},
		{"-.INF", number},
		{"+.Inf", number},
		{"+-.inf", text},
		{".iNF", text},
		{"inf", text},
		{".nan", number},
		{".NaN", number},
		{".NAN", number},
		{".Nan", text},
		{"-.nan", text},
		{"NaN", text},

		{"1:30", text},
		{"190:20:30.15", text},
		{"2026-01-01", text},
		{"2026-01-01T00:00:00Z", text},
		{"2026-1-1 0:0:0", text},
		{"nUll", text},
		{"nil", text},
		{"~~", text},
		{"=", text},
		{"60m", text},
	} {
		want := tc.word
		if tc.want == truth {
			want = strings.ToLower(want)
		}
		for _, shape := range []string{"%s", "[%s]", "{a: %s}", "- %s # c", "? a\n: %s"} {
			v, err := parse(fmt.Sprintf(shape, tc.word))
			for len(v.Items)+len(v.Members) > 0 {
				if v.Kind == document.List {
					v = v.Items[0]
				} else {
					v = v.Members[0].Value
				}
			}
			if err != nil || v.Kind != tc.want || v.Text != want {
				t.Errorf("%q: got %s %q, %v; want %s %q", fmt.Sprintf(shape, tc.word), v.Kind, v.Text, err, tc.want, want)
			}
		}
		for _, shape := range []string{"'%s'", "\"%s\"", "|-\n %s", ">-\n %s"} {
			v, err := parse(fmt.Sprintf(shape, tc.word))
			if err != nil || v.Kind != text || v.Text != tc.word {
				t.Errorf("%q: got %s %q, %v; want text", fmt.Sprintf(shape, tc.word), v.Kind, v.Text, err)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const (
		anchor    = "anchors are not part of this format; remove this one"
		alias     = "aliases are not part of this format; write the value out"
		merge     = "merge keys are not part of this format; write the members out"
		tag       = "tags are not part of this format; remove this one"
		directive = "directives are not part of this format; remove this line"
		second    = "a second document begins here; one file holds one document"
		missing   = "a value is missing; null is not read as absent"
		noKey     = "a key is missing"
		null      = "null is not a value of this format; leave the member out, or put the word in quotes"
		empty     = "the document is empty"
		notUTF8   = "the document is not UTF-8"
		hidden    = " may not stand in YAML; write it escaped in double quotes"
		tab       = "while scanning for the next token: found character that cannot start any token"
	)
	after := func(key string) string {
		return "a value is missing after the key " + key + "; null is not read as absent"
	}
	key := func(what string) string { return "a key is " + what + " where text belongs; put it in quotes" }
	twice := func(key string) string { return "the key " + key + " is written twice" }
	for _, tc := range []struct {
		name, text   string
		line, column int
		want         string
	}{
		{"nothing", "", 1, 1, empty},
		{"white space", " \n\n", 1, 1, empty},
		{"comments only", "# a\n", 1, 1, empty},
		{"an end marker only", "...\n", 1, 1, empty},

		{"null (D6, 2.8)", "a: null", 1, 4, null},
		{"Null", "a: Null", 1, 4, null},
		{"NULL", "a: NULL", 1, 4, null},
		{"a tilde", "a:\n  - ~", 2, 5, null},
		{"null alone", "null", 1, 1, null},
		{"null in flow style", "{a: b, c: null}", 1, 11, null},
		{"null of JSON", "{\n \"a\": null}", 2, 7, null},
		{"a key without a value (case 66)", "artifacts:\nclaims: {}", 1, 1, after(`"artifacts"`)},
		{"the last key without a value (case 66)", "a: b\n  \n\nc:", 4, 1, after(`"c"`)},
		{"the same with a comment", "a: # c\n", 1, 1, after(`"a"`)},
		{"at depth", "a:\n  b:\n    c:\n  d: e\n", 3, 5, after(`"c"`)},
		{"in flow style", "{a: b, c: }", 1, 8, after(`"c"`)},
		{"the tail of a sentence", "a: {b: one thing, or the other}", 1, 19, `a value is missing after the key "or the other"; between braces a comma begins a new key, so put text with commas in quotes`},
		{"in flow style, no colon", "{a: b, c}", 1, 8, after(`"c"`)},
		{"in flow style, the colon touches", "{a:1}", 1, 2, after(`"a:1"`)},
		{"in a list in flow style", "[a: ]", 1, 2, after(`"a"`)},
		{"of an explicit key", "? a\n? b\n", 1, 3, after(`"a"`)},
		{"of a key with hidden characters", "\"\\e[1m\\u202e\":", 1, 1, after(`"\x1b[1m\u202e"`)},
		{"of a long key", strings.Repeat("é", 40) + ":", 1, 1, after(`"` + strings.Repeat("é", 32) + `"…`)},
		{"of a long key cut between characters", "x" + strings.Repeat("é", 40) + ":", 1, 1, after(`"x` + strings.Repeat("é", 31) + `"…`)},
		{"an item without a value", "- a\n-\n- b", 2, 2, missing},
		{"the last item without a value", "- a\n-", 2, 2, missing},
		{"a document without a value", "---", 1, 4, missing},
		{"a document without a value, more behind", "---\n---\na", 2, 1, missing},
		{"a question mark", "?", 1, 2, noKey},
		{"a colon", ":", 1, 1, noKey},
		{"a value without a key", "a: b\n: c\n", 2, 1, noKey},
		{"a value without a key in flow style", "{: c}", 1, 2, noKey},

		{"a key twice (D6, case 65)", "a: 1\nb: 2\na: 3\n", 3, 1, twice(`"a"`)},
		{"a key twice, at depth (case 65)", "x:\n- y:\n    a: 1\n    a: 2\n", 4, 5, twice(`"a"`)},
		{"a key twice in flow style", "{a: 1, a: 2}", 1, 8, twice(`"a"`)},
		{"a key twice, one in quotes", "a: 1\n\"a\": 2\n", 2, 1, twice(`"a"`)},
		{"a key twice, one escaped", "'a': 1\n\"\\x61\": 2\n", 2, 1, twice(`"a"`)},
		{"a key twice in JSON", `{"a":{"b":1,"b":2}}`, 1, 13, twice(`"b"`)},
		{"the inner map first", "a: {b: 1, b: 2}\na: 3\n", 1, 11, twice(`"b"`)},
		{"a key twice in a wide map", wide(1000) + "k500: 0\n", 1001, 1, twice(`"k500"`)},
		{"merge words in quotes twice", "\"<<\": a\n'<<': b\n", 2, 1, twice(`"<<"`)},

		{"a key that is a number (case 68)", "123: a", 1, 1, key("a number")},
		{"a key that is true (case 68)", "a:\n  true: b", 2, 3, key("true or false")},
		{"a key that is hexadecimal", "0x1F: a", 1, 1, key("a number")},
		{"a key that is null", "null: a", 1, 1, key("null")},
		{"a key that is a tilde", "{~: a}", 1, 2, key("null")},
		{"a key that is a list", "[x]: y", 1, 1, key("a list")},
		{"a key that is a map", "{x: 1}: y", 1, 1, key("a map")},
		{"an explicit key that is a map with a list for its key", "? [x] : y", 1, 3, key("a map")},
		{"an explicit key that is a list", "? - x\n: y", 1, 3, key("a list")},
		{"an explicit key that is a map", "? a: b\n: y", 1, 3, key("a map")},
		{"a key in flow style that is a list", "{[a]: b}", 1, 2, key("a list")},
		{"a key that is a list with null and a twin inside", "? [~, {a: 1, a: 2}]\n: y", 1, 3, key("a list")},

		{"an anchor (D6)", "a: &x b", 1, 4, anchor},
		{"an anchor on the document", "&x\na: b", 1, 1, anchor},
		{"an anchor on a key", "&x a: b", 1, 1, anchor},
		{"an anchor on a list", "a:\n  &x [b]", 2, 3, anchor},
		{"an anchor on nothing", "- &x\n- a", 1, 3, anchor},
		{"an anchor before a tag", "- &x !t a", 1, 3, anchor},
		{"an alias (D6)", "a: *x", 1, 4, alias},
		{"an alias for a key", "*x : a", 1, 1, alias},
		{"an alias behind its anchor", "a: &x b\nc: *x", 1, 4, anchor},
		{"an alias to itself", "&x {k: *x}", 1, 1, anchor},
		{"an alias bomb (case 77)", bomb(), 1, 4, anchor},
		{"an anchor in a second document", "a\n---\n&x b", 3, 1, anchor},
		{"a merge key (D6)", "<<: {a: 1}", 1, 1, merge},
		{"a merge key at depth", "a:\n  b: 1\n  <<: c\n", 3, 3, merge},
		{"a merge key in flow style", "{a: b, <<: {}}", 1, 8, merge},
		{"an explicit merge key", "? <<\n: a", 1, 3, merge},
		{"a tag (D6)", "a: !!str 12", 1, 4, tag},
		{"a tag of the sender's", "a: !t b", 1, 4, tag},
		{"a tag of the sender's with a handle of the standard", "- !!python/object:os.system x", 1, 3, tag},
		{"a tag in full", "a: !<tag:yaml.org,2002:str> 12", 1, 4, tag},
		{"the tag in full that is an exclamation mark", "a: !<!> 12", 1, 4, tag},
		{"the exclamation mark alone", "a: ! 12", 1, 4, tag},
		{"before a quoted text", "a: ! \"b\"", 1, 4, tag},
		{"before a list", "! [a]", 1, 1, tag},
		{"before a map", "!\na: b", 1, 1, tag},
		{"before nothing", "a: !", 1, 4, tag},
		{"a tag on a key", "! a: b", 1, 1, tag},
		{"a tag on a key that is a number", "!!str 1: b", 1, 1, tag},
		{"a tag on a null", "a: !!null", 1, 4, tag},
		{"a tag before an anchor", "- !t &x a", 1, 3, anchor},
		{"a tag with an unknown handle", "a: !e!b c", 1, 4, "while parsing a node: found undefined tag handle"},

		{"a version directive", "%YAML 1.2\n---\na", 1, 1, directive},
		{"an older version directive", "%YAML 1.1\n---\na", 1, 1, directive},
		{"a tag directive", "# c\n \n%TAG ! tag:x,2026:\n---\na", 3, 1, directive},
		{"an unknown directive", "\ufeff%FOO\n---\na", 1, 1, directive},
		{"a directive without a name", "%", 1, 1, directive},
		{"a directive for a second document", "a\n...\n# c\n%YAML 1.2\n---\nb", 4, 1, directive},
		{"a directive behind an end marker with a comment", "a\n... # c\r\n%TAG ! x\r\n", 3, 1, directive},
		{"a directive behind an end marker with a tab", "...\t\n%TAG ! x\n", 2, 1, directive},
		{"a directive inside the document", "a: b\n%YAML 1.1\n---\nc", 2, 1, "did not find expected <document end> before directive"},
		{"a second document (D6)", "a\n---\nb", 2, 1, second},
		{"a second document behind an end marker", "a\n...\nb", 3, 1, second},
		{"a second document that is empty", "a\n---\n", 2, 1, second},
		{"a second document that is broken", "a\n--- [\n", 3, 1, "while parsing a flow node: did not find expected node content"},

		{"a byte that is not UTF-8", "a: é\xff", 1, 5, notUTF8},
		{"in a comment", "a: b\n# \xc3", 2, 3, notUTF8},
		{"a surrogate in UTF-8", "a: \xed\xa0\x80", 1, 4, notUTF8},
		{"UTF-16, little end first", "\xff\xfea\x00:\x00 \x00b\x00", 1, 1, notUTF8},
		{"UTF-16, big end first", "\xfe\xff\x00a\x00:\x00 \x00b", 1, 1, notUTF8},
		{"UTF-16 without a mark", "a\x00:\x00 \x00b\x00", 1, 2, "the character U+0000" + hidden},
		{"a control character", "a: b\n  \x1b[1m", 2, 3, "the character U+001B" + hidden},
		{"a control character in quotes", "a: \"\x07\"", 1, 5, "the character U+0007" + hidden},
		{"a control character in a comment", "# \x08", 1, 3, "the character U+0008" + hidden},
		{"DEL", "a: \x7f", 1, 4, "the character U+007F" + hidden},
		{"a C1 control", "a: é\u0080", 1, 5, "the character U+0080" + hidden},
		{"next line, which would end a comment", "# c\u0085a: b", 1, 4, "the character U+0085" + hidden},
		{"a line separator, which would end a comment", "# c\u2028a: b", 1, 4, "the character U+2028" + hidden},
		{"a paragraph separator, which would become a space", "a: 'b\u2029c'", 1, 6, "the character U+2029" + hidden},
		{"a lone carriage return, which would end a comment", "# c\ra: b", 1, 4, "the character U+000D" + hidden},
		{"carriage returns before a line feed", "a: b\r\r\n", 1, 5, "the character U+000D" + hidden},
		{"a carriage return at the end", "a: b\r", 1, 5, "the character U+000D" + hidden},
		{"a second byte order mark, behind which the library loses characters", "\ufeff\ufeffaa: 1\nbb: 2", 1, 1, "the character U+FEFF" + hidden},
		{"a byte order mark inside", "a: 1\n\ufeffb: 2", 2, 1, "the character U+FEFF" + hidden},
		{"no character", "a: \ufffe", 1, 4, "the character U+FFFE" + hidden},
		{"another", "a: \uffff", 1, 4, "the character U+FFFF" + hidden},

		{"a tab for indentation", "a:\n\tb: c", 2, 1, tab},
		{"a tab before all", "\ta: b", 1, 1, tab},
		{"a tab behind a dash that indents", "-\ta: b", 1, 2, "found a tab character where an indentation space is expected"},
		{"an open list", "a: b\nc: [d,\n e", 3, 3, "while parsing a flow sequence begun on line 2: did not find expected ',' or ']'"},
		{"an open list, one line", "[a\n", 2, 1, "while parsing a flow sequence begun on line 1: did not find expected ',' or ']'"},
		{"an open map", "a: {b: c", 1, 9, "while parsing a flow mapping begun on line 1: did not find expected ',' or '}'"},
		{"an open text", "a: \"b\n\n", 3, 1, "while scanning a quoted scalar begun on line 1: found unexpected end of stream"},
		{"brackets that do not match", "[a}", 1, 3, "while parsing a flow sequence: did not find expected ',' or ']'"},
		{"a closing bracket alone", "]", 1, 1, "while parsing a block node: did not find expected node content"},
		{"a map behind a map on its line", "a: b: c", 1, 5, "mapping values are not allowed in this context"},
		{"a list behind a map on its line", "a: - b", 1, 4, "block sequence entries are not allowed in this context"},
		{"a map behind a list", "- a\nb: c", 2, 1, "while parsing a block collection begun on line 1: did not find expected '-' indicator"},
		{"too much indentation", "a: 1\n b: 2", 2, 3, "mapping values are not allowed in this context"},
		{"text behind quotes", "a: 'b' c", 1, 8, "while parsing a block mapping: did not find expected key"},
		{"text among members", "a: b\nc\nd: e", 3, 1, "while scanning a simple key begun on line 2: could not find expected ':'"},
		{"an unknown escape", `a: "\q"`, 1, 5, "while scanning a quoted scalar: found unknown escape character"},
		{"an escaped surrogate", `a: "\ud800"`, 1, 7, "while scanning a quoted scalar: found invalid Unicode character escape code"},
		{"a reserved character", "a: @b", 1, 4, tab},
		{"another", "a: `b", 1, 4, tab},
		{"text behind an end marker", "a\n... b", 2, 5, "while scanning a document-end marker: found unexpected content after document-end marker"},
	} {
		v, err := parse(tc.text)
		var refused *document.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %s, %v", tc.name, canonjson.Compact(v), err)
			continue
		}
		if at := (document.Place{Line: tc.line, Column: tc.column}); refused.Place != at || refused.Message != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, err, document.Errorf(at, "%s", tc.want))
		}
		if !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d, column %d: ", tc.line, tc.column)) {
			t.Errorf("%s: no line and column in %v", tc.name, err)
		}
		if !cmp.Equal(v, document.Value{}) {
			t.Errorf("%s: a value comes with the error: %+v", tc.name, v)
		}
	}
}

// wide gives a map of different keys, one a line.
func wide(members int) string {
	var b strings.Builder
	for i := range members {
		fmt.Fprintf(&b, "k%d: 0\n", i)
	}
	return b.String()
}

// bomb gives a billion values in nine lines.
func bomb() string {
	text := "a: &a0 [x]\n"
	for i := range 9 {
		text += fmt.Sprintf("b%d: &a%d [%s]\n", i, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return text
}

func TestRepeatedKeysMayBeKept(t *testing.T) {
	const text = "x:\n  a: 1\n  b: 2\n  \"a\": 3\ny: {c: 4, c: 5}\n"
	v, err := strictyaml.Parse([]byte(text), strictyaml.Options{KeepRepeatedKeys: true})
	if got := canonjson.Compact(v); err != nil || got != `{"x":{"a":1,"b":2,"a":3},"y":{"c":4,"c":5}}` {
		t.Fatalf("got %s, %v", got, err)
	}
	inner, _ := v.Get("x")
	if twice, repeated := inner.RepeatedMember(); !repeated || twice.Place != (document.Place{Line: 4, Column: 3}) {
		t.Errorf("the twin is %+v", twice)
	}
}

func TestPlacesCountLinesAndCharacters(t *testing.T) {
	const text = "\ufeff# head\r\n" +
		"é日: x\r\n" +
		"  y # c\r\n" +
		"\"𐀀\": [ b, {c: True} ,\r\n" +
		"  'd' ]\r\n" +
		"? e\r\n" +
		":\r\n" +
		"- |\r\n" +
		"  f\r\n"
	v, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) document.Place { return document.Place{Line: line, Column: column} }
	want := document.Value{Kind: document.Map, Place: at(2, 1), Members: []document.Member{
		{Name: "é日", Place: at(2, 1), Value: document.Value{Kind: document.Text, Text: "x y", Place: at(2, 5)}},
		{Name: "𐀀", Place: at(4, 1), Value: document.Value{Kind: document.List, Place: at(4, 6), Items: []document.Value{
			{Kind: document.Text, Text: "b", Place: at(4, 8)},
			{Kind: document.Map, Place: at(4, 11), Members: []document.Member{
				{Name: "c", Place: at(4, 12), Value: document.Value{Kind: document.Bool, Text: "true", Place: at(4, 15)}},
			}},
			{Kind: document.Text, Text: "d", Place: at(5, 3)},
		}}},
		{Name: "e", Place: at(6, 3), Value: document.Value{Kind: document.List, Place: at(8, 1), Items: []document.Value{
			{Kind: document.Text, Text: "f\n", Place: at(8, 3)},
		}}},
	}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNestingIsCountedOverAllStyles(t *testing.T) {
	const deep = "maps and lists are nested more than 10000 levels deep"
	repeat := strings.Repeat
	for _, shape := range []struct {
		name   string
		levels int // that one more n adds
		text   func(n int) string
	}{
		{"lists in brackets", 1, func(n int) string { return repeat("[", n) + repeat("]", n) }},
		{"maps in braces", 1, func(n int) string { return repeat("{a: ", n) + "b" + repeat("}", n) }},
		{"explicit maps in braces", 1, func(n int) string { return repeat("{? a : ", n) + "b" + repeat("}", n) }},
		{"pairs in brackets", 2, func(n int) string { return repeat("[a: ", n) + "b" + repeat("]", n) }},
		{"lists by dashes", 1, func(n int) string { return repeat("- ", n) + "a" }},
		{"dashes, then brackets", 2, func(n int) string { return repeat("- ", n) + repeat("[", n) + repeat("]", n) }},
		{"dashes, then pairs in brackets", 4, func(n int) string { return repeat("- ", 2*n) + repeat("[a: ", n) + "b" + repeat("]", n) }},
	} {
		fits := strictyaml.MaxDepth / shape.levels
		if v, err := parse(shape.text(fits)); err != nil || levels(v) != strictyaml.MaxDepth {
			t.Errorf("%s: %d levels, %v", shape.name, levels(v), err)
		}
		for _, n := range []int{fits + 1, 200_000} {
			var refused *document.Error
			if _, err := parse(shape.text(n)); !errors.As(err, &refused) || refused.Message != deep || refused.Place.Line != 1 || refused.Place.Column <= fits {
				t.Errorf("%s: %d times: %v", shape.name, n, err)
			}
		}
	}
	for _, tc := range []struct{ name, text string }{
		{"brackets never closed", repeat("[", 200_000)},
		{"braces never closed", repeat("{a: ", 200_000)},
		{"explicit keys", repeat("? ", 200_000) + "a"},
		{"explicit keys in braces", repeat("{? ", 200_000) + "a"},
		{"explicit keys in lists", repeat("- ? ", 200_000) + "a"},
		{"lists of nothing", repeat("- ", 200_000)},
	} {
		if _, err := parse(tc.text); err == nil || !strings.HasSuffix(err.Error(), deep) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
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

// hostile gives texts of about size bytes that cost a reader most.
func hostile(size int) map[string]string {
	fill := func(head, unit, tail string) string {
		return head + strings.Repeat(unit, (size-len(head)-len(tail))/len(unit)) + tail
	}
	count := func(line string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	repeat := strings.Repeat
	var steps strings.Builder
	for i := 0; steps.Len() < size; i++ {
		steps.WriteString(repeat(" ", i) + "a:\n")
	}
	dashes := repeat("- ", 9000) + "a\n"
	brackets := repeat("[", 9000) + repeat("]", 9000)
	return map[string]string{
		"items in brackets":             fill("[", "a,", "a]"),
		"items in brackets, one a line": fill("[\n", "a,\n", "a]"),
		"empty lists in brackets":       fill("[", "[],", "[]]"),
		"pairs in brackets":             fill("[", "a: b,", "a]"),
		"deep lists in brackets":        fill("[", brackets+",", "]"),
		"items at the deepest level":    fill(repeat("[", 9999), "a,", repeat("]", 9999)),
		"items":                         fill("", "- a\n", ""),
		"deep lists":                    fill("", dashes, ""),
		"different keys":                count("k%d: v\n"),
		"equal keys":                    fill("", "k: v\n", ""),
		"lists under keys":              count("k%d:\n- a\n"),
		"keys without values":           fill("", "? a\n", ""),
		"steps to the right":            steps.String(),
		"comments":                      fill("a: b\n", "#\n", "c: d"),
		"comments apart":                fill("a: b\n", "#\n\n", "c: d"),
		"comments under deep lists":     fill(dashes, "#\n\n", "- b"),
		"comments in a list":            fill("", "- a\n#\n\n", ""),
		"comments behind items":         fill("[", "a, #\n", "a]"),
		"words":                         fill("a: ", "b ", "c"),
		"lines of a plain text":         fill("a: b\n", " c\n", ""),
		"blank lines in a plain text":   fill("a: b\n", "\n", " c"),
		"a double-quoted text":          fill("a: \"", "\\n", "\""),
		"a single-quoted text":          fill("a: '", "''", "'"),
		"a literal text":                fill("a: |\n", " b\n", ""),
		"blank lines in a literal text": fill("a: |\n", "\n", " b"),
		"a folded text":                 fill("a: >\n", " b\n", ""),
		"spaces":                        fill("a:", " ", "b"),
		"digits":                        fill("a: ", "1", ""),
		"blank lines":                   fill("", "\n", "a"),
		"anchors":                       fill("", "- &a b\n", ""),
		"a long alias":                  fill("*", ":", "a"),
		"a long tag":                    fill("!", "a", " b"),
		"tag directives":                count("%%TAG !%d! b\n") + "--- a",
		"tag directives at the end":     "a\n...\n" + count("%%TAG !%d! b\n"),
		"documents":                     fill("", "---\n", ""),
		"end markers":                   fill("a\n", "...\n", ""),
		"deep lists as keys":            fill("[", repeat("{", 9990)+"a"+repeat("}: b", 9990)+",", "]"),
		"deep lists as keys, spaced":    fill("", repeat("[", 9990)+"a"+repeat("]\t :\tb", 9990)+"\n", ""),
		"a wide list in deep keys":      fill(repeat("[", 9990), "a,", repeat("]: b", 9990)),
		"brackets and colons in text":   fill("- \"", "]:", "\""),
	}
}

func TestHostileShapesFinish(t *testing.T) {
	finish := func(name, text string) {
		if _, err := parse(text); err != nil {
			var refused *document.Error
			if !errors.As(err, &refused) || refused.Place.Line < 1 || refused.Place.Column < 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, text := range hostile(1 << 16) {
		finish(name, text)
	}
	// What the library alone would spend from ten seconds to minutes on.
	large := hostile(1 << 20)
	for _, name := range []string{"tag directives", "tag directives at the end", "deep lists as keys", "deep lists as keys, spaced", "a wide list in deep keys"} {
		finish(name, large[name])
	}
}

// The library moves every token of such a key once more: ten seconds for these 240 KiB.
func TestListsAsKeysByTheThousandAreRefusedUnread(t *testing.T) {
	const nest = 9990
	once := strings.Repeat("[", nest) + "a" + strings.Repeat("]: b", nest)
	var refused *document.Error
	_, err := parse(once + "\n" + once + "\n" + once + "\n" + once + "\n")
	if !errors.As(err, &refused) || refused.Message != "too many keys that are lists or maps; a key is text" || refused.Place.Line != 1 {
		t.Errorf("got %v", err)
	}
	// Brackets and colons in long lines of text are no keys, and there may be many.
	line := "- \"" + strings.Repeat("x", 10_000) + strings.Repeat(" [a]: b {c} : d", 100) + "\"\n"
	if v, err := parse(strings.Repeat(line, 50)); err != nil || len(v.Items) != 50 {
		t.Errorf("got %d lines, %v", len(v.Items), err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "a: 1\n# c\nb: [1, 2] # d\n", "- a\n- {b: c}\n# foot\n\n# head\nx: |\n  y\n", "? a\n: b\n", "&a b", "a: *a", "'a\n\n b'", "\"\\x41\\u0042\"",
		"--- a\n...\n", "%YAML 1.1\n---\n", "{a: [b, c: d]}", "- - - a\n  # c\n #d\n", "a: !t b", "a: ! b", "a: >-\n  x\n\n  y\n", "a:\n  # x\n  b:\n    c: d\n  # y\n# z\n",
		"\ufeffa: b\r\nc: 'd'\r\n", "a: 0x1F\nb: .inf\nc: +.5\nd: 1:30\n", "a: null", "a:\n\tb", "a: 1\na: 2\n", "{\"a\":[1,true,\"\\u00e9\"]}", "[[]: a]", "---\n---\n", ":\n?\n-\n", "a\u2028b", "a: |1\n  b\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := strictyaml.Parse(text, strictyaml.Options{})
		kept, keptErr := strictyaml.Parse(text, strictyaml.Options{KeepRepeatedKeys: true})
		lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
		if err != nil {
			var refused *document.Error
			if !errors.As(err, &refused) {
				t.Fatalf("the error is a %T", err)
			}
			if strings.Contains(refused.Message, "the YAML reader gives up") {
				t.Fatal(err)
			}
			if !isPlaceOf(lines, refused.Place) {
				t.Errorf("%v is no place of the text: %v", refused.Place, err)
			}
			if keptErr == nil && !strings.HasSuffix(refused.Message, " is written twice") {
				t.Errorf("refused only where repeated keys are not kept: %v", err)
			}
			return
		}
		if keptErr != nil || !cmp.Equal(v, kept) {
			t.Errorf("with repeated keys kept: %v", keptErr)
		}
		checkTree(t, lines, v)

		// JSON is YAML (section 1.2), except that characters are hidden in it and escaped as UTF-16.
		compact := canonjson.AppendCompact(nil, v)
		if bytes.ContainsFunc(compact, func(c rune) bool {
			return c == 0x7f || (c >= 0x80 && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)) || c == 0xfffe || c == 0xffff
		}) {
			return
		}
		again, err := strictyaml.Parse(compact, strictyaml.Options{})
		if err != nil || !sameTree(v, again) {
			t.Errorf("%s is read as %s, %v", compact, canonjson.Compact(again), err)
		}
	})
}

// FuzzJSON checks that a map without nulls is the same to the reader of JSON and to that of YAML, be
// it written as it may, as long as no UTF-16 escapes and no hidden characters are in it.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":1}`, "{\"a\"\n:\n[1,-2.5E+3 , true,\"\\u00e9\\/\"]\n,\"b\":{\"c\":\"\"}}", "{\r\n\"a\":[\r\n[],{}\r\n]}", `{"":{"":{"":[""]}}}`, `{"a":"# b","c":": d","%":"---"}`, `{"<<":"~","null":"null"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := strictjson.Parse(text, strictjson.MaxDepth)
		if err != nil || v.Kind != document.Map || hasNull(v) || bytes.Contains(bytes.ToLower(text), []byte(`\ud`)) ||
			bytes.ContainsFunc(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), func(c rune) bool { return c != '\n' && c != '\t' && !unicode.IsPrint(c) }) {
			return
		}
		again, err := strictyaml.Parse(text, strictyaml.Options{})
		if err != nil || !cmp.Equal(v, again, cmpopts.EquateEmpty()) {
			t.Errorf("%q is read as %s, %v", text, canonjson.Compact(again), err)
		}
	})
}

// The same as FuzzJSON with maps that are drawn, so that each is JSON, in any layout.
func TestJSONIsReadAsJSON(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringMatching(`[ -!#-\[\]-~é日𐀀]{0,8}`), // without quotes and backslashes
		rapid.SampledFrom([]string{`\"`, `\\\/\b\f\n\r\t\u0041\u00e9`, "# a", "a: b", "- a", "---", "...", "%YAML", "&a", "*a", "!a", "<<", "~", "true", "1", "[", "}", "|", ">", "@", " a ", "\ufffd"}),
	)
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3})?([eE][-+]?[0-9]{1,3})?`)
	space := rapid.SampledFrom([]string{"", "", "", " ", "  ", "\n", "\r\n", "\n  ", " \n\n ", "\t", "\n\t"})
	var value func(t *rapid.T, depth int) string
	list := func(t *rapid.T, open, end string, item func(i int) string) string {
		var items []string
		for i := range rapid.IntRange(0, 4).Draw(t, "items") {
			items = append(items, space.Draw(t, "space")+item(i)+space.Draw(t, "space"))
		}
		return open + strings.Join(items, ",") + space.Draw(t, "space") + end
	}
	mapping := func(t *rapid.T, depth int) string {
		return list(t, "{", "}", func(i int) string {
			name := fmt.Sprintf("\"%s%d\"", text.Draw(t, "name"), i) // the number keeps them different
			return name + space.Draw(t, "space") + ":" + space.Draw(t, "space") + value(t, depth-1)
		})
	}
	value = func(t *rapid.T, depth int) string {
		kinds := 3
		if depth > 0 {
			kinds = 5
		}
		switch rapid.IntRange(1, kinds).Draw(t, "kind") {
		case 1:
			return `"` + text.Draw(t, "text") + `"`
		case 2:
			return number.Draw(t, "number")
		case 3:
			return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "word")
		case 4:
			return list(t, "[", "]", func(int) string { return value(t, depth-1) })
		default:
			return mapping(t, depth)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := space.Draw(t, "space") + mapping(t, 4) + space.Draw(t, "space")
		v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := parse(text)
		if err != nil || !cmp.Equal(v, again, cmpopts.EquateEmpty()) {
			t.Fatalf("%q is read as %s, %v", text, canonjson.Compact(again), err)
		}
	})
}

func hasNull(v document.Value) bool {
	for _, item := range v.Items {
		if hasNull(item) {
			return true
		}
	}
	for _, m := range v.Members {
		if hasNull(m.Value) {
			return true
		}
	}
	return v.Kind == document.Null
}

// sameTree compares trees without their places.
func sameTree(a, b document.Value) bool {
	return cmp.Equal(a, b, cmpopts.IgnoreTypes(document.Place{}))
}

// isPlaceOf tells a place of a character or of the end of a line.
func isPlaceOf(lines []string, at document.Place) bool {
	return at.Line >= 1 && at.Line <= len(lines) && at.Column >= 1 && at.Column <= utf8.RuneCountInString(lines[at.Line-1])+1
}

func checkTree(t *testing.T, lines []string, v document.Value) {
	if !isPlaceOf(lines, v.Place) {
		t.Errorf("%v is no place of the text", v.Place)
	}
	switch v.Kind {
	case document.Null:
		t.Errorf("%v: null", v.Place)
	case document.Bool:
		if v.Text != "true" && v.Text != "false" {
			t.Errorf("%v: %q", v.Place, v.Text)
		}
	}
	if twice, repeated := v.RepeatedMember(); repeated {
		t.Errorf("%v: %q is written twice", twice.Place, twice.Name)
	}
	for _, item := range v.Items {
		checkTree(t, lines, item)
	}
	for _, m := range v.Members {
		if !isPlaceOf(lines, m.Place) {
			t.Errorf("%v of %q is no place of the text", m.Place, m.Name)
		}
		checkTree(t, lines, m.Value)
	}
}

func BenchmarkParse(b *testing.B) {
	for name, text := range hostile(1 << 20) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = parse(text)
			}
		})
	}
}
