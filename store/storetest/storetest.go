// Package storetest has what every [store.Store] must pass. It is for tests only.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
)

// T is what a test and a check of random cases have in common.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}

// Backend is the store under test.
type Backend struct {
	// Make makes a store that holds only the file cabinet, and closes it at the end of the test.
	Make func(t T, owner store.Owner) store.Store
	// Again opens the same store once more, as another program does.
	Again func(t T, s store.Store) store.Store
	// Mislabel gives a record another stored label, past the store: that of a text, which is no label where it is not one.
	Mislabel func(t T, s store.Store, source, ref, label string)
	// Intact says what is wrong with the store's own structures, its index of words among them.
	Intact func(t T, s store.Store) error
}

// at is when everything happens that a test does.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// owner is whom the stores of the tests belong to.
func owner() store.Owner {
	return store.Owner{Subject: "ada", Zone: "Europe/Vienna", Facets: []string{"family", "health", "work"}, Made: at.Add(-time.Hour)}
}

// Run checks the contract of [store.Store].
func Run(t *testing.T, b Backend) {
	for _, tc := range []struct {
		name string
		test func(w *world)
	}{
		{"a new store has its owner and the file cabinet", newStore},
		{"sources come and go", sourcesComeAndGo},
		{"what is no source is refused", badSources},
		{"sources are bounded", manySources},
		{"facets are made before they are used, and bounded", facetsMade},
		{"a change of facets is recorded and labels records anew", facetsChange},
		{"what stands in the store is removed with its source", removedWhole},

		{"a record comes back as it was given", recordComesBack},
		{"a label follows from the source alone", labelFollows},
		{"a record of another label is withheld", mislabelled},
		{"a view is of one moment", oneMoment},
		{"a scope makes the rest not exist", scopes},
		{"a source outside the scope is no source", sourceOutside},

		{"what does not exist for a view has no part in its order", ranking},
		{"a query finds what it says", queriesFind},
		{"hits are in order, and as many as asked for", searchOrder},
		{"of many hits the newest and the titled are weighed", manyHits},
		{"a search is limited to a window, sources, kinds and parties", searchLimits},
		{"records are in order, and as many as asked for", recordsOrder},
		{"each member of a filter", filters},
		{"a window admits what lasts into it", windows},

		{"an import counts what it does", importCounts},
		{"items are kept, added and lost", keepAndLose},
		{"what stands at two places is one record", twoPlaces},
		{"a record moves between containers", moves},
		{"the next place of a changed record is read again", nextPlace},
		{"a record whose time changes is found there alone", timeChanges},
		{"records of one second are all there", oneSecond},
		{"records of one number are told apart", collisions},
		{"an import that is broken off is completed by the next", brokenOff},
		{"what could not be taken is told until it can be", skips},
		{"a container that cannot be read keeps its records", unreadable},
		{"what was not listed stays where the list broke off", notListed},
		{"a batch is made whole or not at all", wholeBatches},
		{"one import runs at a time", oneAtATime},
		{"what no record can be is refused", badRecords},

		{"a document comes back as it was written, with its label", writtenComeBack},
		{"a document is there for who may read its label", writtenScopes},
		{"documents are written all or not at all", writtenWhole},
		{"nothing is written where what labels follow from has changed", writtenTrust},
		{"a document is replaced", writtenReplaced},
		{"a document moves to another label", writtenMoved},
		{"a document stands beside a synced page of its path", writtenBesideSynced},
		{"a source of documents is neither added, put into facets nor synced", writtenSourcesRefused},
		{"the labels of documents are bounded", writtenBounded},
		{"a name that is taken is lengthened", writtenNameTaken},
		{"nothing is written while another program writes", writtenBusy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.test(newWorld(t, b))
		})
	}
}

// world is a store with what a test does to it.
type world struct {
	T
	Backend
	s store.Store
}

func newWorld(t T, b Backend) *world {
	return &world{t, b, b.Make(t, owner())}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%v", err)
	}
}

// same fails where what there is differs from what there should be.
func (w *world) same(what string, got, want any) {
	w.Helper()
	if g, e := fmt.Sprint(got), fmt.Sprint(want); g != e {
		w.Errorf("%s: %s, want %s", what, g, e)
	}
}

// add adds a source of mail in some facets.
func (w *world) add(name string, facets ...string) store.Source {
	w.Helper()
	return w.addKind(name, store.MailSource, facets...)
}

func (w *world) addKind(name string, kind store.SourceKind, facets ...string) store.Source {
	w.Helper()
	s, err := w.s.AddSource(w.Context(), store.Source{Name: name, Kind: kind, Format: "mbox", Location: "/home/ada/" + name, Facets: facets, Added: at})
	w.must(err)
	return s
}

// begin begins an import.
func (w *world) begin(source string) store.Import {
	w.Helper()
	i, err := w.s.Import(w.Context(), source, at)
	w.must(err)
	return i
}

