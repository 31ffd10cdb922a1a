package readverb_test

import (
	"context"
	"encoding/json/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
)

// written makes the record of a document of the tests.
func written(t *testing.T, path, text string) *store.Record {
	t.Helper()
	r, err := markdown.Record(path, []byte(text), synced)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const aResult = "---\ntitle: The <budget> & more\naliases: [Answer One]\n---\n# The budget\n\nIt is **42**\u2028 of \"them\".\r\n\n```json\n{\"a\": 1.0}\n```\n"

// What runs wrote is a part of the File Cabinet, for each reader as far as its label goes.
func TestWrittenDocumentsAreRead(t *testing.T) {
	both := label.Join(label.OfRecord("ada", "email", "mail.mbox", []string{"work"}), label.OfRecord("ada", "calendar", "calendar.ics", []string{"family"}))
	work := label.OfRecord("ada", "email", "mail.mbox", []string{"work"})
	parts := []part{
		{Source: source("post", store.MailSource, "mbox", "work"), records: []*store.Record{
			mail("m1", "2026-11-30T09:00:00Z", "Grace <grace@example.com>", "ada@example.com", "Budget", "The budget."),
		}},
		{Source: source(store.FileCabinet, store.PagesSource, "markdown", "work"), records: []*store.Record{
			written(t, "results/twice.md", "# Of the folder, with a budget\n"),
			written(t, "plan.md", "# Plan\n\nThe budget, see [[one]].\n"),
		}},
		documents(both, written(t, "results/one.md", aResult), written(t, "profile.md", "---\nname: Somebody else\n---\n")),
		documents(work, written(t, "results/twice.md", "# Of the run, with a budget\n"), written(t, "results/three.md", "# Three\n\nNo money. [[plan]]\n")),
	}
	both12, work12 := documents(both).Name, documents(work).Name
	memory, file := inMemory(parts), inFile(t, parts)
	for _, c := range []struct {
		scope, call, want string
	}{
		{"all", "search budget --sources fc", "fc/plan.md fc/results/twice.md " + both12 + "/results/one.md " + work12 + "/results/twice.md"},
		{"work", "search budget --sources fc", "fc/plan.md fc/results/twice.md " + work12 + "/results/twice.md"},
		{"family", "search budget --sources fc", "invalid"},
		{"work,family", "search budget --sources pages.written", both12 + "/results/one.md " + work12 + "/results/twice.md"},
		{"all", "search budget --sources " + work12, work12 + "/results/twice.md"},
		{"work", "search budget --sources " + both12, "invalid"},
		{"work", "search budget --sources mail", "post/m1"},
		{"all", "page discover", "fc/plan.md fc/results/twice.md " + both12 + "/profile.md " + both12 + "/results/one.md " + work12 + "/results/three.md " + work12 + "/results/twice.md"},
		{"work", "page discover", "fc/plan.md fc/results/twice.md " + work12 + "/results/three.md " + work12 + "/results/twice.md"},
		{"family", "page discover", ""},

		{"all", "page read results/one.md", both12 + "/results/one.md"},
		{"all", "page read results/one", both12 + "/results/one.md"},
		{"all", "page read " + markdown.PageID("results/one.md"), both12 + "/results/one.md"},
		{"all", "page read 'the <BUDGET> & more'", both12 + "/results/one.md"},
		{"all", "page read 'answer one'", both12 + "/results/one.md"},
		{"all", "page inspect one", both12 + "/results/one.md"},
		{"family,work", "page read one", both12 + "/results/one.md"},
		{"work", "page read one", "unknown_page"},
		{"work", "page read " + markdown.PageID("results/one.md"), "unknown_page"},
		{"work", "page inspect results/three.md", work12 + "/results/three.md"},

		{"all", "page read results/twice.md", "ambiguous_page"},
		{"all", "page read fc:results/twice.md", "fc/results/twice.md"},
		{"all", "page read fc:twice", "fc/results/twice.md"},
		{"all", "page read " + work12 + ":results/twice.md", work12 + "/results/twice.md"},
		{"all", "page read fc:results/three.md", work12 + "/results/three.md"},
		{"work", "page read fc:results/one.md", "unknown_page"},
		{"all", "page read post:results/three.md", "unknown_page"},
	} {
		t.Run(c.scope+" "+c.call, func(t *testing.T) {
			scope := store.Scope{Facets: strings.Split(c.scope, ",")}
			if c.scope == "all" {
				scope = everything
			}
			v, err := file.View(context.Background(), scope)
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			got, same := ask(v, quoted(c.call)...), ask(memory.View(scope), quoted(c.call)...)
			if got != same {
				t.Errorf("the file answers\n%s\nand memory\n%s", got, same)
			}
			if named := namedIn(t, got); named != c.want {
				t.Errorf("it is about %s, want %s\n%s", named, c.want, got)
			}
		})
	}
	answer, err := readverb.PageRead{Target: "one"}.Read(context.Background(), readverb.Reader{View: memory.View(everything), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if c := answer.Payload.(*readverb.Content); c.Content != aResult || c.Bytes != len(aResult) || !c.Ifc.Label.Equal(both) {
		t.Errorf("%d bytes, %q, %s", c.Bytes, c.Content, c.Ifc.Label.Canonical())
	}
	// What a run wrote says nothing of whose instance it is.
	if got := ask(memory.View(everything), "profile"); strings.Contains(got, "Somebody else") {
		t.Errorf("the profile is %s", got)
	}
}

// Where two documents are named alike neither is preferred, also for a reader who sees nothing of the cabinet's own pages.
func TestDocumentsNamedAlikeAreAmbiguous(t *testing.T) {
	m := inMemory([]part{
		{Source: source(store.FileCabinet, store.PagesSource, "markdown", "work"), records: []*store.Record{written(t, "plan.md", "# Plan\n")}},
		documents(label.OfRecord("ada", "email", "mail.mbox", []string{"family"}), written(t, "results/a.md", "# Same\n")),
		documents(label.OfRecord("ada", "calendar", "calendar.ics", []string{"family"}), written(t, "results/b.md", "# Same\n")),
	})
	for _, scope := range []store.Scope{everything, {Facets: []string{"family"}}} {
		for _, target := range []string{"Same", "fc:Same"} {
			if got := namedIn(t, ask(m.View(scope), "page", "read", target)); got != "ambiguous_page" {
				t.Errorf("%s in the scope %v is %s", target, scope, got)
			}
		}
	}
}

// namedIn gives what an answer is about: the references of its rows, sorted; the code of a refusal; invalid for one of arguments.
func namedIn(t *testing.T, answer string) string {
	t.Helper()
	payload, _, _ := strings.Cut(answer, "\n")
	if strings.HasPrefix(payload, "error: ") {
		return "invalid"
	}
	type row struct {
		SourceRef, Source, Path string
	}
	var a struct {
		row
		Code        string
		Hits, Pages []row
	}
	if err := json.Unmarshal([]byte(payload), &a, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if a.Code != "" {
		return a.Code
	}
	var all []string
	for _, r := range append(append(a.Hits, a.Pages...), a.row) {
		if name := r.SourceRef; name != "" {
			all = append(all, name)
		} else if r.Path != "" {
			all = append(all, r.Source+"/"+r.Path)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
