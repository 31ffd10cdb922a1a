package result

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
)

// folder is where the pages of results are.
const folder = "results"

// maxTitle bounds the title of a page, in UTF-16 code units.
const maxTitle = 200

// pathOf is the path of the page of a run's result.
func pathOf(run string) string { return folder + "/" + run + ".md" }

// pathOfRow is the path of the page of a row.
func pathOfRow(run, token string) string {
	return folder + "/" + run + "/" + strings.TrimPrefix(token, handle.Prefix) + ".md"
}

// makePages makes the documents of the plan.
//
// A page begins with front matter of this program's own, in which texts are JSON on one line. All that a model or a row gives stands
// between fences that are longer than any in it: none of it is Markdown, so that it can name no page, hide nothing of what follows, and
// have no viewer fetch anything. Of a row no text is in a title, by which pages are found.
func (p *Plan) makePages(d *draft) error {
	var page strings.Builder
	frontMatter(&page, "title", titleOf(d.Intent, "Result of run "+d.run), "run", d.run)
	fenced(&page, "text", d.Answer)
	if d.Schema != nil {
		page.WriteString("\n## Result\n\n")
		fenced(&page, "json", pretty(p.Value))
	}
	if len(p.Minted) > 0 {
		page.WriteString("\n## Rows that are cited\n\n")
	}
	for _, m := range p.Minted {
		row, _ := d.handles.Get(m.Token)
		below := strings.TrimPrefix(m.Link, folder+"/")
		fmt.Fprintf(&page, "- [%s](%s), shown by %s\n", m.Token, below, toolOf(row))
	}
	if err := p.add(d, p.Link, page.String(), store.Written{Label: p.Label}); err != nil {
		return err
	}
	for _, m := range p.Minted {
		row, _ := d.handles.Get(m.Token)
		page.Reset()
		frontMatter(&page, "title", toolOf(row)+" "+m.Token, "tool", toolOf(row), "run", d.run)
		fenced(&page, "json", pretty(row.Value))
		if err := p.add(d, m.Link, page.String(), store.Written{Label: m.Label}); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) add(d *draft, below, text string, w store.Written) (err error) {
	if w.Record, err = markdown.Record(below, []byte(text), d.At.UTC()); err != nil {
		return err
	}
	p.documents = append(p.documents, w)
	return nil
}

// frontMatter writes names and texts in turn. A JSON text on one line is one of YAML too.
func frontMatter(page *strings.Builder, namesAndTexts ...string) {
	page.WriteString("---\n")
	for i := 0; i < len(namesAndTexts); i += 2 {
		page.WriteString(namesAndTexts[i] + ": ")
		page.Write(canonjson.AppendString(nil, namesAndTexts[i+1]))
		page.WriteByte('\n')
	}
	page.WriteString("---\n\n")
}

// fenced writes a text as it stands, as code (CommonMark 0.31, 4.5).
func fenced(page *strings.Builder, kind, text string) {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	page.WriteString(fence + kind + "\n" + text)
	if !strings.HasSuffix(text, "\n") {
		page.WriteByte('\n')
	}
	page.WriteString(fence + "\n")
}

// pretty writes a value over several lines, or on one where the indentation of it would fill the page.
func pretty(v document.Value) string {
	text, err := canonjson.AppendLimited(nil, v, int(markdown.MaxPageBytes)/2)
	if err != nil {
		return canonjson.Compact(v)
	}
	return string(text)
}

// titleOf makes a title of a text: on one line, of characters that can be seen.
func titleOf(text, other string) string {
	seen := strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	for strings.Contains(seen, "[[") { // a link of a wiki
		seen = strings.ReplaceAll(seen, "[[", "[")
	}
	if title := strings.Join(strings.Fields(codeunits.Cut(strings.Join(strings.Fields(seen), " "), maxTitle)), " "); title != "" {
		return title
	}
	return other
}

// toolForm is the form of the id of a tool.
var toolForm = lazyregexp.New(`^[0-9A-Za-z_.-]{1,64}$`)

// toolOf is the id of the tool that showed a row.
func toolOf(row handle.Referent) string {
	if !toolForm().MatchString(row.Source) {
		return "a tool"
	}
	return row.Source
}

// inResults tells whether a path is one that a result could have.
func inResults(link string) bool {
	return path.Clean(link) == link && strings.HasPrefix(link, folder+"/") && path.Ext(link) == ".md"
}
