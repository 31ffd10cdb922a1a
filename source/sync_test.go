package source_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// script is a reader that does what it is told.
type script struct {
	containers []source.Container
	broken     error // ends the list
	read       map[string]func(ctx context.Context, before source.Before, to source.Sink) (string, error)
	log        []string
}

func (s *script) Containers(context.Context) iter.Seq2[source.Container, error] {
	return func(yield func(source.Container, error) bool) {
		for _, c := range s.containers {
			if !yield(c, nil) {
				return
			}
		}
		if s.broken != nil {
			yield(source.Container{}, s.broken)
		}
	}
}

func (s *script) Read(ctx context.Context, c source.Container, before source.Before, to source.Sink) (string, error) {
	s.log = append(s.log, strings.TrimSpace(fmt.Sprint(c.Name, " ", before.Stamp, " ", before.Note)))
	read := s.read[c.Name]
	if read == nil {
		read = puts(c.Name)
	}
	return read(ctx, before, to)
}

// puts reads records at positions 0, 10, 20, ...
func puts(names ...string) func(ctx context.Context, before source.Before, to source.Sink) (string, error) {
	return func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
		for i, name := range names {
			if err := to.Put(int64(10*i), message(name)); err != nil {
				return "", err
			}
		}
		return "read", nil
	}
}

func message(ref string) *store.Record { return &store.Record{Ref: ref, Kind: store.Mail, Title: ref} }

// ledger is a store that writes down what an import does to it. As the contract says, it is for one goroutine: the race detector sees another.
type ledger struct {
	store.Store
	known    map[string]string // stamps
	fail     int               // of the Apply that fails, counted from 1
	noFinish error
	noImport error
	applies  int
	log      []string
	skipped  []store.Skip
}

func (l *ledger) Import(context.Context, string, time.Time) (store.Import, error) {
	if l.noImport != nil {
		return nil, l.noImport
	}
	return l, nil
}

func (l *ledger) Source() store.Source { return store.Source{} }
func (l *ledger) Abandon()             { l.log = append(l.log, "abandon") }

func (l *ledger) Known(name string) (stamp, note string, ok bool) {
	stamp, ok = l.known[name]
	if ok {
		note = "note of " + name
	}
	return stamp, note, ok
}

func (l *ledger) Listed(_ context.Context, there map[string]bool) error {
	var names []string
	for name := range there {
		names = append(names, name)
	}
	slices.Sort(names)
	l.log = append(l.log, "listed "+strings.Join(names, ","))
	return nil
}

var errDisk = errors.New("the disk is full")

func (l *ledger) Apply(ctx context.Context, changes []store.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.applies++; l.applies == l.fail {
		return errDisk
	}
	for _, c := range changes {
		text := fmt.Sprintf("%s %s", []string{"?", "begin", "put", "skip", "lose", "done"}[c.Op], c.Container)
		switch c.Op {
		case store.Begin:
			if c.Keep {
				text += " keep"
			}
		case store.Put:
			text += fmt.Sprintf(" %d %s", c.Position, c.Record.Ref)
			if c.Indexed == nil || c.Indexed.Hash != c.Record.Hash() {
				text += " not indexed"
			}
		case store.Skipped:
			l.skipped = append(l.skipped, store.Skip{Container: c.Container, Position: c.Position, Reason: c.Reason})
			text += fmt.Sprintf(" %d %s", c.Position, c.Reason)
		case store.Lost:
			text += fmt.Sprintf(" %d", c.Position)
		case store.Done:
			l.known[c.Container] = c.Stamp
			text += fmt.Sprintf(" %s %s", c.Stamp, c.Note)
		}
		l.log = append(l.log, text)
	}
	return nil
}

func (l *ledger) Finish(_ context.Context, problem string, _ time.Time) (store.Counts, error) {
	l.log = append(l.log, strings.TrimSpace("finish "+problem))
	return store.Counts{Skipped: int64(len(l.skipped))}, l.noFinish
}

