package calendar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The years that RFC 5545 can write with its four digits (3.3.4), without the year 0.
const (
	minYear = 1
	maxYear = 9999
)

const (
	secondsPerMinute = 60
	secondsPerHour   = 60 * secondsPerMinute
	secondsPerDay    = 24 * secondsPerHour
	daysPerWeek      = 7
)

// UTC is the zone name of a time in UTC.
const UTC = "UTC"

// Time is a date, or a wall clock reading with the name of its zone (RFC 5545 3.3.4, 3.3.5). It is
// comparable; two times are equal if they are written alike, not if they are the same instant.
//
// A date has no zone and stays a date. A reading without a zone is floating: it is nine o'clock
// wherever one is. The zone is "UTC", a name of the IANA database, or the TZID of a [Definition]
// that the event carries. The zero Time is none at all.
type Time struct {
	wall int64 // seconds from 1970-01-01T00:00:00 on the wall clock
	kind kind
	zone string
}

type kind uint8

const (
	none kind = iota
	dated
	timed
)

// NewDate gives a date, or the zero Time where there is no such day in the years 1 to 9999.
func NewDate(year, month, day int) Time {
	if !dayExists(year, month, day) {
		return Time{}
	}
	return Time{wall: int64(dayNumber(year, month, day)) * secondsPerDay, kind: dated}
}

// NewTime gives a wall clock reading: floating if zone is "". It is the zero Time where there is no
// such day in the years 1 to 9999 or no such time of day. A leap second, second 60, is read as 59
// (RFC 5545 3.3.12).
func NewTime(year, month, day, hour, minute, second int, zone string) Time {
	if second == secondsPerMinute {
		second--
	}
	if !dayExists(year, month, day) || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return Time{}
	}
	clock := hour*secondsPerHour + minute*secondsPerMinute + second
	return Time{wall: int64(dayNumber(year, month, day))*secondsPerDay + int64(clock), kind: timed, zone: zone}
}

// IsZero says whether t is no time at all.
func (t Time) IsZero() bool { return t.kind == none }

// IsDate says whether t is a date without a time of day.
func (t Time) IsDate() bool { return t.kind == dated }

// IsFloating says whether t is a wall clock reading without a zone.
func (t Time) IsFloating() bool { return t.kind == timed && t.zone == "" }

// Zone gives the name of the zone, "" for dates and floating readings.
func (t Time) Zone() string { return t.zone }

// In gives the same wall clock reading in another zone, floating if zone is "". A date stays as it is.
func (t Time) In(zone string) Time {
	if t.kind == timed {
		t.zone = zone
	}
	return t
}

// Clock gives what calendar and clock on the wall show, written as a time in UTC whatever the zone.
func (t Time) Clock() time.Time { return time.Unix(t.wall, 0).UTC() }

// String gives the text of [Time.MarshalText].
func (t Time) String() string {
	if t.kind == none {
		return ""
	}
	day := t.Clock()
	if t.kind == dated {
		return day.Format("2006-01-02")
	}
	text := day.Format("2006-01-02T15:04:05")
	switch t.zone {
	case "":
		return text
	case UTC:
		return text + "Z"
	}
	return text + "[" + t.zone + "]"
}

// MarshalText writes 2026-03-29 for a date, 2026-03-29T09:00:00 for a floating reading, and the
// latter with Z or [Europe/Berlin] after it for one in a zone. The zero Time is "".
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what [Time.MarshalText] writes and nothing else.
func (t *Time) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "" {
		*t = Time{}
		return nil
	}
	zone, rest := "", s
	if name, ok := strings.CutSuffix(s, "]"); ok {
		rest, zone, ok = strings.Cut(name, "[")
		if !ok || !plausibleZone(zone) || zone == UTC {
			return fmt.Errorf("%q is no time: write 2026-03-29T09:00:00[Europe/Berlin]", s)
		}
	} else if name, ok := strings.CutSuffix(s, "Z"); ok {
		rest, zone = name, UTC
	}
	if zone == "" && len(rest) == len("2006-01-02") {
		if y, m, d, ok := readDate(rest, "-"); ok {
			if *t = NewDate(y, m, d); !t.IsZero() {
				return nil
			}
		}
		return fmt.Errorf("%q is no date", s)
	}
	date, clock, _ := strings.Cut(rest, "T")
	y, m, d, ok := readDate(date, "-")
	hh, mm, ss, ok2 := readClock(clock, ":")
	if ok && ok2 && ss < secondsPerMinute {
		if *t = NewTime(y, m, d, hh, mm, ss, zone); !t.IsZero() {
			return nil
		}
	}
	return fmt.Errorf("%q is no time: write 2026-03-29 or 2026-03-29T09:00:00", s)
}

