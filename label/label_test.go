package label_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Section 3.4 for confidentiality, 3.7 for integrity.
func TestJoin(t *testing.T) {
	type in = [2]string // confidentiality, integrity
	for _, tc := range []struct {
		name                       string
		labels                     []in
		confidentiality, integrity string
	}{
		{"none", nil, "", ""},
		{"order of first appearance", []in{{"B A", ""}, {"C A", ""}}, "B A C", ""},
		{"different clauses", []in{{"A|B", ""}, {"C", ""}}, "A|B C", ""},
		{"a stricter and a looser clause both stay", []in{{"A", ""}, {"A|B", ""}}, "A A|B", ""},
		{"the order of alternatives does not count", []in{{"A|B", ""}, {"B|A", ""}}, "A|B", ""},
		{"with public data", []in{{"A", ""}, {"", ""}}, "A", ""},
		{"public data first", []in{{"", ""}, {"A", ""}}, "A", ""},
		{"what nobody satisfies stays", []in{{"A", ""}, {"-", ""}}, "A -", ""},
		{"the marker stays", []in{{"A", ""}, {"marker", ""}}, "A marker", ""},
		{"what vouched for the record does not vouch for what is made of it", []in{{"A", "V"}}, "A", ""},
		{"nor where all carry it", []in{{"A", "V"}, {"A", "V"}}, "A", ""},
		{"hereditary integrity that all carry", []in{{"A", "V Certified(x) Certified(y)"}, {"B", "Certified(y) Certified(x)"}}, "A B", "Certified(x) Certified(y)"},
		{"hereditary integrity that some carry", []in{{"A", "Certified(x) Certified(y)"}, {"B", "Certified(y)"}}, "A B", "Certified(y)"},
		{"data without a label vouches for nothing", []in{{"", "Certified(x)"}, {"", ""}, {"", "Certified(x)"}}, "", ""},
	} {
		var labels []label.Label
		for _, l := range tc.labels {
			labels = append(labels, of(t, l[0], l[1]))
		}
		if got, want := label.Join(labels...), of(t, tc.confidentiality, tc.integrity); !got.Equal(want) {
			t.Errorf("%s: got %s, want %s", tc.name, got.Canonical(), want.Canonical())
		}
	}
}

func drawLabel(t *testing.T) *rapid.Generator[label.Label] {
	lists := drawClauses(t)
	vouching := []label.Atom{atom(t, "V"), atom(t, "Certified(x)"), atom(t, "Certified(y)")}
	return rapid.Custom(func(rt *rapid.T) label.Label {
		return label.New(lists.Draw(rt, "confidentiality"), rapid.SliceOfN(rapid.SampledFrom(vouching), 0, 3).Draw(rt, "integrity"))
	})
}

func sameUpToOrder(a, b label.Label) bool {
	byText := func(x, y label.Atom) int { return strings.Compare(x.Canonical(), y.Canonical()) }
	return sorted(a.Confidentiality()) == sorted(b.Confidentiality()) &&
		slices.Equal(slices.SortedFunc(slices.Values(a.Integrity()), byText), slices.SortedFunc(slices.Values(b.Integrity()), byText))
}

// E239: a join keeps every clause, and the order of its parts changes nothing but the order of clauses.
func TestLawsOfJoin(t *testing.T) {
	labels := drawLabel(t)
	rapid.Check(t, func(rt *rapid.T) {
		a, b, c := labels.Draw(rt, "a"), labels.Draw(rt, "b"), labels.Draw(rt, "c")
		ab := label.Join(a, b)
		if !label.Join(a, a).Equal(label.Join(a)) || !label.Join(ab, ab).Equal(ab) {
			rt.Fatalf("not idempotent")
		}
		if ba := label.Join(b, a); !sameUpToOrder(ab, ba) {
			rt.Fatalf("not commutative: %s and %s", ab.Canonical(), ba.Canonical())
		}
		if left, right := label.Join(ab, c), label.Join(a, label.Join(b, c)); !left.Equal(right) || !left.Equal(label.Join(a, b, c)) {
			rt.Fatalf("not associative: %s and %s", left.Canonical(), right.Canonical())
		}
		if joined := ab.Confidentiality(); !slices.EqualFunc(joined[:len(a.Confidentiality())], a.Confidentiality(), label.Clause.Equal) {
			rt.Fatalf("the clauses of the first are not first: %s", texts(joined))
		}
		for _, clause := range slices.Concat(a.Confidentiality(), b.Confidentiality()) {
			if !slices.ContainsFunc(ab.Confidentiality(), clause.Equal) {
				rt.Fatalf("%s is gone", clause.Canonical())
			}
		}
	})
}

