package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loomrun/loom/store"
)

func importCounts(w *world) {
	w.add("post", "work")
	i := w.begin("post")
	w.same("its source", i.Source().Name, "post")
	if _, _, ok := i.Known("a"); ok {
		w.Errorf("a container is known before it was read")
	}
	w.must(i.Apply(w.Context(), reading("a", mail("m1", 1, "one/"), mail("m2", 2, "two/"))))
	w.must(i.Apply(w.Context(), nil))
	w.must(i.Apply(w.Context(), reading("b", mail("m3", 3, "three/"), mail("m1", 1, "one/"))))
	counts, err := i.Finish(w.Context(), "", at)
	w.must(err)
	w.same("the first", counts, store.Counts{New: 3, Copies: 1})

	i = w.begin("post")
	stamp, note, ok := i.Known("a")
	w.same("known", fmt.Sprint(stamp, ", ", note, ok), "stamp of a, note of atrue")
	i.Abandon()

	w.same("nothing", w.sync("post", []string{"a", "b"}), store.Counts{Unchanged: 3})
	w.same("the same", w.sync("post", []string{"a", "b"}, reading("a", mail("m1", 1, "one/"), mail("m2", 2, "two/"))), store.Counts{Unchanged: 3})
	w.same("changed", w.sync("post", []string{"a", "b"}, reading("a", mail("m1", 1, "one/"), mail("m2", 2, "other/"), mail("m4", 4, "four/"))),
		store.Counts{New: 1, Changed: 1, Unchanged: 2})
	w.same("gone", w.sync("post", []string{"a", "b"}, reading("a", mail("m1", 1, "one/"))), store.Counts{Gone: 2, Unchanged: 2})
	w.same("a container gone", w.sync("post", []string{"a"}), store.Counts{Gone: 1, Unchanged: 1})
	w.same("records", w.records(nil, store.Filter{}), "m1")
	w.same("all gone", w.sync("post", []string{}), store.Counts{Gone: 1})
	w.same("found", w.find(nil, "", store.Search{}), "")
	v := w.view(nil)
	s := w.source(v, "post")
	w.same("the source", fmt.Sprint(s.Records, s.Bytes, s.Newest.IsZero()), "0 0 true")
	w.must(w.Intact(w, w.s))

	i = w.begin("post")
	w.must(i.Apply(w.Context(), reading("a", mail("m1", 1, "one/"))))
	_, err = i.Finish(w.Context(), "the folder could not be listed", at.Add(time.Hour))
	w.must(err)
	s = with(w, nil, func(v store.View) store.SourceState { return w.source(v, "post") })
	w.same("with a problem", fmt.Sprint(s.Problem, s.Complete, s.Synced.Sub(at)), "the folder could not be listedfalse 1h0m0s")
	// Changed at another time, but as it was: it is the record of then.
	i, err = w.s.Import(w.Context(), "post", at.Add(time.Hour))
	w.must(err)
	w.must(i.Apply(w.Context(), reading("a", mail("m1", 1, "one/"), mail("m2", 2, "two/"))))
	_, err = i.Finish(w.Context(), "", at.Add(time.Hour))
	w.must(err)
	v = w.view(nil)
	for _, r := range w.rows(v, store.Filter{}) {
		w.same("observed "+r.Ref, r.Observed.Sub(at), map[string]time.Duration{"m1": 0, "m2": time.Hour}[r.Ref])
	}
}

