package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
)

// Random holds stores with random records against [Memory], and against each other: what a limited view gives, to the byte, is what
// a store gives that holds nothing else, whatever the other rows are, and however and in what order the rows came.
func Random(t *testing.T, b Backend) {
	rapid.Check(t, func(t *rapid.T) {
		scope := store.Scope{Facets: rapid.SliceOfNDistinct(rapid.SampledFrom(owner().Facets), 1, 2, rapid.ID).Draw(t, "scope")}
		plan := plans.Draw(t, "plan")
		var seen, hidden []planned
		for _, s := range plan {
			if scope.Admits(owner().Subject, store.Source{Facets: s.facets}) {
				seen = append(seen, s)
			} else {
				hidden = append(hidden, s)
			}
		}
		var seenWritten []store.Written
		written := papers.Draw(t, "written")
		for _, d := range written {
			if label.Fits(d.Label, label.ScopeCeiling(owner().Subject, store.Classes(), scope.Facets)) {
				seenWritten = append(seenWritten, d)
			}
		}
		first, alone, other := newWorld(t, b), newWorld(t, b), newWorld(t, b)
		for _, s := range plan {
			first.fill(s)
		}
		for _, s := range seen {
			alone.fill(s)
		}
		first.write(written...)
		alone.write(seenWritten...)
		// The same rows for the scope, by another way, and other rows beside them.
		changed := slices.Clone(seen)
		for _, s := range plans.Draw(t, "other plan") {
			s.facets = slices.DeleteFunc(s.facets, func(f string) bool { return slices.Contains(scope.Facets, f) })
			if !slices.ContainsFunc(changed, func(o planned) bool { return o.name == s.name }) {
				changed = append(changed, s)
			}
		}
		changed = rapid.Permutation(changed).Draw(t, "order")
		for _, s := range hidden {
			if rapid.Bool().Draw(t, "there first") {
				other.fill(s)
				_, err := other.s.RemoveSource(t.Context(), s.name)
				other.must(err)
			}
		}
		if rapid.Bool().Draw(t, "written first") {
			other.writeSlowly(t, scope, seenWritten)
		}
		for _, s := range changed {
			other.fillSlowly(t, s)
		}
		other.writeSlowly(t, scope, seenWritten)

		questions := rapid.SliceOfN(searches, 6, 6).Draw(t, "searches")
		filters := rapid.SliceOfN(filtersOf, 4, 4).Draw(t, "filters")
		want := render(first, memory(plan, written...).View(scope), questions, filters)
		for name, w := range map[string]*world{"a whole store": first, "nothing else": alone, "other rows": other} {
			if got := render(w, w.view(scope.Facets), questions, filters); got != want {
				t.Errorf("%s: %s", name, difference(got, want))
			}
		}
		if got, want := render(first, first.view(nil), questions, filters), render(first, memory(plan, written...).View(store.Scope{}), questions, filters); got != want {
			t.Errorf("the owner's view: %s", difference(got, want))
		}
		for _, w := range []*world{first, other} {
			w.must(w.Intact(w, w.s))
		}
	})
}

// planned is a source with its records.
type planned struct {
	name    string
	facets  []string
	records []*store.Record
}

