package readverb_test

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/calendar"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
)

// calls are what the properties ask of each store.
var calls = [][]string{
	{"search", "word", "--limit", "5"},
	{"search", "word token", "--rank", "score", "--limit", "3"},
	{"search", "-other", "--sources", "mail"},
	{"search", "/word/", "--since", "now-30d", "--until", "2026-12-01"},
	{"search", "--person", "ann@x.org"},
	{"search", "--person", "group:club", "--limit", "2"},
	{"search", "word", "--sources", "s1"},
	{"search", "word", "--sources", "fc"},
	{"search", "word", "--sources", "pages.written"},
	{"page", "read", "fc:a.md"},
	{"page", "discover", "--limit", "3"},
	{"page", "discover", "--kind", "projects"},
	{"page", "inspect", "P-1"},
	{"page", "inspect", "a.md"},
	{"page", "inspect", "b"},
	{"page", "read", "c.md"},
	{"page", "read", "club"},
	{"people", "ann@x.org"},
	{"people", "ann@x.org", "--shape", "card"},
	{"people", "bob@x.org", "--shape", "card"},
	{"people", "us@x.org"},
	{"people", "People/Ann/about.md"},
	{"people", "group:club"},
	{"calendar", "list"},
	{"calendar", "list", "--all"},
	{"context", "where"},
	{"context", "activity"},
	{"profile"},
}

// tokens give each record a word of its own, wherever a payload may show some of it.
type tokens struct {
	n  int
	of map[string]string // token to the source of its record
}

func (k *tokens) next(source string) string {
	k.n++
	t := fmt.Sprintf("token%dx", k.n)
	k.of[t] = source
	return t
}

var facetSets = [][]string{nil, {"work"}, {"family"}, {"family", "work"}, {"health"}}

// someParts draws sources in some facets with records that have much in common.
func someParts(t *rapid.T) ([]part, *tokens) {
	k := &tokens{of: map[string]string{}}
	pick := func(label string, among ...string) string { return rapid.SampledFrom(among).Draw(t, label) }
	address := func() string { return pick("address", "ann@x.org", "bob@x.org", "us@x.org") }
	name := func() string { return pick("name", "Ann", "Bob", "ANN") }
	at := func() time.Time {
		return now.Add(-time.Duration(rapid.IntRange(0, 40).Draw(t, "hours")) * time.Hour)
	}
	path := func() string { return pick("path", "a.md", "b.md", "c.md", "People/Ann/about.md", "profile.md") }
	var parts []part
	kinds := []struct {
		kind   store.SourceKind
		format string
	}{
		{store.MailSource, "mbox"},
		{store.CalendarSource, "ics"},
		{store.ContactsSource, "vcard"},
		{store.PagesSource, "markdown"},
		{store.PlacesSource, "gpx"},
		{store.ActivitySource, "activitywatch"},
	}
	for n := range rapid.IntRange(1, 8).Draw(t, "sources") {
		kind := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]
		p := part{Source: source(fmt.Sprintf("s%d", n), kind.kind, kind.format, facetSets[rapid.IntRange(0, len(facetSets)-1).Draw(t, "facets")]...)}
		p.never = rapid.IntRange(0, 9).Draw(t, "never") == 0
		if kind.kind == store.PagesSource && n%2 == 0 {
			p.Name = fmt.Sprintf("s%d", n)
			if !slices.ContainsFunc(parts, func(p part) bool { return p.Name == store.FileCabinet }) {
				p.Name = store.FileCabinet
			}
		}
		used := map[string]bool{}
		for i := range rapid.IntRange(0, 6).Draw(t, "records") {
			ref, token := fmt.Sprintf("%s-%d", p.Name, i), k.next(p.Name)
			var r *store.Record
			switch kind.kind {
			case store.MailSource:
				r = mail(ref, at().Format(time.RFC3339), name()+" "+token+" <"+address()+">", address(), "word "+token, "a word of the "+token)
			case store.CalendarSource:
				e := calendar.Event{UID: ref, Summary: "word " + token, Start: calendar.NewDate(2026, 12, 1+i), Attendees: []calendar.Attendee{{Name: token, Address: address()}}}
				r = event(e)
			case store.ContactsSource:
				if i == 0 && rapid.Bool().Draw(t, "group") {
					r = group(ref, "Club", p.Name+"-1", "mailto:"+address())
				} else {
					r = contact(ref, name(), object{"org": token, "note": token + " note", "urls": []string{token}}, address(), address())
				}
			case store.PagesSource:
				where := path()
				if used[where] {
					continue
				}
				used[where] = true
				more := object{"links": []string{path(), "[[Club]]"}}
				if rapid.Bool().Draw(t, "alias") {
					more["aliases"] = []string{"Club"}
				}
				r = page(pick("id", "P-1", "P-2", "P-3"), where, pick("page kind", "project", "entity", "page"), "word "+token, "a word "+token, more)
				if where == "People/Ann/about.md" {
					r.Keys = append(r.Keys, where, address())
				}
			case store.PlacesSource:
				r = place(ref, at().Format(time.RFC3339), object{"lat": 1, "lon": 2, "name": token})
			case store.ActivitySource:
				from := at()
				r = activity(ref, from.Format(time.RFC3339), from.Add(time.Hour).Format(time.RFC3339), "app", pick("title", "shared", token))
			}
			p.records = append(p.records, r)
		}
		parts = append(parts, p)
	}
	taken := map[string]bool{} // one document of a path there is, whatever its label
	for _, l := range rapid.SliceOfNDistinct(rapid.SampledFrom(writtenLabels()), 0, 3, label.Label.Canonical).Draw(t, "labels of documents") {
		p := documents(l)
		for range rapid.IntRange(1, 3).Draw(t, "documents") {
			where, token := path(), k.next(p.Name)
			if taken[where] {
				continue
			}
			taken[where] = true
			r := page(pick("id", "P-1", "P-2", "P-3"), where, pick("page kind", "project", "entity", "page"), "word "+token, "a word "+token, object{"links": []string{path(), "[[Club]]"}})
			if where == "People/Ann/about.md" {
				r.Keys = append(r.Keys, where, address())
			}
			p.records = append(p.records, r)
		}
		if len(p.records) > 0 {
			parts = slices.Insert(parts, rapid.IntRange(0, len(parts)).Draw(t, "place"), p)
		}
	}
	return parts, k
}

