package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
)

// The labels that written documents of the tests have, by what is said of them.
var writtenLabels = map[string]label.Label{
	"work":             label.OfRecord("ada", "email", "mail.mbox", []string{"work"}),
	"family":           label.OfRecord("ada", "document", "pages.markdown", []string{"family"}),
	"work or family":   label.OfRecord("ada", "email", "mail.mbox", []string{"family", "work"}),
	"work and family":  joined([]string{"work"}, []string{"family"}),
	"work and nothing": joined([]string{"work"}, nil),
	"bob's":            label.OfRecord("bob", "email", "mail.mbox", []string{"work"}),
	"no class of ours": label.OfRecord("ada", "weather", "mail.mbox", []string{"work"}),
}

// joined is the label of what was made from a message in some facets and a calendar in others.
func joined(mail, calendar []string) label.Label {
	return label.Join(label.OfRecord("ada", "email", "mail.mbox", mail), label.OfRecord("ada", "calendar", "calendar.ics", calendar))
}

// cabinets are a store and [Memory], which are written to and looked at together.
type cabinets struct {
	*world
	m *Memory
}

func newCabinets(w *world) cabinets { return cabinets{w, memory(nil)} }

// document is one with a label by its name. Its text is the title, a slash, and the body.
func document(ref, text, of string) store.Written {
	title, body, _ := strings.Cut(text, "/")
	return store.Written{Label: writtenLabels[of], Record: &store.Record{
		Ref: ref, Kind: store.Page, Title: title, Body: body, Time: minutes(strings.Index("one two three", ref)), Folder: "results",
		Keys: []string{"path:" + ref}, Details: []byte(`{"source":"` + ref + `"}`),
	}}
}

func (c cabinets) trust() store.Trust {
	c.Helper()
	trust, err := c.s.Trust(c.Context())
	c.must(err)
	return trust
}

// write puts documents into both, and gives the error of the store; the other has one just when it has.
func (c cabinets) write(when time.Time, documents ...store.Written) error {
	c.Helper()
	trust, err := c.m.Trust(c.Context())
	c.must(err)
	also := c.m.Write(c.Context(), trust, documents, when)
	err = c.s.Write(c.Context(), c.trust(), documents, when)
	if (err == nil) != (also == nil) {
		c.Errorf("the store says %v, the one in memory %v", err, also)
	}
	return err
}

// alike fails where the two show any reader anything different, or the store is not whole.
func (c cabinets) alike() {
	c.Helper()
	words, err := query.Parse("apple OR pear")
	c.must(err)
	questions := []store.Search{
		{Limit: 10, Rank: store.ByRecency},
		{Query: words, Limit: 2, Rank: store.ByScore},
		{Limit: 10, Rank: store.ByRecency, Parties: []store.Identifier{"path:one"}},
	}
	filters := []store.Filter{{}, {Keys: []string{"path:one", "path:two"}}, {Kinds: []store.Kind{store.Page}, Oldest: true, Limit: 3}}
	for _, facets := range [][]string{nil, {}, {"family"}, {"family", "work"}, {"health"}, {"work"}} {
		scope := store.Scope{Facets: facets}
		if got, want := render(c.world, c.view(facets), questions, filters), render(c.world, c.m.View(scope), questions, filters); got != want {
			c.Errorf("seen from %#v: %s", facets, difference(got, want))
		}
	}
	c.must(c.Intact(c, c.s))
}

// writtenSources are those of written documents in the owner's view, with how many there are in each.
func (c cabinets) writtenSources() (all []store.SourceState) {
	c.Helper()
	return with(c.world, nil, func(v store.View) []store.SourceState {
		return slices.DeleteFunc(v.Sources(), func(s store.SourceState) bool { return !s.IsWritten() })
	})
}

