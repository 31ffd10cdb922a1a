package readverb_test

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/calendar"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/storetest"
)

func read[T any](t *testing.T, parts []part, argv string) (T, readverb.Answer) {
	t.Helper()
	verb, err := readverb.Parse(quoted(argv))
	if err != nil {
		t.Fatal(err)
	}
	a, err := verb.Read(context.Background(), readverb.Reader{View: inMemory(parts).View(everything), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return a.Payload.(T), a
}

func series(t *testing.T, uid, rule string, start calendar.Time) *store.Record {
	t.Helper()
	r, err := calendar.ParseRule(rule)
	if err != nil {
		t.Fatal(err)
	}
	return event(calendar.Event{UID: uid, Summary: uid, Start: start, Rules: []calendar.Rule{r}})
}

func TestTheFirstOccurrencesAreListed(t *testing.T) {
	p := part{Source: source("dates", store.CalendarSource, "ics")}
	for n := range 5 {
		p.records = append(p.records, series(t, fmt.Sprint("daily", n), "FREQ=DAILY", calendar.NewTime(2026, 1, 1+n, 9, 0, 0, "UTC")))
	}
	p.records = append(p.records, series(t, "hourly", "FREQ=HOURLY;UNTIL=20290101T000000Z", calendar.NewTime(2028, 1, 1, 9, 0, 0, "UTC")))
	all, a := read[[]*readverb.Occurrence](t, []part{p}, "calendar list --all")
	if len(all) != readverb.MaxOccurrences || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "more than 1000 occurrences") {
		t.Fatalf("%d occurrences, %v", len(all), a.Notes)
	}
	// Five a day but for the first days.
	last := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, (readverb.MaxOccurrences+10)/5-1)
	if got := all[len(all)-1]; got.Start != last.Format(time.RFC3339) || got.ID != "dates/daily4#"+last.Format("2006-01-02T15:04:05Z") {
		t.Errorf("the last is %+v, want one at %s", got, last)
	}
}

