package sqlite_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
	"github.com/loomrun/loom/store/sqlite"
)

// shelf is a source of generated mail: boxes with lines that say what stands in them.
//
//	5 ref minute text   a record at position 5
//	5 skip reason       what could not be taken
//	5 lose              what is there no more
type shelf []box

type box struct {
	name  string
	stamp string
	keep  bool // the lines are what is new
	lines []string
}

// Two states of a source. From the first to the second boxes were added to, changed, moved, and taken away.
var (
	firstShelf = shelf{
		{"a", "1", false, []string{"0 m0 0 apple", "10 m1 1 apple pear", "20 skip no sender", "30 m2 2 plum", "40 m3 3 plum apple"}},
		{"b", "1", false, []string{"0 m4 4 apple", "10 m1 1 apple pear", "20 m5 5 pear"}},
		{"c", "1", false, nil},
		{"d/e", "1", false, []string{"0 m6 6 plum plum", "10 m7 7 plum", "20 m8 8 apple plum pear"}},
		{"f", "1", false, []string{"0 m9 9 gone", "10 m2 2 plum"}},
	}
	secondShelf = shelf{
		{"a", "2", true, []string{"20 lose", "50 m10 10 apple", "60 skip no date", "70 m11 11 pear"}},
		{"b", "2", false, []string{"0 m5 5 pear", "10 m4 40 changed", "20 m12 12 plum"}},
		{"c", "2", false, []string{"0 m7 7 plum", "10 m13 13 apple"}},
		{"d/e", "2", false, []string{"0 m6 6 plum plum", "5 m8 8 apple plum pear changed"}},
		{"g", "1", false, []string{"0 m2 2 plum", "10 m14 14 pear"}},
	}
)

func (s shelf) Containers(context.Context) iter.Seq2[source.Container, error] {
	return func(yield func(source.Container, error) bool) {
		for _, b := range s {
			if !yield(source.Container{Name: b.name, Stamp: b.stamp, Size: int64(len(b.lines))}, nil) {
				return
			}
		}
	}
}

func (s shelf) Read(_ context.Context, c source.Container, before source.Before, sink source.Sink) (string, error) {
	for _, b := range s {
		if b.name != c.Name {
			continue
		}
		if b.keep {
			if before.Note != "note "+c.Name+" 1" {
				return "", fmt.Errorf("container %s has the note %q", c.Name, before.Note)
			}
			if err := sink.Keep(); err != nil {
				return "", err
			}
		}
		for _, line := range b.lines {
			if err := give(sink, line); err != nil {
				return "", err
			}
		}
		return "note " + c.Name + " " + b.stamp, nil
	}
	return "", fmt.Errorf("no container %s", c.Name)
}

func give(sink source.Sink, line string) error {
	first, rest, _ := strings.Cut(line, " ")
	position, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return err
	}
	what, rest, _ := strings.Cut(rest, " ")
	switch what {
	case "skip":
		return sink.Skip(position, rest)
	case "lose":
		return sink.Lose(position)
	}
	minute, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(minute)
	if err != nil {
		return err
	}
	return sink.Put(position, &store.Record{
		Ref: what, Kind: store.Mail, Title: text, Body: "It is about " + text, Time: day.Add(time.Duration(n) * time.Minute), Keys: []string{"key of " + what},
		From: []store.Party{{Name: "Grace", Address: "grace@example.com"}},
	})
}

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// killedVariable makes this program one that syncs a store and kills itself.
const killedVariable = "LOOM_TEST_STORE_KILLED"

