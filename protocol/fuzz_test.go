package protocol_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/protocol"
)

func FuzzCompile(f *testing.F) {
	// Short ones: the fuzzer spends its time on making what it finds shorter.
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	for _, file := range files {
		f.Add(read(f, file))
	}
	for _, doc := range []string{
		head,
		claims("a: b a", "b: a c", "c: x"),
		head + "case: {inputs: {i: {values: [v, w]}}}\nactions: {a: {precondition: {input: i, in: [w, v, w]}}}\n",
		head + "claims:\n  c: {true_when: {any: [{all: []}, {not: {claim: c}}]}}\n",
		head + "actions:\n  a:\n    effect: read\n    requires:\n      - capability: \"c\"\n      - capability: 'b'\n",
		head + "artifacts: {a: {description: x}}\nevidence_kinds: {k: {max_age: 1h}}\n" +
			"claims: {c: {true_when: {evidence: {kind: k, result: r, subject: a}}}}\n" +
			"obligations: {o: {applicable_when: {claim: c, is: unknown}, discharged_when: {claim: c, is: false}}}\n" +
			"outcomes: {d: {requires: {decision: e}}}\ninvalidation: {r: {upstream: a, invalidates: [c]}}\n",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := protocol.Compile(data)
		again, errAgain := protocol.Compile(bytes.Clone(data))
		id, revision, declared := protocol.Declared(data)
		if err != nil {
			var problems, problemsAgain protocol.Problems
			if !errors.As(err, &problems) || !errors.As(errAgain, &problemsAgain) || p != nil {
				t.Fatalf("gives %v, %v and then %v", p, err, errAgain)
			}
			if diff := cmp.Diff(problems, problemsAgain); diff != "" {
				t.Fatalf("problems are not the same the second time:\n%s", diff)
			}
			checkProblems(t, data, problems)
			if declared == (problems[0].Code == protocol.MalformedInput) {
				t.Fatalf("Declared tells %t of a document with %v", declared, problems[0])
			}
			return
		}
		if errAgain != nil {
			t.Fatalf("is accepted and then refused: %v", errAgain)
		}
		if !declared || id != p.ID || revision != p.Revision {
			t.Fatalf("Declared gives %q, %d, %t", id, revision, declared)
		}
		normal := p.NormalForm()
		if !bytes.Equal(normal, p.NormalForm()) || !bytes.Equal(normal, again.NormalForm()) {
			t.Fatal("the normal form is not the same the second time")
		}
		if !p.SameRules(again) {
			t.Fatal("the rules are not the same as themselves")
		}
		back, err := protocol.Compile([]byte(choice(plainly).yaml(readBack(t, normal))))
		if err != nil {
			t.Fatalf("%v in the normal form\n%s", err, normal)
		}
		if diff := cmp.Diff(string(normal), string(back.NormalForm())); diff != "" {
			t.Fatalf("the normal form reads back as another:\n%s", diff)
		}
	})
}

// checkProblems checks what holds for every list of problems.
func checkProblems(t *testing.T, data []byte, problems protocol.Problems) {
	t.Helper()
	if len(problems) == 0 {
		t.Fatal("is refused without a problem")
	}
	lines := strings.Split(string(data), "\n")
	for _, p := range problems {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Fatalf("%v is not at a place of the text", p)
		}
		if alone := p.Code == protocol.MalformedInput || p.Code == protocol.UnsupportedFormat; alone && len(problems) > 1 {
			t.Fatalf("%v does not come alone", p)
		}
		if p.Code != protocol.MalformedInput && strings.ContainsFunc(p.Message, unprintable) {
			t.Fatalf("the message %q is not printable", p.Message)
		}
	}
}

func unprintable(c rune) bool { return c != ' ' && !protocol.ValidIdentifier(string(c)) }