// ParseTime reads a DATE (19970714) or a DATE-TIME (19970714T133000, 19970714T173000Z) of RFC 5545
// 3.3.4 and 3.3.5. Zone is what the TZID parameter stands for; it has no effect on dates and on
// times in UTC.
func ParseTime(text, zone string) (Time, error) {
	text = strings.TrimSpace(text)
	date, clock, withClock := strings.Cut(strings.ToUpper(text), "T")
	y, m, d, ok := readDate(date, "")
	if !ok {
		return Time{}, errors.New("a date is written as 19970714")
	}
	var t Time
	if !withClock {
		t = NewDate(y, m, d)
	} else {
		digits, utc := strings.CutSuffix(clock, "Z")
		if utc {
			zone = UTC
		}
		hh, mm, ss, ok := readClock(digits, "")
		if !ok {
			return Time{}, errors.New("a time is written as 19970714T133000 or 19970714T173000Z")
		}
		t = NewTime(y, m, d, hh, mm, ss, zone)
	}
	if t.IsZero() {
		return Time{}, errors.New("there is no such day or time of day")
	}
	return t, nil
}

// basic writes a time as RFC 5545 does, without its zone unless that is UTC.
func (t Time) basic() string {
	switch {
	case t.kind == dated:
		return t.Clock().Format("20060102")
	case t.zone == UTC:
		return t.Clock().Format("20060102T150405Z")
	}
	return t.Clock().Format("20060102T150405")
}

func readDate(s, sep string) (y, m, d int, ok bool) {
	if len(s) != 8+2*len(sep) || s[4:4+len(sep)] != sep || s[6+len(sep):6+2*len(sep)] != sep {
		return 0, 0, 0, false
	}
	y, ok1 := digits(s[:4])
	m, ok2 := digits(s[4+len(sep) : 6+len(sep)])
	d, ok3 := digits(s[6+2*len(sep):])
	return y, m, d, ok1 && ok2 && ok3
}

func readClock(s, sep string) (hh, mm, ss int, ok bool) {
	if len(s) != 6+2*len(sep) || s[2:2+len(sep)] != sep || s[4+len(sep):4+2*len(sep)] != sep {
		return 0, 0, 0, false
	}
	hh, ok1 := digits(s[:2])
	mm, ok2 := digits(s[2+len(sep) : 4+len(sep)])
	ss, ok3 := digits(s[4+2*len(sep):])
	return hh, mm, ss, ok1 && ok2 && ok3
}

// digits reads a number that consists of digits only, at most nine.
func digits(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// MaxDuration bounds a duration, in days and in seconds of its exact part: about 270 years.
const MaxDuration = 100_000

// Duration is a length of time: whole days, which are as long as the zone makes them, and an exact
// part in seconds on top (RFC 5545 3.3.6). None is negative.
type Duration struct {
	Days    int64
	Seconds int64
}

// IsZero says whether d has no length.
func (d Duration) IsZero() bool { return d == Duration{} }

// String writes d in the form of RFC 5545 3.3.6, as days and seconds: P1DT5400S.
func (d Duration) String() string {
	switch {
	case d.Seconds == 0 && d.Days == 0:
		return "PT0S"
	case d.Seconds == 0:
		return "P" + strconv.FormatInt(d.Days, 10) + "D"
	case d.Days == 0:
		return "PT" + strconv.FormatInt(d.Seconds, 10) + "S"
	}
	return "P" + strconv.FormatInt(d.Days, 10) + "DT" + strconv.FormatInt(d.Seconds, 10) + "S"
}

// MarshalText gives [Duration.String].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is [ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	var err error
	*d, err = ParseDuration(string(text))
	return err
}

// ParseDuration reads a duration of RFC 5545 3.3.6: P2W, P1DT2H30M, PT15M. A negative one, which an
// event cannot last, and one over [MaxDuration] days are refused.
func ParseDuration(text string) (Duration, error) {
	const form = "a duration is written as P1DT2H30M or P2W"
	s := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "+")
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" {
		return Duration{}, errors.New(form)
	}
	var d Duration
	inTime := false
	for rest != "" {
		if rest[0] == 'T' && !inTime {
			inTime, rest = true, rest[1:]
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end <= 0 {
			return Duration{}, errors.New(form)
		}
		n, ok := digits(rest[:end])
		if !ok {
			return Duration{}, errors.New("the duration is too long")
		}
		unit := rest[end]
		rest = rest[end+1:]
		switch {
		case unit == 'W' && !inTime:
			d.Days += int64(n) * daysPerWeek
		case unit == 'D' && !inTime:
			d.Days += int64(n)
		case unit == 'H' && inTime:
			d.Seconds += int64(n) * secondsPerHour
		case unit == 'M' && inTime:
			d.Seconds += int64(n) * secondsPerMinute
		case unit == 'S' && inTime:
			d.Seconds += int64(n)
		default:
			return Duration{}, errors.New(form)
		}
		if d.Days > MaxDuration || d.Seconds > MaxDuration*secondsPerDay {
			return Duration{}, errors.New("the duration is too long")
		}
	}
	return d, nil
}
