package label_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// RFC 8785 section 3.2.2.3, and beyond the precision of a float.
func TestNumbersHaveOneSpelling(t *testing.T) {
	for _, tc := range []struct{ written, want string }{
		{"0", "0"},
		{"-0", "0"},
		{"0.000e99999999999999999999", "0"},
		{"1", "1"},
		{"1.0", "1"},
		{"10e-1", "1"},
		{"-1.50", "-1.5"},
		{"100", "100"},
		{"1E2", "100"},
		{"123.456", "123.456"},
		{"0.001", "0.001"},
		{"1e-7", "1e-7"},
		{"0.0000001", "1e-7"},
		{"1e-6", "0.000001"},
		{"1.25e-7", "1.25e-7"},
		{"100000000000000000000", "100000000000000000000"},
		{"1e21", "1e+21"},
		{"1000000000000000000000", "1e+21"},
		{"1234e20", "1.234e+23"},
		{"9007199254740993", "9007199254740993"},
		{"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"5e-324", "5e-324"},
		{"0." + strings.Repeat("0", 1000) + "1e1001", "1"},
		{"1" + strings.Repeat("0", 1000) + "e-1000", "1"},
	} {
		a := atomJSON(t, tc.written)
		if got := a.Canonical(); got != tc.want {
			t.Errorf("%.40s: got %s, want %s", tc.written, got, tc.want)
		}
		if again := atomJSON(t, a.Canonical()); again != a {
			t.Errorf("%.40s: read again it is %s", tc.written, again.Canonical())
		}
	}
}

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func TestReadAtomRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "line 1, column 1: there is no JSON value"},
		{"two values", "1 2", "line 1, column 3: something follows the JSON value"},
		{"a member twice (D31)", `{"a":1,"a":1}`, "line 1, column 8: a member is written twice"},
		{"bad UTF-8", "\"\xff\"", "line 1, column 2: the input is not UTF-8"},
		{"too deep", nested(label.MaxAtomDepth + 1), "line 1, column 17: the JSON value is nested too deeply"},
		{"too long", `"` + strings.Repeat("x", label.MaxBytes) + `"`, "the text is too long"},
		{"a number like infinity", `[1e309]`, "line 1, column 2: a number is not one that a 64-bit float can hold the size of"},
		{"a number like zero", `{"a":1e-400}`, "line 1, column 6: a number is not one that a 64-bit float can hold the size of"},
		{"a number nearly like zero", `1e-330`, "line 1, column 1: a number is not one that a 64-bit float can hold the size of"},
		{"an exponent beyond all", `1e99999999999999999999`, "line 1, column 1: a number is not one that a 64-bit float can hold the size of"},
		{"a small exponent beyond all", `1e-99999999999999999999`, "line 1, column 1: a number is not one that a 64-bit float can hold the size of"},
	} {
		_, err := label.ReadAtom([]byte(tc.text))
		wantUnreadable(t, tc.name, err, tc.want)
	}
	if a := atomJSON(t, nested(label.MaxAtomDepth)); a.Canonical() != nested(label.MaxAtomDepth) {
		t.Error("the deepest atom is read otherwise")
	}
}

func wantUnreadable(t *testing.T, name string, err error, want string) {
	t.Helper()
	var unreadable *label.UnreadableError
	if !errors.As(err, &unreadable) || err.Error() != "the label is unreadable: "+want {
		t.Errorf("%s: got %v, want %s", name, err, want)
	}
}

