package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/protocol"
)

// claims writes a document whose claims test each other: "a: b c" makes a claim a that tests all of b
// and c, and "a: b" one that is just a test of b.
func claims(rules ...string) string {
	var doc strings.Builder
	doc.WriteString(head + "claims:\n")
	for _, rule := range rules {
		id, names, _ := strings.Cut(rule, ":")
		tests := strings.Fields(names)
		for i, name := range tests {
			tests[i] = "{claim: " + name + "}"
		}
		rule := strings.Join(tests, ", ")
		if len(tests) != 1 {
			rule = "{all: [" + rule + "]}"
		}
		fmt.Fprintf(&doc, "  %s: {true_when: %s}\n", id, rule)
	}
	return doc.String()
}

// chain makes n claims, each of which tests the next. The last tests what is given.
func chain(n int, last string) []string { return chainOf("c%d", n, last) }

func chainOf(id string, n int, last string) []string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf(id+": "+id, i, i+1)
	}
	rules[n-1] = fmt.Sprintf(id+": %s", n-1, last)
	return rules
}

func TestClaimCycles(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules []string
		want  []string
	}{
		{"none", []string{"a: b c", "b: c", "c: d", "d:"}, nil},
		{"a claim tested by many", []string{"a: z z", "b: z a", "z:"}, nil},
		{"a claim that tests itself (case 70)", []string{"a: a"}, []string{"4:3: a → a"}},
		{"the same test twice", []string{"a: a a"}, []string{"4:3: a → a"}},
		{"two claims", []string{"a: b", "b: a"}, []string{"4:3: a → b → a"}},
		{"two claims, entered from outside", []string{"x: b", "a: b", "b: a"}, []string{"6:3: b → a → b"}},
		{"the same cycle by two tests", []string{"a: b", "b: a a"}, []string{"4:3: a → b → a"}},
		{"two separate cycles", []string{"a: b", "b: a", "c: d", "d: c"}, []string{"4:3: a → b → a", "6:3: c → d → c"}},
		{"two cycles, one tests the other", []string{"a: b", "b: c a", "c: d", "d: c"}, []string{"6:3: c → d → c", "4:3: a → b → a"}},
		{"a self cycle beside a long one", []string{"a: b", "b: c", "c: a", "s: s"}, []string{"7:3: s → s", "4:3: a → b → c → a"}},
		{"a self cycle in a long one", []string{"a: b", "b: c", "c: a b c"}, []string{"6:3: c → c", "4:3: a → b → c → a"}},
		{"a self cycle that tests a long one", []string{"s: s a", "a: b", "b: a"}, []string{"4:3: s → s", "5:3: a → b → a"}},
		{"of two cycles through one claim, one is shown", []string{"a: b c", "b: a", "c: a"}, []string{"4:3: a → b → a"}},
		{"an undeclared claim does not close a cycle", []string{"a: b", "b: x"}, nil},
		{"of a claim written twice, the first is tested", []string{"a: b", "b: a", "b: b"}, []string{"4:3: a → b → a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for line := range strings.Lines(problems(t, claims(c.rules...))) {
				if at, shown, ok := strings.Cut(strings.TrimSpace(line), " claim-cycle: claims rest on themselves: "); ok {
					got = append(got, at+" "+shown)
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// Case 71. The chain is the whole cycle, the first claim again at its end.
func TestACycleOfManyClaimsIsReportedOnce(t *testing.T) {
	const n = 100_000
	var want strings.Builder
	want.WriteString("4:3: claim-cycle: claims rest on themselves: ")
	for i := range n {
		fmt.Fprintf(&want, "c%d → ", i)
	}
	if got := problems(t, claims(chain(n, "c0")...)); got != want.String()+"c0" {
		t.Errorf("got %d bytes: %s", len(got), cut(got))
	}
}

// The n claims of one long cycle test all claims before them, so that there are about n²/2 cycles.
func TestManyCyclesThroughOneAnotherAreReportedInProportion(t *testing.T) {
	const n = 300
	for _, order := range []string{"nearest first", "farthest first"} {
		t.Run(order, func(t *testing.T) {
			rules := chain(n, "")
			for i := range n {
				for j := range i {
					tested := i - 1 - j
					if order == "farthest first" {
						tested = j
					}
					rules[i] += fmt.Sprintf(" c%d", tested)
				}
			}
			doc := claims(rules...)
			got := problems(t, doc)
			if !strings.Contains(got, string(protocol.ClaimCycle)) || len(got) > 100*n {
				t.Errorf("%d bytes of problems about %d claims: %s", len(got), n, cut(got))
			}
		})
	}
}

func TestInertInvalidation(t *testing.T) {
	const sections = head + `artifacts: {a: {}}
evidence_kinds: {k: {}}
claims:
  reads: {true_when: {any: [{evidence: {kind: k}}, {evidence: {kind: k, result: r}}]}}
  through: {true_when: {claim: reads}}
  far: {true_when: {all: [{claim: still}, {not: {any: [{not: {claim: through, is: unknown}}]}}]}}
  still: {true_when: {all: []}}
  on_still: {true_when: {not: {claim: still}}}
invalidation:
`
	inert := `12:3: inert-invalidation: invalidation rule "r" names no claim that rests on evidence, so it can never take effect`
	undeclared := `12:34: undeclared-claim: invalidation rule "r" names claim "x", which is not declared`
	for claims, want := range map[string]string{
		"reads":           "",
		"through":         "",
		"far":             "", // through claims, all, any and not
		"still":           inert,
		"on_still":        inert,
		"still, on_still": inert,
		"still, far":      "", // one claim is enough
		"":                inert,
		"x":               undeclared,
		"x, still":        undeclared, // the missing claim may be the one that reads evidence
	} {
		got := problems(t, sections+"  r: {upstream: a, invalidates: ["+claims+"]}\n")
		if got != want {
			t.Errorf("invalidates [%s]:\ngot  %s\nwant %s", claims, got, want)
		}
	}
}

func TestInertInvalidationAmongCyclicClaims(t *testing.T) {
	doc := claims("a: b", "b: a c", "c:") + "artifacts: {x: {}}\ninvalidation: {r: {upstream: x, invalidates: [a]}}\n"
	const inert = `8:16: inert-invalidation: invalidation rule "r" names no claim that rests on evidence, so it can never take effect` + "\n"
	const cycle = "4:3: claim-cycle: claims rest on themselves: a → b → a"
	if got := problems(t, doc); got != inert+cycle {
		t.Errorf("got\n%s", got)
	}
	reading := strings.Replace(doc, "c: {true_when: {all: []}}", "c: {true_when: {evidence: {kind: k}}}", 1) + "evidence_kinds: {k: {}}\n"
	if got := problems(t, reading); got != cycle {
		t.Errorf("got\n%s", got)
	}
}

// nested wraps a predicate in n of a form.
func nested(n int, form, leaf string) string {
	open, closing := "{"+form+": ", "}"
	if form != "not" {
		open, closing = open+"[", "]}"
	}
	return strings.Repeat(open, n) + leaf + strings.Repeat(closing, n)
}

// Case 72: a leaf counts as one, each predicate around it as one more, and a claim leaf goes on into
// its claim.
func TestPredicateDepth(t *testing.T) {
	const kinds = head + "evidence_kinds: {k: {}}\n"
	const leaf = "{evidence: {kind: k}}"
	claim := func(id, p string) string { return "  " + id + ": {true_when: " + p + "}\n" }
	through := func(outer int) string { // 2048 levels in claim a, and in claim b outer levels above it
		return kinds + "claims:\n" + claim("b", nested(outer-1, "not", "{claim: a}")) + claim("a", nested(2047, "any", leaf))
	}
	section := func(before, p, after string) string {
		return kinds + "claims:\n" + claim("a", nested(4094, "not", leaf)) + before + p + after
	}
	for _, c := range []struct{ name, doc, want string }{
		{"4096 by not", kinds + "claims:\n" + claim("a", nested(4095, "not", leaf)), ""},
		{"4097 by not", kinds + "claims:\n" + claim("a", nested(4096, "not", leaf)), `5:3: predicate-too-deep: claim "a" nests 4097 predicates deep, more than 4096: a`},
		{"4096 by all", kinds + "claims:\n" + claim("a", nested(4095, "all", leaf)), ""},
		{"4097 by all", kinds + "claims:\n" + claim("a", nested(4096, "all", leaf)), `5:3: predicate-too-deep: claim "a" nests 4097 predicates deep, more than 4096: a`},
		{"4096 by any around an empty all", kinds + "claims:\n" + claim("a", nested(4095, "any", "{all: []}")), ""},
		{"4097 by any around an empty all", kinds + "claims:\n" + claim("a", nested(4096, "any", "{all: []}")), `5:3: predicate-too-deep: claim "a" nests 4097 predicates deep, more than 4096: a`},
		{"4096 through a claim", through(2048), ""},
		{"4097 through a claim", through(2049), `5:3: predicate-too-deep: claim "b" nests 4097 predicates deep, more than 4096: b → a`},
		{"4096 through 4096 claims", claims(chain(4096, "")...), ""},
		{"4097 through 4097 claims", claims(chain(4097, "")...), `4:3: predicate-too-deep: claim "c0" nests 4097 predicates deep, more than 4096: c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7 → …`},
		{"4097 through 8 claims names them all", claims(chain(7, "c7")...) + claim("c7", nested(4089, "not", "{all: []}")), `4:3: predicate-too-deep: claim "c0" nests 4097 predicates deep, more than 4096: c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7`},
		{"the longest way is named", claims(append(chain(4093, ""), "top: flat deep flat", "flat:", "deep: c0")...), ""},
		{"the longest way is named, one deeper", claims(append(chain(4094, ""), "top: flat deep flat", "flat:", "deep: c0")...), `4098:3: predicate-too-deep: claim "top" nests 4097 predicates deep, more than 4096: top → deep → c0 → c1 → c2 → c3 → c4 → c5 → …`},
		{"of two ways of the same length, the first is named", claims(append(chain(4094, ""), "top: one two", "one: c0", "two: c0")...), `4098:3: predicate-too-deep: claim "top" nests 4097 predicates deep, more than 4096: top → one → c0 → c1 → c2 → c3 → c4 → c5 → …`},
		{"4096 in an obligation", section("obligations: {o: {discharged_when: ", "{claim: a}", "}}"), ""},
		{"4097 in an obligation", section("obligations: {o: {discharged_when: ", "{not: {claim: a}}", "}}"), `6:15: predicate-too-deep: obligation "o" nests 4097 predicates deep, more than 4096: o → a`},
		{"4097 in applicable_when", section("obligations: {o: {discharged_when: {all: []}, applicable_when: ", "{not: {claim: a}}", "}}"), `6:15: predicate-too-deep: obligation "o" nests 4097 predicates deep, more than 4096: o → a`},
		{"4096 in an action", section("actions: {o: {precondition: ", "{claim: a}", "}}"), ""},
		{"4097 in an action", section("actions: {o: {precondition: ", "{any: [{claim: a}]}", "}}"), `6:11: predicate-too-deep: action "o" nests 4097 predicates deep, more than 4096: o → a`},
		{"4096 in an outcome", section("outcomes: {o: {requires: ", "{claim: a}", "}}"), ""},
		{"4097 in an outcome", section("outcomes: {o: {requires: ", "{all: [{all: []}, {claim: a}]}", "}}"), `6:12: predicate-too-deep: outcome "o" nests 4097 predicates deep, more than 4096: o → a`},
		{"a decision has no depth", section("outcomes: {o: {requires: ", "{decision: a}", "}}"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, c.doc); got != c.want {
				t.Errorf("got  %s\nwant %s", cut(got), c.want)
			}
		})
	}
}

// What tests a reported claim is not reported for that, and is reported for what else it tests.
func TestAClaimThatIsTooDeepIsReportedOnce(t *testing.T) {
	const n = 100_000
	at := n - protocol.MaxPredicateDepth - 1 // the claim from which there are 4097 to the end
	want := fmt.Sprintf(`%d:3: predicate-too-deep: claim "c%d" nests 4097 predicates deep`, at+4, at)
	got := problems(t, claims(chain(n, "")...)+"outcomes: {o: {requires: {claim: c0}}}\nactions: {o: {precondition: {not: {claim: c9}}}}\n")
	if !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("got  %s\nwant %s", cut(got), want)
	}

	rules := chain(3*protocol.MaxPredicateDepth, "")
	for i := range rules[1:] {
		rules[i] += " z" // beside what is reported stands what is not
	}
	if got := problems(t, claims(append(rules, "z:")...)); strings.Count(got, string(protocol.PredicateTooDeep)) != 1 || strings.Contains(got, "\n") {
		t.Errorf("got %s, want one problem", cut(got))
	}

	rules = []string{"both: c0 d2"}
	for _, rule := range chain(4097, "") {
		rules = append(rules, rule, strings.ReplaceAll(rule, "c", "d"))
	}
	got = problems(t, claims(rules...))
	want = `5:3: predicate-too-deep: claim "c0" nests 4097 predicates deep, more than 4096: c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7 → …` + "\n" +
		`4:3: predicate-too-deep: claim "both" nests 4097 predicates deep, more than 4096: both → d2 → d3 → d4 → d5 → d6 → d7 → d8 → …` + "\n" +
		`6:3: predicate-too-deep: claim "d0" nests 4097 predicates deep, more than 4096: d0 → d1 → d2 → d3 → d4 → d5 → d6 → d7 → …`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", cut(got), want)
	}
}

// A cycle has no depth: only the cycle is reported.
func TestDepthIsNotMeasuredBesideACycle(t *testing.T) {
	got := problems(t, claims("a: a")+"outcomes: {o: {requires: "+nested(5000, "not", "{all: []}")+"}}\n")
	if got != "4:3: claim-cycle: claims rest on themselves: a → a" {
		t.Errorf("got %s", cut(got))
	}
}

// A chain of claims each of which tests the next twice doubles the ways at every claim (4.10).
func TestClaimsThatAreTestedManyTimesAreFollowedOnce(t *testing.T) {
	rules := chain(200, "")
	for i := range 199 {
		rules[i] += fmt.Sprintf(" c%d", i+1)
	}
	doc := claims(rules...) + "artifacts: {a: {}}\ninvalidation: {r: {upstream: a, invalidates: [c0]}}\n"
	var refused protocol.Problems
	if _, err := protocol.Compile([]byte(doc)); !errors.As(err, &refused) || len(refused) != 1 || refused[0].Code != protocol.InertInvalidation {
		t.Errorf("got %v", err)
	}
}