func (l *ledger) View(context.Context, store.Scope) (store.View, error) { return looker{l: l}, nil }

type looker struct {
	store.View
	l *ledger
}

func (v looker) Close() error { return nil }
func (v looker) Skipped(_ context.Context, _ string, limit int) ([]store.Skip, error) {
	return v.l.skipped[:min(limit, len(v.l.skipped))], nil
}

func container(name string) source.Container {
	return source.Container{Name: name, Stamp: "s-" + name, Size: 100}
}

func clock() func() time.Time {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// run syncs within a bubble: where a goroutine is left behind, the bubble never ends, which is an error.
func run(t *testing.T, to *ledger, from source.Reader, o source.Options) (r source.Report, err error) {
	t.Helper()
	if to.known == nil {
		to.known = map[string]string{}
	}
	o.Now = clock()
	synctest.Test(t, func(t *testing.T) { r, err = source.Sync(t.Context(), to, "post", from, o) })
	return r, err
}

func TestSync(t *testing.T) {
	type reads = map[string]func(ctx context.Context, before source.Before, to source.Sink) (string, error)
	for _, tc := range []struct {
		name    string
		reader  script
		known   map[string]string
		batch   int
		log     string
		read    string
		problem string
	}{
		{
			name: "nothing is there",
			log:  "listed / finish",
		},
		{
			name:   "what is known is not read",
			reader: script{containers: []source.Container{container("a"), container("b"), container("c")}},
			known:  map[string]string{"a": "s-a", "b": "former"},
			log:    "listed a,b,c / begin b / put b 0 b / done b s-b read / begin c / put c 0 c / done c s-c read / finish",
			read:   "b former note of b, c",
		},
		{
			name:   "a container without items",
			reader: script{containers: []source.Container{container("a")}, read: reads{"a": puts()}},
			log:    "listed a / begin a / done a s-a read / finish",
			read:   "a",
		},
		{
			name:   "in small batches",
			reader: script{containers: []source.Container{container("a")}, read: reads{"a": puts("x", "y", "z")}},
			batch:  1,
			log:    "listed a / begin a / put a 0 x / put a 10 y / put a 20 z / done a s-a read / finish",
			read:   "a",
		},
		{
			name: "kept and lost",
			reader: script{containers: []source.Container{container("a")}, read: reads{"a": func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
				return "n", errors.Join(to.Keep(), to.Lose(3), to.Put(7, message("x")), to.Skip(9, "no\n date\t"))
			}}},
			log:  "listed a / begin a keep / lose a 3 / put a 7 x / skip a 9 no date / done a s-a n / finish",
			read: "a",
		},
		{
			name: "a container that cannot be opened",
			reader: script{containers: []source.Container{container("a"), container("b")}, read: reads{"a": func(context.Context, source.Before, source.Sink) (string, error) {
				return "", errors.New("open a: permission denied")
			}}},
			log:  "listed a,b / begin a keep / skip a -1 open a: permission denied / begin b / put b 0 b / done b s-b read / finish",
			read: "a, b",
		},
		{
			name: "a container that fails halfway",
			reader: script{containers: []source.Container{container("a")}, read: reads{"a": func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
				return "", errors.Join(to.Put(0, message("x")), errors.New("input/output error"))
			}}},
			log:  "listed a / begin a / put a 0 x / skip a -1 input/output error / finish",
			read: "a",
		},
		{
			name: "a reader that says it was called off, and was not",
			reader: script{containers: []source.Container{container("a")}, read: reads{"a": func(context.Context, source.Before, source.Sink) (string, error) {
				return "", context.Canceled
			}}},
			log:  "listed a / begin a keep / skip a -1 context canceled / finish",
			read: "a",
		},
		{
			name:    "a list that breaks off",
			reader:  script{containers: []source.Container{container("a")}, broken: errors.New("the disk\nfailed")},
			log:     "begin a / put a 0 a / done a s-a read / finish could not be listed: the disk failed",
			read:    "a",
			problem: "could not be listed: the disk failed",
		},
		{
			name: "a record that none can be",
			reader: script{containers: []source.Container{container("a")}, read: reads{"a": func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
				return "", errors.Join(to.Put(5, &store.Record{Ref: "x"}), to.Put(6, message("y")))
			}}},
			log:  `listed a / begin a / skip a 5 not taken: there is no kind of record "" / put a 6 y / done a s-a / finish`,
			read: "a",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := &ledger{known: tc.known}
			r, err := run(t, to, &tc.reader, source.Options{BatchChanges: tc.batch})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(to.log, " / "); strings.ReplaceAll(got, "  ", " ") != tc.log {
				t.Errorf("did\n%s, want\n%s", got, tc.log)
			}
			if got := strings.Join(tc.reader.log, ", "); got != tc.read {
				t.Errorf("read %s, want %s", got, tc.read)
			}
			if tc.batch == 1 && to.applies < len(to.log)-2 {
				t.Errorf("%d transactions", to.applies)
			}
			if r.Source != "post" || r.Problem != tc.problem || r.Took != time.Second || r.Complete() != (tc.problem == "" && len(to.skipped) == 0) || len(r.Skips) != len(to.skipped) {
				t.Errorf("the report is %+v", r)
			}
		})
	}
}

