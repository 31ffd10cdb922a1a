package uuid8_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/uuid8"
)

func TestFormOfVersion8(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.String()).Draw(t, "parts")
		id := uuid8.Of(parts...)
		if !form.MatchString(id) {
			t.Fatalf("%s is no UUID of version 8", id)
		}
		if again := uuid8.Of(parts...); again != id {
			t.Fatalf("%s the second time, %s the first", again, id)
		}
	})
}

// The identifier is the same on every machine and in every version: records name each other by it.
func TestIdentifiersDoNotChange(t *testing.T) {
	if got, want := uuid8.Of("case-1", "1", "{}\n"), "470d0cec-01c2-848d-ae51-0f95fe0d6bfb"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPartsAreKeptApart(t *testing.T) {
	seen := map[string]int{}
	for i, parts := range [][]string{{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"c", "ab"}} {
		id := uuid8.Of(parts...)
		if other, taken := seen[id]; taken {
			t.Errorf("rows %d and %d have the same identifier", other, i)
		}
		seen[id] = i
	}
}