func TestSlowRulesAreTold(t *testing.T) {
	p := part{Source: source("dates", store.CalendarSource, "ics"), records: []*store.Record{
		series(t, "slow", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", calendar.NewTime(2026, 1, 1, 9, 0, 0, "UTC")),
	}}
	_, a := read[[]*readverb.Occurrence](t, []part{p}, "calendar list --all")
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "take too long to work out") {
		t.Errorf("%q", a.Notes)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("😀", 2000)
	attendees := make([]calendar.Attendee, 60)
	for i := range attendees {
		attendees[i] = calendar.Attendee{Address: fmt.Sprintf("a%d@x.org", i)}
	}
	parts := []part{
		{Source: source("dates", store.CalendarSource, "ics"), records: []*store.Record{
			event(calendar.Event{UID: "e", Summary: long[:4000], Description: long, Start: calendar.NewDate(2026, 12, 2), Attendees: attendees}),
		}},
		{Source: source("cards", store.ContactsSource, "vcard"), records: []*store.Record{
			contact("c", "C", object{"note": strings.Repeat("n", 20_000), "org": long}, "c@x.org"),
		}},
	}
	events, _ := read[[]*readverb.Occurrence](t, parts, "calendar list")
	if o := events[0]; len(o.Title) != 2000 || len(o.Description) != 4000 || len(o.Attendees) != 50 || !o.MoreInvited {
		t.Errorf("%d, %d, %d, %v", len(o.Title), len(o.Description), len(o.Attendees), o.MoreInvited)
	}
	p, _ := read[*readverb.Person](t, parts, "people c@x.org --shape card")
	if len(p.Note) != 16_000 || len(p.Org) != 2000 {
		t.Errorf("%d, %d", len(p.Note), len(p.Org))
	}
}

// A chain of cards, each the same as the next, is one person up to a limit, and takes no longer than that.
func TestManyCards(t *testing.T) {
	p := part{Source: source("cards", store.ContactsSource, "vcard")}
	for n := range 2 * readverb.MaxCards {
		p.records = append(p.records, contact(fmt.Sprintf("c%04d", n), "Ann", nil, fmt.Sprintf("a%d@x.org", n), fmt.Sprintf("a%d@x.org", n+1)))
	}
	one, _ := read[*readverb.Person](t, []part{p}, "people a0@x.org")
	if one.CanonicalID != "person:c0000" || len(one.Identifiers) != 100 {
		t.Errorf("%s, %d", one.CanonicalID, len(one.Identifiers))
	}
	p.records = append(p.records, group("g", "All"))
	members := make([]string, 0, 300)
	for n := range 300 {
		members = append(members, fmt.Sprintf("mailto:m%d@x.org", n))
	}
	p.records[len(p.records)-1] = group("g", "All", members...)
	g, _ := read[*readverb.GroupOfPeople](t, []part{p}, "people group:all")
	if len(g.Members) != readverb.MaxMembers || !g.Truncated {
		t.Errorf("%d, %v", len(g.Members), g.Truncated)
	}
}

func TestManyMessages(t *testing.T) {
	p := part{Source: source("post", store.MailSource, "mbox")}
	for n := range readverb.MaxInteractions + 1 {
		p.records = append(p.records, mail(fmt.Sprint("m", n), now.Add(-time.Duration(n)*time.Minute).Format(time.RFC3339), "Ann <ann@x.org>", "b@x.org", fmt.Sprint("n", n), ""))
	}
	one, _ := read[*readverb.Person](t, []part{p}, "people ann@x.org")
	if i := one.Interaction; i.Messages != readverb.MaxInteractions || !i.More || i.LastTitle != "n0" {
		t.Errorf("%+v", i)
	}
	found, _ := read[*readverb.Found](t, []part{p}, "search n7")
	if len(found.Hits) != 1 || found.Truncated {
		t.Errorf("%+v", found)
	}
	found, _ = read[*readverb.Found](t, []part{p}, "search --person ann@x.org --limit 200")
	if len(found.Hits) != 200 || !found.Truncated {
		t.Errorf("%d", len(found.Hits))
	}
}

func TestManyActivities(t *testing.T) {
	p := part{Source: source("watch", store.ActivitySource, "activitywatch")}
	for n := range 60 {
		from := now.Add(-time.Duration(n+1) * time.Minute)
		p.records = append(p.records, activity(fmt.Sprint("a", n), from.Format(time.RFC3339), from.Add(time.Duration(n+1)*time.Second).Format(time.RFC3339), "app", fmt.Sprint(n)))
	}
	sums, _ := read[*readverb.Activities](t, []part{p}, "context activity")
	if len(sums.Activity) != readverb.MaxActivityRows || !sums.Truncated || sums.Activity[0].Seconds != 60 || sums.TotalSeconds != 60*61/2 {
		t.Errorf("%d, %v, %+v, %d", len(sums.Activity), sums.Truncated, sums.Activity[0], sums.TotalSeconds)
	}
}

// Details of another form than their kind's are as good as none, and break nothing.
func TestHostileDetails(t *testing.T) {
	for _, hostile := range []string{
		``, `{}`, `{"pageId":7}`, `{"links":{"a":1},"aliases":[1,null,{"target":[]}],"headings":"x"}`,
		`{"frontMatter":[1]}`, `{"frontMatter":{"name":{},"bio":7}}`, `{"lat":1e999,"lon":0}`, `{"members":"a"}`,
		`{"app":{},"title":[]}`, `{"uid":"u"}`, strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000),
	} {
		var parts []part
		for n, k := range store.Kinds {
			kind := []store.SourceKind{store.MailSource, store.CalendarSource, store.ContactsSource, store.ContactsSource, store.PagesSource, store.PlacesSource, store.ActivitySource}[n]
			r := &store.Record{
				Ref: "a.md", Kind: k, Title: "word", Time: now.Add(-time.Hour), Until: now.Add(time.Hour), Details: []byte(hostile),
				Keys: []string{"path:a.md", "path:a", "page:P-1", "ann@x.org", "group:club", "path:profile.md", "People/Ann/about.md"},
			}
			if hostile == "" {
				r.Details = nil
			}
			parts = append(parts, part{Source: source(fmt.Sprint("s", n), kind, "x"), records: []*store.Record{r}})
		}
		parts[4].Name = store.FileCabinet
		view := inMemory(parts).View(everything)
		for _, argv := range calls {
			payload, _, _ := strings.Cut(ask(view, argv...), "\n")
			var any any
			if err := json.Unmarshal([]byte(payload), &any); err != nil && !strings.HasPrefix(payload, "error: ") {
				t.Errorf("%.40s: %v: %v\n%.200s", hostile, argv, err, payload)
			}
		}
	}
}

