package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

func newStore(w *world) {
	v := w.view(nil)
	w.same("the owner", v.Owner(), owner())
	cabinet := w.source(v, store.FileCabinet)
	w.same("sources", names(v.Sources()), store.FileCabinet)
	w.same("the cabinet", fmt.Sprint(cabinet.Kind, cabinet.Location, cabinet.Facets, cabinet.Records, cabinet.Synced.IsZero(), cabinet.Complete), "pages[] 0 true false")
	w.same("an empty search", w.find(nil, "", store.Search{}), "")
	w.same("records", w.records(nil, store.Filter{}), "")
}

func sourcesComeAndGo(w *world) {
	first := w.add("post", "family", "work")
	second := w.addKind("dates", store.CalendarSource)
	if first.Number == 0 || first.Number == second.Number {
		w.Errorf("numbers %d and %d", first.Number, second.Number)
	}
	_, err := w.s.AddSource(w.Context(), store.Source{Name: "post", Kind: store.PagesSource, Format: "markdown", Added: at})
	if !errors.Is(err, store.ErrSourceThere) {
		w.Errorf("a second source of that name: %v", err)
	}
	v := w.view(nil)
	w.same("sources", names(v.Sources()), "dates fc post")
	w.same("the source", w.source(v, "post").Source, first)
	w.must(v.Close()) // to remove a source waits for those who read
	n, err := w.s.RemoveSource(w.Context(), "dates")
	w.same("removed", fmt.Sprint(n, err), "0 <nil>")
	for _, name := range []string{"dates", "nobody", ""} {
		if _, err := w.s.RemoveSource(w.Context(), name); !errors.Is(err, store.ErrNoSource) {
			w.Errorf("remove %q: %v", name, err)
		}
		if _, err := w.s.Import(w.Context(), name, at); !errors.Is(err, store.ErrNoSource) {
			w.Errorf("import %q: %v", name, err)
		}
		if _, err := w.s.SetFacets(w.Context(), name, nil, at); !errors.Is(err, store.ErrNoSource) {
			w.Errorf("facets of %q: %v", name, err)
		}
	}
	if _, err := w.s.RemoveSource(w.Context(), store.FileCabinet); err == nil {
		w.Errorf("the file cabinet was removed")
	}
	again := w.addKind("dates", store.CalendarSource)
	if again.Number == second.Number {
		w.Errorf("a number was given twice")
	}
}

func badSources(w *world) {
	good := store.Source{Name: "post", Kind: store.MailSource, Format: "mbox", Location: "/", Added: at}
	for name, spoil := range map[string]func(s *store.Source){
		"no name":            func(s *store.Source) { s.Name = "" },
		"a name in capitals": func(s *store.Source) { s.Name = "Post" },
		"a long name":        func(s *store.Source) { s.Name = strings.Repeat("a", 65) },
		"no kind":            func(s *store.Source) { s.Kind = "" },
		"another kind":       func(s *store.Source) { s.Kind = "email" },
		"no format":          func(s *store.Source) { s.Format = "" },
		"a long location":    func(s *store.Source) { s.Location = strings.Repeat("a", store.MaxLocationBytes+1) },
		"facets unsorted":    func(s *store.Source) { s.Facets = []string{"work", "family"} },
		"a facet twice":      func(s *store.Source) { s.Facets = []string{"work", "work"} },
		"no facet's name":    func(s *store.Source) { s.Facets = []string{label.NoFacet} },
	} {
		s := good
		spoil(&s)
		if _, err := w.s.AddSource(w.Context(), s); err == nil {
			w.Errorf("%s was taken", name)
		}
	}
	good.Facets = []string{"nowhere"}
	if _, err := w.s.AddSource(w.Context(), good); !errors.Is(err, store.ErrNoFacet) {
		w.Errorf("an unknown facet: %v", err)
	}
	w.same("sources", with(w, nil, func(v store.View) string { return names(v.Sources()) }), "fc")
}

func manySources(w *world) {
	w.write(document("one", "Apple/", "work")) // takes no room from them

	for i := range store.MaxSources - 1 { // the file cabinet is one
		w.add(fmt.Sprint("s", i))
	}
	if _, err := w.s.AddSource(w.Context(), store.Source{Name: "more", Kind: store.MailSource, Format: "mbox", Added: at}); err == nil {
		w.Errorf("there can be more than %d sources", store.MaxSources)
	}
}

