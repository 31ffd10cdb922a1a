package tracks

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sink keeps what a reading gives.
type sink struct {
	records   []*store.Record
	positions []int64
	skipped   []string
	full      int // items after which it fails, 0 is never
	count     int // counts only
	last      int64
}

var errFull = errors.New("full")

func (s *sink) Keep() error      { return errors.New("nothing is kept") }
func (s *sink) Lose(int64) error { return errors.New("nothing is lost") }
func (s *sink) Put(at int64, r *store.Record) error {
	s.last = at
	if s.count >= 0 {
		s.records, s.positions = append(s.records, r), append(s.positions, at)
		if len(s.records) == s.full {
			return errFull
		}
		return nil
	}
	s.count--
	return nil
}

func (s *sink) Skip(at int64, reason string) error {
	s.last = at
	s.skipped = append(s.skipped, fmt.Sprintf("%d: %s", at, reason))
	if s.full == -1 {
		return errFull
	}
	return nil
}

func read(t *testing.T, format, text string) *sink {
	t.Helper()
	s := &sink{}
	if err := formats[format].read(t.Context(), strings.NewReader(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is a record as the golden files show it, on one line.
type shown struct {
	At      int64          `json:"at"`
	Ref     string         `json:"ref"`
	Title   string         `json:"title,omitempty"`
	Time    time.Time      `json:"time"`
	Until   time.Time      `json:"until,omitzero"`
	Body    string         `json:"body,omitempty"`
	Silent  bool           `json:"unsearched"`
	Details jsontext.Value `json:"details"`
}

func TestFilesBecomeTheRecordsInTheGoldenFiles(t *testing.T) {
	for file, format := range map[string]string{
		"garmin.gpx": GPX, "osmand.gpx": GPX,
		"recorder.rec": OwnTracks, "export.json": OwnTracks, "list.json": OwnTracks, "lines.jsonl": OwnTracks, "single.json": OwnTracks,
		"activitywatch.json": ActivityWatch,
	} {
		t.Run(file, func(t *testing.T) {
			location := filepath.Join("testdata", file)
			if got, ok := Detect(location); !ok || got != format {
				t.Errorf("detected as %q", got)
			}
			r, err := Reader(format, location)
			if err != nil {
				t.Fatal(err)
			}
			s := &sink{}
			for c, err := range r.Containers(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Read(t.Context(), c, source.Before{}, s); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(location)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for i, r := range s.records {
				line, err := json.Marshal(shown{s.positions[i], r.Ref, r.Title, r.Time, r.Until, r.Body, r.Unsearched, r.Details})
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "%s\n", line)
				begins := "{"
				if format == GPX {
					begins = "<"
				}
				if at := text[s.positions[i]:]; !bytes.HasPrefix(at, []byte(begins)) && !bytes.HasPrefix(at, []byte("2026-")) {
					t.Errorf("at %d there is %.20q", s.positions[i], at)
				}
			}
			for _, skipped := range s.skipped {
				fmt.Fprintf(&got, "skipped %s\n", skipped)
			}
			golden := location + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const (
	gpxHead = `<gpx version="1.1">`
	point   = `<wpt lat="1" lon="2"><time>2026-01-02T03:04:05Z</time></wpt>`
	message = `{"_type":"location","lat":1,"lon":2,"tst":1767323045}`
	window  = `{"timestamp":"2026-01-02T09:00:00Z","duration":1,"data":{"app":"A"}}`
)

func TestFilesThatCannotBeReadToTheirEnd(t *testing.T) {
	long := strings.Repeat("x", 2*MaxItemBytes)
	for _, c := range []struct {
		name, format, text string
		records            int
		skipped            string
	}{
		{"an empty file", GPX, "", 0, ""},
		{"another document", GPX, "<html/>", 0, "0: the file holds no GPX"},
		{"only a comment", GPX, "<!-- gpx -->", 0, "12: the file holds no GPX"},
		{"no XML", GPX, "{}", 0, "2: the file holds no GPX"},
		{"a tag that is not closed", GPX, gpxHead + point + "<wpt></gpx>", 1, "84: the file is damaged XML from here (line 1); nothing behind this place was read"},
		{"an end that is missing", GPX, gpxHead + point + "<wpt", 1, "79: the file is damaged XML from here (line 1: it ends too early; the export may have been cut short); nothing behind this place was read"},
		{"an entity of a document type", GPX, `<!DOCTYPE gpx [<!ENTITY e "1">]>` + gpxHead + point + "<name>&e;</name></gpx>", 1, "117: the file is damaged XML from here (line 1); nothing behind this place was read"},
		{"elements within elements", GPX, gpxHead + point + strings.Repeat("<a>", 2*maxDepth), 1, "268: more than 64 elements stand within each other; nothing behind this place was read"},
		{"an endless text", GPX, gpxHead + point + long, 1, "1052672: an item of more than 1 MiB stands here; nothing behind it was read"},
		{"a character set nobody knows", GPX, `<?xml version="1.0" encoding="x-none"?>` + gpxHead + point, 0, "0: the file is damaged XML from here; nothing behind this place was read"},
		{"a point without a time and a damaged end", GPX, gpxHead + `<wpt lat="1" lon="2"/><`, 0, "41: the file is damaged XML from here (line 1: it ends too early; the export may have been cut short); nothing behind this place was read; also, 1 point has no time: it says where, but not when"},

		{"an empty file", OwnTracks, "", 0, ""},
		{"an empty list", OwnTracks, "[]", 0, ""},
		{"cut short", OwnTracks, "[\n", 0, "1: the file is damaged JSON from here: it ends too early; the export may have been cut short"},
		{"an object of something else", OwnTracks, "{\n\"a\":[{}]}", 0, "0: the file holds no locations of OwnTracks: a list of them, or an object with the list as its member data"},
		{"objects one after the other", OwnTracks, "{\n\"_type\":\"location\"," + message[20:] + "[" + message + "]", 2, ""},
		{"a line too long", OwnTracks, message + "\n{" + long + "}\n" + message, 2, "54: the line is longer than 1 MiB"},
		{"an item too long", OwnTracks, "[" + message + ",{\"a\":\"" + long + "\"}," + message + "]", 1, "54: an item of more than 1 MiB stands here; nothing behind it was read"},
		{"a member too long", OwnTracks, "{\n\"a\":\"" + long + "\"}", 0, "5: an item of more than 1 MiB stands here; nothing behind it was read"},
		{"no JSON", OwnTracks, "[" + message + "," + message + "}", 2, "108: the file is damaged JSON from here; nothing behind this place was read"},
		{"nested beyond measure", OwnTracks, strings.Repeat("[", 20_000), 0, "1: the file is damaged JSON from here; nothing behind this place was read"},

		{"an empty file", ActivityWatch, " ", 0, ""},
		{"another document", ActivityWatch, "[1]", 0, "0: the file is no export of ActivityWatch: an object with the member buckets"},
		{"another object", ActivityWatch, `{"a":{"buckets":{}}}`, 0, "0: the file is no export of ActivityWatch: an object with the member buckets"},
		{"buckets of another type", ActivityWatch, `{"buckets":[]}`, 0, "0: the file is no export of ActivityWatch: an object with the member buckets"},
		{"cut short", ActivityWatch, `{"buckets":{"b":{"events":[` + window + `,{"timest`, 1, "95: the file is damaged JSON from here: it ends too early; the export may have been cut short"},
		{"cut short between events", ActivityWatch, `{"buckets":{"b":{"events":[` + window, 1, "95: the file is damaged JSON from here: it ends too early; the export may have been cut short"},
		{"cut short behind a name", ActivityWatch, `{"buckets"`, 0, "10: the file is damaged JSON from here: it ends too early; the export may have been cut short"},
		{"something behind the end", ActivityWatch, `{"buckets":{"b":{"events":[` + window + `]}}} {}`, 1, "99: something stands behind the end of the export; it was not read"},
		{"an event too long", ActivityWatch, `{"buckets":{"b":{"events":[{"data":"` + long + `"}]}}}`, 0, "27: an item of more than 1 MiB stands here; nothing behind it was read"},
		{"no JSON", ActivityWatch, `{"buckets":{"b":{"events":[` + window + `,oh]}}}`, 1, "95: the file is damaged JSON from here; nothing behind this place was read"},
	} {
		t.Run(c.format+" "+c.name, func(t *testing.T) {
			s := read(t, c.format, c.text)
			if len(s.records) != c.records {
				t.Errorf("%d records, want %d", len(s.records), c.records)
			}
			if got := strings.Join(s.skipped, "\n"); got != c.skipped {
				t.Errorf("got  %s\nwant %s", got, c.skipped)
			}
		})
	}
}

func TestGPXInAnotherCharacterSet(t *testing.T) {
	s := read(t, GPX, `<?xml version="1.0" encoding="ISO-8859-1"?><gpx><wpt lat="1" lon="2"><time>2026-01-02T03:04:05Z</time><name>Caf`+"\xe9"+`</name></wpt></gpx>`)
	if len(s.records) != 1 || s.records[0].Title != "Café" {
		t.Errorf("%v, skipped %v", s.records, s.skipped)
	}
}

func TestAnEventThatGoesOnIsOneRecord(t *testing.T) {
	export := func(data string, seconds int) string {
		s := read(t, ActivityWatch, fmt.Sprintf(`{"buckets":{"b":{"events":[{"timestamp":"2026-01-02T09:00:00Z","duration":%d,"data":%s}]}}}`, seconds, data))
		return s.records[0].Ref
	}
	one := export(`{"app":"A","title":"é"}`, 5)
	for _, data := range []string{`{"app":"A","title":"é"}`, `{ "title":"\u00e9", "app":"A" }`} {
		if got := export(data, 50); got != one {
			t.Errorf("%s is another record: %s, not %s", data, got, one)
		}
	}
	if got := export(`{"app":"B","title":"é"}`, 5); got == one {
		t.Error("another window is the same record")
	}
}

func TestAReadingEndsWithTheSinkTheFileAndTheContext(t *testing.T) {
	for format, text := range map[string]string{
		GPX:                 gpxHead + strings.Repeat(point, 2000) + "</gpx>",
		OwnTracks:           strings.Repeat(message+"\n", 2000),
		OwnTracks + " list": "[" + strings.Repeat(message+",", 2000),
		ActivityWatch:       `{"buckets":{"b":{"events":[` + strings.Repeat(window+",", 2000),
	} {
		t.Run(format, func(t *testing.T) {
			format, _, _ := strings.Cut(format, " ")
			readFrom := func(ctx context.Context, in io.Reader, s *sink) error { return formats[format].read(ctx, in, s) }
			s := &sink{full: 2}
			if err := readFrom(t.Context(), strings.NewReader(text), s); err != errFull || len(s.records) != 2 {
				t.Errorf("%v after %d records", err, len(s.records))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := readFrom(ctx, strings.NewReader(text), &sink{}); err != context.Canceled {
				t.Error(err)
			}
			s, broken := &sink{}, errors.New("broken disk")
			half := io.MultiReader(strings.NewReader(text[:len(text)/2]), iotest.ErrReader(broken))
			if err := readFrom(t.Context(), half, s); !errors.Is(err, broken) || len(s.skipped) > 0 {
				t.Errorf("%v, skipped %v", err, s.skipped)
			}
		})
	}
	for format, text := range map[string]string{GPX: gpxHead + "<", OwnTracks: "[}", ActivityWatch: "{}"} {
		if err := formats[format].read(t.Context(), strings.NewReader(text), &sink{full: -1}); err != errFull {
			t.Errorf("%s: %v", format, err)
		}
	}
	single := "{\n" + message[1:]
	if err := readOwnTracks(t.Context(), strings.NewReader(single), &sink{full: 1}); err != errFull {
		t.Error(err)
	}
}

func TestPlacesAreDetected(t *testing.T) {
	folder := t.TempDir()
	expect := func(want string) {
		t.Helper()
		if got, ok := Detect(folder); got != want || ok != (want != "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect("")
	write("z.json", "{}")
	write("y.rec", "nothing")
	write("x.gpx", "nothing")
	expect("")
	write("r.json", `{"buckets":{"tst":"_type"}}`)
	expect(ActivityWatch)
	write("q.json", `[`+message+`]`)
	expect(OwnTracks)
	write("p.rec", "2026-01-02T03:04:05Z\t*   \t{}")
	expect(OwnTracks)
	write("o.GPX", gpxHead)
	expect(GPX)
	if got, ok := Detect(filepath.Join(folder, "none")); ok {
		t.Error(got)
	}
	if _, err := Reader("kml", folder); err == nil {
		t.Error("a format that there is not")
	}
	r, err := Reader(GPX, folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), source.Container{Name: "gone.gpx"}, source.Before{}, &sink{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestPlacesKeepWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat, lon := rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lon")
		seconds := rapid.Int64Range(first.Unix(), last.Unix()-1).Draw(t, "seconds")
		r, reason := Place{Lat: lat, Lon: lon}.record(time.Unix(seconds, 0), "")
		if reason != "" {
			t.Fatal(reason)
		}
		var p Place
		if err := json.Unmarshal(r.Details, &p); err != nil {
			t.Fatal(err)
		}
		const half = 0.51e-7
		if d := p.Lat - lat; d > half || d < -half {
			t.Errorf("latitude %v became %v", lat, p.Lat)
		}
		if d := p.Lon - lon; d > half || d < -half {
			t.Errorf("longitude %v became %v", lon, p.Lon)
		}
		again, _ := p.record(r.Time, "")
		if again.Hash() != r.Hash() || r.Time.Unix() != seconds {
			t.Errorf("%+v became %+v", r, again)
		}
	})
}

func fuzz(f *testing.F, format string, seeds ...string) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if formats[format].wants(file) {
			f.Add(text)
		}
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &sink{}
		if err := formats[format].read(t.Context(), bytes.NewReader(text), s); err != nil {
			t.Fatal(err)
		}
		for i, r := range s.records {
			if r.Ref == "" || len(r.Ref) > store.MaxRefBytes || len(r.Title) > store.MaxTitleBytes || len(r.Body) > store.MaxBodyBytes ||
				len(r.Details) > store.MaxDetailsBytes || r.Time.Before(first) || !r.Time.Before(last) || !r.Until.IsZero() && r.Until.Before(r.Time) {
				t.Errorf("a record the store refuses: %+v", r)
			}
			if !r.Details.IsValid() {
				t.Errorf("details are no JSON: %s", r.Details)
			}
			if i > 0 && s.positions[i] <= s.positions[i-1] || s.positions[i] > 3*int64(len(text)) {
				t.Errorf("positions %v", s.positions)
			}
		}
	})
}

func FuzzGPX(f *testing.F) { fuzz(f, GPX, gpxHead+point, "<gpx><wpt><wpt/></wpt>") }

func FuzzOwnTracks(f *testing.F) { fuzz(f, OwnTracks, "["+message+"]", "{\n"+message[1:], message) }

func FuzzActivityWatch(f *testing.F) {
	fuzz(f, ActivityWatch, `{"buckets":{"b":{"events":[`+window+`]}}}`)
}

// endless is a text between a beginning and an end.
func endless(head, item, tail string, items int) io.Reader {
	parts := make([]io.Reader, 0, items/100+2)
	parts = append(parts, strings.NewReader(head))
	block := strings.Repeat(item, 100)
	for range items / 100 {
		parts = append(parts, strings.NewReader(block))
	}
	return io.MultiReader(append(parts, strings.NewReader(tail))...)
}

func benchmark(b *testing.B, format, head, item, tail string) {
	const items = 100_000
	b.SetBytes(int64(len(item) * items))
	b.ReportAllocs()
	for b.Loop() {
		if err := formats[format].read(b.Context(), endless(head, item, tail, items), &sink{count: -1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGPX(b *testing.B)       { benchmark(b, GPX, gpxHead, point, "</gpx>") }
func BenchmarkOwnTracks(b *testing.B) { benchmark(b, OwnTracks, "", message+"\n", "") }
func BenchmarkActivityWatch(b *testing.B) {
	benchmark(b, ActivityWatch, `{"buckets":{"b":{"events":[`, window+",", window+"]}}}")
}
