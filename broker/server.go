package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
)

// Server answers the reads of one queue.
type Server struct {
	Folder string // absolute; made with mode 0700 if it is not there
	Store  store.Store
	Scope  store.Scope // what exists for those who ask: at least one facet, since none is all there is
	Run    string      // what the log calls those who ask; "" is chosen at random
	// Ready is called once the queue is served. May be nil.
	Ready func()
	// Log is called behind each request, one at a time. May be nil.
	Log func(Line)

	changes func(string) (<-chan struct{}, func()) // for tests
}

// Line is what is told of a request: nothing that was asked or answered.
type Line struct {
	At      time.Time
	Run     string
	Verb    string // of the eight, else "-"
	Outcome string // answered, failed (the command ends with 1, as over the instance), contested, forbidden, refused, or unsent (the reply could not be written)
	Took    time.Duration
}

const (
	// The queue is looked at when the system tells of a change, and every lookTold for what no longer matters. Where the system does not tell,
	// it is looked at every lookBusy while something was asked within busyTime, else every lookIdle.
	lookTold = 250 * time.Millisecond
	lookBusy = time.Millisecond
	lookIdle = 20 * time.Millisecond
	busyTime = time.Second
	// keepReply is how long after the time of its question a reply waits to be read.
	keepReply = grace + 3*time.Second
	// keepDraft is how old a file may become that has not got its name.
	keepDraft = time.Minute
)

// Serve answers until ctx is done, which is no error. An error is that the queue cannot be served, or not any more. The queue is empty then,
// and gone if Serve made it. A read that runs is ended.
func (s *Server) Serve(ctx context.Context) error {
	if len(s.Scope.Facets) == 0 {
		return errors.New("a queue is served for some facets, and not for all there is")
	}
	f, err := openFolder(ctx, s.Folder)
	if err != nil {
		return err
	}
	defer f.close()
	run := s.Run
	if run == "" {
		run = rand.Text()
	}
	ctx, stop := context.WithCancel(ctx)
	v := &serving{Server: s, folder: f, run: run, jobs: make(chan job, MaxWaiting), known: map[string]*known{}}
	var workers sync.WaitGroup
	for range Workers {
		workers.Go(func() {
			for j := range v.jobs {
				v.work(ctx, j)
			}
		})
	}
	// In this order: no job more, the jobs end, the queue is left.
	defer workers.Wait()
	defer close(v.jobs)
	defer stop()
	if s.Ready != nil {
		s.Ready()
	}
	return v.watch(ctx)
}

// serving is a server at work.
type serving struct {
	*Server
	*folder
	run  string
	jobs chan job

	mu     sync.Mutex
	known  map[string]*known // by id
	unread int               // bytes that the answers among them have printed
	logs   sync.Mutex
}

// known is an id that is answered or will be. It is forgotten once its reply was taken away, so that who reads what it asks for may ask without end.
type known struct {
	until    time.Time // and then in any case
	answered bool
	printed  int
}

// job is a request that waits for its turn or is read.
type job struct {
	id    string
	verb  string
	call  readverb.Verb
	begun time.Time
	until time.Time
}

// watch takes requests as they come.
func (v *serving) watch(ctx context.Context) error {
	watch := changes
	if v.changes != nil {
		watch = v.changes
	}
	told, stop := watch(v.path)
	defer stop()
	var last time.Time
	for {
		took, err := v.look()
		if err != nil || ctx.Err() != nil {
			return err
		}
		now, pause := time.Now(), lookIdle
		if took {
			last = now
		}
		switch {
		case told != nil:
			pause = lookTold
		case now.Sub(last) < busyTime:
			pause = lookBusy
		}
		select {
		case <-ctx.Done():
			return nil
		case <-told:
		case <-time.After(pause):
		}
	}
}

// look takes what was asked since the last look, and takes away what nobody will ask for any more.
func (v *serving) look() (took bool, err error) {
	replied := v.replied()
	names, err := v.names()
	if err != nil {
		return false, err
	}
	if len(names) > maxFiles {
		return false, fmt.Errorf("the queue %s has more than %d files: something fills it", v.path, maxFiles)
	}
	now := time.Now()
	for _, name := range names {
		asked, isRequest := idOf(name, requestEnd)
		answered, isReply := idOf(name, replyEnd)
		delete(replied, answered)
		switch {
		case isDraft(name):
			if info, err := os.Lstat(v.file(name)); err == nil && now.Sub(info.ModTime()) > keepDraft {
				_ = os.Remove(v.file(name))
			}
		case isRequest:
			took = v.take(asked, now) || took
		case isReply && !v.expects(answered):
			_ = os.Remove(v.file(name))
		}
	}
	v.forget(now, replied)
	return took, nil
}

// replied are the ids whose reply was put into the queue.
func (v *serving) replied() map[string]bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	ids := map[string]bool{}
	for id, k := range v.known {
		if k.answered {
			ids[id] = true
		}
	}
	return ids
}

// expects tells whether an id is one that is answered or will be.
func (v *serving) expects(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.known[id]
	return ok
}

// forget takes away replies that were not read in their time, and forgets those that were.
func (v *serving) forget(now time.Time, read map[string]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, k := range v.known {
		late := now.After(k.until)
		if late {
			_ = os.Remove(v.file(id + replyEnd))
		}
		if late || read[id] {
			v.unread -= k.printed
			delete(v.known, id)
		}
	}
}