func keepAndLose(w *world) {
	w.add("post", "work")
	w.read("post", reading("a", mail("m0", 0, "/"), mail("m1", 1, "/"), mail("m2", 2, "/")))
	kept := store.Change{Op: store.Begin, Container: "a", Keep: true}
	w.same("added", w.sync("post", []string{"a"}, []store.Change{kept, put("a", 3, mail("m3", 3, "/")), done("a")}), store.Counts{New: 1, Unchanged: 3})
	w.same("records", w.records(nil, store.Filter{}), "m3 m2 m1 m0")
	w.same("lost", w.sync("post", []string{"a"}, []store.Change{kept, {Op: store.Lost, Container: "a", Position: 1}, {Op: store.Lost, Container: "a", Position: 77}, done("a")}), store.Counts{Gone: 1, Unchanged: 3})
	w.same("in another's place", w.sync("post", []string{"a"}, []store.Change{kept, put("a", 2, mail("n2", 5, "/")), done("a")}), store.Counts{New: 1, Gone: 1, Unchanged: 2})
	w.same("records", w.records(nil, store.Filter{}), "n2 m3 m0")
	w.same("lost and found", w.sync("post", []string{"a"}, []store.Change{kept, {Op: store.Lost, Container: "a", Position: 0}, put("a", 9, mail("m0", 0, "/")), done("a")}),
		store.Counts{Unchanged: 3})
	w.same("moved within", w.sync("post", []string{"a"}, reading("a", mail("n2", 5, "/"), mail("m0", 0, "changed/"), mail("m3", 3, "/"))), store.Counts{Changed: 1, Unchanged: 2})
	w.same("the last one alone", w.sync("post", []string{"a"}, reading("a", mail("m3", 3, "/"))), store.Counts{Gone: 2, Unchanged: 1})
	w.same("emptied", w.sync("post", []string{"a"}, reading("a")), store.Counts{Gone: 1})
	w.must(w.Intact(w, w.s))
}

func twoPlaces(w *world) {
	w.add("post", "work")
	w.same("both", w.sync("post", []string{"a", "b"}, reading("a", mail("m", 1, "first/")), reading("b", mail("m", 2, "second/"), mail("m", 3, "third/"))),
		store.Counts{New: 1, Copies: 2})
	w.same("the first counts", w.find(nil, "first", store.Search{}), "m")
	w.same("read again", w.sync("post", []string{"a", "b"}, reading("b", mail("m", 4, "fourth/"))).Changed, 0)
	w.same("a copy changes", w.find(nil, "second OR third OR fourth", store.Search{}), "")
	// With another time it is another row of the store, at both its places.
	w.same("the first changes", w.sync("post", []string{"a", "b"}, reading("a", mail("m", 3, "fifth/"))).Changed, 1)
	w.same("found", w.find(nil, "fifth", store.Search{}), "m")
	w.must(w.Intact(w, w.s))
	// One that both containers hold and that changes in both, as an event that is in two calendars does.
	w.same("both change", w.sync("post", []string{"a", "b"}, reading("a", mail("m", 5, "sixth/")), reading("b", mail("m", 5, "sixth/"))).Changed, 1)
	w.same("found", w.find(nil, "sixth", store.Search{}), "m")
	w.same("one place gone", w.sync("post", []string{"b"}), store.Counts{Unchanged: 1})
	w.same("the other gone", w.sync("post", []string{}), store.Counts{Gone: 1})
	// Of another source it is another record.
	w.add("other", "family")
	w.read("post", reading("a", mail("m", 1, "/")))
	w.same("of another source", w.read("other", reading("a", mail("m", 1, "/"))), store.Counts{New: 1})
	w.same("records", w.records(nil, store.Filter{}), "m m")
	w.same("records", w.records([]string{"family"}, store.Filter{}), "m")
}

func moves(w *world) {
	w.add("post", "work")
	for _, tc := range []struct{ from, to string }{{"a", "b"}, {"b", "a"}} {
		w.sync("post", []string{"a", "b"}, reading(tc.from, mail("m", 1, "text/"), mail("x", 2, "/")), reading(tc.to))
		w.same("moved", w.sync("post", []string{"a", "b"}, reading("a", only("a", tc.to)...), reading("b", only("b", tc.to)...)), store.Counts{Unchanged: 2})
		w.same("records", w.records(nil, store.Filter{}), "x m")
		w.same("found", w.find(nil, "text", store.Search{}), "m")
	}
	// The container itself is renamed.
	w.same("renamed", w.sync("post", []string{"c"}, reading("c", mail("m", 1, "text/"), mail("x", 2, "/"))), store.Counts{Unchanged: 2})
	w.same("renamed and changed", w.sync("post", []string{"d"}, reading("d", mail("m", 1, "other/"), mail("x", 2, "/"))), store.Counts{Changed: 1, Unchanged: 1})
	w.same("found", w.find(nil, "other", store.Search{}), "m")
	w.must(w.Intact(w, w.s))
}

