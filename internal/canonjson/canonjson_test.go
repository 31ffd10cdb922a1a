package canonjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

func TestStringsEscapeOnlyWhatJSONDemands(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", `""`},
		{"the quotation mark and the backslash", `"\`, `"\"\\"`},
		{"short forms", "\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"the other controls, lower case", "\x00\x01\a\v\x0e\x1b\x1f", `"\u0000\u0001\u0007\u000b\u000e\u001b\u001f"`},
		{"space and tilde", " ~", `" ~"`},
		{"slash and HTML", "/<>&'", `"/<>&'"`},
		{"DEL", "\x7f", "\"\x7f\""},
		{"C1 controls", "\u0080\u0085\u009f", "\"\u0080\u0085\u009f\""},
		{"line and paragraph separators", "\u2028\u2029", "\"\u2028\u2029\""},
		{"byte order mark and bidirectional controls", "\ufeff\u202e", "\"\ufeff\u202e\""},
		{"all lengths of UTF-8", "aé日𐀀\U0010ffff", "\"aé日𐀀\U0010ffff\""},
		{"a replacement character that was written", "\ufffd", "\"\ufffd\""},
		{"bytes that are not UTF-8", "a\xff\xe6\x97b", "\"a\ufffd\ufffd\ufffdb\""},
		{"a surrogate in UTF-8", "\xed\xa0\x80", "\"\ufffd\ufffd\ufffd\""},
	} {
		if got := string(canonjson.AppendString([]byte("x"), tc.text)); got != "x"+tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, "x"+tc.want)
		}
	}
}

func TestAppendWritesTheCanonicalForm(t *testing.T) {
	m := document.M
	text, number := document.TextOf, document.NumberOf
	for _, tc := range []struct {
		name string
		v    document.Value
		want string
	}{
		{"null", document.Value{}, "null\n"},
		{"true", document.BoolOf(true), "true\n"},
		{"false", document.BoolOf(false), "false\n"},
		{"text", text("a\u2028"), "\"a\u2028\"\n"},
		{"a number keeps its digits", number("-1.50E+007"), "-1.50E+007\n"},
		{"beyond 64 bits (case 94)", number("123456789012345678901234567890"), "123456789012345678901234567890\n"},
		{"an empty map", document.MapOf(), "{}\n"},
		{"an empty list", document.ListOf(), "[]\n"},
		{"empties inside", document.MapOf(m("b", document.ListOf()), m("a", document.MapOf())), "{\n  \"a\": {},\n  \"b\": []\n}\n"},
		{"a list keeps its order", document.TextsOf([]string{"b", "a"}), "[\n  \"b\",\n  \"a\"\n]\n"},
		{"lists in lists", document.ListOf(document.ListOf(number("1")), number("2")), "[\n  [\n    1\n  ],\n  2\n]\n"},
		{
			"members by code point: upper case, lower case, empty and prefix first",
			document.MapOf(m("b", text("5")), m("ab", text("4")), m("a", text("3")), m("B", text("2")), m("", text("1"))),
			"{\n  \"\": \"1\",\n  \"B\": \"2\",\n  \"a\": \"3\",\n  \"ab\": \"4\",\n  \"b\": \"5\"\n}\n",
		},
		{
			"members by code point, not by UTF-16",
			document.MapOf(m("\U00010000", text("2")), m("\ue000", text("1"))),
			"{\n  \"\ue000\": \"1\",\n  \"\U00010000\": \"2\"\n}\n",
		},
		{
			"a name is escaped after sorting",
			document.MapOf(m("\"", text("2")), m("\n", text("1"))),
			"{\n  \"\\n\": \"1\",\n  \"\\\"\": \"2\"\n}\n",
		},
		{
			"twins in written order",
			document.MapOf(m("a", number("2")), m("b", number("0")), m("a", number("1"))),
			"{\n  \"a\": 2,\n  \"a\": 1,\n  \"b\": 0\n}\n",
		},
	} {
		if got := string(canonjson.Append([]byte("x"), tc.v)); got != "x"+tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, "x"+tc.want)
		}
	}
}

func TestAppendLeavesTheValueAsItIs(t *testing.T) {
	v := document.MapOf(document.M("b", document.IntOf(1)), document.M("a", document.IntOf(2)))
	canonjson.Append(nil, v)
	if got := canonjson.Compact(v); got != `{"b":1,"a":2}` {
		t.Errorf("the members are now %s", got)
	}
}

func TestAppendCompactWritesOneLineInWrittenOrder(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    document.Value
		want string
	}{
		{"null", document.Value{}, `null`},
		{"scalars", document.ListOf(document.BoolOf(true), document.NumberOf("1.0"), document.TextOf("</a>\n")), `[true,1.0,"</a>\n"]`},
		{"empties", document.ListOf(document.MapOf(), document.ListOf()), `[{},[]]`},
		{"members", document.MapOf(document.M("b", document.IntOf(1)), document.M("a\"", document.ListOf(document.IntOf(-2)))), `{"b":1,"a\"":[-2]}`},
	} {
		if got := canonjson.Compact(tc.v); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		if got := string(canonjson.AppendCompact([]byte("x"), tc.v)); got != "x"+tc.want {
			t.Errorf("%s: got %s behind x", tc.name, got)
		}
	}
}

func TestAppendLimitedTakesExactlyTheLimit(t *testing.T) {
	for _, text := range []string{`null`, `"abc"`, `[]`, `[1,[2,{"a":[]}],3]`, `{"a":{"b":{}},"c":[1,"é"]}`} {
		v, err := strictjson.Parse([]byte(text), strictjson.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		whole := canonjson.Append([]byte("x"), v)
		length := len(whole) - 1
		if got, err := canonjson.AppendLimited([]byte("x"), v, length); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%s: %q, %v; want %q", text, got, err, whole)
		}
		for limit := range length {
			if got, err := canonjson.AppendLimited([]byte("x"), v, limit); !errors.Is(err, canonjson.ErrTooLarge) || string(got) != "x" {
				t.Errorf("%s within %d bytes: %q, %v", text, limit, got, err)
			}
		}
	}
}

// The canonical form of each has 2 GB, of which the limits let the lines that open the lists or maps be
// built in part, or all of them and a little of what is inside.
func TestAppendLimitedStopsEarlyInADeepAndWideValue(t *testing.T) {
	const depth, width = 5_000, 200_000
	for name, nest := range map[string]func(document.Value) document.Value{
		"lists": func(v document.Value) document.Value { return document.ListOf(v) },
		"maps":  func(v document.Value) document.Value { return document.MapOf(document.M("a", v)) },
	} {
		v := document.TextsOf(make([]string, width))
		for range depth {
			v = nest(v)
		}
		for _, limit := range []int{0, 1 << 20, 32 << 20} {
			if _, err := canonjson.AppendLimited(nil, v, limit); !errors.Is(err, canonjson.ErrTooLarge) {
				t.Errorf("%s within %d bytes: %v", name, limit, err)
			}
		}
	}
	members := make([]document.Member, width)
	for i := range members {
		members[i] = document.M("a", document.IntOf(int64(i)))
	}
	v := document.MapOf(members...)
	for range depth {
		v = document.ListOf(v)
	}
	if _, err := canonjson.AppendLimited(nil, v, 32<<20); !errors.Is(err, canonjson.ErrTooLarge) {
		t.Errorf("a wide map: %v", err)
	}
}

// values draws trees as a strict reader makes them: no member twice, numbers of JSON.
func values() *rapid.Generator[document.Value] {
	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b", "\ue000", "\U00010000", "\n", "\u2028"}))
	scalar := rapid.OneOf(
		rapid.Just(document.Value{}),
		rapid.Map(rapid.Bool(), document.BoolOf),
		rapid.Map(rapid.Int64(), document.IntOf),
		rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,9})?([eE][-+]?[0-9]{1,3})?`), document.NumberOf),
		rapid.Map(name, document.TextOf),
	)
	nest := func(inner *rapid.Generator[document.Value]) *rapid.Generator[document.Value] {
		member := rapid.Custom(func(t *rapid.T) document.Member {
			return document.M(name.Draw(t, "name"), inner.Draw(t, "value"))
		})
		byName := func(m document.Member) string { return m.Name }
		return rapid.OneOf(
			inner,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(items []document.Value) document.Value { return document.ListOf(items...) }),
			rapid.Map(rapid.SliceOfNDistinct(member, 0, 4, byName), func(members []document.Member) document.Value { return document.MapOf(members...) }),
		)
	}
	return nest(nest(nest(scalar)))
}