func writtenComeBack(w *world) {
	c := newCabinets(w)
	when := at.Add(time.Hour)
	given := map[string]store.Written{}
	for _, d := range []store.Written{document("one", "Apple/pie", "work"), document("two", "Pear/cake", "work and family"), document("three", "Plum/apple", "work")} {
		given[d.Record.Ref] = d
	}
	w.must(c.write(when, given["one"], given["two"], given["three"]))
	v := w.view(nil)
	rows := w.rows(v, store.Filter{})
	w.same("records", refs(rows), "three two one")
	for _, r := range rows {
		d := given[r.Ref]
		w.same(r.Ref, fmt.Sprintf("%+v", r.Record), fmt.Sprintf("%+v", *d.Record))
		w.same("its label", r.Label.Canonical(), d.Label.Canonical())
		w.same("its source", fmt.Sprintf("%s %q %v %v", r.Source.Connector(), r.Source.Location, r.Source.Facets, r.Source.Added), fmt.Sprintf("pages.written \"\" [] %v", when))
		w.same("how far it is", fmt.Sprint(r.Source.Synced, r.Source.Complete, r.Source.Problem), fmt.Sprint(when, true, ""))
		w.same("observed", r.Observed, when)
		w.same("by its reference", refs(w.rows(v, store.Filter{Sources: []string{r.Source.Name}, Ref: r.Ref})), r.Ref)
		w.same("by its key", refs(w.rows(v, store.Filter{Keys: []string{"path:" + r.Ref}})), r.Ref)
	}
	w.must(v.Close())
	w.same("found", w.find(nil, "apple", store.Search{}), "three one")
	w.same("found from work", w.find([]string{"work"}, "apple OR pear", store.Search{}), "three one")
	sources := c.writtenSources()
	if len(sources) != 2 || sources[0].Records+sources[1].Records != 3 {
		w.Errorf("the sources are %+v", sources)
	}
	w.same("their names", !strings.ContainsFunc(sources[0].Name+sources[1].Name, func(r rune) bool { return !strings.ContainsRune("writen-0123456789abcdf", r) }), true)
	w.must(c.write(when)) // nothing
	c.alike()
}

func writtenScopes(w *world) {
	c := newCabinets(w)
	scopes := [][]string{nil, {}, {"family"}, {"work"}, {"family", "work"}, {"family", "health", "work"}}
	for of, seen := range map[string][]int{
		"work":             {0, 3, 4, 5},
		"family":           {0, 2, 4, 5},
		"work or family":   {0, 2, 3, 4, 5},
		"work and family":  {0, 4, 5},
		"work and nothing": {0},
		"bob's":            {0},
		"no class of ours": {0},
	} {
		w.must(c.write(at, document("it", "Apple/pie", of)))
		for i, facets := range scopes {
			want := ""
			if slices.Contains(seen, i) {
				want = "it"
			}
			w.same(fmt.Sprintf("%s, from %#v", of, facets), w.records(facets, store.Filter{}), want)
			w.same(fmt.Sprintf("%s, found from %#v", of, facets), w.find(facets, "apple", store.Search{}), want)
			s := store.Source{Name: "x", Kind: store.PagesSource, Format: store.WrittenFormat, Written: writtenLabels[of].Canonical()}
			w.same("it is admitted", store.Scope{Facets: facets}.Admits("ada", s), want != "")
		}
		c.alike()
	}
}

func writtenWhole(w *world) {
	c := newCabinets(w)
	w.must(c.write(at, document("one", "Apple/pie", "work")))
	good, many := document("two", "Pear/", "family"), make([]store.Written, store.MaxWritten+1)
	for i := range many {
		many[i] = document(fmt.Sprint("r", i), "Apple/", "work")
	}
	spoilt := func(spoil func(d *store.Written)) []store.Written {
		d := document("three", "Plum/", "work")
		spoil(&d)
		return []store.Written{document("one", "Changed/", "work"), good, d}
	}
	for name, documents := range map[string][]store.Written{
		"too many":                  many,
		"one twice":                 {good, good},
		"no record":                 spoilt(func(d *store.Written) { d.Record = nil }),
		"no reference":              spoilt(func(d *store.Written) { d.Record.Ref = "" }),
		"a message":                 spoilt(func(d *store.Written) { d.Record.Kind = store.Mail }),
		"a label that was not read": spoilt(func(d *store.Written) { d.Label = label.New([]label.Clause{label.AnyOf(label.ReadFailed())}, nil) }),
		"an alternative of that kind": spoilt(func(d *store.Written) {
			d.Label = label.New([]label.Clause{label.AnyOf(label.User("ada"), label.ReadFailed())}, nil)
		}),
		"a clause nobody fits": spoilt(func(d *store.Written) { d.Label = label.New([]label.Clause{label.AnyOf()}, nil) }),
	} {
		if err := c.write(at, documents...); err == nil {
			w.Errorf("%s was written", name)
		}
	}
	w.same("records", w.records(nil, store.Filter{}), "one")
	w.same("found", w.find(nil, "apple", store.Search{}), "one")
	c.alike()
	w.must(c.s.Write(w.Context(), c.trust(), many[:store.MaxWritten], at)) // as many as can be
	w.same("sources", len(c.writtenSources()), 1)
}

