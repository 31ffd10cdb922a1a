package codeunits_test

import (
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/codeunits"
)

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"aé京", 2, "aé"},
		{"a🎉b", 1, "a"},
		{"a🎉b", 2, "a"}, // never half of a character
		{"a🎉b", 3, "a🎉"},
		{"a\xffb", 2, "a\xff"},
	} {
		if got := codeunits.Cut(tc.text, tc.most); got != tc.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.text, tc.most, got, tc.want)
		}
	}
}

func TestCountIsThatOfUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if got, want := codeunits.Count(text), len(utf16.Encode([]rune(text))); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
		most := rapid.IntRange(0, 20).Draw(t, "most")
		if cut := codeunits.Cut(text, most); codeunits.Count(cut) > most || cut != text && codeunits.Count(cut) < most-1 {
			t.Errorf("Cut(%q, %d) = %q", text, most, cut)
		}
	})
}
