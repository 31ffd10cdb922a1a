package reference_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/reference"
)

const caseFile = "testdata/reference-cases.tsv"

// written gives references the form they have in the case file.
func written(refs []reference.Reference) string {
	parts := make([]string, len(refs))
	for i, r := range refs {
		parts[i] = string(r.Kind) + " " + r.Value
	}
	return strings.Join(parts, "; ")
}

type fileCase struct {
	text, want, note string
}

func readCases(tb testing.TB) []fileCase {
	tb.Helper()
	data, err := os.ReadFile(caseFile)
	if err != nil {
		tb.Fatal(err)
	}
	var cases []fileCase
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			tb.Fatalf("%s: not three columns: %q", caseFile, line)
		}
		cases = append(cases, fileCase{columns[0], columns[1], columns[2]})
	}
	return cases
}

func TestCase101RowsOfTheCaseFile(t *testing.T) {
	for _, c := range readCases(t) {
		if diff := cmp.Diff(c.want, written(reference.Extract(c.text))); diff != "" {
			t.Errorf("%q (%s): -want +got\n%s", c.text, c.note, diff)
		}
	}
}

func TestCase101CopyIsTheSpecificationsFile(t *testing.T) {
	original := filepath.Join("..", "..", "shared", "spec", "examples", "reference-cases.tsv")
	want, err := os.ReadFile(original)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the specification is not beside this checkout: no %s", original)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(caseFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs from %s", caseFile, original)
	}
}

func TestCase103SameKeyBareAndInsideALink(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"ABC-12 is https://acme.atlassian.net/browse/ABC-12 and ABC-1",
			"JiraIssue ABC-12; JiraIssue ABC-1",
		},
		{
			"https://acme.atlassian.net/browse/ABC-12 before ABC-1, is ABC-12",
			"JiraIssue ABC-12; JiraIssue ABC-1",
		},
		{
			"<https://acme.atlassian.net/browse/ABC-12|ABC-12>",
			"JiraIssue ABC-12",
		},
	} {
		if diff := cmp.Diff(c.want, written(reference.Extract(c.text))); diff != "" {
			t.Errorf("%q: -want +got\n%s", c.text, diff)
		}
	}
}

