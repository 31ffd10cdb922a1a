package query

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/codeunits"
)

// marked gives an excerpt with its hits in brackets.
func marked(e Excerpt) string {
	var b strings.Builder
	at := 0
	for _, hit := range e.Hits {
		b.WriteString(e.Text[at:hit.Start] + "[" + e.Text[hit.Start:hit.End] + "]")
		at = hit.End
	}
	return b.String() + e.Text[at:]
}

func TestExcerpt(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 40)                 // 480
	han := strings.Repeat("字", 300)                              // no spaces
	cut := strings.TrimSpace(strings.Repeat("lorem ipsum ", 20)) // 239
	for _, tc := range []struct{ name, query, body, want string }{
		{"nothing", "a", "", ""},
		{"a short text is shown whole", "b", "a  b\r\n\tc ", "a [b] c"},
		{"every hit is marked", "creme subject:x", "Crème, CRE\u0300ME x", "[Crème], [CRE\u0300ME] x"},
		{"a phrase is marked as one", `"b c"`, "a b, c d", "a [b, c] d"},
		{"overlapping hits are one", `"a b" "b c"`, "x a b c", "x [a b c]"},
		{"a prefix marks the word", "rep*", "a report", "a [report]"},
		{"a term of another field is no hit", "from:b", "a b", "a b"},
		{"what is not wanted is no hit", "a -c", "a b", "[a] b"},
		{"Chinese", "搜索", "全文搜索引擎", "全文[搜索]引擎"},
		{"an emoji with its skin tone", "👍", "ok👍🏽.", "ok[👍🏽]."},
		{"bytes that are not UTF-8", "b", "a\xff b", "a\ufffd [b]"},
		{"control characters", "b", "a\x00\x1b\u0085b", "a [b]"},

		{"the start where nothing is found", "zzz", filler, cut + "…"},
		{"the start of an empty query", "", filler, cut + "…"},
		{"a hit at the start", "hit", "hit " + filler, "[hit] " + strings.TrimSpace(strings.Repeat("lorem ipsum ", 19)) + " lorem…"},
		{"a hit at the end", "hit", filler + "hit", "…" + strings.TrimSpace(strings.Repeat("ipsum lorem ", 19)) + " ipsum [hit]"},
		{"a hit in the middle", "hit", filler + "hit " + filler, "…" + strings.Repeat("lorem ipsum ", 5) + "[hit] " + strings.Repeat("lorem ipsum ", 14) + "lorem…"},
		{"two terms together win over one before", "one two", "one " + filler + "one two " + filler, "…" + strings.Repeat("lorem ipsum ", 5) + "[one] [two] "},
		{"more hits win over one before", "one", "one " + filler + "one one " + filler, "…" + strings.Repeat("lorem ipsum ", 5) + "[one] [one] "},
		{"terms far apart are shown by the first", "one two", "one " + filler + "two", "[one] lorem"},
		{"signs between terms count as distance", "one two", "one" + strings.Repeat("-", 200) + "two " + filler + "one two", "…" + strings.TrimPrefix(filler, strings.Repeat("lorem ipsum ", 21)) + "[one] [two]"},
		{"a text without spaces", "中", han + "中" + han, "…" + strings.Repeat("字", 60) + "[中]" + strings.Repeat("字", 177) + "…"},
		{"no ellipsis for one character", "中", han + "中" + strings.Repeat("字", 178), "…" + strings.Repeat("字", 60) + "[中]" + strings.Repeat("字", 178)},
		{"an ellipsis for two", "中", han + "中" + strings.Repeat("字", 179), "…" + strings.Repeat("字", 60) + "[中]" + strings.Repeat("字", 177) + "…"},
		{"a cap without its key", "\u20e3", strings.Repeat("#", 300) + "\ufe0f\u20e3" + strings.Repeat("#", 300), "…#\ufe0f[\u20e3]" + strings.Repeat("#", 235) + "…"},
		{"one long word", "hit", strings.Repeat("x", 300) + " hit", "…[hit]"},
		{"one long word alone", "hit", strings.Repeat("x", 300), strings.Repeat("x", 239) + "…"},
		{"a word is not cut between a letter and its marks", "hit", strings.Repeat("x", 238) + "e\u0301\u0302" + strings.Repeat("y", 99), strings.Repeat("x", 238) + "…"},
		{"emoji are two units", "hit", strings.Repeat("😀", 200), strings.Repeat("😀", 119) + "…"},
		{"a family is not cut", "hit", strings.Repeat("x", 233) + " 👨\u200d👩\u200d👧 " + filler, strings.Repeat("x", 233) + "…"},
		{"a family is not cut without a space either", "hit", strings.Repeat("字", 236) + "👨\u200d👩\u200d👧" + han, strings.Repeat("字", 236) + "…"},
		{"a skin tone is not cut off", "hit", strings.Repeat("字", 237) + "👍🏽" + han, strings.Repeat("字", 237) + "…"},
		{"a space before other signs", "hit", strings.Repeat("aa-bb-cc ", 40), strings.TrimSpace(strings.Repeat("aa-bb-cc ", 26)) + "…"},
		{"a Thai vowel alone", "\u0e35", strings.Repeat("กา", 100) + "ที" + strings.Repeat("กา", 100), "…า" + strings.Repeat("กา", 29) + "ท[\u0e35]" + strings.Repeat("กา", 88) + "ก…"},
		{"the last character takes the place of the ellipsis", "x", strings.Repeat("ab ", 99) + "x" + strings.Repeat("a", 10), strings.Repeat("ab ", 79) + "ab…"},
		{"a phrase longer than an excerpt", `"one two"`, "one " + strings.Repeat("-", 300) + " two", "[one " + strings.Repeat("-", 235) + "]…"},

		{"a regular expression", `/h.t\d/`, filler + "hit7 " + filler, "…" + strings.Repeat("lorem ipsum ", 5) + "[hit7] "},
		{"a regular expression over lines", `/(?m)^b\nc$/`, "a b\nb\nc", "a b [b c]"},
		{"a regular expression that matches nothing", `/x*/ -/a/`, "b c", "b c"},
		{"only what is wanted of them", `-/a/ /zzz/ /c/`, "b c", "b [c]"},
		{"words win over regular expressions", `/b/ c`, "b c", "b [c]"},
	} {
		q, err := Parse(tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		e := q.Excerpt(tc.body)
		got := marked(e)
		if strings.HasSuffix(tc.want, " ") || tc.want == "[one] lorem" {
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s: got %q, want it to begin with %q", tc.name, got, tc.want)
			}
		} else if got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
		checkExcerpt(t, q, tc.body)
	}
}