// Trees come from other readers too, and may hold what JSON cannot.
func TestAtomOfRefuses(t *testing.T) {
	text := document.TextOf
	deep := document.ListOf()
	for range label.MaxAtomDepth {
		deep = document.ListOf(deep)
	}
	for _, tc := range []struct {
		name string
		v    document.Value
		want string
	}{
		{"text that is not UTF-8", document.ListOf(text("\xff")), "a text is not UTF-8"},
		{"a name that is not UTF-8", document.MapOf(document.M("\xff", text(""))), "a text is not UTF-8"},
		{"a member twice", document.MapOf(document.M("a", text("")), document.M("a", text(""))), "a member is written twice"},
		{"too deep", deep, "an atom is nested too deeply"},
		{"too deep in a map", document.MapOf(document.M("a", deep)), "an atom is nested too deeply"},
		{"not a number", document.NumberOf(".nan"), "a number is not one that a 64-bit float can hold the size of"},
		{"hexadecimal", document.NumberOf("0x1F"), "a number is not one that a 64-bit float can hold the size of"},
		{"no digit", document.NumberOf(""), "a number is not one that a 64-bit float can hold the size of"},
	} {
		_, err := label.AtomOf(tc.v)
		wantUnreadable(t, tc.name, err, tc.want)
		_, err = label.ClauseOf(document.MapOf(document.M("anyOf", document.ListOf(tc.v))))
		wantUnreadable(t, tc.name, err, tc.want)
	}
}

// Section 5.8 and E093 to E106.
func TestReadLabel(t *testing.T) {
	const (
		noList    = "confidentiality is not a list"
		noAnyOf   = "anyOf of a label is the only member and a list with an atom in it"
		untyped   = "an atom of a label is neither text nor a map with a text called type"
		noMap     = "a label is a map"
		noVouched = "integrity is not a list"
	)
	for _, tc := range []struct{ text, want string }{
		{`{"confidentiality":[],"integrity":[]}`, `{"confidentiality":[],"integrity":[]}`},
		{`{"confidentiality":[]}`, `{"confidentiality":[],"integrity":[]}`},
		{` { "integrity" : [ "V" , "V" ] , "confidentiality" : [ "B" , "A", "B" ] } `, `{"confidentiality":["B","A"],"integrity":["V"]}`},
		{`{"confidentiality":[{"anyOf":["OWNER",{"name":"w","type":"WORK"}]}]}`, `{"confidentiality":[{"anyOf":["OWNER",{"name":"w","type":"WORK"}]}],"integrity":[]}`},
		{`{"confidentiality":[{"anyOf":["A"]}]}`, `{"confidentiality":["A"],"integrity":[]}`},
		{`{"confidentiality":["cfc:label-read-failed"]}`, `{"confidentiality":["cfc:label-read-failed"],"integrity":[]}`},
		{`{"confidentiality":[""]}`, `{"confidentiality":[""],"integrity":[]}`},
		{`{"confidentiality":[{"type":"","var":1}]}`, `{"confidentiality":[{"type":"","var":1}],"integrity":[]}`},
		{`{"confidentiality":["A"],"other":[null]}`, `{"confidentiality":["A"],"integrity":[]}`},

		{`null`, "line 1, column 1: " + noMap},
		{`[]`, "line 1, column 1: " + noMap},
		{`"x"`, "line 1, column 1: " + noMap},
		{`{}`, "line 1, column 1: " + noList},
		{`{"integrity":[]}`, "line 1, column 1: " + noList},
		{`{"confidentiality":"not-a-list"}`, "line 1, column 1: " + noList},
		{`{"confidentiality":null}`, "line 1, column 1: " + noList},
		{`{"confidentiality":{}}`, "line 1, column 1: " + noList},
		{`{"confidentiality":[17]}`, "line 1, column 21: " + untyped},
		{`{"confidentiality":[null]}`, "line 1, column 21: " + untyped},
		{`{"confidentiality":[["A"]]}`, "line 1, column 21: " + untyped},
		{`{"confidentiality":[{"name":"no type"}]}`, "line 1, column 21: " + untyped},
		{`{"confidentiality":[{"type":7}]}`, "line 1, column 21: " + untyped},
		{`{"confidentiality":[{"anyOf":"not-a-list"}]}`, "line 1, column 21: " + noAnyOf},
		{`{"confidentiality":[{"anyOf":[]}]}`, "line 1, column 21: " + noAnyOf},
		{`{"confidentiality":[{"anyOf":["OWNER"],"unexpected":true}]}`, "line 1, column 21: " + noAnyOf},
		{`{"confidentiality":[{"type":"OWNER","anyOf":[]}]}`, "line 1, column 21: " + noAnyOf},
		{`{"confidentiality":[{"anyOf":[{"name":"no type"}]}]}`, "line 1, column 31: " + untyped},
		{`{"confidentiality":[{"anyOf":["A",{"anyOf":["B"]}]}]}`, "line 1, column 35: " + untyped},
		{`{"confidentiality":[{"anyOf":["A",{"type":"T","anyOf":["B"]}]}]}`, "line 1, column 35: " + untyped},
		{`{"confidentiality":[],"integrity":"not-a-list"}`, "line 1, column 35: " + noVouched},
		{`{"confidentiality":[],"integrity":null}`, "line 1, column 35: " + noVouched},
		{`{"confidentiality":[],"integrity":[17]}`, "line 1, column 36: " + untyped},
		{`{"confidentiality":[],"integrity":[{"name":"no type"}]}`, "line 1, column 36: " + untyped},
		{`{"confidentiality":[],"integrity":[{"type":"T","anyOf":[]}]}`, "line 1, column 36: " + untyped},
		{`{"confidentiality":[],"confidentiality":["A"]}`, "line 1, column 23: a member is written twice"},
		{`{"confidentiality":[{"type":"A","type":"B"}]}`, "line 1, column 33: a member is written twice"},
		{`{"confidentiality":["A"]`, "line 1, column 25: the JSON value ends too early"},
		{`{"confidentiality":[{"type":"T","a":` + nested(label.MaxAtomDepth) + `}]}`, "line 1, column 52: an atom is nested too deeply"},
		{`{"confidentiality":[{"anyOf":[{"type":"T","a":` + nested(label.MaxAtomDepth) + `}]}]}`, "line 1, column 62: the JSON value is nested too deeply"},
		{`{"confidentiality":[{"type":"T","a":1e999}]}`, "line 1, column 37: a number is not one that a 64-bit float can hold the size of"},
	} {
		l, err := label.ReadLabel([]byte(tc.text))
		if strings.HasPrefix(tc.want, "{") {
			if err != nil || l.Canonical() != tc.want {
				t.Errorf("%s: got %s, %v", tc.text, l.Canonical(), err)
			}
			continue
		}
		wantUnreadable(t, tc.text, err, tc.want)
		if !l.Equal(label.Label{}) {
			t.Errorf("%s: a label comes with the error", tc.text)
		}
	}
}

