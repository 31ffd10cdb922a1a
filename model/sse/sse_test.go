package sse

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// all reads a stream to its end.
func all(r io.Reader) ([]Event, error) {
	reader := NewReader(r)
	var events []Event
	for {
		event, err := reader.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

// The format by example; the sections are those of the HTML standard's chapter on server-sent events.
func TestStreams(t *testing.T) {
	for _, tc := range []struct {
		name, stream string
		want         []Event
	}{
		{"nothing", "", nil},
		{"one event", "data: a\n\n", []Event{{"", "a"}}},
		{"no space behind the colon", "data:a\n\n", []Event{{"", "a"}}},
		{"one space only is taken away", "data:  a \n\n", []Event{{"", " a "}}},
		{"a name", "event: error\ndata: a\n\n", []Event{{"error", "a"}}},
		{"a name behind the data", "data: a\nevent: error\n\n", []Event{{"error", "a"}}},
		{"a name that is not kept", "event: error\n\ndata: a\n\n", []Event{{"", "a"}}},
		{"a name for one event", "event: x\ndata: a\n\ndata: b\n\n", []Event{{"x", "a"}, {"", "b"}}},
		{"several lines", "data: a\ndata\ndata: b\n\n", []Event{{"", "a\n\nb"}}},
		{"empty data", "data\n\ndata:\n\n", []Event{{"", ""}, {"", ""}}},
		{"data that looks like a field", "data: data: a\n\n", []Event{{"", "data: a"}}},
		{"comments", ": ping\n\n:\ndata: a\n: b\n\n", []Event{{"", "a"}}},
		{"other fields", "id: 7\nretry: 10\nwhat: x\ndata: a\nData: b\n data: c\n\n", []Event{{"", "a"}}},
		{"empty lines", "\n\n\ndata: a\n\n\n\n", []Event{{"", "a"}}},
		{"CRLF", "event: x\r\ndata: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []Event{{"x", "a\nb"}, {"", "c"}}},
		{"CR", "event: x\rdata: a\rdata: b\r\rdata: c\r\r", []Event{{"x", "a\nb"}, {"", "c"}}},
		{"mixed ends", "data: a\r\n\rdata: b\n\r\ndata: c\r\r\n", []Event{{"", "a"}, {"", "b"}, {"", "c"}}},
		{"a byte order mark", "\uFEFFdata: a\n\n", []Event{{"", "a"}}},
		{"a second byte order mark", "\uFEFF\uFEFFdata: a\n\ndata: b\n\n", []Event{{"", "b"}}},
		{"bytes that are not UTF-8", "data: \xff\n\n", []Event{{"", "\xff"}}},
		{"NUL", "data: \x00\n\n", []Event{{"", "\x00"}}},
		{"an end without the empty line", "data: a\n\ndata: b\n", []Event{{"", "a"}}},
		{"an end in a line", "data: a\n\ndata: b", []Event{{"", "a"}}},
		{"an end in a line end", "data: a\r\n\r\ndata: b\r\n", []Event{{"", "a"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole":         strings.NewReader(tc.stream),
				"by bytes":      iotest.OneByteReader(strings.NewReader(tc.stream)),
				"by halves":     iotest.HalfReader(strings.NewReader(tc.stream)),
				"end with data": iotest.DataErrReader(strings.NewReader(tc.stream)),
			} {
				got, err := all(r)
				if err != io.EOF {
					t.Errorf("%s: got error %v", how, err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: %s", how, diff)
				}
			}
		})
	}
}

// An event is handed on when its last byte is there; a reader that waits for more would hang.
func TestEventIsNotHeldBack(t *testing.T) {
	for _, stream := range []string{"data: a\n\n", "data: a\r\n\r\n", "data: a\r\n\r", "data: a\r\r"} {
		pipe, server := io.Pipe()
		go io.WriteString(server, stream) // and then nothing, without closing
		got, err := NewReader(pipe).Next()
		if err != nil || got.Data != "a" {
			t.Errorf("%q: got %v, %v", stream, got, err)
		}
		pipe.Close()
	}
}

func TestReadErrorIsPassedOn(t *testing.T) {
	broken := errors.New("broken")
	for _, stream := range []string{"", "data: a", "data: a\n", "data: a\n\ndata"} {
		_, err := all(io.MultiReader(strings.NewReader(stream), iotest.ErrReader(broken)))
		if err != broken {
			t.Errorf("%q: got %v", stream, err)
		}
	}
}

// repeat gives a text over and over, up to a number of bytes.
func repeat(text string, size int64) io.Reader {
	return io.LimitReader(&endless{text: text}, size)
}

type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		copied := copy(p[n:], e.text[e.at:])
		n += copied
		e.at = (e.at + copied) % len(e.text)
	}
	return n, nil
}

func TestLimits(t *testing.T) {
	line := "data:" + strings.Repeat("x", MaxLine-5)
	comment := ":" + strings.Repeat("x", 1022) + "\n"
	half := "data:" + strings.Repeat("x", MaxData/2) + "\n"
	for _, tc := range []struct {
		name   string
		stream io.Reader
		events int
		large  bool
	}{
		{"a line at its limit", strings.NewReader(line + "\n\n"), 1, false},
		{"a line over its limit", strings.NewReader(line + "x\n\n"), 0, true},
		{"a line without end", repeat("x", 1<<40), 0, true},
		{"a comment without end", io.MultiReader(strings.NewReader(":"), repeat("x", 1<<40)), 0, true},
		{"data at its limit", strings.NewReader(half + half[:len(half)-2] + "\n\n"), 1, false},
		{"data over its limit", strings.NewReader(half + half + "\n"), 0, true},
		{"data without end", repeat("data: more of it\n", 1<<40), 0, true},
		{"events at their limit", repeat("data\n\n", 6*MaxEvents), MaxEvents, false},
		{"events over their limit", repeat("data\n\n", 6*MaxEvents+6), MaxEvents, true},
		{"a stream at its limit", repeat(comment, MaxTotal), 0, false},
		{"a stream over its limit", repeat(comment, MaxTotal+1), 0, true},
		{"comments without end", repeat(comment, 1<<40), 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			events, err := all(tc.stream)
			if len(events) != tc.events || errors.Is(err, ErrTooLarge) != tc.large || !tc.large && err != io.EOF {
				t.Errorf("got %d events and %v", len(events), err)
			}
		})
	}
}

// Whatever the line ends and wherever the reads end, the same events come out.
func TestWrittenEventsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
		text := rapid.StringMatching(`[ a:é]{0,8}`)
		var want []Event
		var stream strings.Builder
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			name := text.Draw(t, "name")
			lines := rapid.SliceOfN(text, 1, 4).Draw(t, "lines")
			end := ends.Draw(t, "end") // one kind an event, since CR and then LF are one end
			fmt.Fprintf(&stream, "event: %s%s", name, end)
			for _, line := range lines {
				fmt.Fprintf(&stream, "data: %s%s:%s%s", line, end, line, end)
			}
			stream.WriteString(end)
			want = append(want, Event{name, strings.Join(lines, "\n")})
		}
		got, err := all(iotest.OneByteReader(strings.NewReader(stream.String())))
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", stream.String(), diff)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add("event: x\r\ndata: a\r\n\r\n: c\ndata\n\ndata: b")
	f.Add("\uFEFFdata:\n\r\ndata: a\rdata: b\r\r")
	f.Fuzz(func(t *testing.T, stream string) {
		whole, err := all(strings.NewReader(stream))
		if err != io.EOF && !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		parts, partsErr := all(iotest.OneByteReader(strings.NewReader(stream)))
		if diff := cmp.Diff(whole, parts); diff != "" || errors.Is(err, ErrTooLarge) != errors.Is(partsErr, ErrTooLarge) {
			t.Fatalf("depends on the reads: %s %v %v", diff, err, partsErr)
		}
		// A stream that goes on changes nothing of what was read.
		longer, _ := all(strings.NewReader(stream + "\n\ndata: more\n\n"))
		if len(longer) < len(whole) || !slices.Equal(longer[:len(whole)], whole) {
			t.Fatalf("got %v of a longer stream, %v before", longer, whole)
		}
	})
}
