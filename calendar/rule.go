package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of one rule. The longest sensible one names every day of a year twice.
const (
	// MaxRuleText is the length in bytes of the text of a rule.
	MaxRuleText = 8 << 10
	// MaxInterval is the largest INTERVAL, in periods.
	MaxInterval = 1_000_000
	// MaxCount is the largest COUNT, in instances.
	MaxCount = 999_999_999
)

// Frequency is the period of a rule, from the shortest to the longest.
type Frequency int

// The periods of RFC 5545 3.3.10.
const (
	Secondly Frequency = iota + 1
	Minutely
	Hourly
	Daily
	Weekly
	Monthly
	Yearly
)

var frequencies = []string{Secondly: "SECONDLY", Minutely: "MINUTELY", Hourly: "HOURLY", Daily: "DAILY", Weekly: "WEEKLY", Monthly: "MONTHLY", Yearly: "YEARLY"}

// String gives the name that RFC 5545 has for a period.
func (f Frequency) String() string {
	if f < Secondly || f > Yearly {
		return "Frequency(" + strconv.Itoa(int(f)) + ")"
	}
	return frequencies[f]
}

// Day is a day of the week. With an ordinal it is the nth such day of the month or year, counted
// from its end if negative; with 0 it is every one.
type Day struct {
	Ordinal int
	Day     time.Weekday
}

var dayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// Skip says what becomes of a day that a month or year does not have (RFC 7529 4.1).
type Skip int

// The choices of RFC 7529. Without SKIP such a day is left out.
const (
	Omit     Skip = iota
	Backward      // the last day before it
	Forward       // the first day after it
)

var skips = []string{Omit: "OMIT", Backward: "BACKWARD", Forward: "FORWARD"}

// Rule is a recurrence rule (RFC 5545 3.3.10), with SKIP for the Gregorian calendar (RFC 7529). Its
// lists are sorted and name nothing twice. As JSON it is its text.
type Rule struct {
	Frequency Frequency
	Interval  int  // in periods, at least 1
	Count     int  // instances in all, 0 for no such end
	Until     Time // the last moment an instance may begin at, zero for no such end
	Skip      Skip

	Months    []int
	Weeks     []int
	YearDays  []int
	MonthDays []int
	Days      []Day
	Hours     []int
	Minutes   []int
	Seconds   []int
	Positions []int // BYSETPOS

	WeekStart time.Weekday
}

// ErrCalendarSystem means a rule in another calendar than the Gregorian (RFC 7529).
var ErrCalendarSystem = errors.New("only RSCALE=GREGORIAN is understood")

// list is a BY part: the range of its numbers, whether they may count from the end, and its place.
type list struct {
	name     string
	from, to int
	fromEnd  bool
	field    func(*Rule) *[]int
}

// lists stand in the order in which RFC 5545 3.3.10 applies them.
var lists = []list{
	{"BYMONTH", 1, 12, false, func(r *Rule) *[]int { return &r.Months }},
	{"BYWEEKNO", 1, 53, true, func(r *Rule) *[]int { return &r.Weeks }},
	{"BYYEARDAY", 1, 366, true, func(r *Rule) *[]int { return &r.YearDays }},
	{"BYMONTHDAY", 1, 31, true, func(r *Rule) *[]int { return &r.MonthDays }},
	{"BYHOUR", 0, 23, false, func(r *Rule) *[]int { return &r.Hours }},
	{"BYMINUTE", 0, 59, false, func(r *Rule) *[]int { return &r.Minutes }},
	{"BYSECOND", 0, 60, false, func(r *Rule) *[]int { return &r.Seconds }},
	{"BYSETPOS", 1, 366, true, func(r *Rule) *[]int { return &r.Positions }},
}

