package mail

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// Limits of reading a mailbox.
const (
	maxInFlight = 16 << 20 // bytes of messages that are read and not yet given to the sink; one block may be larger
	checkBytes  = 64 << 10 // at the start of a file and before the end of what was read, to know it again
)

// mboxReader reads a mailbox file, or the ones in a folder.
type mboxReader struct{ location string }

func (r *mboxReader) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return source.Files(ctx, r.location, isMailbox, nil)
}

// isMailbox says whether a file of a folder of mailboxes is one.
func isMailbox(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".mbox", ".mbx":
		return true
	}
	return false
}

func (r *mboxReader) Read(ctx context.Context, c source.Container, before source.Before, sink source.Sink) (string, error) {
	file := source.Path(r.location, c)
	return mailboxOf(ctx, file, folderName(file), before, sink)
}

// mailboxOf reads the messages of a mailbox file.
func mailboxOf(ctx context.Context, file, folder string, before source.Before, sink source.Sink) (string, error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	// What is appended while this reads is read the next time: the note would not fit it.
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	size := info.Size()

	old, grown := parseNote(before.Note)
	if grown = grown && size > old.size; grown {
		check, err := checksum(f, old.size)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", file, err)
		}
		grown = check == old.check
	}
	mb := reading{file: file, sink: sink, from: origin{folder: folder, gmail: true}}
	if grown {
		if err := sink.Keep(); err != nil {
			return "", err
		}
		mb.last, mb.known = old.last, old.size
	}
	if _, err := f.Seek(mb.last, io.SeekStart); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if err := mb.read(ctx, newSplitter(io.LimitReader(f, size-mb.last), mb.last)); err != nil {
		return "", err
	}
	check, err := checksum(f, size)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return note{size, mb.last, check}.String(), nil
}

// folderName is the name of a mailbox as a person knows it.
func folderName(file string) string {
	name := path.Base(file)
	if isMailbox(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return strings.ToValidUTF8(name, "")
}

// note is what is kept of a mailbox to go on behind its end: how many bytes it had, where its last message began, and a hash of its first
// and last bytes. Programs that change a mailbox rewrite it or, for flags that are not read here, change bytes in its middle; either leaves a note
// that does not fit or a change that does not matter.
type note struct {
	size, last int64
	check      string
}

const noteVersion = "mbox1"

func (n note) String() string {
	return fmt.Sprintf("%s %d %d %s", noteVersion, n.size, n.last, n.check)
}

func parseNote(text string) (n note, ok bool) {
	fields := strings.Fields(text)
	if len(fields) != 4 || fields[0] != noteVersion {
		return note{}, false
	}
	size, err := strconv.ParseInt(fields[1], 10, 64)
	last, err2 := strconv.ParseInt(fields[2], 10, 64)
	return note{size, last, fields[3]}, err == nil && err2 == nil && last >= 0 && last <= size
}

// checksum hashes the first and the last bytes of the first size bytes of a file.
func checksum(f *os.File, size int64) (string, error) {
	h := sha256.New()
	for _, from := range []int64{0, max(size-checkBytes, 0)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, from, min(checkBytes, size-from))); err != nil {
			return "", err
		}
	}
	const digits = 32
	return hex.EncodeToString(h.Sum(nil))[:digits], nil
}

// reading is one reading of a mailbox file.
type reading struct {
	file  string
	sink  source.Sink
	from  origin
	last  int64 // where the last message begins
	known int64 // the size of the file at the last reading, 0 where all is new
}

// outcome is what became of one message.
type outcome struct {
	offset int64
	record *store.Record
	err    error
}

// piece of work: a block, and what became of its messages.
type work struct {
	block    *block
	outcomes []outcome
	done     chan struct{}
}

// read decodes the messages on all processors and gives them to the sink in their order.
func (mb *reading) read(ctx context.Context, s *splitter) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait() // after cancel, which ends them
	defer cancel()

	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan *work)
	ordered := make(chan *work, maxInFlight/blockBytes)
	free := make(chan []byte, cap(ordered)+workers)
	flight := newFlight(maxInFlight)
	defer context.AfterFunc(ctx, flight.close)()

	for range workers {
		running.Go(func() {
			for w := range jobs {
				mb.decode(ctx, w)
				close(w.done)
			}
		})
	}
	var failed error // of the file; read after ordered is closed
	running.Go(func() {
		defer close(ordered)
		defer close(jobs)
		for {
			var buf []byte
			select {
			case buf = <-free:
			default:
			}
			b, err := s.next(buf)
			if err != nil {
				if err != io.EOF {
					failed = fmt.Errorf("read %s: %w", mb.file, err)
				}
				return
			}
			w := &work{block: b, done: make(chan struct{})}
			if !flight.take(len(b.data)) {
				return
			}
			select {
			case ordered <- w:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- w:
			case <-ctx.Done():
				return
			}
		}
	})
	for w := range ordered {
		select {
		case <-w.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, o := range w.outcomes {
			if err := mb.put(o); err != nil {
				return err
			}
		}
		if n := len(w.block.spans); n > 0 {
			mb.last = w.block.base + int64(w.block.spans[n-1].from)
		}
		flight.give(len(w.block.data))
		if cap(w.block.data) <= 4*blockBytes {
			select {
			case free <- w.block.data[:0]:
			default:
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return failed
}

func (mb *reading) put(o outcome) error {
	if o.err != nil {
		return mb.sink.Skip(o.offset, o.err.Error())
	}
	return mb.sink.Put(o.offset, o.record)
}

// decode reads the messages of a block.
func (mb *reading) decode(ctx context.Context, w *work) {
	w.outcomes = make([]outcome, 0, len(w.block.spans))
	for _, at := range w.block.spans {
		if ctx.Err() != nil {
			return
		}
		begin, end := w.block.base+int64(at.from), w.block.base+int64(at.to)
		if end == mb.known && begin == mb.last {
			continue // read the last time, and nothing was added to it
		}
		from := mb.from
		from.cut = at.cut
		r, err := safely(unquote(w.block.data[at.from:at.to]), from)
		w.outcomes = append(w.outcomes, outcome{begin, r, err})
	}
}

// flight counts the bytes that are in work.
type flight struct {
	mu     sync.Mutex
	room   sync.Cond
	bytes  int
	most   int
	closed bool
}

func newFlight(most int) *flight {
	f := &flight{most: most}
	f.room.L = &f.mu
	return f
}

// take waits until n bytes fit, or nothing else is in work. It says false after close.
func (f *flight) take(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bytes > 0 && f.bytes+n > f.most && !f.closed {
		f.room.Wait()
	}
	f.bytes += n
	return !f.closed
}

func (f *flight) give(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= n
	f.room.Signal()
}

func (f *flight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.room.Broadcast()
}
