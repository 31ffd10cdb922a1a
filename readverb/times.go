package readverb

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/lazyregexp"
)

// zoneForm is how names of the IANA database are written. Local, which is the machine's and not the person's, is none of them.
var zoneForm = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)

func zoneNamed(name string) (*time.Location, error) {
	if !zoneForm().MatchString(name) || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone: use a name such as Europe/Berlin, or UTC", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone that is known here: use a name such as Europe/Berlin, or UTC", name)
	}
	return zone, nil
}

var backForm = lazyregexp.New(`^now-(\d{1,5})([smhdw])$`)

// spans are the units of now-30m. A day has 24 hours here.
var (
	spans  = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
	daysOf = map[string]int{"d": 1, "w": 7}
)

// instantForms are the spellings of ISO 8601 that are read; those without an offset are in the zone of the call.
var (
	offsetForms = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"}
	localForms  = []string{"2006-01-02T15:04:05", "2006-01-02T15:04"}
)

var errInstant = errors.New("use an instant such as 2026-03-29T09:00:00+02:00, a date, now, or now-30m (s, m, h, d, w)")

// instant reads an argument of time. A date is its first moment in the zone; where it ends something, the first moment
// of the day behind it, so that the day belongs to what ends with it.
func (r *reading) instant(name, text string, ends bool) (time.Time, error) {
	if text == "now" {
		return r.Now, nil
	}
	if m := backForm().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // of at most five digits
		if days := daysOf[m[2]]; days > 0 {
			return r.Now.UTC().AddDate(0, 0, -n*days), nil // these may be more than a Duration holds
		}
		return r.Now.Add(-time.Duration(n) * spans[m[2]]), nil
	}
	if dateForm().MatchString(text) {
		first, next, err := r.day(text)
		if err != nil {
			return time.Time{}, invalid("%s: %v", name, err)
		}
		if ends {
			return next, nil
		}
		return first, nil
	}
	for _, form := range offsetForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	for _, form := range localForms {
		if t, err := time.ParseInLocation(form, text, r.zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, invalid("%s: %q is no time; %v", name, codeunits.Cut(text, 40), errInstant)
}

// day gives the first moment of a date in the zone, and that of the next one.
func (r *reading) day(date string) (first, next time.Time, err error) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return first, next, fmt.Errorf("there is no day %s", date)
	}
	return r.midnight(day.Date()), r.midnight(day.AddDate(0, 0, 1).Date()), nil
}

// midnight is the first moment of a day. Where the clock skips it, time.Date gives an instant of the day before.
func (r *reading) midnight(year int, month time.Month, day int) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, r.zone)
	if t.Day() != day {
		_, before := t.Zone()
		_, after := t.Add(24 * time.Hour).Zone()
		t = t.Add(time.Duration(after-before) * time.Second)
	}
	return t
}

// window reads since and until; the zero times are none.
func (r *reading) window(since, until string) (from, to time.Time, err error) {
	if since != "" {
		if from, err = r.instant("--since", since, false); err != nil {
			return from, to, err
		}
	}
	if until != "" {
		if to, err = r.instant("--until", until, true); err != nil {
			return from, to, err
		}
	}
	if !from.IsZero() && !to.IsZero() && !to.After(from) {
		return from, to, invalid("--until is not after --since")
	}
	return from, to, nil
}