func TestReadersAreBounded(t *testing.T) {
	t.Parallel()
	list := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	text := func(i int) string { return fmt.Sprintf(`"%d"`, i) }
	wide := func(n int) func(int) string {
		return func(i int) string { return `{"anyOf":` + list(n, func(j int) string { return text(i*n + j) }) + `}` }
	}
	numbers := func(int) string { return `{"type":"T","a":` + list(40000, func(int) string { return "1e20" }) + `}` }
	same := func(int) string { return `"A"` }
	for _, tc := range []struct {
		name, clauses, integrity string
		ok                       bool
	}{
		{"as many clauses as are allowed", list(label.MaxClauses, text), "[]", true},
		{"one more", list(label.MaxClauses+1, text), "[]", false},
		{"one more that is the same", list(label.MaxClauses+1, same), "[]", false},
		{"as many alternatives as are allowed", list(2, wide(label.MaxAtoms/2)), "[]", true},
		{"one more in another clause", list(3, wide(label.MaxAtoms/2)), "[]", false},
		{"too many in one clause", list(1, wide(label.MaxAtoms+1)), "[]", false},
		{"as much integrity as is allowed", "[]", list(label.MaxAtoms, text), true},
		{"one more in integrity", "[]", list(label.MaxAtoms+1, text), false},
		{"one more together", `["A"]`, list(label.MaxAtoms, text), false},
		{"too long when written", list(2, numbers), "[]", false},
	} {
		l, err := label.ReadLabel([]byte(`{"confidentiality":` + tc.clauses + `,"integrity":` + tc.integrity + `}`))
		var unreadable *label.UnreadableError
		if (err == nil) != tc.ok || !tc.ok && !(errors.As(err, &unreadable) && strings.HasSuffix(err.Error(), "there are too many clauses or atoms")) {
			t.Errorf("label with %s: got %v", tc.name, err)
		}
		if again, err := label.ReadLabel([]byte(l.Canonical())); err != nil || !again.Equal(l) {
			t.Errorf("label with %s: read again with %v", tc.name, err)
		}
		if tc.integrity != "[]" {
			continue
		}
		if _, err := label.ReadCeiling([]byte(tc.clauses)); (err == nil) != tc.ok {
			t.Errorf("ceiling with %s: got %v", tc.name, err)
		}
	}
}