func only(container, holder string) []*store.Record {
	if container != holder {
		return nil
	}
	return []*store.Record{mail("m", 1, "text/"), mail("x", 2, "/")}
}

func nextPlace(w *world) {
	w.add("post", "work")
	w.sync("post", []string{"a", "b", "c"}, reading("a", mail("m", 1, "first/")), reading("b", mail("m", 1, "second/")), reading("c", mail("m", 1, "second/")))
	w.same("one place gone", w.sync("post", []string{"b", "c"}), store.Counts{Unchanged: 1})
	i := w.begin("post")
	_, _, b := i.Known("b")
	_, _, c := i.Known("c")
	w.same("known", fmt.Sprint(b, c), "false true")
	i.Abandon()
	w.same("read again", w.sync("post", []string{"b", "c"}, reading("b", mail("m", 1, "second/"))), store.Counts{Changed: 1})
	w.same("found", w.find(nil, "second", store.Search{}), "m")
	w.same("the next", w.sync("post", []string{"c"}), store.Counts{Unchanged: 1})
	i = w.begin("post")
	_, _, c = i.Known("c")
	w.same("known", c, true)
	i.Abandon()
}

func timeChanges(w *world) {
	w.add("post", "work")
	w.read("post", reading("a", mail("m", 10, "text/"), mail("x", 15, "/")))
	for _, minute := range []int{30, 5, 20} {
		changed := mail("m", minute, "text/")
		changed.Keys, changed.Until = []string{"k"}, minutes(minute+1)
		w.same("changed", w.sync("post", []string{"a"}, reading("a", changed, mail("x", 15, "/"))), store.Counts{Changed: 1, Unchanged: 1})
		for _, at := range []int{5, 10, 20, 30} {
			want := ""
			if at == minute {
				want = "m"
			}
			w.same("found", w.find(nil, "text", store.Search{Since: minutes(at), Until: minutes(at + 1)}), want)
			w.same("in the window", w.records(nil, store.Filter{From: minutes(at), To: minutes(at + 1)}), want)
		}
		w.same("by key", w.records(nil, store.Filter{Keys: []string{"k"}}), "m")
	}
	w.same("gone", w.sync("post", []string{"a"}, reading("a")), store.Counts{Gone: 2})
	w.same("by key", w.records(nil, store.Filter{Keys: []string{"k"}}), "")
	w.must(w.Intact(w, w.s))
}

func oneSecond(w *world) {
	w.add("post", "work")
	var records []*store.Record
	for n := range 300 {
		records = append(records, mail(fmt.Sprint("m", n), 1, "text/"))
	}
	w.same("read", w.read("post", reading("a", records...)), store.Counts{New: 300})
	first := w.records(nil, store.Filter{})
	w.same("records", len(strings.Fields(first)), 300)
	// What changes of one, and when it was read, does not change the order.
	records[7].Body = "changed"
	w.same("read again", w.read("post", reading("a", records...)), store.Counts{Changed: 1, Unchanged: 299})
	w.same("records", w.records(nil, store.Filter{}), first)
	w.same("found", w.find(nil, "text", store.Search{}), strings.Join(strings.Fields(first)[:store.MaxLimit], " ")+" +")
}

// Records of one second whose hashes are the same as well have numbers next to each other, and none is taken for the other.
func collisions(w *world) {
	seen := map[store.ID]string{}
	var first, second string
	for n := 0; second == ""; n++ {
		ref := fmt.Sprint("m", n)
		id := store.NewID("post", ref, minutes(1))
		if other, twice := seen[id]; twice {
			first, second = other, ref
		}
		seen[id] = ref
	}
	w.add("post", "work")
	one, two := mail(first, 1, "apple/"), mail(second, 1, "pear/")
	look := func() string {
		return fmt.Sprintf("%s, %s, %s", w.find(nil, "apple", store.Search{}), w.find(nil, "pear", store.Search{}), w.find(nil, "plum", store.Search{}))
	}
	w.same("both", w.sync("post", []string{"a"}, reading("a", one, two)), store.Counts{New: 2})
	w.same("found", look(), first+", "+second+", ")
	w.same("order", w.records(nil, store.Filter{}), second+" "+first)
	w.same("again", w.sync("post", []string{"a"}, reading("a", two, one)), store.Counts{Unchanged: 2})
	w.same("changed", w.sync("post", []string{"a"}, reading("a", one, mail(second, 1, "plum/"))), store.Counts{Changed: 1, Unchanged: 1})
	w.same("found", look(), first+", , "+second)
	w.same("one gone", w.sync("post", []string{"a"}, reading("a", mail(second, 1, "plum/"))), store.Counts{Gone: 1, Unchanged: 1})
	w.same("found", look(), ", , "+second)
	w.same("there again", w.sync("post", []string{"a"}, reading("a", mail(second, 1, "plum/"), one)), store.Counts{New: 1, Unchanged: 1})
	w.same("found", look(), first+", , "+second)
	w.must(w.Intact(w, w.s))
}