// shuffled gives v with the members of every map in another order.
func shuffled(t *rapid.T, v document.Value) document.Value {
	items := make([]document.Value, len(v.Items))
	for i := range v.Items {
		items[i] = shuffled(t, v.Items[i])
	}
	members := make([]document.Member, len(v.Members))
	for i, m := range v.Members {
		members[i] = document.M(m.Name, shuffled(t, m.Value))
	}
	if len(members) > 1 {
		members = rapid.Permutation(members).Draw(t, "order")
	}
	return document.Value{Kind: v.Kind, Text: v.Text, Items: items, Members: members}
}

func TestMemberOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "value")
		want := canonjson.Append(nil, v)
		if got := canonjson.Append(nil, shuffled(t, v)); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestBothFormsReadBackAsTheSameValue(t *testing.T) {
	same := cmp.Options{cmpopts.IgnoreTypes(document.Place{}), cmpopts.EquateEmpty()}
	rapid.Check(t, func(t *rapid.T) {
		v := values().Draw(t, "value")
		compact, err := strictjson.Parse(canonjson.AppendCompact(nil, v), strictjson.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, compact, same); diff != "" {
			t.Fatalf("compact (-written +read):\n%s", diff)
		}
		form := canonjson.Append(nil, v)
		canonical, err := strictjson.Parse(form, strictjson.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		if again := canonjson.Append(nil, canonical); !bytes.Equal(again, form) {
			t.Fatalf("got %q, want %q", again, form)
		}
	})
}

// FuzzAppend checks the writer from the side of the bytes: whatever JSON they are, their canonical
// form is JSON of the same meaning and its own canonical form.
func FuzzAppend(f *testing.F) {
	for _, text := range []string{
		`null`, `"\u2028\u007f\/\ud800\udc00"`, `[1.50E+007,-0,123456789012345678901234567890]`,
		`{"b":{},"a":[],"\ue000":1,"\ud800\udc00":2}`, `{"a":{"a":{"a":[[[]]]}}}`, "\"<>&\x7f\"",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := strictjson.Parse(text, strictjson.MaxDepth)
		if err != nil {
			return
		}
		form := canonjson.Append(nil, v)
		again, err := strictjson.Parse(form, strictjson.MaxDepth)
		if err != nil {
			t.Fatalf("%q is not read: %v", form, err)
		}
		if twice := canonjson.Append(nil, again); !bytes.Equal(twice, form) {
			t.Errorf("%q becomes %q", form, twice)
		}
		if !utf8.Valid(form) || !bytes.HasSuffix(form, []byte("\n")) {
			t.Errorf("%q", form)
		}
		var ours, theirs any
		if json.Unmarshal(form, &ours) == nil && json.Unmarshal(text, &theirs) == nil && !cmp.Equal(ours, theirs) {
			t.Errorf("%q does not mean %q", form, text)
		}
		if compact := canonjson.Compact(v); strings.ContainsAny(compact, "\n\r") {
			t.Errorf("%q is more than one line", compact)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	record := `{"kind":"test_result","result":"pass","subject":"tree","revision":"0123456789abcdef","n":[1,2,3]}`
	v, err := strictjson.Parse([]byte("["+strings.Repeat(record+",", 9_999)+record+"]"), strictjson.MaxDepth)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(record) * 10_000))
	for b.Loop() {
		canonjson.Append(nil, v)
	}
}
