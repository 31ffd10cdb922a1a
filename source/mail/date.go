package mail

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// maxDateFields bounds the fields of a date: more is none.
const maxDateFields = 12

// date is what is known of a date while its fields are read, in any order: RFC 5322 3.3 with the obsolete forms of 4.3, the form of
// asctime, ISO 8601, and what programs made of them.
type date struct {
	day, month, year     int // month 1 to 12; 0 where not seen
	hour, minute, second int
	clock, zoned, pm, am bool
	zone                 int // seconds east
}

var months = map[string]int{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}

var weekdays = map[string]bool{"mon": true, "tue": true, "wed": true, "thu": true, "fri": true, "sat": true, "sun": true}

// zones are those of RFC 5322 4.3 and some that programs write against it, in hours.
var zones = map[string]float32{
	"ut": 0, "utc": 0, "gmt": 0, "z": 0, "wet": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
	"bst": 1, "cet": 1, "met": 1, "mez": 1, "cest": 2, "mest": 2, "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9,
	"aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13, "akst": -9, "akdt": -8, "hst": -10, "nst": -3.5, "ast": -4, "adt": -3,
}

// parseDate reads the date of a header field. Without a zone it is taken as UTC.
func parseDate(text string) (time.Time, bool) {
	if at := strings.IndexByte(text, '('); at >= 0 { // a comment: nothing but the name of the zone stands there
		text = text[:at]
	}
	fields := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == ',' })
	if len(fields) > maxDateFields {
		return time.Time{}, false
	}
	var d date
	for _, f := range fields {
		if !d.field(f) && d.complete() {
			break // what follows a whole date is no part of it
		}
	}
	return d.time()
}

// fromLine says whether a line is `From sender date`, and gives the date.
func fromLine(line []byte) (time.Time, bool) {
	const most = 7 // fields of a date
	fields := bytes.Fields(line)
	var d date
	n := 0
	for ; n < most && n < len(fields)-2; n++ { // "From" and one field of a sender stay
		if !d.field(strings.Trim(string(fields[len(fields)-1-n]), ",")) {
			break
		}
	}
	return d.time()
}

func (d *date) complete() bool { return d.day > 0 && d.month > 0 && d.year > 0 && d.clock }

func (d *date) time() (time.Time, bool) {
	if !d.complete() {
		return time.Time{}, false
	}
	switch {
	case d.pm && d.hour < 12:
		d.hour += 12
	case d.am && d.hour == 12:
		d.hour = 0
	}
	t := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, min(d.second, 59), 0, time.UTC)
	if t.Day() != d.day { // 31 June
		return time.Time{}, false
	}
	return t.Add(-time.Duration(d.zone) * time.Second), true
}

// field takes one field; it says whether it is one of a date. A field of a kind that was there already is none.
func (d *date) field(f string) bool {
	if f == "" {
		return false
	}
	switch c := f[0]; {
	case c == '+' || c == '-' && len(f) > 1:
		return d.setOffset(f)
	case strings.Contains(f, ":"):
		return d.setClock(f)
	case c >= '0' && c <= '9':
		if strings.Contains(f, "-") {
			return d.dashed(f)
		}
		return d.number(f)
	}
	return d.word(strings.ToLower(strings.TrimSuffix(f, ".")))
}

func (d *date) word(w string) bool {
	name := w[:min(len(w), 3)]
	switch {
	case months[name] > 0 && monthName(w):
		if d.month > 0 {
			return false
		}
		d.month = months[name]
		return true
	case w == "am" || w == "pm":
		d.am, d.pm = w == "am", w == "pm"
		return true
	case weekdays[name]:
		return true
	}
	for _, prefix := range []string{"gmt", "utc"} { // GMT+0200
		if after, ok := strings.CutPrefix(w, prefix); ok && after != "" {
			return d.setOffset(after)
		}
	}
	hours, ok := zones[w]
	if ok && !d.zoned {
		d.zone, d.zoned = int(hours*3600), true
	}
	return ok
}

func monthName(w string) bool { return len(w) <= len("september") }

// number is a day or a year, whichever is missing.
func (d *date) number(f string) bool {
	n, err := strconv.Atoi(f)
	switch {
	case err != nil || len(f) > 4 || n > 9999:
		return false
	case len(f) <= 2 && d.day == 0 && n >= 1 && n <= 31:
		d.day = n
	case d.year == 0 && len(f) == 4 && n >= 1900:
		d.year = n
	case d.year == 0 && len(f) >= 2 && len(f) <= 3: // RFC 5322 4.3
		d.year = n + 1900
		if len(f) == 2 && n < 50 {
			d.year = n + 2000
		}
	default:
		return false
	}
	return true
}

// dashed is 2002-08-22, 22-Aug-2002 or 2002-08-22T10:00:00Z without its time.
func (d *date) dashed(f string) bool {
	parts := strings.Split(f, "-")
	if len(parts) != 3 || d.day > 0 || d.month > 0 || d.year > 0 {
		return false
	}
	if len(parts[0]) == 4 {
		parts[0], parts[2] = parts[2], parts[0]
	}
	if m, err := strconv.Atoi(parts[1]); err == nil && len(parts[1]) <= 2 && m >= 1 && m <= 12 {
		d.month = m
	} else if !d.word(strings.ToLower(parts[1])) {
		return false
	}
	return d.number(parts[0]) && d.number(parts[2])
}

func (d *date) setClock(f string) bool {
	if day, clock, ok := strings.Cut(f, "T"); ok && len(day) == len("2002-08-22") {
		return d.dashed(day) && d.setClock(clock)
	}
	if d.clock {
		return false
	}
	for i := 1; i < len(f); i++ { // a zone or a half of the day at its end
		if c := f[i]; c == '+' || c == '-' {
			d.setOffset(f[i:])
			f = f[:i]
		} else if c|0x20 >= 'a' && c|0x20 <= 'z' {
			d.word(strings.ToLower(f[i:]))
			f = f[:i]
		}
	}
	f, _, _ = strings.Cut(f, ".")
	parts := strings.Split(f, ":")
	if len(parts) > 3 {
		return false
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || len(p) > 2 {
			return false
		}
		n[i] = v
	}
	if n[0] > 24 || n[1] > 59 || n[2] > 60 {
		return false
	}
	d.hour, d.minute, d.second, d.clock = n[0], n[1], n[2], true
	return true
}

func (d *date) setOffset(f string) bool {
	digits := strings.ReplaceAll(f[1:], ":", "")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || (f[0] != '+' && f[0] != '-') || d.zoned {
		return false
	}
	switch len(digits) {
	case 1, 2:
		n *= 100
	case 3, 4:
	default:
		return false
	}
	const farthest = 15 // hours; what is farther off is a mistake, and UTC as good as any guess
	if n/100 <= farthest && n%100 < 60 {
		d.zone = n/100*3600 + n%100*60
		if f[0] == '-' {
			d.zone = -d.zone
		}
	}
	d.zoned = true
	return true
}
