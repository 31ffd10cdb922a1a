package source

import (
	"context"
	"errors"

	"github.com/loomrun/loom/store"
)

// sink is the [Sink] of one container after another. It is used by one goroutine at a time.
type sink struct {
	*syncing
	ctx       context.Context
	chunks    chan<- []store.Change
	chunk     []store.Change
	bytes     int
	container Container
	base      int64 // bytes of the containers before this one
	begun     bool
	kept      bool
	broken    error // what ended the sync, for a reader that does not return it
}

var (
	errKeepLate = errors.New("a reader kept earlier items after it had given some")
	errLoseAll  = errors.New("a reader took away an item without keeping the others")
)

func (s *sink) begin(c Container) {
	s.container, s.base, s.begun, s.kept = c, s.told.Done, false, false
}

// give adds a change of the container, which the first one begins.
func (s *sink) give(c store.Change) error {
	if s.broken != nil {
		return s.broken
	}
	if !s.begun {
		s.begun = true
		s.chunk = append(s.chunk, store.Change{Op: store.Begin, Container: s.container.Name, Keep: s.kept})
	}
	c.Container = s.container.Name
	s.chunk = append(s.chunk, c)
	if s.bytes += weight(c); s.bytes < chunkBytes && len(s.chunk) < min(chunkChanges, s.batch) {
		return nil
	}
	return s.flush()
}

func (s *sink) flush() error {
	if len(s.chunk) == 0 {
		return nil
	}
	select {
	case s.chunks <- s.chunk:
	case <-s.ctx.Done():
		s.broken = context.Cause(s.ctx)
	}
	s.chunk, s.bytes = nil, 0
	return s.broken
}

func (s *sink) count(position int64) {
	if s.told.Items++; s.told.Items%progressEvery == 0 {
		s.told.Done = s.base + min(max(position, 0), s.container.Size)
		s.tell(s.told)
	}
}

// Keep implements [Sink].
func (s *sink) Keep() error {
	if s.begun {
		s.broken = errKeepLate
		return s.broken
	}
	s.kept = true
	return nil
}

// Put implements [Sink].
func (s *sink) Put(position int64, r *store.Record) error {
	if err := r.Check(); err != nil {
		return s.Skip(position, "not taken: "+err.Error())
	}
	s.count(position)
	return s.give(store.Change{Op: store.Put, Position: position, Record: r, Indexed: store.Index(r)})
}

// Skip implements [Sink].
func (s *sink) Skip(position int64, why string) error {
	return s.give(store.Change{Op: store.Skipped, Position: position, Reason: reason(why)})
}

// Lose implements [Sink].
func (s *sink) Lose(position int64) error {
	if !s.kept {
		s.broken = errLoseAll
		return s.broken
	}
	return s.give(store.Change{Op: store.Lost, Position: position})
}

// done ends the reading of a container that was read as a whole.
func (s *sink) done(note string) error {
	return s.give(store.Change{Op: store.Done, Stamp: s.container.Stamp, Note: note})
}

// fail ends the reading of a container that could not be. What came from it before stays, and it is read again the next time.
func (s *sink) fail(why error) error {
	if !s.begun {
		s.kept = true
	}
	const whole = -1
	return s.give(store.Change{Op: store.Skipped, Position: whole, Reason: reason(why.Error())})
}
