package ical

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loomrun/loom/calendar"
	"github.com/loomrun/loom/store"
)

// recordSteps is the work spent on the first instance of a series, as in [calendar.Window].
const recordSteps = 100_000

// Record makes the record of an item's event: its Ref is the UID, From the organizer, To the
// attendees, and Details what [calendar.Encode] gives. Title is the summary; Body has the
// description, the location and the categories, and of changed instances what they change of it.
//
// Time is when the first instance begins and Until a moment when all are over, at most two days late,
// or [store.Forever]. Dates and floating times are taken in the zone, UTC if it is nil.
//
// Where the details are longer than a record takes, descriptions of changed instances are cut from
// them, then the event's own, and a note says so. What is still too long is an error.
func Record(item Item, zone *time.Location) (*store.Record, error) {
	e := item.Event
	details, err := details(e)
	if err != nil {
		return nil, err
	}
	extent, err := e.Extent()
	if err != nil {
		return nil, err
	}
	r := &store.Record{
		Ref: e.UID, Kind: store.Event, Details: details,
		Title:  limit(firstLine(e.Summary), store.MaxTitleBytes),
		Body:   limit(body(e), store.MaxBodyBytes),
		Folder: limit(item.Calendar, store.MaxTitleBytes),
	}
	if e.Organizer != (calendar.Party{}) {
		r.From = append(r.From, party(e.Organizer.Name, e.Organizer.Address))
	}
	for _, a := range e.Attendees {
		if len(r.From)+len(r.To) == store.MaxParties {
			break
		}
		r.To = append(r.To, party(a.Name, a.Address))
	}
	// Bounds do no harm: where the first instance is not found in time, the start is the best there is.
	if first, _ := e.Occurrences(calendar.Window{Zone: zone, Limit: 1, Steps: recordSteps}); len(first) > 0 {
		r.Time = first[0].Begin
	} else if r.Time, err = e.Instant(e.Start, zone); err != nil {
		return nil, err
	}
	r.Until = extent.To
	if extent.Open {
		r.Until = store.Forever
	}
	return r, nil
}

func party(name, address string) store.Party {
	p := store.Party{Name: limit(name, store.MaxIdentifierBytes), Address: store.EmailIdentifier(address)}
	if p.Address == "" && strings.HasPrefix(strings.ToLower(address), "tel:") {
		p.Address = store.PhoneIdentifier(address)
	}
	return p
}

// details gives the event as JSON, within the limit of a record.
func details(e *calendar.Event) ([]byte, error) {
	data, err := calendar.Encode(e)
	if err != nil || len(data) <= store.MaxDetailsBytes {
		return data, err
	}
	short := *e
	short.Overrides = slices.Clone(e.Overrides)
	for i := range short.Overrides {
		short.Overrides[i].Event.Description = ""
	}
	short.Notes = append(slices.Clone(e.Notes), "the event is too long; descriptions were left out")
	for range 2 {
		if data, err = calendar.Encode(&short); err != nil || len(data) <= store.MaxDetailsBytes {
			return data, err
		}
		short.Description = ""
	}
	return nil, fmt.Errorf("the event takes more than %d bytes", store.MaxDetailsBytes)
}

// body is the text of an event that is read and searched, each line of text once.
func body(e *calendar.Event) string {
	var parts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	add(e.Description)
	add(e.Location)
	add(strings.Join(e.Categories, ", "))
	size := 0
	for i := range e.Overrides {
		changed := &e.Overrides[i].Event
		for _, text := range []string{changed.Summary, changed.Description, changed.Location} {
			if size += len(text); size <= store.MaxBodyBytes && len(parts) < 1_000 && text != e.Summary {
				add(text)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// limit cuts a text to a number of bytes without splitting a letter.
func limit(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	for bytes > 0 && !utf8.RuneStart(s[bytes]) {
		bytes--
	}
	return s[:bytes]
}