func writtenTrust(w *world) {
	w.add("post", "work")
	first := newCabinets(w).trust()
	write := func(trust store.Trust) error {
		return w.s.Write(w.Context(), trust, []store.Written{document("one", "Apple/pie", "work")}, at)
	}
	same := func(what string) {
		w.Helper()
		now, err := w.s.Trust(w.Context())
		w.must(err)
		w.same(what+" changes the trust", now != first, false)
		w.must(write(first))
	}
	same("nothing")
	w.read("post", reading("a", mail("m1", 1, "text/")))
	same("a sync")
	same("what was written")
	_, err := w.s.RemoveSource(w.Context(), c(w).writtenSources()[0].Name)
	w.must(err)
	same("the removal of what was written")
	_, err = w.s.SetFacets(w.Context(), "post", []string{"work"}, at)
	w.must(err)
	same("a change to what is")

	_, err = w.s.RemoveSource(w.Context(), c(w).writtenSources()[0].Name)
	w.must(err)
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a change of facets", func() error { _, err := w.s.SetFacets(w.Context(), "post", []string{"family"}, at); return err }},
		{"a facet of the cabinet", func() error {
			_, err := w.s.SetFacets(w.Context(), store.FileCabinet, []string{"work"}, at)
			return err
		}},
		{"a new facet", func() error { return w.s.AddFacet(w.Context(), "club", at) }},
		{"a new source", func() error { w.add("more"); return nil }},
		{"a source that is gone", func() error { _, err := w.s.RemoveSource(w.Context(), "more"); return err }},
	} {
		before := c(w).trust()
		w.must(step.do())
		if err := write(before); !errors.Is(err, store.ErrTrust) {
			w.Errorf("after %s: %v", step.what, err)
		}
	}
	w.same("records", w.records(nil, store.Filter{Kinds: []store.Kind{store.Page}}), "")
	w.must(write(c(w).trust()))

	m := memory(nil)
	trust, err := m.Trust(w.Context())
	w.must(err)
	m.AddSource(store.SourceState{Source: store.Source{Name: "post", Kind: store.MailSource, Format: "mbox", Added: at}})
	if err := m.Write(w.Context(), trust, nil, at); !errors.Is(err, store.ErrTrust) {
		w.Errorf("in memory, after a new source: %v", err)
	}
}

func c(w *world) cabinets { return cabinets{world: w} }

func writtenReplaced(w *world) {
	c := newCabinets(w)
	w.must(c.write(at, document("one", "Apple/pie", "work"), document("two", "Plum/", "work")))
	w.must(c.write(at.Add(time.Hour), document("one", "Pear/cake", "work")))
	w.same("records", w.records(nil, store.Filter{}), "two one")
	w.same("the former", w.find(nil, "apple", store.Search{}), "")
	w.same("the new", w.find(nil, "pear cake", store.Search{}), "one")
	row := with(w, nil, func(v store.View) store.Row { return w.rows(v, store.Filter{Keys: []string{"path:one"}})[0] })
	w.same("observed", row.Observed, at.Add(time.Hour))
	w.same("sources", len(c.writtenSources()), 1)
	// To the byte the same, and with another time.
	w.must(c.write(at.Add(2*time.Hour), document("one", "Pear/cake", "work")))
	other := document("two", "Plum/", "work")
	other.Record.Time = minutes(-5)
	w.must(c.write(at.Add(2*time.Hour), other))
	w.same("records", w.records(nil, store.Filter{}), "one two")
	c.alike()
}

func writtenMoved(w *world) {
	c := newCabinets(w)
	w.must(c.write(at, document("one", "Apple/pie", "work"), document("two", "Plum/", "work"), document("three", "Pear/", "family")))
	w.must(c.write(at.Add(time.Hour), document("one", "Apple/cake", "work and family")))
	w.same("records", w.records(nil, store.Filter{}), "three two one")
	w.same("from work", w.records([]string{"work"}, store.Filter{}), "two")
	w.same("found from work", w.find([]string{"work"}, "apple", store.Search{}), "")
	w.same("from both", w.find([]string{"family", "work"}, "apple", store.Search{}), "one")
	c.alike()
	// A source whose only document is replaced stays, one whose last has gone elsewhere is no more.
	former := c.writtenSources()
	w.must(c.write(at.Add(2*time.Hour), document("one", "Apple/pie", "work and family")))
	for i, s := range c.writtenSources() {
		w.same("the source", fmt.Sprint(s.Number, s.Name, s.Added), fmt.Sprint(former[i].Number, former[i].Name, former[i].Added))
	}
	w.must(c.write(at.Add(time.Hour), document("one", "Apple/", "family"), document("two", "Plum/", "family")))
	sources := c.writtenSources()
	if len(sources) != 1 || sources[0].Records != 3 {
		w.Errorf("the sources are %+v", sources)
	}
	c.alike()
	// Two change their places.
	w.must(c.write(at, document("one", "Apple/", "work"), document("three", "Pear/", "family")))
	w.must(c.write(at, document("one", "Apple/", "family"), document("three", "Pear/", "work")))
	w.same("from work", w.records([]string{"work"}, store.Filter{}), "three")
	c.alike()
}

