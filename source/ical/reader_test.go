package ical

import (
	"bytes"
	"encoding/json/jsontext"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomrun/loom/calendar"
	"github.com/loomrun/loom/store"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// transcript tells what reading a file gives: each item with its offset, an event as JSON with the
// first occurrences in UTC below it.
func transcript(data []byte, offsets bool) string {
	var b strings.Builder
	counts := Read(data, func(item Item) bool {
		if offsets {
			fmt.Fprintf(&b, "%d ", item.Offset)
		}
		if item.Event == nil {
			fmt.Fprintf(&b, "skipped: %s\n", item.Skipped)
			return true
		}
		text, err := calendar.Encode(item.Event)
		if err != nil {
			fmt.Fprintf(&b, "not written: %v\n", err)
			return true
		}
		value := jsontext.Value(text)
		_ = value.Indent()
		fmt.Fprintf(&b, "%q %s\n", item.Calendar, value)
		found, err := item.Event.Occurrences(calendar.Window{Limit: 6})
		for _, o := range found {
			fmt.Fprintf(&b, "\t%s to %s %s %s\n", o.Begin.Format(time.RFC3339), o.Finish.Format(time.RFC3339), o.Event.Summary, o.Event.Status)
		}
		if err != nil {
			fmt.Fprintf(&b, "\t%v\n", err)
		}
		return true
	})
	fmt.Fprintf(&b, "%+v\n", counts)
	return b.String()
}

func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in, want := archive.Files[0].Data, string(archive.Files[1].Data)
			got := transcript(in, true)
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			// However the lines are ended and folded, the file says the same.
			want = transcript(in, false)
			for name, other := range map[string][]byte{
				"CRLF": bytes.ReplaceAll(in, []byte("\n"), []byte("\r\n")),
				"CR":   bytes.ReplaceAll(in, []byte("\n"), []byte("\r")),
				"BOM":  append([]byte(byteOrderMark), in...),
				"fold": fold(in, 11),
				"tabs": bytes.ReplaceAll(in, []byte("\n "), []byte("\r\r\n\t")),
			} {
				if path == "testdata/damaged.txtar" && name != "BOM" {
					continue // the UID made of bytes is another one
				}
				if got := transcript(other, false); got != want {
					t.Errorf("with %s it is\n%s\nwant\n%s", name, got, want)
				}
			}
		})
	}
}

// fold breaks each line into pieces, in the middle of letters too.
func fold(data []byte, width int) []byte {
	var out []byte
	column := 0
	for _, c := range bytes.ReplaceAll(data, []byte("\n "), nil) {
		if column == width && c != '\n' {
			out = append(out, "\r\n "...)
			column = 0
		}
		out = append(out, c)
		if column++; c == '\n' {
			column = 0
		}
	}
	return out
}

const minimal = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nDTSTART:20260101T090000Z\n%s\nEND:VEVENT\nEND:VCALENDAR\n"

// only gives the first item of a file, the one event that it is made of.
func only(t *testing.T, lines string) Item {
	t.Helper()
	var items []Item
	Read(fmt.Appendf(nil, minimal, lines), func(item Item) bool { items = append(items, item); return true })
	for _, more := range items[1:] {
		if more.Event != nil {
			t.Fatalf("%d items", len(items))
		}
	}
	return items[0]
}

// overrides makes changed instances of the event and the beginning of another component.
func overrides(n int) string {
	var b strings.Builder
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	for i := range n {
		at := at.AddDate(0, 0, i).Format("20060102T150405Z")
		fmt.Fprintf(&b, "END:VEVENT\nBEGIN:VEVENT\nUID:u\nRECURRENCE-ID:%s\nDTSTART:%s\n", at, at)
	}
	return b.String()
}

