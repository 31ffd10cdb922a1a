package retrieval_test

import (
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/retrieval"
)

// The arguments of 11.1. A refused one has what its message says behind a !.
func TestArguments(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, c := range []struct{ number, tool, input, want string }{
		{"E001", "loom_search", `{}`, "!search needs a query or a person"},
		{"E002", "loom_search", `{"query":"donuts"}`, "search|donuts|--json"},
		{"E003", "loom_search", `{"person":"alice@example.com"}`, "search|--json|--person|alice@example.com"},
		{
			"E004", "loom_search", `{"rank":"score","limit":7,"person":"p@x.org","tz":"Europe/Vienna","until":"2026-01-02","since":"2026-01-01","sources":"fc","query":"q"}`,
			"search|q|--json|--sources|fc|--since|2026-01-01|--until|2026-01-02|--tz|Europe/Vienna|--person|p@x.org|--limit|7|--rank|score",
		},
		{"E005 A1", "loom_search", `{"query":"--list-sources"}`, "!query begins with a hyphen"},
		{"E006", "loom_search", `{"query":"donuts","limit":0}`, "!limit is a whole number from 1 to 200"},
		{"E007", "loom_search", `{"query":"donuts","limit":1.5}`, "!limit is a whole number"},
		{"E007", "loom_search", `{"query":"donuts","limit":"5"}`, "!limit is a whole number"},
		{"E007", "loom_search", `{"query":"donuts","limit":9007199254740992}`, "!limit is a whole number"},
		{"E007", "loom_search", `{"query":"donuts","limit":-1}`, "!limit is a whole number"},
		{"E007", "loom_search", `{"query":"donuts","limit":201}`, "!limit is a whole number"},
		{"E007", "loom_search", `{"query":"donuts","limit":200}`, "search|donuts|--json|--limit|200"},
		{"E008", "loom_search", `{"query":"donuts","rank":"random"}`, "!rank is recency or score"},
		{"E009 A1", "loom_search", `{"query":"donuts","since":"-1d"}`, "!since begins with a hyphen"},
		{"E010 A5", "loom_search", `{"query":"x","engine":"index"}`, `!there is no argument "engine"`},
		{"E011 A5", "loom_profile", `{"rpc_queue":"/q"}`, `!there is no argument "rpc_queue"`},
		{"A5", "loom_search", `{"query":"x","instance":"/i"}`, `!there is no argument "instance"`},
		{"A5 a long name", "loom_profile", `{"` + strings.Repeat("n", 41) + `":1}`, `!there is no argument "` + strings.Repeat("n", 40) + `"; there are fresh`},
		{"A3 a name of two lines", "loom_profile", `{"a\nb":1}`, `!there is no argument "a\nb"; there are fresh`},
		{"E012", "loom_search", `{"query":""}`, "!query is empty"},
		{"E012", "loom_search", `{"query":"` + long + `"}`, "search|" + long + "|--json"},
		{"E012", "loom_search", `{"query":"` + long + `x"}`, "!query has more than 500 characters"},
		{"E012 D30", "loom_search", `{"query":"` + strings.Repeat("🎉", 250) + `"}`, "search|" + strings.Repeat("🎉", 250) + "|--json"},
		{"E012 D30", "loom_search", `{"query":"` + strings.Repeat("🎉", 250) + `x"}`, "!query has more than 500 characters"},
		{"E013 A3", "loom_search", `{"query":"a\tb"}`, "!query has control characters"},
		{"E013 A3", "loom_search", `{"query":"a\nb"}`, "!query has control characters"},
		{"E013 A3", "loom_search", `{"query":"a\u0000b"}`, "!query has control characters"},
		{"E013 A3", "loom_search", `{"query":"a\u001bb"}`, "!query has control characters"},
		{"E013", "loom_search", `{"query":"a\u007fb"}`, "!query has control characters"}, // tightened: docs/design.md
		{"E013", "loom_search", `{"query":"a\u0085b"}`, "!query has control characters"},
		{"E013", "loom_search", `{"query":"a\u2028b"}`, "!query has control characters"},
		{"E013", "loom_search", `{"query":"a\u2029b"}`, "!query has control characters"},
		{"E014", "loom_search", `{"query":"a -b"}`, "search|a -b|--json"},
		{"E015", "loom_page_discover", `{}`, "page|discover|--json|--concise"},
		{"E015", "loom_page_discover", `{"kind":"project","limit":10}`, "page|discover|--json|--concise|--kind|project|--limit|10"},
		{"E015", "loom_page_discover", `{"limit":501}`, "!limit is a whole number from 1 to 500"},
		{"E016 A4", "loom_page_discover", `{"kind":"all\n"}`, "!kind is one of all, project, projects, entity, entities"},
		{"E017 A4", "loom_page_discover", `{"kind":"loom"}`, "!kind is one of all, project, projects, entity, entities"},
		{"A4", "loom_page_discover", `{"kind":7}`, "!kind is one of"},
		{"E018 D34", "loom_page_discover", `{"kind":"projects"}`, "page|discover|--json|--concise|--kind|project"},
		{"E018 D34", "loom_page_discover", `{"kind":"entities"}`, "page|discover|--json|--concise|--kind|entity"},
		{"E019", "loom_page_inspect", `{"target":"P-12"}`, "page|inspect|P-12|--json|--concise"},
		{"E019", "loom_page_read", `{"target":"P-12"}`, "page|read|P-12|--json"},
		{"E020", "loom_page_read", `{"target":"People/Alice/about.md"}`, "page|read|People/Alice/about.md|--json"},
		{"E021", "loom_page_inspect", `{}`, "!target is missing"},
		{"E021 A1", "loom_page_inspect", `{"target":"--concise"}`, "!target begins with a hyphen"},
		{"E021", "loom_page_inspect", `{"target":""}`, "!target is empty"},
		{"E022 A2", "loom_people", `{"query":"revoke"}`, "!query is not an email address"},
		{"E022 A2", "loom_people", `{"query":"list"}`, "!query is not an email address"},
		{"E022 A2", "loom_people", `{"query":"group-add"}`, "!query is not an email address"},
		{"E022", "loom_people", `{"query":"Alice"}`, "!query is not an email address"},
		{"E022", "loom_people", `{}`, "!query is missing"},
		{"E023", "loom_people", `{"query":"alice@example.com","shape":"summary"}`, "people|alice@example.com|--json|--shape|summary"},
		{"E024", "loom_people", `{"query":"alice@example.com","shape":"full"}`, "!shape is summary or card"},
		{"E025", "loom_people", `{"query":"+1 (415) 555-0100"}`, "people|+1 (415) 555-0100|--json"},
		{"E025", "loom_people", `{"query":"12345"}`, "people|12345|--json"},
		{"E025", "loom_people", `{"query":"1234"}`, "!query is not an email address"},
		{"E026", "loom_people", `{"query":"group:family"}`, "people|group:family|--json"},
		{"E026 A2 D35", "loom_people", `{"query":"revoke:x"}`, "!query is not an email address"},
		{"E026 A2 D35", "loom_people", `{"query":"list/"}`, "!query is not an email address"},
		{"D35", "loom_people", `{"query":"handle:alice"}`, "people|handle:alice|--json"},
		{"D35", "loom_people", `{"query":"person:01H"}`, "people|person:01H|--json"},
		{"D35", "loom_people", `{"query":"People/Alice/about.md"}`, "people|People/Alice/about.md|--json"},
		{"E027", "loom_calendar_list", `{}`, "calendar|list|--json"},
		{"E027", "loom_calendar_list", `{"to":"2026-09-02","from":"2026-09-01"}`, "calendar|list|--json|--from|2026-09-01|--to|2026-09-02"},
		{"E027", "loom_calendar_list", `{"all":true}`, "calendar|list|--json|--all"},
		{"E028", "loom_calendar_list", `{"from":"yesterday"}`, "!from is a date such as"},
		{"E028", "loom_calendar_list", `{"from":"2026-09-01\n"}`, "!from has control characters"},
		{"E028", "loom_calendar_list", `{"from":"2026-09-01","all":true}`, "!all goes without from and to"},
		{"E028", "loom_calendar_list", `{"to":"2026-09-01","all":true}`, "!all goes without from and to"},
		{"E028", "loom_calendar_list", `{"from":"2026-13-45"}`, "calendar|list|--json|--from|2026-13-45"},
		{"E029", "loom_calendar_list", `{"all":false,"from":"2026-09-01"}`, "calendar|list|--json|--from|2026-09-01"},
		{"E030", "loom_context", `{"read":"where","at":"now-30m"}`, "context|where|--json|--at|now-30m"},
		{"E031", "loom_context", `{"read":"activity","until":"now","since":"now-30m"}`, "context|activity|--json|--since|now-30m|--until|now"},
		{"E032", "loom_context", `{}`, "!read is where or activity"},
		{"E032", "loom_context", `{"read":"hosted"}`, "!read is where or activity"},
		{"E032", "loom_context", `{"read":"where","since":"now-30m"}`, "!since is for activity alone"},
		{"E033", "loom_profile", `{}`, "profile|--json"},
		{"E033", "loom_profile", `{"fresh":true}`, "profile|--json|--fresh"},
		{"E033", "loom_profile", `{"fresh":false}`, "profile|--json"},
		{"E033", "loom_profile", `{"fresh":"yes"}`, "!fresh is true or false"},
		{"E033", "loom_profile", `"fresh"`, "!the input is not an object"},
		{"E033", "loom_profile", `null`, "!the input is not an object"},
		{"E034", "loom_search", `{"query":null,"person":"a@b"}`, "!query is not a text"},
		{"E156", "loom_search", `{"query":"cfh:v:22222"}`, "search|cfh:v:22222|--json"}, // a token in arguments stays text
		{"another tool", "loom_compose", `{}`, "!there is no tool of this name"},
	} {
		v, err := strictjson.ParseForeign([]byte(c.input), strictjson.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		argv, fault := retrieval.Argv(c.tool, v)
		if why, refused := strings.CutPrefix(c.want, "!"); refused {
			if fault == nil || fault.Code != retrieval.InvalidInput || !strings.HasPrefix(fault.Message, why) || argv != nil {
				t.Errorf("%s %s: %q, %+v", c.number, c.input, argv, fault)
			}
			if again := retrieval.CheckInput(c.tool, v); again == nil || *again != *fault {
				t.Errorf("%s: it is refused with %+v, and before with %+v", c.number, again, fault)
			}
			continue
		}
		if diff := cmp.Diff(strings.Split(c.want, "|"), argv); diff != "" || fault != nil {
			t.Errorf("%s %s: %+v\n%s", c.number, c.input, fault, diff)
		}
		if _, err := readverb.Parse(argv); err != nil && c.number != "E028" && c.number != "E003" && c.number != "E004" {
			t.Errorf("%s: the own store does not take %q: %v", c.number, argv, err)
		}
	}
	if twice := document.MapOf(document.M("query", document.TextOf("a")), document.M("query", document.TextOf("b"))); retrieval.CheckInput("loom_search", twice) == nil {
		t.Error("an argument is taken that is there twice")
	}
}

// The eight are those of 5.3, in their order, each with a closed schema that a model can be given.
func TestTools(t *testing.T) {
	var got []string
	for _, tool := range retrieval.Tools() {
		got = append(got, tool.ID+"|"+tool.Title+"|"+tool.Kind)
		schema := jsontext.Value(tool.Schema)
		if !schema.IsValid() || !strings.HasPrefix(tool.Schema, `{"type":"object","additionalProperties":false,`) || strings.Contains(tool.Schema, "\n") || tool.Description == "" {
			t.Errorf("%s: %s", tool.ID, tool.Schema)
		}
		if named, ok := retrieval.ToolNamed(tool.ID); !ok || named != tool {
			t.Errorf("%s is not found", tool.ID)
		}
	}
	want := []string{
		"loom_search|Loom Search|search", "loom_page_discover|Loom Page Discover|page.discover", "loom_page_inspect|Loom Page Inspect|page.inspect",
		"loom_page_read|Loom Page Read|page.read", "loom_people|Loom People|people", "loom_calendar_list|Loom Calendar List|calendar.list",
		"loom_context|Loom Context|context", "loom_profile|Loom Profile|profile",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := retrieval.ToolNamed("loom_compose"); ok {
		t.Error("there is a ninth")
	}
}

// Q10: whatever is accepted, no word but our own flags begins with a hyphen, and the words of the command are fixed.
func TestNoArgumentBecomesAFlag(t *testing.T) {
	own := map[string][]string{}
	for _, tool := range retrieval.Tools() {
		properties, _ := valueOf(tool.Schema).Get("properties")
		for _, m := range properties.Members {
			own[tool.ID] = append(own[tool.ID], m.Name)
		}
	}
	fine := map[string][]string{
		"rank": {"score"}, "kind": {"projects"}, "shape": {"card"}, "from": {"2026-01-01"}, "to": {"2026-01-02"}, "read": {"where", "activity"},
		"query": {"a@b.org", "+43 1 234567", "x -y", "—"}, "target": {"P-1", "list", " --json"}, "person": {"group:x", "list"}, "at": {"now"}, "since": {"now-1d", "where"},
		"until": {"now"}, "tz": {"UTC"}, "sources": {"fc", "search"},
	}
	flags := []string{"--json", "--concise", "--sources", "--since", "--until", "--tz", "--person", "--limit", "--rank", "--kind", "--shape", "--from", "--to", "--all", "--at", "--fresh"}
	commands := map[string]string{
		"loom_search": "search", "loom_page_discover": "page discover", "loom_page_inspect": "page inspect", "loom_page_read": "page read",
		"loom_people": "people", "loom_calendar_list": "calendar list", "loom_context": "context", "loom_profile": "profile",
	}
	value := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"--json", "-x", "a@b.org", "2026-01-01", "where", "activity", "card", "score", "project", "P-1", "x", "", "\n", " -", "—"}), document.TextOf),
		rapid.Map(rapid.String(), document.TextOf), rapid.Map(rapid.Int64Range(-2, 600), document.IntOf), rapid.Map(rapid.Bool(), document.BoolOf),
		rapid.Just(document.Value{Kind: document.Null}), rapid.Just(document.ListOf()),
	)
	accepted, drawn := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		tool := rapid.SampledFrom(retrieval.Tools()).Draw(t, "tool").ID
		input := document.MapOf()
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(own[tool]), 0, len(own[tool]), rapid.ID).Draw(t, "names") {
			v := value
			if texts := fine[name]; texts != nil && rapid.IntRange(0, 4).Draw(t, "fine") > 0 {
				v = rapid.Map(rapid.SampledFrom(texts), document.TextOf)
			}
			input.Members = append(input.Members, document.M(name, v.Draw(t, name)))
		}
		argv, fault := retrieval.Argv(tool, input)
		if fault != nil {
			if fault.Code != retrieval.InvalidInput || fault.HostCode != "" || strings.ContainsAny(fault.Message, "\n\x00") {
				t.Fatalf("%+v", fault)
			}
			return
		}
		accepted++
		words := strings.Fields(commands[tool])
		if !slices.Equal(argv[:len(words)], words) {
			t.Fatalf("%q does not begin with %q", argv, words)
		}
		for i, word := range argv {
			if strings.HasPrefix(word, "-") && !slices.Contains(flags, word) {
				t.Fatalf("word %d of %q", i, argv)
			}
			if strings.ContainsAny(word, "\x00\n\r\x1b") {
				t.Fatalf("word %d of %q", i, argv)
			}
		}
		if len(argv) > readverb.MaxArguments {
			t.Fatal(fmt.Sprint(len(argv), " words"))
		}
	})
	if accepted*10 < drawn { // about four in ten are
		t.Errorf("%d of %d inputs are accepted", accepted, drawn)
	}
}
