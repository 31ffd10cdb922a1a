package protocol_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/protocol"
)

// inOrder lists predicates in the order of 2.10, all forms and what decides inside a form.
var inOrder = []string{
	`{"all":[]}`,
	`{"all":[{"all":[]}]}`, // one member before the same and another
	`{"all":[{"all":[]},{"any":[]}]}`,
	`{"all":[{"any":[]}]}`,
	`{"all":[{"not":{"all":[]}}]}`,
	`{"any":[]}`,
	`{"any":[{"all":[]}]}`,
	`{"claim":"a","is":"false"}`,
	`{"claim":"a","is":"true"}`,
	`{"claim":"a","is":"unknown"}`,
	`{"claim":"a.a","is":"false"}`,
	`{"claim":"b","is":"false"}`,
	`{"claim":"é","is":"true"}`,
	`{"claim":"～","is":"true"}`, // U+FF5E before U+1F642: by code point, not by UTF-16 unit
	`{"claim":"🙂","is":"true"}`,
	`{"evidence":{"kind":"k"}}`,
	`{"evidence":{"kind":"k","subject":"x"}}`,
	`{"evidence":{"kind":"k","subject":"y"}}`,
	`{"evidence":{"kind":"k","result":""}}`,
	`{"evidence":{"kind":"k","result":"r"}}`,
	`{"evidence":{"kind":"k","result":"r","subject":"x"}}`,
	`{"evidence":{"kind":"k","result":"s"}}`,
	`{"evidence":{"kind":"l"}}`,
	`{"input":"i","in":[]}`,
	`{"input":"i","in":["v"]}`,
	`{"input":"i","in":["v","w"]}`,
	`{"input":"i","in":["w"]}`,
	`{"input":"j","in":["v"]}`,
	`{"not":{"all":[]}}`,
	`{"not":{"claim":"a","is":"true"}}`,
	`{"not":{"not":{"all":[]}}}`,
}

// ordering declares everything that the predicates above name and puts some of them into one claim.
func ordering(form string, predicates []string) string {
	return head + `case: {inputs: {i: {values: [v, w]}, j: {values: [v]}}}
artifacts: {x: {}, y: {}}
evidence_kinds: {k: {}, l: {}}
claims:
  a: {true_when: {all: []}}
  a.a: {true_when: {all: []}}
  b: {true_when: {all: []}}
  é: {true_when: {all: []}}
  ～: {true_when: {all: []}}
  🙂: {true_when: {all: []}}
outcomes: {o: {requires: {` + form + ": [" + strings.Join(predicates, ", ") + "]}}}\n"
}

func TestPredicateOrder(t *testing.T) {
	backwards := slices.Clone(inOrder)
	slices.Reverse(backwards)
	for _, form := range []string{"all", "any"} {
		for _, written := range [][]string{backwards, inOrder, append(backwards, inOrder...)} {
			var got []string
			for _, m := range compiled(t, ordering(form, written)).Outcomes[0].Requires.Members {
				got = append(got, canonjson.Compact(choice(plainly).predicate(m)))
			}
			if diff := cmp.Diff(inOrder, got); diff != "" {
				t.Errorf("members of %s (-want +got):\n%s", form, diff)
			}
		}
	}
	for i := range inOrder { // each pair, in case sorting many hides that two are not comparable
		for j := range i {
			members := compiled(t, ordering("all", []string{inOrder[i], inOrder[j]})).Outcomes[0].Requires.Members
			if got := canonjson.Compact(choice(plainly).predicate(members[0])); len(members) != 2 || got != inOrder[j] {
				t.Errorf("%s does not come before %s", inOrder[j], inOrder[i])
			}
		}
	}
}

func TestNormalFormSimplifiesNothingButSets(t *testing.T) {
	outcome := func(p string) string {
		return string(compiled(t, ordering("all", []string{p})).NormalForm())
	}
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"{any: [{claim: a}, {claim: a}]}", "{any: [{claim: a}]}", true}, // case 79
		{"{all: [{claim: a}, {claim: a, is: true}]}", "{all: [{claim: a}]}", true},
		{"{any: [{not: {any: [{claim: a}, {claim: b}]}}, {not: {any: [{claim: b}, {claim: a}]}}]}", "{any: [{not: {any: [{claim: b}, {claim: a}, {claim: b}]}}]}", true},
		{"{input: i, in: [w, v, w]}", "{input: i, in: [v, w]}", true},
		{"{all: [{claim: a}]}", "{claim: a}", false}, // case 79
		{"{any: [{claim: a}]}", "{claim: a}", false},
		{"{all: [{all: [{claim: a}]}]}", "{all: [{claim: a}]}", false},
		{"{not: {not: {claim: a}}}", "{claim: a}", false},
		{"{not: {claim: a}}", "{claim: a, is: false}", false},
		{"{all: []}", "{not: {any: []}}", false},
		{"{input: i, in: [v, w]}", "{all: []}", false},
		{"{evidence: {kind: k}}", "{evidence: {kind: k, result: ''}}", false},
		{"{evidence: {kind: k, subject: x}}", "{evidence: {kind: k, subject: y}}", false},
	} {
		if same := outcome(c.one) == outcome(c.other); same != c.same {
			t.Errorf("%s and %s have the same normal form: %t", c.one, c.other, same)
		}
	}
}

