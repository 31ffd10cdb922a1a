package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/storetest"
)

var day = time.Date(2026, 3, 19, 11, 0, 0, 0, time.UTC)

// world is the data of a person with two facets. Without the rest it is what only work has.
func world(whole bool) *storetest.Memory {
	m := storetest.NewMemory(store.Owner{Subject: "ada", Zone: "Europe/Berlin", Facets: []string{"family", "work"}, Made: day})
	add := func(name, facet string, titles ...string) {
		m.AddSource(store.SourceState{
			Source: store.Source{Name: name, Kind: store.MailSource, Format: "mbox", Location: "/" + name, Facets: []string{facet}, Added: day},
			Synced: day, Complete: true,
		})
		for i, title := range titles {
			m.Put(name, day, &store.Record{Ref: fmt.Sprint(name, i), Kind: store.Mail, Title: title, Body: title, Time: day.Add(time.Duration(i) * time.Hour)})
		}
	}
	add("office", "work", "tide tables", "review of the tide tables")
	if whole {
		add("home", "family", "a tide of visitors", "tide tide tide")
	}
	return m
}

// data is a store that is only read.
type data struct {
	store.Store
	view func(context.Context, store.Scope) (store.View, error)
}

func (d data) View(ctx context.Context, scope store.Scope) (store.View, error) {
	return d.view(ctx, scope)
}

func inMemory(whole bool) store.Store {
	return data{view: func(_ context.Context, scope store.Scope) (store.View, error) { return world(whole).View(scope), nil }}
}

// searching is a view whose search is as a test wants it.
type searching struct {
	store.View
	search func(context.Context) error
}

func (s searching) Search(ctx context.Context, q store.Search) (store.Result, error) {
	if err := s.search(ctx); err != nil {
		return store.Result{}, err
	}
	return s.View.Search(ctx, q)
}

func whoseSearch(search func(context.Context) error) store.Store {
	return data{view: func(_ context.Context, scope store.Scope) (store.View, error) {
		return searching{world(true).View(scope), search}, nil
	}}
}

// queue is a broker at work in a test.
type queue struct {
	*testing.T
	path string
	stop context.CancelFunc
	end  chan error

	mu    sync.Mutex
	lines []Line
}

// serveWork serves the facet work in a new folder. Within a bubble of synctest the time is the bubble's, so nothing may wait for the system.
func serveWork(t *testing.T, from store.Store) *queue {
	t.Helper()
	return serveIn(t, filepath.Join(t.TempDir(), "queue"), from)
}

func serveIn(t *testing.T, path string, from store.Store) *queue {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	q := &queue{T: t, path: path, stop: stop, end: make(chan error, 1)}
	ready := make(chan struct{})
	s := &Server{
		Folder: path, Store: from, Scope: store.Scope{Facets: []string{"work"}}, Run: "run-1",
		Ready: func() { close(ready) },
		Log: func(l Line) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.lines = append(q.lines, l)
		},
		changes: func(string) (<-chan struct{}, func()) { return nil, func() {} },
	}
	go func() { q.end <- s.Serve(ctx) }()
	select {
	case <-ready:
	case err := <-q.end:
		t.Fatal(err)
	}
	t.Cleanup(q.close)
	return q
}

func (q *queue) close() {
	q.stop()
	if err, running := <-q.end; running {
		if err != nil {
			q.Error(err)
		}
		close(q.end)
	}
}

// ends gives the error with which the broker ended by itself.
func (q *queue) ends() error {
	err := <-q.end
	close(q.end)
	return err
}