// TestClauses has at least one row for every clause of governed-runs 3.1 that the case file does
// not show.
func TestClauses(t *testing.T) {
	const (
		abc = "JiraIssue ABC-12"
		x   = "Url https://example.org/x"
	)
	for _, section := range []struct {
		clause string
		rows   [][2]string // text, expected references
	}{
		{"order of first appearance over all kinds", [][2]string{
			{
				"https://example.org/x ABC-12 https://github.com/o/r/pull/1 ABC-12 https://example.org/x",
				x + "; " + abc + "; GithubPullRequest o/r#1",
			},
		}},
		{"same value of two kinds is two references", [][2]string{
			{
				"https://github.com/o/r/pull/1 https://github.com/o/r/issues/1",
				"GithubPullRequest o/r#1; GithubIssue o/r#1",
			},
		}},

		{"project: two letters before the first digit", [][2]string{
			{"AB-1", "JiraIssue AB-1"},
			{"ABC2D3-4", "JiraIssue ABC2D3-4"},
			{"A-1 1AB-2 2-3 AB AB- AB-x -1 ABC12", ""},
			{"Abc-12 ABc-12 aBC-12", ""},
			{"ÀB-1 ÄÖ-1 ＡＢ-1", ""},
		}},
		{"number: ASCII digits, as many as there are", [][2]string{
			{"ABC-0 ABC-007", "JiraIssue ABC-0; JiraIssue ABC-007"},
			{"ABC-123456789012345678901234567890", "JiraIssue ABC-123456789012345678901234567890"},
			{"ABC-١٢ ABC-１２", ""},
			{"ABC–12 ABC−12 ABC - 12", ""},
		}},
		{"border: letters and digits of ASCII", [][2]string{
			{"xABC-12 9ABC-12 XABC-12", "JiraIssue XABC-12"},
			{"ABC-12x ABC-12X ABC-12z ABC-12Z zABC-12 9ABC-12", ""},
			{"ZA-1 AZ-1", "JiraIssue ZA-1; JiraIssue AZ-1"},
		}},
		{"border: letters of scripts written with spaces", [][2]string{
			{"ABC-12é ßABC-12 ABC-12ж αABC-12 אABC-12 ABC-12ع हABC-12", ""},
			{"ABC-12를 가ABC-12", ""},
			{"ＡABC-12 ABC-12ｚ ªABC-12 ABC-12ʰ", ""},
		}},
		{"border: digits of scripts written with spaces", [][2]string{
			{"ABC-12٣ ३ABC-12 ABC-12３ ABC-12Ⅷ ABC-12፲", ""},
		}},
		{"border: a number that is an ornament is none", [][2]string{
			{"①ABC-12②", abc},
		}},
		{"border: combining marks", [][2]string{
			{"ABC-12\u0301", ""},
			{"e\u0301ABC-12 e\u0301\u0323ABC-12 \u0301ABC-12", ""},
			{"\u0301ABC-12", ""},
			{"ABC-12\u0e34", ""},
		}},
		{"border: a mark of a script written without spaces goes with its letter", [][2]string{
			{"ที่ABC-12", abc},
			{"か\u3099ABC-12", abc},
			{"葛\U000e0100ABC-12", abc},
		}},
		{"border: superscript and subscript digits", [][2]string{
			{"ABC-12² ABC-12³ ABC-12¹ ABC-12⁰ ABC-12⁴ ABC-12⁹ ABC-12₀ ²ABC-12", ""},
		}},
		{"border: an underscore that joins a word", [][2]string{
			{"foo_PR-1", ""},
			{"foo__PR-1 foo_PR-1_ _PR-1_bar PR-1_bar foo_PR-1_bar é_PR-1 PR-1_PR-2", ""},
		}},
		{"border: underscores as emphasis", [][2]string{
			{"__ABC-12__", abc},
			{"(_ABC-12_)", abc},
			{"_ABC-12, then DEF-3_", abc + "; JiraIssue DEF-3"},
			{"**_ABC-12_**", abc},
			{"修_ABC-12_正", abc},
		}},
		{"border: scripts written without spaces", [][2]string{
			{"漢ABC-12漢", abc},
			{"ひABC-12ひ", abc},
			{"カABC-12カ", abc},
			{"サーバーABC-12ー", abc},
			{"ﾊﾞABC-12ﾊ", abc},
			{"ㄅABC-12ㄅ", abc},
			{"กABC-12ก", abc},
			{"ກABC-12ກ", abc},
			{"កABC-12ក", abc},
			{"ကABC-12က", abc},
			{"ཀABC-12ཀ", abc},
			{"々ABC-12〇", abc},
			{"๓ABC-12๓", abc},
			{"ꀀABC-12ꀀ", abc},                   // Yi
			{"\U00017000ABC-12\U00017000", abc}, // Tangut
			{"\U0001b170ABC-12\U0001b170", abc}, // Nushu
			{"\U00018b00ABC-12\U00018b00", abc}, // Khitan
			{"\u1950ABC-12\u1950", abc},         // Tai Le
			{"\u1980ABC-12\u1980", abc},         // New Tai Lue
			{"\u1a20ABC-12\u1a20", abc},         // Tai Tham
			{"\uaa80ABC-12\uaa80", abc},         // Tai Viet
			{"\U00011700ABC-12\U00011700", abc}, // Ahom
			{"\u1b05ABC-12\u1b05", abc},         // Balinese
			{"\ua984ABC-12\ua984", abc},         // Javanese
			{"〆ABC-12〆", abc},                   // closing mark
			{"〱ABC-12〵", abc},                   // repeat marks
			{"〼ABC-12〼", abc},                   // masu mark
			{"ﾊｰABC-12ｰ", abc},                  // long vowel, half width
		}},
		{"border: emoji", [][2]string{
			{"🚀ABC-12🚀", abc},
			{"❤\ufe0fABC-12❤\ufe0f", abc},
			{"1\ufe0f\u20e3ABC-12", abc},
			{"👍🏽ABC-12", abc},
			{"👩\u200d💻ABC-12", abc},
			{"🇩🇪ABC-12🇩🇪", abc},
			{"\ufe0fABC-12", abc},
			{"x\ufe0fABC-12", ""},
		}},
		{"border: full-width brackets, zero-width space, punctuation", [][2]string{
			{"（ABC-12）", abc},
			{"【ABC-12】", abc},
			{"「ABC-12」", abc},
			{"x\u200bABC-12\u200bx", abc},
			{"\ufeffABC-12", abc},
			{"x。ABC-12、x", abc},
			{"“ABC-12” ‘DEF-3’", abc + "; JiraIssue DEF-3"},
			{"#ABC-12: ok", abc},
			{"x:ABC-12,y", abc},
			{"`ABC-12`", abc},
			{"*ABC-12*", abc},
			{"[ABC-12]", abc},
			{"ABC-12's", abc},
			{"ABC-12!", abc},
			{"ABC-12—y", abc},
			{"x|ABC-12|y", abc},
			{"x->ABC-12->y", abc},
			{"\tABC-12\r\n", abc},
		}},
		{"a slash separates", [][2]string{
			{"ABC-1/ABC-2/ABC-3", "JiraIssue ABC-1; JiraIssue ABC-2; JiraIssue ABC-3"},
			{"feature/ABC-12", abc},
		}},

		{"not in the local part of an e-mail address", [][2]string{
			{"ABC-12@host", ""},
			{"ABC-12.x@host.test x.ABC-12@host.test ABC-12+tag@host.test x+ABC-12@host.test", ""},
			{"ABC-12_@host.test ABC-12%x@host.test ABC-12=x@host.test ABC-12&x@host.test", ""},
			{"ABC-12~x@host.test ABC-12$x@host.test ABC-12^x@host.test", ""},
			{"<ABC-12@host.test> mailto:ABC-12@host.test", ""},
			{"ABC-12.é@host.test ABC-12@é.test ABC-12@[10.0.0.1]", ""},
			{`"ABC-12"@host.test "fix ABC-12 now"@host.test`, ""},
			{`"ABC-12", me"@host.test`, abc},
			{"\"ABC-12\n\"@host.test", abc},
			{`ABC-12"@host.test`, abc},
			{`"ABC-12 ` + strings.Repeat("x", 64) + `"@host.test`, abc},
			{"ABC-12/me@host.test", abc},
			{"ABC-12 me@host.test", abc},
			{"ABC-12,me@host.test", abc},
			{"me@host.test ABC-12 you@host.test DEF-3", abc + "; JiraIssue DEF-3"},
		}},
		{"not after @", [][2]string{
			{"@ABC-12", ""},
			{"me@ABC-12.test me@host.ABC-12 me@x_-.ABC-12", ""},
			{"@ABC-12@ABC-12", ""},
			{"@ABC-12 and ABC-12", abc},
			{"@me/ABC-12", abc},
			{"@me: ABC-12", abc},
		}},
		{"an @ with no name after it is no address", [][2]string{
			{"ABC-12@ 5 pm", abc},
			{"ABC-12@", abc},
			{"ABC-12@... x@host.test", abc},
			{"ABC-12 @ DEF-3", abc + "; JiraIssue DEF-3"},
		}},

		{"not part of a longer dashed id", [][2]string{
			{"REQ-2024-1234-5 X-ABC-12 x-ABC-12 1-ABC-12 é-ABC-12 ABC-12-x ABC-12-é", ""},
			{"ABC-12-fix-the-login ABC-1-ABC-2", ""},
			{"X\u2010ABC-12 ABC-12\u2011X", ""},
			{"foo_-ABC-12 ABC-12-_foo ABC-12_-foo", ""},
		}},
		{"a dash that joins nothing borders", [][2]string{
			{"-ABC-12", abc},
			{"ABC-12-", abc},
			{"--ABC-12", abc},
			{"x--ABC-12--y", abc},
			{"x–ABC-12–y", abc},
			{"ABC-12-修", abc},
		}},
		{"not a decimal", [][2]string{
			{"MPL-2.0.1 ABC-12.٣", ""},
			{"ABC-12. Then", abc},
			{"ABC-12.txt", abc},
			{"ABC-12..13", abc},
			{"see ABC-12.", abc},
		}},
		{"names of standards", [][2]string{
			{"UTF-8 ISO-1 SHA-1 HTTP-404 RFC-12 MD-5 IEEE-754 IEC-1 ANSI-1 ECMA-262 TLS-1 SSL-3", ""},
			{"AES-256 RSA-2048 EC-2 CVE-1 CWE-79 ASCII-7 BASE-64 WCAG-2 HTML-5 CSS-3 SMTP-1 IP-4 IPV-6", ""},
			{
				"ISO2-5 MDM-4 SHA2-256 XUTF-8",
				"JiraIssue ISO2-5; JiraIssue MDM-4; JiraIssue SHA2-256; JiraIssue XUTF-8",
			},
			{"https://acme.atlassian.net/browse/UTF-8 UTF-8", "JiraIssue UTF-8"},
		}},

		{"an Atlassian browse link", [][2]string{
			{"http://ACME.Atlassian.NET:443/browse/ABC-12/x?y#z", abc},
			{"https://jira.atlassian.com/browse/ABC-12", abc},
			{"https://acme.atlassian.net/browse/ABC-12.", abc},
			{"https://acme.atlassian.net/browse/A-1", "Url https://acme.atlassian.net/browse/A-1"},
			{"https://acme.atlassian.net/browse/ABC-12x", "Url https://acme.atlassian.net/browse/ABC-12x"},
			{"https://acme.atlassian.net/browse/abc-12", "Url https://acme.atlassian.net/browse/abc-12"},
			{"https://acme.atlassian.net/browse/", "Url https://acme.atlassian.net/browse/"},
			{"https://acme.atlassian.net/x/browse/ABC-12", "Url https://acme.atlassian.net/x/browse/ABC-12"},
			{"https://myatlassian.net/browse/ABC-12", "Url https://myatlassian.net/browse/ABC-12"},
			{"https://jira.example.org/browse/ABC-12", "Url https://jira.example.org/browse/ABC-12"},
			{"https://acme.atlassian.net@example.org/browse/ABC-12", "Url https://example.org/browse/ABC-12"},
		}},
		{"a Slack message link", [][2]string{
			{"http://slack.com/archives/D9/p1234567890123456/x", "SlackMessage D9/1234567890.123456"},
			{"https://a.enterprise.slack.com/archives/D9/p1234567890123456", "SlackMessage D9/1234567890.123456"},
			{"https://a.slack.com/archives/D9/p123456789012345", "Url https://a.slack.com/archives/D9/p123456789012345"},
			{"https://a.slack.com/archives/D9/p12345678901234567", "Url https://a.slack.com/archives/D9/p12345678901234567"},
			{"https://a.slack.com/archives/D9/1234567890123456", "Url https://a.slack.com/archives/D9/1234567890123456"},
			{"https://a.slack.com/archives/D9/p123456789012345x", "Url https://a.slack.com/archives/D9/p123456789012345x"},
			{"https://a.slack.com/archives//p1234567890123456", "Url https://a.slack.com/archives//p1234567890123456"},
			{"https://a.slack.com/archives/{c}/p1234567890123456", "Url https://a.slack.com/archives/{c}/p1234567890123456"},
			{"https://a.slack.com/archives/D9", "Url https://a.slack.com/archives/D9"},
			{"https://notslack.com/archives/D9/p1234567890123456", "Url https://notslack.com/archives/D9/p1234567890123456"},
		}},
		{"a GitLab link", [][2]string{
			{"http://www.gitlab.example:8443/G/a.b_c-d/-/issues/9?x#note_1", "GitlabIssue G/a.b_c-d#9"},
			{"https://gitlab.example/app/-/issues/9", "Url https://gitlab.example/app/-/issues/9"},
			{"https://gitlab.example/-/issues/9", "Url https://gitlab.example/-/issues/9"},
			{"https://gitlab.example/t//app/-/issues/9", "Url https://gitlab.example/t//app/-/issues/9"},
			{"https://gitlab.example/{t}/app/-/issues/9", "Url https://gitlab.example/{t}/app/-/issues/9"},
			{"https://gitlab.example/t/app/-/issues/new", "Url https://gitlab.example/t/app/-/issues/new"},
			{"https://gitlab.example/t/app/-/issues", "Url https://gitlab.example/t/app/-/issues"},
			{"https://gitlab.example/t/app/-/tags/9", "Url https://gitlab.example/t/app/-/tags/9"},
			{"https://gitlab.example/t/app/issues/9", "Url https://gitlab.example/t/app/issues/9"},
		}},
		{"a GitHub link", [][2]string{
			{"HTTPS://GITHUB.COM/Own-Er/Re.Po_x/ISSUES/8", "Url https://github.com/Own-Er/Re.Po_x/ISSUES/8"},
			{"http://www.github.com/Own-Er/Re.Po_x/issues/8/", "GithubIssue own-er/re.po_x#8"},
			{"https://github.com/o/r/pull/7?x=1", "GithubPullRequest o/r#7"},
			{"https://github.com/o/r/pulls", "Url https://github.com/o/r/pulls"},
			{"https://github.com/o/r/pull/x7", "Url https://github.com/o/r/pull/x7"},
			{"https://github.com/o/r/pull/", "Url https://github.com/o/r/pull/"},
			{"https://github.com/o//pull/7", "Url https://github.com/o//pull/7"},
			{"https://github.com/{o}/r/pull/7", "Url https://github.com/{o}/r/pull/7"},
			{"https://github.com", "Url https://github.com"},
			{"https://github.com.test/o/r/pull/7", "Url https://github.com.test/o/r/pull/7"},
			{"https://api.github.com/o/r/pull/7", "Url https://api.github.com/o/r/pull/7"},
			{"https://github.com@example.org/o/r/pull/7", "Url https://example.org/o/r/pull/7"},
		}},

		{"any other link: host in lower case, path, query and fragment kept", [][2]string{
			{"HttP://EXAMPLE.org?A=B", "Url http://example.org?A=B"},
			{"https://EXAMPLE.org#A", "Url https://example.org#A"},
			{"https://Käse.Example/Käse", "Url https://käse.example/Käse"},
			{"https://example.org/%E4%BF%AE", "Url https://example.org/%E4%BF%AE"},
			{"https://example.org/x/ https://example.org/x", "Url https://example.org/x/; " + x},
			{"https://web.test/2020/https://example.org/x", "Url https://web.test/2020/https://example.org/x"},
			{"https://example.org/q?a=1|2", "Url https://example.org/q?a=1|2"},
			{"https://example.org/a*b**c~d,e;f'g!h", "Url https://example.org/a*b**c~d,e;f'g!h"},
		}},
		{"port kept, user and password dropped", [][2]string{
			{"https://Example.org:8080/x", "Url https://example.org:8080/x"},
			{"https://[2001:DB8::1]:8080/x", "Url https://[2001:db8::1]:8080/x"},
			{"https://User:Pass@Example.org/x https://a@b@example.org/x", x},
			{"https://example.org/@User", "Url https://example.org/@User"},
		}},
		{"a scheme with no host is no link", [][2]string{
			{"https:// http:// https://... https://? https:///x https://| https://@ https://user@/x", ""},
			{"https:///ABC-12", abc},
			{"https://から", ""},
			{"https:example.org https:/example.org //example.org example.org", ""},
		}},
		{"another scheme is no link", [][2]string{
			{"ftp://example.org git+https://example.org xhttps://example.org httpss://example.org", ""},
			{"view-source:https://example.org/x", x},
			{"見https://example.org/x", x},
			{"_https://example.org/x_", x},
		}},
		{"a key inside a link is no bare key", [][2]string{
			{"https://example.org/ABC-12", "Url https://example.org/ABC-12"},
			{"https://example.org/?q=ABC-12#ABC-13", "Url https://example.org/?q=ABC-12#ABC-13"},
			{"https://ABC-12.example.org", "Url https://abc-12.example.org"},
			{"https://ABC-12@example.org/x", x},
			{"https://example.org/x ABC-12", x + "; " + abc},
			{"https://example.org/xをABC-12", x + "; " + abc},
			{"acme.atlassian.net/browse/ABC-12", abc},
		}},

		{"link end: sentence punctuation", [][2]string{
			{"https://example.org/x. https://example.org/x, https://example.org/x; https://example.org/x:", x},
			{"https://example.org/x! https://example.org/x? https://example.org/x?!...", x},
			{"https://example.org/x… https://example.org/x — https://example.org/x—", x},
			{"https://example.org.", "Url https://example.org"},
			{"https://example.org/x,https://example.org/y;HTTP://example.org/z", x + "; Url https://example.org/y; Url http://example.org/z"},
		}},
		{"link end: quotes", [][2]string{
			{`"https://example.org/x" 'https://example.org/x' ` + "`https://example.org/x`", x},
			{`'https://example.org/x','https://example.org/y'`, x + "; Url https://example.org/y"},
			{`"https://example.org/x","https://example.org/y"`, x + "; Url https://example.org/y"},
			{"“https://example.org/x” ‘https://example.org/x’ «https://example.org/x»", x},
			{`"https://example.org/x\n"`, x},
			{"it's https://example.org/x'", x},
			{"https://example.org/x‘y https://example.org/x’y https://example.org/x⁅y https://example.org/x⁆y", x},
		}},
		{"link end: unbalanced brackets", [][2]string{
			{"(https://example.org/x) [https://example.org/x] <https://example.org/x> {https://example.org/x}", x},
			{"(https://example.org/x), (see https://example.org/x.)", x},
			{"[a](https://example.org/x)[b](https://example.org/y)", x + "; Url https://example.org/y"},
			{"[https://example.org/x](https://example.org/x)", x},
			{"https://example.org/x] https://example.org/x) https://example.org/x}", x},
			{"https://example.org/x( https://example.org/x<br>", x},
			{"(https://example.org)", "Url https://example.org"},
		}},
		{"link end: balanced brackets stay", [][2]string{
			{"(https://example.org/a_(b)_(c(d)))", "Url https://example.org/a_(b)_(c(d))"},
			{"https://example.org/?a[0]=1", "Url https://example.org/?a[0]=1"},
			{"{https://example.org/{id}/{key}}", "Url https://example.org/{id}/{key}"},
			{"https://{host}/x", "Url https://{host}/x"},
		}},
		{"link end: markdown", [][2]string{
			{"_https://example.org/x_ __https://example.org/x__ **https://example.org/x**.", x},
			{"**_https://example.org/x_** *https://example.org/x*", x},
			{"https://example.org/*", "Url https://example.org/*"},
			{"https://example.org/a_b", "Url https://example.org/a_b"},
		}},
		{"link end: label of a chat link", [][2]string{
			{"<https://example.org/x|label> <https://example.org/x|", x},
			{"see https://example.org/x|a label> now", x},
			{"|https://example.org/x|y|", x},
			{"https://example.org|y", "Url https://example.org"},
			{"<https://example.org/x|ABC-12>", x + "; " + abc},
			{"https://example.org/x| b <c>", x},
			{"https://example.org/x|> https://example.org/x|y>", x},
		}},
		{"link end: CJK text and punctuation", [][2]string{
			{"https://example.org/x。 https://example.org/x、y https://example.org/x）y https://example.org/x・y", x},
			{"https://example.org/x修正 https://example.org/xカ https://example.org/xー https://example.org/x를", x},
			{"https://example.org/xครับ", x},
			{"https://example.org/x　y https://example.org/x，y", x},
			{"https://example.org/x゠y https://example.org/x︐y https://example.org/x﹅y", x},
			{"https://example.orgです", "Url https://example.org"},
		}},
		{"link end: spaces, what is not printable, and ornaments", [][2]string{
			{"https://example.org/x\ty https://example.org/x\u00a0y https://example.org/x\u200by https://example.org/x\x00y", x},
			{"https://example.org/x👍🏽 https://example.org/x❤\ufe0f https://example.org/x→", x},
		}},

		{"text that is not UTF-8", [][2]string{
			{"\xffABC-12\xff", abc},
			{"\xe3\x81ABC-12\xc3", abc},
			{"https://example.org/x\xff", x},
			{"\xff@\xff", ""},
			{"https://\xff", ""},
			{"ABC-12\xff@host", abc},
		}},
		{"nothing", [][2]string{
			{"", ""},
			{"-", ""},
			{"@", ""},
		}},
	} {
		t.Run(section.clause, func(t *testing.T) {
			for _, row := range section.rows {
				if diff := cmp.Diff(row[1], written(reference.Extract(row[0]))); diff != "" {
					t.Errorf("%q: -want +got\n%s", row[0], diff)
				}
			}
		})
	}
}

func TestNothingFoundIsNil(t *testing.T) {
	if got := reference.Extract("nothing to see"); got != nil {
		t.Errorf("got %#v", got)
	}
}