func TestAnExcerptLooksAtTheStartOfALongText(t *testing.T) {
	q, _ := Parse("hit")
	for name, tc := range map[string]struct{ body, want string }{
		"just within":    {strings.Repeat("a ", MaxSearched/2-2) + "hit behind", "[hit]…"},
		"behind":         {strings.Repeat("a ", MaxSearched/2) + "hit", "a…"},
		"cut in a rune":  {strings.Repeat("a ", MaxSearched/2-3) + "x hitä", "a x [hit]…"},
		"not UTF-8":      {strings.Repeat("\x80", MaxSearched+9), "\ufffd…"},
		"only one space": {"hit" + strings.Repeat(" ", MaxSearched+9), "[hit]…"},
	} {
		if got := marked(q.Excerpt(tc.body)); !strings.HasSuffix(got, tc.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// checkExcerpt holds what every excerpt must.
func checkExcerpt(t interface{ Fatalf(string, ...any) }, q Query, body string) {
	e := q.Excerpt(body)
	if !utf8.ValidString(e.Text) || codeunits.Count(e.Text) > MaxExcerpt || strings.ContainsFunc(e.Text, unicode.IsControl) ||
		strings.Contains(e.Text, "  ") {
		t.Fatalf("%.300q: %d units %q", body, codeunits.Count(e.Text), e.Text)
	}
	at := 0
	for _, hit := range e.Hits {
		if hit.Start < at || hit.Start >= hit.End || hit.End > len(e.Text) || !utf8.ValidString(e.Text[hit.Start:hit.End]) {
			t.Fatalf("%.300q: hits %v in %q", body, e.Hits, e.Text)
		}
		at = hit.End
	}
	text := strings.TrimSuffix(e.Text, ellipsis)
	if line := squeeze(body); !strings.Contains(line, text) && !strings.Contains(line, strings.TrimPrefix(text, ellipsis)) {
		t.Fatalf("%.300q: %q does not stand there", body, e.Text)
	}
	if q.Snippet(body) != e.Text {
		t.Fatalf("%.300q: the snippet differs", body)
	}
}

func TestExcerpts(t *testing.T) {
	pieces := append([]string{"  ", "\n", ", ", "\u0301", "\u200d", "\ufe0f", "\xff", "…", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "😀"}, vocabulary...)
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 150).Draw(t, "body"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		q, err := Parse(queries(2).Draw(t, "query"))
		if err != nil {
			return
		}
		checkExcerpt(t, q, body)
		if e := q.Excerpt(body); len(q.hits(squeeze(body)).ranges) > 0 && len(e.Hits) == 0 {
			t.Fatalf("no hit in %q", e.Text)
		}
	})
}

func BenchmarkExcerpt(b *testing.B) {
	q, _ := Parse(`report budget "next week"`)
	for name, body := range map[string]string{
		"2KB":   strings.Repeat("Hello Bob, the quarterly report is attached; please comment next week. ", 28),
		"256KB": strings.Repeat("Hello Bob, the quarterly report is attached; please comment next week. ", 3700),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				q.Excerpt(body)
			}
		})
	}
}
