package retrieval_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
)

// E132, E140, E144, E147 and A14: what is cut from a row, and what is not.
func TestTextsOfRowsAreCut(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, tc := range []struct {
		name, row, want string
		truncated       bool
	}{
		{"E140 one character too many", `{"s":"` + long(4001) + `"}`, `{"s":"` + long(4000) + `"}`, true},
		{"E140 as many as may be", `{"s":"` + long(4000) + `"}`, `{"s":"` + long(4000) + `"}`, false},
		{"E144 a list of texts", `{"a":["b","` + long(4001) + `",1,"` + long(9000) + `"],"c":"d"}`, `{"a":["b","` + long(4000) + `",1,"` + long(4000) + `"],"c":"d"}`, true},
		{"deep", `{"a":{"b":[[{"c":"` + long(5000) + `","d":1}]],"e":"` + long(5000) + `"}}`, `{"a":{"b":[[{"c":"` + long(4000) + `","d":1}]],"e":"` + long(4000) + `"}}`, true},
		{"E147 names are not cut", `{"` + long(10_000) + `":1}`, `{"` + long(10_000) + `":1}`, false},
		{"numbers are not cut", `{"n":` + strings.Repeat("1", 5000) + `}`, `{"n":` + strings.Repeat("1", 5000) + `}`, false},
		{"A14 a character of two units over the border", `{"s":"` + long(3999) + `🎉y"}`, `{"s":"` + long(3999) + `"}`, true},
		{"A14 one before the border", `{"s":"` + long(3998) + `🎉y"}`, `{"s":"` + long(3998) + `🎉"}`, true},
		{"A14 written as two escapes", `{"s":"` + long(3999) + `\ud83c\udf89y"}`, `{"s":"` + long(3999) + `"}`, true},
		{"many bytes and few units", `{"s":"` + strings.Repeat("京", 4000) + `"}`, `{"s":"` + strings.Repeat("京", 4000) + `"}`, false},
		{"many bytes and a unit too many", `{"s":"` + strings.Repeat("京", 4001) + `"}`, `{"s":"` + strings.Repeat("京", 4000) + `"}`, true},
		{"escapes count as what they stand for", `{"s":"` + strings.Repeat(`\n`, 4000) + `"}`, `{"s":"` + strings.Repeat(`\n`, 4000) + `"}`, false},
	} {
		m := measuring(t, `{"hits":[`+tc.row+`]}`)
		m.Handles = handle.NewTable("run-1")
		before := canonjson.Compact(m.Payload.Value)
		r := measure(t, m)
		e := r.Entries[0]
		if got := canonjson.Compact(e.Value); got != tc.want {
			t.Errorf("%s: the row became %.100s… of %d bytes", tc.name, got, len(got))
		}
		if e.Truncated != tc.truncated || r.Truncated != tc.truncated {
			t.Errorf("%s: truncated %t, in the result %t", tc.name, e.Truncated, r.Truncated)
		}
		shown := string(r.Shown())
		want := `"value":` + tc.want + `,"handle":"` + e.Token + `"}],`
		if tc.truncated {
			want = `"value":` + tc.want + `,"handle":"` + e.Token + `","truncated":true}],`
		}
		if !strings.Contains(shown, want) || !utf8.ValidString(shown) {
			t.Errorf("%s: shown is %.300s…", tc.name, shown)
		}
		if held, _ := m.Handles.Get(e.Token); canonjson.Compact(held.Value) != tc.want {
			t.Errorf("%s: another value is held", tc.name)
		}
		if canonjson.Compact(m.Payload.Value) != before {
			t.Errorf("%s: the payload was changed", tc.name)
		}
	}
}