// writtenLabels are labels of documents that were made of records in different facets.
func writtenLabels() []label.Label {
	of := func(facets ...string) label.Label { return label.OfRecord(owner.Subject, "email", "mail.mbox", facets) }
	return []label.Label{of("work"), of("family"), of("family", "work"), of(), label.Join(of("work"), of("family")), label.Join(of("work"), of())}
}

func someScope(t *rapid.T) store.Scope {
	return store.Scope{Facets: rapid.SampledFrom([][]string{{"work"}, {"family"}, {"family", "work"}, {"health"}, {}}).Draw(t, "scope")}
}

// What is outside of a scope changes no byte of any answer: it might as well not be there (12.4, Q1).
func TestNoninterference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts, _ := someParts(t)
		scope := someScope(t)
		all := inMemory(parts)
		var rest []part
		for _, p := range parts {
			if scope.Admits(owner.Subject, p.Source) {
				rest = append(rest, p)
			}
		}
		only := inMemory(rest)
		for _, argv := range calls {
			got, want := ask(all.View(scope), argv...), ask(only.View(everything), argv...)
			if got != want {
				t.Errorf("%v: with what is outside\n%s\nwithout\n%s", argv, got, want)
			}
		}
	})
}

// The same in the store people have.
func TestNoninterferenceInAFile(t *testing.T) {
	parts := theParts()
	for _, facets := range [][]string{{"work"}, {"family"}} {
		scope := store.Scope{Facets: facets}
		var rest []part
		for _, p := range parts {
			if scope.Admits(owner.Subject, p.Source) {
				rest = append(rest, p)
			}
		}
		all, only := inFile(t, parts), inFile(t, rest)
		for _, argv := range append(slices.Clone(calls), []string{"search", "budget", "--rank", "score"}, []string{"people", "grace@example.com", "--shape", "card"}, []string{"page", "inspect", "P-12"}) {
			views := make([]store.View, 2)
			for i, s := range []store.Store{all, only} {
				v, err := s.View(context.Background(), scope)
				if err != nil {
					t.Fatal(err)
				}
				views[i] = v
			}
			if got, want := ask(views[0], argv...), ask(views[1], argv...); got != want {
				t.Errorf("%v %v: with what is outside\n%s\nwithout\n%s", facets, argv, got, want)
			}
			for _, v := range views {
				if err := v.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// The rows of a payload, by section 5.7.
func rowsOf(t interface{ Fatalf(string, ...any) }, argv []string, payload string) (rows []jsontext.Value) {
	var envelope struct {
		Hits  []jsontext.Value `json:"hits"`
		Pages []jsontext.Value `json:"pages"`
	}
	var err error
	switch strings.Join(argv[:min(len(argv), 2)], " ") {
	case "calendar list":
		err = json.Unmarshal([]byte(payload), &rows)
	case "page discover":
		err = json.Unmarshal([]byte(payload), &envelope)
		rows = envelope.Pages
	default:
		if argv[0] == "search" {
			err = json.Unmarshal([]byte(payload), &envelope)
			rows = envelope.Hits
		} else {
			rows = append(rows, jsontext.Value(payload))
		}
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, payload)
	}
	return rows
}

var tokenForm = regexp.MustCompile(`token\d+x`)

// Each row has a label, which fits the ceiling of its scope, and has every clause of the labels of the records of which it shows
// something (12.3, S5; D39).
func TestLabelsCoverWhatIsShown(t *testing.T) {
	shown := 0
	rapid.Check(t, func(t *rapid.T) {
		parts, k := someParts(t)
		labelOf := map[string]label.Label{}
		for _, p := range parts {
			labelOf[p.Name] = store.LabelOf(owner.Subject, p.Source)
		}
		all := inMemory(parts)
		scope := someScope(t)
		scoped := label.ScopeCeiling(owner.Subject, store.Classes(), scope.Facets)
		owners := label.OwnerCeiling(owner.Subject, store.Classes(), owner.Facets)
		for _, argv := range calls {
			for _, limit := range []struct {
				scope   store.Scope
				ceiling label.Ceiling
			}{{everything, owners}, {scope, scoped}} {
				payload, _, _ := strings.Cut(ask(all.View(limit.scope), argv...), "\n")
				if !strings.HasPrefix(payload, "{") && !strings.HasPrefix(payload, "[") || strings.HasPrefix(payload, `{"ok":false`) {
					continue
				}
				for _, row := range rowsOf(t, argv, payload) {
					var carried struct {
						Ifc jsontext.Value `json:"ifc"`
					}
					if err := json.Unmarshal(row, &carried); err != nil {
						t.Fatalf("%v: %v", argv, err)
					}
					l, err := label.ReadLabel(carried.Ifc)
					if err != nil {
						t.Fatalf("%v: %v: %s", argv, err, row)
					}
					if !label.Fits(l, limit.ceiling) {
						t.Errorf("%v within %v: the label does not fit the scope's ceiling: %s", argv, limit.scope, row)
					}
					for _, token := range tokenForm.FindAllString(string(row), -1) {
						shown++
						for _, c := range labelOf[k.of[token]].Confidentiality() {
							if !slices.ContainsFunc(l.Confidentiality(), c.Equal) {
								t.Errorf("%v shows %s of %s without its clause %s: %s", argv, token, k.of[token], c.Canonical(), row)
							}
						}
					}
				}
			}
		}
	})
	if shown < 1000 {
		t.Errorf("only %d tokens were shown", shown)
	}
}

// The same question has the same answer, to the byte.
func TestAnswersAreDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts, _ := someParts(t)
		one := inMemory(parts)
		slices.Reverse(parts)
		other := inMemory(parts)
		for _, argv := range calls {
			if a, b := ask(one.View(everything), argv...), ask(other.View(everything), argv...); a != b {
				t.Errorf("%v: %s, then %s", argv, a, b)
			}
		}
	})
}

