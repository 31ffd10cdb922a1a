package label_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/label"
)

func TestFits(t *testing.T) {
	const (
		commitment = `{"type":"` + registry + `User","subject":{"digestOf":"h"}}`
		committed  = `{"type":"` + registry + `PersonalSpace","owner":{"digestOf":"h"}}`
	)
	for _, tc := range []struct {
		number         string // of section 11.9
		ceiling, label string
		fits           bool
	}{
		// The table of section 3.5: E200 to E227 of 11.9, in its order.
		{"E200", "absent", "", true},
		{"E200", "absent", "A B|C -", true},
		{"E201", "", "", true},
		{"E202", "", "A", false},
		{"E203", "A", "A", true},
		{"E204", "A", "B", false},
		{"E205", "A", "A B", false},
		{"E206", "A B", "A B", true},
		{"E207", "A B", "A", true},
		{"E208", "A B", "A|B", true},
		{"E209", "A", "A|B", true},
		{"E210", "A|B", "A", false},
		{"E211", "A|B", "A|B", true},
		{"E212", "A|B", "A|B|C", true},
		{"E213", "A|B", "A|C", false},
		{"E214", "A|B", "A B", false},
		{"E215", "A|B|C", "A|B", false},
		{"E216", "-", "A", false},
		{"E217", "-", "", true},
		{"E218", "A", "-", false},
		{"E219", "marker", "marker", false},
		{"E220", "A|marker", "A|marker", false},
		{"E221", "absent", "marker", false}, // the table says yes; D37 says that the marker never fits
		{"E222", "Expires(10)", "Expires(20)", true},
		{"E223", "Expires(20)", "Expires(10)", false},
		{"E224", "Expires(10)", "Expires(10)", true},
		{"E225", `Expires("10")`, `Expires("20")`, false},
		{"E226", "User(d)", "Space(d)", true},
		{"E227", "Space(d)", "User(d)", false},

		// "OWNER, WORK" of section 3.5: a flat list of what is allowed.
		{"", "OWNER WORK", "OWNER", true},
		{"", "OWNER WORK", "WORK", true},
		{"", "OWNER WORK", "OWNER WORK", true},
		{"", "OWNER WORK", "OWNER|x", true},
		{"", "OWNER WORK", "HEALTH", false},
		{"", "OWNER WORK", "OWNER HEALTH", false},

		// The marker, wherever it stands (D37).
		{"", "absent", "A marker", false},
		{"", "absent", "A|marker", false},
		{"", "A", "A|marker", false},
		{"", "A marker", "A marker", false},
		{"", "A|marker", "A", false},
		{"", "A marker", "A", true}, // naming it does no harm

		{"", "-", "-", false},
		{"", "absent", "-", true},
		{"", "", "-", false},
		{"", "A -", "A", true},

		// Expires: exactly a type and a finite number.
		{"", `Expires("10")`, `Expires("10")`, true},
		{"", "Expires(10)", `Expires("20")`, false},
		{"", "Expires(10)", `{"type":"` + registry + `Expires","timestamp":20,"x":1}`, false},
		{"", `{"type":"` + registry + `Expires","timestamp":10,"x":1}`, "Expires(20)", false},
		{"", `{"type":"` + registry + `Expires"}`, `{"type":"` + registry + `Expires"}`, true},
		{"", `{"type":"` + registry + `Expires","timestamp":-1e3}`, "Expires(10)", true},
		{"", `{"type":"` + registry + `Expires","timestamp":1e1}`, "Expires(10)", true},
		{"", `{"type":"Expires","timestamp":10}`, `{"type":"Expires","timestamp":20}`, false},
		{"", "Expires(10)", "A|Expires(20)", true},
		{"", "A|Expires(10)", "A|Expires(20)", true},
		{"", "A|Expires(20)", "A|Expires(10)", false},
		{"", "Expires(10)|Expires(20)", "Expires(20)", true},
		{"", "Expires(10)|Expires(20)", "Expires(10)", false},
		// The same float, but not the same number, and neither is known to be before the other.
		{"", `{"type":"` + registry + `Expires","timestamp":9007199254740992}`, `{"type":"` + registry + `Expires","timestamp":9007199254740993}`, false},
		{"", `{"type":"` + registry + `Expires","timestamp":9007199254740993}`, `{"type":"` + registry + `Expires","timestamp":9007199254740992}`, false},
		{"", `{"type":"` + registry + `Expires","timestamp":9007199254740993}`, `{"type":"` + registry + `Expires","timestamp":9007199254740993}`, true},

		// User and PersonalSpace: both complete, the same principal.
		{"", "User(e)", "Space(d)", false},
		{"", "User(d)", "A|Space(d)", true},
		{"", "User(d)|Space(d)", "Space(d)", true},
		{"", "User(d)|User(e)", "Space(d)", false},
		{"", "User(d)", `{"type":"` + registry + `PersonalSpace","owner":"did:key:d","x":1}`, false},
		{"", `{"type":"` + registry + `User","subject":"did:key:d","x":1}`, "Space(d)", false},
		{"", `{"type":"` + registry + `User","subject":"d"}`, `{"type":"` + registry + `PersonalSpace","owner":"d"}`, false},
		{"", `{"type":"` + registry + `User","subject":""}`, `{"type":"` + registry + `PersonalSpace","owner":""}`, false},
		{"", `{"type":"` + registry + `User","subject":5}`, `{"type":"` + registry + `PersonalSpace","owner":5}`, false},
		{"", `{"type":"` + registry + `User","owner":"did:key:d"}`, "Space(d)", false},
		{"", commitment, committed, true},
		{"", committed, commitment, false},
		{"", commitment, commitment, true},
		{"", commitment, "User(d)", false}, // a digest is not computed
		{"", `{"type":"` + registry + `User","subject":{"digestOf":5}}`, `{"type":"` + registry + `PersonalSpace","owner":{"digestOf":5}}`, false},
		{"", `{"type":"` + registry + `User","subject":{"digestOf":"h","x":1}}`, `{"type":"` + registry + `PersonalSpace","owner":{"digestOf":"h","x":1}}`, false},
		{"", `{"type":"loom/User","subject":"did:key:d"}`, "Space(d)", false},

		// Equality is deep, and the order of members does not count.
		{"", `{"type":"T","a":{"b":[1,2],"c":null}}`, `{"a":{"c":null,"b":[1.0,2e0]},"type":"T"}`, true},
		{"", `{"type":"T","a":[1,2]}`, `{"type":"T","a":[2,1]}`, false},
		{"", `{"type":"T","a":1}`, `{"type":"T","a":"1"}`, false},
		{"", `{"type":"T","a":null}`, `{"type":"T"}`, false},
		{"", `[1]`, `[1]`, true},

		// Reserved members: what bears one satisfies nothing (section 3.1).
		{"", `{"anyOf":["A"]}`, "A", false},
		{"", `{"anyOf":["A"]}`, `{"anyOf":["A"]}`, false}, // an atom that looks like a clause
		{"E237", `{"anyOf":["A"],"x":1}`, "A", false},
		{"E237", "A", `{"anyOf":["A"],"x":1}`, false},
		{"", `{"anyOf":["A"],"x":1}`, `{"anyOf":["A"],"x":1}`, false}, // the end of E237, which 3.1 has otherwise: what bears a reserved member satisfies nothing
		{"", `{"anyOf":"A"}`, `{"anyOf":"A"}`, false},
		{"", `{"var":"$x"}`, `{"var":"$x"}`, false},
		{"", `{"var":"$x"}`, "A", false},
		{"", "A", `{"var":"$x"}`, false},
		{"", `{"type":"T","var":1}`, `{"type":"T","var":1}`, false},
		{"", `{"digestOf":"h"}`, `{"digestOf":"h"}`, false},
		{"", `{"thisPolicy":true}`, `{"thisPolicy":true}`, false},
		{"", `{"thisPolicyField":"a","type":"T"}`, `{"thisPolicyField":"a","type":"T"}`, false},
		{"", `{"type":"T","a":{"var":"$x"}}`, `{"type":"T","a":{"var":"$x"}}`, true},
	} {
		l, c := of(t, tc.label, ""), ceiling(t, tc.ceiling)
		if got := label.Fits(l, c); got != tc.fits {
			t.Errorf("%s label [%s] under ceiling [%s]: fits is %v", tc.number, tc.label, tc.ceiling, got)
		}
		if outside := label.Outside(l, c); (len(outside) == 0) != tc.fits {
			t.Errorf("%s label [%s] under ceiling [%s]: outside are %s", tc.number, tc.label, tc.ceiling, texts(outside))
		}
	}
}

