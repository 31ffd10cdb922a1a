package readverb_test

import (
	"strings"
	"testing"

	"github.com/loomrun/loom/readverb"
)

func TestArgumentsAreRefused(t *testing.T) {
	long := strings.Repeat("a", 501)
	for _, tc := range []struct{ argv, want string }{
		{"", "there is no such read"},
		{"connector handles", "there is no such read"},
		{"page write x", "there is no such read"},
		{"calendar", "there is no such read"},
		{"search", "name a query, a --person, or both"},
		{"search ''", "an empty argument"},
		{"search a b", "one argument too many; quote"},
		{"search -- a", `unknown flag "--"`},
		{"search -a", `unknown flag "-a"`},
		{"search a --instance x", `unknown flag "--instance"`},
		{"search a --facets work", `unknown flag "--facets"`},
		{"search a --peek", `unknown flag "--peek"`},
		{"search a --sources=fc", `unknown flag "--sources=fc"`},
		{"search a --limit", "--limit needs a value"},
		{"search a --limit 0", "--limit is a whole number from 1 to 200"},
		{"search a --limit -1", "--limit is a whole number from 1 to 200"},
		{"search a --limit 1.5", "--limit is a whole number from 1 to 200"},
		{"search a --limit +5", "--limit is a whole number from 1 to 200"},
		{"search a --limit 05", "--limit is a whole number from 1 to 200"},
		{"search a --limit 201", "--limit is a whole number from 1 to 200"},
		{"search a --limit 99999999999999999999", "--limit is a whole number from 1 to 200"},
		{"search a --limit 5 --limit 5", "--limit is there twice"},
		{"search a --json --json", "--json is there twice"},
		{"search a --rank best", "--rank is recency or score"},
		{"search a --sources -x", "--sources: an argument does not begin with a hyphen"},
		{"search a --since 'x\ty'", "--since: an argument has no control characters"},
		{"search 'a\x7f'", "no control characters"},
		{"search 'a\u0085'", "no control characters"},
		{"search 'a\xff'", "not UTF-8"},
		{"search " + long, "at most 500 characters"},
		{"search " + strings.Repeat("😀", 251), "at most 500 characters"},
		{"page discover all", "one argument too many"},
		{"page discover --kind panels", "--kind is all, project, projects, entity or entities"},
		{"page discover --kind 'project '", "--kind is all"},
		{"page discover --kind Project", "--kind is all"},
		{"page discover --limit 501", "from 1 to 500"},
		{"page inspect", "name a page"},
		{"page read", "name a page"},
		{"page read x --concise", `unknown flag "--concise"`},
		{"people", "name an email address"},
		{"people Alice", "people: that is not an email address, a phone number"},
		{"people list", "that is not"},
		{"people Notes/x.md", "that is not"},
		{"people a@b@c", "that is not"},
		{"people a@b.c --shape full", "--shape is summary or card"},
		{"calendar list --all --from 2026-01-01", "--all goes with neither"},
		{"calendar list --to 2026-01-01 --all", "--all goes with neither"},
		{"calendar list --from today", "--from is a day"},
		{"calendar list --to 2026-1-1", "--to is a day"},
		{"calendar list 2026-01-01", "one argument too many"},
		{"context", "name where or activity"},
		{"context hosted", "context is where or activity"},
		{"context where --since now", "--since and --until go with activity"},
		{"context activity --at now", "--at goes with where"},
		{"profile --fresh yes", "one argument too many"},
		{"profile x", "one argument too many"},
		{strings.Repeat("search ", 65), "more than 64 arguments"},
	} {
		_, err := readverb.Parse(quoted(tc.argv))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.60q: %v, want %q", tc.argv, err, tc.want)
		}
		if _, ok := err.(*readverb.ArgumentError); err != nil && !ok {
			t.Errorf("%.60q: %T", tc.argv, err)
		}
	}
}