var (
	texts = rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"apple", "apples", "pear", "plum", "budget", "report", "Crème", "creme", "東京", "京都", "🎉", "e\u0301te", "1", "ada@example.com", "x-y", "\n",
	}), 0, 7), func(words []string) string { return strings.Join(words, " ") })
	somebody  = rapid.SampledFrom([]store.Identifier{"ada@example.com", "grace@example.com", "+14155550100", "handle:apple"})
	addresses = rapid.OneOf(somebody, rapid.Just[store.Identifier](""))
	parties   = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) store.Party {
		return store.Party{Name: rapid.SampledFrom([]string{"Ada", "Grace Apple", ""}).Draw(t, "name"), Address: addresses.Draw(t, "address")}
	}), 0, 2)
	instants = rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.IntRange(0, 9).Draw(t, "no time") == 0 {
			return time.Time{}
		}
		return minutes(rapid.IntRange(0, 5).Draw(t, "minute")).Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "second")) * time.Second)
	})
	kinds   = rapid.SampledFrom(store.Kinds)
	records = rapid.Custom(func(t *rapid.T) *store.Record {
		r := &store.Record{
			Ref: fmt.Sprint("r", rapid.IntRange(0, 30).Draw(t, "ref")), Kind: kinds.Draw(t, "kind"),
			Title: texts.Draw(t, "title"), Body: texts.Draw(t, "body"), Time: instants.Draw(t, "time"),
			From: parties.Draw(t, "from"), To: parties.Draw(t, "to"),
			Folder: rapid.SampledFrom([]string{"", "INBOX", "apple/pear"}).Draw(t, "folder"),
			Thread: rapid.SampledFrom([]string{"", "", "t", "u"}).Draw(t, "thread"), Unsearched: rapid.IntRange(0, 9).Draw(t, "unsearched") == 0,
		}
		r.From, r.To = slices.Clip(orNil(r.From)), slices.Clip(orNil(r.To))
		switch rapid.IntRange(0, 4).Draw(t, "until") {
		case 0:
			r.Until = store.Forever
		case 1:
			if !r.Time.IsZero() {
				r.Until = r.Time.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "minutes")) * time.Minute)
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "keyed") == 0 {
			r.Keys = []string{rapid.SampledFrom([]string{"k", "l", "grace@example.com"}).Draw(t, "key")}
		}
		return r
	})
	plans = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) planned {
		return planned{
			name:    fmt.Sprint("s", rapid.IntRange(0, 5).Draw(t, "name")),
			facets:  slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.SampledFrom(owner().Facets), 0, 2, rapid.ID).Draw(t, "facets"))),
			records: rapid.SliceOfNDistinct(records, 0, 8, func(r *store.Record) string { return r.Ref }).Draw(t, "records"),
		}
	}), 1, 4, func(s planned) string { return s.name })

	terms = rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "", "-", "NOT "}).Draw(t, "not") + rapid.SampledFrom([]string{
			"apple", "apple", "appl*", "pear", "plum", "budget", `"apple pear"`, `"budget rep"*`, "creme", "CRÈME", "京", "東京", "🎉", "été", "ada@example.com", "1",
			"from:ada", "to:apple", "subject:plum", "in:inbox", "in:pear", "(plum OR report)", "(apple -pear)", "subject:(apple OR pear)", "grace",
		}).Draw(t, "term")
	})
	queries = rapid.Custom(func(t *rapid.T) string {
		text := ""
		for i := range rapid.IntRange(0, 3).Draw(t, "terms") {
			if i > 0 {
				text += rapid.SampledFrom([]string{" ", " OR ", " AND "}).Draw(t, "operator")
			}
			text += terms.Draw(t, "term")
		}
		if !strings.Contains(text, "OR") && rapid.IntRange(0, 4).Draw(t, "with a regexp") == 0 {
			text += rapid.SampledFrom([]string{" /app.e/", " -/apple/", " /^$/", " -/GRACE/ /./"}).Draw(t, "regexp")
		}
		return text
	})
	searches = rapid.Custom(func(t *rapid.T) store.Search {
		text := queries.Draw(t, "query")
		q, err := query.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		s := store.Search{Query: q, Limit: rapid.SampledFrom([]int{1, 2, 3, 200}).Draw(t, "limit"), Rank: rapid.SampledFrom([]store.Rank{store.ByRecency, store.ByScore}).Draw(t, "rank")}
		s.Sources, s.Kinds, s.Parties = some(t, "sources", sourceNames), some(t, "kinds", kinds), some(t, "parties", somebody)
		s.Since, s.Until = edges(t)
		return s
	})
	sourceNames = rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 2).Draw(t, "of written") == 0 {
			return store.WrittenSource(someLabel.Draw(t, "label"), at, func(string) bool { return false }).Name
		}
		return fmt.Sprint("s", rapid.IntRange(0, 5).Draw(t, "name"))
	})
	someLabel = rapid.Map(rapid.SampledFrom(slices.Sorted(maps.Keys(writtenLabels))), func(name string) label.Label { return writtenLabels[name] })
	// papers are documents of one call: with the references, and the words, of what is synced.
	papers = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) store.Written {
		r := *records.Draw(t, "record")
		r.Kind = store.Page
		return store.Written{Record: &r, Label: someLabel.Draw(t, "label")}
	}), 0, 6, func(d store.Written) string { return d.Record.Ref })
	filtersOf = rapid.Custom(func(t *rapid.T) store.Filter {
		f := store.Filter{Oldest: rapid.Bool().Draw(t, "oldest"), Limit: rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "limit")}
		f.Sources, f.Kinds = some(t, "sources", sourceNames), some(t, "kinds", kinds)
		f.Keys = some(t, "keys", rapid.SampledFrom([]string{"k", "l", "m"}))
		f.Party = rapid.SampledFrom([]store.Identifier{"", "", "grace@example.com", "handle:apple"}).Draw(t, "party")
		f.Thread = rapid.SampledFrom([]string{"", "", "", "t"}).Draw(t, "thread")
		f.From, f.To = edges(t)
		return f
	})
)