func TestReadClauseIsBounded(t *testing.T) {
	atoms := strings.Repeat(`0,`, label.MaxAtoms-1) + `0`
	if _, err := label.ReadClause([]byte(`{"anyOf":[` + atoms + `]}`)); err != nil {
		t.Errorf("as many alternatives as are allowed: %v", err)
	}
	_, err := label.ReadClause([]byte(`{"anyOf":[` + atoms + `,0]}`))
	wantUnreadable(t, "one more", err, "line 1, column 1: there are too many clauses or atoms")
}

func TestReadCeiling(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`[]`, `[]`},
		{`["A",{"anyOf":["A"]},"B"]`, `["A","B"]`},
		// Not judged (section 5.13), and none of these admits anything.
		{`[{"anyOf":[]},{"var":"$x"},{"anyOf":["A"],"x":1}]`, `[{"anyOf":[]},{"var":"$x"},{"anyOf":["A"],"x":1}]`},
		{`[null,17,{"name":"no type"}]`, `[null,17,{"name":"no type"}]`},

		{`null`, "line 1, column 1: a ceiling is a list of clauses"},
		{`{}`, "line 1, column 1: a ceiling is a list of clauses"},
		{`"A"`, "line 1, column 1: a ceiling is a list of clauses"},
		{`["A"`, "line 1, column 5: the JSON value ends too early"},
		{`[{"a":1,"a":2}]`, "line 1, column 9: a member is written twice"},
		{`["A",1e999]`, "line 1, column 6: a number is not one that a 64-bit float can hold the size of"},
	} {
		c, err := label.ReadCeiling([]byte(tc.text))
		list, listErr := label.ReadClauses([]byte(tc.text))
		if strings.HasPrefix(tc.want, "[") {
			if err != nil || c.Canonical() != tc.want || listErr != nil || !label.UpTo(list...).Equal(c) {
				t.Errorf("%s: got %s, %v, %v", tc.text, c.Canonical(), err, listErr)
			}
			continue
		}
		wantUnreadable(t, tc.text, err, tc.want)
		wantUnreadable(t, tc.text, listErr, tc.want)
		if !c.Equal(label.UpTo()) {
			t.Errorf("%s: with the error comes %s", tc.text, c.Canonical())
		}
	}
	if list, err := label.ReadClauses([]byte(`["A","A"]`)); err != nil || len(list) != 2 {
		t.Errorf("of equal clauses in a list: %s, %v", texts(list), err)
	}
	_, err := label.ReadClause([]byte(`{`))
	wantUnreadable(t, "a clause", err, "line 1, column 2: the JSON value ends too early")
}

