package formats

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// samples is a file of each format, below a folder of its name.
var samples = map[string]string{
	"mbox/a.mbox":          "From ada@example.org Mon Mar  2 07:14:00 2026\nFrom: ada@example.org\nSubject: x\nDate: Mon, 2 Mar 2026 08:14:00 +0100\n\nx\n",
	"maildir/cur/1:2,S":    "From: ada@example.org\nSubject: x\nDate: Mon, 2 Mar 2026 08:14:00 +0100\n\nx\n",
	"maildir/new/.keep":    "",
	"eml/a.eml":            "From: ada@example.org\nSubject: x\nDate: Mon, 2 Mar 2026 08:14:00 +0100\n\nx\n",
	"ics/a.ics":            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260302T100000\nEND:VEVENT\nEND:VCALENDAR\n",
	"vcard/a.vcf":          "BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEND:VCARD\n",
	"markdown/a.md":        "# A\n",
	"gpx/a.gpx":            `<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg><trkpt lat="52.5" lon="13.4"><time>2026-03-02T07:00:00Z</time></trkpt></trkseg></trk></gpx>`,
	"owntracks/a.rec":      "2026-03-02T07:00:00Z\t*                 \t" + `{"_type":"location","lat":52.5,"lon":13.4,"tst":1772434800}` + "\n",
	"activitywatch/a.json": `{"buckets":{"w":{"id":"w","type":"currentwindow","client":"c","hostname":"h","events":[{"timestamp":"2026-03-02T07:00:00Z","duration":60,"data":{"app":"Editor","title":"x"}}]}}}`,
}

func written(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range samples {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// taker is a sink that counts records and takes note of their kinds and times.
type taker struct{ lines []string }

func (s *taker) Keep() error { return nil }
func (s *taker) Put(_ int64, r *store.Record) error {
	s.lines = append(s.lines, fmt.Sprintf("%s %s", r.Kind, r.Time.UTC().Format(time.DateTime)))
	return nil
}

func (s *taker) Skip(_ int64, reason string) error {
	s.lines = append(s.lines, "skipped: "+reason)
	return nil
}
func (s *taker) Lose(int64) error { return nil }

func read(t *testing.T, r source.Reader) string {
	t.Helper()
	var sink taker
	for c, err := range r.Containers(context.Background()) {
		if err == nil {
			_, err = r.Read(context.Background(), c, source.Before{}, &sink)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(sink.lines, ", ")
}

// Every format of every kind is told by what is there, and read.
func TestEachFormatIsFoundAndRead(t *testing.T) {
	root := written(t)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"mbox": "mail 2026-03-02 07:14:00", "maildir": "mail 2026-03-02 07:14:00", "eml": "mail 2026-03-02 07:14:00",
		"ics": "event 2026-03-02 01:00:00", "vcard": "contact 0001-01-01 00:00:00", "gpx": "place 2026-03-02 07:00:00",
		"owntracks": "place 2026-03-02 07:00:00", "activitywatch": "activity 2026-03-02 07:00:00",
	}
	found := 0
	for _, kind := range store.SourceKinds {
		if len(Names(kind)) == 0 {
			t.Errorf("%s has no formats", kind)
		}
		for _, name := range Names(kind) {
			found++
			location := filepath.Join(root, name)
			if got, err := Detect(kind, location); err != nil || got != name {
				t.Errorf("%s in %s: %q, %v", kind, name, got, err)
			}
			r, err := Reader(store.Source{Name: "x", Kind: kind, Format: name, Location: location}, Setting{Zone: tokyo})
			if err != nil {
				t.Fatal(err)
			}
			got := read(t, r)
			if name == "markdown" { // a page without a date has that of its file
				got, _, _ = strings.Cut(got, " ")
				want[name] = "page"
			}
			if got != want[name] {
				t.Errorf("%s gives %q, want %q", name, got, want[name])
			}
		}
	}
	if found != len(formats) || found != len(want) {
		t.Errorf("%d formats were read, there are %d", found, len(formats))
	}
}

func TestTheFileCabinetIsThePagesOfTheInstance(t *testing.T) {
	pages := filepath.Join(written(t), "markdown")
	r, err := Reader(store.Source{Name: store.FileCabinet, Kind: store.PagesSource, Format: "markdown"}, Setting{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, r); !strings.HasPrefix(got, "page ") {
		t.Errorf("it holds %q", got)
	}
}

func TestWhatIsNotFound(t *testing.T) {
	root := written(t)
	for _, tc := range []struct {
		kind store.SourceKind
		at   string
		want string
	}{
		{store.MailSource, "ics", "holds no mail that loom can read (mbox, maildir, eml); but there is ics, which is of the kind calendar"},
		{store.PlacesSource, "activitywatch", "holds no places that loom can read (gpx, owntracks); but there is activitywatch, which is of the kind activity"},
		{store.ActivitySource, "gpx", "holds no activity that loom can read (activitywatch); but there is gpx, which is of the kind places"},
		{store.CalendarSource, "nothing", "holds no calendar that loom can read (ics)"},
	} {
		if _, err := Detect(tc.kind, filepath.Join(root, tc.at)); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%s in %s: %v, want %s", tc.kind, tc.at, err, tc.want)
		}
	}
	if Names("post") != nil {
		t.Error("there is a kind of source that is none")
	}
	if _, err := Reader(store.Source{Name: "x", Kind: store.MailSource, Format: "ics"}, Setting{}); err == nil || !strings.Contains(err.Error(), "which this version of loom does not read") {
		t.Errorf("mail in ics: %v", err)
	}
	if kinds := slices.Compact(slices.Collect(func(yield func(store.SourceKind) bool) {
		for _, f := range formats {
			if !yield(f.kind) {
				return
			}
		}
	})); len(kinds) != len(store.SourceKinds) {
		t.Errorf("the formats are not in order of their kinds: %q", kinds)
	}
}
