// Package sse reads server-sent events (the event stream format of the HTML standard, section 9.2)
// from servers that are not trusted: every line, event and stream is bounded.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of a stream. The longest events are final ones that repeat a whole answer.
const (
	MaxLine   = 4 << 20  // bytes of one line
	MaxData   = 4 << 20  // bytes of one event's data
	MaxEvents = 1 << 18  // events of a stream
	MaxTotal  = 64 << 20 // bytes of a stream, with comments
)

// ErrTooLarge means that a stream went beyond a limit.
var ErrTooLarge = errors.New("the stream exceeds its limits")

// Event is one event of a stream.
type Event struct {
	Name string // of its "event" field; empty where it had none
	Data string // its "data" lines, joined by line feeds; not checked to be UTF-8
}

// Reader takes the events of one stream in order.
type Reader struct {
	from    *bufio.Reader
	line    []byte
	started bool // the first line was read
	afterCR bool // a line feed that follows belongs to the carriage return
	total   int
	events  int
}

// NewReader reads the stream that r holds.
func NewReader(r io.Reader) *Reader { return &Reader{from: bufio.NewReader(r)} }

// Next gives the next event. It returns as soon as the event's empty line is there, without waiting
// for more. At the end of the stream the error is [io.EOF]; what stood behind the last empty line
// is no event and is dropped, so a cut event is never seen. Beyond a limit the error wraps
// [ErrTooLarge], else it is the underlying reader's.
func (r *Reader) Next() (Event, error) {
	var event Event
	var data []byte
	hasData := false
	for {
		line, err := r.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if !hasData { // without data there is no event, and its name is forgotten
				event.Name = ""
				continue
			}
			if r.events == MaxEvents {
				return Event{}, fmt.Errorf("%w: more than %d events", ErrTooLarge, MaxEvents)
			}
			r.events++
			event.Data = string(data)
			return event, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) { // a comment has the empty name; other fields are not for us
		case "event":
			event.Name = string(value)
		case "data":
			if hasData {
				data = append(data, '\n')
			}
			if len(data)+len(value) > MaxData {
				return Event{}, fmt.Errorf("%w: an event of more than %d bytes", ErrTooLarge, MaxData)
			}
			data = append(data, value...)
			hasData = true
		}
	}
}

// readLine gives the next line without its end, which is CRLF, LF or CR. The line is valid until the
// next call.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		chunk, err := r.buffered()
		if err != nil {
			return nil, err
		}
		if r.afterCR {
			r.afterCR = false
			if chunk[0] == '\n' {
				r.skip(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		if len(r.line)+len(part) > MaxLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrTooLarge, MaxLine)
		}
		r.line = append(r.line, part...)
		if end < 0 {
			r.skip(len(chunk))
			continue
		}
		r.afterCR = chunk[end] == '\r'
		r.skip(end + 1)
		line := r.line
		if !r.started {
			r.started = true
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		return line, nil
	}
}

// buffered gives at least one byte that was not read yet, and waits only when there is none.
func (r *Reader) buffered() ([]byte, error) {
	if _, err := r.from.Peek(1); err != nil {
		return nil, err
	}
	if r.total == MaxTotal {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, MaxTotal)
	}
	return r.from.Peek(min(r.from.Buffered(), MaxTotal-r.total))
}

func (r *Reader) skip(n int) {
	r.total += n
	r.from.Discard(n) // of what is buffered, which cannot fail
}
