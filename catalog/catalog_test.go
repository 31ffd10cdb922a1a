package catalog

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write bundled/words.txt anew")

// Matching reads the words of bundled definitions from a file; they must be the definitions' own.
func TestBundledWordsAreThoseOfTheDefinitions(t *testing.T) {
	var want strings.Builder
	for _, e := range Bundled().Entries() {
		want.WriteString(e.Name + ": " + vocabularyOf(e.Protocol()).String() + "\n")
	}
	if *update {
		if err := os.WriteFile("bundled/words.txt", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if bundledWords != want.String() {
		t.Errorf("bundled/words.txt is not up to date; run go test ./catalog -update\ngot:\n%swant:\n%s", bundledWords, want.String())
	}
}

// They are looked up by halves.
func TestFillersAreInOrder(t *testing.T) {
	if !slices.IsSorted(fillers) {
		t.Error("fillers are not in code-point order")
	}
}
