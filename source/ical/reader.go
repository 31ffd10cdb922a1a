// Package ical reads calendar files: iCalendar, RFC 5545, as calendars of every make write it.
//
// A file is a stream of components. [Read] puts the events of it that have a UID in common together,
// wherever they stand, and gives one [calendar.Event] for each series. A component that cannot be
// used is given as skipped with the reason and its place, and never keeps others from being read.
// What is unusual but has one meaning is taken as meant: bytes that are not UTF-8, lines that end in
// LF or CR alone, zones under the names of Windows. What was left out of an event stands in its Notes.
package ical

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/loomrun/loom/calendar"
)

// Limits of one file. What is over one of them is skipped with the reason; the rest is read.
const (
	// MaxFile is the size in bytes that the caller should take at most. The reader needs some
	// hundred bytes of memory for each component besides, and one series at a time.
	MaxFile = 64 << 20
	// MaxLine is the length in bytes of a property, its line breaks taken out. A longer text is
	// cut there.
	MaxLine = 1 << 20
	// MaxComponents is the number of events and zones of a file.
	MaxComponents = 500_000
	// MaxDepth is how deep components lie within an event.
	MaxDepth = 16
	// MaxParameters is the number of parameters of a property.
	MaxParameters = 64
	// MaxCategories is the number of categories of an event that are kept.
	MaxCategories = 100
	// MaxNotes is the number of notes on an event.
	MaxNotes = 20
)

// Item is a series of events, or a component that was skipped.
type Item struct {
	// Offset is the number of bytes before the BEGIN line: of the component that was skipped, or
	// of the first one in the file that belongs to the series.
	Offset int64
	// Calendar is the name that the file gives the calendar (X-WR-CALNAME), "" without one.
	Calendar string
	Event    *calendar.Event
	// Skipped says in one line why there is no Event. It has no word of the file in it.
	Skipped string
}

// Counts says what a file holds.
type Counts struct {
	Events  int // series given
	Skipped int // components given as skipped
	// Todos, Journals and Others are components that are no events and were passed over: VTODO,
	// VJOURNAL, and the rest (such as VFREEBUSY) without time zones.
	Todos, Journals, Others int
}

// Read gives the series and the skipped components of a file to yield, in the order of their
// offsets, until yield says false. Several calendars in one file are read as one. Of several versions
// of an event the one with the highest SEQUENCE counts, of those with the same the one with the
// latest DTSTAMP, then the last in the file; the others are skipped. A cancellation (METHOD:CANCEL)
// marks the event or instance it is about.
//
// Nothing of data is kept afterwards. A file that is no calendar is one skipped item.
func Read(data []byte, yield func(Item) bool) Counts {
	f := scan(data)
	r := &reader{file: f, zones: map[zoneKey]zone{}, results: map[int]Item{}, bySeries: map[string][]int{}}
	counts := Counts{Todos: f.todos, Journals: f.journals, Others: f.others}
	for i := range f.components {
		c := &f.components[i]
		if c.kind == event && c.broken == "" {
			r.bySeries[c.uid] = append(r.bySeries[c.uid], i)
		}
	}
	for i := range f.components {
		c := &f.components[i]
		if c.kind == event && c.broken == "" {
			if members := r.bySeries[c.uid]; members != nil {
				delete(r.bySeries, c.uid)
				r.series(c.uid, members)
			}
		}
		item, ok := r.results[i]
		delete(r.results, i)
		if c.broken != "" {
			item, ok = Item{Skipped: c.broken}, true
		}
		if !ok {
			continue
		}
		item.Offset = int64(c.offset)
		if c.calendar >= 0 {
			item.Calendar = f.calendars[c.calendar].name
		}
		if item.Event != nil {
			counts.Events++
		} else {
			counts.Skipped++
		}
		if !yield(item) {
			return counts
		}
	}
	if f.trouble != "" {
		counts.Skipped++
		yield(Item{Offset: int64(f.troubleAt), Skipped: f.trouble})
	}
	return counts
}

type reader struct {
	file     *file
	zones    map[zoneKey]zone
	defined  int              // the definitions that were read
	bySeries map[string][]int // components of the series that are not read yet, by UID
	results  map[int]Item     // what is to be said at a component that was read already
}

func (r *reader) skip(component int, reason string) {
	r.results[component] = Item{Skipped: reason}
}

const (
	tooOld    = "there is a newer version of the same event in the file"
	nothingTo = "it cancels an event that is not in the file"
)

// series makes one event of the components that have a UID in common.
func (r *reader) series(uid string, members []int) {
	var masters, changes, cancels []*part
	for _, i := range members {
		p, err := r.part(i)
		switch {
		case err != nil:
			r.skip(i, err.Error())
		case !p.instance.IsZero():
			changes = append(changes, p)
		case p.cancels:
			cancels = append(cancels, p)
		default:
			masters = append(masters, p)
		}
	}
	master := r.newest(masters)
	if cancel := r.newest(cancels); cancel != nil {
		switch {
		case master != nil && cancel.event.Sequence < master.event.Sequence:
			r.skip(cancel.component, tooOld)
		case master != nil:
			master.event.Status, master.event.Sequence = calendar.Cancelled, cancel.event.Sequence
		case cancel.event.Start.IsZero():
			r.skip(cancel.component, nothingTo)
		default:
			master = cancel
		}
	}
	e := r.assemble(uid, master, r.changes(changes))
	if e != nil {
		r.results[e.at] = Item{Event: &e.Event}
	}
}

