package mail

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// What a browser's tree of elements hides is hidden, however tags are mixed up: the library's parser is the judge.
func TestNothingIsShownThatTheTreeHides(t *testing.T) {
	names := rapid.SampledFrom([]string{"div", "p", "span", "b", "font", "a", "ul", "li", "table", "tr", "td", "h1", "h2", "section", "em"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i := range rapid.IntRange(1, 14).Draw(t, "tags") {
			name := names.Draw(t, "name")
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0, 1:
				fmt.Fprintf(&b, "<%s>", name)
			case 2:
				fmt.Fprintf(&b, "<%s hidden>", name)
			default:
				fmt.Fprintf(&b, "</%s>", name)
			}
			fmt.Fprintf(&b, "T%dt ", i)
		}
		root, err := html.Parse(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		var tree strings.Builder
		var walk func(*html.Node)
		walk = func(n *html.Node) {
			for _, a := range n.Attr {
				if a.Key == "hidden" {
					return
				}
			}
			if n.Type == html.TextNode {
				tree.WriteString(n.Data)
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
		}
		walk(root)
		text, _ := textOfHTML(nil, []byte(b.String()), 1<<20)
		for word := range strings.FieldsSeq(string(text)) {
			if strings.HasPrefix(word, "T") && !strings.Contains(tree.String(), word) {
				t.Fatalf("%s: %s is shown: %q, the tree shows %q", b.String(), word, text, tree.String())
			}
		}
	})
}