func TestJoinLeavesItsLabelsAsTheyAre(t *testing.T) {
	base := label.Join(of(t, "A B C D", ""), of(t, "E", ""))
	one, two := label.Join(base, of(t, "X", "")), label.Join(base, of(t, "Y", ""))
	if !one.Equal(of(t, "A B C D E X", "")) || !two.Equal(of(t, "A B C D E Y", "")) || !base.Equal(of(t, "A B C D E", "")) {
		t.Errorf("two joins of one label share memory: %s, %s", one.Canonical(), two.Canonical())
	}
	list := one.Confidentiality()
	list[0] = label.Clause{}
	vouched := of(t, "", "V")
	vouched.Integrity()[0] = label.Atom{}
	alternatives := clauses(t, "A|B")[0]
	alternatives.Alternatives()[0] = label.Atom{}
	if !one.Equal(of(t, "A B C D E X", "")) || !vouched.Equal(of(t, "", "V")) || !alternatives.Equal(clauses(t, "A|B")[0]) {
		t.Error("what a label gave out changes it")
	}
}

// What is too large to be kept fits nothing, and no clause is dropped silently.
func TestLabelsBeyondTheLimitsFitNothing(t *testing.T) {
	t.Parallel()
	failed := of(t, "marker", "")
	full := label.New(many(t, "a", label.MaxClauses, 1), nil)
	atoms := many(t, "i", 1, label.MaxAtoms)[0].Alternatives()
	for _, tc := range []struct {
		name string
		l    label.Label
		fits bool
	}{
		{"as many clauses as are allowed", full, true},
		{"the same again", label.Join(full, full), true},
		{"one more", label.New(many(t, "a", label.MaxClauses+1, 1), nil), false},
		{"one more by a join", label.Join(full, of(t, "B", "")), false},
		{"as many alternatives as are allowed", label.New(many(t, "a", 2, label.MaxAtoms/2), nil), true},
		{"as much integrity as is allowed", label.New(nil, atoms), true},
		{"with a clause more", label.New(clauses(t, "A"), atoms), false},
		{"too long", label.New(many(t, strings.Repeat("x", label.MaxBytes/4), 4, 1), nil), false},
		{"too long in integrity", label.New(nil, []label.Atom{label.Observed(strings.Repeat("x", label.MaxBytes))}), false},
	} {
		if label.Fits(tc.l, label.Unbounded()) != tc.fits || tc.l.Equal(failed) == tc.fits {
			t.Errorf("%s: it has %d clauses", tc.name, len(tc.l.Confidentiality()))
		}
		if again, err := label.ReadLabel([]byte(tc.l.Canonical())); err != nil || !again.Equal(tc.l) {
			t.Errorf("%s: what was written is read with %v", tc.name, err)
		}
	}
}