func orNil[E any](list []E) []E {
	if len(list) == 0 {
		return nil
	}
	return list
}

// some draws a list, most often nil.
func some[E any](t *rapid.T, name string, of *rapid.Generator[E]) []E {
	if rapid.IntRange(0, 3).Draw(t, name+" limited") > 0 {
		return nil
	}
	return rapid.SliceOfN(of, 0, 3).Draw(t, name)
}

func edges(t *rapid.T) (from, to time.Time) {
	if rapid.IntRange(0, 2).Draw(t, "since") == 0 {
		from = instants.Draw(t, "from")
	}
	if rapid.IntRange(0, 2).Draw(t, "until") == 0 {
		to = instants.Draw(t, "to")
		if !to.IsZero() && rapid.IntRange(0, 3).Draw(t, "fraction") == 0 {
			to = to.Add(time.Millisecond)
		}
	}
	return from, to
}

// fill adds a source and reads its records at once.
func (w *world) fill(s planned) {
	w.Helper()
	w.add(s.name, s.facets...)
	w.read(s.name, reading("a", s.records...))
}

// fillSlowly comes to the same end by another way: by other facets, other contents, several containers and broken imports.
func (w *world) fillSlowly(t *rapid.T, s planned) {
	w.Helper()
	w.add(s.name, rapid.SampledFrom([][]string{nil, {"health"}, s.facets}).Draw(t, "former facets")...)
	if rapid.Bool().Draw(t, "former contents") {
		former := rapid.SliceOfNDistinct(records, 0, 6, func(r *store.Record) string { return r.Ref }).Draw(t, "former records")
		w.sync(s.name, []string{"a", "b", "c"}, reading("a", former...), reading("c", former...))
	}
	cut := rapid.IntRange(0, len(s.records)).Draw(t, "cut")
	all := append(reading("a", s.records[:cut]...), reading("b", s.records[cut:]...)...)
	listed := map[string]bool{"a": true, "b": true}
	if broken := rapid.IntRange(0, len(all)).Draw(t, "broken off behind"); broken > 0 {
		i := w.begin(s.name)
		if rapid.Bool().Draw(t, "listed") {
			w.must(i.Listed(t.Context(), listed))
		}
		w.must(i.Apply(t.Context(), all[:broken]))
		i.Abandon()
	}
	// What stands elsewhere too, as it was before, is read again where its first place is lost: so there are two imports.
	for range 2 {
		w.sync(s.name, []string{"a", "b"}, all)
	}
	_, err := w.s.SetFacets(t.Context(), s.name, s.facets, at)
	w.must(err)
}

func (w *world) write(documents ...store.Written) {
	w.Helper()
	trust, err := w.s.Trust(w.Context())
	w.must(err)
	w.must(w.s.Write(w.Context(), trust, documents, at))
}

