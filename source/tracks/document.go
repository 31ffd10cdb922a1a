package tracks

import (
	"bufio"
	"context"
	"encoding/json/jsontext"
	"errors"
	"io"

	"github.com/loomrun/loom/source"
)

// document reads a JSON document of any size piece by piece: what is a list of items is never held as a whole.
type document struct {
	ctx   context.Context
	meter *meter
	json  *jsontext.Decoder
	shift int64 // of offsets, by a byte order mark
}

func newDocument(ctx context.Context, in io.Reader) *document {
	d := &document{ctx: ctx}
	buffered := bufio.NewReaderSize(in, 64<<10)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		n, _ := buffered.Discard(len(mark))
		d.shift = int64(n)
	}
	d.meter = &meter{in: buffered}
	// Names are not compared with each other: those of a hostile object would all have to be kept.
	d.json = jsontext.NewDecoder(d.meter, lenient, jsontext.AllowDuplicateNames(true))
	return d
}

func (d *document) offset() int64 { return d.json.InputOffset() + d.shift }

// sinkError tells an error of a sink from one of the document.
type sinkError struct{ error }

// ended is what a reading that failed returns: the error of a sink, of the disk or of the context, or what the sink says of being told
// that the rest of the document cannot be read.
func (d *document) ended(err error, sink source.Sink) error {
	if of, ok := errors.AsType[sinkError](err); ok {
		return of.error
	}
	if failed := d.ctx.Err(); failed != nil {
		return failed
	}
	reason, failed := d.meter.ending(err, "the file is damaged JSON from here")
	if failed != nil {
		return failed
	}
	return sink.Skip(d.offset(), reason)
}

// peek is the kind of the next token; io.EOF is the end of the document.
func (d *document) peek() (jsontext.Kind, error) {
	d.meter.next()
	kind := d.json.PeekKind()
	if kind != 0 {
		return kind, nil
	}
	_, err := d.json.ReadToken()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return 0, err
}

func (d *document) token() (jsontext.Token, error) {
	if err := d.ctx.Err(); err != nil {
		return jsontext.Token{}, err
	}
	d.meter.next()
	return d.json.ReadToken()
}

// value reads a value that must fit into memory. It is valid until the next reading.
func (d *document) value() (v jsontext.Value, at int64, err error) {
	if err := d.ctx.Err(); err != nil {
		return nil, 0, err
	}
	d.meter.next()
	v, err = d.json.ReadValue()
	return v, d.offset() - int64(len(v)), err
}

// open reads the token that begins an object or a list, and says where it stands.
func (d *document) open() (int64, error) {
	_, err := d.token()
	return d.offset() - 1, err
}

// name reads the name of the next member of an object; more is false at its end.
func (d *document) name() (name string, more bool, err error) {
	t, err := d.token()
	if err != nil || t.Kind() == '}' {
		return "", false, err
	}
	return t.String(), true, nil
}

// skip passes over a value of any size.
func (d *document) skip() error {
	depth := d.json.StackDepth()
	for {
		if _, err := d.token(); err != nil {
			return err
		}
		if d.json.StackDepth() <= depth {
			return nil
		}
	}
}

// items gives each item of the list that is next. The error of take comes back as a [sinkError].
func (d *document) items(take func(item jsontext.Value, at int64) error) error {
	if _, err := d.open(); err != nil {
		return err
	}
	for {
		kind, err := d.peek()
		if err != nil {
			return err
		}
		if kind == ']' {
			_, err := d.token()
			return err
		}
		item, at, err := d.value()
		if err != nil {
			return err
		}
		if err := take(item, at); err != nil {
			return sinkError{err}
		}
	}
}