func TestSyncEndsWithWhatIsWrong(t *testing.T) {
	endless := func(ctx context.Context, _ source.Before, to source.Sink) (string, error) {
		for n := 0; ; n++ {
			if err := to.Put(int64(n), message(fmt.Sprint(n))); err != nil {
				return "", err
			}
		}
	}
	deaf := func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
		for n := range 100_000 {
			_ = to.Put(int64(n), message(fmt.Sprint(n)))
		}
		return "", nil
	}
	for _, tc := range []struct {
		name string
		to   ledger
		read func(ctx context.Context, before source.Before, to source.Sink) (string, error)
		want string
		log  string // how it ends
	}{
		{"no import", ledger{noImport: store.ErrBusy}, nil, store.ErrBusy.Error(), ""},
		{"the first batch fails", ledger{fail: 1}, endless, errDisk.Error(), "abandon"},
		{"a later batch fails", ledger{fail: 3}, endless, errDisk.Error(), "abandon"},
		{"the last batch fails", ledger{fail: 1}, puts("x"), errDisk.Error(), "abandon"},
		{"a batch fails, and the reader does not hear it", ledger{fail: 1}, deaf, errDisk.Error(), "abandon"},
		{"the end fails", ledger{noFinish: errDisk}, puts("x"), errDisk.Error(), "finish"},
		{"kept late", ledger{}, func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
			return "", errors.Join(to.Put(0, message("x")), to.Keep())
		}, "a reader kept earlier items after it had given some", "abandon"},
		{"kept late, unheard", ledger{}, func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
			_, _ = to.Put(0, message("x")), to.Keep()
			return "", nil
		}, "a reader kept earlier items after it had given some", "abandon"},
		{"lost without Keep", ledger{}, func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
			return "", to.Lose(1)
		}, "a reader took away an item without keeping the others", "abandon"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from := &script{containers: []source.Container{container("a"), container("b")}}
			from.read = map[string]func(context.Context, source.Before, source.Sink) (string, error){"a": tc.read}
			r, err := run(t, &tc.to, from, source.Options{BatchChanges: 10})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%+v, %v, want %s", r, err, tc.want)
			}
			if last := append([]string{""}, tc.to.log...); last[len(last)-1] != tc.log {
				t.Errorf("did %v", tc.to.log)
			}
			if len(from.log) > 1 && strings.HasPrefix(tc.want, "a reader") {
				t.Errorf("read on: %v", from.log)
			}
		})
	}
}

