package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// The trust follows from each thing a label follows from, in whatever order the sources come, and from nothing else.
func TestTrustFollowsFromWhatLabelsFollowFrom(t *testing.T) {
	owner := func() store.Owner {
		return store.Owner{Subject: "ada", Zone: "UTC", Facets: []string{"family", "work"}}
	}
	sources := func() []store.Source {
		return []store.Source{
			{Number: 2, Name: "post", Kind: store.MailSource, Format: "mbox", Facets: []string{"work"}},
			{Number: 1, Name: "fc", Kind: store.PagesSource, Format: "markdown"},
		}
	}
	first := store.TrustOf(owner(), sources())
	if first == "" {
		t.Fatal("no trust")
	}
	written := store.WrittenSource(label.Label{}, at, free)
	for _, c := range []struct {
		name   string
		change func(o *store.Owner, s []store.Source) []store.Source
		same   bool
	}{
		{"nothing", func(_ *store.Owner, s []store.Source) []store.Source { return s }, true},
		{"the order", func(_ *store.Owner, s []store.Source) []store.Source { return []store.Source{s[1], s[0]} }, true},
		{"the zone", func(o *store.Owner, s []store.Source) []store.Source { o.Zone = "Europe/Vienna"; return s }, true},
		{"where a source is", func(_ *store.Owner, s []store.Source) []store.Source { s[0].Location = "/elsewhere"; return s }, true},
		{"written documents", func(_ *store.Owner, s []store.Source) []store.Source { return append(s, written) }, true},
		{"the owner", func(o *store.Owner, s []store.Source) []store.Source { o.Subject = "bob"; return s }, false},
		{"a facet", func(o *store.Owner, s []store.Source) []store.Source { o.Facets = o.Facets[:1]; return s }, false},
		{"two facets in one", func(o *store.Owner, s []store.Source) []store.Source { o.Facets = []string{"family work"}; return s }, false},
		{"a source less", func(_ *store.Owner, s []store.Source) []store.Source { return s[:1] }, false},
		{"a source's facets", func(_ *store.Owner, s []store.Source) []store.Source { s[0].Facets = nil; return s }, false},
		{"a source's kind", func(_ *store.Owner, s []store.Source) []store.Source { s[0].Kind = store.PagesSource; return s }, false},
		{"a source's format", func(_ *store.Owner, s []store.Source) []store.Source { s[0].Format = "eml"; return s }, false},
		{"a source's name", func(_ *store.Owner, s []store.Source) []store.Source { s[0].Name = "mail"; return s }, false},
		{"another of the name", func(_ *store.Owner, s []store.Source) []store.Source { s[0].Number = 3; return s }, false},
	} {
		o, s := owner(), sources()
		s = c.change(&o, s)
		if got := store.TrustOf(o, s) == first; got != c.same {
			t.Errorf("%s: the same trust: %v", c.name, got)
		}
	}
}

// at is when the documents of the tests are written.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func free(string) bool { return false }