// A row whose stored label is not the one its source gives is withheld everywhere, and only that something was is told.
func TestMislabelledRowsAreWithheld(t *testing.T) {
	m := inMemory(theParts())
	for _, r := range []struct{ source, ref string }{
		{"post", "m1"}, {"notes", "projects/compiler.md"}, {"cards", "c9"}, {"cards", "g1"}, {"dates", "fair"}, {"trail", "p1"}, {"watch", "a1"}, {store.FileCabinet, "profile.md"},
	} {
		m.Mislabel(r.source, r.ref)
	}
	for _, tc := range []struct{ argv, without, with string }{
		{"search budget", "post/m1", `"warnings":["label_mismatch"]`},
		{"page discover", "Compiler", "note: records were left out"},
		{"page read A-0", "See the plan", `"code":"unknown_page"`},
		{"page inspect plan", "projects/compiler.md", `"links":[],"backlinks":[{"pageId":"P-14"`},
		{"page inspect P-14", "compiler", `"links":[{"pageId":"P-13"`},
		{"people +14155550100", "Grace", "error: nobody is known"},
		{"people group:team", "Team", "error: nobody is known"},
		{"calendar list", "Fair", "note: records were left out"},
		{"context where", "Office", `"lat":52.5,"lon":13,`},
		{"context activity", "5400", `{"app":"Editor","title":"loom.go","seconds":1800}`},
		{"profile", "Lovelace", "status 1"},
	} {
		got := ask(m.View(everything), quoted(tc.argv)...)
		if strings.Contains(got, tc.without) || !strings.Contains(got, tc.with) {
			t.Errorf("%s: %s\nwant %q and nothing of %q", tc.argv, got, tc.with, tc.without)
		}
	}
}

func TestStatusOf(t *testing.T) {
	for _, tc := range []struct {
		answer readverb.Answer
		err    error
		want   int
	}{
		{readverb.Answer{}, nil, 0},
		{readverb.Answer{Failed: true}, nil, 1},
		{readverb.Answer{}, &readverb.ArgumentError{}, 1},
		{readverb.Answer{}, &readverb.UnknownError{}, 1},
		{readverb.Answer{}, fmt.Errorf("read: %w", &readverb.ContestedError{}), 3},
		{readverb.Answer{}, context.Canceled, 1},
	} {
		if got := readverb.StatusOf(tc.answer, tc.err); got != tc.want {
			t.Errorf("%v, %v: %d, want %d", tc.answer, tc.err, got, tc.want)
		}
	}
}
