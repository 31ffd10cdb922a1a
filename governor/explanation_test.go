package governor_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
)

var update = flag.Bool("update", false, "write golden files as they are now")

// golden compares text with a file, or writes it there.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(readFile(t, path)), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// worked finds a worked decision and the rules of its protocol.
func worked(t testing.TB, name string) (*governor.Rules, governor.Documents) {
	t.Helper()
	all, err := strictjson.Parse(readFile(t, "testdata/every-feature.worked.json"), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all.Items {
		if text(w, "name") == name {
			return prepare(t, readFile(t, "../protocol/testdata/every-feature.yaml")), governor.Documents{
				Snapshot:  optional(w, "case"),
				Evidence:  optional(w, "evidence").Items,
				Authority: optional(w, "authority"),
				Decisions: optional(w, "decisions"),
				At:        optional(w, "at"),
			}
		}
	}
	t.Fatalf("there is no worked decision %s", name)
	return nil, governor.Documents{}
}

// Each file was read against 4.8, line by line, when it was written.
func TestExplanations(t *testing.T) {
	for _, name := range []string{"recipe-moved", "pantry-moved", "conflict", "shelved-now", "all-good-denied", "tasting-expired"} {
		t.Run(name, func(t *testing.T) {
			rules, in := worked(t, name)
			checkExplanation(t, name, rules, in)
		})
	}
	garden := prepare(t, readFile(t, "../protocol/testdata/case-inputs.yaml"))
	hot := tree(t, "{format: canon-case/1, id: BED-1, protocol: garden.watering, artifacts: {bed: {revision: b1}}, inputs: {weather: hot}}")
	t.Run("applicable-unknown", func(t *testing.T) {
		checkExplanation(t, "applicable-unknown", garden, governor.Documents{Snapshot: hot})
	})
	t.Run("seen-otherwise", func(t *testing.T) {
		// The record is invalidated for `ready` and so inside `cooked` as `ready` sees it, but not for `cooked`.
		rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
artifacts: {a: {}, b: {}}
evidence_kinds: {k: {}, other: {}}
claims:
  cooked: {true_when: {evidence: {kind: k}}}
  ready: {true_when: {all: [claim: cooked, evidence: {kind: other, subject: a}]}}
invalidation: {moved: {upstream: b, invalidates: [ready]}}
`))
		checkExplanation(t, "seen-otherwise", rules, governor.Documents{
			Snapshot: tree(t, "{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}, b: {revision: v2}}}"),
			Evidence: []document.Value{tree(t, "{format: canon-evidence/1, id: e1, kind: k, subject: a, subject_revision: v1, upstream_revisions: {b: v1}}")},
		})
	})
}

// Matches that differ only in their result read the same records: what there is none of is said once.
func TestAbsenceIsSaidOnce(t *testing.T) {
	rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
artifacts: {a: {}}
evidence_kinds: {k: {}, l: {}}
claims:
  both: {true_when: {any: [evidence: {kind: k, result: good}, evidence: {kind: k, result: fine}]}}
  more: {true_when: {any: [claim: both, evidence: {kind: k, result: bad}, evidence: {kind: l}, evidence: {kind: k, subject: a}]}}
`))
	d := decide(t, rules, governor.Documents{Snapshot: tree(t, "{format: canon-case/1, id: C, protocol: p, artifacts: {a: {revision: v1}}}")})
	claims := optional(optional(d.Document(), "explanation"), "claims")
	for claim, want := range map[string]string{
		"both": `[{"kind":"k","status":"absent"}]`,
		"more": `[{"claim":"both","value":"unknown"},{"kind":"k","status":"absent"},{"kind":"k","status":"absent","subject":"a"},{"kind":"l","status":"absent"}]`,
	} {
		if got := canonjson.Compact(optional(optional(claims, claim), "because")); got != want {
			t.Errorf("%s: got %s, want %s", claim, got, want)
		}
	}
}

func checkExplanation(t *testing.T, name string, rules *governor.Rules, in governor.Documents) {
	d, refused := rules.EvaluateDocuments(in)
	if refused != nil {
		t.Fatal(refused)
	}
	golden(t, "explanation/"+name+".json", canonical(member(t, d.Document(), "explanation")))
}

// A claim that rests on case inputs alone is explained by them.
func TestClaimOnInputsIsExplained(t *testing.T) {
	rules := prepare(t, []byte(`
format: protocol/1
protocol: {id: p, revision: 1}
case: {inputs: {weather: {values: [mild, hot]}, season: {values: [spring]}}}
claims:
  warm: {true_when: {any: [{input: weather, in: [hot]}, {not: {input: season, in: [spring]}}, {all: [{input: weather, in: [hot]}, {input: weather, in: [mild, hot]}]}]}}
`))
	d, refused := rules.Evaluate(governor.Request{Snapshot: governor.Snapshot{
		ID: "c", Protocol: "p", Inputs: []governor.InputValue{{Input: "weather", Value: "mild"}, {Input: "season", Value: "spring"}},
	}})
	if refused != nil {
		t.Fatal(refused)
	}
	warm := member(t, member(t, member(t, d.Document(), "explanation"), "claims"), "warm")
	const want = `{"because":[{"input":"season","value":"spring"},{"input":"weather","value":"mild"}],"value":"false"}`
	if got := canonjson.Compact(warm); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
