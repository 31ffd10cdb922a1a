package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// invented is a reader of records that are made up; before gives a word before each.
type invented struct {
	records int
	before  func(n int) error
}

func (r invented) Containers(context.Context) iter.Seq2[source.Container, error] {
	return func(yield func(source.Container, error) bool) { yield(source.Container{Name: "one", Stamp: "1"}, nil) }
}

func (r invented) Read(_ context.Context, _ source.Container, _ source.Before, sink source.Sink) (string, error) {
	for n := range r.records {
		if err := r.before(n); err != nil {
			return "", err
		}
		if err := sink.Put(int64(n), &store.Record{Ref: fmt.Sprint(n), Kind: store.Page, Title: "x"}); err != nil {
			return "", err
		}
	}
	return "", nil
}

// opening makes an instance with these sources.
func opening(t *testing.T, names ...string) opened {
	t.Helper()
	ctx := context.Background()
	root := t.TempDir()
	made, err := instance.Create(ctx, func(string) (string, bool) { return root, true }, "x", store.Owner{Subject: "ada", Zone: "UTC", Made: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := made.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, name := range names {
		if _, err := s.AddSource(ctx, store.Source{Name: name, Kind: store.PagesSource, Format: "markdown", Location: filepath.Join(root, name), Added: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	return opened{made, s}
}

func (in opened) records(t *testing.T) string {
	t.Helper()
	var all []string
	err := in.ownView(context.Background(), func(v store.View) error {
		for _, s := range v.Sources() {
			if s.Name != store.FileCabinet {
				all = append(all, fmt.Sprintf("%s %d", s.Name, s.Records))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// run syncs the sources a and b of an instance with these readers.
func (in opened) run(t *testing.T, ctx context.Context, asJSON bool, readers map[string]source.Reader) (out, errs string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	r := syncs{
		streams: streams{out: &o, err: &e, program: "loom"}, to: in.Store, asJSON: asJSON,
		reader: func(s store.Source) (source.Reader, error) {
			if reader := readers[s.Name]; reader != nil {
				return reader, nil
			}
			return nil, errors.New("no reader")
		},
	}
	for _, name := range []string{"a", "b"} {
		r.sources = append(r.sources, store.Source{Name: name})
	}
	err = r.run(ctx)
	return o.String(), e.String(), err
}

func always(int) error { return nil }

func TestWhatFailsKeepsNoOtherSourceFromBeingSynced(t *testing.T) {
	in := opening(t, "a", "b")
	out, errs, err := in.run(t, context.Background(), false, map[string]source.Reader{"b": invented{3, always}})
	if status, said := statusOf(err); status != ExitFailed || said != "a could not be synced: no reader" {
		t.Errorf("status %d, %s", status, said)
	}
	if !strings.HasPrefix(out, "b: 3 new, 0 changed, 0 gone, 0 unchanged, 0 skipped (") || errs != "" {
		t.Errorf("out %q, errors %q", out, errs)
	}
	out, errs, err = in.run(t, context.Background(), true, nil)
	if status, said := statusOf(err); status != ExitFailed || said != "b could not be synced: no reader" || errs != "loom: a could not be synced: no reader\n" {
		t.Errorf("status %d, %s, errors %q", status, said, errs)
	}
	if strings.Count(out, "\n") != 2 || strings.Count(out, `"complete":false,"problem":null,"error":"no reader"`) != 2 {
		t.Errorf("out %q", out)
	}
}

// What came in before an interrupt stays, and the sources behind it are left.
func TestAnInterruptEndsASyncThatTheNextOneFinishes(t *testing.T) {
	in := opening(t, "a", "b")
	ctx, interrupt := context.WithCancel(context.Background())
	out, errs, err := in.run(t, ctx, false, map[string]source.Reader{
		"a": invented{5, func(n int) error {
			if n == 3 {
				interrupt()
			}
			return nil
		}},
		"b": invented{5, func(int) error { t.Error("the sync went on"); return nil }},
	})
	if !errors.Is(err, context.Canceled) || out != "" || errs != "" {
		t.Errorf("%v, out %q, errors %q", err, out, errs)
	}
	out, _, err = in.run(t, context.Background(), false, map[string]source.Reader{"a": invented{5, always}, "b": invented{5, always}})
	if err != nil || in.records(t) != "a 5, b 5" || strings.Count(out, "\n") != 2 {
		t.Errorf("%v, %s, out %q", err, in.records(t), out)
	}
}

// signalling sends this process an interrupt when the first line is written, and lets the next sync wait for the instance.
type signalling struct {
	lines bytes.Buffer
	in    opened
	held  store.Import
}

func (s *signalling) Write(line []byte) (int, error) {
	if s.held == nil {
		held, err := s.in.Import(context.Background(), store.FileCabinet, time.Now())
		if err != nil {
			return 0, err
		}
		s.held = held
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			return 0, err
		}
	}
	return s.lines.Write(line)
}

func TestASignalInterruptsTheVerb(t *testing.T) {
	in := opening(t, "a")
	out := &signalling{in: in}
	c := newSync(streams{in: strings.NewReader(""), out: out, err: io.Discard, program: "loom"})
	c.SetArgs([]string{"--instance", in.Folder})
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(context.Background())
	if status, said := statusOf(err); status != ExitInterrupted || said != "interrupted; the next loom sync goes on from here" {
		t.Errorf("status %d, %s", status, said)
	}
	if lines := out.lines.String(); !strings.HasPrefix(lines, "a: 0 new") || strings.Count(lines, "fc: ") != 0 {
		t.Errorf("it printed %q", lines)
	}
	if out.held == nil {
		t.Fatal("nothing was printed")
	}
	out.held.Abandon()
}

// unpurged is a store that removes a source and fails to overwrite what is left of it, or fails before.
type unpurged struct {
	store.Store
	removes bool
}

func (u unpurged) RemoveSource(ctx context.Context, name string) (n int64, err error) {
	if u.removes {
		if n, err = u.Store.RemoveSource(ctx, name); err != nil {
			return n, err
		}
	}
	return n, errors.New("the disk is full")
}

func TestARemovalThatFailsSaysHowFarItCame(t *testing.T) {
	in := opening(t, "a")
	for _, tc := range []struct {
		removes bool
		want    string
	}{
		{false, "the disk is full"},
		{true, "a was removed, but the files of the instance may still hold what it had, until the next source is removed: the disk is full"},
	} {
		failing := opened{in.Instance, unpurged{in.Store, tc.removes}}
		if err := removeSource(context.Background(), streams{out: io.Discard, err: io.Discard, program: "loom"}, failing, "a", true); err == nil || err.Error() != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
}

// changing is a store in which another program puts the source into another facet while the question stands.
type changing struct {
	store.Store
	views *int
}

func (c changing) View(ctx context.Context, scope store.Scope) (store.View, error) {
	if *c.views++; *c.views == 2 {
		if _, err := c.SetFacets(ctx, "a", []string{"family"}, time.Now()); err != nil {
			return nil, err
		}
	}
	return c.Store.View(ctx, scope)
}

func TestAFacetIsNotAddedToWhatWasNotShown(t *testing.T) {
	ctx := context.Background()
	in := opening(t, "a")
	for _, f := range []string{"family", "work"} {
		if err := in.AddFacet(ctx, f, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	err := addFacet(ctx, streams{out: io.Discard, err: io.Discard, program: "loom"}, opened{in.Instance, changing{in.Store, new(int)}}, "a", "work", true)
	if err == nil || err.Error() != "the facets of a were changed meanwhile; nothing was changed now" {
		t.Error(err)
	}
	there, _, err := sourceInFacet(ctx, streams{}, in, "a", "work")
	if err != nil || len(there.Facets) != 1 || there.Facets[0] != "family" {
		t.Errorf("it is in %q, %v", there.Facets, err)
	}
}

func TestIncomplete(t *testing.T) {
	for _, tc := range []struct {
		skipped int64
		unread  int
		status  int
		want    string
	}{
		{0, 0, ExitDone, ""},
		{1, 0, ExitStopped, "incomplete: 1 item could not be taken"},
		{0, 2, ExitStopped, "incomplete: 2 sources could not be read as a whole"},
		{3, 1, ExitStopped, "incomplete: 3 items could not be taken, and 1 source could not be read as a whole"},
	} {
		if status, said := statusOf(incomplete(tc.skipped, tc.unread)); status != tc.status || said != tc.want {
			t.Errorf("%d skipped, %d unread: %d, %q", tc.skipped, tc.unread, status, said)
		}
	}
}

func TestProgressLine(t *testing.T) {
	for _, tc := range []struct {
		how   source.Progress
		width int
		want  string
	}{
		{source.Progress{Listing: true}, 80, "mail: looking at what is there"},
		{source.Progress{Items: 1}, 80, "mail: 1 item"},
		{source.Progress{Done: 0, Total: 10}, 80, "mail: [------------------------]   0 %, 0 items"},
		{source.Progress{Done: 5, Total: 10, Items: 1200}, 80, "mail: [############------------]  50 %, 1200 items"},
		{source.Progress{Done: 11, Total: 10, Items: 2}, 80, "mail: [########################] 100 %, 2 items"},
		{source.Progress{Done: -1, Total: 10, Items: 2}, 80, "mail: [------------------------]   0 %, 2 items"},
		{source.Progress{Done: 1 << 55, Total: 1 << 56}, 80, "mail: [############------------]  50 %, 0 items"},
		{source.Progress{Done: 5, Total: 10}, 10, "mail: [##"},
		{source.Progress{Listing: true}, 31, "mail: looking at what is there"},
		{source.Progress{Listing: true}, 30, "mail: looking at what is ther"},
		{source.Progress{Listing: true}, 0, ""},
	} {
		if got := progressLine("mail", tc.how, tc.width); got != tc.want {
			t.Errorf("%+v in %d: %q, want %q", tc.how, tc.width, got, tc.want)
		}
	}
}

func TestTheStateOfASource(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for _, tc := range []struct {
		is   store.SourceState
		want string
	}{
		{store.SourceState{}, "never synced"},
		{store.SourceState{Records: 3}, "incomplete: no sync has come to its end yet"},
		{store.SourceState{Skipped: 1}, "incomplete: no sync has come to its end yet"},
		{store.SourceState{Synced: at, Complete: true, Records: 3}, "complete"},
		{store.SourceState{Synced: at, Skipped: 1}, "incomplete: 1 skipped"},
		{store.SourceState{Synced: at, Problem: "gone"}, "incomplete: gone"},
		{store.SourceState{Synced: at, Problem: "gone", Skipped: 2}, "incomplete: gone; 2 skipped"},
	} {
		if got := sourceState(tc.is); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.is, got, tc.want)
		}
	}
}

func TestSizes(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB",
		2 << 40: "2.0 TiB", 5000 << 40: "5000.0 TiB",
	} {
		if got := sizeText(bytes); got != want {
			t.Errorf("%d is %s, want %s", bytes, got, want)
		}
	}
}

func TestNamesFromLocations(t *testing.T) {
	for location, want := range map[string]string{
		"/home/ada/Mail": "mail", "/m/Work Mail (2024).mbox": "work-mail-2024", "/c/Familie Müller.ics": "familie-m-ller",
		"/": "contacts", "/x/日本.vcf": "contacts", "/x/.vcf": "contacts", "/x/" + strings.Repeat("ab-", 30): strings.TrimSuffix(strings.Repeat("ab-", 22)[:64], "-"),
	} {
		got := nameOf(location, store.ContactsSource)
		if got != want {
			t.Errorf("%s is named %s, want %s", location, got, want)
		}
		if err := (store.Source{Name: got, Kind: store.ContactsSource, Format: "vcard"}).Check(); err != nil {
			t.Error(err)
		}
	}
}
