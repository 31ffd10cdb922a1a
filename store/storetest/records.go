package storetest

import (
	"fmt"
	"time"

	"github.com/loomrun/loom/store"
)

func recordsOrder(w *world) {
	w.add("post", "work")
	w.add("other", "family")
	w.read("post", reading("a", mail("m2", 2, "/"), mail("m4", 4, "/"), &store.Record{Ref: "never", Kind: store.Page}))
	w.read("other", reading("a", mail("o1", 1, "/"), mail("o3", 3, "/")))
	for _, tc := range []struct {
		f    store.Filter
		want string
	}{
		{store.Filter{}, "m4 o3 m2 o1 never"},
		{store.Filter{Oldest: true}, "never o1 m2 o3 m4"},
		{store.Filter{Limit: 2}, "m4 o3"},
		{store.Filter{Limit: 2, Oldest: true}, "never o1"},
		{store.Filter{Limit: 99}, "m4 o3 m2 o1 never"},
	} {
		w.same(fmt.Sprintf("%+v", tc.f), w.records(nil, tc.f), tc.want)
	}
	v := w.view(nil)
	var some string
	for r, err := range v.Records(w.Context(), store.Filter{}) {
		w.must(err)
		if some += r.Ref; r.Ref == "o3" {
			break // and what was begun ends
		}
	}
	w.same("the first", some, "m4o3")
	w.same("again", refs(w.rows(v, store.Filter{})), "m4 o3 m2 o1 never")
}

func filters(w *world) {
	w.add("post", "work")
	w.add("other", "work")
	card := func(ref string, keys ...string) *store.Record {
		return &store.Record{Ref: ref, Kind: store.Contact, Keys: keys}
	}
	threaded := mail("m2", 2, "/")
	threaded.Thread = "t"
	alike := mail("m1", 3, "/")
	alike.Thread, alike.From = "t", []store.Party{{Address: "zoe@example.com"}}
	w.read("post", reading("a", mail("m1", 1, "/"), threaded, card("c1", "k", "a%b"), card("c2", "k", "x"), card("c3", "aXb")))
	w.read("other", reading("a", alike))
	for _, tc := range []struct {
		f    store.Filter
		want []string // in any order where times are equal
	}{
		{store.Filter{Kinds: []store.Kind{store.Mail}}, []string{"m1", "m2", "m1"}},
		{store.Filter{Kinds: []store.Kind{store.Contact, store.Page}}, []string{"c1", "c2", "c3"}},
		{store.Filter{Kinds: []store.Kind{}}, nil},
		{store.Filter{Sources: []string{"other"}}, []string{"m1"}},
		{store.Filter{Sources: []string{}}, nil},
		{store.Filter{Sources: []string{"post"}, Ref: "m1"}, []string{"m1"}},
		{store.Filter{Sources: []string{"post"}, Ref: "M1"}, nil},
		{store.Filter{Keys: []string{"k"}}, []string{"c1", "c2"}},
		{store.Filter{Keys: []string{"x", "a%b", "k"}}, []string{"c1", "c2"}},
		{store.Filter{Keys: []string{"a_b", "K"}}, nil},
		{store.Filter{Keys: []string{"k"}, Sources: []string{"other"}}, nil},
		{store.Filter{Keys: []string{}}, nil},
		{store.Filter{Thread: "t"}, []string{"m1", "m2"}},
		{store.Filter{Thread: "t", Sources: []string{"post"}}, []string{"m2"}},
		{store.Filter{Thread: "T"}, nil},
		{store.Filter{Party: "zoe@example.com"}, []string{"m1"}},
		{store.Filter{Party: "grace@example.com", Thread: "t"}, []string{"m2"}},
		{store.Filter{Party: "x"}, []string{"c2"}},
		{store.Filter{Party: "nobody@example.com"}, nil},
	} {
		v := w.view(nil)
		left := map[string]int{}
		rows := w.rows(v, tc.f)
		for _, r := range rows {
			left[r.Ref]++
		}
		for _, ref := range tc.want {
			left[ref]--
		}
		for _, n := range left {
			if n != 0 {
				w.Errorf("%+v: %s, want %v", tc.f, refs(rows), tc.want)
			}
		}
		w.must(v.Close())
	}
	v := w.view(nil)
	for _, f := range []store.Filter{{Ref: "m1"}, {Ref: "m1", Sources: []string{"post", "other"}}} {
		for r, err := range v.Records(w.Context(), f) {
			if err == nil {
				w.Errorf("a reference of no one source finds %s", r.Ref)
			}
		}
	}
}

func windows(w *world) {
	w.addKind("dates", store.CalendarSource, "work")
	lasting := func(ref string, from, until int) *store.Record {
		return &store.Record{Ref: ref, Kind: store.Event, Time: minutes(from), Until: minutes(until)}
	}
	series := lasting("series", 5, 0)
	series.Until = store.Forever
	w.read("dates", reading("a",
		&store.Record{Ref: "never", Kind: store.Event},
		&store.Record{Ref: "at10", Kind: store.Event, Time: minutes(10)},
		&store.Record{Ref: "at20", Kind: store.Event, Time: minutes(20)},
		lasting("0-10", 0, 10), lasting("8-30", 8, 30), lasting("15-15", 15, 15), series))
	const open = -1
	for _, tc := range []struct {
		from, to int
		want     string
	}{
		{open, open, "never 0-10 series 8-30 at10 15-15 at20"},
		{10, 20, "series 8-30 at10 15-15"},
		{9, 10, "0-10 series 8-30"},
		{10, 11, "series 8-30 at10"},
		{15, 16, "series 8-30 15-15"},
		{20, open, "series 8-30 at20"},
		{30, open, "series"},
		{open, 8, "0-10 series"},
		{open, 5, "0-10"},
		{open, 0, ""},
		{1000, 2000, "series"},
	} {
		f := store.Filter{Oldest: true}
		if tc.from != open {
			f.From = minutes(tc.from)
		}
		if tc.to != open {
			f.To = minutes(tc.to)
		}
		w.same(fmt.Sprintf("from %d to %d", tc.from, tc.to), w.records(nil, f), tc.want)
	}
	// Edges are told to the second, from both sides.
	edge := func(from, to time.Duration) store.Filter {
		return store.Filter{From: minutes(10).Add(from), To: minutes(10).Add(to), Oldest: true}
	}
	w.same("a second", w.records(nil, edge(0, time.Second)), "series 8-30 at10")
	w.same("a nanosecond", w.records(nil, edge(0, 1)), "series 8-30 at10")
	w.same("a second later", w.records(nil, edge(time.Second, 2*time.Second)), "series 8-30")
	w.same("a nanosecond later", w.records(nil, edge(1, time.Second)), "series 8-30")
	w.same("the second before", w.records(nil, edge(-time.Second, 0)), "0-10 series 8-30")
}