func brokenOff(w *world) {
	batches := [][]store.Change{
		{{Op: store.Begin, Container: "a"}, put("a", 0, mail("m0", 0, "zero/"))},
		{put("a", 1, mail("m1", 1, "one/")), {Op: store.Skipped, Container: "a", Position: 2, Reason: "bad"}},
		{done("a"), {Op: store.Begin, Container: "b"}, put("b", 0, mail("m0", 0, "zero/"))},
		{put("b", 1, mail("m2", 2, "two/")), done("b")},
	}
	changed := [][]store.Change{
		{{Op: store.Begin, Container: "a"}, put("a", 0, mail("m1", 7, "changed/"))},
		{put("a", 1, mail("m3", 3, "three/"))},
		{done("a"), {Op: store.Begin, Container: "b"}, put("b", 5, mail("m2", 2, "two/"))},
		{done("b"), {Op: store.Begin, Container: "c"}, put("c", 0, mail("m0", 0, "zero/")), done("c")},
	}
	listed := map[string]bool{"a": true, "b": true, "c": true}
	dump := func() string {
		v := w.view(nil)
		defer func() { w.must(v.Close()) }()
		skipped, err := v.Skipped(w.Context(), "post", 10)
		w.must(err)
		s := w.source(v, "post")
		text := fmt.Sprint(skipped, s.Records, s.Bytes, s.Complete)
		for _, r := range w.rows(v, store.Filter{}) {
			text += fmt.Sprintf("\n%d %+v", r.ID, r.Record)
		}
		for _, rank := range []store.Rank{store.ByRecency, store.ByScore} {
			text += "\n" + refs(w.search(v, "zero OR one OR two OR three OR changed", store.Search{Rank: rank}).Rows)
		}
		return text
	}
	clean := func() {
		if _, err := w.s.RemoveSource(w.Context(), "post"); err != nil && !errors.Is(err, store.ErrNoSource) {
			w.Fatalf("%v", err)
		}
		w.add("post", "work")
	}
	breakOff := func(batches [][]store.Change) {
		i := w.begin("post")
		w.must(i.Listed(w.Context(), listed))
		for _, b := range batches {
			w.must(i.Apply(w.Context(), b))
		}
		i.Abandon()
	}
	clean()
	restart(w, "post", listed, batches)
	first := dump()
	for n := range len(batches) + 1 {
		clean()
		breakOff(batches[:n])
		restart(w, "post", listed, batches)
		w.same(fmt.Sprintf("broken off before batch %d", n), dump(), first)
	}
	restart(w, "post", listed, changed)
	second := dump()
	if second == first {
		w.Errorf("nothing changed")
	}
	for n := range len(changed) + 1 {
		clean()
		restart(w, "post", listed, batches)
		breakOff(changed[:n])
		restart(w, "post", listed, changed)
		w.same(fmt.Sprintf("changed, broken off before batch %d", n), dump(), second)
	}
	w.must(w.Intact(w, w.s))
}

// restart reads everything again.
func restart(w *world, source string, listed map[string]bool, batches [][]store.Change) {
	w.Helper()
	i := w.begin(source)
	w.must(i.Listed(w.Context(), listed))
	for _, b := range batches {
		w.must(i.Apply(w.Context(), b))
	}
	_, err := i.Finish(w.Context(), "", at)
	w.must(err)
}