func (q *queue) outcomes() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []string
	for _, l := range q.lines {
		all = append(all, l.Run+" "+l.Verb+" "+l.Outcome)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (q *queue) names() []string {
	entries, err := os.ReadDir(q.path)
	if err != nil {
		q.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// broker is the id of the broker.
func (q *queue) broker() string {
	p, err := readPresence(q.path)
	if err != nil {
		q.Fatal(err)
	}
	p.close()
	return p.id
}

// put writes a request as a client does.
func (q *queue) put(id string, text []byte) {
	q.Helper()
	draft := filepath.Join(q.path, temporary+id)
	if err := errors.Join(os.WriteFile(draft, text, 0o600), os.Rename(draft, filepath.Join(q.path, id+requestEnd))); err != nil {
		q.Fatal(err)
	}
}

// asks puts a request for the broker and gives its id.
func (q *queue) asks(within time.Duration, argv ...string) string {
	id := rand.Text()
	q.put(id, request{broker: q.broker(), within: within, argv: argv}.JSON())
	return id
}

// reply waits for a reply, for a minute of the bubble at most.
func (q *queue) reply(id string) Reply {
	q.Helper()
	for range 60_000 {
		data, err := os.ReadFile(filepath.Join(q.path, id+replyEnd))
		if err == nil {
			r, err := readReply(data)
			if err != nil {
				q.Fatal(err)
			}
			return r
		}
		time.Sleep(time.Millisecond)
	}
	q.Fatal("no reply in a minute")
	return Reply{}
}

func TestAnswersAreThoseOfTheVerbsWithinTheScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole, part := serveWork(t, inMemory(true)), serveWork(t, inMemory(false))
		for _, argv := range [][]string{
			{"search", "tide"},
			{"search", "tide", "--rank", "score", "--limit", "1"},
			{"search", "visitors", "--json"},
			{"search", "x", "--sources", "home"},
			{"page", "discover", "--concise"},
			{"page", "inspect", "plan"},
			{"page", "read", "plan"},
			{"people", "bob@example.com"},
			{"calendar", "list", "--all"},
			{"context", "where"},
			{"profile"},
			{"search", "(tide"},
		} {
			got, err := Ask(t.Context(), whole.path, argv)
			if err != nil {
				t.Errorf("%q: %v", argv, err)
				continue
			}
			call, err := readverb.Parse(argv)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := call.Read(t.Context(), readverb.Reader{View: world(false).View(store.Scope{}), Now: time.Now()})
			var want []byte
			if err == nil {
				want, _ = answer.JSON()
			}
			if string(got.Stdout) != string(want) || got.Status != readverb.StatusOf(answer, err) || got.Code != "" {
				t.Errorf("%q: %+v\nwant %s, %v", argv, got, want, err)
			}
			// Nothing that is outside the scope can be told from what is not there (S6).
			blind, err := Ask(t.Context(), part.path, argv)
			if err != nil || string(blind.file()) != string(got.file()) {
				t.Errorf("%q: %s\nwithout what is outside: %s", argv, got.file(), blind.file())
			}
		}
		if names := whole.names(); len(names) != 1 {
			t.Errorf("the queue holds %q", names)
		}
	})
}

func TestWhatIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("disk on fire at /home/ada/secret")
		q := serveWork(t, inMemory(true))
		b := q.broker()
		for _, tc := range []struct {
			name, code, outcome string
			text                string
		}{
			{"nothing", Refused, "- refused", ""},
			{"garbage", Refused, "- refused", "\x00\xff"},
			{"too much", Refused, "- refused", strings.Repeat(" ", int(MaxRequestBytes)) + string(request{b, time.Second, []string{"profile"}}.JSON())},
			{"for another broker", Refused, "profile refused", string(request{anID, time.Second, []string{"profile"}}.JSON())},
			{"a bad argument", Refused, "search refused", string(request{b, time.Second, []string{"search", "x", "--limit", "0"}}.JSON())},
			{"another scope", Forbidden, "search forbidden", string(request{b, time.Second, []string{"search", "x", "--facets", "family"}}.JSON())},
			{"another instance", Forbidden, "profile forbidden", string(request{b, time.Second, []string{"profile", "--instance", "x"}}.JSON())},
			{"another verb", Forbidden, "- forbidden", string(request{b, time.Second, []string{"sync"}}.JSON())},
		} {
			id := rand.Text()
			q.lines = nil
			q.put(id, []byte(tc.text))
			if r := q.reply(id); r.Code != tc.code || r.Message == "" {
				t.Errorf("%s: %+v", tc.name, r)
			}
			synctest.Wait()
			if got := q.outcomes(); got != "run-1 "+tc.outcome {
				t.Errorf("%s: logged %q", tc.name, got)
			}
		}
		for name, from := range map[string]store.Store{
			"no view":   data{view: func(context.Context, store.Scope) (store.View, error) { return nil, broken }},
			"no search": whoseSearch(func(context.Context) error { return broken }),
		} {
			r, err := Ask(t.Context(), serveWork(t, from).path, []string{"search", "tide"})
			if err != nil || r.Code != Refused || strings.Contains(r.Message, "secret") {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
	})
}

// printed is a verb that prints so much.
type printed int

func (p printed) Read(context.Context, readverb.Reader) (readverb.Answer, error) {
	return readverb.Answer{Payload: strings.Repeat("x", int(p))}, nil
}