func facetsMade(w *world) {
	for _, name := range []string{"", "-a", "A", "a b", label.NoFacet, strings.Repeat("a", 65)} {
		if err := w.s.AddFacet(w.Context(), name, at); err == nil {
			w.Errorf("%q is a facet", name)
		}
	}
	w.must(w.s.AddFacet(w.Context(), "club", at))
	w.must(w.s.AddFacet(w.Context(), "club", at))
	w.same("facets", with(w, nil, func(v store.View) []string { return v.Owner().Facets }), []string{"club", "family", "health", "work"})
	w.add("post", "club")
	for i := range store.MaxFacets - 4 {
		w.must(w.s.AddFacet(w.Context(), fmt.Sprint("f", i), at))
	}
	if err := w.s.AddFacet(w.Context(), "more", at); err == nil {
		w.Errorf("there can be more than %d facets", store.MaxFacets)
	}
}

func facetsChange(w *world) {
	w.add("post", "work")
	w.add("other", "work")
	w.read("post", reading("a", mail("p1", 1, "one/"), mail("p2", 2, "two/")))
	w.read("other", reading("a", mail("o1", 3, "three/")))
	for _, tc := range []struct {
		to       []string
		want     string
		work     string // what is seen from there
		family   string
		recorded int
	}{
		{[]string{"work"}, "[work] [work] 0", "o1 p2 p1", "", 0},
		{[]string{"work", "family", "work"}, "[work] [family work] 2", "o1 p2 p1", "p2 p1", 1},
		{[]string{"family"}, "[family work] [family] 2", "o1", "p2 p1", 2},
		{nil, "[family] [] 2", "o1", "", 3},
		{[]string{}, "[] [] 0", "o1", "", 3},
	} {
		c, err := w.s.SetFacets(w.Context(), "post", tc.to, at)
		w.must(err)
		w.same("the change", fmt.Sprint(c.Before, c.After, c.Records), tc.want)
		w.same("from work", w.records([]string{"work"}, store.Filter{}), tc.work)
		w.same("from family", w.records([]string{"family"}, store.Filter{}), tc.family)
		w.same("from both", w.records(nil, store.Filter{}), "o1 p2 p1")
		w.same("found from family", w.find([]string{"family"}, "one OR two OR three", store.Search{}), tc.family)
		v := w.view(nil)
		changes, err := v.FacetChanges(w.Context())
		w.must(err)
		w.same("recorded changes", len(changes), tc.recorded)
		if n := len(changes); n > 0 {
			last := changes[n-1]
			if c.Records == 0 { // nothing was changed, and nothing recorded
				last.Before, last.After, last.Records = c.Before, c.After, 0
			}
			w.same("the last", fmt.Sprint(last.At, last.Source, last.Before, last.After, last.Records), fmt.Sprint(at, "post", c.Before, c.After, c.Records))
		}
		for _, r := range w.rows(v, store.Filter{Sources: []string{"post"}}) {
			if !r.Label.Equal(labelled(r.Source.Source)) || !slices.Equal(r.Source.Facets, c.After) {
				w.Errorf("%s has the label %v", r.Ref, r.Label.Canonical())
			}
		}
		w.must(v.Close())
		some := w.view([]string{"family", "work"})
		if seen, err := some.FacetChanges(w.Context()); err != nil || len(seen) > 0 {
			w.Errorf("a limited view tells of changes: %v, %v", seen, err)
		}
		w.must(some.Close())
	}
	if _, err := w.s.SetFacets(w.Context(), "post", []string{"nowhere"}, at); !errors.Is(err, store.ErrNoFacet) {
		w.Errorf("an unknown facet: %v", err)
	}
	w.same("then", w.records([]string{}, store.Filter{}), "")
}

func removedWhole(w *world) {
	w.add("post", "work")
	w.add("other", "work")
	w.read("post", reading("a", mail("p1", 1, "shared alone/"), &store.Record{Ref: "c", Kind: store.Contact, Title: "Card", Keys: []string{"key"}}))
	w.read("other", reading("a", mail("o1", 1, "shared/")))
	n, err := w.s.RemoveSource(w.Context(), "post")
	w.same("removed", fmt.Sprint(n, err), "2 <nil>")
	w.same("records", w.records(nil, store.Filter{}), "o1")
	w.same("found", w.find(nil, "shared", store.Search{}), "o1")
	w.same("found alone", w.find(nil, "alone", store.Search{}), "")
	w.same("by key", w.records(nil, store.Filter{Keys: []string{"key"}}), "")
	w.must(w.Intact(w, w.s))
	w.add("post", "family")
	w.same("again", w.read("post", reading("a", mail("p1", 1, "shared/"))), store.Counts{New: 1})
	w.same("from family", w.records([]string{"family"}, store.Filter{}), "p1")
}