// What follows from now or the view is refused when the verb is read.
func TestArgumentsAreRefusedWhenRead(t *testing.T) {
	v := inMemory(theParts())
	for _, tc := range []struct{ argv, want string }{
		{"search a --tz Nowhere/City", `--tz: "Nowhere/City" is no time zone`},
		{"search a --tz Local", "is no time zone"},
		{"search a --tz ../../etc/passwd", "is no time zone"},
		{"search a --tz /etc/localtime", "is no time zone"},
		{"search a --since yesterday", `--since: "yesterday" is no time; use an instant`},
		{"search a --since now+1h", "is no time"},
		{"search a --since now-1y", "is no time"},
		{"search a --since now-999999s", "is no time"},
		{"search a --until 2026-02-30", "--until: there is no day 2026-02-30"},
		{"search a --until 2026-02-30T10:00:00Z", "is no time"},
		{"search a --sources post,,fc", "none of them empty"},
		{"search a --person Alice", "--person: that is not"},
		{"calendar list --to 2026-13-45", "there is no day 2026-13-45"},
	} {
		got := ask(v.View(everything), quoted(tc.argv)...)
		if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, tc.want) || !strings.HasSuffix(got, "status 1\n") {
			t.Errorf("%s: %s, want %q", tc.argv, got, tc.want)
		}
	}
}

func TestArgumentsAreTaken(t *testing.T) {
	for _, tc := range []struct {
		argv string
		want readverb.Verb
	}{
		{
			"search --limit 200 --json q --rank score --sources fc --since now --until now --tz UTC --person a@b.c",
			readverb.Search{Query: "q", Sources: "fc", Since: "now", Until: "now", TZ: "UTC", Person: "a@b.c", Limit: 200, Rank: "score"},
		},
		{"search --person a@b.c", readverb.Search{Person: "a@b.c"}},
		{"search " + strings.Repeat("😀", 250), readverb.Search{Query: strings.Repeat("😀", 250)}},
		{"page discover", readverb.PageDiscover{}},
		{"page discover --json --concise --kind entities --limit 500", readverb.PageDiscover{Kind: "entities", Limit: 500, Concise: true}},
		{"page inspect a/b --json --concise", readverb.PageInspect{Target: "a/b", Concise: true}},
		{"page read 'a b' --json", readverb.PageRead{Target: "a b"}},
		{"people +14155550100 --json --shape card", readverb.People{Query: "+14155550100", Shape: "card"}},
		{"calendar list --json --all", readverb.CalendarList{All: true}},
		{"calendar list --json --from 2026-13-45 --to 2026-01-01 --tz UTC", readverb.CalendarList{From: "2026-13-45", To: "2026-01-01", TZ: "UTC"}},
		{"context where --json --at now-30m", readverb.Context{What: "where", At: "now-30m"}},
		{"context activity --since 2026-01-01 --until now", readverb.Context{What: "activity", Since: "2026-01-01", Until: "now"}},
		{"profile --json --fresh", readverb.Profile{Fresh: true}},
	} {
		got, err := readverb.Parse(quoted(tc.argv))
		if err != nil || got != tc.want {
			t.Errorf("%.80s: %+v, %v, want %+v", tc.argv, got, err, tc.want)
		}
	}
}

// Whatever the words, Parse gives a call or an argument error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"search a --limit 3", "page read P-1", "context where --at now", "calendar list --all", "people a@b.c", "profile --fresh", "search \xff"} {
		f.Add(seed)
	}
	view := inMemory(theParts()).View(everything)
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, " ")
		got := ask(view, argv...)
		if got == "" {
			t.Errorf("%q: nothing", argv)
		}
	})
}

func TestScopeOf(t *testing.T) {
	known := []string{"family", "work"}
	s, err := readverb.ScopeOf("work, family,work", known)
	if err != nil || len(s.Facets) != 2 {
		t.Errorf("%v, %v", s, err)
	}
	for text, want := range map[string]string{
		"wrk":   `there is no facet "wrk"; the facets are family, work`,
		"work,": "--facets: a list with commas between its names, none of them empty",
		"":      "none of them empty",
	} {
		if s, err := readverb.ScopeOf(text, known); err == nil || !strings.Contains(err.Error(), want) || s.Facets != nil {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	if _, err := readverb.ScopeOf("work", nil); err == nil || !strings.Contains(err.Error(), "there are no facets") {
		t.Errorf("%v", err)
	}
}