func TestCanonicalTextOfLabels(t *testing.T) {
	for _, tc := range []struct{ confidentiality, integrity, want string }{
		{"", "", `{"confidentiality":[],"integrity":[]}`},
		{"B A", "V U V", `{"confidentiality":["B","A"],"integrity":["V","U"]}`},
		{"A|A - B|A", "", `{"confidentiality":["A",{"anyOf":[]},{"anyOf":["A","B"]}],"integrity":[]}`},
		{`{"type":"T","a":1.50} {"a":15e-1,"type":"T"}`, "", `{"confidentiality":[{"a":1.5,"type":"T"}],"integrity":[]}`},
		{`{"anyOf":["A"]}`, "", `{"confidentiality":[{"anyOf":[{"anyOf":["A"]}]}],"integrity":[]}`},
	} {
		l := of(t, tc.confidentiality, tc.integrity)
		if got := l.Canonical(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if got := canonjson.Compact(l.Document()); got != tc.want {
			t.Errorf("the tree is %s, want %s", got, tc.want)
		}
		if l.Public() != (tc.confidentiality == "") {
			t.Errorf("%s: public is %v", tc.want, l.Public())
		}
	}
}

func TestEqualExactlyWhenTheTextsAre(t *testing.T) {
	labels := drawLabel(t)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := labels.Draw(rt, "a"), labels.Draw(rt, "b")
		if !a.Equal(a) || a.Equal(b) != (a.Canonical() == b.Canonical()) {
			rt.Fatalf("%s and %s", a.Canonical(), b.Canonical())
		}
	})
	if of(t, "A B", "").Equal(of(t, "B A", "")) || of(t, "A", "").Equal(of(t, "A", "V")) {
		t.Error("labels of another order or integrity are equal")
	}
}

// Section 3.2, and E236.
func TestNormalFormOfClauses(t *testing.T) {
	for _, tc := range []struct{ written, same string }{
		{`"A"`, `{"anyOf":["A"]}`},
		{`{"anyOf":["A","B"]}`, `{"anyOf":["B","A","B"]}`},
		{`{"anyOf":["A","B","C","D","E"]}`, `{"anyOf":["E","C","A","D","B"]}`},
		{`null`, `{"anyOf":[null]}`},
		{`{"type":"T","a":1}`, `{"anyOf":[{"a":1,"type":"T"},{"type":"T","a":1.0}]}`},
		{`{"anyOf":[{"anyOf":["A"]}]}`, `{"anyOf":[{"anyOf":["A"]},{"anyOf":["A"]}]}`},
	} {
		a, b := clause(t, tc.written), clause(t, tc.same)
		if !a.Equal(b) || a.Canonical() != b.Canonical() {
			t.Errorf("%s and %s are different clauses: %s and %s", tc.written, tc.same, a.Canonical(), b.Canonical())
		}
	}
	for _, tc := range []struct{ a, b string }{
		{`"A"`, `"B"`},
		{`"A"`, `{"anyOf":["A","B"]}`},
		{`{"anyOf":[]}`, `null`},
		{`{"anyOf":[]}`, `{"anyOf":[{"anyOf":[]}]}`},
		{`{"anyOf":["A"]}`, `{"anyOf":[{"anyOf":["A"]}]}`},
		{`{"anyOf":[{"anyOf":["A"]}]}`, `{"anyOf":[{"anyOf":[{"anyOf":["A"]}]}]}`},
		{`{"anyOf":["A"],"x":1}`, `"A"`},
		{`{"anyOf":"A"}`, `"A"`},
		{`{"anyOf":null}`, `{"anyOf":[]}`},
	} {
		a, b := clause(t, tc.a), clause(t, tc.b)
		if a.Equal(b) || a.Canonical() == b.Canonical() {
			t.Errorf("%s and %s are one clause: %s", tc.a, tc.b, a.Canonical())
		}
	}
	if got := (label.Clause{}); !got.Equal(clause(t, `{"anyOf":[]}`)) || got.Canonical() != `{"anyOf":[]}` {
		t.Errorf("the zero clause is %s", got.Canonical())
	}
}

