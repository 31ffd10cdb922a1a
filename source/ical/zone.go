package ical

import (
	"errors"
	"slices"
	"strings"

	"github.com/loomrun/loom/calendar"
)

// Limits of the zones of one file.
const (
	// MaxZones is the number of zones that a file may define for its events. Further ones are unknown.
	MaxZones = 200
	// maxNames is the number of zone names that are remembered. Others are looked up anew.
	maxNames = 1_000
)

// zone is what a TZID of the file turned out to stand for.
type zone struct {
	name       string // for [calendar.Time], "" if it is unknown
	definition *calendar.Definition
	err        error
}

// time reads a property that is one time.
func (p *partReader) time(line contentLine) (calendar.Time, error) { return p.timeOf(line.value, line) }

// timeOf reads a time that stands in a property. In a zone that is unknown it is floating, and a
// note says so.
func (p *partReader) timeOf(value string, line contentLine) (calendar.Time, error) {
	t, err := calendar.ParseTime(value, "")
	if err != nil || !t.IsFloating() {
		return t, err
	}
	tzid := strings.TrimSpace(line.parameter("TZID"))
	if tzid == "" {
		return t, nil
	}
	z := p.zone(p.calendar, tzid)
	if z.err == nil && z.definition != nil {
		e := &p.event
		if !slices.ContainsFunc(e.Definitions, func(d calendar.Definition) bool { return d.TZID == z.name }) {
			if len(e.Definitions) == calendar.MaxDefinitions {
				z.err = errors.New("the event has too many zones of its own")
			} else {
				e.Definitions = append(e.Definitions, *z.definition)
			}
		}
	}
	if z.err != nil {
		p.add("%v; its times are taken as floating", z.err)
		return t, nil
	}
	return t.In(z.name), nil
}

// zone finds what a TZID means in one of the calendars of the file.
func (r *reader) zone(inCalendar int, tzid string) zone {
	key := zoneKey{inCalendar, tzid}
	if z, ok := r.zones[key]; ok {
		return z
	}
	var definitions []calendar.Definition
	found, err := calendar.FindZone(tzid)
	component, ok := r.file.zones[key]
	if !ok {
		component, ok = r.file.zones[zoneKey{-1, tzid}]
	}
	if err != nil && ok && r.defined < MaxZones {
		r.defined++
		definitions = append(definitions, r.definition(r.file.components[component], tzid))
		found, err = calendar.FindZone(tzid, definitions...)
	}
	var z zone
	switch {
	case err != nil:
		z.err = err
	case found.IsDefined():
		z.name, z.definition = found.Name(), &definitions[0]
	default:
		z.name = found.Name()
	}
	if len(r.zones) < maxNames {
		r.zones[key] = z
	}
	return z
}

// definition reads a VTIMEZONE (RFC 5545 3.6.5). What cannot be read of it is left out;
// [calendar.FindZone] says whether enough is there.
func (r *reader) definition(c component, tzid string) calendar.Definition {
	d := calendar.Definition{TZID: tzid}
	var o *calendar.Observance
	_ = r.properties(c, func(line contentLine, inside string, cut bool) error {
		if cut {
			return nil
		}
		if inside == "" {
			if line.name == "X-LIC-LOCATION" {
				d.Location = strings.TrimSpace(line.value)
			}
			return nil
		}
		if line.name == "BEGIN" {
			o = nil
			if (inside == "STANDARD" || inside == "DAYLIGHT") && len(d.Observances) < calendar.MaxObservances {
				d.Observances = append(d.Observances, calendar.Observance{From: noOffset, To: noOffset})
				o = &d.Observances[len(d.Observances)-1]
			}
			return nil
		}
		if o != nil {
			observe(o, line)
		}
		return nil
	}, &notes{})
	d.Observances = slices.DeleteFunc(d.Observances, func(o calendar.Observance) bool { return o.Start.IsZero() })
	if len(d.Location) > 64 || clean(d.Location) != d.Location {
		d.Location = ""
	}
	return d
}

func observe(o *calendar.Observance, line contentLine) {
	switch line.name {
	case "DTSTART":
		if t, err := calendar.ParseTime(line.value, ""); err == nil {
			o.Start = t.In("")
		}
	case "TZOFFSETFROM":
		o.From = offset(line.value)
	case "TZOFFSETTO":
		o.To = offset(line.value)
	case "RRULE":
		if rule, err := calendar.ParseRule(line.value); err == nil && len(o.Rules) < calendar.MaxRules {
			o.Rules = append(o.Rules, rule)
		}
	case "RDATE":
		for one := range strings.SplitSeq(line.value, ",") {
			if t, err := calendar.ParseTime(one, ""); err == nil && len(o.Dates) < calendar.MaxObservances {
				o.Dates = append(o.Dates, t.In(""))
			}
		}
	}
}

// noOffset is what no clock is ahead of UTC, so that a definition without its offsets is refused and
// not taken as UTC.
const noOffset = 24 * 3600

// offset reads a UTC-OFFSET (RFC 5545 3.3.14) in seconds: +0130, -053015.
func offset(s string) int {
	s = strings.TrimSpace(s)
	if len(s) != 5 && len(s) != 7 || s[0] != '+' && s[0] != '-' {
		return noOffset
	}
	var parts [3]int
	for i, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return noOffset
		}
		parts[i/2] = parts[i/2]*10 + int(c-'0')
	}
	seconds := parts[0]*3600 + parts[1]*60 + parts[2]
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds
}
