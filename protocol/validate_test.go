package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/protocol"
)

// Case 75 and 2.9: one document with many problems, whose sections are written in another order than
// the problems are reported in. The golden list is the order.
func TestAllProblemsAreReportedInAFixedOrder(t *testing.T) {
	for _, name := range []string{"every-problem"} {
		t.Run(name, func(t *testing.T) {
			doc := string(read(t, "testdata/"+name+".yaml"))
			first := problems(t, doc)
			golden(t, name+".txt", []byte(first+"\n"))
			if second := problems(t, doc); first != second {
				t.Errorf("the second time:\n%s", cmp.Diff(first, second))
			}
		})
	}
}

func TestProblemsAsOneError(t *testing.T) {
	_, err := protocol.Compile([]byte(head + "actions: {x y: {may_produce: [{evidence: k}]}}"))
	const want = `3:11: invalid-identifier: the action id "x y" must not be empty or hold white space, control or format characters; ` +
		`3:42: undeclared-evidence-kind: action "x y" names evidence kind "k", which is not declared`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestUnsupportedFormatComesAlone(t *testing.T) {
	for _, format := range []string{"protocol/2", "Protocol/1", "protocol/1 ", "canon-ir/1", ""} {
		doc := fmt.Sprintf("format: %q\nprotocol: {id: '', revision: 1}\noutcomes: {o: {requires: {claim: nowhere}}}", format)
		want := fmt.Sprintf(`1:9: unsupported-format: the format is %q; this version reads "protocol/1"`, format)
		if got := problems(t, doc); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestValidIdentifier(t *testing.T) {
	for s, want := range map[string]bool{
		"a":                        true,
		"recipe.cook":              true,
		"a:b/c-d_e.f":              true,
		"123":                      true,
		"~":                        true,
		"<<":                       true,
		"\"'`":                     true,
		"größe":                    true,
		"日本語":                      true,
		"e\u0301":                  true, // a combining accent
		"🧵":                        true,
		"\U0010ffff":               true,
		"\ufffd":                   true, // the replacement character is a character
		"":                         false,
		" ":                        false,
		"a b":                      false,
		"a ":                       false,
		"a\tb":                     false,
		"a\nb":                     false,
		"a\rb":                     false,
		"a\x00b":                   false,
		"a\x1fb":                   false,
		"a\x7fb":                   false,
		"a\u0080b":                 false, // a C1 control
		"a\u0085b":                 false, // next line
		"a\u00a0b":                 false, // no-break space
		"a\u00adb":                 false, // soft hyphen, a format character
		"a\u1680b":                 false, // ogham space mark
		"a\u2003b":                 false, // em space
		"a\u2028b":                 false, // line separator
		"a\u2029b":                 false, // paragraph separator
		"a\u3000b":                 false, // ideographic space
		"a\u061cb":                 false, // arabic letter mark
		"a\u200bb":                 false, // zero-width space
		"a\u200db":                 false, // zero-width joiner
		"a\u200eb":                 false, // left-to-right mark
		"a\u202eb":                 false, // right-to-left override
		"a\u2066b":                 false, // left-to-right isolate
		"a\ufeffb":                 false, // zero-width no-break space
		"a\U000e0041":              false, // a tag character
		"a\xff":                    false, // not UTF-8
		"\xed\xa0\x80":             false, // a surrogate
		strings.Repeat("ab.", 400): true,
	} {
		if got := protocol.ValidIdentifier(s); got != want {
			t.Errorf("ValidIdentifier(%q) = %t", s, got)
		}
	}
}

// Case 69: an identifier that looks like another is refused, and its message shows why.
func TestIdentifiersAreCheckedWhereverOneIsDeclared(t *testing.T) {
	const ids = "\"a\\u200bb\""
	refused := func(at, what string) string {
		return at + `: invalid-identifier: the ` + what + ` "a\u200bb" must not be empty or hold white space, control or format characters`
	}
	for _, c := range []struct{ doc, want string }{
		{"format: protocol/1\nprotocol: {id: ID, revision: 1}", refused("2:16", "protocol id")},
		{head + "artifacts: {ID: {}}", refused("3:13", "artifact id")},
		{head + "evidence_kinds: {ID: {}}", refused("3:18", "evidence kind id")},
		{head + "claims: {ID: {true_when: {all: []}}}", refused("3:10", "claim id")},
		{head + "obligations: {ID: {discharged_when: {all: []}}}", refused("3:15", "obligation id")},
		{head + "actions: {ID: {}}", refused("3:11", "action id")},
		{head + "actions: {a: {requires: [{capability: c}, {capability: ID}]}}", refused("3:56", "capability")},
		{head + "actions: {a: {effect: ID}}", refused("3:23", "effect class")},
		{head + "outcomes: {ID: {requires: {all: []}}}", refused("3:12", "outcome id")},
		{head + "outcomes: {o: {requires: {decision: ID}}}", refused("3:37", "decision")},
		{head + "artifacts: {a: {}}\nevidence_kinds: {k: {}}\nclaims: {c: {true_when: {evidence: {kind: k}}}}\ninvalidation: {ID: {upstream: a, invalidates: [c]}}", refused("6:16", "invalidation rule id")},
		{head + "case: {inputs: {ID: {values: [v]}}}", refused("3:17", "case input id")},
	} {
		doc := strings.Replace(c.doc, "ID", ids, 1)
		if got := problems(t, doc); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if got := problems(t, strings.Replace(c.doc, "ID", "größe.日本/x", 1)); got != "" {
			t.Errorf("with letters beyond ASCII: %s", got)
		}
	}
}

// Texts are not identifiers: they may hold what identifiers may not, and be empty.
func TestTextsAreNotCheckedAsIdentifiers(t *testing.T) {
	const odd = `"a b\u200b\n"`
	for _, doc := range []string{
		"format: protocol/1\nprotocol: {id: a, revision: 1, description: TEXT}",
		head + "evidence_kinds: {k: {}}\nclaims: {c: {true_when: {evidence: {kind: k, result: TEXT}}}}",
		head + "case: {inputs: {i: {values: [TEXT]}}}\noutcomes: {o: {requires: {input: i, in: [TEXT]}}}",
	} {
		for _, text := range []string{odd, `""`} {
			compiled(t, strings.ReplaceAll(doc, "TEXT", text))
		}
	}
}

func TestMaxAge(t *testing.T) {
	const form = "an age is a whole number without leading zeros and one of s, m, h, d, such as 36h"
	const long = "the age is too long to count in seconds"
	for _, c := range []struct {
		text    string
		seconds uint64
		refused string
	}{
		{"0s", 0, ""}, // case 73
		{"0d", 0, ""},
		{"1s", 1, ""},
		{"60m", 3600, ""},
		{"1h", 3600, ""},
		{"36h", 129600, ""},
		{"7d", 604800, ""},
		{"18446744073709551615s", 18446744073709551615, ""},
		{"307445734561825860m", 18446744073709551600, ""},
		{"5124095576030431h", 18446744073709551600, ""},
		{"213503982334601d", 18446744073709526400, ""},
		{"18446744073709551616s", 0, long}, // case 74
		{"307445734561825861m", 0, long},
		{"5124095576030432h", 0, long},
		{"213503982334602d", 0, long},
		{"18446744073709551616d", 0, long},
		{"99999999999999999999d", 0, long},
		{"", 0, form},
		{"m", 0, form},
		{"5", 0, form},
		{"05m", 0, form},
		{"00s", 0, form},
		{"-5m", 0, form},
		{"+5m", 0, form},
		{"5 m", 0, form},
		{" 5m", 0, form},
		{"5m ", 0, form},
		{"5w", 0, form},
		{"5M", 0, form},
		{"5ms", 0, form},
		{"1h30m", 0, form},
		{"1.5h", 0, form},
		{"1_000s", 0, form},
		{"0x1s", 0, form},
		{"٥m", 0, form}, // an Arabic-Indic digit
		{"5µ", 0, form},
	} {
		doc := head + fmt.Sprintf("evidence_kinds: {k: {max_age: %q}}", c.text)
		if c.refused != "" {
			want := fmt.Sprintf("3:31: invalid-max-age: max_age %q of evidence kind \"k\": %s", c.text, c.refused)
			if got := problems(t, doc); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			continue
		}
		want := &protocol.MaxAge{Text: c.text, Seconds: c.seconds}
		if diff := cmp.Diff(want, compiled(t, doc).EvidenceKinds[0].MaxAge); diff != "" {
			t.Errorf("max_age %s (-want +got):\n%s", c.text, diff)
		}
	}
	if compiled(t, head+"evidence_kinds: {k: {}}").EvidenceKinds[0].MaxAge != nil {
		t.Error("a kind without max_age has one")
	}
}

func TestWhatIsNamedMustBeDeclared(t *testing.T) {
	const declared = head + "artifacts: {a: {}}\nevidence_kinds: {k: {}}\ncase: {inputs: {i: {values: [v, w]}}}\n"
	for _, c := range []struct{ name, line, want string }{
		{"claim in a claim", "claims: {c: {true_when: {claim: x}}}", `6:33: undeclared-claim: claim "c" names claim "x", which is not declared`},
		{"kind in a claim", "claims: {c: {true_when: {evidence: {kind: x}}}}", `6:43: undeclared-evidence-kind: claim "c" names evidence kind "x", which is not declared`},
		{"subject in a claim", "claims: {c: {true_when: {evidence: {kind: k, subject: x}}}}", `6:55: undeclared-artifact: claim "c" names artifact "x", which is not declared`},
		{
			"the subject directly after its kind", "claims: {c: {true_when: {all: [{evidence: {subject: x, kind: y}}, {evidence: {kind: z}}]}}}",
			`6:62: undeclared-evidence-kind: claim "c" names evidence kind "y", which is not declared` + "\n" +
				`6:53: undeclared-artifact: claim "c" names artifact "x", which is not declared` + "\n" +
				`6:85: undeclared-evidence-kind: claim "c" names evidence kind "z", which is not declared`,
		},
		{"input in a claim", "claims: {c: {true_when: {input: x, in: [v]}}}", `6:33: undeclared-input: claim "c" names case input "x", which is not declared`},
		{
			"values of an input", "claims: {c: {true_when: {input: i, in: [x, v, y]}}}",
			`6:41: undeclared-input-value: claim "c" tests case input "i" for "x", which is none of its values` + "\n" +
				`6:47: undeclared-input-value: claim "c" tests case input "i" for "y", which is none of its values`,
		},
		{"no value of an input", "claims: {c: {true_when: {input: i, in: []}}}", ""},
		{"an input is no claim", "claims: {c: {true_when: {claim: i}}}", `6:33: undeclared-claim: claim "c" names claim "i", which is not declared`},
		{"deep inside", "claims: {c: {true_when: {not: {any: [{all: []}, {not: {claim: x}}]}}}}", `6:63: undeclared-claim: claim "c" names claim "x", which is not declared`},
		{"applicable_when", "obligations: {o: {discharged_when: {all: []}, applicable_when: {claim: x}}}", `6:72: undeclared-claim: obligation "o" names claim "x", which is not declared`},
		{"evidence in applicable_when", "obligations: {o: {discharged_when: {all: []}, applicable_when: {evidence: {kind: k, subject: a}}}}", ""},
		{"discharged_when", "obligations: {o: {discharged_when: {claim: x}}}", `6:44: undeclared-claim: obligation "o" names claim "x", which is not declared`},
		{"input in discharged_when", "obligations: {o: {discharged_when: {input: i, in: [v]}}}", ""},
		{"precondition", "actions: {a: {precondition: {claim: x}}}", `6:37: undeclared-claim: action "a" names claim "x", which is not declared`},
		{
			"the precondition before what is produced", "actions: {a: {may_produce: [{evidence: k}, {evidence: x}], precondition: {claim: y}}}",
			`6:82: undeclared-claim: action "a" names claim "y", which is not declared` + "\n" +
				`6:55: undeclared-evidence-kind: action "a" names evidence kind "x", which is not declared`,
		},
		{"outcome", "outcomes: {o: {requires: {claim: x}}}", `6:34: undeclared-claim: outcome "o" names claim "x", which is not declared`},
		{"a decision names nothing declared", "outcomes: {o: {requires: {decision: x}}}", ""},
		{
			"upstream before claims", "invalidation: {r: {invalidates: [x, y], upstream: z}}",
			`6:51: undeclared-artifact: invalidation rule "r" names artifact "z", which is not declared` + "\n" +
				`6:34: undeclared-claim: invalidation rule "r" names claim "x", which is not declared` + "\n" +
				`6:37: undeclared-claim: invalidation rule "r" names claim "y", which is not declared`,
		},
		{
			"entries in written order", "outcomes: {z: {requires: {claim: x}}, y: {requires: {claim: x}}}",
			`6:34: undeclared-claim: outcome "z" names claim "x", which is not declared` + "\n" +
				`6:61: undeclared-claim: outcome "y" names claim "x", which is not declared`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, declared+c.line); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatIsDeclaredTwice(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"artifact", "artifacts: {x: {}, y: {}, x: {}}", `3:27: duplicate-identifier: the artifact "x" is written twice`},
		{
			"three times", "artifacts: {x: {}, x: {}, x: {}}",
			`3:20: duplicate-identifier: the artifact "x" is written twice` + "\n" + `3:27: duplicate-identifier: the artifact "x" is written twice`,
		},
		{"in other quotes", `artifacts: {x: {}, "x": {}}`, `3:20: duplicate-identifier: the artifact "x" is written twice`},
		{"evidence kind", "evidence_kinds: {x: {}, x: {}}", `3:25: duplicate-identifier: the evidence kind "x" is written twice`},
		{"claim", "claims: {x: {true_when: {all: []}}, x: {true_when: {claim: x}}}", `3:37: duplicate-identifier: the claim "x" is written twice`},
		{"obligation", "obligations: {x: {discharged_when: {all: []}}, x: {discharged_when: {all: []}}}", `3:48: duplicate-identifier: the obligation "x" is written twice`},
		{"action", "actions: {x: {}, x: {}}", `3:18: duplicate-identifier: the action "x" is written twice`},
		{"outcome", "outcomes: {x: {requires: {all: []}}, x: {requires: {all: []}}}", `3:38: duplicate-identifier: the outcome "x" is written twice`},
		{"case input", "case: {inputs: {x: {values: [v]}, x: {values: [v]}}}", `3:35: duplicate-identifier: the case input "x" is written twice`},
		{"value of a case input", "case: {inputs: {x: {values: [v, w, v]}}}", `3:36: duplicate-identifier: the value "v" of case input "x" is written twice`},
		{"the same value of two inputs", "case: {inputs: {x: {values: [v]}, y: {values: [v]}}}", ""},
		{"the same id in two sections", "artifacts: {x: {}}\nevidence_kinds: {x: {}}\nclaims: {x: {true_when: {all: []}}}\nactions: {x: {}}", ""},
		{"a capability, which is a set", "actions: {x: {requires: [{capability: c}, {capability: c}]}}", ""},
		{"two capabilities (case 76)", "actions: {x: {requires: [{capability: c}, {capability: d}]}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, head+c.lines); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestEvidenceInDischargeIsNamedByItsPath(t *testing.T) {
	const kinds = head + "evidence_kinds: {k: {}}\n"
	deep := func(levels int, open, closing string) string {
		return strings.Repeat(open, levels) + "{evidence: {kind: k}}" + strings.Repeat(closing, levels)
	}
	for _, c := range []struct{ name, predicate, at, path string }{
		{"at the top", "{evidence: {kind: k}}", "4:36", "discharged_when.evidence"},
		{"in all", "{all: [{any: []}, {evidence: {kind: k}}]}", "4:54", "discharged_when.all[1].evidence"},
		{"in any and not", "{any: [{not: {all: [{evidence: {kind: k}}]}}]}", "4:56", "discharged_when.any[0].not.all[0].evidence"},
		{"32 levels are written out", deep(32, "{not: ", "}"), "4:228", "discharged_when" + strings.Repeat(".not", 32) + ".evidence"},
		{"33 levels are cut in the middle", deep(33, "{not: ", "}"), "4:234", "discharged_when" + strings.Repeat(".not", 16) + "…(1 levels)…" + strings.Repeat(".not", 16) + ".evidence"},
		{"very deep", deep(4000, "{all: [", "]}"), "4:28036", "discharged_when" + strings.Repeat(".all[0]", 16) + "…(3968 levels)…" + strings.Repeat(".all[0]", 16) + ".evidence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.at + `: evidence-in-discharge: obligation "o" reads evidence at ` + c.path + "; test a claim instead"
			if got := problems(t, kinds+"obligations: {o: {discharged_when: "+c.predicate+"}}"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	t.Run("each leaf, and what it names", func(t *testing.T) {
		want := `4:43: evidence-in-discharge: obligation "o" reads evidence at discharged_when.all[0].evidence; test a claim instead` + "\n" +
			`4:61: undeclared-evidence-kind: obligation "o" names evidence kind "x", which is not declared` + "\n" +
			`4:73: undeclared-artifact: obligation "o" names artifact "y", which is not declared` + "\n" +
			`4:78: evidence-in-discharge: obligation "o" reads evidence at discharged_when.all[1].evidence; test a claim instead`
		got := problems(t, kinds+"obligations: {o: {discharged_when: {all: [{evidence: {kind: x, subject: y}}, {evidence: {kind: k}}]}}}")
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// A message stays on its line and in proportion, whatever a document calls its things.
func TestNamesInMessagesAreEscapedAndCut(t *testing.T) {
	for _, c := range []struct{ name, written, shown string }{
		{"quotation marks", `"\"x\\"`, `"\"x\\"`},
		{"line ends", `"a\nb\rc\td\0"`, `"a\nb\rc\td\x00"`},
		{"right to left", `"a\u202eb"`, `"a\u202eb"`},
		{"line separator", `"a\u2028b"`, `"a\u2028b"`},
		{"letters", "größe", `"größe"`},
		{"60 bytes", strings.Repeat("x", 60), `"` + strings.Repeat("x", 60) + `"`},
		{"61 bytes", strings.Repeat("x", 61), `"` + strings.Repeat("x", 60) + `…"`},
		{"a character across the limit", strings.Repeat("x", 59) + "日本", `"` + strings.Repeat("x", 59) + `日…"`},
		{"escapes count as written", `"` + strings.Repeat(`\u202e`, 11) + `"`, `"` + strings.Repeat(`\u202e`, 10) + `…"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := `3:34: undeclared-claim: outcome "o" names claim ` + c.shown + ", which is not declared"
			if got := problems(t, head+"outcomes: {o: {requires: {claim: "+c.written+"}}}"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