func skips(w *world) {
	w.add("post", "work")
	skip := func(container string, position int64, reason string) store.Change {
		return store.Change{Op: store.Skipped, Container: container, Position: position, Reason: reason}
	}
	begin := func(container string, keep bool) store.Change {
		return store.Change{Op: store.Begin, Container: container, Keep: keep}
	}
	told := func(want string, counts store.Counts) {
		w.Helper()
		v := w.view([]string{"work"})
		defer func() { w.must(v.Close()) }()
		all, err := v.Skipped(w.Context(), "post", 10)
		w.must(err)
		var text []string
		for _, s := range all {
			text = append(text, fmt.Sprintf("%s:%d:%s", s.Container, s.Position, s.Reason))
		}
		w.same("skipped", strings.Join(text, " "), want)
		s := w.source(v, "post")
		w.same("counted", fmt.Sprint(s.Skipped, counts.Skipped, s.Complete), fmt.Sprint(len(all), len(all), len(all) == 0))
	}
	told("b:0:first b:9:ninth", w.sync("post", []string{"a", "b"}, reading("a", mail("m", 1, "/")),
		[]store.Change{begin("b", false), skip("b", 9, "ninth"), skip("b", 0, "first"), done("b")}))
	some := with(w, nil, func(v store.View) []store.Skip {
		all, err := v.Skipped(w.Context(), "post", 1)
		w.must(err)
		return all
	})
	w.same("the first", fmt.Sprintf("%+v", some), "[{Container:b Position:0 Reason:first}]")
	told("b:0:first b:9:ninth", w.sync("post", []string{"a", "b"}))
	told("b:0:first b:9:again", w.sync("post", []string{"a", "b"}, []store.Change{begin("b", true), skip("b", 9, "again"), done("b")}))
	told("b:0:first", w.sync("post", []string{"a", "b"}, []store.Change{begin("b", true), put("b", 9, mail("n", 2, "/")), done("b")}))
	told("", w.sync("post", []string{"a", "b"}, []store.Change{begin("b", true), {Op: store.Lost, Container: "b"}, done("b")}))
	told("b:3:third", w.sync("post", []string{"a", "b"}, []store.Change{begin("b", false), skip("b", 3, "third"), done("b")}))
	told("", w.sync("post", []string{"a", "b"}, reading("b", mail("n", 2, "/"))))
	told("b:1:one", w.sync("post", []string{"a", "b"}, []store.Change{begin("b", false), skip("b", 1, "one"), done("b")}))
	told("", w.sync("post", []string{"a"}))
}

func unreadable(w *world) {
	w.add("post", "work")
	w.read("post", reading("a", mail("m1", 1, "/"), mail("m2", 2, "/")))
	failed := []store.Change{{Op: store.Begin, Container: "a", Keep: true}, {Op: store.Skipped, Container: "a", Position: -1, Reason: "no"}}
	w.same("unread", w.sync("post", []string{"a"}, failed), store.Counts{Unchanged: 2, Skipped: 1})
	w.same("records", w.records(nil, store.Filter{}), "m2 m1")
	i := w.begin("post")
	stamp, _, ok := i.Known("a")
	w.same("known", fmt.Sprint(stamp, ok), "stamp of atrue") // of then, not of the failed reading
	i.Abandon()
	half := []store.Change{{Op: store.Begin, Container: "a"}, put("a", 0, mail("m3", 3, "/")), {Op: store.Skipped, Container: "a", Position: -1, Reason: "half"}}
	w.same("half read", w.sync("post", []string{"a"}, half), store.Counts{New: 1, Gone: 1, Unchanged: 1, Skipped: 1})
	w.same("records", w.records(nil, store.Filter{}), "m3 m2")
	i = w.begin("post")
	if _, _, ok = i.Known("a"); ok {
		w.Errorf("a container that was read by half is known")
	}
	i.Abandon()
	w.same("read", w.sync("post", []string{"a"}, reading("a", mail("m3", 3, "/"))), store.Counts{Gone: 1, Unchanged: 1})
	w.same("with Keep", w.sync("post", []string{"a"}, failed, []store.Change{{Op: store.Begin, Container: "a", Keep: true}, done("a")}), store.Counts{Unchanged: 1})
}

