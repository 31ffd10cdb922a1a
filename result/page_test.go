package result

import (
	"encoding/json/v2"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/source/markdown"
)

var update = flag.Bool("update", false, "write the golden files anew")

func readValue(text string) (document.Value, error) {
	return strictjson.Parse([]byte(text), strictjson.MaxDepth)
}

// The pages of a result, to the byte.
func TestPages(t *testing.T) {
	r := newRun()
	r.shown("the roof", labelled(t, "A", observed))
	r.shown("the garden", labelled(t, "B"))
	r.shown("```", labelled(t, "C"))
	q := r.structured(t, `{}`, `{"cost":1200.50,"why":"$0","sealed":{"n":["$2"]}}`)
	q.Intent, q.Answer = "What does\nthe \"roof\" cost?\u202e", "It is 1200, see "+r.tokens[0]+".\n```\n# A heading\n"
	q.Cited = r.tokens[2:]
	_, c, err := write(t, q)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range []string{"results/run-1.md", pathOfRow("run-1", r.tokens[2]), pathOfRow("run-1", r.tokens[0])} {
		fmt.Fprintf(&all, "-- %s --\n%s", path, c.source(t, path))
	}
	golden := filepath.Join("testdata", "pages.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile(golden)
	if all.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", all.String(), want)
	}
	onePage(t, q, c)
}

// Texts that would be something else on a page.
var forging = []string{
	"---\nname: Somebody else\naliases: [profile]\n---\n", "\n---\ntitle: x\n---\n", "```", "``` \n# Heading\n", "````\n```\n````", "~~~\n", "\r```\r# Heading\r",
	"[[profile]]", "[a](https://example.com)", "![a](https://example.com/pixel)", "<!-- ", "<script>", "\u2028# Heading", "\ufeff---\nname: x\n---\n",
	"\x00", "\u202eabc", "# Heading\n\n## Another", strings.Repeat("`", 1000), strings.Repeat("> ", 2000), strings.Repeat("[", 5000), "\"\n: x", "&#96;&#96;&#96;\n", "    \n\t# x",
}

func TestPagesThatNobodyForges(t *testing.T) {
	for i, text := range forging {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := newRun()
			row := r.hold(handle.Referent{
				Kind: handle.Document, Source: "x\n# " + text, LabelSource: handle.FromRow, Label: labelled(t, "A"),
				Value: document.MapOf(document.M(text, document.TextOf(text)), document.M("title", document.TextOf("secret"))),
			})
			q := r.request(text, row)
			q.Intent, q.Schema, q.Value = text, schemaOf(t, `{}`), document.MapOf(document.M("a "+text, document.TextOf(text)))
			_, c, err := write(t, q)
			if err != nil {
				t.Fatalf("%v %v", err, err.Refusals)
			}
			onePage(t, q, c)
			for _, page := range c.pages {
				if strings.Contains(page.Record.Title, "secret") {
					t.Errorf("the title is %q", page.Record.Title)
				}
			}
		})
	}
}

// onePage fails unless each page is read as it was meant: with the names that its path gives it, the headings of this program, and links to cited rows alone.
func onePage(t testing.TB, q Request, c *cabinet) {
	t.Helper()
	for path, page := range c.pages {
		var p markdown.Page
		if err := json.Unmarshal(page.Record.Details, &p); err != nil {
			t.Fatal(err)
		}
		var headings []string
		for _, h := range p.Headings {
			headings = append(headings, h.Text)
		}
		got := strings.Join(headings, ",")
		want := ""
		if path == pathOf(q.Run) {
			if q.Schema != nil {
				want = "Result"
			}
			if len(c.pages) > 1 {
				want = strings.Trim(want+",Rows that are cited", ",")
			}
		}
		if page.Record.Body == "" { // lines that are beyond what is read of Markdown: the page is kept, and not searched
			want = ""
		}
		links := fmt.Sprint(p.Links)
		if got != want || p.Name != "" || len(p.Aliases) > 0 || p.Summary != "" || strings.Contains(links, "http") {
			t.Errorf("%s has the headings %q, the links %s, the names %q %q", path, got, links, p.Name, p.Aliases)
		}
		if again := record(t, path, p.Source); again.Title != page.Record.Title || again.Body != page.Record.Body {
			t.Errorf("%s is another page when it is read again", path)
		}
	}
}

// What is too large with indentation stands on one line.
func TestLargeValuesOnOneLine(t *testing.T) {
	items := make([]document.Value, 9000)
	for i := range items {
		items[i] = document.TextOf("0123456789012345678901234567890123456789")
	}
	v := document.ListOf(document.ListOf(document.ListOf(document.ListOf(document.ListOf(document.ListOf(document.ListOf(document.ListOf(items...))))))))
	q := newRun().request("x")
	q.Schema, q.Value = schemaOf(t, `{}`), v
	_, c, err := write(t, q)
	if err != nil {
		t.Fatal(err.Refusals)
	}
	if !strings.Contains(c.source(t, "results/run-1.md"), canonjson.Compact(v)) {
		t.Error("it does not")
	}
}

func TestTitles(t *testing.T) {
	for _, tc := range []struct{ intent, want string }{
		{"What is it?", "What is it?"},
		{" a\n\tb\u2028c\x00d ", "a b c d"},
		{"", "other"},
		{"\u202e\u200b\ufeff", "other"},
		{"a\xffb", "a b"},
		{strings.Repeat("é ", 200), strings.Repeat("é ", 99) + "é"},
		{strings.Repeat("x", 199) + "🎉", strings.Repeat("x", 199)},
	} {
		if got := titleOf(tc.intent, "other"); got != tc.want {
			t.Errorf("%q: %q", tc.intent, got)
		}
	}
}

func TestRecordsOfWhatWasWrittenThatCannotBeRead(t *testing.T) {
	const l = `"{\"confidentiality\":[],\"integrity\":[]}"`
	good := `{"link":"results/r.md","label":` + l + `,"minted":[{"token":"cfh:v:22222","link":"results/r/22222.md","label":` + l + `}],"sealed":["/a"],"value":1}`
	if _, err := ReadWritten(parsed(t, good)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"value":1`, `"value":1,"more":1`},
		{`,"value":1`, ``},
		{`results/r.md`, `results/../r.md`},
		{`results/r.md`, `/etc/passwd`},
		{`results/r.md`, `results/r`},
		{`results/r/22222.md`, `r.md`},
		{`cfh:v:22222`, `x`},
		{`["/a"]`, `[1]`},
		{`["/a"]`, `"/a"`},
		{`[{"token"`, `[{"tokens"`},
		{`"label":` + l + `,"minted"`, `"label":{},"minted"`},
		{`22222.md","label":` + l, `22222.md","label":"{}x"`},
		{`"minted":[`, `"minted":[1,`},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if text == good {
			t.Fatalf("nothing changes: %s", change)
		}
		if _, err := ReadWritten(parsed(t, text)); err == nil {
			t.Errorf("it reads %s", text)
		}
	}
	many := strings.Replace(good, `"minted":[`, `"minted":[`+strings.Repeat(`{"token":"cfh:v:22222","link":"results/r/22222.md","label":`+l+`},`, MaxMinted), 1)
	if _, err := ReadWritten(parsed(t, many)); err == nil {
		t.Error("it reads more rows than can be cited")
	}
}