// Section 5.8, E106 to E108 and D31.
func TestOfRow(t *testing.T) {
	ifc := func(v document.Value) document.Member { return document.M("ifc", v) }
	labelled := document.MapOf(document.M("confidentiality", document.TextsOf([]string{"A"})))
	for _, tc := range []struct {
		name    string
		row     document.Value
		present bool
		want    string // the error, or the label
	}{
		{"no ifc", document.MapOf(), false, `{"confidentiality":[],"integrity":[]}`},
		{"ifc further down", document.MapOf(document.M("detail", document.MapOf(ifc(labelled)))), false, `{"confidentiality":[],"integrity":[]}`},
		{"ifc", document.MapOf(document.M("a", document.Value{}), ifc(labelled)), true, `{"confidentiality":["A"],"integrity":[]}`},
		{"ifc twice", document.MapOf(ifc(labelled), ifc(labelled)), false, "a member is written twice"},
		{"ifc null", document.MapOf(ifc(document.Value{})), false, "a label is a map"},
		{"ifc a list", document.MapOf(ifc(document.ListOf())), false, "a label is a map"},
		{"ifc empty", document.MapOf(ifc(document.MapOf())), false, "confidentiality is not a list"},
		{"a member of ifc twice", document.MapOf(ifc(document.MapOf(labelled.Members[0], labelled.Members[0]))), false, "a member is written twice"},
		{"null", document.Value{}, false, "the row is not a map"},
		{"text", document.TextOf("ifc"), false, "the row is not a map"},
		{"a number", document.IntOf(1), false, "the row is not a map"},
		{"a list", document.ListOf(labelled), false, "the row is not a map"},
	} {
		l, present, err := label.OfRow(tc.row)
		if present != tc.present {
			t.Errorf("%s: present is %v", tc.name, present)
		}
		if !strings.HasPrefix(tc.want, "{") {
			wantUnreadable(t, tc.name, err, tc.want)
		} else if err != nil || l.Canonical() != tc.want {
			t.Errorf("%s: got %s, %v", tc.name, l.Canonical(), err)
		}
	}
}

func TestUnreadableWrapsTheReason(t *testing.T) {
	_, err := label.ReadLabel([]byte("\xff"))
	var syntax *strictjson.Error
	if !errors.Is(err, strictjson.ErrNotUTF8) || !errors.As(err, &syntax) || syntax.Offset != 0 {
		t.Errorf("got %v", err)
	}
}

func FuzzReadLabel(f *testing.F) {
	for _, seed := range []string{
		`{"confidentiality":[],"integrity":[]}`,
		`{"confidentiality":["B",{"anyOf":["A",{"type":"T","n":[1.0,-0,1e21]}]},"B"],"integrity":["V"]}`,
		`{"confidentiality":["cfc:label-read-failed",{"type":"` + registry + `Expires","timestamp":10}]}`,
		`{"confidentiality":[{"type":"` + registry + `User","subject":{"digestOf":"h"}},{"type":"T","var":1}]}`,
		`{"confidentiality":[{"anyOf":[]}]}`,
		`{"confidentiality":["\u0000\ud83d\ude00é"],"confidentiality":[]}`,
		`[null,{"anyOf":[{"anyOf":["A"]}]},{"anyOf":[],"x":1}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := label.ReadLabel(data); err == nil {
			text := l.Canonical()
			again, err := label.ReadLabel([]byte(text))
			if err != nil || !again.Equal(l) || again.Canonical() != text {
				t.Fatalf("%s is read as %s, %v", text, again.Canonical(), err)
			}
			if types := l.Types(); len(types.Confidentiality) != len(l.Confidentiality()) {
				t.Fatalf("%s: a clause has no name", text)
			}
		}
		if c, err := label.ReadCeiling(data); err == nil {
			again, err := label.ReadCeiling([]byte(c.Canonical()))
			if err != nil || !again.Equal(c) {
				t.Fatalf("%s is read as %s, %v", c.Canonical(), again.Canonical(), err)
			}
		}
	})
}

func BenchmarkReadLabel(b *testing.B) {
	text := []byte(label.OfRecord("alice", "mail", "google.gmail", []string{"work", "family"}).Canonical())
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := label.ReadLabel(text); err != nil {
			b.Fatal(err)
		}
	}
}
