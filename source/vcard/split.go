package vcard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/loomrun/loom/internal/boundedfile"
)

// MaxCardBytes bounds one card. It leaves room for a photo.
const MaxCardBytes = 16 << 20

const byteOrderMark = "\ufeff"

// card is the text of one card as it stands in a file.
type card struct {
	start int64    // the offset of its BEGIN
	lines [][]byte // between BEGIN and END, without line ends
	fault string   // why it cannot be read
}

// splitter cuts a stream into cards. A card that does not end, or never, costs only itself.
type splitter struct {
	in     *bufio.Reader
	offset int64 // of what is read next
	begun  int64 // the offset of a BEGIN that was read while the card before had no END, else -1
	text   bool  // there was something in the stream
}

func newSplitter(in io.Reader) *splitter {
	return &splitter{in: bufio.NewReaderSize(in, 64<<10), begun: -1}
}

// next gives the next card; io.EOF says that there is none.
func (s *splitter) next() (card, error) {
	c := card{start: s.begun}
	for s.begun = -1; c.start < 0; {
		line, at, _, err := s.line(0)
		if err != nil {
			return card{}, err
		}
		if isLine(line, "BEGIN") {
			c.start = at
		}
	}
	left, nested := MaxCardBytes, 0
	for {
		line, at, whole, err := s.line(left)
		switch {
		case err == io.EOF:
			c.fault = "the card has no end: the file may have been cut short"
			return c, nil
		case err != nil:
			return card{}, err
		case isLine(line, "BEGIN"):
			// vCard 2.1 lets the card of an agent stand within a card (2.1 section 2.4.3).
			if nested > 0 || isAgent(c.lines) {
				nested++
				continue
			}
			s.begun = at
			c.fault = "the card has no end before the next begins"
			return c, nil
		case isLine(line, "END"):
			if nested > 0 {
				nested--
				continue
			}
			if left < 0 {
				c.fault = fmt.Sprintf("the card is larger than %s", boundedfile.Size(MaxCardBytes))
			}
			return c, nil
		case left < 0 || nested > 0:
			continue
		}
		// An empty line costs too.
		if left -= len(line) + 32; !whole || left < 0 {
			left, c.lines = -1, nil
			continue
		}
		c.lines = append(c.lines, bytes.Clone(line))
	}
}

// line reads a line, of which it keeps up to most bytes, and says where it begins and whether it is whole.
// It is valid until the next call.
func (s *splitter) line(most int) (line []byte, at int64, whole bool, err error) {
	const enough = 64 // to know a BEGIN or an END
	most = max(most, enough)
	at, whole = s.offset, true
	for {
		piece, err := s.in.ReadSlice('\n')
		s.offset += int64(len(piece))
		switch {
		case err == nil && line == nil:
			line = piece // the usual case needs no copy
		case len(line)+len(piece) <= most:
			line = append(line, piece...)
		default:
			whole = false
			line = append(line, piece[:min(len(piece), most-len(line))]...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || len(line) == 0) {
			return nil, at, false, err
		}
		if at == 0 {
			if trimmed, marked := bytes.CutPrefix(line, []byte(byteOrderMark)); marked {
				line, at = trimmed, int64(len(byteOrderMark))
			}
		}
		s.text = s.text || len(bytes.TrimSpace(line)) > 0
		return bytes.TrimRight(line, "\r\n"), at, whole, nil
	}
}

// isLine tells the line that begins or ends a card.
func isLine(line []byte, word string) bool {
	if len(line) < len(word) || !strings.EqualFold(string(line[:len(word)]), word) {
		return false
	}
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(line[len(word):]), []byte(":"))
	return ok && strings.EqualFold(string(bytes.TrimSpace(rest)), "VCARD")
}

// isAgent tells lines of which the last announces a card within the card.
func isAgent(lines [][]byte) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		last := bytes.ToUpper(bytes.TrimSpace(lines[i]))
		if len(last) > 0 {
			return bytes.HasPrefix(last, []byte("AGENT")) && bytes.HasSuffix(last, []byte(":"))
		}
	}
	return false
}
