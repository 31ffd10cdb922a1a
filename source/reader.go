// Package source brings what a person has into the store: from files now, from servers later. A [Reader] knows one format; [Sync]
// runs any of them, so that each sync is incremental, can be killed at any point, and counts truly.
package source

import (
	"context"
	"iter"

	"github.com/loomrun/loom/store"
)

// Container is a part of a source that is read as a whole and that is known to be unchanged by its stamp: a file, a mailbox of a
// server.
type Container struct {
	Name  string // within the source, the same each time: a path below its location with forward slashes, "." for the location itself
	Stamp string // size and time of a file, an entity tag: equal means unchanged
	Size  int64  // bytes, for progress; 0 where unknown
}

// Before is what is known of a container from its last complete reading. The zero value is a container never read.
type Before struct {
	Stamp string
	Note  string // what the reader returned then
}

// Reader reads the items of one source. Its methods are called one after the other.
type Reader interface {
	// Containers lists all containers there are, in the order of their names. An error ends the list: what is in the store of the
	// containers that were not listed stays.
	Containers(ctx context.Context) iter.Seq2[Container, error]
	// Read gives the items of a container to a sink, in order of their positions. What is bad in an item is given to [Sink.Skip] and
	// never an error; an error is one of the container (it cannot be opened, the disk fails) or of the sink. The
	// note is kept for the next reading.
	Read(ctx context.Context, c Container, before Before, sink Sink) (note string, err error)
}

// Sink takes the items of a container. An error of a method ends the reading and is returned from it as it is. Its methods are called by
// one goroutine at a time, in the order of the items.
type Sink interface {
	// Keep says, before anything else, that items of earlier readings stay unless Lose names them: only what was
	// added is put. Without it, what is not put again is gone.
	Keep() error
	// Put gives a record that stands at a position, for files the byte offset.
	Put(position int64, r *store.Record) error
	// Skip says that the item at a position could not be taken, and why: one line in words a person can act on, without content of the item.
	Skip(position int64, reason string) error
	// Lose says that the item at a position is there no more. Only after Keep.
	Lose(position int64) error
}
