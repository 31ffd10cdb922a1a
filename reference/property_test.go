package reference_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/reference"
)

// scraps are what the rules of governed-runs 3.1 turn on. Drawn texts are made of them, because
// letters at random hardly ever make a reference.
var scraps = []string{
	"ABC-12", "AB-1", "UTF-8", "CVE-2024-1", "A", "x", "12", "-", "_", "__", "*", "**", ".", ",", ":", ";",
	"'", `"`, "`", "/", "|", "@", "@host.test", " ", "\n", "(", ")", "[", "]", "{", "}", "<", ">", "?", "#",
	"修", "です", "。", "ー", "é", "е", "를", "\u0301", "\ufe0f", "\u200b", "²", "🚀", "\xff", "\xe3\x81",
	"https://", "HTTP://", "https://Example.org", "https://example.org/x", "www.", "user:pass@",
	"https://acme.atlassian.net/browse/ABC-12", "https://acme.slack.com/archives/C01AB/p1700000000000100",
	"https://gitlab.example/Team/app/-/issues/9", "https://gitlab.example/t/app/-/merge_requests/4/diffs",
	"https://github.com/Owner/repo/pull/7/files", "https://github.com/Owner/repo/issues/8#x",
}

func drawText(t *rapid.T, label string) string {
	scrap := rapid.OneOf(rapid.SampledFrom(scraps), rapid.SampledFrom(scraps), rapid.StringN(0, 4, -1))
	return strings.Join(rapid.SliceOfN(scrap, 0, 30).Draw(t, label), "")
}

// unique returns refs without the second and later ones of the same reference.
func unique(refs []reference.Reference) []reference.Reference {
	var once []reference.Reference
	for _, r := range refs {
		if !slices.Contains(once, r) {
			once = append(once, r)
		}
	}
	return once
}

// origin returns what must stand in the text, but for the case of ASCII and other letters, for r to
// be found there.
func origin(r reference.Reference) string {
	swap := func(sign, path string) string { return strings.Replace(r.Value, sign, path, 1) }
	switch r.Kind {
	case reference.JiraIssue:
		return r.Value
	case reference.SlackMessage:
		channel, stamp, _ := strings.Cut(r.Value, "/")
		return "/archives/" + channel + "/p" + strings.Replace(stamp, ".", "", 1)
	case reference.GitlabIssue:
		return swap("#", "/-/issues/")
	case reference.GitlabMergeRequest:
		return swap("!", "/-/merge_requests/")
	case reference.GithubIssue:
		return swap("#", "/issues/")
	case reference.GithubPullRequest:
		return swap("#", "/pull/")
	case reference.Url:
		// A user and a password may have stood between the two.
		_, rest, _ := strings.Cut(r.Value, "://")
		return rest
	}
	return "no such kind: " + string(r.Kind)
}

// checkFound states what holds for every text.
func checkFound(t interface{ Errorf(string, ...any) }, text string, found []reference.Reference) {
	if again := reference.Extract(text); !slices.Equal(found, again) {
		t.Errorf("%q: %v, then %v", text, found, again)
	}
	if once := unique(found); !slices.Equal(found, once) {
		t.Errorf("%q: the same reference twice: %v", text, found)
	}
	for _, r := range found {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(origin(r))) {
			t.Errorf("%q: %v does not stand in it", text, r)
		}
		if !utf8.ValidString(r.Value) || strings.ContainsAny(r.Value, " \t\n<>\"`\\") {
			t.Errorf("%q: %v has what no reference has", text, r)
		}
	}
}

func TestWhatIsFoundStandsInTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		checkFound(t, text, reference.Extract(text))
	})
}

func TestLinesAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawText(t, "a"), drawText(t, "b")
		want := unique(append(reference.Extract(a), reference.Extract(b)...))
		if diff := cmp.Diff(want, reference.Extract(a+"\n"+b)); diff != "" {
			t.Errorf("%q, %q: -want +got\n%s", a, b, diff)
		}
	})
}

func TestRepeatedTextFindsNothingNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		if diff := cmp.Diff(reference.Extract(text), reference.Extract(text+"\n"+text)); diff != "" {
			t.Errorf("%q: -once +twice\n%s", text, diff)
		}
	})
}

// TestReferencesInProse writes references as people do and expects all of them, in order.
func TestReferencesInProse(t *testing.T) {
	type mention struct {
		text string
		ref  reference.Reference
	}
	name := rapid.StringMatching(`[a-z][a-z0-9]{0,8}`)
	number := rapid.StringMatching(`[1-9][0-9]{0,5}`)
	mentions := rapid.Custom(func(t *rapid.T) mention {
		a, b, n := name.Draw(t, "a"), name.Draw(t, "b"), number.Draw(t, "n")
		key := rapid.StringMatching(`Q[A-Z][A-Z0-9]{0,6}-`).Draw(t, "project") + n
		scheme := rapid.SampledFrom([]string{"https://", "http://", "HTTPS://", "Http://"}).Draw(t, "scheme")
		stamp := rapid.StringMatching(`[0-9]{16}`).Draw(t, "stamp")
		return rapid.SampledFrom([]mention{
			{key, reference.Reference{Kind: reference.JiraIssue, Value: key}},
			{
				scheme + a + ".atlassian.net/browse/" + key,
				reference.Reference{Kind: reference.JiraIssue, Value: key},
			},
			{
				scheme + a + ".slack.com/archives/" + b + "/p" + stamp,
				reference.Reference{Kind: reference.SlackMessage, Value: b + "/" + stamp[:10] + "." + stamp[10:]},
			},
			{
				scheme + "git.test/" + a + "/" + b + "/-/issues/" + n,
				reference.Reference{Kind: reference.GitlabIssue, Value: a + "/" + b + "#" + n},
			},
			{
				scheme + "git.test/" + a + "/" + b + "/-/merge_requests/" + n,
				reference.Reference{Kind: reference.GitlabMergeRequest, Value: a + "/" + b + "!" + n},
			},
			{
				scheme + "GitHub.com/" + strings.ToUpper(a) + "/" + b + "/issues/" + n,
				reference.Reference{Kind: reference.GithubIssue, Value: a + "/" + b + "#" + n},
			},
			{
				scheme + "GitHub.com/" + strings.ToUpper(a) + "/" + b + "/pull/" + n,
				reference.Reference{Kind: reference.GithubPullRequest, Value: a + "/" + b + "#" + n},
			},
			{
				scheme + a + ".test/" + b + "?n=" + n,
				reference.Reference{Kind: reference.Url, Value: strings.ToLower(scheme) + a + ".test/" + b + "?n=" + n},
			},
		}).Draw(t, "mention")
	})
	around := rapid.SampledFrom([][2]string{
		{"", ""},
		{"", "."},
		{"", ", and"},
		{"(", ")"},
		{"[", "]"},
		{"<", ">"},
		{"**", "**"},
		{"_", "_"},
		{"`", "`"},
		{`"`, `"`},
		{"'", "'"},
		{"“", "”"},
		{"（", "）"},
		{"「", "」"},
		{"修", "です"},
		{"see: ", "!"},
		{"<", "|a label>"},
		{"\u200b", "\u200b"},
		{"🚀", "🚀"},
		{"**_", "_**:"},
	})
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var want []reference.Reference
		for _, m := range rapid.SliceOfN(mentions, 0, 8).Draw(t, "mentions") {
			signs := around.Draw(t, "around")
			text.WriteString(signs[0] + m.text + signs[1] + " ")
			want = append(want, m.ref)
		}
		if diff := cmp.Diff(unique(want), reference.Extract(text.String())); diff != "" {
			t.Errorf("%q: -want +got\n%s", text.String(), diff)
		}
	})
}

func FuzzExtract(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(c.text)
	}
	for _, s := range scraps {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := reference.Extract(text)
		checkFound(t, text, found)
		if twice := reference.Extract(text + "\n" + text); !slices.Equal(found, twice) {
			t.Errorf("%q: %v, twice %v", text, found, twice)
		}
	})
}