// What is declared decides which members are there (2.10, 2.12).
func TestMembersOfTheNormalForm(t *testing.T) {
	members := func(doc string, way ...string) string {
		var v any
		if err := json.Unmarshal(compiled(t, doc).NormalForm(), &v); err != nil {
			t.Fatal(err)
		}
		for _, name := range way {
			v = v.(map[string]any)[name]
		}
		return strings.Join(slices.Sorted(maps.Keys(v.(map[string]any))), " ")
	}
	const some = head + "artifacts: {a: {}}\nevidence_kinds: {k: {}}\nclaims: {c: {true_when: {evidence: {kind: k}}}}\n"
	for _, c := range []struct {
		doc  string
		way  []string
		want string
	}{
		{head, nil, "actions artifacts claims evidence_kinds format obligations outcomes protocol"},
		{head + "case: {inputs: {}}\ninvalidation: {}", nil, "actions artifacts claims evidence_kinds format obligations outcomes protocol"},
		{some + "case: {inputs: {i: {values: [v]}}}", nil, "actions artifacts case claims evidence_kinds format obligations outcomes protocol"},
		{some + "invalidation: {r: {upstream: a, invalidates: [c]}}", nil, "actions artifacts claims evidence_kinds format invalidation obligations outcomes protocol"},
		{head, []string{"protocol"}, "description id revision"},
		{head + "case: {inputs: {i: {values: [v]}}}", []string{"case"}, "inputs"},
		{head + "case: {inputs: {i: {values: [v]}}}", []string{"case", "inputs", "i"}, "description values"},
		{some, []string{"artifacts", "a"}, "description"},
		{some, []string{"evidence_kinds", "k"}, "description"},
		{head + "evidence_kinds: {k: {max_age: 60m}}", []string{"evidence_kinds", "k"}, "description max_age"},
		{some, []string{"claims", "c"}, "description true_when"},
		{some, []string{"claims", "c", "true_when", "evidence"}, "kind result"},
		{some + "outcomes: {o: {requires: {evidence: {kind: k, subject: a}}}}", []string{"outcomes", "o", "requires", "evidence"}, "kind result subject"},
		{some + "outcomes: {o: {requires: {claim: c}}}", []string{"outcomes", "o", "requires", "claim"}, "id is"},
		{head + "outcomes: {o: {requires: {decision: d}}}", []string{"outcomes", "o", "requires"}, "decision"},
		{head + "case: {inputs: {i: {values: [v]}}}\noutcomes: {o: {requires: {input: i, in: [v]}}}", []string{"outcomes", "o", "requires", "input"}, "id in"},
		{head + "obligations: {o: {discharged_when: {all: []}}}", []string{"obligations", "o"}, "description discharged_when"},
		{head + "obligations: {o: {discharged_when: {all: []}, applicable_when: {all: []}}}", []string{"obligations", "o"}, "applicable_when description discharged_when"},
		{head + "actions: {a: {}}", []string{"actions", "a"}, "description effect may_produce precondition requires"},
		{some + "invalidation: {r: {upstream: a, invalidates: [c]}}", []string{"invalidation", "r"}, "description invalidates upstream"},
	} {
		if got := members(c.doc, c.way...); got != c.want {
			t.Errorf("members of %s\ngot  %s\nwant %s\nin\n%s", strings.Join(c.way, "."), got, c.want, c.doc)
		}
	}
}

