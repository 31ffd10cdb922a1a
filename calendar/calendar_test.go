package calendar

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// when reads a time as tests write it: 2026-03-29, 2026-03-29T09:00:00, with Z or [Zone].
func when(t testing.TB, text string) Time {
	t.Helper()
	var at Time
	if err := at.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return at
}

func rule(t testing.TB, text string) Rule {
	t.Helper()
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// series makes an event of lines: START, END, DURATION, RRULE, EXRULE, RDATE (start, or start/end),
// EXDATE, and MOVE or ONWARD with instance>start/end summary.
func eventOf(t testing.TB, lines ...string) *Event {
	t.Helper()
	e := &Event{UID: "u", Summary: "master"}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, " ")
		switch name {
		case "START":
			e.Start = when(t, value)
		case "END":
			e.End = when(t, value)
		case "DURATION":
			e.Duration, _ = ParseDuration(value)
		case "RRULE":
			e.Rules = append(e.Rules, rule(t, value))
		case "EXRULE":
			e.ExcludedRules = append(e.ExcludedRules, rule(t, value))
		case "EXDATE":
			e.Excluded = append(e.Excluded, when(t, value))
		case "RDATE":
			start, end, _ := strings.Cut(value, "~")
			e.Added = append(e.Added, Added{Start: when(t, start), End: when(t, end)})
		case "MOVE", "ONWARD", "CANCEL":
			instance, rest, _ := strings.Cut(value, " > ")
			start, end, _ := strings.Cut(rest, "~")
			o := Override{Instance: when(t, instance), Onward: name == "ONWARD", Event: Event{Summary: "changed", Start: when(t, start), End: when(t, end)}}
			if name == "CANCEL" {
				o.Event.Status = Cancelled
			}
			e.Overrides = append(e.Overrides, o)
		default:
			t.Fatalf("what is %q?", name)
		}
	}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	return e
}

