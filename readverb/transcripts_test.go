package readverb_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/store"
)

var update = flag.Bool("update", false, "write testdata anew")

// Each file of testdata is a list of calls, each behind a dollar sign, with what each answers. {work} before a call is its scope. Both
// stores answer alike, to the byte.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d transcripts: %v", len(files), err)
	}
	parts := theParts()
	memory := inMemory(parts)
	file := inFile(t, parts)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			inMemory := transcript(string(data), func(s store.Scope, argv []string) string { return ask(memory.View(s), argv...) })
			inFile := transcript(string(data), func(s store.Scope, argv []string) string {
				v, err := file.View(context.Background(), s)
				if err != nil {
					t.Fatal(err)
				}
				defer v.Close()
				return ask(v, argv...)
			})
			if d := cmp.Diff(strings.Split(inMemory, "\n"), strings.Split(inFile, "\n")); d != "" {
				t.Errorf("the file (+) answers otherwise than memory (-):\n%s", d)
			}
			if *update {
				if err := os.WriteFile(path, []byte(inMemory), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(strings.Split(string(data), "\n"), strings.Split(inMemory, "\n")); d != "" {
				t.Errorf("otherwise than written (-):\n%s", d)
			}
		})
	}
}

// transcript gives the calls and comments of a transcript with what is answered now.
func transcript(text string, answer func(store.Scope, []string) string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		call, ok := strings.CutPrefix(line, "$ ")
		switch {
		case ok:
			out.WriteString(line + "\n")
			var scope store.Scope
			if facets, rest, ok := strings.Cut(call, "} "); ok && strings.HasPrefix(facets, "{") {
				scope.Facets, call = strings.FieldsFunc(facets[1:], func(r rune) bool { return r == ',' }), rest
			}
			out.WriteString(answer(scope, quoted(call)))
		case strings.HasPrefix(line, "#"):
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// quoted splits at spaces that stand outside of single quotation marks.
func quoted(line string) []string {
	argv := []string{}
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			argv = append(argv, part)
		} else {
			argv = append(argv, strings.Fields(part)...)
		}
	}
	return argv
}

// everything is the owner's own scope.
var everything = store.Scope{}