// newest gives the version that counts; the others are skipped.
func (r *reader) newest(versions []*part) *part {
	var best *part
	for _, p := range versions {
		switch {
		case best == nil:
			best = p
		case p.before(best):
			r.skip(p.component, tooOld)
		default:
			r.skip(best.component, tooOld)
			best = p
		}
	}
	return best
}

// changes gives the changed instances, each in the version that counts, by their starts.
func (r *reader) changes(all []*part) []*part {
	type key struct {
		instance calendar.Time
		onward   bool
	}
	versions := map[key][]*part{}
	var order []key
	for _, p := range all {
		k := key{p.instance, p.onward}
		if versions[k] == nil {
			order = append(order, k)
		}
		versions[k] = append(versions[k], p)
	}
	var list []*part
	for _, k := range order {
		var normal, cancels []*part
		for _, p := range versions[k] {
			if p.cancels {
				cancels = append(cancels, p)
			} else {
				normal = append(normal, p)
			}
		}
		best, cancel := r.newest(normal), r.newest(cancels)
		switch {
		case best == nil:
			best = cancel
		case cancel == nil:
		case cancel.event.Sequence < best.event.Sequence:
			r.skip(cancel.component, tooOld)
		default:
			best.event.Status = calendar.Cancelled
		}
		list = append(list, best)
	}
	slices.SortStableFunc(list, func(a, b *part) int { return a.instance.Clock().Compare(b.instance.Clock()) })
	if len(list) > calendar.MaxOverrides {
		for _, p := range list[calendar.MaxOverrides:] {
			r.skip(p.component, "the series has too many changed instances")
		}
		list = list[:calendar.MaxOverrides]
	}
	return list
}

// assembled is an event and the component it stands at.
type assembled struct {
	calendar.Event
	at int
}

func (r *reader) assemble(uid string, master *part, changes []*part) *assembled {
	var e *assembled
	switch {
	case master != nil:
		e = &assembled{master.event, master.component}
	case len(changes) > 0:
		first := changes[0]
		e = &assembled{first.event, first.component}
		e.Rules, e.Added, e.Excluded, e.ExcludedRules, e.Notes = nil, nil, nil, nil, nil
		e.Detached = true
	default:
		return nil
	}
	e.UID = uid
	notes := &notes{list: e.Notes}
	for _, p := range changes {
		if !e.bring(p.event.Definitions) {
			r.skip(p.component, "the series has too many zones of its own")
			continue
		}
		e.at = min(e.at, p.component)
		if p.cancels && master != nil {
			p.event = cancelled(p.event, &master.event)
		}
		o := calendar.Override{Instance: p.instance, Onward: p.onward, Event: p.event}
		if len(o.Event.Rules)+len(o.Event.Added)+len(o.Event.Excluded)+len(o.Event.ExcludedRules) > 0 {
			notes.add("a changed instance has rules of its own, which mean nothing and were left out")
		}
		o.Event.UID = ""
		o.Event.Rules, o.Event.Added, o.Event.Excluded, o.Event.ExcludedRules = nil, nil, nil, nil
		o.Event.Definitions = nil
		e.Overrides = append(e.Overrides, o)
	}
	e.Notes = notes.list
	return e
}

// bring adds definitions of zones to the event's own unless they are too many together.
func (e *assembled) bring(definitions []calendar.Definition) bool {
	all := e.Definitions
	for _, d := range definitions {
		if !slices.ContainsFunc(all, func(have calendar.Definition) bool { return have.TZID == d.TZID }) {
			all = append(all[:len(all):len(all)], d)
		}
	}
	if len(all) > calendar.MaxDefinitions {
		return false
	}
	e.Definitions = all
	return true
}

// cancelled gives a cancelled instance the properties of its series, since a cancellation has few.
func cancelled(event calendar.Event, series *calendar.Event) calendar.Event {
	full := *series
	full.Status, full.Sequence, full.Start = calendar.Cancelled, event.Sequence, event.Start
	full.End, full.Duration, full.Notes = event.End, event.Duration, event.Notes
	full.Rules, full.Added, full.Excluded, full.ExcludedRules, full.Overrides = nil, nil, nil, nil, nil
	if full.End.IsZero() && full.Duration.IsZero() {
		full.Duration = series.Duration
		if series.End.Zone() == series.Start.Zone() && !series.End.IsZero() {
			length := series.End.Clock().Sub(series.Start.Clock())
			full.Duration = calendar.Duration{Seconds: min(int64(length.Seconds()), calendar.MaxDuration)}
			if series.Start.IsDate() {
				full.Duration = calendar.Duration{Days: min(int64(length.Hours()/24), calendar.MaxDuration)}
			}
		}
	}
	return full
}

// madeUID stands for the UID that a component should have and does not: the same bytes, the same UID.
func madeUID(component []byte) string {
	sum := sha256.Sum256(component)
	return "sha256-" + hex.EncodeToString(sum[:16])
}
