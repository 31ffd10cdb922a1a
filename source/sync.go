package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/loomrun/loom/store"
)

// Options of a sync.
type Options struct {
	Now func() time.Time
	// Progress is told, now and then and from one goroutine, how far the sync is.
	Progress func(Progress)
	// BatchChanges bounds the changes of one transaction where it is not zero; a test makes it small.
	BatchChanges int
}

// Progress is how far a sync is: bytes of containers, those that are unchanged and need no reading among them.
type Progress struct {
	Listing     bool // the containers are not counted yet
	Done, Total int64
	Items       int64 // put so far
}

// Report is what a sync did.
type Report struct {
	Source  string
	Counts  store.Counts
	Skips   []store.Skip // the first MaxShownSkips that could not be taken, of this sync and earlier ones
	Problem string       // why the source could not be read as a whole, "" where it could
	Took    time.Duration
}

// Complete says that everything the source has is in the store.
func (r Report) Complete() bool { return r.Problem == "" && r.Counts.Skipped == 0 }

// MaxShownSkips is how many skipped items a report names.
const MaxShownSkips = 20

// Limits of one transaction of a sync, and of what waits for it.
const (
	batchBytes   = 12 << 20
	batchChanges = 20_000
	chunkBytes   = 256 << 10
	chunkChanges = 250
	chunksAhead  = 4
)

// progressEvery is how many items pass between two tellings of progress.
const progressEvery = 100

// maxReasonBytes is how much of a reason is kept.
const maxReasonBytes = 500

// Sync brings a source up to date. A canceled or killed sync leaves a store that the next one completes. The error is one of the store or of
// ctx; what is wrong with the source itself is in the report.
func Sync(ctx context.Context, to store.Store, name string, from Reader, o Options) (Report, error) {
	began := o.Now()
	s := &syncing{from: from, progress: o.Progress, batch: cmp.Or(o.BatchChanges, batchChanges)}
	s.tell(Progress{Listing: true})
	// Asking the disk what there is and asking the store what it knows are most of a sync with nothing new: at the same time.
	listing, stop := context.WithCancel(ctx)
	defer stop()
	listed := make(chan listed, 1)
	go func() { listed <- list(listing, from) }()
	into, err := to.Import(ctx, name, began)
	if err != nil {
		stop()
		<-listed
		return Report{Source: name}, err
	}
	s.into = into
	if err := s.run(ctx, <-listed); err != nil {
		into.Abandon()
		return Report{Source: name}, err
	}
	ended := o.Now()
	counts, err := into.Finish(ctx, s.problem, ended)
	if err != nil {
		return Report{Source: name}, err
	}
	r := Report{Source: name, Counts: counts, Problem: s.problem, Took: ended.Sub(began)}
	if counts.Skipped > 0 {
		r.Skips, err = skips(ctx, to, name)
	}
	return r, err
}

func skips(ctx context.Context, from store.Store, name string) (all []store.Skip, err error) {
	v, err := from.View(ctx, store.Scope{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return v.Skipped(ctx, name, MaxShownSkips)
}

// syncing is one sync on its way: one goroutine reads and folds, one writes.
type syncing struct {
	into     store.Import
	from     Reader
	progress func(Progress)
	batch    int // changes of one transaction
	told     Progress
	problem  string
}

// due is a container that is to be read, with what is known of it.
type due struct {
	Container
	before Before
}

// listed is what there is: all of it where err is nil.
type listed struct {
	containers []Container
	err        error
}

func list(ctx context.Context, from Reader) (all listed) {
	for c, err := range from.Containers(ctx) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			all.err = err
			break
		}
		all.containers = append(all.containers, c)
	}
	return all
}

func (s *syncing) run(ctx context.Context, all listed) error {
	containers, err := s.choose(ctx, all)
	if err != nil {
		return err
	}
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	chunks := make(chan []store.Change, chunksAhead)
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(chunks)
		if err := s.read(reading, containers, chunks); err != nil {
			stop(err)
		}
	})
	if err := s.write(ctx, chunks); err != nil {
		stop(err)
	}
	for range chunks { // so that the reader, which may be waiting to give one, ends
	}
	wait.Wait()
	return context.Cause(reading)
}

// choose gives the containers that are to be read.
func (s *syncing) choose(ctx context.Context, all listed) (toRead []due, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	there := make(map[string]bool, len(all.containers))
	for _, c := range all.containers {
		there[c.Name] = true
		s.told.Total += c.Size
		stamp, note, ok := s.into.Known(c.Name)
		if ok && stamp == c.Stamp {
			s.told.Done += c.Size
			continue
		}
		// Asked now: while containers are read, another goroutine uses the import.
		toRead = append(toRead, due{c, Before{Stamp: stamp, Note: note}})
	}
	if all.err != nil {
		// What could not be listed may be there still.
		s.problem = reason(fmt.Sprintf("could not be listed: %v", all.err))
		return toRead, nil
	}
	return toRead, s.into.Listed(ctx, there)
}

func (s *syncing) tell(p Progress) {
	if s.progress != nil {
		s.progress(p)
	}
}

// read gives the changes of all containers, in chunks.
func (s *syncing) read(ctx context.Context, containers []due, chunks chan<- []store.Change) error {
	to := &sink{ctx: ctx, chunks: chunks, syncing: s}
	for _, c := range containers {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		base := s.told.Done
		to.begin(c.Container)
		note, err := s.from.Read(ctx, c.Container, c.before, to)
		switch {
		case to.broken != nil:
			return to.broken
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist) && !to.begun:
			err = nil // gone since it was listed: the next sync sees that it is
		case err != nil:
			err = to.fail(err)
		default:
			err = to.done(note)
		}
		if err != nil {
			return err
		}
		s.told.Done = base + c.Size
		s.tell(s.told)
	}
	return to.flush()
}

// write applies chunks until there are no more.
func (s *syncing) write(ctx context.Context, chunks <-chan []store.Change) error {
	var batch []store.Change
	bytes := 0
	apply := func() error {
		err := s.into.Apply(ctx, batch)
		clear(batch) // what was stored can go
		batch, bytes = batch[:0], 0
		return err
	}
	for chunk := range chunks {
		batch = append(batch, chunk...)
		for _, c := range chunk {
			bytes += weight(c)
		}
		if bytes >= batchBytes || len(batch) >= s.batch {
			if err := apply(); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return apply()
}

// weight is about how much memory a change takes.
func weight(c store.Change) int {
	if c.Record == nil {
		return 100
	}
	return 500 + 2*len(c.Record.Body) + len(c.Record.Details)
}

// reason is a text as it is kept: one line of bounded length.
func reason(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\ufffd")
	if len(text) > maxReasonBytes {
		text = strings.ToValidUTF8(text[:maxReasonBytes], "") + "…"
	}
	return text
}