// writeSlowly comes to the same end as one call with the documents, for a scope: with other ones beside them that it does not see, in several
// calls, and where the same references had other contents and labels before.
func (w *world) writeSlowly(t *rapid.T, scope store.Scope, documents []store.Written) {
	w.Helper()
	var others []store.Written
	ceiling := label.ScopeCeiling(owner().Subject, store.Classes(), scope.Facets)
	for _, d := range papers.Draw(t, "other documents") {
		same := func(o store.Written) bool { return o.Record.Ref == d.Record.Ref }
		if !label.Fits(d.Label, ceiling) || slices.ContainsFunc(documents, same) {
			others = append(others, d) // unseen, or written again below
		}
	}
	w.write(others...)
	documents = rapid.Permutation(documents).Draw(t, "order of documents")
	cut := rapid.IntRange(0, len(documents)).Draw(t, "documents of the first call")
	w.write(documents[:cut]...)
	w.write(documents[cut:]...)
}

// memory is a plan as [Memory] holds it.
func memory(plan []planned, written ...store.Written) *Memory {
	m := NewMemory(owner())
	source := func(name string, kind store.SourceKind, format, location string, facets []string, added, synced time.Time) {
		m.AddSource(store.SourceState{
			Source: store.Source{Name: name, Kind: kind, Format: format, Location: location, Facets: facets, Added: added},
			Synced: synced, Complete: !synced.IsZero(),
		})
	}
	source(store.FileCabinet, store.PagesSource, "markdown", "", nil, owner().Made, time.Time{})
	for _, s := range plan {
		source(s.name, store.MailSource, "mbox", "/home/ada/"+s.name, s.facets, at, at)
		m.Put(s.name, at, s.records...)
	}
	if err := m.Write(context.Background(), store.TrustOf(m.owner, m.plain()), written, at); err != nil {
		panic(err)
	}
	return m
}

// render is all that a view gives, in lines.
func render(w *world, v store.View, questions []store.Search, filters []store.Filter) string {
	w.Helper()
	var b strings.Builder
	row := func(r store.Row) {
		source := *r.Source
		source.Number = 0 // of the store; the order shows nothing of it
		fmt.Fprintf(&b, "  %d %q %d %d %v %+v %s\n", r.ID, fmt.Sprintf("%+v", r.Record), r.Time.Unix(), r.Until.Unix(), r.Observed, source, r.Label.Canonical())
		if !r.Label.Equal(store.LabelOf(v.Owner().Subject, source.Source)) || label.Fits(r.Label, label.Ceiling{}) {
			w.Errorf("%s has the label %s", r.Ref, r.Label.Canonical())
		}
	}
	for _, s := range v.Sources() {
		s.Number = 0
		fmt.Fprintf(&b, "source %+v\n", s)
		skipped, err := v.Skipped(w.Context(), s.Name, 10)
		fmt.Fprintln(&b, "skipped", skipped, err)
	}
	for _, s := range questions {
		fmt.Fprintf(&b, "search %s %v %v %v %v %v %d %s\n", s.Query.Match(), s.Sources, s.Kinds, s.Since, s.Until, s.Parties, s.Limit, s.Rank)
		found, err := v.Search(w.Context(), s)
		fmt.Fprintln(&b, " ", found.Truncated, found.Mislabelled, err)
		for i, r := range found.Rows {
			row(r)
			fmt.Fprintf(&b, "  %q\n", found.Snippets[i])
		}
	}
	for _, f := range filters {
		fmt.Fprintf(&b, "records %+v\n", f)
		for r, err := range v.Records(w.Context(), f) {
			if err != nil {
				fmt.Fprintln(&b, " ", err)
				continue
			}
			row(r)
		}
	}
	w.must(v.Close())
	return b.String()
}

// difference is where two renderings part.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < min(len(g), len(w)) && g[at] == w[at] {
		at++
	}
	asked := at
	for asked > 0 && (asked >= len(w) || strings.HasPrefix(w[asked], " ")) {
		asked--
	}
	line := func(lines []string) string {
		if at < len(lines) {
			return lines[at]
		}
		return "nothing"
	}
	return fmt.Sprintf("%s\n got %s\nwant %s", w[asked], line(g), line(w))
}