// ParseRule reads the text of a rule, such as FREQ=WEEKLY;BYDAY=MO,WE. Upper and lower case are the
// same; a semicolon at the end and parts that begin with X- say nothing. A part that is unknown,
// written twice or out of its range is an error.
func ParseRule(text string) (Rule, error) {
	if len(text) > MaxRuleText {
		return Rule{}, fmt.Errorf("the rule is longer than %d bytes", MaxRuleText)
	}
	r := Rule{Interval: 1, WeekStart: time.Monday}
	var seen []string
	for part := range strings.SplitSeq(strings.ToUpper(text), ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || value == "":
			return Rule{}, fmt.Errorf("the part %q of the rule has no value", name)
		case strings.HasPrefix(name, "X-"):
			continue
		case slices.Contains(seen, name):
			return Rule{}, fmt.Errorf("the rule has two parts %s", name)
		}
		seen = append(seen, name)
		if err := r.read(name, value); err != nil {
			return Rule{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if r.Frequency == 0 {
		return Rule{}, errors.New("the rule has no FREQ")
	}
	return r, nil
}

func (r *Rule) read(name, value string) error {
	var err error
	switch name {
	case "FREQ":
		at := slices.Index(frequencies, value)
		if at < int(Secondly) {
			return errors.New("there is no such frequency")
		}
		r.Frequency = Frequency(at)
	case "INTERVAL":
		r.Interval, err = within(value, 1, MaxInterval)
	case "COUNT":
		r.Count, err = within(value, 1, MaxCount)
	case "UNTIL":
		r.Until, err = ParseTime(value, "")
	case "WKST":
		at := slices.Index(dayNames, value)
		if at < 0 {
			return errors.New("a day of the week is written as MO")
		}
		r.WeekStart = time.Weekday(at)
	case "RSCALE":
		if value != "GREGORIAN" {
			return ErrCalendarSystem
		}
	case "SKIP":
		at := slices.Index(skips, value)
		if at < 0 {
			return errors.New("it is one of OMIT, BACKWARD, FORWARD")
		}
		r.Skip = Skip(at)
	case "BYDAY":
		for text := range strings.SplitSeq(value, ",") {
			day, err := parseDay(strings.TrimSpace(text))
			if err != nil {
				return err
			}
			r.Days = append(r.Days, day)
		}
		slices.SortFunc(r.Days, func(a, b Day) int {
			if a.Ordinal != b.Ordinal {
				return a.Ordinal - b.Ordinal
			}
			return int(a.Day - b.Day)
		})
		r.Days = slices.Compact(r.Days)
	default:
		at := slices.IndexFunc(lists, func(l list) bool { return l.name == name })
		if at < 0 {
			return errors.New("there is no such part of a rule")
		}
		return lists[at].read(r, value)
	}
	return err
}

func (l list) read(r *Rule, value string) error {
	numbers := l.field(r)
	for text := range strings.SplitSeq(value, ",") {
		text = strings.TrimPrefix(strings.TrimSpace(text), "+")
		size, back := strings.CutPrefix(text, "-")
		n, err := within(size, l.from, l.to)
		if err != nil {
			return err
		}
		if back && !l.fromEnd {
			return errors.New("it cannot be negative")
		}
		if back {
			n = -n
		}
		*numbers = append(*numbers, n)
	}
	slices.Sort(*numbers)
	*numbers = slices.Compact(*numbers)
	return nil
}

func parseDay(text string) (Day, error) {
	if len(text) < 2 {
		return Day{}, errors.New("a day of the week is written as MO or -1SU")
	}
	ordinal, name := text[:len(text)-2], text[len(text)-2:]
	at := slices.Index(dayNames, name)
	if at < 0 {
		return Day{}, errors.New("a day of the week is written as MO or -1SU")
	}
	day := Day{Day: time.Weekday(at)}
	if ordinal == "" {
		return day, nil
	}
	size, back := strings.CutPrefix(strings.TrimPrefix(ordinal, "+"), "-")
	n, err := within(size, 1, 53)
	if back {
		n = -n
	}
	day.Ordinal = n
	return day, err
}

func within(text string, from, to int) (int, error) {
	n, ok := digits(text)
	if !ok || n < from || n > to {
		return 0, fmt.Errorf("a number from %d to %d is wanted", from, to)
	}
	return n, nil
}

// String writes the rule with its parts in one fixed order, so that equal rules have equal texts.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString("FREQ=" + r.Frequency.String())
	if r.Interval != 1 {
		b.WriteString(";INTERVAL=" + strconv.Itoa(r.Interval))
	}
	if r.Count != 0 {
		b.WriteString(";COUNT=" + strconv.Itoa(r.Count))
	}
	if !r.Until.IsZero() {
		b.WriteString(";UNTIL=" + r.Until.basic())
	}
	for _, l := range lists {
		if l.name == "BYHOUR" && len(r.Days) > 0 {
			b.WriteString(";BYDAY=")
			for i, day := range r.Days {
				if i > 0 {
					b.WriteByte(',')
				}
				if day.Ordinal != 0 {
					b.WriteString(strconv.Itoa(day.Ordinal))
				}
				b.WriteString(dayNames[day.Day])
			}
		}
		for i, n := range *l.field(&r) {
			if i == 0 {
				b.WriteString(";" + l.name + "=")
			} else {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(n))
		}
	}
	if r.WeekStart != time.Monday {
		b.WriteString(";WKST=" + dayNames[r.WeekStart])
	}
	if r.Skip != Omit {
		b.WriteString(";RSCALE=GREGORIAN;SKIP=" + skips[r.Skip])
	}
	return b.String()
}

// MarshalText gives [Rule.String].
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is [ParseRule].
func (r *Rule) UnmarshalText(text []byte) error {
	var err error
	*r, err = ParseRule(string(text))
	return err
}
