package readverb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/calendar"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/store"
)

// Limits of what is read of calendars.
const (
	// WindowDays is how long the window is where its end is not named: so many days behind its first.
	WindowDays = 90
	// MaxOccurrences is how many occurrences are listed: the first in the window.
	MaxOccurrences = 1000
	// MaxEvents is how many series are looked at, those that began first.
	MaxEvents = 20_000
	// MaxSteps is the work spent on the rules of one series, see [calendar.Window].
	MaxSteps = 50_000
	// maxAttendees, maxDescription and maxEventText bound what is shown of an occurrence; the latter two are UTF-16 code units.
	maxAttendees   = 50
	maxDescription = 2000
	maxEventText   = 1000
)

// CalendarList is the verb calendar list: what is in a window of days.
type CalendarList struct {
	All  bool   // no window
	From string // the first day; "" is today, in the zone
	To   string // the last day, which is in; "" is [WindowDays] after the first
	TZ   string // the zone of days, and of what has none; "" is the instance's
}

func parseCalendarList(argv []string) (Verb, error) {
	v := CalendarList{}
	err := grammar{
		verb:  "calendar list",
		texts: map[string]*string{"--from": &v.From, "--to": &v.To, "--tz": &v.TZ},
		flags: map[string]*bool{"--all": &v.All},
	}.parse(argv)
	if err != nil {
		return nil, err
	}
	for _, day := range []struct{ name, date string }{{"--from", v.From}, {"--to", v.To}} {
		switch {
		case day.date == "":
		case v.All:
			return nil, invalid("calendar list: --all goes with neither --from nor --to")
		case !dateForm().MatchString(day.date):
			return nil, invalid("calendar list: %s is a day such as 2026-03-29", day.name)
		}
	}
	return v, nil
}

// Occurrence is one instance of an event. Its label is the one that what is made of the event's record has.
type Occurrence struct {
	// ID is the name of the source and the reference of the event, and of one that recurs the start that the series gives it.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Start and End are instants with the offset of the event's own zone, RFC 3339, or days where AllDay. End is the first
	// that is not in.
	Start       string     `json:"start"`
	End         string     `json:"end"`
	AllDay      bool       `json:"allDay"`
	Zone        string     `json:"zone,omitempty"` // of Start; none for a day, or a time that is meant wherever one is
	Location    string     `json:"location,omitempty"`
	Status      string     `json:"status"` // confirmed, tentative or cancelled
	Organizer   *Attendee  `json:"organizer,omitempty"`
	Attendees   []Attendee `json:"attendees"`
	MoreInvited bool       `json:"moreAttendees,omitzero"`
	Calendar    string     `json:"calendar"` // the name of the source
	Recurring   bool       `json:"recurring"`
	Description string     `json:"description,omitempty"`
	Ifc         Ifc        `json:"ifc"`
	begin       time.Time
	uid         string
}

// Attendee is who organizes an event or is invited to it.
type Attendee struct {
	Name          string `json:"name,omitempty"`
	Address       string `json:"address,omitempty"`
	Participation string `json:"participation,omitempty"` // accepted, declined, tentative, needs-action, …
}

// Read answers with a []*[Occurrence], by their start, then their UID. Cancelled occurrences are among them.
func (v CalendarList) Read(ctx context.Context, from Reader) (Answer, error) {
	r, err := from.begin(v.TZ)
	if err != nil {
		return Answer{}, err
	}
	window := calendar.Window{Zone: r.zone, Limit: MaxOccurrences + 1, Steps: MaxSteps}
	if !v.All {
		if window.From, window.To, err = r.days(v.From, v.To); err != nil {
			return Answer{}, err
		}
	}
	f := store.Filter{Kinds: []store.Kind{store.Event}, From: window.From, To: window.To, Oldest: true, Limit: MaxEvents + 1}
	all := []*Occurrence{}
	events, unread, slow := 0, 0, 0
	for row, err := range r.records(ctx, f) {
		if err != nil {
			return Answer{}, err
		}
		if events++; events > MaxEvents {
			r.note(fmt.Sprintf("there are more than %d events; the later ones were left out", MaxEvents))
			break
		}
		e, err := calendar.Decode(row.Details)
		if err != nil {
			unread++
			continue
		}
		occurrences, err := e.Occurrences(window)
		switch {
		case errors.Is(err, calendar.ErrSteps):
			slow++
		case err != nil && !errors.Is(err, calendar.ErrLimit):
			unread++
		}
		for _, o := range occurrences {
			all = append(all, r.occurrence(row, e, o))
		}
		if len(all) > 2*MaxOccurrences {
			all = sorted(all)[:MaxOccurrences+1]
			// What begins later than the last of these is not shown.
			window.To = all[MaxOccurrences].begin.Add(time.Second)
		}
	}
	if all = sorted(all); len(all) > MaxOccurrences {
		all = all[:MaxOccurrences]
		r.note(fmt.Sprintf("there are more than %d occurrences; the later ones were left out: name a shorter window", MaxOccurrences))
	}
	if unread > 0 {
		r.note("events were left out that cannot be read")
	}
	if slow > 0 {
		r.note("occurrences may be missing: the rules of some events take too long to work out")
	}
	return Answer{Payload: all, Notes: r.notes}, nil
}

