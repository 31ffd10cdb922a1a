// Package readverb is the eight read verbs over a store of records (retrieval 5.3, 9.2): search, page discover, page inspect,
// page read, people, calendar list, context and profile. [Parse] reads a call as a program writes it, with the argument rules of
// 5.4, and [Verb.Read] answers it with a payload whose rows carry their labels. The command line and the broker both do no more
// than this, so they give the same bytes.
//
// Everything follows from what exists in the view, from the instant that is given as now, and from the arguments: no clock, no
// network, nothing outside the view. For a view of some facets the bytes are those of a store that holds nothing else (12.3, S5, S6).
//
// A row that is one record has the record's own label. What is made of several records, or says less or more than one of them says, has
// the join of the labels of all it was made from and of the owner (D39); also where that is nothing, as for a place that is not known.
package readverb

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// Verb is a call of one of the verbs: [Search], [PageDiscover], [PageInspect], [PageRead], [People], [CalendarList], [Context] or
// [Profile]. What [Parse] made of a command line is within the argument rules; who fills one in by hand asks Parse's rules of nobody, and
// gets an [*ArgumentError] only for what cannot be answered.
type Verb interface {
	// Read answers the call. Its error is an [*ArgumentError], an [*UnknownError], a [*ContestedError], or one of the store.
	Read(ctx context.Context, from Reader) (Answer, error)
}

// Reader is what a verb reads.
type Reader struct {
	View store.View
	Now  time.Time // what now, today and the age of things mean
}

// Answer is what a verb answered.
type Answer struct {
	// Payload is what is printed as JSON: a *[Found], *[Discovered], *[Inspected], *[Content], *[Person], *[GroupOfPeople],
	// []*[Occurrence], *[Whereabouts], *[Activities], *[Myself] or *[Refusal].
	Payload any
	// Failed says that the command ends with exit status 1 although there is a payload: a refusal, a profile that is not there.
	Failed bool
	// Notes are for a person: each one line that says what is missing from the payload and why. They name no record.
	Notes []string
}

// JSON gives the payload as one JSON text with a line feed behind it: members in their order, nothing escaped that need not be (D30).
func (a Answer) JSON() ([]byte, error) {
	data, err := json.Marshal(a.Payload, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("write the answer as JSON: %w", err)
	}
	return append(data, '\n'), nil
}

// ArgumentError says what is wrong with the arguments of a call, in words that do not depend on any record.
type ArgumentError struct {
	Message string
	// Caret is, for a query that cannot be read, two lines: the query, and a caret under the place. Else "".
	Caret string
}

func (e *ArgumentError) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &ArgumentError{Message: fmt.Sprintf(format, args...)}
}

// UnknownError says that an identifier names nobody the view knows (9.4).
type UnknownError struct{ Identifier store.Identifier }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("nobody is known as %s", e.Identifier)
}

// ContestedError says that an identifier names several people or groups (9.4). It does not say which.
type ContestedError struct {
	Identifier store.Identifier
	among      labels // of what it is contested among
}

func (e *ContestedError) Error() string {
	return fmt.Sprintf("%s is contested: several people or groups have it", e.Identifier)
}

// Exit statuses of the verbs (9.2).
const (
	StatusAnswered  = 0
	StatusFailed    = 1 // a bad argument, nobody, a refusal, a profile that is not there, a store that cannot be read
	StatusContested = 3
)

// StatusOf is the exit status of an answer or its error.
func StatusOf(a Answer, err error) int {
	if _, contested := errors.AsType[*ContestedError](err); contested {
		return StatusContested
	}
	if err != nil || a.Failed {
		return StatusFailed
	}
	return StatusAnswered
}

// ScopeOf is the scope of a comma list of facets, each of them one of the known. It is for the host's side: no call names its own scope.
func ScopeOf(facets string, known []string) (store.Scope, error) {
	chosen, err := listed("--facets", facets)
	if err != nil {
		return store.Scope{}, err
	}
	for _, f := range chosen {
		if !slices.Contains(known, f) {
			return store.Scope{}, invalid("there is no facet %q; %s", f, theKnown("facets", known))
		}
	}
	return store.Scope{Facets: chosen}, nil
}

// noteWithheld is for rows whose stored label is not the one their source gives.
const noteWithheld = "records were left out whose stored label is not the one their source gives: another program changed the store; remove their source and add it again"

// reading is one verb at work.
type reading struct {
	Reader
	zone  *time.Location
	notes []string
}

// begin begins to answer, in a zone that an argument names, or the owner's.
func (r Reader) begin(tz string) (*reading, error) {
	if tz != "" {
		zone, err := zoneNamed(tz)
		if err != nil {
			return nil, invalid("--tz: %v", err)
		}
		return &reading{Reader: r, zone: zone}, nil
	}
	return &reading{Reader: r, zone: OwnersZone(r.View)}, nil
}

// OwnersZone is the zone dates are in where a call names none: that of the instance, else UTC.
func OwnersZone(v store.View) *time.Location {
	if zone, err := zoneNamed(v.Owner().Zone); err == nil {
		return zone
	}
	return time.UTC
}

func (r *reading) note(line string) {
	if !slices.Contains(r.notes, line) {
		r.notes = append(r.notes, line)
	}
}

// records are the rows of a filter without those that are withheld.
func (r *reading) records(ctx context.Context, f store.Filter) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for row, err := range r.View.Records(ctx, f) {
			if errors.Is(err, store.ErrMislabelled) {
				r.note(noteWithheld)
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// made is the label of what is made from records with these labels.
func (r *reading) made(from ...label.Label) label.Label {
	owners := label.New([]label.Clause{label.AnyOf(label.User(r.View.Owner().Subject))}, nil)
	return label.Join(append([]label.Label{owners}, from...)...)
}

// labels gathers labels to be joined, each once.
type labels struct{ all []label.Label }

func (l *labels) add(more ...label.Label) {
	for _, m := range more {
		known := false
		for _, have := range l.all {
			known = known || have.Equal(m)
		}
		if !known {
			l.all = append(l.all, m)
		}
	}
}

// Ifc is a label as a row carries it.
type Ifc struct{ label.Label }

// MarshalJSONTo writes the canonical form of the label.
func (l Ifc) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteValue(jsontext.Value(l.Canonical()))
}

// Instant is a time as a payload has it: in UTC, in whole seconds. The zero one is left out.
type Instant struct{ time.Time }

// MarshalJSONTo writes the instant as RFC 3339 does.
func (t Instant) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteToken(jsontext.String(t.UTC().Truncate(time.Second).Format(time.RFC3339)))
}

// decoded reads the details of a record. Details that do not have the form of their kind are as good as none.
func decoded[T any](details jsontext.Value) T {
	var d T
	if len(details) == 0 || json.Unmarshal(details, &d, jsontext.AllowInvalidUTF8(true)) != nil {
		var none T
		return none
	}
	return d
}

// hashed is a name made of what it names: 20 characters of RFC 4648's base 32 in lower case.
func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

// few gives the first of a list, at most so many, each cut to a length.
func few(list []string, most, length int) []string {
	out := make([]string, 0, min(len(list), most))
	for _, s := range list[:min(len(list), most)] {
		out = append(out, codeunits.Cut(s, length))
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
