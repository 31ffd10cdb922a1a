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

// whole is a record with something in each of its fields.
func whole(ref string) *store.Record {
	return &store.Record{
		Ref: ref, Kind: store.Event, Title: "Título \u202e\"'%", Body: "line\nline\ttab 日本語 👩‍👩‍👧 e\u0301", Time: minutes(1), Until: minutes(90),
		From:   []store.Party{{Name: "Grace", Address: "grace@example.com"}},
		To:     []store.Party{{Name: "", Address: "ada@example.com"}, {Name: "Nobody"}, {}},
		Folder: "Work/Übung", Thread: "thread-1", Keys: []string{"k one", "k2"}, Details: []byte(`{"a":[1,"\u0000",null]}`),
	}
}

func recordComesBack(w *world) {
	w.add("post", "work")
	most := &store.Record{
		Ref: strings.Repeat("r", store.MaxRefBytes), Kind: store.Page, Title: strings.Repeat("t", store.MaxTitleBytes),
		Body: strings.Repeat("b", store.MaxBodyBytes), Until: store.Forever, Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		To: slices.Repeat([]store.Party{{Name: "n", Address: "a@b"}}, store.MaxParties), Keys: []string{strings.Repeat("k", store.MaxRefBytes)},
	}
	ancient := &store.Record{Ref: "ancient", Kind: store.Activity, Time: time.Date(-44, 3, 15, 12, 0, 0, 0, time.UTC)}
	bare := &store.Record{Ref: "bare", Kind: store.Place, Unsearched: true}
	given := []*store.Record{most, whole("whole"), ancient, bare}
	w.read("post", reading("a", given...))
	v := w.view(nil)
	rows := w.rows(v, store.Filter{})
	if len(rows) != len(given) {
		w.Fatalf("%d records, want %d", len(rows), len(given))
	}
	for i, r := range rows {
		if got, want := fmt.Sprintf("%+v", r.Record), fmt.Sprintf("%+v", *given[i]); got != want {
			w.Errorf("record %d is\n%.500s, want\n%.500s", i, got, want)
		}
		if r.Hash() != given[i].Hash() {
			w.Errorf("record %d has another hash", i)
		}
		w.same("observed", r.Observed, at)
		w.same("the source", r.Source.Name, "post")
	}
	s := w.source(v, "post")
	w.same("the source", fmt.Sprint(s.Records, s.Newest, s.Synced, s.Complete, s.Problem), fmt.Sprint(4, most.Time, at, true, ""))
	bytes := 0
	for _, r := range given {
		bytes += len(r.Title) + len(r.Body)
	}
	w.same("bytes", s.Bytes, bytes)
	w.same("searched", w.find(nil, "", store.Search{}), most.Ref+" whole ancient")
}

func labelFollows(w *world) {
	for i, kind := range store.SourceKinds {
		facets := [][]string{nil, {"work"}, {"family", "work"}}[i%3]
		s := w.addKind(string(kind), kind, facets...)
		r := mail("r", i, "text/")
		// What a record says of itself changes nothing.
		r.Kind, r.Details, r.Folder = store.Page, []byte(`{"ifc":{"confidentiality":[]},"facets":["health"]}`), "health"
		w.read(s.Name, reading("a", r))
		v := w.view(nil)
		rows := w.rows(v, store.Filter{Sources: []string{s.Name}})
		if len(rows) != 1 || !rows[0].Label.Equal(labelled(s)) || !rows[0].Label.Equal(store.LabelOf("ada", s)) {
			w.Errorf("%s: %d records, %v", kind, len(rows), rows)
			continue
		}
		found := w.search(v, "text", store.Search{Sources: []string{s.Name}})
		if len(found.Rows) != 1 || !found.Rows[0].Label.Equal(labelled(s)) {
			w.Errorf("%s: found %v", kind, found.Rows)
		}
		ceiling := label.ScopeCeiling("ada", store.Classes(), []string{"work"})
		if got, want := label.Fits(rows[0].Label, ceiling), slices.Contains(facets, "work"); got != want {
			w.Errorf("%s in %v fits: %v", kind, facets, got)
		}
	}
}