// listed writes occurrences as "begin in UTC = start in the event's zone", the changed ones with a star.
func listed(found []Occurrence) []string {
	list := []string{}
	for _, o := range found {
		text := o.Begin.Format("0102T1504Z") + "=" + o.Start.String()
		if o.Event.Summary == "changed" {
			text += "*"
		}
		list = append(list, text)
	}
	return list
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestOccurrences(t *testing.T) {
	const weekly = "RRULE FREQ=WEEKLY"
	berlin := []string{"START 2026-01-05T09:00:00[Europe/Berlin]", "END 2026-01-05T10:00:00[Europe/Berlin]"}
	// On weekdays at nine from the change on, then one day earlier as a whole.
	onward := []string{
		"ONWARD 2026-01-26 > 2026-01-27T08:00:00[Europe/Berlin]~2026-01-27T09:00:00[Europe/Berlin]",
		"ONWARD 2026-01-12T08:00:00Z > 2026-01-13~2026-01-14",
	}
	for _, test := range []struct {
		name     string
		lines    []string
		zone     string
		from, to string
		want     string
	}{
		{
			"nine o'clock stays nine o'clock when summer time begins",
			append(berlin, weekly), "", "2026-03-20T00:00:00Z", "2026-04-08T00:00:00Z",
			"0323T0800Z=2026-03-23T09:00:00[Europe/Berlin] 0330T0700Z=2026-03-30T09:00:00[Europe/Berlin] 0406T0700Z=2026-04-06T09:00:00[Europe/Berlin]",
		},
		{
			"and when it ends",
			append(berlin, weekly), "", "2026-10-18T00:00:00Z", "2026-10-28T00:00:00Z",
			"1019T0700Z=2026-10-19T09:00:00[Europe/Berlin] 1026T0800Z=2026-10-26T09:00:00[Europe/Berlin]",
		},
		{
			"a reading in the gap is taken with the offset before it",
			[]string{"START 2026-03-27T02:30:00[Europe/Berlin]", "RRULE FREQ=DAILY;COUNT=4"},
			"", "", "",
			"0327T0130Z=2026-03-27T02:30:00[Europe/Berlin] 0328T0130Z=2026-03-28T02:30:00[Europe/Berlin] 0329T0130Z=2026-03-29T03:30:00[Europe/Berlin] 0330T0030Z=2026-03-30T02:30:00[Europe/Berlin]",
		},
		{
			"a reading in the fold is the first of the two",
			[]string{"START 2026-10-24T02:30:00[Europe/Berlin]", "RRULE FREQ=DAILY;COUNT=3"},
			"", "", "",
			"1024T0030Z=2026-10-24T02:30:00[Europe/Berlin] 1025T0030Z=2026-10-25T02:30:00[Europe/Berlin] 1026T0130Z=2026-10-26T02:30:00[Europe/Berlin]",
		},
		{
			"hours in the gap fall together and come in order",
			[]string{"START 2026-03-29T01:00:00[Europe/Berlin]", "RRULE FREQ=MINUTELY;INTERVAL=30;COUNT=8"},
			"", "", "",
			"0329T0000Z=2026-03-29T01:00:00[Europe/Berlin] 0329T0030Z=2026-03-29T01:30:00[Europe/Berlin] 0329T0100Z=2026-03-29T03:00:00[Europe/Berlin] 0329T0130Z=2026-03-29T03:30:00[Europe/Berlin] 0329T0200Z=2026-03-29T04:00:00[Europe/Berlin] 0329T0230Z=2026-03-29T04:30:00[Europe/Berlin]",
		},
		{
			"a date is a date at UTC-11",
			[]string{"START 2026-05-01", "RRULE FREQ=DAILY;COUNT=3"},
			"Pacific/Pago_Pago", "2026-05-02T11:00:00Z", "2026-05-03T11:00:00Z",
			"0502T1100Z=2026-05-02",
		},
		{
			"and at UTC+14",
			[]string{"START 2026-05-01", "RRULE FREQ=DAILY;COUNT=3"},
			"Pacific/Kiritimati", "2026-05-01T10:00:00Z", "2026-05-02T10:00:00Z",
			"0501T1000Z=2026-05-02",
		},
		{
			"floating times are the window's",
			[]string{"START 2026-05-01T09:00:00"},
			"Asia/Tokyo", "", "",
			"0501T0000Z=2026-05-01T09:00:00",
		},
		{
			"a date of several days overlaps a window in its middle",
			[]string{"START 2026-05-01", "END 2026-05-11", "RRULE FREQ=MONTHLY"},
			"", "2026-06-05T00:00:00Z", "2026-06-06T00:00:00Z",
			"0601T0000Z=2026-06-01",
		},
		{
			"what ends when the window begins is outside, what begins when it ends too",
			append(berlin, weekly), "", "2026-01-05T09:00:00Z", "2026-01-12T08:00:00Z", "",
		},
		{
			"what has no length is in a window that begins with it",
			[]string{"START 2026-01-05T09:00:00Z", "RRULE FREQ=DAILY"},
			"", "2026-01-06T09:00:00Z", "2026-01-07T09:00:00Z",
			"0106T0900Z=2026-01-06T09:00:00Z",
		},
		{
			"an EXDATE in UTC excludes an instance in a zone",
			append(berlin, "RRULE FREQ=WEEKLY;COUNT=3", "EXDATE 2026-01-12T08:00:00Z"), "", "", "",
			"0105T0800Z=2026-01-05T09:00:00[Europe/Berlin] 0119T0800Z=2026-01-19T09:00:00[Europe/Berlin]",
		},
		{
			"an EXDATE that is a date excludes the day's instance, one that is floating that of the clock",
			append(berlin, "RRULE FREQ=WEEKLY;COUNT=3", "EXDATE 2026-01-12", "EXDATE 2026-01-19T09:00:00"), "", "", "",
			"0105T0800Z=2026-01-05T09:00:00[Europe/Berlin]",
		},
		{
			"an RDATE that is an instance already adds none",
			append(berlin, "RRULE FREQ=WEEKLY;COUNT=2", "RDATE 2026-01-12T03:00:00[America/New_York]", "RDATE 2026-01-13T09:00:00[Europe/Berlin]"), "", "", "",
			"0105T0800Z=2026-01-05T09:00:00[Europe/Berlin] 0112T0800Z=2026-01-12T03:00:00[America/New_York] 0113T0800Z=2026-01-13T09:00:00[Europe/Berlin]",
		},
		{
			"an instance moved out of the window is not in it",
			append(berlin, weekly, "MOVE 2026-02-02T09:00:00[Europe/Berlin] > 2026-05-03T11:00:00[Europe/Berlin]~"), "", "2026-01-31T00:00:00Z", "2026-02-14T00:00:00Z",
			"0209T0800Z=2026-02-09T09:00:00[Europe/Berlin]",
		},
		{
			"an instance moved months on is in the window there",
			append(berlin, weekly, "MOVE 2026-02-02T08:00:00Z > 2026-05-03T11:00:00[Europe/Berlin]~"), "", "2026-05-02T00:00:00Z", "2026-05-05T00:00:00Z",
			"0503T0900Z=2026-05-03T11:00:00[Europe/Berlin]* 0504T0700Z=2026-05-04T09:00:00[Europe/Berlin]",
		},
		{
			"a change outweighs an EXDATE of the same instance",
			append(berlin, "RRULE FREQ=WEEKLY;COUNT=2", "EXDATE 2026-01-12T09:00:00[Europe/Berlin]", "MOVE 2026-01-12T09:00:00[Europe/Berlin] > 2026-01-12T15:00:00[Europe/Berlin]~"), "", "", "",
			"0105T0800Z=2026-01-05T09:00:00[Europe/Berlin] 0112T1400Z=2026-01-12T15:00:00[Europe/Berlin]*",
		},
		{
			"later instances move alike",
			append(berlin, "RRULE FREQ=WEEKLY;COUNT=4", "ONWARD 2026-01-19T09:00:00[Europe/Berlin] > 2026-01-20T10:30:00[Europe/Berlin]~2026-01-20T11:00:00[Europe/Berlin]", "MOVE 2026-01-26T09:00:00[Europe/Berlin] > 2026-01-26T08:00:00[Europe/Berlin]~"), "", "2026-01-06T00:00:00Z", "",
			"0112T0800Z=2026-01-12T09:00:00[Europe/Berlin] 0120T0930Z=2026-01-20T10:30:00[Europe/Berlin]* 0126T0700Z=2026-01-26T08:00:00[Europe/Berlin]*",
		},
		{
			"a later change of all later instances replaces the one before; a change may make days of times",
			append(append(berlin, "RRULE FREQ=WEEKLY;COUNT=5"), onward...), "", "", "",
			"0105T0800Z=2026-01-05T09:00:00[Europe/Berlin] 0113T0000Z=2026-01-13* 0120T0000Z=2026-01-20* 0127T0700Z=2026-01-27T08:00:00[Europe/Berlin]* 0203T0700Z=2026-02-03T08:00:00[Europe/Berlin]*",
		},
		{
			"the last day there is",
			[]string{"START 9999-12-31", "RRULE FREQ=YEARLY"},
			"", "", "",
			"1231T0000Z=9999-12-31",
		},
		{
			"a rule that leaves time behind",
			[]string{"START 9990-01-01T00:00:00Z", "RRULE FREQ=MONTHLY;INTERVAL=1000000", "RRULE FREQ=WEEKLY;INTERVAL=1000000", "RRULE FREQ=YEARLY;INTERVAL=9;BYWEEKNO=-1;BYDAY=SU"},
			"", "", "",
			"0101T0000Z=9990-01-01T00:00:00Z 1230T0000Z=9990-12-30T00:00:00Z",
		},
		{
			"a leap day comes every four years",
			[]string{"START 2024-02-29", "RRULE FREQ=YEARLY"},
			"", "2025-01-01T00:00:00Z", "2037-01-01T00:00:00Z",
			"0229T0000Z=2028-02-29 0229T0000Z=2032-02-29 0229T0000Z=2036-02-29",
		},
		{
			"or each year with SKIP",
			[]string{"START 2024-02-29", "RRULE FREQ=YEARLY;RSCALE=GREGORIAN;SKIP=FORWARD;COUNT=3"},
			"", "", "",
			"0229T0000Z=2024-02-29 0301T0000Z=2025-03-01 0301T0000Z=2026-03-01",
		},
		{
			"the last day of a leap year with SKIP",
			[]string{"START 2024-12-31", "RRULE FREQ=YEARLY;BYYEARDAY=366;RSCALE=GREGORIAN;SKIP=FORWARD;COUNT=3"},
			"", "", "",
			"1231T0000Z=2024-12-31 0101T0000Z=2026-01-01 0101T0000Z=2027-01-01",
		},
		{
			"a day that SKIP and the next month both give counts once",
			[]string{"START 2026-01-01", "RRULE FREQ=MONTHLY;BYMONTHDAY=1,31;RSCALE=GREGORIAN;SKIP=FORWARD;COUNT=6"},
			"", "", "",
			"0101T0000Z=2026-01-01 0131T0000Z=2026-01-31 0201T0000Z=2026-02-01 0301T0000Z=2026-03-01 0331T0000Z=2026-03-31 0401T0000Z=2026-04-01",
		},
		{
			"all later instances moved by months, into the window and out of it",
			[]string{"START 2026-01-05T09:00:00Z", "RRULE FREQ=WEEKLY;COUNT=3", "ONWARD 2026-01-12T09:00:00Z > 2026-06-01T09:00:00Z~"},
			"", "2026-06-01T00:00:00Z", "2026-06-05T00:00:00Z",
			"0601T0900Z=2026-06-01T09:00:00Z*",
		},
		{
			"all later instances moved to before the start",
			[]string{"START 2026-01-05T09:00:00Z", "RRULE FREQ=WEEKLY;COUNT=3", "ONWARD 2026-01-12T09:00:00Z > 2025-06-01T09:00:00Z~"},
			"", "", "2025-12-01T00:00:00Z",
			"0601T0900Z=2025-06-01T09:00:00Z* 0608T0900Z=2025-06-08T09:00:00Z*",
		},
		{
			"the last day of a month with SKIP",
			[]string{"START 2026-01-31", "RRULE FREQ=MONTHLY;RSCALE=GREGORIAN;SKIP=BACKWARD;COUNT=4"},
			"", "", "",
			"0131T0000Z=2026-01-31 0228T0000Z=2026-02-28 0331T0000Z=2026-03-31 0430T0000Z=2026-04-30",
		},
		{
			"an UNTIL that is a date holds that day",
			append(berlin, "RRULE FREQ=WEEKLY;UNTIL=20260119"), "", "2026-01-06T00:00:00Z", "",
			"0112T0800Z=2026-01-12T09:00:00[Europe/Berlin] 0119T0800Z=2026-01-19T09:00:00[Europe/Berlin]",
		},
		{
			"an UNTIL in UTC is an instant",
			append(berlin, "RRULE FREQ=WEEKLY;UNTIL=20260119T075959Z"), "", "2026-01-06T00:00:00Z", "",
			"0112T0800Z=2026-01-12T09:00:00[Europe/Berlin]",
		},
		{
			"an UNTIL with a time ends dates on its day",
			[]string{"START 2026-05-01", "RRULE FREQ=DAILY;UNTIL=20260502T220000Z"},
			"", "", "",
			"0501T0000Z=2026-05-01 0502T0000Z=2026-05-02",
		},
		{
			"a start that the rule does not give is an instance and counts",
			[]string{"START 1997-09-02T09:00:00Z", "RRULE FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3"},
			"", "", "",
			"0902T0900Z=1997-09-02T09:00:00Z 0213T0900Z=1998-02-13T09:00:00Z 0313T0900Z=1998-03-13T09:00:00Z",
		},
		{
			"even if it is the only one",
			[]string{"START 1997-09-02T09:00:00Z", "RRULE FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=1"},
			"", "", "",
			"0902T0900Z=1997-09-02T09:00:00Z",
		},
		{
			"an EXRULE excludes",
			[]string{"START 2026-05-01", "RRULE FREQ=DAILY;COUNT=5", "EXRULE FREQ=DAILY;INTERVAL=2"},
			"", "", "",
			"0502T0000Z=2026-05-02 0504T0000Z=2026-05-04",
		},
		{
			"two rules are one series",
			[]string{"START 2026-05-01", "RRULE FREQ=DAILY;INTERVAL=2;COUNT=3", "RRULE FREQ=DAILY;INTERVAL=4;COUNT=3"},
			"", "", "",
			"0501T0000Z=2026-05-01 0503T0000Z=2026-05-03 0505T0000Z=2026-05-05 0509T0000Z=2026-05-09",
		},
		{
			"COUNT is counted from the start wherever the window is",
			[]string{"START 2026-01-05T09:00:00Z", "RRULE FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=100"},
			"", "2026-08-17T00:00:00Z", "",
			"0817T0900Z=2026-08-17T09:00:00Z 0819T0900Z=2026-08-19T09:00:00Z 0821T0900Z=2026-08-21T09:00:00Z 0824T0900Z=2026-08-24T09:00:00Z",
		},
		{
			"the day that Samoa left out",
			[]string{"START 2011-12-29T12:00:00[Pacific/Apia]", "RRULE FREQ=DAILY;COUNT=3"},
			"", "", "",
			"1229T2200Z=2011-12-29T12:00:00[Pacific/Apia] 1230T2200Z=2011-12-31T12:00:00[Pacific/Apia]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := Window{}
			if test.from != "" {
				w.From = instant(t, test.from)
			}
			if test.to != "" {
				w.To = instant(t, test.to)
			}
			if test.zone != "" {
				zone, err := FindZone(test.zone)
				if err != nil {
					t.Fatal(err)
				}
				w.Zone = zone.location
			}
			e := eventOf(t, test.lines...)
			found, err := e.Occurrences(w)
			if got := strings.Join(listed(found), " "); got != test.want || err != nil {
				t.Errorf("%v\n got %s\nwant %s", err, got, test.want)
			}
			extent, err := e.Extent()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range found {
				if o.Begin.Before(extent.From) || !extent.Open && o.Finish.After(extent.To) {
					t.Errorf("%v is not in %v", o.Begin, extent)
				}
			}
			again := roundTrip(t, e)
			found2, err := again.Occurrences(w)
			if got := strings.Join(listed(found2), " "); got != test.want || err != nil {
				t.Errorf("read again: %v\n got %s\nwant %s", err, got, test.want)
			}
		})
	}
}