func TestSeriesWithTooManyZones(t *testing.T) {
	zones, dates := zonesOf(calendar.MaxDefinitions), "END:VEVENT\nBEGIN:VEVENT\nUID:u\nRECURRENCE-ID:20260102T090000Z\nDTSTART;TZID=One more:20260102T090000\n"
	more := "BEGIN:VTIMEZONE\nTZID:One more\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n"
	body, rest, _ := strings.Cut(zones, "END:VEVENT\n")
	var got []string
	Read(fmt.Appendf(nil, minimal, body+dates+"END:VEVENT\n"+more+rest), func(i Item) bool { got = append(got, i.Skipped); return true })
	if len(got) != 2 || got[0] != "" || got[1] != "the series has too many zones of its own" {
		t.Errorf("%q", got)
	}
}

func TestAFileWithTooManyZones(t *testing.T) {
	var b strings.Builder
	for i := range MaxZones + 2 {
		fmt.Fprintf(&b, "BEGIN:VTIMEZONE\nTZID:Own %d\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n", i)
		fmt.Fprintf(&b, "BEGIN:VEVENT\nUID:%d\nDTSTART;TZID=Own %d:20260101T090000\nEND:VEVENT\n", i, i)
	}
	floating := 0
	counts := Read([]byte(b.String()), func(i Item) bool {
		if i.Event.Start.IsFloating() && len(i.Event.Notes) == 1 {
			floating++
		}
		return true
	})
	if counts.Events != MaxZones+2 || floating != 2 {
		t.Errorf("%+v, %d", counts, floating)
	}
}

func TestALongUIDIsReplacedByItsHash(t *testing.T) {
	long := strings.Repeat("u", maxUID+1)
	var events []*calendar.Event
	file := fmt.Sprintf("BEGIN:VEVENT\nUID:%s\nDTSTART:20260101T090000Z\nEND:VEVENT\nBEGIN:VEVENT\nUID:%s\nRECURRENCE-ID:20260101T090000Z\nDTSTART:20260101T090000Z\nEND:VEVENT\n", long, long)
	Read([]byte(file), func(i Item) bool { events = append(events, i.Event); return true })
	if len(events) != 1 || len(events[0].Overrides) != 1 || len(events[0].UID) > 100 {
		t.Errorf("%v", events)
	}
}

func TestAFileWithTooManyComponents(t *testing.T) {
	var last Item
	data := bytes.Repeat([]byte("BEGIN:VTIMEZONE\nEND:VTIMEZONE\n"), MaxComponents+1)
	counts := Read(data, func(i Item) bool { last = i; return true })
	if counts.Skipped != 1 || last.Skipped == "" || last.Offset != int64(len(data)*MaxComponents/(MaxComponents+1)) {
		t.Errorf("%+v, %+v", counts, last)
	}
}