func TestMain(m *testing.M) {
	if order := os.Getenv(killedVariable); order != "" {
		os.Exit(child(order))
	}
	// A random case is three stores: a few of them each time, and as many as the flag says where one looks for faults.
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// child syncs; its order is the state of the source, before (odd) or behind (even) which commit it kills itself, and the path. One that
// was not killed says how many such moments there were.
func child(order string) int {
	var path string
	var state, at int
	if _, err := fmt.Sscan(order, &state, &at, &path); err != nil {
		panic(err)
	}
	moment := 0
	pass := func(string) error {
		if moment++; moment == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Committing: pass, Committed: pass})
	if err == nil {
		do := syncShelf
		if state == writingState {
			do = writeSome
		}
		err = errors.Join(do(context.Background(), db, state), db.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(moment)
	return 0
}

func syncShelf(ctx context.Context, s store.Store, state int) error {
	_, err := source.Sync(ctx, s, "post", []shelf{firstShelf, secondShelf}[state], source.Options{Now: func() time.Time { return day }, BatchChanges: 2})
	return err
}

// writingState orders a child to write documents instead.
const writingState = 2

// writeSome writes documents of a generation: those that the next one has too move to another label or are replaced.
func writeSome(ctx context.Context, s store.Store, generation int) error {
	work := label.OfRecord("ada", "email", "mail.mbox", []string{"work"})
	own := label.OfRecord("ada", "document", "pages.markdown", nil)
	document := func(ref, text string, l label.Label) store.Written {
		return store.Written{Label: l, Record: &store.Record{Ref: ref, Kind: store.Page, Title: text, Body: text, Time: day, Keys: []string{"path:" + ref}}}
	}
	documents := []store.Written{document("d1", "apple", work), document("d2", "pear", own), document("d3", "plum", own)}
	if generation == writingState {
		documents = []store.Written{document("d1", "apple pear", own), document("d3", "gone", own), document("d4", "apple", label.Join(work, own))}
	}
	trust, err := s.Trust(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, trust, documents, day)
}

// What a killed program was writing is there as a whole or not at all, and can be written again.
func TestKilledWritingIsWholeOrNothing(t *testing.T) {
	before := shelved(t, 1)
	db, err := sqlite.Open(t.Context(), before, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeSome(t.Context(), db, 1), db.Close()); err != nil {
		t.Fatal(err)
	}
	nothing := dump(t, before)
	whole := copied(t, before)
	const moments = 2
	if _, n := killed(t, whole, writingState, 0); n != moments {
		t.Fatalf("there are %d moments to be killed in, not %d: it is one transaction no more", n, moments)
	}
	all := dump(t, whole)
	if all == nothing {
		t.Fatal("nothing was written")
	}
	for at, want := range map[int]string{1: nothing, 2: all} {
		path := copied(t, before)
		if yes, _ := killed(t, path, writingState, at); !yes {
			t.Fatal("not killed")
		}
		if got := dump(t, path); got != want {
			t.Errorf("killed at %d the store is\n%s\nwant\n%s", at, got, want)
		}
		if want == nothing {
			killed(t, path, writingState, 0)
			if got := dump(t, path); got != all {
				t.Errorf("written again the store is\n%s\nwant\n%s", got, all)
			}
		}
	}
}

// killed runs a child and tells whether it was killed, as ordered, and of one that was not how many moments there were.
func killed(t *testing.T, path string, state, at int) (yes bool, moments int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", killedVariable, state, at, path))
	output, err := c.CombinedOutput()
	if err == nil {
		if moments, err = strconv.Atoi(string(output)); err != nil {
			t.Fatal(err)
		}
		return false, moments
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, output)
	}
	return true, 0
}

// dump is all that a store holds, and fails where it is not whole.
func dump(t *testing.T, path string) string {
	t.Helper()
	if err := intact(t.Context(), path); err != nil {
		t.Error(err)
	}
	if n := number(t, path, "SELECT count(*) FROM orphan"); n > 0 {
		t.Errorf("%d records are looked after still", n)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	v, err := db.View(t.Context(), store.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var b strings.Builder
	for _, s := range v.Sources() {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	for r, err := range v.Records(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, r.ID, r.Record, r.Label.Canonical(), r.Observed)
	}
	skipped, err := v.Skipped(t.Context(), "post", 100)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, skipped)
	for _, text := range []string{"apple", "pear OR plum OR changed", "gone", ""} {
		for _, rank := range []store.Rank{store.ByRecency, store.ByScore} {
			q, err := query.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			found, err := v.Search(t.Context(), store.Search{Query: q, Limit: 20, Rank: rank})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(&b, text, ":")
			for _, r := range found.Rows {
				fmt.Fprint(&b, " ", r.Ref)
			}
			fmt.Fprintln(&b)
		}
	}
	i, err := db.Import(t.Context(), "post", day)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Abandon()
	for _, name := range []string{"a", "b", "c", "d/e", "f", "g"} {
		stamp, note, ok := i.Known(name)
		fmt.Fprintln(&b, name, stamp, note, ok)
	}
	return b.String()
}

// shelved makes a store whose source was synced up to a state: 0 is not at all.
func shelved(t *testing.T, state int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loom.db")
	if err := sqlite.Create(t.Context(), path, store.Owner{Subject: "ada", Zone: "UTC", Facets: []string{"work"}, Made: day}); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.AddSource(t.Context(), store.Source{Name: "post", Kind: store.MailSource, Format: "mbox", Location: "/", Facets: []string{"work"}, Added: day}); err != nil {
		t.Fatal(err)
	}
	for n := range state {
		if err := syncShelf(t.Context(), db, n); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// copied gives a copy of a store that nobody has open.
func copied(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "loom.db")
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// A sync that is killed right before or right after any of its transactions is completed by the next one: then the store is, to the
// byte of all it shows, the one that nobody killed. So it is where the next one is killed as well.
func TestKilledSyncIsCompletedByTheNext(t *testing.T) {
	for state, name := range []string{"the first sync", "a sync of what changed"} {
		t.Run(name, func(t *testing.T) {
			before := shelved(t, state)
			whole := copied(t, before)
			const transactions = 8
			_, moments := killed(t, whole, state, 0)
			want := dump(t, whole)
			if moments < 2*transactions {
				t.Fatalf("the sync has %d moments to be killed in, less than %d", moments, 2*transactions)
			}
			for at := 1; at <= moments; at++ {
				t.Run(fmt.Sprint(at), func(t *testing.T) {
					t.Parallel()
					path := copied(t, before)
					if yes, _ := killed(t, path, state, at); !yes {
						t.Fatal("not killed")
					}
					if err := intact(t.Context(), path); err != nil {
						t.Error(err)
					}
					if at%4 == 0 { // what is left to do may be over before
						killed(t, path, state, 1+at/4)
					}
					db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
					if err != nil {
						t.Fatal(err)
					}
					err = syncShelf(t.Context(), db, state)
					if err := errors.Join(err, db.Close()); err != nil {
						t.Fatal(err)
					}
					if got := dump(t, path); got != want {
						t.Errorf("the store is\n%s\nwant\n%s", got, want)
					}
				})
			}
		})
	}
}