func roundTrip(t testing.TB, e *Event) *Event {
	t.Helper()
	data, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	data2, err := Encode(again)
	if err != nil || string(data2) != string(data) {
		t.Errorf("%v\nwrote %s\n then %s", err, data, data2)
	}
	return again
}

func TestAnInstanceLastsAsLongAsTheCalendarSays(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		want  string // the finish of the second instance
	}{
		{"an end is an exact distance", []string{"START 2026-03-27T20:00:00[Europe/Berlin]", "END 2026-03-28T20:00:00[Europe/Berlin]"}, "2026-03-29T21:00:00[Europe/Berlin]"},
		{"a day of a duration is one on the wall", []string{"START 2026-03-27T20:00:00[Europe/Berlin]", "DURATION P1D"}, "2026-03-29T20:00:00[Europe/Berlin]"},
		{"hours of a duration are exact", []string{"START 2026-03-27T20:00:00[Europe/Berlin]", "DURATION PT24H"}, "2026-03-29T21:00:00[Europe/Berlin]"},
		{"the end has a zone of its own", []string{"START 2026-03-27T20:00:00[Europe/Berlin]", "END 2026-03-27T16:00:00[America/New_York]"}, "2026-03-28T16:00:00[America/New_York]"},
		{"a date lasts a day", []string{"START 2026-03-27"}, "2026-03-29"},
		{"dates last days", []string{"START 2026-03-27", "END 2026-03-30"}, "2026-03-31"},
		{"a time lasts no time", []string{"START 2026-03-27T20:00:00Z"}, "2026-03-28T20:00:00Z"},
		{"a period of an RDATE lasts as long as it says", []string{"START 2026-03-27T20:00:00Z", "RDATE 2026-03-28T20:00:00Z~2026-03-28T22:00:00Z"}, "2026-03-28T22:00:00Z"},
	} {
		e := eventOf(t, append(test.lines, "RRULE FREQ=DAILY;COUNT=2")...)
		found, err := e.Occurrences(Window{})
		if err != nil || len(found) != 2 || found[1].End.String() != test.want {
			t.Errorf("%s: %v, %v, want the second to end %s", test.name, err, found, test.want)
		}
		roundTrip(t, e)
	}
}