func TestWhatCanBeWritten(t *testing.T) {
	work := label.OfRecord("ada", "email", "mail.mbox", []string{"work"})
	page := func(ref string) *store.Record { return &store.Record{Ref: ref, Kind: store.Page} }
	failed := label.AnyOf(label.ReadFailed())
	// sized is a label of so many bytes: that of a person with a long name.
	sized := func(bytes int) label.Label {
		of := func(name string) label.Label { return label.New([]label.Clause{label.AnyOf(label.User(name))}, nil) }
		return of(strings.Repeat("x", bytes-len(of("").Canonical())))
	}
	many := make([]store.Written, store.MaxWritten+1)
	for i := range many {
		many[i] = store.Written{Record: page(fmt.Sprint(i)), Label: work}
	}
	for _, c := range []struct {
		name      string
		documents []store.Written
		want      string // in the error; "" is none
	}{
		{"nothing", nil, ""},
		{"as many as can be", many[:store.MaxWritten], ""},
		{"one more", many, "1001 documents: at most 1000"},
		{"a public one", []store.Written{{Record: page("a")}}, ""},
		{"no record", []store.Written{{Label: work}}, "a document without a record"},
		{"no reference", []store.Written{{Record: page("")}}, `document "": a record's reference has 0 bytes`},
		{"a long reference", []store.Written{{Record: page(strings.Repeat("x", 2000))}}, `document "` + strings.Repeat("x", 200) + `": a record's reference has 2000 bytes`},
		{"a message", []store.Written{{Record: &store.Record{Ref: "a", Kind: store.Mail}}}, `document "a": it is of kind "mail"`},
		{"one twice", []store.Written{many[0], many[1], many[0]}, `document "0": it is there twice`},
		{"a label that was not read", []store.Written{{Record: page("a"), Label: label.New([]label.Clause{failed}, nil)}}, "could not be read"},
		{"one of several alternatives", []store.Written{{Record: page("a"), Label: label.New([]label.Clause{label.AnyOf(label.User("ada"), label.ReadFailed())}, nil)}}, "could not be read"},
		{"as large a label as can be", []store.Written{{Record: page("a"), Label: sized(store.MaxWrittenLabelBytes)}}, ""},
		{"a larger one", []store.Written{{Record: page("a"), Label: sized(store.MaxWrittenLabelBytes + 1)}}, `document "a": its label has 65537 bytes: at most 65536`},
		{"a clause without alternatives", []store.Written{{Record: page("a"), Label: label.New([]label.Clause{label.AnyOf()}, nil)}}, "cannot be kept"},
	} {
		err := store.CheckWritten(c.documents)
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300s, want %s", c.name, got, c.want)
		}
	}
	if err := (store.Source{Format: "markdown"}).RefuseWritten(); err != nil {
		t.Error(err)
	}
	if err := store.WrittenSource(work, at, free).RefuseWritten(); err == nil {
		t.Error("a source of written documents is synced")
	}
}

// A source of written documents has their label, and one that cannot be read is for nobody.
func TestLabelOfWrittenDocuments(t *testing.T) {
	l := label.Join(label.OfRecord("ada", "email", "mail.mbox", []string{"work"}), label.OfRecord("bob", "contact", "contacts.vcard", nil))
	s := store.WrittenSource(l, at, free)
	if got := store.LabelOf("ada", s); !got.Equal(l) {
		t.Errorf("the label is %s", got.Canonical())
	}
	if !(store.Scope{}).Admits("ada", s) || (store.Scope{Facets: []string{}}).Admits("ada", store.WrittenSource(label.Label{}, at, free)) {
		t.Error("the owner does not see it, or a scope of nothing sees what is public")
	}
	for _, text := range []string{"", "{", "{}", `{"confidentiality":7}`, `{"confidentiality":[{"anyOf":[]}]}`} {
		s.Written = text
		if got := store.LabelOf("ada", s); label.Fits(got, label.Unbounded()) || (store.Scope{Facets: []string{"work"}}).Admits("ada", s) {
			t.Errorf("%q is read as %s", text, got.Canonical())
		}
	}
}

// The name of a source of written documents follows from their label; where it is taken, it is longer.
func TestNamesOfWrittenSources(t *testing.T) {
	one, two := store.WrittenSource(label.Label{}, at, free), store.WrittenSource(label.OfRecord("ada", "email", "mail.mbox", nil), at, free)
	if one.Name == two.Name || len(one.Name) != len("written-")+12 {
		t.Errorf("the names are %s and %s", one.Name, two.Name)
	}
	long := store.WrittenSource(label.Label{}, at, func(name string) bool { return len(name) < 64 })
	if len(long.Name) != 64 || !strings.HasPrefix(long.Name, one.Name) {
		t.Errorf("the name is %s", long.Name)
	}
	if err := (store.Source{Name: long.Name, Kind: store.MailSource, Format: "mbox"}).Check(); err != nil {
		t.Error(err)
	}
	if one.Check() == nil || (store.Source{Name: "x", Kind: store.PagesSource, Format: "markdown", Written: "{}"}).Check() == nil {
		t.Error("a source of written documents can be added")
	}
}