func TestSyncCanBeCalledOffAnywhere(t *testing.T) {
	why := errors.New("that is enough")
	for at := range 60 {
		to := &ledger{known: map[string]string{}}
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			n := 0
			step := func() {
				if n++; n > at {
					stop(why)
				}
			}
			from := &script{containers: []source.Container{container("a"), container("b")}, read: map[string]func(context.Context, source.Before, source.Sink) (string, error){}}
			for _, c := range from.containers {
				from.read[c.Name] = func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
					for i := range 25 {
						step()
						if err := to.Put(int64(i), message(fmt.Sprint(c.Name, i))); err != nil {
							return "", err
						}
					}
					return "", nil
				}
			}
			if at == 0 {
				stop(why)
			}
			_, err := source.Sync(ctx, to, "post", from, source.Options{Now: clock(), BatchChanges: 4})
			ended := at >= 50
			if (err == nil) != ended || err != nil && !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
				t.Errorf("called off at %d: %v", at, err)
			}
			if last := to.log[len(to.log)-1]; last != map[bool]string{true: "finish", false: "abandon"}[ended] {
				t.Errorf("called off at %d: the last was %s", at, last)
			}
		})
	}
}

func TestProgressGoesForward(t *testing.T) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint("m", i)
	}
	from := &script{
		containers: []source.Container{{Name: "a", Stamp: "1", Size: 5000}, {Name: "b", Stamp: "1", Size: 300}, {Name: "c", Stamp: "1", Size: 70}, {Name: "d", Stamp: "1"}},
		read: map[string]func(context.Context, source.Before, source.Sink) (string, error){
			"a": puts(names...), // its positions go beyond its size
			"c": func(context.Context, source.Before, source.Sink) (string, error) { return "", errDisk },
			"d": puts(names...),
		},
	}
	var told []source.Progress
	to := &ledger{known: map[string]string{"b": "1"}}
	if _, err := run(t, to, from, source.Options{Progress: func(p source.Progress) { told = append(told, p) }}); err != nil {
		t.Fatal(err)
	}
	if len(told) < 20 || !told[0].Listing {
		t.Fatalf("told %v", told)
	}
	last := source.Progress{}
	for _, p := range told[1:] {
		if p.Listing || p.Done < last.Done || p.Items < last.Items || p.Done > p.Total || p.Total != 5370 {
			t.Errorf("%+v follows %+v", p, last)
		}
		last = p
	}
	if last != (source.Progress{Done: 5370, Total: 5370, Items: 2000}) {
		t.Errorf("the last is %+v", last)
	}
}

func TestReasonsAreOneShortLine(t *testing.T) {
	long := strings.Repeat("ü\n", 10_000)
	from := &script{containers: []source.Container{container("a")}, broken: errors.New(long), read: map[string]func(context.Context, source.Before, source.Sink) (string, error){
		"a": func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
			return "", errors.Join(to.Skip(0, long), to.Skip(1, strings.Repeat("ü", 10_000)), to.Skip(2, "a\xff\u2028b\u0085 c"), errors.New(long))
		},
	}}
	to := &ledger{}
	r, err := run(t, to, from, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reasons := []string{r.Problem}
	for _, s := range r.Skips {
		reasons = append(reasons, s.Reason)
	}
	if len(reasons) != 5 {
		t.Errorf("%d reasons", len(reasons))
	}
	for _, s := range reasons {
		if len(s) > 510 || len(s) < 4 || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\t\u0085\u2028") {
			t.Errorf("reason %q", s)
		}
	}
}

func TestReportNamesTheFirstSkips(t *testing.T) {
	from := &script{containers: []source.Container{{Name: "a", Size: math.MaxInt32}}, read: map[string]func(context.Context, source.Before, source.Sink) (string, error){
		"a": func(_ context.Context, _ source.Before, to source.Sink) (string, error) {
			for n := range 50 {
				if err := to.Skip(int64(n), "no"); err != nil {
					return "", err
				}
			}
			return "", nil
		},
	}}
	r, err := run(t, &ledger{}, from, source.Options{})
	if err != nil || r.Counts.Skipped != 50 || len(r.Skips) != source.MaxShownSkips || r.Skips[19].Position != 19 || r.Complete() {
		t.Errorf("%+v, %v", r, err)
	}
}