func mislabelled(w *world) {
	post := w.add("post", "work")
	other := w.add("other", "family")
	w.read("post", reading("a", mail("m1", 1, "text/"), mail("m2", 2, "text/"), mail("m3", 3, "text/"), mail("m4", 4, "text/")))
	w.read("other", reading("a", mail("o1", 1, "text/")))
	w.Mislabel(w, w.s, "post", "m2", labelled(other).Canonical())
	w.Mislabel(w, w.s, "post", "m3", "no label at all")
	w.Mislabel(w, w.s, "post", "m4", label.Label{}.Canonical()) // public, which fits every ceiling
	for _, facets := range [][]string{nil, {"work"}} {
		v := w.view(facets)
		f := store.Filter{Sources: []string{"post"}}
		var got []string
		for r, err := range v.Records(w.Context(), f) {
			switch {
			case errors.Is(err, store.ErrMislabelled):
				got = append(got, "-")
				if fmt.Sprintf("%+v", r) != fmt.Sprintf("%+v", store.Row{}) {
					w.Errorf("a record that is withheld is given: %+v", r)
				}
			case err != nil:
				w.Fatalf("%v", err)
			default:
				got = append(got, r.Ref)
			}
		}
		w.same("records", strings.Join(got, " "), "- - - m1")
		for _, rank := range []store.Rank{store.ByRecency, store.ByScore} {
			found := w.search(v, "text", store.Search{Sources: []string{"post"}, Rank: rank})
			w.same("found", fmt.Sprint(refs(found.Rows), found.Mislabelled, found.Truncated), "m13 false")
		}
		w.must(v.Close())
	}
	w.same("from family", w.records([]string{"family"}, store.Filter{}), "o1")
	// Put into other facets, the source's records get the label that follows.
	_, err := w.s.SetFacets(w.Context(), "post", []string{"family", "work"}, at)
	w.must(err)
	post.Facets = []string{"family", "work"}
	w.same("then", w.records([]string{"work"}, store.Filter{}), "m4 m3 m2 m1")
}

func oneMoment(w *world) {
	w.add("post", "work")
	w.read("post", reading("a", mail("m1", 1, "text/"), mail("m2", 2, "text/")))
	before := w.view(nil)
	next := w.s
	if w.Again != nil {
		next = w.Again(w, w.s)
	}
	import2, err := next.Import(w.Context(), "post", at.Add(time.Hour))
	w.must(err)
	w.must(import2.Apply(w.Context(), reading("a", mail("m1", 1, "another text/"), mail("m3", 3, "text/"))))
	during := w.view(nil)
	_, err = import2.Finish(w.Context(), "", at.Add(time.Hour))
	w.must(err)
	w.must(next.AddFacet(w.Context(), "club", at))
	_, err = next.SetFacets(w.Context(), "post", []string{"club"}, at)
	w.must(err)
	_, err = next.AddSource(w.Context(), store.Source{Name: "late", Kind: store.MailSource, Format: "mbox", Added: at})
	w.must(err)
	look := func(v store.View) string {
		s := w.source(v, "post")
		return fmt.Sprint(names(v.Sources()), "|", s.Records, s.Facets, s.Synced.Sub(at), v.Owner().Facets, "|", refs(w.rows(v, store.Filter{})), "|",
			refs(w.search(v, "text", store.Search{}).Rows), "|", refs(w.search(v, "another", store.Search{Rank: store.ByScore}).Rows))
	}
	// What is put again is there at once, what is lost goes when the import ends.
	w.same("before", look(before), "fc post|2 [work] 0s [family health work]|m2 m1|m2 m1|")
	w.same("during", look(during), "fc post|3 [work] 0s [family health work]|m3 m2 m1|m3 m2 m1|m1")
	w.same("after", with(w, nil, look), "fc late post|2 [club] 1h0m0s [club family health work]|m3 m1|m3 m1|m1")
	// A view outlives the call that opened it, and ends with the call that uses it.
	ctx, cancel := context.WithCancel(w.Context())
	v, err := w.s.View(ctx, store.Scope{})
	w.must(err)
	cancel()
	w.same("later", look(v), "fc late post|2 [club] 1h0m0s [club family health work]|m3 m1|m3 m1|m1")
	w.must(v.Close())
	if v, err := w.s.View(ctx, store.Scope{}); err == nil {
		w.must(v.Close())
		w.Errorf("a view was opened for a call that was called off")
	}
}

// populate adds sources in several facets, each with records that all have the word common and one of its own.
func populate(w *world) {
	for i, s := range []struct{ name, facets string }{{"both", "family work"}, {"job", "work"}, {"home", "family"}, {"none", ""}} {
		w.add(s.name, strings.Fields(s.facets)...)
		w.read(s.name, reading("a", mail(s.name+"1", i, "common "+s.name+"/"), mail(s.name+"2", 10+i, "common/")))
	}
}

