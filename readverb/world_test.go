package readverb_test

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/calendar"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/sqlite"
	"github.com/loomrun/loom/store/storetest"
)

// now is the instant the tests ask at: a Tuesday, 13:00 in Berlin.
var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// synced is when the records of the tests were observed.
var synced = now.Add(-time.Hour)

var owner = store.Owner{Subject: "ada", Zone: "Europe/Berlin", Facets: []string{"family", "health", "work"}, Made: synced.Add(-time.Hour)}

// part is a source with its records.
type part struct {
	store.Source
	problem string // of the last sync
	never   bool   // it was never synced
	records []*store.Record
}

func source(name string, kind store.SourceKind, format string, facets ...string) store.Source {
	return store.Source{Name: name, Kind: kind, Format: format, Location: "/" + name, Facets: facets, Added: owner.Made}
}

// documents are what a run wrote with one label.
func documents(l label.Label, records ...*store.Record) part {
	return part{Source: store.WrittenSource(l, synced, func(string) bool { return false }), records: records}
}

// cabinet is what documents are written into.
type cabinet interface {
	Trust(ctx context.Context) (store.Trust, error)
	Write(ctx context.Context, trust store.Trust, documents []store.Written, at time.Time) error
}

// writeInto writes the documents of a part.
func writeInto(c cabinet, p part) error {
	var all []store.Written
	for _, r := range p.records {
		all = append(all, store.Written{Record: r, Label: store.LabelOf(owner.Subject, p.Source)})
	}
	trust, err := c.Trust(context.Background())
	if err != nil {
		return err
	}
	return c.Write(context.Background(), trust, all, synced)
}

// inMemory makes a store that reads without an index.
func inMemory(parts []part) *storetest.Memory {
	m := storetest.NewMemory(owner)
	for _, p := range parts {
		if p.IsWritten() {
			if err := writeInto(m, p); err != nil {
				panic(err)
			}
			continue
		}
		s := store.SourceState{Source: p.Source, Synced: synced, Complete: p.problem == "", Problem: p.problem}
		if p.never {
			s.Synced, s.Complete = time.Time{}, false
		}
		m.AddSource(s)
		m.Put(p.Name, synced, p.records...)
	}
	return m
}

// inFile makes the store people have.
func inFile(t testing.TB, parts []part) store.Store {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "instance", "loom.db")
	must(sqlite.Create(ctx, path, owner))
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	must(err)
	t.Cleanup(func() { must(s.Close()) })
	for _, p := range parts {
		if p.IsWritten() {
			must(writeInto(s, p))
			continue
		}
		if p.Name == store.FileCabinet {
			_, err = s.SetFacets(ctx, p.Name, p.Facets, synced)
		} else {
			_, err = s.AddSource(ctx, p.Source)
		}
		must(err)
		if p.never {
			continue
		}
		i, err := s.Import(ctx, p.Name, synced)
		must(err)
		changes := []store.Change{{Op: store.Begin, Container: "all"}}
		for n, r := range p.records {
			changes = append(changes, store.Change{Op: store.Put, Container: "all", Position: int64(n), Record: r, Indexed: store.Index(r)})
		}
		must(i.Apply(ctx, append(changes, store.Change{Op: store.Done, Container: "all", Stamp: "1"})))
		_, err = i.Finish(ctx, p.problem, synced)
		must(err)
	}
	return s
}

// ask runs a call and gives what a person would see of it: the bytes, or the error, and the exit status.
func ask(v store.View, argv ...string) string {
	verb, err := readverb.Parse(argv)
	var answer readverb.Answer
	if err == nil {
		answer, err = verb.Read(context.Background(), readverb.Reader{View: v, Now: now})
	}
	out := ""
	if err != nil {
		out = "error: " + err.Error() + "\n"
		if fault, ok := err.(*readverb.ArgumentError); ok && fault.Caret != "" {
			out += fault.Caret + "\n"
		}
	} else {
		data, err := answer.JSON()
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		out = string(data)
	}
	for _, n := range answer.Notes {
		out += "note: " + n + "\n"
	}
	if status := readverb.StatusOf(answer, err); status != 0 {
		out += fmt.Sprintf("status %d\n", status)
	}
	return out
}