func notListed(w *world) {
	w.add("post", "work")
	w.read("post", reading("a", mail("m1", 1, "/")), reading("b", mail("m2", 2, "/")))
	i := w.begin("post")
	w.must(i.Apply(w.Context(), reading("a", mail("m3", 3, "/"))))
	counts, err := i.Finish(w.Context(), "the disk failed", at)
	w.must(err)
	w.same("counts", counts, store.Counts{New: 1, Gone: 1, Unchanged: 1})
	w.same("records", w.records(nil, store.Filter{}), "m3 m2")
}

func wholeBatches(w *world) {
	w.add("post", "work")
	w.read("post", reading("a", mail("m1", 1, "/")))
	i := w.begin("post")
	defer i.Abandon()
	for name, changes := range map[string][]store.Change{
		"not begun":        {{Op: store.Begin, Container: "a"}, put("a", 0, mail("m2", 2, "/")), put("b", 0, mail("m3", 3, "/"))},
		"a bad record":     append(reading("a", mail("m2", 2, "/")), append(reading("c"), put("c", 0, mail("", 3, "/")))...),
		"no such change":   append(reading("a", mail("m2", 2, "/")), store.Change{Op: 99, Container: "a"}),
		"the zero change":  append(reading("a", mail("m2", 2, "/")), store.Change{Container: "a"}),
		"lost, not begun":  {{Op: store.Lost, Container: "z"}},
		"done, not begun":  {done("z")},
		"skip, not begun":  {{Op: store.Skipped, Container: "z"}},
		"a record is none": {{Op: store.Begin, Container: "a"}, {Op: store.Put, Container: "a", Record: &store.Record{}}},
	} {
		if err := i.Apply(w.Context(), changes); err == nil {
			w.Errorf("%s: no error", name)
		}
		w.same(name, w.records(nil, store.Filter{}), "m1")
		stamp, _, ok := i.Known("a")
		w.same(name, fmt.Sprint(stamp, ok), "stamp of atrue")
		for _, c := range "bcz" {
			if _, _, ok := i.Known(string(c)); ok {
				w.Errorf("%s: %c is known", name, c)
			}
		}
	}
	w.must(i.Apply(w.Context(), reading("a", mail("m1", 1, "/"), mail("m2", 2, "/"))))
	w.same("then", w.records(nil, store.Filter{}), "m2 m1")
}

func oneAtATime(w *world) {
	w.add("post", "work")
	other := w.s
	if w.Again != nil {
		other = w.Again(w, w.s)
	}
	i := w.begin("post")
	_, err := other.Import(w.Context(), "post", at)
	if !errors.Is(err, store.ErrBusy) {
		w.Errorf("a second import: %v", err)
	}
	w.same("a view meanwhile", w.records(nil, store.Filter{}), "")
	w.must(i.Apply(w.Context(), reading("a", mail("m1", 1, "/"))))
	i.Abandon()
	next, err := other.Import(w.Context(), "post", at)
	w.must(err)
	counts, err := next.Finish(w.Context(), "", at)
	w.must(err)
	w.same("what was left", counts, store.Counts{Unchanged: 1})
	w.same("again", w.read("post"), store.Counts{Unchanged: 1})
}

func badRecords(w *world) {
	w.add("post", "work")
	i := w.begin("post")
	defer i.Abandon()
	w.must(i.Apply(w.Context(), []store.Change{{Op: store.Begin, Container: "a"}}))
	for name, spoil := range map[string]func(r *store.Record){
		"no reference":       func(r *store.Record) { r.Ref = "" },
		"no kind":            func(r *store.Record) { r.Kind = "" },
		"a long body":        func(r *store.Record) { r.Body = strings.Repeat("b", store.MaxBodyBytes+1) },
		"a body not UTF-8":   func(r *store.Record) { r.Body = "\xff" },
		"a title with a NUL": func(r *store.Record) { r.Title = "a\x00b" },
		"a name of lines":    func(r *store.Record) { r.From = []store.Party{{Name: "a\nb"}} },
		"details that are a list": func(r *store.Record) {
			r.Details = []byte(`[]`)
		},
	} {
		r := whole("r")
		spoil(r)
		if err := i.Apply(w.Context(), []store.Change{put("a", 0, r)}); err == nil {
			w.Errorf("%s: no error", name)
		}
	}
	w.same("records", w.records(nil, store.Filter{}), "")
}