// The size of a whole result: E141 to E143, E146, E147, E154, A7 and A8.
func TestResultsAreBounded(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	rows := func(n int, row string) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.ReplaceAll(row, "#", fmt.Sprint(i))
		}
		return list
	}
	fields := make([]string, 20)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"f%d":%s`, i, text(4000))
	}
	large := `{` + strings.Join(fields, ",") + `}`
	const small = `{"id":1}`
	const withheld = `{"ifc":{"confidentiality":["nobody"]},"id":#}`
	labelled := func(clause string) string { return `{"ifc":{"confidentiality":[` + clause + `]},"id":#}` }
	longClause := `"` + strings.Repeat("c", 90) + `#"`
	typed := func(n int) string { return `{"type":"t","x":` + text(n) + `}` }
	for _, tc := range []struct {
		name     string
		rows     []string
		beside   string // members of the payload beside hits
		ceiling  string
		min, max int // entries
	}{
		{"E141, A7 a first row that is too large hides the others", append([]string{large}, small), ``, ``, 0, 0},
		{"a large row later", append(rows(3, small), large, small), ``, ``, 3, 3},
		{"E142 a long row and many of 1,000 characters", append([]string{`{"s":` + text(5000) + `}`}, rows(200, `{"id":#,"s":`+text(1000)+`}`)...), ``, ``, 30, 40},
		{"E143 withheld rows", rows(5000, withheld), ``, `[]`, 780, 810},
		{"E143 rows that cannot be read", rows(5000, `#`), ``, ``, 770, 800},
		{"E146, A8 a large envelope leaves room for rows", rows(10, small), `,"warnings":[` + strings.Join(rows(30, text(4000)), ",") + `]`, ``, 10, 10},
		{"E147 a name counts", rows(10, `{"`+strings.Repeat("n", 10_000)+`":1}`), ``, ``, 4, 4},
		{"escapes count as they are written", rows(10, `{"s":"`+strings.Repeat(`\u0001`, 4000)+`"}`), ``, ``, 1, 1},
		{"characters of two units count twice", rows(50, `{"s":"`+strings.Repeat("🎉", 1000)+`"}`), ``, ``, 20, 22},
		{"characters of three bytes count once", rows(50, `{"s":"`+strings.Repeat("京", 2000)+`"}`), ``, ``, 20, 22},
		{"many small rows", rows(2000, small), ``, ``, 300, 600},

		{"labels that come to more than the allowance for their join", rows(40, labelled(longClause)), ``, ``, 20, 20},
		{"withheld rows between them", append(rows(18, labelled(longClause)), rows(900, `#`)...), ``, ``, 229, 229},
		{"rows with the same label count once for the join", rows(40, labelled(`"`+strings.Repeat("c", 900)+`"`)), ``, ``, 40, 40},
		{"a label as long as the allowance", rows(2, labelled(typed(1900))), ``, ``, 2, 2},
		{"a longer one, though the model sees little of it", append(rows(1, labelled(typed(2000))), small), ``, ``, 0, 0},
		{"a very long one", append(rows(1, labelled(typed(900_000))), small), ``, ``, 0, 0},
		{"one that is too long for any label together with what was seen before", append(rows(1, labelled(typed(1500))), rows(1, labelled(typed(label.MaxBytes-300)))...), ``, ``, 1, 1},
		{"two that no label can have together", rows(2, labelled(typed(600_000))), ``, ``, 0, 0},
		{"types of atoms count", append(rows(3, `{"ifc":{"confidentiality":[],"integrity":[`+text(20_000)+`]},"id":#}`), small), ``, ``, 2, 2},
	} {
		m := measuring(t, `{"hits":[`+strings.Join(tc.rows, ",")+`]`+tc.beside+`}`)
		m.Ceiling, m.Handles = ceiling(t, tc.ceiling), handle.NewTable("run-1")
		r := measure(t, m)
		n := len(r.Entries)
		if n < tc.min || n > tc.max {
			t.Errorf("%s: %d entries, want %d to %d", tc.name, n, tc.min, tc.max)
		}
		if r.Admitted+r.Withheld != n || n+r.Omitted != len(tc.rows) || r.Omitted > 0 && !r.Truncated {
			t.Errorf("%s: admitted %d, withheld %d, omitted %d, truncated %t", tc.name, r.Admitted, r.Withheld, r.Omitted, r.Truncated)
		}
		if held := len(m.Handles.Referents()); held != r.Admitted && held != 1 {
			t.Errorf("E154 %s: %d are held of %d admitted", tc.name, held, r.Admitted)
		}
		if artifact := length(r.Artifact()); artifact > retrieval.MaxResult {
			t.Errorf("%s: the artifact has %d code units", tc.name, artifact)
		}
	}
}

// E155: where there are no handles, their size is not counted.
func TestHandlesCountForTheSize(t *testing.T) {
	m := measuring(t, `{"hits":[`+strings.TrimSuffix(strings.Repeat(`{"id":1},`, 2000), ",")+`]}`)
	without := measure(t, m)
	m.Handles = handle.NewTable("run-1")
	with := measure(t, m)
	if len(without.Entries) <= len(with.Entries) {
		t.Errorf("%d entries without handles and %d with", len(without.Entries), len(with.Entries))
	}
	for _, r := range []*retrieval.Result{with, without} {
		if n := length(r.Artifact()); n > retrieval.MaxResult || n < retrieval.MaxResult-2200 {
			t.Errorf("the artifact has %d code units", n)
		}
	}
}

// 5.10: a row is shown if what is counted comes to 48,000 and not if it is one more. 2,000 of them are not of the row, and of these the
// result without a label of its own uses 14.
func TestTheSizeIsExact(t *testing.T) {
	const longest = retrieval.MaxResult - 2000 + 14
	shown := func(n int) (units, admitted int) {
		long := `"` + strings.Repeat("x", 4000) + `",`
		m := measuring(t, `{"a":[`+strings.Repeat(long, 11)+`"`+strings.Repeat("y", n)+`"]}`)
		m.Tool = tool("page.read")
		r := measure(t, m)
		return length(r.Shown()), r.Admitted
	}
	without, _ := shown(0)
	for _, tc := range []struct{ more, admitted int }{{-1, 1}, {0, 1}, {1, 0}} {
		units, admitted := shown(longest - without + tc.more)
		if admitted != tc.admitted || admitted == 1 && units != longest+tc.more {
			t.Errorf("%d code units more than the most: admitted %d, shown in %d", tc.more, admitted, units)
		}
	}
}
