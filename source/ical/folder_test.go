package ical_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/source/ical"
	"github.com/loomrun/loom/store"
)

// told is a sink that writes down what it is given.
type told struct {
	lines []string
	full  error // after the first item
}

func (s *told) Keep() error { s.lines = append(s.lines, "keep"); return nil }

func (s *told) Put(position int64, r *store.Record) error {
	s.lines = append(s.lines, fmt.Sprintf("%d %s in %s at %s", position, r.Ref, r.Folder, r.Time.UTC().Format(time.RFC3339)))
	return s.full
}

func (s *told) Skip(position int64, reason string) error {
	s.lines = append(s.lines, fmt.Sprintf("%d skipped: %s", position, reason))
	return s.full
}

func (s *told) Lose(int64) error { return errors.New("a file of events loses nothing") }

func event(uid string) string {
	return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTART:20260301T090000\r\nEND:VEVENT\r\n"
}

func written(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
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

func TestReaderReadsFilesAndFolders(t *testing.T) {
	root := written(t, map[string]string{
		"home.ics":         "BEGIN:VCALENDAR\r\nX-WR-CALNAME:Home\r\n" + event("a") + "END:VCALENDAR\r\n",
		"old/WORK.ICS":     "BEGIN:VCALENDAR\r\n" + event("b") + "BEGIN:VEVENT\r\nUID:bad\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		"notes.txt":        "BEGIN:VCALENDAR\r\n",
		".hidden/gone.ics": "BEGIN:VCALENDAR\r\n" + event("c") + "END:VCALENDAR\r\n",
	})
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		location string
		want     string
	}{
		{root, "home.ics: 36 a in Home at 2026-03-01T08:00:00Z; old/WORK.ICS: 17 b in WORK at 2026-03-01T08:00:00Z, 75 skipped: the event has no DTSTART"},
		{filepath.Join(root, "old/WORK.ICS"), ".: 17 b in WORK at 2026-03-01T08:00:00Z, 75 skipped: the event has no DTSTART"},
		{filepath.Join(root, "notes.txt"), ".: "},
	} {
		reader := ical.Reader(tc.location, berlin)
		var got []string
		for c, err := range reader.Containers(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			var sink told
			if _, err := reader.Read(context.Background(), c, source.Before{}, &sink); err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Name+": "+strings.Join(sink.lines, ", "))
		}
		if all := strings.Join(got, "; "); !strings.HasPrefix(all, tc.want) {
			t.Errorf("%s:\n got %s\nwant %s", tc.location, all, tc.want)
		}
	}
}

func TestReadingEnds(t *testing.T) {
	root := written(t, map[string]string{"a.ics": "BEGIN:VCALENDAR\r\n" + event("a") + event("b") + "END:VCALENDAR\r\n"})
	large := filepath.Join(root, "large.ics")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, ical.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	full := errors.New("full")
	for _, tc := range []struct {
		name, file string
		ctx        context.Context
		sink       *told
		want       string
		items      int
	}{
		{"with the sink's error", "a.ics", context.Background(), &told{full: full}, "full", 1},
		{"with its context", "a.ics", canceled, &told{}, "context canceled", 0},
		{"where there is no file", "b.ics", context.Background(), &told{}, "no such file", 0},
		{"before a file that is too large", "large.ics", context.Background(), &told{}, "exceeds 64 MiB", 0},
		{"behind the last event", "a.ics", context.Background(), &told{}, "<nil>", 2},
	} {
		_, err := ical.Reader(root, nil).Read(tc.ctx, source.Container{Name: tc.file}, source.Before{}, tc.sink)
		if !strings.Contains(fmt.Sprint(err), tc.want) || len(tc.sink.lines) != tc.items {
			t.Errorf("%s: %v after %q", tc.name, err, tc.sink.lines)
		}
	}
}

func TestPlacesAreDetected(t *testing.T) {
	const calendar = "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"
	root := written(t, map[string]string{
		"a/b/c.ics": calendar, "a/notes.txt": "x",
		"empty.ics": "", "mail.mbox": "From ada\n", "short.ics": "BEGIN:VCAL",
		"export": "\ufeff\r\n begin:vcalendar\r\n",
		"text/x": calendar,
	})
	if err := os.Mkdir(filepath.Join(root, "nothing"), 0o700); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range []string{"a", "a/b/c.ics", "a/notes.txt", "empty.ics", "mail.mbox", "short.ics", "export", "text", "nothing", "missing"} {
		if format, ok := ical.Detect(filepath.Join(root, name)); ok {
			found = append(found, name+" "+format)
		}
	}
	if want := []string{"a ics", "a/b/c.ics ics", "export ics"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
