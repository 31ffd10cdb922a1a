package protocol_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/protocol"
)

// head begins the documents of these tests, which go on with line 3.
const head = "format: protocol/1\nprotocol: {id: a.b, revision: 1}\n"

const malformed = ": malformed-input: "

func TestCompileRefusesWhatIsNotOfTheFormat(t *testing.T) {
	predicate := func(p string) string { return head + "claims:\n  c:\n    true_when: " + p }
	for _, c := range []struct{ name, doc, want string }{
		{"a list", "[]", "1:1" + malformed + "the document must be a map, not a list"},
		{"a text", "protocol/1", "1:1" + malformed + "the document must be a map, not text"},

		{"no format", "protocol: {id: a, revision: 1}", "1:1" + malformed + "the document needs format"},
		{"no protocol", "format: protocol/1", "1:1" + malformed + "the document needs protocol"},
		{"no id", "format: protocol/1\nprotocol: {revision: 1}", "2:11" + malformed + "protocol needs id"},
		{"no revision", "format: protocol/1\nprotocol: {id: a}", "2:11" + malformed + "protocol needs revision"},
		{"input without values", head + "case: {inputs: {i: {}}}", "3:20" + malformed + "a case input needs values"},
		{"claim without true_when", head + "claims: {c: {}}", "3:13" + malformed + "a claim needs true_when"},
		{"obligation without discharged_when", head + "obligations: {o: {applicable_when: {all: []}}}", "3:18" + malformed + "an obligation needs discharged_when"},
		{"outcome without requires", head + "outcomes: {o: {}}", "3:15" + malformed + "an outcome needs requires"},
		{"rule without upstream", head + "invalidation: {r: {invalidates: []}}", "3:19" + malformed + "an invalidation rule needs upstream"},
		{"rule without invalidates", head + "invalidation: {r: {upstream: a}}", "3:19" + malformed + "an invalidation rule needs invalidates"},
		{"item of requires without capability", head + "actions: {a: {requires: [{}]}}", "3:26" + malformed + "an item of requires needs capability"},
		{"item of may_produce without evidence", head + "actions: {a: {may_produce: [{}]}}", "3:29" + malformed + "an item of may_produce needs evidence"},
		{"evidence without kind", predicate("{evidence: {result: r}}"), "5:27" + malformed + "evidence needs kind"},
		{"input without in", predicate("{input: i}"), "5:16" + malformed + "a predicate on an input needs in"},

		{"unknown key of the document", head + "steps: {}", "3:1" + malformed + `the document has no key "steps"`},
		{"unknown key of protocol", "format: protocol/1\nprotocol: {id: a, revision: 1, name: x}", "2:32" + malformed + `protocol has no key "name"`},
		{"unknown key of case", head + "case: {outputs: {}}", "3:8" + malformed + `case has no key "outputs"`},
		{"unknown key of a case input", head + "case: {inputs: {i: {values: [v], default: v}}}", "3:34" + malformed + `a case input has no key "default"`},
		{"unknown key of an artifact", head + "artifacts: {a: {kind: k}}", "3:17" + malformed + `an artifact has no key "kind"`},
		{"unknown key of an evidence kind", head + "evidence_kinds: {k: {min_age: 1s}}", "3:22" + malformed + `an evidence kind has no key "min_age"`},
		{"unknown key of a claim", head + "claims: {c: {true_when: {all: []}, false_when: {all: []}}}", "3:36" + malformed + `a claim has no key "false_when"`},
		{"unknown key of an obligation", head + "obligations: {o: {discharged_when: {all: []}, due: 1h}}", "3:47" + malformed + `an obligation has no key "due"`},
		{"unknown key of an action", head + "actions: {a: {preconditions: []}}", "3:15" + malformed + `an action has no key "preconditions"`},
		{"unknown key beside a capability", head + "actions: {a: {requires: [{capability: c, when: now}]}}", "3:42" + malformed + `an item of requires has no key "when"`},
		{"unknown key beside evidence", head + "actions: {a: {may_produce: [{evidence: k, subject: a}]}}", "3:43" + malformed + `an item of may_produce has no key "subject"`},
		{"unknown key of an outcome", head + "outcomes: {o: {requires: {all: []}, final: true}}", "3:37" + malformed + `an outcome has no key "final"`},
		{"unknown key of a rule", head + "invalidation: {r: {upstream: a, invalidates: [], downstream: b}}", "3:50" + malformed + `an invalidation rule has no key "downstream"`},
		{"unknown form", predicate("{none: []}"), "5:17" + malformed + `a predicate has no key "none"`},
		{"unknown key of evidence", predicate("{evidence: {kind: k, results: r}}"), "5:37" + malformed + `evidence has no key "results"`},
		{"unknown key in upper case", head + "Claims: {}", "3:1" + malformed + `the document has no key "Claims"`},

		{"section twice", head + "claims: {}\nactions: {}\nclaims: {}", "5:1" + malformed + `the document has the key "claims" twice`},
		{"id twice", "format: protocol/1\nprotocol: {id: a, id: a, revision: 1}", "2:19" + malformed + `protocol has the key "id" twice`},
		{"inputs twice", head + "case: {inputs: {}, inputs: {}}", "3:20" + malformed + `case has the key "inputs" twice`},
		{"two descriptions (case 65)", head + "artifacts: {a: {description: x, description: y}}", "3:33" + malformed + `an artifact has the key "description" twice`},
		{"form twice", predicate("{all: [], all: []}"), "5:26" + malformed + `a predicate has the key "all" twice`},
		{"is twice", predicate("{claim: c, is: true, is: true}"), "5:37" + malformed + `a predicate has the key "is" twice`},
		{"kind twice", predicate("{evidence: {kind: k, kind: k}}"), "5:37" + malformed + `evidence has the key "kind" twice`},
		{"capability twice", head + "actions: {a: {requires: [{capability: c, capability: c}]}}", "3:42" + malformed + `an item of requires has the key "capability" twice`},

		{"format is a number", "format: 1\nprotocol: {id: a, revision: 1}", "1:9" + malformed + "format must be text, not a number"},
		{"protocol is text", "format: protocol/1\nprotocol: a", "2:11" + malformed + "protocol must be a map, not text"},
		{"id: 1", "format: protocol/1\nprotocol: {id: 1, revision: 1}", "2:16" + malformed + "protocol.id must be text, not a number"},
		{"id: true", "format: protocol/1\nprotocol: {id: true, revision: 1}", "2:16" + malformed + "protocol.id must be text, not true or false"},
		{"id: {}", "format: protocol/1\nprotocol: {id: {}, revision: 1}", "2:16" + malformed + "protocol.id must be text, not a map"},
		{"revision: 1.0 (case 67)", "format: protocol/1\nprotocol: {id: a, revision: 1.0}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{`revision: "1" (case 67)`, "format: protocol/1\nprotocol: {id: a, revision: \"1\"}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: -1 (case 67)", "format: protocol/1\nprotocol: {id: a, revision: -1}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: +1", "format: protocol/1\nprotocol: {id: a, revision: +1}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: 007", "format: protocol/1\nprotocol: {id: a, revision: 007}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: 0x1", "format: protocol/1\nprotocol: {id: a, revision: 0x1}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: 0o7", "format: protocol/1\nprotocol: {id: a, revision: 0o7}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: 1e3", "format: protocol/1\nprotocol: {id: a, revision: 1e3}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: .inf", "format: protocol/1\nprotocol: {id: a, revision: .inf}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: true", "format: protocol/1\nprotocol: {id: a, revision: true}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision: []", "format: protocol/1\nprotocol: {id: a, revision: []}", "2:29" + malformed + "protocol.revision must be a whole number, 0 or more"},
		{"revision of 65 bits", "format: protocol/1\nprotocol: {id: a, revision: 18446744073709551616}", "2:29" + malformed + "protocol.revision must be at most 18446744073709551615"},
		{"description: 5", "format: protocol/1\nprotocol: {id: a, revision: 1, description: 5}", "2:45" + malformed + "description must be text, not a number"},
		{"description: []", head + "claims: {c: {true_when: {all: []}, description: []}}", "3:49" + malformed + "description must be text, not a list"},
		{"artifacts is a list", head + "artifacts: [a]", "3:12" + malformed + "artifacts must be a map, not a list"},
		{"case is a list", head + "case: []", "3:7" + malformed + "case must be a map, not a list"},
		{"inputs is a list", head + "case: {inputs: []}", "3:16" + malformed + "inputs must be a map, not a list"},
		{"values is text", head + "case: {inputs: {i: {values: v}}}", "3:29" + malformed + "values must be a list, not text"},
		{"values is empty", head + "case: {inputs: {i: {values: []}}}", "3:29" + malformed + "values must list at least one value"},
		{"a value is a number", head + "case: {inputs: {i: {values: [1]}}}", "3:30" + malformed + "a value must be text, not a number"},
		{"an artifact is text", head + "artifacts: {a: the thing}", "3:16" + malformed + "an artifact must be a map, not text"},
		{"an evidence kind is a list", head + "evidence_kinds: {k: []}", "3:21" + malformed + "an evidence kind must be a map, not a list"},
		{"max_age is a number", head + "evidence_kinds: {k: {max_age: 60}}", "3:31" + malformed + "max_age must be text, not a number"},
		{"a claim is a boolean", head + "claims: {c: true}", "3:13" + malformed + "a claim must be a map, not true or false"},
		{"an obligation is a list", head + "obligations: {o: []}", "3:18" + malformed + "an obligation must be a map, not a list"},
		{"an action is a list", head + "actions: {a: []}", "3:14" + malformed + "an action must be a map, not a list"},
		{"requires is a map", head + "actions: {a: {requires: {capability: c}}}", "3:25" + malformed + "requires must be a list, not a map"},
		{"an item of requires is text", head + "actions: {a: {requires: [c]}}", "3:26" + malformed + "an item of requires must be a map, not text"},
		{"a capability is a number", head + "actions: {a: {requires: [{capability: 1}]}}", "3:39" + malformed + "capability must be text, not a number"},
		{"may_produce is text", head + "actions: {a: {may_produce: k}}", "3:28" + malformed + "may_produce must be a list, not text"},
		{"a kind to produce is a boolean", head + "actions: {a: {may_produce: [{evidence: true}]}}", "3:40" + malformed + "evidence must be text, not true or false"},
		{"effect is a list", head + "actions: {a: {effect: [read]}}", "3:23" + malformed + "effect must be text, not a list"},
		{"an outcome is a list", head + "outcomes: {o: []}", "3:15" + malformed + "an outcome must be a map, not a list"},
		{"requires of an outcome is text", head + "outcomes: {o: {requires: c}}", "3:26" + malformed + "a predicate must be a map, not text"},
		{"a decision is a number", head + "outcomes: {o: {requires: {decision: 1}}}", "3:37" + malformed + "decision must be text, not a number"},
		{"a rule is a list", head + "invalidation: {r: []}", "3:19" + malformed + "an invalidation rule must be a map, not a list"},
		{"upstream is a list", head + "invalidation: {r: {upstream: [a], invalidates: []}}", "3:30" + malformed + "upstream must be text, not a list"},
		{"invalidates is text", head + "invalidation: {r: {upstream: a, invalidates: c}}", "3:46" + malformed + "invalidates must be a list, not text"},
		{"a claim to invalidate is a number", head + "invalidation: {r: {upstream: a, invalidates: [1]}}", "3:47" + malformed + "a claim to invalidate must be text, not a number"},
		{"a predicate is a list", predicate("[]"), "5:16" + malformed + "a predicate must be a map, not a list"},
		{"all is a map", predicate("{all: {}}"), "5:22" + malformed + "all must be a list, not a map"},
		{"any is a boolean", predicate("{any: true}"), "5:22" + malformed + "any must be a list, not true or false"},
		{"not is a list", predicate("{not: [{all: []}]}"), "5:22" + malformed + "a predicate must be a map, not a list"},
		{"a member is text", predicate("{all: [{any: [c]}]}"), "5:30" + malformed + "a predicate must be a map, not text"},
		{"evidence is text", predicate("{evidence: k}"), "5:27" + malformed + "evidence must be a map, not text"},
		{"kind is a number", predicate("{evidence: {kind: 1}}"), "5:34" + malformed + "kind must be text, not a number"},
		{"result is a boolean", predicate("{evidence: {kind: k, result: true}}"), "5:45" + malformed + "result must be text, not true or false"},
		{"subject is a number", predicate("{evidence: {kind: k, subject: 1}}"), "5:46" + malformed + "subject must be text, not a number"},
		{"claim is a boolean", predicate("{claim: true}"), "5:24" + malformed + "claim must be text, not true or false"},
		{"input is a list", predicate("{input: [i], in: [v]}"), "5:24" + malformed + "input must be text, not a list"},
		{"in is text", predicate("{input: i, in: v}"), "5:31" + malformed + "in must be a list, not text"},
		{"in lists a number", predicate("{input: i, in: [1]}"), "5:32" + malformed + "a value must be text, not a number"},
		{"is: yes", predicate("{claim: c, is: yes}"), "5:31" + malformed + "is must be true, false or unknown"},
		{`is: "True"`, predicate(`{claim: c, is: "True"}`), "5:31" + malformed + "is must be true, false or unknown"},
		{"is: 1", predicate("{claim: c, is: 1}"), "5:31" + malformed + "is must be true, false or unknown"},
		{"is: [true]", predicate("{claim: c, is: [true]}"), "5:31" + malformed + "is must be true, false or unknown"},
		{"an unquoted number as a reference (case 68)", head + "claims: {\"123\": {true_when: {all: []}}, c: {true_when: {claim: 123}}}", "3:64" + malformed + "claim must be text, not a number"},

		{"two forms", predicate("{all: [], evidence: {kind: k}}"), "5:26" + malformed + "a predicate has exactly one form; this one has all and evidence"},
		{"a claim and an input", predicate("{claim: c, input: i, in: [v], is: true}"), "5:27" + malformed + "a predicate has exactly one form; this one has claim and input"},
		{"no form", predicate("{}"), "5:16" + malformed + "a predicate needs one of all, any, not, evidence, claim, input"},
		{"only is", predicate("{is: true}"), "5:16" + malformed + "a predicate needs one of all, any, not, evidence, claim, input"},
		{"is beside all", predicate("{is: true, all: []}"), "5:17" + malformed + "is stands only beside claim"},
		{"is beside input", predicate("{input: i, in: [v], is: true}"), "5:36" + malformed + "is stands only beside claim"},
		{"in beside claim", predicate("{claim: c, in: [v]}"), "5:27" + malformed + "in stands only beside input"},
		{"in beside not", predicate("{not: {all: []}, in: [v]}"), "5:33" + malformed + "in stands only beside input"},
		{"decision plus predicate", head + "outcomes: {o: {requires: {decision: d, all: []}}}", "3:40" + malformed + `a requirement by decision has no key "all"`},
		{"predicate plus decision", head + "outcomes: {o: {requires: {claim: c, decision: d}}}", "3:27" + malformed + `a requirement by decision has no key "claim"`},
		{"a decision inside a predicate", head + "outcomes: {o: {requires: {all: [{decision: d}]}}}", "3:34" + malformed + `a predicate has no key "decision"`},
		{"only the first of several is named", "format: 1\nprotocol: {id: 1}\nclaims: []\nsteps: {}", "4:1" + malformed + `the document has no key "steps"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(t, c.doc); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if _, _, ok := protocol.Declared([]byte(c.doc)); ok {
				t.Error("an unreadable document declares something")
			}
		})
	}
}

// The words of these refusals are the YAML reader's own; here it counts that each has its place and
// comes alone.
func TestCompileRefusesWhatTheYAMLReaderRefuses(t *testing.T) {
	for _, c := range []struct{ name, doc, at string }{
		{"nothing", "", "1:1"},
		{"null", "~", "1:1"},
		{"not UTF-8", head + "# \xff", "3:3"},
		{"two documents", head + "---\n" + head, "3:1"},
		{"alias", head + "artifacts: *a", "3:12"},
		{"an unquoted number as an id (case 68)", head + "artifacts: {123: {}}", "3:13"},
		{"an unquoted boolean as an id (case 68)", head + "artifacts: {true: {}}", "3:13"},
		{"anchor", head + "artifacts: &a {}", "3:12"},
		{"merge key", head + "artifacts: {<<: {}}", "3:13"},
		{"tag", head + "artifacts: !!map {}", "3:12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := problems(t, c.doc)
			if !strings.HasPrefix(got, c.at+malformed) || strings.Contains(got, "\n") {
				t.Errorf("got %s, want one problem at %s", got, c.at)
			}
		})
	}
}

// Case 66 and D6: a key without a value is refused wherever it stands.
func TestCompileRefusesNullEverywhere(t *testing.T) {
	for _, at := range []string{
		"format: ∅\nprotocol: {id: a, revision: 1}",
		"format: protocol/1\nprotocol: ∅",
		"format: protocol/1\nprotocol: {id: ∅, revision: 1}",
		"format: protocol/1\nprotocol: {id: a, revision: ∅}",
		"format: protocol/1\nprotocol: {id: a, revision: 1, description: ∅}",
		head + "case: ∅",
		head + "case: {inputs: ∅}",
		head + "case: {inputs: {i: ∅}}",
		head + "case: {inputs: {i: {values: ∅}}}",
		head + "case:\n  inputs:\n    i:\n      values:\n        - ∅",
		head + "artifacts: ∅",
		head + "artifacts: {a: ∅}",
		head + "artifacts: {a: {description: ∅}}",
		head + "evidence_kinds: ∅",
		head + "evidence_kinds: {k: ∅}",
		head + "evidence_kinds: {k: {max_age: ∅}}",
		head + "claims: ∅",
		head + "claims: {c: ∅}",
		head + "claims: {c: {true_when: ∅}}",
		head + "claims: {c: {true_when: {all: ∅}}}",
		head + "claims:\n  c:\n    true_when:\n      any:\n        - ∅",
		head + "claims: {c: {true_when: {not: ∅}}}",
		head + "claims: {c: {true_when: {claim: ∅}}}",
		head + "claims: {c: {true_when: {claim: a, is: ∅}}}",
		head + "claims: {c: {true_when: {evidence: ∅}}}",
		head + "claims: {c: {true_when: {evidence: {kind: k, result: ∅}}}}",
		head + "claims: {c: {true_when: {evidence: {kind: k, subject: ∅}}}}",
		head + "claims: {c: {true_when: {input: i, in: ∅}}}",
		head + "obligations: ∅",
		head + "obligations: {o: {discharged_when: ∅}}",
		head + "obligations: {o: {applicable_when: ∅, discharged_when: {all: []}}}",
		head + "actions: ∅",
		head + "actions: {a: ∅}",
		head + "actions: {a: {precondition: ∅}}",
		head + "actions: {a: {requires: ∅}}",
		head + "actions: {a: {requires: [{capability: ∅}]}}",
		head + "actions: {a: {effect: ∅}}",
		head + "actions: {a: {may_produce: ∅}}",
		head + "outcomes: ∅",
		head + "outcomes: {o: {requires: ∅}}",
		head + "outcomes: {o: {requires: {decision: ∅}}}",
		head + "invalidation: ∅",
		head + "invalidation: {r: {upstream: ∅, invalidates: []}}",
		head + "invalidation: {r: {upstream: a, invalidates: ∅}}",
	} {
		for _, null := range []string{"", "~", "null", "NULL"} {
			doc := strings.ReplaceAll(at, "∅", null)
			got := problems(t, doc)
			if !strings.Contains(got, malformed) || !strings.Contains(got, "null") || strings.Contains(got, "\n") {
				t.Errorf("%q in place of ∅ in\n%s\ngives %q", null, at, got)
			}
		}
	}
}

func TestCompileReadsWhatYAMLMeans(t *testing.T) {
	claim := func(rest string) string {
		return head + "claims: {a: {true_when: {all: []}}, c: {true_when: {claim: a" + rest + "}}}"
	}
	for _, c := range []struct{ name, one, other string }{
		{"is left out is true", claim(""), claim(", is: true")},
		{"is: True", claim(", is: True"), claim(", is: true")},
		{"is: TRUE", claim(", is: TRUE"), claim(", is: true")},
		{`is: "true"`, claim(`, is: "true"`), claim(", is: true")},
		{"is: 'false'", claim(", is: 'false'"), claim(", is: False")},
		{"is: unknown", claim(", is: unknown"), claim(`, is: "unknown"`)},
		{"is: true before claim", head + "claims: {a: {true_when: {all: []}}, c: {true_when: {is: false, claim: a}}}", claim(", is: false")},
		{"a number in quotes (case 68)", head + `artifacts: {"123": {}}`, head + "artifacts:\n  '123': {}\n"},
		{"a boolean in quotes (case 68)", head + `artifacts: {"true": {}}`, head + "artifacts: {'true': {}}"},
		{"yes is text", head + "artifacts: {yes: {}}", head + `artifacts: {"yes": {}}`},
		{"empty sections", head, head + "case: {inputs: {}}\nartifacts: {}\nevidence_kinds: {}\nclaims: {}\nobligations: {}\nactions: {}\noutcomes: {}\ninvalidation: {}\n"},
		{"an empty case", head, head + "case: {}"},
		{"an empty description is a description", head + "artifacts: {a: {description: ''}}", head + `artifacts: {a: {description: ""}}`},
		{"windows line ends", strings.ReplaceAll(claim(""), "\n", "\r\n"), claim("")},
		{"byte order mark", "\ufeff" + claim(""), claim("")},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, other := compiled(t, c.one).NormalForm(), compiled(t, c.other).NormalForm()
			if string(one) != string(other) {
				t.Errorf("normal forms differ:\n%s\n%s", one, other)
			}
		})
	}
}

func TestRevisionIsKeptTo64Bits(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "1": 1, "18446744073709551615": 1<<64 - 1} {
		if got := compiled(t, "format: protocol/1\nprotocol: {id: a, revision: "+text+"}").Revision; got != want {
			t.Errorf("revision %s is read as %d", text, got)
		}
	}
}

func TestDeclaredReadsInvalidDocumentsToo(t *testing.T) {
	for _, doc := range []string{
		head,
		head + "outcomes: {o: {requires: {claim: nowhere}}}",
		strings.Replace(head, "protocol/1", "protocol/9", 1),
	} {
		id, revision, ok := protocol.Declared([]byte(doc))
		if id != "a.b" || revision != 1 || !ok {
			t.Errorf("Declared gives %q, %d, %t for\n%s", id, revision, ok, doc)
		}
	}
	if id, revision, ok := protocol.Declared([]byte("format: protocol/1\nprotocol: {id: a.b, revision: 1.0}")); id != "" || revision != 0 || ok {
		t.Errorf("Declared gives %q, %d, %t for an unreadable document", id, revision, ok)
	}
}
