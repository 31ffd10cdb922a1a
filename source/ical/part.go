package ical

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/loomrun/loom/calendar"
)

// part is one VEVENT: the series itself or one changed instance.
type part struct {
	component int
	event     calendar.Event
	instance  calendar.Time // RECURRENCE-ID, zero for the series
	onward    bool
	cancels   bool
	stamp     calendar.Time // DTSTAMP
}

// before says whether p is an older version than q, which stands before it in the file.
func (p *part) before(q *part) bool {
	if p.event.Sequence != q.event.Sequence {
		return p.event.Sequence < q.event.Sequence
	}
	return p.stamp.Clock().Before(q.stamp.Clock())
}

// notes collects what an event's Notes are to say, each thing once.
type notes struct{ list []string }

func (n *notes) add(format string, values ...any) {
	note := fmt.Sprintf(format, values...)
	if len(n.list) < MaxNotes && !slices.Contains(n.list, note) {
		n.list = append(n.list, note)
	}
}

// partReader reads the properties of one VEVENT.
type partReader struct {
	*reader
	*part
	notes
	calendar int
	allDay   bool // X-MICROSOFT-CDO-ALLDAYEVENT
}

var (
	errNoStart  = errors.New("the event has no DTSTART")
	errBadStart = errors.New("the DTSTART of the event is no date and no time")
	errBadID    = errors.New("the RECURRENCE-ID of the event is no date and no time")
	errLongLine = fmt.Errorf("a property of the event is longer than %d bytes", MaxLine)
)

// part reads a component. Its error is a reason to skip it.
func (r *reader) part(component int) (*part, error) {
	c := r.file.components[component]
	p := &partReader{reader: r, part: &part{component: component}, calendar: c.calendar}
	if c.calendar >= 0 {
		p.cancels = r.file.calendars[c.calendar].cancels
	}
	err := r.properties(c, func(line contentLine, depth string, cut bool) error {
		if depth != "" {
			return nil // an alarm is no part of what happens
		}
		return p.property(line, cut)
	}, &p.notes)
	if err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.part, nil
}

// properties gives the content lines of a component to take, with the name of the component within
// it that they belong to.
func (r *reader) properties(c component, take func(line contentLine, inside string, cut bool) error, notes *notes) error {
	l := &lines{data: r.file.data[:c.to], at: c.from}
	var inside []string
	for found, ok := l.next(); ok; found, ok = l.next() {
		line, ok := parse(text(found.text))
		if !ok {
			notes.add("a line of the event that is no property was left out")
			continue
		}
		switch line.name {
		case "BEGIN":
			inside = append(inside, strings.ToUpper(strings.TrimSpace(line.value)))
			if len(inside) == 1 {
				if err := take(line, inside[0], found.cut); err != nil {
					return err
				}
			}
			continue
		case "END":
			inside = inside[:max(0, len(inside)-1)]
			continue
		}
		within := ""
		if len(inside) > 0 {
			within = inside[len(inside)-1]
		}
		if err := take(line, within, found.cut); err != nil {
			return err
		}
	}
	return nil
}

// property takes one property of the event. Of one that must be there once, the first counts.
func (p *partReader) property(line contentLine, cut bool) error {
	e := &p.event
	if take, ok := texts[line.name]; ok {
		field := take(e)
		if *field == "" {
			*field = strings.TrimSpace(unescape(line.value))
			if cut {
				*field = strings.ToValidUTF8(*field, "")
				p.add("the %s is longer than %d bytes and was cut", line.name, MaxLine)
			}
		}
		return nil
	}
	if cut {
		switch line.name {
		case "DTSTART", "DTEND", "DURATION", "RRULE", "EXRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "SEQUENCE", "STATUS":
			return errLongLine
		}
		return nil
	}
	var err error
	switch line.name {
	case "DTSTART", "DTEND", "RECURRENCE-ID", "RDATE", "EXDATE":
		line.mendZone()
	}
	switch line.name {
	case "DTSTART":
		if !e.Start.IsZero() {
			return nil
		}
		if e.Start, err = p.time(line); err != nil {
			return errBadStart
		}
	case "DTEND":
		if e.End, err = p.time(line); err != nil {
			p.add("the end is no date and no time and was left out")
		}
	case "DURATION":
		if e.Duration, err = calendar.ParseDuration(line.value); err != nil {
			p.add("the duration was left out: %v", err)
		}
	case "RECURRENCE-ID":
		if p.instance, err = p.time(line); err != nil {
			return errBadID
		}
		p.onward = strings.EqualFold(line.parameter("RANGE"), "THISANDFUTURE")
	case "DTSTAMP":
		if stamp, err := calendar.ParseTime(line.value, ""); err == nil {
			p.stamp = stamp
		}
	case "RRULE":
		e.Rules = p.rule(e.Rules, line)
	case "EXRULE":
		e.ExcludedRules = p.rule(e.ExcludedRules, line)
	case "RDATE":
		p.added(line)
	case "EXDATE":
		p.excluded(line)
	default:
		p.about(line)
	}
	return nil
}