func TestOutsideKeepsTheOrderOfTheLabel(t *testing.T) {
	for _, tc := range []struct{ ceiling, label, outside string }{
		{"B", "C A B A|B marker", "C A marker"},
		{"", "B A", "B A"},
		{"A", "", ""},
		{"A", "A", ""},
		{"absent", "A marker B|marker", "marker B|marker"},
	} {
		got := label.Outside(of(t, tc.label, ""), ceiling(t, tc.ceiling))
		if want := clauses(t, tc.outside); !slices.EqualFunc(got, want, label.Clause.Equal) {
			t.Errorf("label [%s] under ceiling [%s]: got %s, want %s", tc.label, tc.ceiling, texts(got), texts(want))
		}
	}
}

func TestZeroCeilingAdmitsPublicDataOnly(t *testing.T) {
	var zero label.Ceiling
	if !zero.Bounded() || !zero.Equal(label.UpTo()) || zero.Equal(label.Unbounded()) || label.Unbounded().Bounded() {
		t.Error("the zero ceiling is not the bound of public data")
	}
	if label.Fits(of(t, "A", ""), zero) || !label.Fits(label.Label{}, zero) {
		t.Error("the zero ceiling does not admit exactly what is public")
	}
}

func TestCeilingsKeepTheirOrder(t *testing.T) {
	for _, tc := range []struct{ ceiling, want string }{
		{"absent", "null"},
		{"", "[]"},
		{"B A B", `["B","A"]`},
		{"- A|A", `[{"anyOf":[]},"A"]`},
	} {
		c := ceiling(t, tc.ceiling)
		if got := c.Canonical(); got != tc.want {
			t.Errorf("[%s]: got %s, want %s", tc.ceiling, got, tc.want)
		}
		if again := label.UpTo(c.Clauses()...); c.Bounded() && !again.Equal(c) {
			t.Errorf("[%s]: made of its clauses it is %s", tc.ceiling, again.Canonical())
		}
	}
	if ceiling(t, "A B").Equal(ceiling(t, "B A")) || ceiling(t, "A").Equal(ceiling(t, "A B")) {
		t.Error("ceilings of other clauses, or another order, are equal")
	}
}