func TestABoundEndsTheWork(t *testing.T) {
	long := instant(t, "2026-01-01T00:00:00Z")
	for _, test := range []struct {
		name  string
		rule  string
		w     Window
		want  error
		count int
	}{
		{"seconds since 1970, an hour of today", "FREQ=SECONDLY", Window{From: long, To: long.Add(time.Hour)}, nil, 3600},
		{"seconds since 1970 with a COUNT", "FREQ=SECONDLY;COUNT=999999999", Window{From: long.AddDate(-25, 0, 0), To: long.AddDate(-25, 0, 0).Add(time.Minute)}, nil, 60},
		{"minutes since 1970 that end", "FREQ=MINUTELY;UNTIL=20260101T000500Z", Window{From: long}, nil, 6},
		{"more than the limit", "FREQ=SECONDLY", Window{From: long, Limit: 5}, ErrLimit, 5},
		{"as many as the limit", "FREQ=DAILY;COUNT=5", Window{Limit: 5}, nil, 5},
		{"a rule that nothing fits", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", Window{From: long}, nil, 0},
		{"seconds that nothing fits", "FREQ=SECONDLY;INTERVAL=60;BYSECOND=5", Window{From: long}, ErrSteps, 0},
		{"a start whose rule is too much for the budget at once", "FREQ=YEARLY;BYMONTH=2", Window{From: long, Steps: 30}, ErrSteps, 0},
		{"years of days that are too much for the budget", "FREQ=YEARLY;BYWEEKNO=7,8,9;BYDAY=MO", Window{From: long, Steps: 30}, ErrSteps, 0},
		{"weeks that end with the budget", "FREQ=WEEKLY;BYHOUR=1,2,3", Window{From: long, Steps: 21}, ErrSteps, 3},
		{"seconds that nothing fits before they end", "FREQ=SECONDLY;INTERVAL=60;BYSECOND=5;UNTIL=19700102T000000Z", Window{From: time.Unix(60, 0)}, nil, 0},
		{"a COUNT too far to go", "FREQ=SECONDLY;BYSECOND=1,2;COUNT=99999999", Window{From: long}, ErrSteps, 0},
	} {
		e := eventOf(t, "START 1970-01-01T00:00:00Z", "RRULE "+test.rule)
		found, err := e.Occurrences(test.w)
		if test.w.From.IsZero() == false && len(found) > 0 && found[0].Begin.Year() == 1970 {
			found = found[1:]
		}
		if !errors.Is(err, test.want) || len(found) != test.count {
			t.Errorf("%s: %d, %v; want %d, %v", test.name, len(found), err, test.count, test.want)
		}
		if _, err := e.Extent(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestALimitLeavesTheFirstOccurrencesInAGap(t *testing.T) {
	e := eventOf(t, "START 2026-03-29T01:00:00[Europe/Berlin]", "RRULE FREQ=MINUTELY;INTERVAL=7")
	all, err := e.Occurrences(Window{To: instant(t, "2026-03-29T06:00:00Z")})
	if err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 30; limit++ {
		found, err := e.Occurrences(Window{Limit: limit})
		got, want := strings.Join(listed(found), " "), strings.Join(listed(all[:limit]), " ")
		if !errors.Is(err, ErrLimit) || got != want {
			t.Fatalf("%v\n got %s\nwant %s", err, got, want)
		}
	}
}

func TestExtent(t *testing.T) {
	for _, test := range []struct {
		lines    []string
		from, to string
		open     bool
	}{
		{[]string{"START 2026-05-01T09:00:00Z", "END 2026-05-01T10:00:00Z"}, "2026-04-30T17:00:00Z", "2026-05-02T02:00:00Z", false},
		{[]string{"START 2026-05-01", "RRULE FREQ=DAILY"}, "2026-04-28T08:00:00Z", "", true},
		{[]string{"START 2026-05-01T09:00:00Z", "MOVE 2026-05-01T09:00:00Z > 2025-01-01T09:00:00Z~"}, "2024-12-31T17:00:00Z", "2026-05-02T01:00:00Z", false},
		{[]string{"START 2026-05-01T09:00:00Z", "RRULE FREQ=SECONDLY;COUNT=999999999"}, "2026-04-28T17:00:00Z", "", true},
	} {
		got, err := eventOf(t, test.lines...).Extent()
		if err != nil || got.Open != test.open || !got.From.Equal(instant(t, test.from)) || !got.Open && !got.To.Equal(instant(t, test.to)) {
			t.Errorf("%s: %v, %v", test.lines, got, err)
		}
	}
}

// A rule begun late gives what it gives from the start, without the early part.
func TestSeekingLeavesOutTheEarlyInstancesOnly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := "FREQ=" + rapid.SampledFrom(frequencies[1:]).Draw(rt, "frequency")
		text += fmt.Sprintf(";INTERVAL=%d", rapid.IntRange(1, 8).Draw(rt, "interval"))
		if n := rapid.IntRange(0, 60).Draw(rt, "count"); n > 0 {
			text += fmt.Sprintf(";COUNT=%d", n)
		}
		for _, part := range []struct {
			name     string
			from, to int
		}{{"BYMONTH", 1, 12}, {"BYWEEKNO", -53, 53}, {"BYYEARDAY", -366, 366}, {"BYMONTHDAY", -31, 31}, {"BYHOUR", 0, 23}, {"BYMINUTE", 0, 59}, {"BYSECOND", 0, 60}, {"BYSETPOS", -3, 3}} {
			list := rapid.SliceOfN(rapid.IntRange(part.from, part.to).Filter(func(n int) bool { return n != 0 || part.from == 0 }), 0, 3).Draw(rt, part.name)
			if len(list) > 0 && rapid.IntRange(0, 3).Draw(rt, "use "+part.name) == 0 {
				text += ";" + part.name + "=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
			}
		}
		text += rapid.SampledFrom([]string{"", "", ";BYDAY=MO,FR", ";BYDAY=2TU,-1SU", ";WKST=SU", ";SKIP=FORWARD;RSCALE=GREGORIAN"}).Draw(rt, "days")
		start := fmt.Sprintf("20%02d%02d%02dT%02d3015", rapid.IntRange(0, 30).Draw(rt, "year"), rapid.IntRange(1, 12).Draw(rt, "month"), rapid.IntRange(1, 28).Draw(rt, "day"), rapid.IntRange(0, 23).Draw(rt, "hour"))

		r := rule(t, text)
		if again := rule(t, r.String()); again.String() != r.String() {
			rt.Fatalf("%s, then %s", r, again)
		}
		at, err := ParseTime(start, "")
		if err != nil {
			rt.Fatal(err)
		}
		from := at.wall + rapid.Int64Range(0, 2_000_000).Draw(rt, "from")
		slow := expand(r, at, &work{left: 30_000}, nil)
		fast := expand(r, at, &work{left: 30_000}, nil)
		fast.seek(from)
		last := int64(firstMoment)
		for range 20 {
			want, ok := slow.next()
			for ok && want < from {
				want, ok = slow.next()
			}
			got, ok2 := fast.next()
			if !ok && slow.work.left < 0 {
				return
			}
			if got != want || ok != ok2 {
				rt.Fatalf("%s from %s at %d: %d %v, want %d %v", r, start, from, got, ok2, want, ok)
			}
			if !ok {
				return
			}
			if got <= last || got < at.wall {
				rt.Fatalf("%s from %s: %d after %d", r, start, got, last)
			}
			last = got
		}
	})
}

func TestDaysAndDatesAreOneToOne(t *testing.T) {
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := floorDiv(int64(firstMoment), secondsPerDay); n <= lastMoment/secondsPerDay; n += 13 {
		at := day.AddDate(0, 0, int(n-firstMoment/secondsPerDay))
		y, m, d := civil(int(n))
		if y != at.Year() || m != int(at.Month()) || d != at.Day() || dayNumber(y, m, d) != int(n) || weekday(int(n)) != at.Weekday() {
			t.Fatalf("day %d is %d-%d-%d, want %v", n, y, m, d, at)
		}
		isoYear, isoWeek := at.ISOWeek()
		if y := weekYear(int(n), time.Monday); y != isoYear || (int(n)-weekStart(y, time.Monday))/7+1 != isoWeek {
			t.Fatalf("%v is in week year %d", at, y)
		}
	}
}

func TestFindZone(t *testing.T) {
	custom := Definition{TZID: "Our Zone", Observances: []Observance{
		{Start: when(t, "1601-03-25T02:00:00"), From: 3600, To: 7200, Rules: []Rule{rule(t, "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU")}},
		{Start: when(t, "1601-10-28T03:00:00"), From: 7200, To: 3600, Rules: []Rule{rule(t, "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU")}},
	}}
	byDates := Definition{TZID: "Dated", Observances: []Observance{{Start: when(t, "2000-01-01T00:00:00"), Dates: []Time{when(t, "2001-01-01T00:00:00")}, To: 60}}}
	located := Definition{TZID: "Office", Location: "Asia/Tokyo"}
	wild := Definition{TZID: "Wild", Observances: []Observance{{Start: when(t, "1981-03-29T02:00:00"), To: 60, Rules: []Rule{rule(t, "FREQ=SECONDLY")}}}}
	for _, test := range []struct{ tzid, want string }{
		{"Europe/Berlin", "Europe/Berlin"},
		{"W. Europe Standard Time", "Europe/Berlin"},
		{"w. europe standard time", "Europe/Berlin"},
		{"Eastern Standard Time", "America/New_York"},
		{"/mozilla.org/20050126_1/Europe/Berlin", "Europe/Berlin"},
		{"/freeassociation.sourceforge.net/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"},
		{"tzone://Microsoft/Utc", "UTC"},
		{"Z", "UTC"},
		{"Etc/GMT-1", "Etc/GMT-1"},
		{"Our Zone", "Our Zone"},
		{"Office", "Asia/Tokyo"},
		{"Wild", ""},
		{"Dated", "Dated"},
		{"Empty", ""},
		{"Far", ""},
		{"Startless", ""},
		{"Local", ""},
		{"localtime", ""},
		{"right/Europe/Berlin", "Europe/Berlin"},
		{"../../etc/passwd", ""},
		{"", ""},
		{"Customized Time Zone", ""},
		{"/x/" + strings.Repeat("a/", 100) + "b", ""},
	} {
		zone, err := FindZone(test.tzid, custom, located, wild, byDates,
			Definition{TZID: "Empty"}, Definition{TZID: "Far", Observances: []Observance{{Start: byDates.Observances[0].Start, To: 86400}}}, Definition{TZID: "Startless", Observances: []Observance{{}}})
		switch {
		case test.want == "" && !errors.Is(err, ErrUnknownZone):
			t.Errorf("%q: %v, %v; want it unknown", test.tzid, zone, err)
		case test.want != "" && (err != nil || zone.Name() != test.want):
			t.Errorf("%q: %v, %v; want %s", test.tzid, zone, err, test.want)
		}
	}
	ours, err := FindZone("Our Zone", custom)
	if err != nil || !ours.IsDefined() {
		t.Fatal(err)
	}
	berlin, _ := FindZone("Europe/Berlin")
	for at := instant(t, "1999-01-01T00:30:00Z"); at.Year() < 2038; at = at.Add(61 * time.Hour) {
		if ours.reading(at.Unix()) != berlin.reading(at.Unix()) {
			t.Fatalf("at %v the clocks differ", at)
		}
	}
	for name, iana := range windowsZones {
		if ianaZone(iana) == nil {
			t.Errorf("%s is %s, which is not in the database", name, iana)
		}
	}
	if len(windowsZones) != 139 {
		t.Errorf("%d names of Windows", len(windowsZones))
	}
}

func TestDefinitionsThatDifferAreDifferentZones(t *testing.T) {
	for i := range 2*maxDefinedZones + 10 {
		d := Definition{TZID: "Same", Observances: []Observance{{Start: when(t, "1601-01-01T00:00:00"), To: i % (maxDefinedZones + 3) * 60}}}
		z, err := FindZone("Same", d)
		if err != nil || z.reading(0) != int64(d.Observances[0].To) {
			t.Fatalf("%v, %v", z, err)
		}
	}
	if n := len(definedZones.byText); n > maxDefinedZones {
		t.Errorf("%d zones are remembered", n)
	}
}

func TestAnEventKeepsTheZonesItBrings(t *testing.T) {
	e := eventOf(t, "START 2026-03-28T09:00:00Z", "RRULE FREQ=DAILY;COUNT=2")
	e.Definitions = []Definition{{TZID: "Mine & Yours", Observances: []Observance{{Start: when(t, "2000-01-01T00:00:00"), From: 0, To: 5400}}}}
	e.Start = e.Start.In("Mine & Yours")
	found, err := roundTrip(t, e).Occurrences(Window{})
	if err != nil || len(found) != 2 || found[0].Begin.Format(time.RFC3339) != "2026-03-28T07:30:00Z" {
		t.Errorf("%v, %v", found, err)
	}
}

func TestUnknownZonesAreErrors(t *testing.T) {
	nowhere := NewTime(2026, 1, 1, 9, 0, 0, "Nowhere/Land")
	fine := NewTime(2026, 1, 1, 9, 0, 60, "UTC") // a leap second
	for name, e := range map[string]*Event{
		"start":    {UID: "u", Start: nowhere},
		"end":      {UID: "u", Start: fine, End: nowhere},
		"excluded": {UID: "u", Start: fine, Excluded: []Time{nowhere}},
		"added":    {UID: "u", Start: fine, Added: []Added{{Start: fine, End: nowhere}}},
		"instance": {UID: "u", Start: fine, Overrides: []Override{{Instance: nowhere, Event: Event{Start: fine}}}},
		"override": {UID: "u", Start: fine, Overrides: []Override{{Instance: fine, Event: Event{Start: nowhere}}}},
	} {
		_, err := e.Occurrences(Window{})
		_, err2 := e.Extent()
		_, err3 := Encode(e)
		if !errors.Is(err, ErrUnknownZone) || name != "excluded" && !errors.Is(err2, ErrUnknownZone) || !errors.Is(err3, ErrUnknownZone) {
			t.Errorf("%s: %v, %v, %v", name, err, err2, err3)
		}
	}
	e := &Event{UID: "u", Start: fine}
	if _, err := e.Instant(nowhere, nil); !errors.Is(err, ErrUnknownZone) {
		t.Error(err)
	}
	if at, err := e.Instant(fine, nil); err != nil || !at.Equal(instant(t, "2026-01-01T09:00:59Z")) || fine.Zone() != UTC {
		t.Error(at, err)
	}
	if at, err := e.Instant(NewDate(2026, 1, 1), time.FixedZone("", 3600)); err != nil || !at.Equal(instant(t, "2025-12-31T23:00:00Z")) {
		t.Error(at, err)
	}
	if _, err := Encode(&Event{UID: "\xff", Start: fine}); err == nil {
		t.Error("text that is not UTF-8 is written")
	}
	if Frequency(9).String() != "Frequency(9)" {
		t.Error(Frequency(9))
	}
}

func TestRefusedRules(t *testing.T) {
	for _, text := range []string{
		"", "INTERVAL=2", "FREQ=FORTNIGHTLY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;COUNT=0", "FREQ=DAILY;COUNT=1;COUNT=2", "FREQ=DAILY;BYHOUR=24",
		"FREQ=DAILY;BYMONTH=-1", "FREQ=DAILY;BYMONTH=5L", "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY;BYDAY=X", "FREQ=DAILY;BYDAY=0MO", "FREQ=DAILY;BYDAY=54MO", "FREQ=DAILY;BYSETPOS=0",
		"FREQ=DAILY;UNTIL=tomorrow", "FREQ=DAILY;UNTIL=20260230", "FREQ=DAILY;WKST=1", "FREQ=DAILY;RSCALE=CHINESE", "FREQ=DAILY;SKIP=AHEAD", "FREQ=DAILY;BYEASTER=1", "FREQ=DAILY;COUNT",
		"FREQ=" + strings.Repeat("A", MaxRuleText),
	} {
		if r, err := ParseRule(text); err == nil {
			t.Errorf("%.40q is read as %s", text, r)
		}
	}
	if _, err := ParseRule("FREQ=DAILY;RSCALE=HEBREW"); !errors.Is(err, ErrCalendarSystem) {
		t.Error(err)
	}
	if got := rule(t, "byday=mo,-1SU,mo;freq=monthly;x-note=1;wkst=SU;count=3;").String(); got != "FREQ=MONTHLY;COUNT=3;BYDAY=-1SU,MO;WKST=SU" {
		t.Error(got)
	}
}

func TestRefusedTexts(t *testing.T) {
	for _, text := range []string{"2026-02-30", "2026-3-29", "2026-03-29T24:00:00", "2026-03-29T09:00:60", "2026-03-29T09:00", "2026-03-29Z", "2026-03-29[Europe/Berlin]", "2026-03-29T09:00:00[]", "2026-03-29T09:00:00[UTC]", "0000-01-01", "2026-03-29T09:00:00[a]b]", "x", "]", "Z", "2026-03-29T09:00:00["} {
		var at Time
		if err := at.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %s", text, at)
		}
	}
	for _, text := range []string{"", "P", "PT", "P1", "P1H", "PT1D", "-P1D", "P99999999W", "PT9999999999S", "1D"} {
		if d, err := ParseDuration(text); err == nil && text != "PT" {
			t.Errorf("%q is read as %s", text, d)
		}
	}
	for _, text := range []string{"", "20260101T", "20260101T0900", "20260101T090000ZZ", "20260101X090000", "2026-01-01", "20260101T250000", "20261301"} {
		if at, err := ParseTime(text, ""); err == nil {
			t.Errorf("%q is read as %s", text, at)
		}
	}
	if (Time{}).String() != "" {
		t.Error("no time has a text")
	}
	for text, want := range map[string]Duration{"P2W": {Days: 14}, "+P1DT2H30M5S": {Days: 1, Seconds: 9005}, "pt15m": {Seconds: 900}, "PT0S": {}} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%q is read as %s, %v", text, d, err)
		}
		var again Duration
		if err := again.UnmarshalText([]byte(want.String())); err != nil || again != want {
			t.Errorf("%s is read as %s, %v", want, again, err)
		}
	}
}