// texts are the properties that are a text alone.
var texts = map[string]func(*calendar.Event) *string{
	"SUMMARY":     func(e *calendar.Event) *string { return &e.Summary },
	"DESCRIPTION": func(e *calendar.Event) *string { return &e.Description },
	"LOCATION":    func(e *calendar.Event) *string { return &e.Location },
}

// about takes a property that says nothing of time.
func (p *partReader) about(line contentLine) {
	e := &p.event
	switch line.name {
	case "URL":
		if e.URL == "" {
			e.URL = strings.TrimSpace(clean(line.value))
		}
	case "ORGANIZER":
		if e.Organizer == (calendar.Party{}) {
			e.Organizer.Name, e.Organizer.Address = person(line)
		}
	case "ATTENDEE":
		if len(e.Attendees) == calendar.MaxAttendees {
			p.add("the event has more than %d attendees; the others were left out", calendar.MaxAttendees)
			return
		}
		name, address := person(line)
		e.Attendees = append(e.Attendees, calendar.Attendee{
			Name: name, Address: address,
			Participation: word(line.parameter("PARTSTAT")), Role: word(line.parameter("ROLE")),
		})
	case "STATUS":
		switch status := word(line.value); status {
		case calendar.Confirmed, calendar.Tentative, calendar.Cancelled:
			e.Status = status
		case "CANCELED":
			e.Status = calendar.Cancelled
		}
	case "TRANSP":
		switch transparency := word(line.value); transparency {
		case calendar.Opaque, calendar.Transparent:
			e.Transparency = transparency
		}
	case "CATEGORIES":
		e.Categories = append(e.Categories, split(line.value, MaxCategories-len(e.Categories))...)
	case "SEQUENCE":
		if digits := strings.TrimSpace(line.value); len(digits) <= 9 {
			n := 0
			for _, c := range digits {
				if c < '0' || c > '9' {
					return
				}
				n = n*10 + int(c-'0')
			}
			e.Sequence = n
		}
	case "X-MICROSOFT-CDO-ALLDAYEVENT":
		p.allDay = word(line.value) == "TRUE"
	}
}

// word gives a short name in upper case.
func word(s string) string {
	s = strings.ToUpper(strings.TrimSpace(clean(s)))
	if len(s) > 64 {
		return ""
	}
	return s
}

// person gives the name and address of an organizer or attendee. Where the value is an address of
// some server only, the EMAIL parameter has the other one (RFC 7986 6.2).
func person(line contentLine) (name, address string) {
	name = firstLine(clean(line.parameter("CN")))
	address = strings.TrimSpace(clean(line.value))
	const scheme = "mailto:"
	if len(address) >= len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
		address = address[len(scheme):]
		if plain, err := url.PathUnescape(address); err == nil {
			address = strings.ToValidUTF8(clean(plain), "\ufffd")
		}
		address, _, _ = strings.Cut(address, "?")
	} else if mail := strings.TrimSpace(clean(line.parameter("EMAIL"))); mail != "" {
		address = mail
	}
	if strings.EqualFold(name, address) {
		name = ""
	}
	return name, address
}