// Section 3.6; its vectors are E228 to E235 of 11.9.
func TestMeet(t *testing.T) {
	for _, tc := range []struct{ number, a, b, want string }{
		{"", "absent", "absent", "absent"},
		{"", "absent", "A B", "A B"},
		{"", "A B", "absent", "A B"},
		{"", "absent", "", ""},
		{"", "", "absent", ""},
		{"", "", "A", ""},
		{"E235", "A", "", ""},
		{"", "", "", ""},
		{"E228", "A", "A", "A"},
		{"E229", "A", "B", "A|B"},
		{"E230", "A B", "B C", "A|B A|C B B|C"},
		{"E231", "A|B", "B|C", "A|B|C"},
		{"E232", "A|B", "A", "A|B"},
		{"E233", "- A", "A", "A"},
		{"E234", "-", "A", ""},
		{"", "A", "-", ""},
		{"", "-", "-", ""},
		{"", "OWNER WORK", "OWNER HEALTH", "OWNER OWNER|HEALTH OWNER|WORK WORK|HEALTH"},
		{"", "marker", "A", "A|marker"},
	} {
		met, err := label.Meet(ceiling(t, tc.a), ceiling(t, tc.b))
		if err != nil || !met.Equal(ceiling(t, tc.want)) {
			t.Errorf("%s [%s] and [%s]: got %s, %v, want [%s]", tc.number, tc.a, tc.b, met.Canonical(), err, tc.want)
		}
	}
}

// The consequence for retrieval in section 3.6.
func TestMeetOfARunAndARecord(t *testing.T) {
	met := meet(t, ceiling(t, "OWNER WORK"), ceiling(t, "OWNER HEALTH"))
	for row, fits := range map[string]bool{"OWNER": true, "OWNER HEALTH": false, "WORK": false, "HEALTH": false, "": true, "WORK|HEALTH": true} {
		if label.Fits(of(t, row, ""), met) != fits {
			t.Errorf("row [%s]: fits is not %v", row, fits)
		}
	}
}