// take takes a request out of the queue. It tells whether there was one. An id is answered once: another request under it is dropped for as long as its reply
// may still be there, and one that cannot be taken out of the queue is never read.
func (v *serving) take(id string, now time.Time) bool {
	path := v.file(id + requestEnd)
	data, err := boundedfile.ReadPrivate(path, MaxRequestBytes)
	removed := os.Remove(path)
	if v.expects(id) || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	j := job{id: id, verb: "-", begun: now, until: now.Add(MaxTime)}
	var r request
	if err == nil && removed == nil {
		r, err = readRequest(data)
		if verb, _, ok := verbOf(r.argv); ok {
			j.verb = verb
		}
	}
	var no Reply
	why := forbidden(r.argv)
	switch {
	case removed != nil:
		no = refusal(Refused, "the request cannot be taken out of the queue")
	case errors.Is(err, boundedfile.ErrTooLarge):
		no = refusal(Refused, fmt.Sprintf("the request exceeds %s", MaxRequestBytes))
	case errors.Is(err, boundedfile.ErrNotRegular) || errors.Is(err, boundedfile.ErrSymbolicLink) || errors.Is(err, boundedfile.ErrNotPrivate):
		no = refusal(Refused, "the request is not a file of mode 0600")
	case err != nil:
		no = refusal(Refused, "the request is malformed")
	case r.broker != v.id:
		no = refusal(Refused, "the request is for another broker")
	case why != "":
		no = refusal(Forbidden, why)
	default:
		j.until = now.Add(r.within)
		j.call, err = readverb.Parse(r.argv)
		if err != nil {
			no = refusal(Refused, err.Error())
		}
	}
	v.mu.Lock()
	full := len(v.known) >= maxFiles
	if !full {
		v.known[id] = &known{until: j.until.Add(keepReply)}
	}
	v.mu.Unlock()
	if full {
		// Not even a refusal is written: there would be no bound to them.
		v.log(j, Refused)
		return true
	}
	if no.Code == "" {
		select {
		case v.jobs <- j:
			return true
		default:
			no = refusal(Refused, fmt.Sprintf("%d requests are waiting already", MaxWaiting))
		}
	}
	v.reply(j, no)
	return true
}

// work answers one request, in its time also where the store does not notice that it is over. It ends when the read does.
func (v *serving) work(ctx context.Context, j job) {
	ctx, cancel := context.WithDeadline(ctx, j.until)
	defer cancel()
	ended := make(chan Reply, 1)
	if ctx.Err() == nil {
		go func() { ended <- v.read(ctx, j.call) }()
	} else {
		ended <- Reply{}
	}
	var reply Reply
	select {
	case reply = <-ended:
	case <-ctx.Done():
		defer func() { <-ended }()
	}
	// What comes late counts as nothing.
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		reply = refusal(Refused, fmt.Sprintf("the read was not done within %s", j.until.Sub(j.begun)))
	case err != nil:
		reply = refusal(Refused, "the broker stops")
	}
	v.reply(j, reply)
}

// read reads what is there now.
func (v *serving) read(ctx context.Context, call readverb.Verb) (reply Reply) {
	unreadable := refusal(Refused, "the data could not be read")
	view, err := v.Store.View(ctx, v.Scope)
	if err != nil {
		return unreadable
	}
	defer func() {
		if view.Close() != nil {
			reply = unreadable
		}
	}()
	answer, err := call.Read(ctx, readverb.Reader{View: view, Now: time.Now()})
	reply = Reply{Status: readverb.StatusOf(answer, err), Notes: answer.Notes}
	argument, isArgument := errors.AsType[*readverb.ArgumentError](err)
	_, unknown := errors.AsType[*readverb.UnknownError](err)
	_, contested := errors.AsType[*readverb.ContestedError](err)
	switch {
	case isArgument:
		reply.Message, reply.Caret = argument.Message, argument.Caret
		return reply
	case unknown || contested:
		reply.Message = "Error: " + err.Error() // as retrieval 9.2 has it
		return reply
	case err != nil:
		return unreadable
	}
	if reply.Stdout, err = answer.JSON(); err != nil {
		return unreadable
	}
	if len(reply.Stdout) > MaxAnswerBytes {
		return refusal(Refused, fmt.Sprintf("the answer exceeds %d bytes: ask for less", MaxAnswerBytes))
	}
	if refused, is := answer.Payload.(*readverb.Refusal); is {
		reply.Message = refused.Error
	}
	return reply
}

// reply puts an answer into the queue.
func (v *serving) reply(j job, r Reply) {
	if !v.admits(j.id, len(r.Stdout)) {
		r = refusal(Refused, fmt.Sprintf("replies of %d bytes have not been read yet", maxUnread))
	}
	outcome := r.Code
	switch {
	case outcome != "":
	case r.Status == readverb.StatusAnswered:
		outcome = "answered"
	case r.Status == readverb.StatusContested:
		outcome = "contested"
	default:
		outcome = "failed"
	}
	if err := queued.Write(v.file(j.id+replyEnd), r.file()); err != nil {
		outcome = "unsent"
	}
	v.mu.Lock()
	if k := v.known[j.id]; k != nil {
		k.answered = true
	}
	v.mu.Unlock()
	v.log(j, outcome)
}

// admits tells whether so many bytes more may wait to be read, and counts them.
func (v *serving) admits(id string, bytes int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := v.known[id]
	if k == nil || bytes == 0 {
		return bytes == 0 // its time was over long ago, and nobody would take the reply away
	}
	if v.unread+bytes > maxUnread {
		return false
	}
	k.printed = bytes
	v.unread += bytes
	return true
}

func (v *serving) log(j job, outcome string) {
	if v.Log == nil {
		return
	}
	v.logs.Lock()
	defer v.logs.Unlock()
	v.Log(Line{At: j.begun, Run: v.run, Verb: j.verb, Outcome: outcome, Took: time.Since(j.begun)})
}