// failing is a view whose records cannot be read.
type failing struct{ store.View }

var errDisk = errors.New("the disk is gone")

func (f failing) Records(context.Context, store.Filter) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) { yield(store.Row{}, errDisk) }
}

func (f failing) Search(context.Context, store.Search) (store.Result, error) {
	return store.Result{}, errDisk
}

func TestFailuresOfTheStoreAreErrors(t *testing.T) {
	view := failing{inMemory(theParts()).View(everything)}
	for _, argv := range calls {
		if strings.Contains(strings.Join(argv, " "), "--sources") {
			continue
		}
		verb, err := readverb.Parse(argv)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := verb.Read(context.Background(), readverb.Reader{View: view, Now: now}); !errors.Is(err, errDisk) || a.Payload != nil {
			t.Errorf("%v: %v, %v", argv, a.Payload, err)
		}
	}
}

// A name is that of a source before it is a connector's, and a connector's before it is a kind's.
func TestSourcesAreChosen(t *testing.T) {
	parts := []part{
		{Source: source("pages", store.MailSource, "mbox")},
		{Source: source("notes", store.PagesSource, "markdown")},
		{Source: source("post", store.MailSource, "eml")},
		{Source: source("home", store.MailSource, "mbox")},
	}
	for names, want := range map[string]string{
		"pages":             "pages",
		"pages.markdown":    "notes",
		"mail":              "home pages post",
		"mail.mbox":         "home pages",
		"mail.eml,notes":    "notes post",
		"mail,home , notes": "home notes pages post",
	} {
		found, _ := read[*readverb.Found](t, parts, "search word --sources '"+names+"'")
		if got := strings.Join(slices.Sorted(maps.Keys(found.SourceStatus)), " "); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}

func TestSendersAreNamed(t *testing.T) {
	r := &store.Record{Ref: "m", Kind: store.Mail, Title: "word", Body: "word", From: []store.Party{
		{Name: "Ann", Address: "ann@x.org"}, {Address: "b@x.org"}, {Name: "C"}, {Name: "D@x.org", Address: "d@x.org"}, {Name: "E"}, {Name: "F"},
	}}
	found, _ := read[*readverb.Found](t, []part{{Source: source("post", store.MailSource, "mbox"), records: []*store.Record{r}}}, "search word")
	if got, want := found.Hits[0].From, "Ann <ann@x.org>, b@x.org, C, d@x.org, E, …"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Where the clock skips midnight a day begins later, and is whole all the same.
func TestDaysWithoutMidnight(t *testing.T) {
	const havana = "America/Havana" // 2026-03-08 begins at 01:00
	found, _ := read[*readverb.Found](t, nil, "search word --tz "+havana+" --since 2026-03-08 --until 2026-03-08")
	since, until := found.Filters.Since.UTC().Format(time.RFC3339), found.Filters.Until.UTC().Format(time.RFC3339)
	if since != "2026-03-08T05:00:00Z" || until != "2026-03-09T04:00:00Z" {
		t.Errorf("%s to %s", since, until)
	}
}

// An instance whose zone is not known here is in UTC.
func TestOwnersZone(t *testing.T) {
	m := storetest.NewMemory(store.Owner{Subject: "ada", Zone: "Nowhere/City"})
	if got := readverb.OwnersZone(m.View(everything)); got != time.UTC {
		t.Errorf("%s", got)
	}
}