func details(v any) []byte {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return data
}

type object = map[string]any

func clock(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

// party reads Name <address>.
func party(text string) store.Party {
	name, address, ok := strings.Cut(strings.TrimSuffix(text, ">"), "<")
	if !ok {
		name, address = "", text
	}
	return store.Party{Name: strings.TrimSpace(name), Address: store.EmailIdentifier(address)}
}

func parties(texts ...string) (all []store.Party) {
	for _, t := range texts {
		all = append(all, party(t))
	}
	return all
}

func mail(ref, at, from, to, title, body string) *store.Record {
	r := &store.Record{Ref: ref, Kind: store.Mail, Time: clock(at), From: parties(from), To: parties(to), Title: title, Body: body, Folder: "INBOX", Thread: "t-" + ref}
	r.Details = details(object{"messageId": ref})
	return r
}

func contact(ref, name string, more object, identifiers ...string) *store.Record {
	r := &store.Record{Ref: ref, Kind: store.Contact, Title: name, Body: name}
	d := object{"name": name}
	for k, v := range more {
		d[k] = v
	}
	r.Details = details(d)
	for _, i := range identifiers {
		parsed, err := store.ParseIdentifier(i)
		if err != nil {
			panic(err)
		}
		r.Keys = append(r.Keys, parsed.Key())
	}
	r.Keys = append(r.Keys, "person:"+ref)
	return r
}

func group(ref, name string, members ...string) *store.Record {
	return &store.Record{
		Ref: ref, Kind: store.Group, Title: name, Body: name, Keys: []string{"group:" + strings.ToLower(name), "group:" + ref},
		Details: details(object{"name": name, "members": members}),
	}
}

func page(id, path, kind, title, body string, more object, keys ...string) *store.Record {
	d := object{"pageId": id, "path": path, "kind": kind, "source": "# " + title + "\n\n" + body + "\n"}
	for k, v := range more {
		d[k] = v
	}
	r := &store.Record{
		Ref: path, Kind: store.Page, Title: title, Body: body, Time: clock("2026-11-20T08:00:00Z"), Details: details(d),
		Keys: []string{
			markdown.PathKey(path), markdown.PathKey(strings.TrimSuffix(path, ".md")), markdown.IDKey(id),
			markdown.NameKey(strings.TrimSuffix(filepath.Base(path), ".md")), markdown.AliasKey(title),
		},
	}
	if aliases, ok := d["aliases"].([]string); ok {
		for _, a := range aliases {
			r.Keys = append(r.Keys, markdown.AliasKey(a))
		}
	}
	r.Keys = append(r.Keys, keys...)
	return r
}

func event(e calendar.Event) *store.Record {
	data, err := calendar.Encode(&e)
	if err != nil {
		panic(err)
	}
	r := &store.Record{Ref: e.UID, Kind: store.Event, Title: e.Summary, Body: e.Description, Details: data}
	extent, err := e.Extent()
	if err != nil {
		panic(err)
	}
	if r.Time, r.Until = extent.From, extent.To; extent.Open {
		r.Until = store.Forever
	}
	if e.Organizer.Address != "" {
		r.From = []store.Party{{Name: e.Organizer.Name, Address: store.EmailIdentifier(e.Organizer.Address)}}
	}
	for _, a := range e.Attendees {
		r.To = append(r.To, store.Party{Name: a.Name, Address: store.EmailIdentifier(a.Address)})
	}
	return r
}

func place(ref, at string, more object) *store.Record {
	return &store.Record{Ref: ref, Kind: store.Place, Time: clock(at), Details: details(more), Unsearched: true}
}

func activity(ref, from, until, app, title string) *store.Record {
	return &store.Record{
		Ref: ref, Kind: store.Activity, Time: clock(from), Until: clock(until), Title: title, Body: app,
		Details: details(object{"bucket": "b", "app": app, "title": title}),
	}
}

// theParts are the sources of the transcripts.
func theParts() []part {
	rule := func(text string) []calendar.Rule {
		r, err := calendar.ParseRule(text)
		if err != nil {
			panic(err)
		}
		return []calendar.Rule{r}
	}
	const berlin = "Europe/Berlin"
	moved := calendar.Event{
		UID: "standup", Summary: "Standup, moved", Start: calendar.NewTime(2026, 12, 8, 15, 0, 0, berlin), End: calendar.NewTime(2026, 12, 8, 15, 30, 0, berlin),
	}
	cancelled := moved
	cancelled.Summary, cancelled.Status = "Standup", calendar.Cancelled
	cancelled.Start, cancelled.End = calendar.NewTime(2026, 12, 15, 9, 0, 0, berlin), calendar.NewTime(2026, 12, 15, 9, 15, 0, berlin)
	return []part{
		{Source: source("post", store.MailSource, "mbox", "work"), records: []*store.Record{
			mail("m1", "2026-11-30T09:00:00Z", "Grace Hopper <grace@example.com>", "ada@example.com", "Budget for <2027>", "The budget & the plan of the compiler group."),
			mail("m2", "2026-11-28T23:30:00Z", "Bob <bob@example.com>", "Ada <ada@example.com>", "Lunch", "Shall we discuss the budget?"),
			mail("m3", "2026-10-01T10:00:00Z", "Grace <grace@example.com>", "bob@example.com", "Old news", "Nothing of the budget."),
			mail("m4", "2026-10-02T10:00:00Z", "Zoë <zoe@example.net>", "ada@example.com", "Hello", "We met at the fair."),
		}},
		{Source: source("home", store.MailSource, "maildir", "family"), problem: "one folder could not be read", records: []*store.Record{
			mail("h1", "2026-11-29T10:00:00Z", "Bob Example <bob@example.com>", "ada@example.com", "Garden", "The budget of the garden."),
			mail("h2", "2026-11-29T11:00:00Z", "Amazing Grace <grace@example.com>", "ada@example.com", "Private", "A surprise party."),
		}},
		{Source: source("old", store.MailSource, "mbox", "family", "work"), never: true},
		{Source: source("dates", store.CalendarSource, "ics", "work"), records: []*store.Record{
			event(calendar.Event{
				UID: "standup", Summary: "Standup", Location: "Room 1", Description: "What is new",
				Start: calendar.NewTime(2026, 3, 3, 9, 0, 0, berlin), End: calendar.NewTime(2026, 3, 3, 9, 15, 0, berlin), Rules: rule("FREQ=WEEKLY;UNTIL=20261220T000000Z"),
				Organizer: calendar.Party{Name: "Grace", Address: "grace@example.com"},
				Attendees: []calendar.Attendee{{Name: "Ada", Address: "ada@example.com", Participation: "ACCEPTED"}, {Address: "zoe@example.net", Participation: "NEEDS-ACTION"}},
				Overrides: []calendar.Override{{Instance: calendar.NewTime(2026, 12, 8, 9, 0, 0, berlin), Event: moved}, {Instance: calendar.NewTime(2026, 12, 15, 9, 0, 0, berlin), Event: cancelled}},
			}),
			event(calendar.Event{UID: "fair", Summary: "Fair", Start: calendar.NewDate(2026, 12, 1), End: calendar.NewDate(2026, 12, 3), Status: calendar.Tentative}),
			event(calendar.Event{UID: "wake", Summary: "Wake up", Start: calendar.NewTime(2027, 3, 1, 7, 0, 0, "")}),
			event(calendar.Event{UID: "call", Summary: "Call", Start: calendar.NewTime(2026, 12, 24, 23, 30, 0, "America/New_York"), End: calendar.NewTime(2026, 12, 25, 0, 30, 0, "America/New_York")}),
			{Ref: "bad", Kind: store.Event, Title: "Bad", Time: now, Details: []byte(`{"uid":7}`)},
		}},
		{Source: source("birthdays", store.CalendarSource, "ics", "family"), records: []*store.Record{
			event(calendar.Event{UID: "bob", Summary: "Bob's birthday", Start: calendar.NewDate(1980, 12, 5), Rules: rule("FREQ=YEARLY")}),
		}},
		{Source: source("cards", store.ContactsSource, "vcard", "work"), records: []*store.Record{
			contact("c9", "Grace Hopper", object{"org": "Navy", "title": "Admiral", "birthday": "1906-12-09", "note": "Likes clocks", "categories": []string{"navy"}},
				"grace@example.com", "+1 415 555 0100"),
			contact("b1", "Bob Example", object{"urls": []string{"https://bob.example"}}, "bob@example.com"),
			contact("f1", "Mia Family", nil, "us@example.org", "mia@example.org"),
			contact("f2", "Tom Family", nil, "us@example.org"),
			group("g1", "Team", "c9", "mailto:zoe@example.net", "mailto:us@example.org", "nobody", "c9", "tel:+49301234567"),
			group("g2", "Friends", "b1"),
		}},
		{Source: source("friends", store.ContactsSource, "vcard", "family"), records: []*store.Record{
			contact("a3", "grace  HOPPER", object{"org": "Home", "note": "Calls on Sunday", "addresses": []string{"1 Main St"}}, "grace@home.example", "grace@example.com", "handle:Amazing"),
			contact("d1", "Amazing Grace", nil, "grace@sea.example"),
			group("g3", "Friends", "a3"),
			group("g4", "Kin", "mailto:us@example.org"),
		}},
		{Source: source(store.FileCabinet, store.PagesSource, "markdown"), records: []*store.Record{
			page("P-1", "profile.md", "page", "About me", "I count.", object{"name": "Ada Lovelace", "bio": "Counts <b>everything</b>."}),
			page("P-2", "People/Amazing Grace/about.md", "entity", "Amazing Grace", "The admiral.", object{"aliases": []string{"Grace Hopper"}},
				"People/Amazing Grace/about.md", "grace@sea.example", "grace@example.com", "person:00"),
		}},
		{Source: source("notes", store.PagesSource, "markdown", "work"), records: []*store.Record{
			page("P-12", "projects/compiler.md", "project", "Compiler", "See the plan.", object{
				"aliases": []string{"A-0", "The Compiler"}, "tags": []string{"code"}, "status": "active", "summary": "Makes machines read.",
				"links":    []string{"projects/plan.md", "[[Compiler]]", "[[amazing  grace]]", "[[Index]]", "[[Diary]]", "missing.md", "garden.md"},
				"headings": []object{{"level": 1, "text": "Compiler"}, {"level": 2, "text": "Next"}},
			}),
			page("P-13", "projects/plan.md", "project", "Plan", "Write it.", object{"links": []string{"[[a-0]]"}}),
			page("P-14", "index.md", "page", "Index", "Everything.", object{"links": []string{"projects/compiler.md", "[[Plan]]"}}),
			page("P-15", "P-12", "odd", "A page named like an id", "", nil),
		}},
		{Source: source("diary", store.PagesSource, "markdown", "family"), records: []*store.Record{
			page("P-21", "index.md", "page", "Diary", "Secret.", object{"aliases": []string{"the compiler"}, "links": []string{"[[A-0]]"}}),
			page("P-13", "garden.md", "entity", "Garden", "Roses.", nil),
		}},
		{Source: source("trail", store.PlacesSource, "gpx", "family"), records: []*store.Record{
			place("p1", "2026-12-01T11:59:30Z", object{"lat": 52.52, "lon": 13.405, "accuracy": 12.5, "name": "Office"}),
			place("p2", "2026-12-01T07:00:00Z", object{"lat": 52.5, "lon": 13.0}),
			place("p3", "2026-12-01T11:00:00Z", object{"lat": "north"}),
		}},
		{Source: source("watch", store.ActivitySource, "activitywatch", "work"), records: []*store.Record{
			activity("a1", "2026-12-01T08:00:00Z", "2026-12-01T09:00:00Z", "Editor", "loom.go"),
			activity("a2", "2026-12-01T09:30:00Z", "2026-12-01T10:00:00Z", "Editor", "loom.go"),
			activity("a3", "2026-12-01T08:30:00Z", "2026-12-01T09:15:00Z", "", "Search results"),
			activity("a4", "2026-11-30T11:00:00Z", "2026-11-30T13:00:00Z", "Mail", "Inbox"),
			activity("a5", "2026-12-01T08:00:00Z", "2026-12-01T12:00:00Z", "", ""),
		}},
	}
}
