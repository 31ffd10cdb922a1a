package governor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/strictyaml"
	"github.com/loomrun/loom/protocol"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func prepare(t testing.TB, data []byte) *governor.Rules {
	t.Helper()
	p, err := protocol.Compile(data)
	if err != nil {
		t.Fatal(err)
	}
	return governor.Prepare(p)
}

// member gives a member that must be there.
func member(t testing.TB, v document.Value, name string) document.Value {
	t.Helper()
	m, ok := v.Get(name)
	if !ok {
		t.Fatalf("%s is missing", name)
	}
	return m
}

// optional gives a member, or a null where there is none.
func optional(v document.Value, name string) document.Value {
	m, _ := v.Get(name)
	return m
}

// without leaves one member out.
func without(v document.Value, name string) document.Value {
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m document.Member) bool { return m.Name == name })
	return v
}

func canonical(v document.Value) string { return string(canonjson.Append(nil, v)) }

// All 29 worked decisions, section by section and byte for byte.
func TestWorkedDecisions(t *testing.T) {
	count := 0
	for _, file := range []string{"every-feature.worked.json", "bundled.worked.json"} {
		tree, err := strictjson.Parse(readFile(t, filepath.Join("testdata", file)), strictjson.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		for _, worked := range tree.Items {
			count++
			t.Run(member(t, worked, "name").Text, func(t *testing.T) {
				path := "../protocol/testdata/" + member(t, worked, "protocol_file").Text
				if bundled, ok := strings.CutPrefix(member(t, worked, "protocol_file").Text, "bundled/"); ok {
					path = "../catalog/bundled/" + bundled
				}
				rules, in := prepare(t, readFile(t, path)), governor.Documents{
					Snapshot:  member(t, worked, "case"),
					Evidence:  member(t, worked, "evidence").Items,
					Authority: optional(worked, "authority"),
					Decisions: optional(worked, "decisions"),
					At:        optional(worked, "at"),
				}
				d, refused := rules.EvaluateDocuments(in)
				if refused != nil {
					t.Fatal(refused)
				}
				want := canonical(member(t, worked, "expect_sections_without_explanation"))
				if diff := cmp.Diff(want, canonical(without(d.Document(), "explanation"))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", member(t, worked, "why").Text, diff)
				}
				if modelled, code := (model{rules.Protocol(), in}).decide(); code != "" || canonical(modelled) != sections(d) {
					t.Errorf("the reference model gives %s %s", code, canonical(modelled))
				}
			})
		}
	}
	if count != 29 {
		t.Errorf("found %d worked decisions, want 29", count)
	}
}

// The five scenario files of an independent conformance suite, every step by itself.
func TestCanonConformance(t *testing.T) {
	const dir = "../../shared/data/canon"
	files, _ := filepath.Glob(dir + "/scenarios/*.yaml")
	if len(files) == 0 {
		t.Skipf("the conformance suite is not here: %s", dir)
	}
	if len(files) != 5 {
		t.Errorf("found %d scenario files, want 5", len(files))
	}
	for _, file := range files {
		scenario, err := strictyaml.Parse(readFile(t, file), strictyaml.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fixture := readFile(t, filepath.Join(dir, "fixtures", filepath.Base(member(t, scenario, "fixture").Text)))
		for _, step := range member(t, scenario, "steps").Items {
			t.Run(fmt.Sprintf("%s/%s", member(t, scenario, "id").Text, member(t, step, "id").Text), func(t *testing.T) {
				conform(t, fixture, step)
			})
		}
	}
}

func conform(t *testing.T, fixture []byte, step document.Value) {
	p, err := protocol.Compile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	expect := member(t, step, "expect")
	if ir, ok := expect.Get("canon-ir"); ok {
		if diff := cmp.Diff(ir.Text, string(p.NormalForm())); diff != "" {
			t.Errorf("normal form (-want +got):\n%s", diff)
		}
		return
	}
	input := member(t, step, "evaluate")
	d, refused := governor.Prepare(p).EvaluateDocuments(governor.Documents{
		Snapshot:  member(t, input, "case"),
		Evidence:  member(t, input, "evidence").Items,
		Authority: optional(input, "authority"),
		Decisions: optional(input, "decisions"),
		At:        optional(input, "at"),
	})
	if code, ok := expect.Get("refusal"); ok {
		if refused == nil || string(refused.Code) != code.Text {
			t.Errorf("got %v, want refusal %s", refused, code.Text)
		}
		return
	}
	if refused != nil {
		t.Fatal(refused)
	}
	want, err := strictjson.Parse([]byte(member(t, expect, "decision").Text), strictjson.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	got := d.Document()
	for _, section := range want.Members {
		if diff := cmp.Diff(canonical(section.Value), canonical(optional(got, section.Name))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", section.Name, diff)
		}
	}
}

// canon-ir.yaml says the same as evidence-freshness.yaml once its max_age is taken out.
func TestCanonNormalFormIgnoresOrder(t *testing.T) {
	const dir = "../../shared/data/canon/fixtures/"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the conformance suite is not here: %v", err)
	}
	shuffled, err := protocol.Compile(readFile(t, dir+"canon-ir.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	freshness := strings.Replace(string(readFile(t, dir+"evidence-freshness.yaml")), "    max_age: 1h\n", "", 1)
	plain, err := protocol.Compile([]byte(freshness))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(plain.NormalForm()), string(shuffled.NormalForm())); diff != "" {
		t.Errorf("normal forms differ:\n%s", diff)
	}
}
