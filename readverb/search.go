package readverb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
)

// Search is the verb search: records by their words, their time and who takes part.
type Search struct {
	Query   string // as package query reads it; may be empty where Person is not
	Sources string // a comma list of names of sources, connectors such as mail.mbox, and kinds such as mail; "" is all; fc is written documents too
	Since   string // a time (see [Parse] for none): records at it are in
	Until   string // a time: records at it are out; of a date the day is in
	TZ      string // the zone of dates; "" is the instance's
	Person  string // an identifier: records that the person, or one of the group, takes part in
	Limit   int    // 1 to [store.MaxLimit]; 0 is [store.DefaultLimit]
	Rank    string // recency or score; "" is recency
}

func parseSearch(argv []string) (Verb, error) {
	v := Search{}
	err := grammar{
		verb: "search", operand: &v.Query,
		texts: map[string]*string{
			"--sources": &v.Sources, "--since": &v.Since, "--until": &v.Until, "--tz": &v.TZ, "--person": &v.Person, "--rank": &v.Rank,
		},
		counts: map[string]count{"--limit": {&v.Limit, store.MaxLimit}},
	}.parse(argv)
	if err != nil {
		return nil, err
	}
	if v.Rank != "" {
		if err := oneOf("--rank", v.Rank, string(store.ByRecency), string(store.ByScore)); err != nil {
			return nil, err
		}
	}
	if v.Query == "" && v.Person == "" {
		return nil, invalid("search: name a query, a --person, or both")
	}
	return v, nil
}

// SchemaVersion is the version of the payload of search.
const SchemaVersion = 1

// Found is the payload of search.
type Found struct {
	SchemaVersion int                     `json:"schemaVersion"`
	Query         string                  `json:"query"`
	Filters       Filters                 `json:"filters"`
	Hits          []*Hit                  `json:"hits"`
	SourceStatus  map[string]SourceStatus `json:"source_status"` // by name, of each source that was asked
	Warnings      []string                `json:"warnings"`      // of fixed codes, see [WarningMislabelled]
	Truncated     bool                    `json:"truncated"`     // there is more
}

// Filters are what a search was limited by: times as they were understood, the person as an identifier.
type Filters struct {
	Sources []string `json:"sources,omitempty"`
	Since   Instant  `json:"since,omitzero"`
	Until   Instant  `json:"until,omitzero"` // the first instant that is out
	TZ      string   `json:"tz,omitempty"`
	Person  string   `json:"person,omitempty"`
	Limit   int      `json:"limit,omitzero"`
	Rank    string   `json:"rank,omitempty"`
}

// Hit is one record that was found. Its label is the record's.
type Hit struct {
	SourceSystem string  `json:"sourceSystem"` // the connector
	SourceRef    string  `json:"sourceRef"`    // the source's name, a slash, and the record's reference
	CollectionID string  `json:"collectionId"`
	Title        string  `json:"title"`
	Snippet      string  `json:"snippet"`
	ObservedAt   Instant `json:"observedAt"` // when the store first had it so
	Time         Instant `json:"time,omitzero"`
	Kind         string  `json:"kind"`
	From         string  `json:"from,omitempty"`
	Folder       string  `json:"folder,omitempty"`
	ThreadID     string  `json:"threadId,omitempty"`
	PageID       string  `json:"pageId,omitempty"`
	Ifc          Ifc     `json:"ifc"`
}

// SourceStatus says how far a source is, and how many of the hits are its.
type SourceStatus struct {
	Status string `json:"status"`
	Hits   int    `json:"hits"`
}

// The states of a source.
const (
	SourceOK          = "ok"
	SourceIncomplete  = "incomplete" // the last sync skipped something or could not read everything
	SourceNeverSynced = "never_synced"
)

// WarningMislabelled says that hits were withheld whose stored label is not the one their source gives.
const WarningMislabelled = "label_mismatch"

// collections are what the records of a kind are called.
var collections = map[store.Kind]string{
	store.Mail: "mail.message", store.Event: "calendar.event", store.Contact: "contacts.contact", store.Group: "contacts.group",
	store.Page: "pages.page", store.Place: "places.place", store.Activity: "activity.activity",
}

// maxSendersShown bounds how many senders a hit names.
const maxSendersShown = 5