// days is the window from the first moment of a day to the last of another.
func (r *reading) days(from, to string) (first, end time.Time, err error) {
	year, month, day := r.Now.In(r.zone).Date()
	start := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if from != "" {
		if start, err = time.Parse(time.DateOnly, from); err != nil {
			return first, end, invalid("--from: there is no day %s", from)
		}
	}
	last := start.AddDate(0, 0, WindowDays)
	if to != "" {
		if last, err = time.Parse(time.DateOnly, to); err != nil {
			return first, end, invalid("--to: there is no day %s", to)
		}
	}
	if last.Before(start) {
		return first, end, invalid("--to is before --from, which is today where it is not named")
	}
	return r.midnight(start.Date()), r.midnight(last.AddDate(0, 0, 1).Date()), nil
}

func sorted(all []*Occurrence) []*Occurrence {
	slices.SortFunc(all, func(a, b *Occurrence) int {
		return cmp.Or(a.begin.Compare(b.begin), strings.Compare(a.uid, b.uid), strings.Compare(a.Calendar, b.Calendar), strings.Compare(a.ID, b.ID))
	})
	return all
}

func (r *reading) occurrence(row store.Row, series *calendar.Event, o calendar.Occurrence) *Occurrence {
	e := o.Event
	shown := &Occurrence{
		ID: row.Source.Name + "/" + row.Ref, Title: codeunits.Cut(cmp.Or(e.Summary, series.Summary), maxEventText), AllDay: o.Start.IsDate(),
		Location: codeunits.Cut(e.Location, maxEventText), Status: strings.ToLower(cmp.Or(e.Status, calendar.Confirmed)),
		Calendar: row.Source.Name, Description: codeunits.Cut(e.Description, maxDescription),
		Recurring: len(series.Rules) > 0 || len(series.Added) > 0 || len(series.Overrides) > 0,
		Attendees: []Attendee{}, Ifc: Ifc{r.made(row.Label)}, begin: o.Begin, uid: series.UID,
	}
	if shown.Recurring {
		shown.ID += "#" + o.Instance.String()
	}
	if shown.AllDay {
		shown.Start, shown.End = o.Start.String(), o.End.String()
	} else {
		shown.Start, shown.End, shown.Zone = offsetOf(o.Begin, o.Start), offsetOf(o.Finish, o.End), o.Start.Zone()
	}
	if e.Organizer != (calendar.Party{}) {
		shown.Organizer = &Attendee{Name: codeunits.Cut(e.Organizer.Name, maxEventText), Address: codeunits.Cut(e.Organizer.Address, maxEventText)}
	}
	for n, a := range e.Attendees {
		if n == maxAttendees {
			shown.MoreInvited = true
			break
		}
		shown.Attendees = append(shown.Attendees, Attendee{
			codeunits.Cut(a.Name, maxEventText), codeunits.Cut(a.Address, maxEventText), strings.ToLower(codeunits.Cut(a.Participation, maxEventText)),
		})
	}
	return shown
}

// offsetOf writes an instant with the offset at which its clock shows the reading.
func offsetOf(at time.Time, reading calendar.Time) string {
	offset := reading.Clock().Unix() - at.Unix()
	const most = 24 * 60 * 60
	if offset <= -most || offset >= most || offset%60 != 0 {
		return at.UTC().Format(time.RFC3339)
	}
	return at.In(time.FixedZone("", int(offset))).Format(time.RFC3339)
}
