package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loomrun/loom/protocol"
)

// big is the size of the hostile documents here. The catalog takes four times as much (2.3).
const big = 1 << 18

// filled repeats a text up to so many bytes.
func filled(text string, size int) string { return strings.Repeat(text, size/len(text)) }

// numbered repeats a text up to so many bytes, with another number in each.
func numbered(format string, size int) string {
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

// refusedAlone reports unless a document is refused as malformed, in one short message.
func refusedAlone(t *testing.T, doc string) {
	t.Helper()
	got := problems(t, doc)
	if !strings.Contains(got, malformed) || strings.Contains(got, "\n") || len(got) > 300 {
		t.Errorf("got %s, want one problem", cut(got))
	}
}

// Case 77: aliases are refused before anything is made of them.
func TestAliasBombIsRefused(t *testing.T) {
	bomb := head + "artifacts:\n  a0: &a0 {x: {}}\n"
	for i := range 100 {
		bomb += fmt.Sprintf("  a%d: &a%d {x: *a%d, y: *a%d}\n", i+1, i+1, i, i)
	}
	refusedAlone(t, bomb)
	refusedAlone(t, head+"artifacts: &a {x: *a}")
	refusedAlone(t, head+"artifacts: {x: &a {}, <<: *a}")
}

func TestDocumentsOfGreatDepthAreRefusedInOneMessage(t *testing.T) {
	const levels = 200_000
	for name, doc := range map[string]string{
		"lists in brackets":         strings.Repeat("[", levels),
		"maps in brackets":          strings.Repeat("{a: ", levels),
		"closed":                    strings.Repeat("[", levels) + strings.Repeat("]", levels),
		"indented lists":            strings.Repeat("- ", levels),
		"explicit keys":             strings.Repeat("? ", levels),
		"in a predicate, by not":    head + "claims: {c: {true_when: " + nested(levels, "not", "{all: []}") + "}}",
		"in a predicate, by all":    head + "claims: {c: {true_when: " + nested(levels, "all", "{all: []}") + "}}",
		"in a description":          head + "artifacts: {a: {description: " + strings.Repeat("[", levels),
		"in a discharge, by any":    head + "obligations: {o: {discharged_when: " + nested(levels, "any", "{evidence: {kind: k}}") + "}}",
		"in lists that are no part": head + "steps: " + nested(levels, "all", ""),
	} {
		t.Run(name, func(t *testing.T) { refusedAlone(t, doc) })
	}
}

// Documents that make as many problems as they can, with names that are long or named often.
func TestMessagesStayInProportionToTheDocument(t *testing.T) {
	const most = 128 // bytes of messages for each byte of the document
	long := "? " + strings.Repeat("x", big/8) + "\n  : "
	for name, doc := range map[string]string{
		"undeclared claims":                     head + "outcomes: {o: {requires: {any: [" + filled("{claim: a},", big) + "]}}}",
		"undeclared claims in a long name":      head + "outcomes:\n  " + long + "{requires: {any: [" + filled("{claim: a},", big) + "]}}",
		"long undeclared claims":                head + "outcomes: {o: {requires: {any: [" + filled("{claim: "+strings.Repeat("x", 1000)+"},", big) + "]}}}",
		"kinds and subjects":                    head + "outcomes: {o: {requires: {any: [" + filled("{evidence: {kind: a, subject: b}},", big) + "]}}}",
		"claims to invalidate":                  head + "invalidation:\n  " + long + "{upstream: a, invalidates: [" + filled("a,", big) + "]}",
		"values of a long input":                head + "case:\n inputs:\n  " + long + "{values: [v]}\noutcomes:\n  " + long + "\n    requires:\n      ? input\n      : " + strings.Repeat("x", big/8) + "\n      ? in\n      : [" + filled("a,", big) + "]",
		"repeated ids":                          head + "artifacts: {" + filled("a: {},", big) + "}",
		"repeated values of a long input":       head + "case:\n inputs:\n  " + long + "{values: [" + filled("v,", big) + "]}",
		"bad identifiers":                       head + "artifacts: {" + numbered("' %d': {},", big) + "}",
		"bad ages":                              head + "evidence_kinds: {" + numbered("%d-: {max_age: x},", big) + "}",
		"inert rules":                           head + "artifacts: {a: {}}\ninvalidation: {" + numbered("r%d: {upstream: a, invalidates: []},", big) + "}",
		"deep evidence in a discharge":          head + "evidence_kinds: {k: {}}\nobligations: {o: {discharged_when: " + nested(4000, "any", filled("{evidence: {kind: k}},", big)) + "}}",
		"claims that test themselves":           head + "claims: {" + numbered("c%[1]d: {true_when: {claim: c%[1]d}},", big) + "}",
		"many that are too deep by one":         claims(chain(4096, "")...) + "outcomes: {" + numbered("o%d: {requires: {claim: c0}},", big) + "}",
		"many that are too deep, by long names": claims(append(chain(4087, ""), chainOf(strings.Repeat("x", 1000)+"%d", 9, "c0")...)...) + "outcomes: {" + numbered("o%d: {requires: {claim: "+strings.Repeat("x", 1000)+"0}},", big) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := protocol.Compile([]byte(doc))
			var all protocol.Problems
			if !errors.As(err, &all) {
				t.Fatal("the document is not refused")
			}
			size := 0
			for _, p := range all {
				size += len(p.Message)
			}
			if size > most*len(doc) || len(all) < 200 {
				t.Errorf("%d problems with %d bytes of messages for %d bytes, the first: %v", len(all), size, len(doc), all[0])
			}
		})
	}
}

func TestWideDocumentsCompile(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		has       func(*protocol.Protocol) int
		every     string // the protocol has as many as this stands in the document
	}{
		{
			"artifacts", head + "artifacts: {" + numbered("a%06d: {},", big) + "}",
			func(p *protocol.Protocol) int { return len(p.Artifacts) }, ": {},",
		},
		{
			"values", head + "case: {inputs: {i: {values: [" + numbered("v0%05d,", big) + "]}}}",
			func(p *protocol.Protocol) int { return len(p.Inputs[0].Values) }, "v0",
		},
		{
			"claims that each test one", head + "claims: {c: {true_when: {all: []}}," + numbered("c%06d: {true_when: {claim: c}},", big) + "}",
			func(p *protocol.Protocol) int { return len(p.Claims) }, "true_when",
		},
		{
			"equal members", head + "evidence_kinds: {k: {}}\noutcomes: {o: {requires: {any: [" + filled("{evidence: {kind: k}},", big) + "]}}}",
			func(p *protocol.Protocol) int { return len(p.Outcomes[0].Requires.Members) }, "any",
		},
		{
			"members that differ", head + "evidence_kinds: {k: {}}\noutcomes: {o: {requires: {all: [" + numbered("{evidence: {kind: k, result: r%06d}},", big) + "]}}}",
			func(p *protocol.Protocol) int { return len(p.Outcomes[0].Requires.Members) }, "result",
		},
		{
			"members that differ only far inside", head + "evidence_kinds: {k: {}}\noutcomes: {o: {requires: {all: [" + numbered(nested(1000, "not", "{evidence: {kind: k, result: r%03d}}")+",", big) + "]}}}",
			func(p *protocol.Protocol) int { return len(p.Outcomes[0].Requires.Members) }, "result",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := c.has(compiled(t, c.doc)), strings.Count(c.doc, c.every); got != want {
				t.Errorf("has %d, want %d", got, want)
			}
		})
	}
}