// reading is one complete reading of a container, its records at positions 0, 1, ...
func reading(container string, records ...*store.Record) []store.Change {
	all := []store.Change{{Op: store.Begin, Container: container}}
	for i, r := range records {
		all = append(all, put(container, int64(i), r))
	}
	return append(all, done(container))
}

func put(container string, position int64, r *store.Record) store.Change {
	return store.Change{Op: store.Put, Container: container, Position: position, Record: r}
}

func done(container string) store.Change {
	return store.Change{Op: store.Done, Container: container, Stamp: "stamp of " + container, Note: "note of " + container}
}

// read imports changes and gives what that did.
func (w *world) read(source string, changes ...[]store.Change) store.Counts {
	w.Helper()
	return w.sync(source, nil, changes...)
}

// sync imports changes of a source whose containers are all listed; nil lists none.
func (w *world) sync(source string, listed []string, changes ...[]store.Change) store.Counts {
	w.Helper()
	i := w.begin(source)
	if listed != nil {
		there := map[string]bool{}
		for _, name := range listed {
			there[name] = true
		}
		w.must(i.Listed(w.Context(), there))
	}
	for _, c := range changes {
		w.must(i.Apply(w.Context(), c))
	}
	counts, err := i.Finish(w.Context(), "", at)
	w.must(err)
	return counts
}

// view opens a view until the end of the test; nil is the owner's own.
func (w *world) view(facets []string) store.View {
	w.Helper()
	v, err := w.s.View(w.Context(), store.Scope{Facets: facets})
	w.must(err)
	open := true
	w.Cleanup(func() {
		if open {
			if err := v.Close(); err != nil {
				w.Errorf("%v", err)
			}
		}
	})
	return closing{v, &open}
}

// closing is a view that is closed once.
type closing struct {
	store.View
	open *bool
}

func (c closing) Close() error {
	*c.open = false
	return c.View.Close()
}

// with gives what a view of a moment has.
func with[V any](w *world, facets []string, get func(v store.View) V) V {
	w.Helper()
	v := w.view(facets)
	got := get(v)
	w.must(v.Close())
	return got
}

// records gives what a filter admits, as references.
func (w *world) records(facets []string, f store.Filter) string {
	w.Helper()
	return with(w, facets, func(v store.View) string { return refs(w.rows(v, f)) })
}

func (w *world) rows(v store.View, f store.Filter) (rows []store.Row) {
	w.Helper()
	for r, err := range v.Records(w.Context(), f) {
		w.must(err)
		rows = append(rows, r)
	}
	return rows
}

// find gives what a search finds, as references; a plus behind says that there is more.
func (w *world) find(facets []string, text string, s store.Search) string {
	w.Helper()
	return with(w, facets, func(v store.View) string {
		r := w.search(v, text, s)
		got := refs(r.Rows)
		if r.Truncated {
			got += " +"
		}
		return got
	})
}

func (w *world) search(v store.View, text string, s store.Search) store.Result {
	w.Helper()
	q, err := query.Parse(text)
	w.must(err)
	s.Query = q
	if s.Limit == 0 {
		s.Limit = store.MaxLimit
	}
	r, err := v.Search(w.Context(), s)
	w.must(err)
	if len(r.Snippets) != len(r.Rows) {
		w.Errorf("%d snippets for %d hits", len(r.Snippets), len(r.Rows))
	}
	return r
}

// source gives a source as a view has it.
func (w *world) source(v store.View, name string) store.SourceState {
	w.Helper()
	for _, s := range v.Sources() {
		if s.Name == name {
			return s
		}
	}
	w.Fatalf("no source %s", name)
	return store.SourceState{}
}

func refs(rows []store.Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Ref)
	}
	return strings.Join(all, " ")
}

func names(sources []store.SourceState) string {
	var all []string
	for _, s := range sources {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

// mail is a message of a minute, counted from the start of 2025.
func mail(ref string, minute int, text string) *store.Record {
	title, body, _ := strings.Cut(text, "/")
	return &store.Record{
		Ref: ref, Kind: store.Mail, Title: title, Body: body, Time: minutes(minute), Folder: "INBOX",
		From: []store.Party{{Name: "Grace", Address: "grace@example.com"}}, To: []store.Party{{Address: "ada@example.com"}},
	}
}

func minutes(n int) time.Time {
	return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

// labelled is what the label of a source's records must be.
func labelled(s store.Source) label.Label {
	return label.OfRecord("ada", map[store.SourceKind]string{
		store.MailSource: "email", store.CalendarSource: "calendar", store.ContactsSource: "contact",
		store.PagesSource: "document", store.PlacesSource: "location", store.ActivitySource: "activity",
	}[s.Kind], string(s.Kind)+"."+s.Format, slices.Clone(s.Facets))
}