func TestBytesThatAreNotUTF8AreReadAsWindows1252(t *testing.T) {
	e := only(t, "SUMMARY:Gr\xfc\xdfe \x96 50 \x80\nDESCRIPTION:Grüße").Event
	if e.Summary != "Grüße – 50 €" || e.Description != "Grüße" {
		t.Errorf("%q, %q", e.Summary, e.Description)
	}
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines string
		holds func(Item) bool
	}{
		{"a long text is cut", "DESCRIPTION:" + strings.Repeat("é", MaxLine), func(i Item) bool {
			return len(i.Event.Description) > MaxLine-20 && len(i.Event.Description) <= MaxLine && len(i.Event.Notes) == 1
		}},
		{"a long rule is not", "RRULE:" + strings.Repeat("FREQ=DAILY;", MaxLine/10), func(i Item) bool { return i.Skipped == errLongLine.Error() }},
		{"a long attachment is nobody's business", "ATTACH:" + strings.Repeat("a", 2*MaxLine) + "\nSUMMARY:s", func(i Item) bool { return i.Event.Summary == "s" && i.Event.Notes == nil }},
		{"attendees", strings.Repeat("ATTENDEE:mailto:a@example.com\n", calendar.MaxAttendees+5), func(i Item) bool {
			return len(i.Event.Attendees) == calendar.MaxAttendees && len(i.Event.Notes) == 1
		}},
		{"EXDATE", "EXDATE:" + strings.Repeat("20260101T090000Z,", calendar.MaxDates+5), func(i Item) bool {
			return len(i.Event.Excluded) == calendar.MaxDates && len(i.Event.Notes) == 1
		}},
		{"RDATE", "RDATE:" + strings.Repeat("20260101T090000Z,", calendar.MaxDates+5), func(i Item) bool {
			return len(i.Event.Added) == calendar.MaxDates && len(i.Event.Notes) == 1
		}},
		{"rules", strings.Repeat("RRULE:FREQ=DAILY\n", calendar.MaxRules+5), func(i Item) bool {
			return len(i.Event.Rules) == calendar.MaxRules && len(i.Event.Notes) == 1
		}},
		{"depth", strings.Repeat("BEGIN:X-A\n", MaxDepth+3) + strings.Repeat("END:X-A\n", MaxDepth+3), func(i Item) bool { return i.Skipped != "" }},
		{"parameters", "DTEND" + strings.Repeat(";A=b", MaxParameters+1) + ":20260101T100000Z", func(i Item) bool { return i.Event.End.IsZero() && len(i.Event.Notes) == 1 }},
		{"categories", "CATEGORIES:" + strings.Repeat("a,", MaxCategories+5), func(i Item) bool { return len(i.Event.Categories) == MaxCategories }},
		{"a long UID of another component is its hash", "END:VEVENT\nBEGIN:VTODO\nUID:" + strings.Repeat("u", 2*maxUID) + "\nEND:VTODO\nBEGIN:VTODO", func(i Item) bool { return i.Event.UID == "u" }},
		{"a long folded text", "DESCRIPTION:a" + strings.Repeat("\n "+strings.Repeat("b", 1000), 1200), func(i Item) bool {
			return len(i.Event.Description) == MaxLine-len("DESCRIPTION:") && len(i.Event.Notes) == 1
		}},
		{"changed instances", overrides(calendar.MaxOverrides + 3), func(i Item) bool { return len(i.Event.Overrides) == calendar.MaxOverrides }},
		{"control characters", "SUMMARY:a\x00\x1bb\x7f", func(i Item) bool { return i.Event.Summary == "ab" }},
		{"zones of an event", zonesOf(calendar.MaxDefinitions + 2), func(i Item) bool {
			return len(i.Event.Definitions) == calendar.MaxDefinitions && len(i.Event.Excluded) == calendar.MaxDefinitions+2 && len(i.Event.Notes) == 1
		}},
	} {
		if item := only(t, test.lines); !test.holds(item) {
			t.Errorf("%s: skipped %q, %.300v", test.name, item.Skipped, item.Event)
		}
	}
}

// zonesOf makes zones and an event with an EXDATE in each.
func zonesOf(n int) string {
	var dates, zones strings.Builder
	for i := range n {
		fmt.Fprintf(&dates, "EXDATE;TZID=Own %d:20260101T090000\n", i)
		fmt.Fprintf(&zones, "BEGIN:VTIMEZONE\nTZID:Own %d\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n", i)
	}
	return dates.String() + "END:VEVENT\n" + zones.String() + "BEGIN:VTODO\nEND:VTODO\nBEGIN:VTODO"
}