func clause(t testing.TB, text string) label.Clause {
	t.Helper()
	c, err := label.ReadClause([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// Labels are stored by their text: the order of alternatives is the same in every version.
func TestOrderOfAlternativesDoesNotChange(t *testing.T) {
	const want = `{"anyOf":["A","D","B","C"]}`
	if got := clause(t, `{"anyOf":["A","B","C","D"]}`).Canonical(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Section 5.9.
func TestTypesShowNoMoreThanKinds(t *testing.T) {
	for _, tc := range []struct {
		confidentiality, integrity, want string
	}{
		{"", "", `[] []`},
		{"OWNER WORK", "", `[["OWNER"] ["WORK"]] []`},
		{"User(d) Expires(10)", "V", `[["` + registry + `User"] ["` + registry + `Expires"]] ["V"]`},
		{"B|A|C|D", "", `[["A" "B" "C" "D"]] []`}, // the hashes order them A, D, B, C
		{"User(d)|User(e)", "", `[["` + registry + `User" "` + registry + `User"]] []`},
		{`- A [1] {"a":"b"} {"type":1}`, `[1] {"a":"b"} V`, `[["A"]] ["V"]`},
		{`[1]|A`, "", `[["A"]] []`},
		{`{"type":"T","var":"$x"}`, "", `[["T"]] []`},
	} {
		types := of(t, tc.confidentiality, tc.integrity).Types()
		if got := fmt.Sprintf("%q %q", types.Confidentiality, types.Integrity); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if types.Confidentiality == nil || types.Integrity == nil {
			t.Errorf("[%s]: a list is nil", tc.confidentiality)
		}
	}
}

func TestAtomsAreEqualExactlyWhenTheirTextsAre(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "type", "é", "\U00010000", "\ue000", ""})
	var value func(depth int) *rapid.Generator[document.Value]
	value = func(depth int) *rapid.Generator[document.Value] {
		return rapid.Custom(func(rt *rapid.T) document.Value {
			switch kind := rapid.IntRange(0, 5).Draw(rt, "kind"); {
			case kind == 0:
				return document.Value{}
			case kind == 1:
				return document.BoolOf(rapid.Bool().Draw(rt, "bool"))
			case kind == 2:
				return document.NumberOf(rapid.SampledFrom([]string{"1", "1.0", "10e-1", "0", "-0", "2", "1e300"}).Draw(rt, "number"))
			case kind == 3 || depth == 0:
				return document.TextOf(names.Draw(rt, "text"))
			case kind == 4:
				return document.ListOf(rapid.SliceOfN(value(depth-1), 0, 2).Draw(rt, "items")...)
			default:
				var members []document.Member
				for _, name := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(rt, "names") {
					members = append(members, document.M(name, value(depth-1).Draw(rt, "member")))
				}
				return document.MapOf(members...)
			}
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := value(3).Draw(rt, "value")
		a, err := label.AtomOf(v)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := label.ReadAtom([]byte(a.Canonical()))
		if err != nil || again != a || again.Canonical() != a.Canonical() {
			rt.Fatalf("%s is read as %s, %v", a.Canonical(), again.Canonical(), err)
		}
		turned := v
		turned.Members = slices.Clone(v.Members)
		slices.Reverse(turned.Members)
		if b, _ := label.AtomOf(turned); b != a {
			rt.Fatalf("the order of members counts: %s and %s", a.Canonical(), b.Canonical())
		}
		if other, _ := label.AtomOf(value(3).Draw(rt, "other")); (other == a) != (other.Canonical() == a.Canonical()) {
			rt.Fatalf("%s and %s", a.Canonical(), other.Canonical())
		}
	})
	if null := atomJSON(t, "null"); null != (label.Atom{}) || null.Canonical() != "null" {
		t.Error("the zero atom is not null")
	}
}

func atomJSON(t testing.TB, text string) label.Atom {
	t.Helper()
	a, err := label.ReadAtom([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

func TestAtomsAreInternedFromManySides(t *testing.T) {
	const sides = 8
	got := make([][]label.Atom, sides)
	var done sync.WaitGroup
	for side := range sides {
		done.Go(func() {
			for i := range 200 {
				got[side] = append(got[side], label.Class(fmt.Sprint(i), "alice"))
			}
		})
	}
	done.Wait()
	for side := range sides {
		if !slices.Equal(got[side], got[0]) {
			t.Fatalf("side %d made other atoms", side)
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	row := label.OfRecord("alice", "calendar", "google.calendar", []string{"work", "family"})
	b.Run("new", func(b *testing.B) {
		run := label.OfRecord("alice", "mail", "google.gmail", []string{"work"})
		b.ReportAllocs()
		for b.Loop() {
			label.Join(run, row)
		}
	})
	b.Run("seen", func(b *testing.B) {
		run := label.Join(label.OfRecord("alice", "mail", "google.gmail", []string{"work"}), row)
		b.ReportAllocs()
		for b.Loop() {
			label.Join(run, row)
		}
	})
}
