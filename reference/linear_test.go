package reference_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/loomrun/loom/reference"
)

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// patterns are texts in which every place looks like the start or the middle of something, so that
// a rule that looked again at what it had seen would do so everywhere. Each is lead, then unit over
// and over.
var patterns = []struct {
	name, lead, unit string
	found            int // in any length
}{
	{"dashed", "", "A-", 0},
	{"dashed long", "", "AB-", 0},
	{"dashed keys", "", "AB-1-", 0},
	{"dashed after a key", "AB-1", "-", 1},
	{"keys glued", "", "AB-1", 0},
	{"keys with underscores", "", "AB-1_", 0},
	{"keys with slashes", "", "AB-1/", 1},
	{"keys with dots", "", "AB-1.", 1},
	{"key, then digits", "AB-", "1", 1},
	{"versions", "", "A1-1.", 0},
	{"decimals", "", "AB-1.1", 0},
	{"standards", "", "UTF-8 ", 0},
	{"capitals", "", "A", 0},
	{"letters", "", "x", 0},
	{"digits", "", "1", 0},
	{"dots", "", ".", 0},
	{"spaces", "", " ", 0},
	{"underscores", "", "_", 0},
	{"underscores around keys", "", "____AB-1____ ", 1},
	{"underscores after a key", "AB-1", "_", 1},
	{"underscores and dashes", "AB-1", "_-", 1},
	{"marks", "AB-1 ", "\u0301", 1},
	{"marks and keys", "", "\u0301\u0301\u0301\u0301AB-1 ", 0},
	{"variation selectors", "AB-1 ", "\ufe0f", 1},
	{"Han", "", "修", 0},
	{"Han and keys", "", "修AB-1", 1},
	{"accented letters", "AB-1", "é", 0},
	{"at signs", "", "@", 0},
	{"at signs after a key", "AB-1", "@", 1},
	{"mentions", "", "@AB-1", 0},
	{"addresses", "", "AB-1@host.test ", 0},
	{"keys, then an address", "AB-1 ", "x.", 1},
	{"local part without end", "", "AB-1+", 1},
	{"quoted local parts", "", `"AB-1"@x`, 0},
	{"quotes and at signs", "", `"@`, 0},
	{"not UTF-8", "", "\xff", 0},
	{"not UTF-8 and at signs", "", "\xff@\xff", 0},

	{"schemes", "", "https://", 1},
	{"schemes without host", "", "https:///", 0},
	{"schemes without host, dots", "", "https://./", 0},
	{"schemes without host, spaces", "", "https:// ", 0},
	{"schemes without host, users", "", "https://x@/", 0},
	{"schemes without host, bars", "", "https://|", 0},
	{"schemes without host, commas", "", "https://,", 0},
	{"schemes without host, brackets", "", "https://)", 0},
	{"schemes, one sign after another", "", "h", 0},
	{"other schemes", "", "+https://x", 0},
	{"links", "", "https://a.test/x ", 1},
	{"links in a list", "", "https://a.test/x,", 1},
	{"links with labels", "", "<https://a.test/x|y> ", 1},
	{"links with labels without end", "", "https://a.test/x|y ", 1},
	{"links with bars", "", "https://a.test/x| ", 1},
	{"link, then a label without end", "https://a.test/x|", "y", 1},
	{"link, then bars", "https://a.test/x", "|", 1},
	{"link, then open brackets", "https://a.test/x", "(", 1},
	{"link, then closed brackets", "https://a.test/x", ")", 1},
	{"link, then pairs of brackets", "https://a.test/x", "()", 1},
	{"link, then stars", "https://a.test/x", "*", 1},
	{"link, then stops", "https://a.test/x", ".", 1},
	{"link, then slashes", "https://a.test", "/", 1},
	{"link, then emoji", "https://a.test/x", "👍", 1},
	{"link, then Han", "https://a.test/x", "修", 1},
	{"link, then at signs", "https://a.test", "@a", 1},
	{"open brackets", "", "(", 0},
	{"closed brackets", "", ")", 0},
	{"open angles", "", "<", 0},
	{"project paths", "https://a.test", "/-", 1},
	{"project groups", "https://a.test", "/a", 1},
	{"GitHub owner", "https://github.com/", "o", 1},
	{"browse", "https://a.atlassian.net/browse/AB-", "1", 1},
}

func repeated(lead, unit string, size int) string {
	return lead + strings.Repeat(unit, (size-len(lead))/len(unit))
}

// patternBytes is the length that the tests give every pattern. Where each statement is counted
// atomically, as make check does together with the race detector, counting takes a hundred times
// as long as the work; there it is less, and the whole length is for make test.
func patternBytes() int {
	if testing.CoverMode() == "atomic" {
		return 64 * kibibyte
	}
	return mebibyte
}

// TestCase102OneMebibyteOfTheNamedPatterns has the two patterns that case 102 names, always whole.
func TestCase102OneMebibyteOfTheNamedPatterns(t *testing.T) {
	for unit, want := range map[string]int{"A-": 0, "https://": 1} {
		if got := len(reference.Extract(repeated("", unit, mebibyte))); got != want {
			t.Errorf("%q: %d references, want %d", unit, got, want)
		}
	}
}

// TestCase102OneMebibyteOfAnyPattern would run for many minutes if one of the patterns took time
// that grows with the square of its length: the time limit of the test run is its assertion. The
// growth itself is what BenchmarkPatterns shows.
func TestCase102OneMebibyteOfAnyPattern(t *testing.T) {
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) {
			if got := len(reference.Extract(repeated(p.lead, p.unit, patternBytes()))); got != p.found {
				t.Errorf("%d references, want %d", got, p.found)
			}
		})
	}
}

// TestCase102ManyReferences has a different reference at every place.
func TestCase102ManyReferences(t *testing.T) {
	var text strings.Builder
	want := 0
	for n := 0; text.Len() < patternBytes(); n++ {
		text.WriteString("AB-" + strconv.Itoa(n) + "/")
		want++
	}
	if got := len(reference.Extract(text.String())); got != want {
		t.Errorf("%d references, want %d", got, want)
	}
}

// BenchmarkPatterns gives bytes per second for two lengths of each pattern. They are about the same
// where the work is linear.
func BenchmarkPatterns(b *testing.B) {
	for _, p := range patterns {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"64KiB", 64 * kibibyte}, {"1MiB", mebibyte}} {
			b.Run(p.name+"/"+size.name, func(b *testing.B) {
				text := repeated(p.lead, p.unit, size.bytes)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					reference.Extract(text)
				}
			})
		}
	}
}