func TestFilesThatAreNoCalendar(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "the file is no calendar: it has no BEGIN:VCALENDAR line",
		"BEGIN:VCARD\nEND:VCARD\n":  "",
		"hello\nworld:1\n":          "the file is no calendar: it has no BEGIN:VCALENDAR line",
		"\xff\xfeB\x00E\x00":        "the file is UTF-16: save it as UTF-8",
		"BEGIN:VCALENDAR\nEND:VCAL": "",
	} {
		got := ""
		Read([]byte(text), func(item Item) bool { got = item.Skipped; return true })
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestStartAndEndFitTogether(t *testing.T) {
	for lines, want := range map[string]string{
		"DTEND;VALUE=DATE:20260102":                                "2026-01-01T09:00:00Z to ",
		"DTEND:20260101T100000":                                    "2026-01-01T09:00:00Z to 2026-01-01T10:00:00Z",
		"DTEND;TZID=Asia/Tokyo:20260101T190000":                    "2026-01-01T09:00:00Z to 2026-01-01T19:00:00[Asia/Tokyo]",
		"X-MICROSOFT-CDO-ALLDAYEVENT:TRUE\nDTEND:20260101T100000Z": "2026-01-01T09:00:00Z to 2026-01-01T10:00:00Z",
		"DTSTART:20270101T090000Z\nDTEND:20260101T100000Z":         "2026-01-01T09:00:00Z to 2026-01-01T10:00:00Z",
		"END:VEVENT\nBEGIN:VEVENT\nUID:t\nDTSTART:20260101T000000\nX-MICROSOFT-CDO-ALLDAYEVENT:TRUE": "2026-01-01 to ",
	} {
		var e *calendar.Event
		Read(fmt.Appendf(nil, minimal, lines), func(i Item) bool { e = i.Event; return true })
		if got := e.Start.String() + " to " + e.End.String(); got != want {
			t.Errorf("%s: %s, want %s", lines, got, want)
		}
	}
}

func TestReadStopsWhenTold(t *testing.T) {
	n := 0
	Read([]byte("BEGIN:VEVENT\nEND:VEVENT\nBEGIN:VEVENT\nUID:2\nEND:VEVENT\n"), func(Item) bool { n++; return false })
	if n != 1 {
		t.Errorf("yield was called %d times", n)
	}
}

func TestRecord(t *testing.T) {
	item := only(t, "DTEND:20260101T100000Z\nSUMMARY:Plan\\nmore\nDESCRIPTION:What to do\nLOCATION:Here\nRRULE:FREQ=DAILY;COUNT=3\nORGANIZER;CN=Anna:mailto:Anna@Example.com\nATTENDEE:mailto:bob@example.com\nATTENDEE;CN=Hall:urn:x:1")
	item.Calendar = "Work"
	r, err := Record(item, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := calendar.Decode(r.Details)
	if err != nil || again.UID != "u" {
		t.Error(err)
	}
	begin := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	if r.Ref != "u" || r.Kind != store.Event || r.Title != "Plan" || r.Body != "What to do\n\nHere" || r.Folder != "Work" || !r.Time.Equal(begin) ||
		r.Until.Before(begin.Add(49*time.Hour)) || r.Until.After(begin.Add(5*24*time.Hour)) {
		t.Errorf("%+v", r)
	}
	if fmt.Sprint(r.From, r.To) != "[{Anna anna@example.com}] [{ bob@example.com} {Hall }]" {
		t.Error(r.From, r.To)
	}
	many, err := Record(only(t, "SUMMARY:x"+strings.Repeat("é", 3000)+"\nORGANIZER:tel:+49 30 1234567\n"+strings.Repeat("ATTENDEE:mailto:a@example.com\n", 1000)), nil)
	if err != nil || len(many.From)+len(many.To) != store.MaxParties || many.From[0].Address != "+49301234567" || many.Title != "x"+strings.Repeat("é", store.MaxTitleBytes/2-1) {
		t.Errorf("%v, %d and %d parties, %v", err, len(many.From), len(many.To), many.From)
	}
	if r, err := Record(Item{Event: &calendar.Event{}}, nil); err == nil {
		t.Errorf("nothing became %v", r)
	}
	for lines, want := range map[string]string{
		"RRULE:FREQ=DAILY":                          "2026-01-01T09:00:00Z " + store.Forever.Format(time.RFC3339),
		"RRULE:FREQ=DAILY\nEXDATE:20260101T090000Z": "2026-01-02T09:00:00Z " + store.Forever.Format(time.RFC3339),
		"RRULE:FREQ=DAILY\nEND:VEVENT\nBEGIN:VEVENT\nUID:u\nSUMMARY:Early\nRECURRENCE-ID:20260103T090000Z\nDTSTART:20251231T090000Z": "2025-12-31T09:00:00Z " + store.Forever.Format(time.RFC3339),
		"EXDATE:20260101T090000Z": "2026-01-01T09:00:00Z 2026-01-02T01:00:00Z",
	} {
		r, err := Record(only(t, lines), nil)
		if err != nil || r.Time.Format(time.RFC3339)+" "+r.Until.Format(time.RFC3339) != want {
			t.Errorf("%s: %v to %v, %v", lines, r.Time, r.Until, err)
		}
	}
}

func TestARecordThatIsTooLongLosesDescriptions(t *testing.T) {
	text := "DESCRIPTION:" + strings.Repeat("x", 900_000)
	lines := text
	for i := range 5 {
		lines += fmt.Sprintf("\nEND:VEVENT\nBEGIN:VEVENT\nUID:u\nRECURRENCE-ID:2026010%dT090000Z\nDTSTART:2026010%dT100000Z\n%s%d", i+1, i+1, text, i)
	}
	r, err := Record(only(t, lines), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := calendar.Decode(r.Details)
	if err != nil || len(r.Details) > store.MaxDetailsBytes || len(r.Body) > store.MaxBodyBytes || len(e.Description) != 900_000 || len(e.Overrides) != 5 || len(e.Notes) != 1 {
		t.Errorf("%d, %d bytes, %v", len(r.Details), len(r.Body), err)
	}
	long := strings.Repeat("x", store.MaxDetailsBytes)
	e.Description = long
	if r, err = Record(Item{Event: e}, nil); err != nil {
		t.Fatal(err)
	}
	if e, err = calendar.Decode(r.Details); err != nil || e.Description != "" {
		t.Error("the description of the event is still there", err)
	}
	e.Location = long
	if _, err = Record(Item{Event: e}, nil); err == nil {
		t.Error("a location of four million bytes is taken")
	}
}

func FuzzRead(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte("BEGIN:VEVENT\n0;0=\nDTSTART;TZID=\r\r\n \x00:1\nEND:VEVENT"))
	f.Add([]byte("BEGIN:VEVENT\nDTSTART;TZID=\"a:20260101T000000\nCATEGORIES:\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		last, events := int64(-1), 0
		counts := Read(data, func(item Item) bool {
			if item.Offset < last || item.Offset > int64(len(data)) {
				t.Fatalf("offset %d after %d", item.Offset, last)
			}
			last = item.Offset
			if (item.Event == nil) == (item.Skipped == "") {
				t.Fatalf("%+v is both or neither", item)
			}
			if item.Event == nil {
				return true
			}
			events++
			text, err := calendar.Encode(item.Event)
			if err != nil {
				t.Fatal(err)
			}
			again, err := calendar.Decode(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if text2, err := calendar.Encode(again); err != nil || !bytes.Equal(text, text2) {
				t.Fatalf("%v\n%s\n%s", err, text, text2)
			}
			if _, err := Record(item, nil); err != nil {
				t.Fatal(err)
			}
			return true
		})
		if counts.Events != events {
			t.Fatalf("%d events, counted %d", events, counts.Events)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	archive, err := txtar.ParseFile("testdata/google.txtar")
	if err != nil {
		b.Fatal(err)
	}
	in := string(archive.Files[0].Data)
	var data []byte
	for i := range 2000 {
		data = append(data, strings.ReplaceAll(in, "@google.com", fmt.Sprintf("%d@google.com", i))...)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if counts := Read(data, func(Item) bool { return true }); counts.Events != 4000 {
			b.Fatal(counts)
		}
	}
}