func TestRefusedEvents(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"uid":"u","start":"2026-01-01","surprise":1}`,
		`{"uid":"u","uid":"v","start":"2026-01-01"}`,
		`{"uid":"u","start":"2026-01-01","end":"2026-01-01T09:00:00"}`,
		`{"uid":"u","start":"2026-01-01","end":"2026-01-02","duration":"P1D"}`,
		`{"uid":"u","start":"2026-01-01","rules":["FREQ=HOURLY"]}`,
		`{"uid":"u","start":"2026-01-01T09:00:00[Nowhere/Land]"}`,
		`{"uid":"u","start":"2026-01-01","excluded":[""]}`,
		`{"uid":"u","start":"2026-01-01","added":[{"start":""}]}`,
		`{"uid":"u","start":"2026-01-01","overrides":[{"instance":"","event":{"uid":"","start":"2026-01-01"}}]}`,
		`{"uid":"u","start":"2026-01-01","overrides":[{"instance":"2026-01-01","event":{"uid":"","start":"2026-01-01","rules":["FREQ=DAILY"]}}]}`,
		`{"uid":"u","start":"2026-01-01","overrides":[{"instance":"2026-01-01","event":{"uid":""}}]}`,
		`{"uid":"u","start":"2026-01-01","overrides":[{"instance":"2026-01-01","event":{"uid":"","start":"2026-01-01T09:00:00[Nowhere/Land]"}}]}`,
		`{"uid":"u","detached":true}`,
		`{"uid":"u","start":"2026-01-01","detached":true}`,
		`{"uid":"u","start":"2026-01-01","attendees":[` + strings.Repeat(`{},`, MaxAttendees) + `{}]}`,
		`{"uid":"u","start":"2026-01-01","definitions":[` + strings.Repeat(`{"tzid":"x","observances":[]},`, MaxDefinitions) + `{"tzid":"x","observances":[]}]}`,
	} {
		if e, err := Decode([]byte(text)); err == nil {
			t.Errorf("%.120s is read as %v", text, e)
		}
	}
}

func FuzzRule(f *testing.F) {
	for _, seed := range []string{"FREQ=WEEKLY;BYDAY=MO", "FREQ=YEARLY;BYWEEKNO=53;BYSETPOS=-1", "FREQ=SECONDLY;BYSECOND=60", "FREQ=MONTHLY;SKIP=FORWARD;BYMONTHDAY=31;COUNT=7", "FREQ=YEARLY;BYDAY=-53SU;UNTIL=20300101T000000Z", "FREQ=HOURLY;INTERVAL=1000000;BYYEARDAY=-366"} {
		f.Add(seed, "20260329T023000", int64(1_800_000_000), true)
		f.Add(seed, "20240229", int64(0), false)
	}
	f.Fuzz(func(t *testing.T, text, start string, from int64, zoned bool) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		if again, err := ParseRule(r.String()); err != nil || again.String() != r.String() {
			t.Fatalf("%s is read again as %s, %v", r, again, err)
		}
		zone := ""
		if zoned {
			zone = "Europe/Berlin"
		}
		at, err := ParseTime(start, zone)
		if err != nil {
			return
		}
		e := &Event{UID: "u", Start: at, Rules: []Rule{r}}
		if e.Validate() != nil {
			return
		}
		w := Window{From: time.Unix(from%lastMoment, 0), Limit: 50, Steps: 20_000}
		found, err := e.Occurrences(w)
		if err != nil && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrSteps) {
			t.Fatal(err)
		}
		extent, err := e.Extent()
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range found {
			if o.Finish.Before(w.From) || i > 0 && !found[i-1].Begin.Before(o.Begin) {
				t.Fatalf("%s from %s: %v", r, start, listed(found))
			}
			if o.Begin.Before(extent.From) || !extent.Open && o.Finish.After(extent.To) {
				t.Fatalf("%s from %s: %v is outside of %v", r, start, o.Begin, extent)
			}
		}
	})
}

// A thousand weekly series, fifteen years after their start.
func BenchmarkOccurrencesLate(b *testing.B) {
	var series []*Event
	for i := range 1000 {
		e := eventOf(b, "START 2011-01-03T09:00:00[Europe/Berlin]", "END 2011-01-03T10:00:00[Europe/Berlin]", "RRULE FREQ=WEEKLY;BYDAY=MO,TH")
		if i%4 == 0 {
			e.Rules[0].Count = 5000
		}
		series = append(series, e)
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := Window{From: from, To: from.AddDate(0, 0, 90)}
	b.ReportAllocs()
	for b.Loop() {
		for _, e := range series {
			if found, err := e.Occurrences(w); err != nil || len(found) < 25 {
				b.Fatal(len(found), err)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	e := eventOf(b, "START 2011-01-03T09:00:00[Europe/Berlin]", "END 2011-01-03T10:00:00[Europe/Berlin]", "RRULE FREQ=WEEKLY;BYDAY=MO,TH")
	data, err := Encode(e)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