// Read answers with a *[Found].
func (v Search) Read(ctx context.Context, from Reader) (Answer, error) {
	r, err := from.begin(v.TZ)
	if err != nil {
		return Answer{}, err
	}
	q, err := query.Parse(v.Query)
	if fault, ok := errors.AsType[*query.Error](err); ok {
		return Answer{}, &ArgumentError{Message: fault.Error(), Caret: fault.Caret()}
	}
	if err != nil {
		return Answer{}, err
	}
	s := store.Search{Query: q, Limit: store.DefaultLimit, Rank: store.ByRecency}
	filters := Filters{TZ: v.TZ, Limit: v.Limit, Rank: v.Rank}
	if v.Limit != 0 {
		s.Limit = v.Limit
	}
	if v.Rank != "" {
		s.Rank = store.Rank(v.Rank)
	}
	asked := r.View.Sources()
	if v.Sources != "" {
		if filters.Sources, err = listed("--sources", v.Sources); err != nil {
			return Answer{}, err
		}
		if asked, err = chosenSources(asked, filters.Sources); err != nil {
			return Answer{}, err
		}
		s.Sources = []string{}
		for _, a := range asked {
			s.Sources = append(s.Sources, a.Name)
		}
	}
	if s.Since, s.Until, err = r.window(v.Since, v.Until); err != nil {
		return Answer{}, err
	}
	filters.Since, filters.Until = Instant{s.Since}, Instant{s.Until}
	if v.Person != "" {
		i, err := lookup("--person", v.Person)
		if err != nil {
			return Answer{}, err
		}
		filters.Person = string(i)
		if s.Parties, err = r.parties(ctx, i); err != nil {
			return Answer{}, err
		}
	}
	result, err := r.View.Search(ctx, s)
	if err != nil {
		return Answer{}, err
	}
	found := &Found{
		SchemaVersion: SchemaVersion, Query: v.Query, Filters: filters, SourceStatus: map[string]SourceStatus{}, Truncated: result.Truncated,
	}
	for _, a := range asked {
		found.SourceStatus[a.Name] = SourceStatus{Status: statusOf(a)}
	}
	for i, row := range result.Rows {
		found.Hits = append(found.Hits, hit(row, result.Snippets[i]))
		status := found.SourceStatus[row.Source.Name]
		status.Hits++
		found.SourceStatus[row.Source.Name] = status
	}
	if result.Mislabelled > 0 {
		found.Warnings = append(found.Warnings, WarningMislabelled)
		r.note(noteWithheld)
	}
	return Answer{Payload: found, Notes: r.notes}, nil
}

func hit(row store.Row, snippet string) *Hit {
	h := &Hit{
		SourceSystem: row.Source.Connector(), SourceRef: row.Source.Name + "/" + row.Ref, CollectionID: collections[row.Kind],
		Title: row.Title, Snippet: snippet, ObservedAt: Instant{row.Observed}, Time: Instant{row.Time}, Kind: string(row.Kind),
		From: senders(row.From), Folder: row.Folder, ThreadID: row.Thread, Ifc: Ifc{row.Label},
	}
	if row.Kind == store.Page {
		h.PageID = pageOf(row).id
	}
	return h
}

// senders names who sent something.
func senders(parties []store.Party) string {
	var names []string
	for i, p := range parties {
		if i == maxSendersShown {
			names = append(names, "…")
			break
		}
		switch {
		case p.Name == "" || strings.EqualFold(p.Name, string(p.Address)):
			names = append(names, string(p.Address))
		case p.Address == "":
			names = append(names, p.Name)
		default:
			names = append(names, p.Name+" <"+string(p.Address)+">")
		}
	}
	return strings.Join(names, ", ")
}

func statusOf(s store.SourceState) string {
	switch {
	case s.Synced.IsZero():
		return SourceNeverSynced
	case !s.Complete:
		return SourceIncomplete
	}
	return SourceOK
}

// inCabinet is the name of the File Cabinet for what it holds beside its own pages: what runs wrote, whatever its label; "" for all else.
func inCabinet(s store.SourceState) string {
	if s.IsWritten() {
		return store.FileCabinet
	}
	return ""
}

// chosenSources are the sources of a view that a list names. A name is that of a source before it is that of a connector, and
// of a connector before it is that of a kind. That of the File Cabinet is also one of all written documents.
func chosenSources(there []store.SourceState, names []string) ([]store.SourceState, error) {
	forms := []func(store.SourceState) string{
		func(s store.SourceState) string { return s.Name },
		func(s store.SourceState) string { return s.Connector() },
		func(s store.SourceState) string { return string(s.Kind) },
	}
	chosen := map[string]bool{}
	for _, name := range names {
		known := false
		for _, form := range forms {
			for _, s := range there {
				if form(s) == name || inCabinet(s) == name {
					known, chosen[s.Name] = true, true
				}
			}
			if known {
				break
			}
		}
		if !known {
			var all []string
			for _, form := range forms {
				for _, s := range there {
					if !slices.Contains(all, form(s)) {
						all = append(all, form(s))
					}
				}
			}
			return nil, invalid("--sources: nothing here is called %q; %s", codeunits.Cut(name, 80), theKnown("sources, connectors and kinds", all))
		}
	}
	return slices.DeleteFunc(slices.Clone(there), func(s store.SourceState) bool { return !chosen[s.Name] }), nil
}