func meet(t testing.TB, a, b label.Ceiling) label.Ceiling {
	t.Helper()
	met, err := label.Meet(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return met
}

// many gives n clauses of width alternatives each, all different.
func many(t testing.TB, prefix string, n, width int) []label.Clause {
	t.Helper()
	out := make([]label.Clause, n)
	for i := range out {
		alternatives := make([]label.Atom, width)
		for j := range alternatives {
			alternatives[j] = atom(t, fmt.Sprintf("%s%d.%d", prefix, i, j))
		}
		out[i] = label.AnyOf(alternatives...)
	}
	return out
}

// subsets gives every clause over n atoms.
func subsets(t testing.TB, n int) []label.Clause {
	t.Helper()
	atoms := many(t, "s", n, 1)
	out := make([]label.Clause, 1<<n)
	for set := range out {
		var alternatives []label.Atom
		for i := range atoms {
			if set>>i&1 == 1 {
				alternatives = append(alternatives, atoms[i].Alternatives()...)
			}
		}
		out[set] = label.AnyOf(alternatives...)
	}
	return out
}

func TestMeetIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct {
		name string
		a, b []label.Clause
		ok   bool
	}{
		{"as many pairs as clauses are allowed", many(t, "a", 64, 1), many(t, "b", 64, 1), true},
		{"one more", many(t, "a", 64, 1), many(t, "b", 65, 1), false},
		{"too many alternatives in the result", many(t, "a", 20, 20), many(t, "b", 20, 22), false},
		{"too much work for a small result", subsets(t, 8), subsets(t, 8), false},
		{"less of it", subsets(t, 7), subsets(t, 7), true},
		{"too long", many(t, long, 30, 1), many(t, long+"b", 30, 1), false},
		{"many pairs that are the same", many(t, "a", 300, 1), many(t, "a", 300, 1)[:12], true},
	} {
		_, err := label.Meet(label.UpTo(tc.a...), label.UpTo(tc.b...))
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, label.ErrMeetTooLarge) {
			t.Errorf("%s: got %v", tc.name, err)
		}
	}
}

// E238: over three atoms there are eight clauses: every label and every pair of ceilings of up to two of them
// obeys the law of section 3.6.
func TestMeetLawForAllListsOfUpToTwoClauses(t *testing.T) {
	t.Parallel()
	universe := subsets(t, 3)
	lists := [][]label.Clause{nil}
	for i, c := range universe {
		lists = append(lists, []label.Clause{c})
		for j, d := range universe {
			if i != j {
				lists = append(lists, []label.Clause{c, d})
			}
		}
	}
	ceilings := []label.Ceiling{label.Unbounded()}
	var labels []label.Label
	for _, list := range lists {
		ceilings = append(ceilings, label.UpTo(list...))
		labels = append(labels, label.New(list, nil))
	}
	triples := 0
	for _, a := range ceilings {
		for _, b := range ceilings {
			met := meet(t, a, b)
			for _, l := range labels {
				triples++
				if label.Fits(l, met) != (label.Fits(l, a) && label.Fits(l, b)) {
					t.Fatalf("label %s, ceilings %s and %s: the meet %s decides otherwise", l.Canonical(), a.Canonical(), b.Canonical(), met.Canonical())
				}
			}
		}
	}
	if triples != 66*66*65 {
		t.Errorf("%d triples were tried", triples)
	}
}

// drawClauses draws lists over atoms of all families.
func drawClauses(t *testing.T) *rapid.Generator[[]label.Clause] {
	names := []string{"A", "B", "C", "marker", "Expires(10)", "Expires(20)", "User(d)", "User(e)", "Space(d)", `{"var":"$x"}`, `{"anyOf":["A"]}`}
	atoms := make([]label.Atom, len(names))
	for i, name := range names {
		atoms[i] = atom(t, name)
	}
	clause := rapid.Custom(func(rt *rapid.T) label.Clause {
		return label.AnyOf(rapid.SliceOfN(rapid.SampledFrom(atoms), 0, 3).Draw(rt, "alternatives")...)
	})
	return rapid.SliceOfN(clause, 0, 4)
}