func writtenBesideSynced(w *world) {
	c := newCabinets(w)
	synced := document("one", "Apple/of the folder", "work").Record
	w.read(store.FileCabinet, reading("one", synced))
	w.must(c.s.Write(w.Context(), c.trust(), []store.Written{document("one", "Apple/of the run", "work")}, at))
	w.same("both", w.records(nil, store.Filter{Keys: []string{"path:one"}}), "one one")
	w.same("the folder's", w.find(nil, "folder", store.Search{Sources: []string{store.FileCabinet}}), "one")
	w.same("from work", w.find([]string{"work"}, "apple", store.Search{}), "one")
	w.sync(store.FileCabinet, []string{"two"}, reading("two", document("two", "Pear/", "work").Record))
	w.same("after a sync", w.records(nil, store.Filter{}), "two one")
	w.must(w.Intact(w, w.s))
	n, err := w.s.RemoveSource(w.Context(), c.writtenSources()[0].Name)
	w.same("removed", fmt.Sprint(n, err), "1 <nil>")
	w.same("then", w.records(nil, store.Filter{}), "two")
	w.same("found then", w.find(nil, "apple", store.Search{}), "")
	w.must(w.Intact(w, w.s))
}

func writtenSourcesRefused(w *world) {
	_, err := w.s.AddSource(w.Context(), store.Source{Name: "mine", Kind: store.PagesSource, Format: store.WrittenFormat, Added: at})
	w.same("a source of that format is added", err == nil, false)
	_, err = w.s.AddSource(w.Context(), store.Source{Name: "mine", Kind: store.PagesSource, Format: "markdown", Written: writtenLabels["work"].Canonical(), Added: at})
	w.same("a source with a label is added", err == nil, false)
	c := newCabinets(w)
	w.must(c.write(at, document("one", "Apple/", "work")))
	name := c.writtenSources()[0].Name
	for _, facets := range [][]string{{"family"}, nil} {
		_, err = w.s.SetFacets(w.Context(), name, facets, at)
		w.same("facets are set", err == nil, false)
	}
	_, err = w.s.Import(w.Context(), name, at)
	w.same("it is synced", err == nil, false)
	w.read(store.FileCabinet, nil) // nobody is kept out by what was refused
	w.same("from family", w.records([]string{"family"}, store.Filter{}), "")
	w.Mislabel(w, w.s, name, "one", label.Label{}.Canonical())
	v := w.view(nil)
	for r, err := range v.Records(w.Context(), store.Filter{}) {
		if !errors.Is(err, store.ErrMislabelled) {
			w.Errorf("a record with another label is given: %v, %v", r, err)
		}
	}
	w.same("mislabelled", w.search(v, "apple", store.Search{}).Mislabelled, 1)
}

func writtenBounded(w *world) {
	c := newCabinets(w)
	all := make([]store.Written, store.MaxWrittenSources)
	for i := range all {
		all[i] = document(fmt.Sprint("r", i), "Apple/", "work")
		all[i].Label = label.OfRecord("ada", fmt.Sprint("class", i), "mail.mbox", nil)
	}
	w.must(c.write(at, all...))
	more := document("more", "Pear/", "work")
	if err := c.write(at, more); err == nil {
		w.Errorf("there can be more than %d labels", store.MaxWrittenSources)
	}
	w.add("post") // they take no room from others
	w.same("found", w.find(nil, "pear", store.Search{}), "")
	w.must(c.s.Write(w.Context(), c.trust(), []store.Written{{Record: all[7].Record, Label: more.Label}}, at))
	w.same("sources", len(c.writtenSources()), store.MaxWrittenSources)
	w.must(w.Intact(w, w.s))
}

func writtenNameTaken(w *world) {
	c := newCabinets(w)
	name := store.WrittenSource(writtenLabels["work"], at, func(string) bool { return false }).Name
	w.add(name)
	c.m.AddSource(with(w, nil, func(v store.View) store.SourceState { return w.source(v, name) }))
	for range 2 {
		w.must(c.write(at, document("one", "Apple/", "work"), document("two", "Pear/", "family")))
		w.must(c.write(at, document("three", "Apple/", "work")))
	}
	names := ""
	for _, s := range c.writtenSources() {
		if strings.HasPrefix(s.Name, name) && len(s.Name) == len(name)+1 {
			names += s.Name
		}
	}
	w.same("one has a longer name", len(names), len(name)+1)
	c.alike()
}

func writtenBusy(w *world) {
	c := newCabinets(w)
	trust := c.trust()
	importing := c.Again(w, w.s)
	i, err := importing.Import(w.Context(), store.FileCabinet, at)
	w.must(err)
	soon, cancel := context.WithTimeout(w.Context(), time.Millisecond)
	defer cancel()
	documents := []store.Written{document("one", "Apple/", "work")}
	if err := w.s.Write(soon, trust, documents, at); !errors.Is(err, store.ErrBusy) {
		w.Errorf("beside an import: %v", err)
	}
	i.Abandon()
	w.must(w.s.Write(w.Context(), trust, documents, at))
}
