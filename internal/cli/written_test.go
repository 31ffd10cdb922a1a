package cli

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
)

// What runs wrote is among the sources and is read as the pages are; it is neither synced nor put into facets, and goes when a person says so.
func TestCommandsOnWrittenDocuments(t *testing.T) {
	in := opening(t)
	ctx := context.Background()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if err := in.AddFacet(ctx, "work", at); err != nil {
		t.Fatal(err)
	}
	trust, err := in.Trust(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text := "# The budget\n\nIt is *42*.\n"
	r, err := markdown.Record("results/one.md", []byte(text), at)
	if err != nil {
		t.Fatal(err)
	}
	l := label.Join(label.OfRecord("ada", "email", "mail.mbox", []string{"work"}), label.OfRecord("ada", "calendar", "calendar.ics", nil))
	if err := in.Write(ctx, trust, []store.Written{{Record: r, Label: l}}, at); err != nil {
		t.Fatal(err)
	}
	name := store.WrittenSource(l, at, func(string) bool { return false }).Name
	for _, c := range []struct {
		command  string
		status   int
		out, err string // regular expressions of the whole
	}{
		{"source list", 0, `NAME .*\nfc .*\n` + name + `  pages  written   -       1        2026-03-04 05:06  2026-03-04 05:06\n`, ``},
		{"status", 0, `(?s).*\n` + name + `  1        2026-03-04 05:06  0        \d+ bytes  2026-03-04 05:06  complete\n`, ``},
		{"status " + name, 0, `(?s).*\nlocation  what runs wrote into the instance\nfacets    -\n.*\nstate     complete\n`, ``},
		{"sync", 0, `fc: 0 new, .*\n`, ``},
		{"sync " + name, 1, ``, `loom: source ` + name + `: runs wrote its documents, with a label that stays: it is in no facet, and there is nothing to sync\n`},
		{"sync fc " + name, 1, ``, `loom: source .* nothing to sync\n`},
		{"facet add " + name + " work --yes", 1, ``, `loom: source .* it is in no facet, .*\n`},
		{"facet remove " + name + " work", 1, ``, `loom: source .* it is in no facet, .*\n`},
		{"source add pages /tmp --name x --format written", 2, ``, `loom: there is no format "written" of pages: it is markdown; .*\n`},
		{"page read results/one", 0, regexp.QuoteMeta(text), ``},
		{"search budget --sources fc --json", 0, `(?s).*"sourceRef":"` + name + `/results/one.md".*`, ``},
		{"source remove " + name, 1, ``, `(?s)loom: .*--yes.*`},
		{"source remove --yes " + name, 0, `removed ` + name + ` with 1 record\n`, ``},
		{"page read results/one", 1, ``, `loom: .*\n`},
		{"source list", 0, `NAME .*\nfc .*\n`, ``},
	} {
		var out, errs bytes.Buffer
		status := Main(append([]string{"loom"}, append(strings.Fields(c.command), "--instance", in.Folder)...), nil, &out, &errs)
		if status != c.status || !whole(c.out, out.String()) || !whole(c.err, errs.String()) {
			t.Errorf("%s: status %d\n%s\n%s", c.command, status, out.String(), errs.String())
		}
	}
}

func whole(form, text string) bool {
	return regexp.MustCompile(fmt.Sprintf(`^(?:%s)$`, form)).MatchString(text)
}