// The predicates, sets and sections of a protocol are as its fields promise.
func TestProtocolIsInNormalOrder(t *testing.T) {
	p := compiled(t, head+`case: {inputs: {z: {values: [w, v]}, y: {values: [v]}}}
artifacts: {z: {}, y: {description: of y}}
evidence_kinds: {k: {}, j: {}}
claims: {c: {true_when: {evidence: {kind: k}}}, b: {true_when: {evidence: {kind: k}}}}
actions: {a: {effect: write, requires: [{capability: q}, {capability: p}, {capability: q}], may_produce: [{evidence: k}, {evidence: j}, {evidence: k}]}}
outcomes: {o: {requires: {decision: d}}, n: {requires: {claim: c}}}
invalidation: {r: {upstream: z, invalidates: [c, b, c]}}
`)
	write, ofY := "write", "of y"
	for _, c := range []struct{ want, got any }{
		{[]protocol.Input{{ID: "y", Values: []string{"v"}}, {ID: "z", Values: []string{"v", "w"}}}, p.Inputs},
		{[]protocol.Artifact{{ID: "y", Description: &ofY}, {ID: "z"}}, p.Artifacts},
		{[]protocol.EvidenceKind{{ID: "j"}, {ID: "k"}}, p.EvidenceKinds},
		{[]string{"b", "c"}, []string{p.Claims[0].ID, p.Claims[1].ID}},
		{[]string{"p", "q"}, p.Actions[0].Requires},
		{[]string{"j", "k"}, p.Actions[0].MayProduce},
		{&write, p.Actions[0].Effect},
		{protocol.All, p.Actions[0].Precondition.Form},
		{[]bool{false, true}, []bool{p.Outcomes[0].DecisionOutcome(), p.Outcomes[1].DecisionOutcome()}},
		{"d", p.Outcomes[1].Decision},
		{[]protocol.InvalidationRule{{ID: "r", Upstream: "z", Invalidates: []string{"b", "c"}}}, p.Invalidation},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestSameRules(t *testing.T) {
	bundled := string(read(t, "../catalog/bundled/system-query-1.yaml"))
	original := compiled(t, bundled)
	edit := func(old, text string) string {
		if strings.Count(bundled, old) != 1 {
			t.Fatalf("the bundled document does not have %q once", old)
		}
		return strings.Replace(bundled, old, text, 1)
	}
	const action = "  system.time.read:\n"
	for _, c := range []struct {
		name, doc string
		want      bool
	}{
		{"itself", bundled, true},
		{"another id", edit("id: system.query", "id: team.clock"), true},
		{"another revision", edit("revision: 1", "revision: 7"), true},
		{"another description of the protocol", edit("Tell the", "Say the"), true},
		{"another description of the action", edit("one reading", "a reading"), true},
		{"no description of the artifact", edit("intent: {description: the question as asked}", "intent: {}"), true},
		{"a written-out default", edit(action, action+"    precondition: {all: []}\n    requires: []\n"), true},
		{"an empty section", bundled + "\nobligations: {}\n", true},
		{"an extra action", edit(action, "  extra: {}\n"+action), false},
		{"another effect", edit("effect: read", "effect: write"), false},
		{"a capability", edit(action, action+"    requires: [{capability: c}]\n"), false},
		{"an extra obligation", bundled + "\nobligations: {o: {discharged_when: {all: []}}}\n", false},
		{"an extra case input", bundled + "\ncase: {inputs: {i: {values: [v]}}}\n", false},
		{"an extra artifact", edit("artifacts:\n", "artifacts:\n  more: {}\n"), false},
		{"a max_age", edit("evidence_kinds:\n", "evidence_kinds:\n  more: {max_age: 1h}\n"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := compiled(t, c.doc)
			if got := original.SameRules(other); got != c.want {
				t.Errorf("SameRules = %t for\n%s", got, c.doc)
			}
			if got := other.SameRules(original); got != c.want {
				t.Errorf("SameRules the other way round = %t", got)
			}
		})
	}
	withAge := func(age string) *protocol.Protocol {
		return compiled(t, head+"evidence_kinds: {k: {max_age: "+age+"}}")
	}
	// Equal ages in other units are not simplified (2.10).
	if withAge("60m").SameRules(withAge("1h")) {
		t.Error("60m and 1h are the same text")
	}
	if original.ID != "system.query" || original.Revision != 1 || original.Description == nil {
		t.Error("comparing changed the protocol")
	}
}

func TestNormalFormsReadBack(t *testing.T) {
	files, _ := filepath.Glob("testdata/*/*.ir.json")
	if len(files) != 8 {
		t.Errorf("found %d normal forms, want 8", len(files))
	}
	for _, file := range files {
		normal := read(t, file)
		again := compiled(t, choice(plainly).yaml(readBack(t, normal)))
		if diff := cmp.Diff(string(normal), string(again.NormalForm())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// Indentation makes a deep document's normal form far larger than the document.
func TestNormalFormWithinALimit(t *testing.T) {
	p, err := protocol.Compile(read(t, "testdata/every-feature.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	whole := p.NormalForm()
	if got, err := p.NormalFormWithin(len(whole)); err != nil || string(got) != string(whole) {
		t.Errorf("exactly the limit: %v", err)
	}
	if got, err := p.NormalFormWithin(len(whole) - 1); !errors.Is(err, canonjson.ErrTooLarge) || got != nil {
		t.Errorf("one byte less: %d bytes, %v", len(got), err)
	}
}
