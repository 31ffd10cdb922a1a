package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/loomrun/loom/store"
)

func queriesFind(w *world) {
	w.add("post", "work")
	records := []*store.Record{
		mail("m1", 1, "Budget Report/The annual figures of the garden club."),
		mail("m2", 2, "Lunch/Shall we discuss the report on the budget?"),
		mail("m3", 3, "日本語の予定/東京で会いましょう"),
		mail("m4", 4, "Caf\u00e9 cre\u0300me/na\u0131\u0308ve 👩‍👩‍👧 🎉"),
		mail("m5", 5, "Draft/budget draft 42, see C:\\temp or http://example.com/x?y=1"),
		mail("m6", 6, "/"),
		{Ref: "place", Kind: store.Place, Time: minutes(7), Title: "budget", Unsearched: true},
	}
	records[1].Folder, records[1].From = "Archive/2024", []store.Party{{Name: "Zoë Report", Address: "zoe.x@example.org"}}
	records[4].To = []store.Party{{Name: "Budget Office", Address: "office@example.net"}}
	w.read("post", reading("a", records...))
	for _, tc := range []struct{ query, want string }{
		{"", "m6 m5 m4 m3 m2 m1"},
		{"budget", "m5 m2 m1"},
		{"BUDGET report", "m2 m1"},
		{"budget OR lunch", "m5 m2 m1"},
		{"budget -draft", "m2 m1"},
		{"-budget", "m6 m4 m3"},
		{"NOT (budget OR café)", "m6 m3"},
		{"budget AND (garden OR lunch)", "m2 m1"},
		{`"budget report"`, "m1"},
		{`"report budget"`, ""},
		{`"the budget"`, "m2"},
		{"budg*", "m5 m2 m1"},
		{`"annual fig*"`, ""},
		{`"annual fig"*`, "m1"},
		{"budge", ""},
		{"subject:budget", "m1"},
		{"to:budget", "m5"},
		{"from:report", "m2"},
		{"from:zoe", "m2"},
		{"zoë", "m2"},
		{"from:zoe.x@example.org", "m2"},
		{"to:ada@example.com -from:grace", "m2"},
		{"in:archive", "m2"},
		{"in:inbox budget", "m5 m1"},
		{"in:2024 report", "m2"},
		{"archive", ""}, // a folder is found in its field only
		{"from:(zoe OR office)", "m2"},
		{"東京", "m3"},
		{"京東", ""},
		{"語の予", "m3"},
		{"京", "m3"},
		{"cafe creme", "m4"},
		{"CAFE\u0301", "m4"},
		{"caf\u00e9", "m4"},
		{"🎉", "m4"},
		{"👧", "m4"},
		{"👩‍👩‍👧", "m4"},
		{"example.com/x", "m5"},
		{"temp", "m5"},
		{"42", "m5"},
		{"/budget$/", ""},
		{`/budget\?$/`, "m2"},
		{"/^budget/", "m5 m1"},
		{"/BUDGET/ -/draft \\d+/", "m2 m1"},
		{"-/budget/", "m6 m4 m3"},
		{"-/budget/ -/./", ""},
		{"report /garden/", "m1"},
		{"/zoe\\.x@/", "m2"},
		{"/日本/", "m3"},
		{"grace", "m6 m5 m4 m3 m1"},
		{"scope", ""},
		{"a", ""},
		{"s1", ""},
		{"kmail", ""},
	} {
		w.same("search "+tc.query, w.find(nil, tc.query, store.Search{}), tc.want)
		byScore := strings.Fields(w.find(nil, tc.query, store.Search{Rank: store.ByScore}))
		for _, ref := range strings.Fields(tc.want) {
			if !strings.Contains(" "+strings.Join(byScore, " ")+" ", " "+ref+" ") {
				w.Errorf("search %s by score: %v, want %s", tc.query, byScore, tc.want)
			}
		}
		if len(byScore) != len(strings.Fields(tc.want)) {
			w.Errorf("search %s by score: %v, want %s", tc.query, byScore, tc.want)
		}
	}
	v := w.view(nil)
	found := w.search(v, "garden", store.Search{})
	w.same("the snippet", found.Snippets, []string{"The annual figures of the garden club."})
}

func searchOrder(w *world) {
	w.add("post", "work")
	records := []*store.Record{
		mail("old", 1, "apple apple/apple"),
		mail("mid", 2, "pear/apple"),
		mail("new", 3, "pear/banana banana banana banana apple"),
		mail("title", 4, "Apple/pear"),
		{Ref: "never", Kind: store.Mail, Body: "apple kiwi"},
	}
	w.read("post", reading("a", records...))
	for _, tc := range []struct {
		query string
		rank  store.Rank
		limit int
		want  string
	}{
		{"apple", store.ByRecency, 10, "title new mid old never"},
		{"apple", store.ByRecency, 5, "title new mid old never"},
		{"apple", store.ByRecency, 4, "title new mid old +"},
		{"apple", store.ByRecency, 1, "title +"},
		{"apple", store.ByScore, 10, "old title never mid new"},
		{"apple", store.ByScore, 2, "old title +"},
		{"apple", store.ByScore, 5, "old title never mid new"},
		{"apple OR kiwi", store.ByScore, 1, "never +"}, // the rare word counts more
		{"", store.ByScore, 2, "title new +"},
		{"/pear/", store.ByScore, 2, "title new +"},
		{"/pear/", store.ByRecency, 3, "title new mid"},
	} {
		w.same(fmt.Sprint(tc.query, " ", tc.rank, " ", tc.limit), w.find(nil, tc.query, store.Search{Rank: tc.rank, Limit: tc.limit}), tc.want)
	}
	v := w.view(nil)
	for _, limit := range []int{0, -1, store.MaxLimit + 1} {
		if _, err := v.Search(w.Context(), store.Search{Limit: limit}); err == nil {
			w.Errorf("a limit of %d", limit)
		}
	}
}