func (p *partReader) rule(rules []calendar.Rule, line contentLine) []calendar.Rule {
	rule, err := calendar.ParseRule(line.value)
	switch {
	case err != nil:
		p.add("the %s was left out: %v", line.name, err)
	case len(rules) == calendar.MaxRules:
		p.add("the event has more than %d %s; the others were left out", calendar.MaxRules, line.name)
	default:
		rules = append(rules, rule)
	}
	return rules
}

func (p *partReader) excluded(line contentLine) {
	for one := range strings.SplitSeq(line.value, ",") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		if len(p.event.Excluded) == calendar.MaxDates {
			p.add("the event has more than %d excluded instances; the others were left out", calendar.MaxDates)
			return
		}
		t, err := p.timeOf(one, line)
		if err != nil {
			p.add("an EXDATE was left out: %v", err)
			continue
		}
		p.event.Excluded = append(p.event.Excluded, t)
	}
}

func (p *partReader) added(line contentLine) {
	for one := range strings.SplitSeq(line.value, ",") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		if len(p.event.Added) == calendar.MaxDates {
			p.add("the event has more than %d added instances; the others were left out", calendar.MaxDates)
			return
		}
		begin, end, period := strings.Cut(one, "/")
		var added calendar.Added
		var err error
		if added.Start, err = p.timeOf(begin, line); err == nil && period {
			if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(end)), "P") {
				added.Duration, err = calendar.ParseDuration(end)
			} else {
				added.End, err = p.timeOf(end, line)
			}
			if err == nil && !added.End.IsZero() && added.End.IsDate() != added.Start.IsDate() {
				err = errors.New("of the ends of a period one is a date and the other is not")
			}
		}
		if err != nil {
			p.add("an RDATE was left out: %v", err)
			continue
		}
		p.event.Added = append(p.event.Added, added)
	}
}

// finish puts right what only the whole event shows.
func (p *partReader) finish() error {
	e := &p.event
	if p.cancels {
		e.Status = calendar.Cancelled
	}
	if e.Start.IsZero() {
		if !p.cancels {
			return errNoStart
		}
		e.Start, e.End, e.Duration = p.instance, calendar.Time{}, calendar.Duration{}
	}
	if p.allDay && !e.Start.IsDate() && midnight(e.Start) && (e.End.IsZero() || midnight(e.End)) && e.Start.Zone() != calendar.UTC {
		// Outlook writes a day as the time from one midnight to the next. It would shift with the zone.
		e.Start, e.End = date(e.Start), date(e.End)
	}
	if !e.End.IsZero() && !e.Duration.IsZero() {
		p.add("the event has an end and a duration; the duration was left out")
		e.Duration = calendar.Duration{}
	}
	switch {
	case e.End.IsZero():
	case e.End.IsDate() != e.Start.IsDate():
		p.add("of start and end one is a date and the other is not; the end was left out")
		e.End = calendar.Time{}
	case e.End.Zone() == e.Start.Zone() && e.End.Clock().Before(e.Start.Clock()):
		p.add("the end is before the start and was left out")
		e.End = calendar.Time{}
	}
	if e.End.IsFloating() {
		e.End = e.End.In(e.Start.Zone()) // the end of a time in a zone needs none of its own
	}
	if e.Start.IsDate() {
		e.Rules = p.daily(e.Rules)
		e.ExcludedRules = p.daily(e.ExcludedRules)
	}
	e.Notes = p.list
	return nil
}

func (p *partReader) daily(rules []calendar.Rule) []calendar.Rule {
	return slices.DeleteFunc(rules, func(r calendar.Rule) bool {
		if r.Frequency >= calendar.Daily {
			return false
		}
		p.add("a rule for parts of a day was left out, because the event is of days")
		return true
	})
}

func midnight(t calendar.Time) bool {
	hour, minute, second := t.Clock().Clock()
	return hour == 0 && minute == 0 && second == 0
}

func date(t calendar.Time) calendar.Time {
	if t.IsZero() {
		return t
	}
	year, month, day := t.Clock().Date()
	return calendar.NewDate(year, int(month), day)
}