func drawCeiling(t *testing.T) *rapid.Generator[label.Ceiling] {
	lists := drawClauses(t)
	return rapid.Custom(func(rt *rapid.T) label.Ceiling {
		if rapid.IntRange(0, 9).Draw(rt, "kind") == 0 {
			return label.Unbounded()
		}
		return label.UpTo(lists.Draw(rt, "ceiling")...)
	})
}

// sorted gives the texts of the clauses without their order.
func sorted(list []label.Clause) string {
	out := strings.Fields(texts(list))
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Q3 of 12.4: idempotent, commutative and associative, up to which clauses mean the same.
func TestLawsOfMeet(t *testing.T) {
	ceilings, lists := drawCeiling(t), drawClauses(t)
	rapid.Check(t, func(rt *rapid.T) {
		a, b, c := ceilings.Draw(rt, "a"), ceilings.Draw(rt, "b"), ceilings.Draw(rt, "c")
		l := label.New(lists.Draw(rt, "label"), nil)
		ab := meet(t, a, b)
		if label.Fits(l, ab) != (label.Fits(l, a) && label.Fits(l, b)) {
			rt.Fatalf("the meet decides otherwise")
		}
		if ba := meet(t, b, a); ab.Bounded() != ba.Bounded() || sorted(ab.Clauses()) != sorted(ba.Clauses()) {
			rt.Fatalf("not commutative: %s and %s", ab.Canonical(), ba.Canonical())
		}
		left, right := meet(t, ab, c), meet(t, a, meet(t, b, c))
		// A clause without alternatives stays only where it meets an absent ceiling.
		if left.Bounded() != right.Bounded() || sorted(left.Clauses()) != sorted(right.Clauses()) {
			rt.Fatalf("not associative: %s and %s", left.Canonical(), right.Canonical())
		}
		if label.Fits(l, meet(t, a, a)) != label.Fits(l, a) {
			rt.Fatalf("not idempotent")
		}
	})
}

func TestLawsOfFits(t *testing.T) {
	ceilings, lists := drawCeiling(t), drawClauses(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := ceilings.Draw(rt, "ceiling")
		one, two := lists.Draw(rt, "one"), lists.Draw(rt, "two")
		l, m := label.New(one, nil), label.New(two, nil)
		outside := label.Outside(l, c)
		if label.Fits(l, c) != (len(outside) == 0) {
			rt.Fatalf("fits is %v, outside are %s", label.Fits(l, c), texts(outside))
		}
		for _, clause := range l.Confidentiality() {
			isOutside := slices.ContainsFunc(outside, clause.Equal)
			if label.Fits(label.New([]label.Clause{clause}, nil), c) == isOutside {
				rt.Fatalf("%s is judged otherwise alone", clause.Canonical())
			}
		}
		// A join fits where both parts do, and nowhere else: joining never lets more readers in.
		if label.Fits(label.Join(l, m), c) != (label.Fits(l, c) && label.Fits(m, c)) {
			rt.Fatalf("the join of %s and %s fits otherwise", l.Canonical(), m.Canonical())
		}
		// A ceiling of more clauses admits no less.
		if wider := label.UpTo(append(c.Clauses(), two...)...); c.Bounded() && label.Fits(l, c) && !label.Fits(l, wider) {
			rt.Fatalf("fits %s but not %s", c.Canonical(), wider.Canonical())
		}
		if !label.Fits(label.Label{}, c) {
			rt.Fatalf("what is public does not fit %s", c.Canonical())
		}
	})
}

func benchmarkCeiling() label.Ceiling {
	return label.OwnerCeiling("alice", []string{"mail"}, []string{"family", "work"})
}

func BenchmarkFits(b *testing.B) {
	l := label.OfRecord("alice", "mail", "google.gmail", []string{"work"})
	c := benchmarkCeiling()
	if len(c.Clauses()) != 5 || len(l.Confidentiality()) != 3 || !label.Fits(l, c) {
		b.Fatal("not 3 clauses that fit 5")
	}
	b.ReportAllocs()
	for b.Loop() {
		label.Fits(l, c)
	}
}

func BenchmarkMeet(b *testing.B) {
	x, y := benchmarkCeiling(), label.ScopeCeiling("alice", []string{"mail", "calendar"}, []string{"work", "health"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := label.Meet(x, y); err != nil {
			b.Fatal(err)
		}
	}
}