// Of more hits than are weighed the newest are, and those that have a word in the title; what does not exist for the view takes no place.
func manyHits(w *world) {
	w.add("post", "work")
	w.add("few", "family")
	records := []*store.Record{mail("titled", 0, "Apple/"), mail("most", 1, "/apple apple apple apple")}
	for n := range store.MaxScored + 10 {
		records = append(records, mail(fmt.Sprint("m", n), 10+n, "/apple and what else there is to say"))
	}
	w.read("post", reading("a", records...))
	w.read("few", reading("a", mail("f1", 2, "/apple apple"), mail("f2", 3, "/apple")))
	newest := fmt.Sprint("m", store.MaxScored+9)
	for _, tc := range []struct {
		facets []string
		query  string
		rank   store.Rank
		want   string
	}{
		{nil, "apple", store.ByScore, "titled " + newest + " +"},
		{[]string{"work"}, "apple", store.ByScore, "titled " + newest + " +"},
		{[]string{"work"}, "apple -titled", store.ByScore, "titled " + newest + " +"},
		{[]string{"family"}, "apple", store.ByScore, "f1 f2"},
		{[]string{"family"}, "apple", store.ByRecency, "f2 f1"},
		{[]string{"work"}, "apple", store.ByRecency, newest + " " + fmt.Sprint("m", store.MaxScored+8) + " +"},
		{[]string{"work"}, "apple /apple apple/", store.ByRecency, "most"},
	} {
		w.same(fmt.Sprint(tc.facets, " ", tc.query, " ", tc.rank), w.find(tc.facets, tc.query, store.Search{Rank: tc.rank, Limit: 2}), tc.want)
	}
}

func searchLimits(w *world) {
	w.add("post", "work")
	w.add("other", "work")
	event := whole("event")
	event.Time = minutes(2)
	card := &store.Record{Ref: "card", Kind: store.Contact, Title: "Grace", Keys: []string{"grace@example.com", "+14155550100"}}
	w.read("post", reading("a", mail("m1", 1, "text/"), event, mail("m3", 3, "text/"), card))
	third := mail("o3", 3, "text/")
	third.From, third.To = []store.Party{{Address: "zoe@example.com"}}, nil
	w.read("other", reading("a", third))
	same := func(s store.Search, want ...string) {
		w.Helper()
		v := w.view(nil)
		defer func() { w.must(v.Close()) }()
		got := map[string]bool{}
		rows := w.search(v, "", s).Rows
		for _, r := range rows {
			got[r.Ref] = true
		}
		for _, ref := range want {
			if !got[ref] {
				w.Errorf("%+v: %s, want %v", s, refs(rows), want)
			}
		}
		if len(rows) != len(want) {
			w.Errorf("%+v: %s, want %v", s, refs(rows), want)
		}
	}
	const second = time.Second
	three := minutes(3)
	same(store.Search{Since: three}, "m3", "o3")
	same(store.Search{Since: three.Add(second)})
	same(store.Search{Since: three.Add(1)}) // what happens within a second is kept as its start
	same(store.Search{Since: three.Add(-second)}, "m3", "o3")
	same(store.Search{Until: three}, "m1", "event", "card") // what has no time is before all else
	same(store.Search{Until: three.Add(1)}, "m1", "event", "m3", "o3", "card")
	same(store.Search{Until: three.Add(second)}, "m1", "event", "m3", "o3", "card")
	same(store.Search{Until: three.Add(-second)}, "m1", "event", "card")
	same(store.Search{Since: minutes(1), Until: minutes(2)}, "m1")
	same(store.Search{Since: minutes(2), Until: minutes(2)})
	same(store.Search{Since: minutes(3), Until: minutes(1)})
	same(store.Search{Since: minutes(2).In(time.FixedZone("", 3600)), Until: three}, "event")
	same(store.Search{Since: time.Unix(-1<<60, 0)}, "m1", "event", "m3", "o3")
	same(store.Search{Until: time.Unix(1<<60, 0)}, "m1", "event", "m3", "o3", "card")

	same(store.Search{Kinds: []store.Kind{store.Mail}}, "m1", "m3", "o3")
	same(store.Search{Kinds: []store.Kind{store.Event, store.Contact, store.Event}}, "event", "card")
	same(store.Search{Kinds: []store.Kind{store.Place}})
	same(store.Search{Kinds: []store.Kind{}})
	same(store.Search{Kinds: []store.Kind{`mail" OR "a`, `x") OR (scope : "a`, ""}})

	same(store.Search{Sources: []string{"other"}}, "o3")
	same(store.Search{Sources: []string{"other", "post", "other"}}, "m1", "event", "m3", "o3", "card")
	same(store.Search{Sources: []string{store.FileCabinet}})
	same(store.Search{Sources: []string{}})

	same(store.Search{Parties: []store.Identifier{"grace@example.com"}}, "m1", "event", "m3", "card")
	same(store.Search{Parties: []store.Identifier{"zoe@example.com", "nobody@example.com"}}, "o3")
	same(store.Search{Parties: []store.Identifier{"+14155550100"}}, "card")
	same(store.Search{Parties: []store.Identifier{"race@example.com"}})
	same(store.Search{Parties: []store.Identifier{`" OR scope : "a`}})
	same(store.Search{Parties: []store.Identifier{}})
	same(store.Search{Parties: []store.Identifier{"zoe@example.com", "grace@example.com"}, Sources: []string{"other"}, Kinds: []store.Kind{store.Mail}, Since: three}, "o3")
}
