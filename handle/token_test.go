package handle_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/handle"
)

// The vectors of 6.1.
func TestSuffix(t *testing.T) {
	for _, tc := range []struct {
		salt, key string
		want      [3]string // by attempt
	}{
		{"run-1", "abc", [3]string{"9y7pr", "fyf7z", "dhmyf"}},
		{"run-1", "abd", [3]string{"2amxg", "8me4j", "gpp42"}},
		{"run-2", "abc", [3]string{"vmz5a", "wkyhg", "kdqbc"}},
		{"run-loom", "", [3]string{"2kcez", "96nyk", "y4sb6"}},
		{"s", "k", [3]string{"fjwcp", "y6c8p", "qw85m"}},
		{"run-é", "ключ", [3]string{"psnbv", "dc6hh", "mwp8r"}},
	} {
		for attempt, want := range tc.want {
			if got := handle.Suffix(tc.salt, tc.key, attempt); got != want {
				t.Errorf("Suffix(%q, %q, %d) = %s, want %s", tc.salt, tc.key, attempt, got, want)
			}
		}
	}
}

func TestFind(t *testing.T) {
	type found = handle.Found
	for _, tc := range []struct {
		name, text string
		want       []found
	}{
		{"nothing", "", nil},
		{"the whole text", "cfh:v:22222", []found{{"cfh:v:22222", 0}}},
		{"an address", "cfh:a:zzzzz", []found{{"cfh:a:zzzzz", 0}}},
		{"in prose", "see cfh:v:9y7pr, é cfh:a:2amxg.", []found{{"cfh:v:9y7pr", 4}, {"cfh:a:2amxg", 20}}},
		{"behind a letter", "xcfh:v:22222", []found{{"cfh:v:22222", 1}}},
		{"one more character of the alphabet is another token (E158)", "cfh:v:9y7pr2", []found{{"cfh:v:9y7pr2", 0}}},
		{"many more", "cfh:v:" + strings.Repeat("2", 100), []found{{"cfh:v:" + strings.Repeat("2", 100), 0}}},
		{"glued to what is not of the alphabet", "cfh:v:9y7pro cfh:v:9y7pr1 cfh:v:9y7prA", []found{{"cfh:v:9y7pr", 0}, {"cfh:v:9y7pr", 13}, {"cfh:v:9y7pr", 26}}},
		{"too short", "cfh:v:9y7p cfh:v: cfh:v:9y7pi", nil},
		{"another prefix", "cfh:x:22222 CFH:v:22222 cfh:V:22222 cfh:v22222", nil},
		{"capitals", "cfh:v:9Y7PR", nil},
		{"one prefix inside of another", "cfh:v:cfh:v:22222", []found{{"cfh:v:22222", 6}}},
		{"one behind another", "cfh:v:22222cfh:v:33333", []found{{"cfh:v:22222cfh", 0}}},
		{"the same twice", "cfh:v:22222 cfh:v:22222", []found{{"cfh:v:22222", 0}, {"cfh:v:22222", 12}}},
		{"a beginning alone", "cfh:cfh:cfh:", nil},
	} {
		if diff := cmp.Diff(tc.want, handle.Find(tc.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestIsToken(t *testing.T) {
	for text, want := range map[string]bool{
		"cfh:v:22222": true, "cfh:a:22222": true, "cfh:v:222222": true,
		"": false, "cfh:v:": false, "cfh:v:2222": false, " cfh:v:22222": false, "cfh:v:22222 ": false, "cfh:v:2222i": false, "cfh:v:22222\n": false,
	} {
		if got := handle.IsToken(text); got != want {
			t.Errorf("IsToken(%q) = %t", text, got)
		}
	}
}

// The form of 6.1 as an expression: an independent reading of it.
var form = regexp.MustCompile(`cfh:[av]:[2-9a-hj-km-np-tv-z]{5,}`)

func checkFind(t interface{ Errorf(string, ...any) }, text string) {
	var want []handle.Found
	for _, at := range form.FindAllStringIndex(text, -1) {
		want = append(want, handle.Found{Token: text[at[0]:at[1]], At: at[0]})
	}
	got := handle.Find(text)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q (-want +got):\n%s", text, diff)
	}
	for _, f := range got {
		if !handle.IsToken(f.Token) {
			t.Errorf("%q is no token", f.Token)
		}
	}
	if handle.IsToken(text) != (len(want) == 1 && want[0].Token == text) {
		t.Errorf("IsToken(%q) is wrong", text)
	}
}

func TestFindFindsTheForm(t *testing.T) {
	piece := rapid.SampledFrom([]string{"cfh:", "v:", "a:", "c", "f", "h", ":", "2", "z", "22222", "9y7pr", "i", "O", "é", " ", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		checkFind(t, strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces"), ""))
	})
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{"", "cfh:v:9y7pr", "x cfh:a:222222 cfh:v:cfh:v:33333", "cfh:cfh:v:\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkFind(t, text) })
}
