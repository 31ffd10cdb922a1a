package protocol_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/protocol"
)

var update = flag.Bool("update", false, "write the golden files of this package")

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden compares got with a file under testdata/golden, or writes the file with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata/golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, path)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// compiled gives the protocol of a document that must be valid.
func compiled(t testing.TB, doc string) *protocol.Protocol {
	t.Helper()
	p, err := protocol.Compile([]byte(doc))
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, cut(doc))
	}
	return p
}

// problems gives what is wrong with a document, one problem on each line; nothing where it is valid.
func problems(t testing.TB, doc string) string {
	t.Helper()
	_, err := protocol.Compile([]byte(doc))
	if err == nil {
		return ""
	}
	var all protocol.Problems
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("the error is %#v, not a list of problems", err)
	}
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

func cut(s string) string {
	const most = 4000
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// examples is where the examples of the specification are, when this machine has them.
const examples = "../../shared/spec/examples"

func skipWithoutExamples(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(examples); err != nil {
		t.Skipf("the specification is not here: %v", err)
	}
}

func TestNormalFormsOfTheExamplesAreByteExact(t *testing.T) {
	for ir, yaml := range map[string]string{
		"every-feature":       "testdata/every-feature.yaml",
		"inbound-answer-1":    "../catalog/bundled/inbound-answer-1.yaml",
		"incident-response-1": "../catalog/bundled/incident-response-1.yaml",
		"software-change-1":   "../catalog/bundled/software-change-1.yaml",
		"support-triage-1":    "../catalog/bundled/support-triage-1.yaml",
		"system-query-1":      "../catalog/bundled/system-query-1.yaml",
		"team-ops":            "testdata/team-ops.yaml",
	} {
		t.Run(ir, func(t *testing.T) {
			got := compiled(t, string(read(t, yaml))).NormalForm()
			want := read(t, filepath.Join("testdata/ir", ir+".ir.json"))
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("normal form (-want +got):\n%s", diff)
			}
		})
	}
}

// The specification has no normal form of this example, since case inputs are newer (2.12).
func TestNormalFormOfCaseInputs(t *testing.T) {
	golden(t, "case-inputs.ir.json", compiled(t, string(read(t, "testdata/case-inputs.yaml"))).NormalForm())
}

// Case 64: each document in invalid/ is refused with the code in its first line.
func TestInvalidExamplesAreRefusedWithTheirCode(t *testing.T) {
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	if len(files) != 17 {
		t.Errorf("found %d documents, want 17", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := read(t, file)
			first, _, _ := strings.Cut(string(data), "\n")
			want, _, _ := strings.Cut(strings.TrimPrefix(first, "# expected: "), " ")
			if want == "parse" {
				want = string(protocol.MalformedInput)
			}
			_, err := protocol.Compile(data)
			var problems protocol.Problems
			if !errors.As(err, &problems) || len(problems) != 1 || string(problems[0].Code) != want {
				t.Errorf("got %v, want one problem %s", err, want)
			}
		})
	}
}

func TestCopiesEqualTheExamplesOfTheSpecification(t *testing.T) {
	skipWithoutExamples(t)
	originals := map[string]string{ // a folder or file of testdata and where it comes from
		"case-inputs.yaml":   "case-inputs.yaml",
		"every-feature.yaml": "every-feature.yaml",
		"team-ops.yaml":      "bindings/team-ops.yaml",
		"invalid":            "invalid",
		"ir":                 "worked/ir",
	}
	for name, original := range originals {
		there, here := contents(t, filepath.Join(examples, original)), contents(t, filepath.Join("testdata", name))
		if diff := cmp.Diff(there, here); diff != "" {
			t.Errorf("testdata/%s (-%s +here):\n%s", name, original, diff)
		}
	}
}

// contents gives the files under path, or path itself where it is a file, by their way from path.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[strings.TrimPrefix(file, path)] = string(read(t, file))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Three bundled files of the specification write {description: this, that}: the comma of a flow map
// ends the text, and what follows is a key without a value, which 2.8 refuses. The catalog's copies
// say the same up to the comma and keep the rest as a comment.
func TestBundledOriginalsAreRefusedAtACommaInAFlowMap(t *testing.T) {
	skipWithoutExamples(t)
	for file, at := range map[string]string{
		"inbound-answer-1.yaml":  "8:42",
		"software-change-1.yaml": "17:74",
		"support-triage-1.yaml":  "8:38",
	} {
		t.Run(file, func(t *testing.T) {
			original := read(t, filepath.Join(examples, "bundled", file))
			if got := problems(t, string(original)); !strings.HasPrefix(got, at+malformed) || !strings.Contains(got, "a value is missing") {
				t.Errorf("got %s, want a missing value at %s", got, at)
			}
			mended := read(t, filepath.Join("../catalog/bundled", file))
			if bytes.Equal(original, mended) {
				t.Error("the catalog's copy is the original")
			}
			compiled(t, string(mended))
		})
	}
}