func TestAnswersAreBounded(t *testing.T) {
	v := &serving{Server: &Server{Store: inMemory(true), Scope: store.Scope{Facets: []string{"work"}}}}
	const around = len("\"\"\n")
	if r := v.read(t.Context(), printed(MaxAnswerBytes-around)); r.Code != "" || len(r.Stdout) != MaxAnswerBytes {
		t.Errorf("%d bytes, code %q", len(r.Stdout), r.Code)
	}
	if r := v.read(t.Context(), printed(MaxAnswerBytes-around+1)); r.Code != Refused || len(r.Stdout) != 0 {
		t.Errorf("%d bytes, code %q", len(r.Stdout), r.Code)
	}
}

func TestReadsEndInTheirTime(t *testing.T) {
	for name, search := range map[string]func(context.Context) error{
		"a store that notices":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"a store that is slow":   func(context.Context) error { time.Sleep(MaxTime); return nil },
		"a store that is broken": func(ctx context.Context) error { <-ctx.Done(); return errors.New("broken") },
	} {
		synctest.Test(t, func(t *testing.T) {
			q := serveWork(t, whoseSearch(search))
			asked := time.Now() // of the bubble, as all times here
			if r := q.reply(q.asks(2*time.Second, "search", "tide")); r.Code != Refused || r.Message != "the read was not done within 2s" {
				t.Errorf("%s: %+v", name, r)
			}
			if late := time.Since(asked); late > 2*time.Second+grace {
				t.Errorf("%s: the reply came after %s", name, late)
			}
			// Who waits no longer takes its question away.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if r, err := Ask(ctx, q.path, []string{"search", "tide"}); !errors.Is(err, context.DeadlineExceeded) && r.Code != Refused {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		})
	}
}

func TestWhatIsReadMayBeAskedAgainWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := serveWork(t, inMemory(true))
		id := rand.Text()
		for i := range 3 {
			q.put(id, request{q.broker(), MaxTime, []string{"profile"}}.JSON())
			q.reply(id)
			q.put(id, request{q.broker(), MaxTime, []string{"context", "where"}}.JSON()) // dropped: there is a reply
			time.Sleep(time.Second)                                                      // of the bubble: the queue was looked at
			must(t, os.Remove(filepath.Join(q.path, id+replyEnd)))
			time.Sleep(time.Second)
			if got, want := q.outcomes(), strings.TrimSpace(strings.Repeat("run-1 profile failed\n", i+1)); got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	})
}

func TestWhatIsNotReadIsBounded(t *testing.T) {
	v := &serving{known: map[string]*known{}}
	for i := range maxUnread/MaxAnswerBytes + 1 {
		v.known[fmt.Sprint(i)] = &known{}
		if got, want := v.admits(fmt.Sprint(i), MaxAnswerBytes), i < maxUnread/MaxAnswerBytes; got != want {
			t.Errorf("answer %d: admitted %v", i, got)
		}
	}
	if !v.admits("8", 0) {
		t.Error("a refusal is refused")
	}
	v.forget(time.Time{}, map[string]bool{"0": true})
	if !v.admits("8", MaxAnswerBytes) {
		t.Error("what was read still counts")
	}
	if v.admits("0", 1) {
		t.Error("an answer that nobody expects is written")
	}
}

func TestReadsEndWithTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := serveWork(t, whoseSearch(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
		result := make(chan error)
		go func() {
			r, err := Ask(t.Context(), q.path, []string{"search", "tide"})
			if r.Code == Refused { // it may still see that, or find nobody any more
				err = ErrNobody
			}
			result <- err
		}()
		time.Sleep(time.Second) // of the bubble: it is being read
		q.close()
		if err := <-result; !errors.Is(err, ErrNobody) {
			t.Error(err)
		}
		if q.outcomes() != "run-1 search refused" {
			t.Errorf("%q", q.outcomes())
		}
	})
}

func TestRunsAreNamedWhereNobodyNamesThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue")
	ctx, stop := context.WithCancel(t.Context())
	ready, end := make(chan struct{}), make(chan error, 1)
	var runs []string
	s := &Server{
		Folder: path, Store: inMemory(true), Scope: store.Scope{Facets: []string{"work"}},
		Ready: func() { close(ready) }, Log: func(l Line) { runs = append(runs, l.Run) },
	}
	go func() { end <- s.Serve(ctx) }()
	<-ready
	for range 2 {
		if r, err := Ask(t.Context(), path, []string{"search", "tide"}); err != nil || r.Code != "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	stop()
	if err := <-end; err != nil || len(runs) != 2 || !isID(runs[0]) || runs[0] != runs[1] {
		t.Errorf("%q, %v", runs, err)
	}
}

func TestOnlySoManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		q := serveWork(t, whoseSearch(func(context.Context) error { <-release; return nil }))
		var ids []string
		for range Workers {
			ids = append(ids, q.asks(MaxTime, "search", "tide"))
		}
		time.Sleep(time.Second) // of the bubble: all workers have one
		for range MaxWaiting + 3 {
			ids = append(ids, q.asks(MaxTime, "search", "tide"))
		}
		time.Sleep(time.Second)
		close(release)
		codes := map[string]int{}
		for _, id := range ids {
			codes[q.reply(id).Code]++
		}
		if codes[""] != Workers+MaxWaiting || codes[Refused] != 3 {
			t.Errorf("%v", codes)
		}
	})
}

func TestNothingStaysOfClientsThatDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := serveWork(t, inMemory(true))
		id := q.asks(time.Second, "search", "tide")
		q.reply(id) // and nobody takes it away
		draft := filepath.Join(q.path, temporary+"17")
		for _, name := range []string{temporary + "17", anID + replyEnd} {
			if err := os.WriteFile(filepath.Join(q.path, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(draft, time.Time{}, time.Now().Add(-keepDraft/2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got, want := q.names(), []string{temporary + "17", id + replyEnd, presenceName}; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("in time: %q, want %q", got, want)
		}
		time.Sleep(keepDraft)
		if got := q.names(); !slices.Equal(got, []string{presenceName}) {
			t.Errorf("later: %q", got)
		}
		// The id was forgotten with its reply.
		q.put(id, request{q.broker(), time.Second, []string{"profile"}}.JSON())
		q.reply(id)
	})
}

func TestRequestsOfAnEarlierBrokerAreNeverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir()
		must(t, os.Chmod(path, 0o700))
		// What only looks like a file of a queue is somebody's own.
		others := []string{"notes.txt", "no-id" + requestEnd, "no-id" + replyEnd, temporary, temporary + "x1", requestEnd, replyEnd, anID}
		slices.Sort(others)
		for _, name := range append([]string{anID + requestEnd, anID + replyEnd, presenceName, presenceDraft, temporary + "17"}, others...) {
			must(t, os.WriteFile(filepath.Join(path, name), request{anID, time.Second, []string{"profile"}}.JSON(), 0o600))
		}
		q := serveIn(t, path, inMemory(true))
		time.Sleep(time.Second)
		if got, want := q.names(), slices.Sorted(slices.Values(append([]string{presenceName}, others...))); !slices.Equal(got, want) || q.outcomes() != "" {
			t.Errorf("%q, %q", got, q.outcomes())
		}
		q.close()
		if got := q.names(); !slices.Equal(got, others) {
			t.Errorf("behind it: %q", got)
		}
	})
}

func TestAnIDIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		q := serveWork(t, whoseSearch(func(context.Context) error { <-release; return nil }))
		id := q.asks(MaxTime, "search", "tide")
		time.Sleep(time.Second)
		q.put(id, request{q.broker(), time.Second, []string{"profile"}}.JSON())
		time.Sleep(time.Second)
		close(release)
		if r := q.reply(id); !strings.Contains(string(r.Stdout), `"hits"`) {
			t.Errorf("%+v", r)
		}
		time.Sleep(time.Second)
		if got := q.outcomes(); got != "run-1 search answered" {
			t.Errorf("%q", got)
		}
	})
}

func TestFilesThatAreNoneAreRefusedUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := serveWork(t, inMemory(true))
		good := request{q.broker(), time.Second, []string{"profile"}}.JSON()
		outside := filepath.Join(t.TempDir(), "outside")
		must(t, os.WriteFile(outside, good, 0o600))
		for name, make := range map[string]func(path string) error{
			"a link":           func(path string) error { return os.Symlink(outside, path) },
			"a link to itself": func(path string) error { return os.Symlink(path, path) },
			"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a folder":         func(path string) error { return os.Mkdir(path, 0o700) },
			"a full folder": func(path string) error {
				return errors.Join(os.MkdirAll(filepath.Join(path+".x", "x"), 0o700), os.Rename(path+".x", path))
			},
			"others' too": func(path string) error {
				return errors.Join(os.WriteFile(path+".x", good, 0o600), os.Chmod(path+".x", 0o644), os.Rename(path+".x", path))
			},
		} {
			id := rand.Text()
			must(t, make(filepath.Join(q.path, id+requestEnd)))
			if r := q.reply(id); r.Code != Refused {
				t.Errorf("%s: %+v", name, r)
			}
		}
		// A reply does not go where a link leads.
		id := rand.Text()
		must(t, os.Symlink(outside, filepath.Join(q.path, id+replyEnd)))
		q.put(id, good)
		time.Sleep(time.Second)
		if r := q.reply(id); r.Code != "" {
			t.Errorf("%+v", r)
		}
		if text, err := os.ReadFile(outside); err != nil || string(text) != string(good) {
			t.Errorf("the file outside: %q, %v", text, err)
		}
		if strings.Contains(q.outcomes(), "- answered") || strings.Count(q.outcomes(), "answered")+strings.Count(q.outcomes(), "failed") != 1 {
			t.Errorf("%s", q.outcomes())
		}
	})
}

func TestAQueueThatIsFilledIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := serveWork(t, inMemory(true))
		for i := range maxFiles {
			must(t, os.WriteFile(filepath.Join(q.path, fmt.Sprint("x", i)), nil, 0o600))
		}
		if err := q.ends(); err == nil || !strings.Contains(err.Error(), "something fills it") {
			t.Error(err)
		}
	})
}

func TestAQueueThatIsReplacedIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := serveWork(t, inMemory(true))
		must(t, os.Rename(q.path, q.path+".old"))
		must(t, os.Mkdir(q.path, 0o700))
		if err := q.ends(); err == nil || !strings.Contains(err.Error(), "another folder stands in its place") {
			t.Error(err)
		}
		if got := q.names(); len(got) != 0 {
			t.Errorf("%q", got)
		}
	})
}

func TestAQueueIsARealFolderOfItsOwner(t *testing.T) {
	parent := t.TempDir()
	must(t, os.Mkdir(filepath.Join(parent, "real"), 0o700))
	must(t, os.Symlink("real", filepath.Join(parent, "link")))
	must(t, os.Mkdir(filepath.Join(parent, "open"), 0o755))
	must(t, os.WriteFile(filepath.Join(parent, "file"), nil, 0o600))
	for name, want := range map[string]string{"link": "is a symbolic link", "open": "may be used by others (mode 0755)", "file": "is not a folder"} {
		path := filepath.Join(parent, name)
		s := &Server{Folder: path, Store: inMemory(true), Scope: store.Scope{Facets: []string{"work"}}}
		if err := s.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("serve %s: %v", name, err)
		}
		if _, err := Ask(t.Context(), path, []string{"profile"}); !errors.Is(err, ErrNobody) || !strings.Contains(err.Error(), want) {
			t.Errorf("ask %s: %v", name, err)
		}
	}
	if err := (&Server{Folder: filepath.Join(parent, "all"), Store: inMemory(true)}).Serve(t.Context()); err == nil {
		t.Error("all there is was served")
	}
}

func TestAQueueHasOneBroker(t *testing.T) {
	q := serveWork(t, inMemory(true))
	err := (&Server{Folder: q.path, Store: inMemory(true), Scope: store.Scope{Facets: []string{"family"}}}).Serve(t.Context())
	if err == nil || !strings.Contains(err.Error(), "another broker serves") {
		t.Error(err)
	}
	if r, err := Ask(t.Context(), q.path, []string{"search", "tide"}); err != nil || r.Code != "" {
		t.Errorf("the first one: %+v, %v", r, err)
	}
	q.close()
	if _, err := os.Lstat(q.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder that was made stays: %v", err)
	}
	must(t, os.Mkdir(q.path, 0o700))
	serveIn(t, q.path, inMemory(true)).close()
	if _, err := os.Lstat(q.path); err != nil {
		t.Errorf("the folder that was there is gone: %v", err)
	}
}

// The system's word of a change is enough: nobody looks meanwhile.
func TestChangesAreTold(t *testing.T) {
	path := t.TempDir()
	told, stop := changes(path)
	defer stop()
	if told == nil {
		t.Skip("this system tells of no changes")
	}
	must(t, os.WriteFile(filepath.Join(path, "a"), nil, 0o600))
	must(t, os.Rename(filepath.Join(path, "a"), filepath.Join(path, "b")))
	<-told
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
