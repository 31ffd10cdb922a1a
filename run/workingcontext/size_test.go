package workingcontext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run/workingcontext"
)

// scrap draws texts that are hard on limits: escapes, long runs, characters of every length.
var scrap = rapid.Map(rapid.SliceOfN(rapid.OneOf(
	rapid.SampledFrom([]string{"\n", "\"", "\\", "\x00", "\x1f\b\f\r\t", "é", "時", "🚀", "\u2028", "<&>", strings.Repeat("\x01", 900), strings.Repeat("🚀\n", 700), strings.Repeat("x", 3000)}),
	rapid.String(),
), 0, 6), func(parts []string) string { return strings.ToValidUTF8(strings.Join(parts, ""), "?") })

func TestTheFormOfARequest(t *testing.T) {
	got := string(workingcontext.Append(nil, model.Request{
		Instructions: "do\n\"it\"", Input: []string{"a", "b"},
		Tools: []model.Tool{{Name: "x", Description: "does x", Parameters: `{"type":"object"}`}, {Name: "y", Parameters: "{}"}},
	}))
	const want = `{"instructions":"do\n\"it\"","items":["a","b"],"tools":[{"name":"x","description":"does x","parameters":{"type":"object"}},{"name":"y","description":"","parameters":{}}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheSizeOfARequestIsThatOfItsForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := model.Request{Instructions: scrap.Draw(t, "instructions"), Input: rapid.SliceOfN(scrap, 0, 3).Draw(t, "items")}
		for range rapid.IntRange(0, 3).Draw(t, "tools") {
			r.Tools = append(r.Tools, model.Tool{Name: "t", Description: scrap.Draw(t, "description"), Parameters: `{"a":"b"}`})
		}
		if got, want := workingcontext.Size(r), len(workingcontext.Append(nil, r)); got != want {
			t.Fatalf("size %d of %d bytes", got, want)
		}
	})
}

// A start that fits takes no more than its limit in an item, and one character more would.
func TestTheStartOfATextThatFits(t *testing.T) {
	shown := func(text string) int {
		quote := func(s string) string { q := string(canonjson.AppendString(nil, s)); return q[1 : len(q)-1] }
		return len(quote(quote(text)))
	}
	rapid.Check(t, func(t *rapid.T) {
		text, limit := scrap.Draw(t, "text"), rapid.IntRange(0, 3000).Draw(t, "limit")
		start := workingcontext.Fitting(text, limit)
		if !strings.HasPrefix(text, start) || !utf8.ValidString(start) || shown(start) > limit {
			t.Fatalf("%q takes %d of %d", start, shown(start), limit)
		}
		if rest := text[len(start):]; rest != "" {
			_, size := utf8.DecodeRuneInString(rest)
			if shown(start+rest[:size]) <= limit {
				t.Fatalf("%q could have had %q too", start, rest[:size])
			}
		}
	})
}