func scopes(w *world) {
	populate(w)
	for _, tc := range []struct {
		facets  []string
		sources string
		records string
	}{
		{nil, "both fc home job none", "none2 home2 job2 both2 none1 home1 job1 both1"},
		{[]string{"work"}, "both job", "job2 both2 job1 both1"},
		{[]string{"family"}, "both home", "home2 both2 home1 both1"},
		{[]string{"family", "work"}, "both home job", "home2 job2 both2 home1 job1 both1"},
		{[]string{"health"}, "", ""},
		{[]string{"nowhere"}, "", ""},
		{[]string{label.NoFacet, ""}, "", ""},
		{[]string{}, "", ""},
	} {
		v := w.view(tc.facets)
		what := fmt.Sprintf("%#v: ", tc.facets)
		w.same(what+"sources", names(v.Sources()), tc.sources)
		w.same(what+"records", refs(w.rows(v, store.Filter{})), tc.records)
		w.same(what+"the oldest", refs(w.rows(v, store.Filter{Limit: 1, Oldest: true})), lastOf(tc.records))
		for _, rank := range []store.Rank{store.ByRecency, store.ByScore} {
			w.same(what+"found", refs(w.search(v, "common", store.Search{Rank: rank}).Rows), tc.records)
		}
		w.same(what+"everything", refs(w.search(v, "", store.Search{}).Rows), tc.records)
		w.same(what+"without", refs(w.search(v, "-absent", store.Search{}).Rows), tc.records)
		w.same(what+"by a party", refs(w.search(v, "", store.Search{Parties: []store.Identifier{"grace@example.com"}}).Rows), tc.records)
		w.same(what+"records by a party", refs(w.rows(v, store.Filter{Party: "grace@example.com"})), tc.records)
		w.must(v.Close())
	}
	// A scope is that of the moment it was given.
	facets := []string{"work"}
	v := w.view(facets)
	facets[0] = "family"
	w.same("records", refs(w.rows(v, store.Filter{})), "job2 both2 job1 both1")
}

func lastOf(list string) string { return list[strings.LastIndex(list, " ")+1:] }

func sourceOutside(w *world) {
	w.add("job", "work")
	w.add("home", "family")
	w.add("none")
	for _, x := range []string{"job", "home", "none"} {
		w.read(x, reading("a", mail(x, 1, "text/")))
	}
	v := w.view([]string{"work"})
	for _, name := range []string{"home", "none", "nobody", store.FileCabinet, "", "JOB"} {
		_, one := v.Search(w.Context(), store.Search{Sources: []string{"job", name}, Limit: 1})
		_, two := v.Skipped(w.Context(), name, 10)
		var three error
		for r, err := range v.Records(w.Context(), store.Filter{Sources: []string{name}}) {
			if three = err; err == nil {
				w.Errorf("%s is given", r.Ref)
			}
		}
		for _, err := range []error{one, two, three} {
			if !errors.Is(err, store.ErrNoSource) {
				w.Errorf("source %q: %v", name, err)
				continue
			}
			// The same bytes as of a source that is not there at all.
			_, nobody := v.Skipped(w.Context(), "missing", 10)
			w.same("the error", strings.ReplaceAll(err.Error(), ": "+name, ": missing"), nobody.Error())
		}
	}
	if _, err := v.Search(w.Context(), store.Search{Sources: []string{"home"}, Query: query.Query{}, Limit: 1, Kinds: []store.Kind{}}); !errors.Is(err, store.ErrNoSource) {
		w.Errorf("a search that finds nothing anyway: %v", err)
	}
}

// How rare a word is and how long a record is are told by what exists for the view: the order by score is that of a store which holds
// nothing else.
func ranking(w *world) {
	w.add("job", "work")
	w.add("home", "family")
	var mine []*store.Record
	for n := range 6 {
		mine = append(mine, mail(fmt.Sprint("filler", n), 10+n, "/filler of some words"))
	}
	mine = append(mine, mail("rare", 1, "/apple with some words"), mail("common", 2, "/pear with some words"), mail("also", 3, "/pear with some more words than that"))
	w.read("job", reading("a", mine...))
	look := func(facets []string) string {
		return with(w, facets, func(v store.View) string {
			return refs(w.search(v, "apple OR pear", store.Search{Rank: store.ByScore}).Rows)
		})
	}
	w.same("alone", look([]string{"work"}), "rare common also")
	var hidden []*store.Record
	for n := range 30 {
		hidden = append(hidden, mail(fmt.Sprint("hidden", n), 10+n, "/apple "+strings.Repeat("word ", 50)))
	}
	w.read("home", reading("a", hidden...))
	w.same("beside others", look([]string{"work"}), "rare common also")
	w.same("of all", strings.HasPrefix(look(nil), "common also rare "), true)
}
