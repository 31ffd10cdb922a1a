package mail

import (
	"bytes"
	"io"
)

// Limits of one mailbox file.
const (
	// MaxMessageBytes is where a longer message is cut: what follows up to the next message is not looked at.
	MaxMessageBytes = 64 << 20
	blockBytes      = 1 << 20
	maxFromLine     = 1000 // bytes of a From_ line
	maxNameBytes    = 100  // bytes looked at for the name of a header field
)

var separatorStart = []byte("\nFrom ")

// block is a piece of a mailbox that holds whole messages.
type block struct {
	base  int64 // where data begins in the file
	data  []byte
	spans []span
}

// span is a message within a block, with its From_ line where it has one.
type span struct {
	from, to int
	cut      bool // the message goes on behind MaxMessageBytes
}

// splitter cuts a mailbox into its messages (RFC 4155, and the dialects mboxo, mboxrd and mboxcl). It keeps no more than one block and
// the message at its end.
//
// A message begins at a line `From sender date` that a line of the form `Name:` follows. Neither the blank line that should stand before
// it nor the Content-Length is relied on: programs forget the one and miscount the other. A line of a body that only looks
// like it stays text, so that a doubt never loses words.
type splitter struct {
	r       io.Reader
	offset  int64  // of pending in the file
	pending []byte // read and not yet given
	scanned int    // of pending: no separator begins before
	skip    bool   // pending belongs to a message that was cut
	begun   bool   // the blank lines at the start of the file are behind
	eof     bool
	size    int // of a block
	longest int // of a message
}

// newSplitter reads from r, which stands at a byte offset of the file.
func newSplitter(r io.Reader, offset int64) *splitter {
	return &splitter{r: r, offset: offset, size: blockBytes, longest: MaxMessageBytes}
}

// next gives the next block with at least one message, or [io.EOF] behind the last. Buf is used for it where it is large enough.
func (s *splitter) next(buf []byte) (*block, error) {
	if need := len(s.pending) + s.size; cap(buf) < need {
		buf = make([]byte, 0, need)
	}
	b := &block{base: s.offset, data: append(buf[:0], s.pending...)}
	start, at := 0, s.scanned
	for {
		if err := s.fill(b); err != nil {
			return nil, err
		}
		if !s.begun {
			start = len(b.data) - len(bytes.TrimLeft(b.data, "\r\n"))
			at, s.begun = start, start < len(b.data)
		}
		for {
			found := bytes.Index(b.data[min(at, len(b.data)):], separatorStart)
			if found < 0 {
				at = max(at, len(b.data)-len(separatorStart)+1)
				break
			}
			at += found
			is, sure := separator(b.data, at+1, s.eof)
			if !sure {
				break
			}
			at++
			if is {
				if !s.skip {
					b.spans = append(b.spans, s.span(start, at))
				}
				start, s.skip = at, false
			}
		}
		switch {
		case s.eof:
			if !s.skip && start < len(b.data) {
				b.spans = append(b.spans, s.span(start, len(b.data)))
			}
			s.offset, s.pending, s.scanned = b.base+int64(len(b.data)), s.pending[:0], 0
			if len(b.spans) == 0 {
				return nil, io.EOF
			}
			return b, nil
		case !s.skip && len(b.data)-start > s.longest:
			b.spans = append(b.spans, s.span(start, len(b.data)))
			start, s.skip = at, true
			fallthrough
		case len(b.spans) > 0:
			s.offset = b.base + int64(start)
			s.pending = append(s.pending[:0], b.data[start:]...)
			s.scanned = at - start
			return b, nil
		case s.skip || !s.begun:
			b.base += int64(at)
			b.data = append(b.data[:0], b.data[at:]...)
			start, at = 0, 0
		default:
			grown := make([]byte, len(b.data), min(2*len(b.data), s.longest+start)+s.size)
			copy(grown, b.data)
			b.data = grown
		}
	}
}

func (s *splitter) span(from, to int) span {
	if to-from > s.longest {
		return span{from, from + s.longest, true}
	}
	return span{from, to, false}
}

// fill reads until the block is full or the file ends.
func (s *splitter) fill(b *block) error {
	for len(b.data) < cap(b.data) && !s.eof {
		n, err := s.r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if err == io.EOF {
			s.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// separator says whether a message begins at data[at:], which begins with "From ". It is not sure where data ends too early.
func separator(data []byte, at int, eof bool) (is, sure bool) {
	line := data[at:]
	end := bytes.IndexByte(line[:min(len(line), maxFromLine)], '\n')
	if end < 0 {
		return false, eof || len(line) >= maxFromLine
	}
	if _, ok := fromLine(line[:end]); !ok {
		return false, true
	}
	next := line[end+1:]
	if is, sure := quotedFrom(next); is || !sure && !eof {
		return is, sure
	}
	for i, c := range next[:min(len(next), maxNameBytes)] {
		if c == ':' {
			return i > 0, true
		}
		if c <= ' ' || c >= 0x7f {
			return false, true
		}
	}
	return false, eof || len(next) >= maxNameBytes
}

// quotedFrom says whether a line is the From_ line of an earlier mailbox, which some programs leave above the header.
func quotedFrom(line []byte) (is, sure bool) {
	const quoted = ">From "
	n := min(len(line), len(quoted))
	return string(line[:n]) == quoted, n == len(quoted) || string(line[:n]) != quoted[:n]
}

// cutFromLine splits a message into its From_ line, empty where it has none, and the rest.
func cutFromLine(message []byte) (line, rest []byte) {
	if !bytes.HasPrefix(message, separatorStart[1:]) {
		return nil, message
	}
	line, rest, _ = bytes.Cut(message, []byte("\n"))
	return bytes.TrimRight(line, "\r"), rest
}

var quotedStart = []byte(">From ")

// unquote undoes what a writer of mailboxes does to lines of a body that begin with "From ", after any number of ">": it takes away one
// ">" (mboxrd). It changes message itself and gives what is left of it.
func unquote(message []byte) []byte {
	to, from := 0, 0
	for {
		found := bytes.Index(message[from:], quotedStart)
		if found < 0 {
			break
		}
		at := from + found // of the last ">"
		first := at
		for first > from && message[first-1] == '>' {
			first--
		}
		end := at + len(quotedStart)
		if first == 0 || message[first-1] != '\n' {
			to += copy(message[to:], message[from:end])
		} else {
			to += copy(message[to:], message[from:at])
			to += copy(message[to:], message[at+1:end])
		}
		from = end
	}
	if from == 0 {
		return message
	}
	to += copy(message[to:], message[from:])
	return message[:to]
}
