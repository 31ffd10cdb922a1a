package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

func TestSourceCheck(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(s *store.Source)
		want  string // in the error; "" is none
	}{
		{"as it is", func(*store.Source) {}, ""},
		{"the shortest name", func(s *store.Source) { s.Name = "0" }, ""},
		{"the longest name", func(s *store.Source) { s.Name = strings.Repeat("a", 64) }, ""},
		{"a longer name", func(s *store.Source) { s.Name = strings.Repeat("a", 65) }, "cannot be the name of a source"},
		{"no name", func(s *store.Source) { s.Name = "" }, "cannot be the name of a source"},
		{"a hyphen first", func(s *store.Source) { s.Name = "-a" }, "cannot be the name of a source"},
		{"a capital", func(s *store.Source) { s.Name = "aB" }, "cannot be the name of a source"},
		{"a line feed", func(s *store.Source) { s.Name = "a\n" }, "cannot be the name of a source"},
		{"no kind", func(s *store.Source) { s.Kind = "" }, "the kinds are mail, calendar, contacts, pages, places, activity"},
		{"a class for a kind", func(s *store.Source) { s.Kind = "email" }, "there is no kind of source"},
		{"no format", func(s *store.Source) { s.Format = "" }, "no format"},
		{"the longest location", func(s *store.Source) { s.Location = strings.Repeat("/", store.MaxLocationBytes) }, ""},
		{"a longer location", func(s *store.Source) { s.Location = strings.Repeat("/", store.MaxLocationBytes+1) }, "a location of more than"},
		{"no facets", func(s *store.Source) { s.Facets = nil }, ""},
		{"facets out of order", func(s *store.Source) { s.Facets = []string{"b", "a"} }, "not sorted"},
		{"a facet twice", func(s *store.Source) { s.Facets = []string{"a", "a"} }, "named twice"},
		{"no facet", func(s *store.Source) { s.Facets = []string{label.NoFacet} }, "cannot be a facet"},
	} {
		s := store.Source{Name: "post-1", Kind: store.MailSource, Format: "mbox", Location: "/mail", Facets: []string{"family", "work"}}
		tc.spoil(&s)
		err := s.Check()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// The names of facets here are those that labels take: one that a label left out would be seen by nobody.
func TestFacetsAreThoseOfLabels(t *testing.T) {
	for _, name := range []string{"a", "0", "a-b", "a-", strings.Repeat("a", 64), "", "-", "A", "ä", "a b", "a\n", "(none)", strings.Repeat("a", 65)} {
		if got, want := store.CheckFacet(name) == nil, label.IsFacet(name); got != want {
			t.Errorf("%q: %v, of labels %v", name, got, want)
		}
	}
}

// D39: the label is the owner, the class and the facets, observed by the connector.
func TestLabelOf(t *testing.T) {
	var classes []string
	for kind, class := range map[store.SourceKind]string{
		store.MailSource: "email", store.CalendarSource: "calendar", store.ContactsSource: "contact",
		store.PagesSource: "document", store.PlacesSource: "location", store.ActivitySource: "activity",
	} {
		s := store.Source{Name: "x", Kind: kind, Format: "f", Location: "/", Facets: []string{"family", "work"}}
		want := label.New([]label.Clause{
			label.AnyOf(label.User("ada")), label.AnyOf(label.Class(class, "ada")), label.AnyOf(label.Facet("family", "ada"), label.Facet("work", "ada")),
		}, []label.Atom{label.Observed(string(kind) + ".f")})
		if got := store.LabelOf("ada", s); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", kind, got.Canonical(), want.Canonical())
		}
		if s.Class() != class || s.Connector() != string(kind)+".f" {
			t.Errorf("%s: %s, %s", kind, s.Class(), s.Connector())
		}
		other := s
		other.Name, other.Location, other.Number = "y", "/other", 7
		if !store.LabelOf("ada", other).Equal(want) {
			t.Errorf("%s: the name or location changes the label", kind)
		}
		classes = append(classes, class)
	}
	if slices.Sort(classes); !slices.Equal(store.Classes(), classes) || len(store.SourceKinds) != len(classes) {
		t.Errorf("classes %v, want %v", store.Classes(), classes)
	}
	if got := store.LabelOf("ada", store.Source{Kind: "unknown"}); label.Fits(got, label.OwnerCeiling("ada", store.Classes(), nil)) {
		t.Error("a source of no kind fits the owner's ceiling")
	}
}

// What a scope admits is what the ceiling of its facets admits.
func TestScopeIsTheCeilingsRule(t *testing.T) {
	lists := [][]string{nil, {}, {"family"}, {"work"}, {"family", "work"}, {"health"}}
	for _, facets := range lists {
		s := store.Source{Name: "x", Kind: store.MailSource, Format: "mbox", Facets: facets}
		for _, scope := range lists {
			ceiling := label.ScopeCeiling("ada", store.Classes(), scope)
			if scope == nil {
				ceiling = label.OwnerCeiling("ada", store.Classes(), []string{"family", "health", "work"})
			}
			if got, want := (store.Scope{Facets: scope}).Admits("ada", s), label.Fits(store.LabelOf("ada", s), ceiling); got != want {
				t.Errorf("facets %v in the scope %#v: %v, and it fits: %v", facets, scope, got, want)
			}
		}
	}
}
