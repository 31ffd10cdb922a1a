package ical

import (
	"bytes"
	"strings"

	"github.com/loomrun/loom/store"
)

// lines gives the content lines of a text (RFC 5545 3.1): folded lines as one, empty ones not at all.
// CRLF, LF and CR all end a line.
type lines struct {
	data []byte
	at   int
	lf   int // where the next LF is, if not before at

	joined []byte
}

// line is a content line. Its text is valid until the next one is read.
type line struct {
	text   []byte
	offset int
	cut    bool // it is longer than MaxLine
}

func (l *lines) next() (line, bool) {
	l.blank()
	if l.at == len(l.data) {
		return line{}, false
	}
	found := line{offset: l.at}
	found.text = l.physical()
	if !l.folded() {
		if found.cut = len(found.text) > MaxLine; found.cut {
			found.text = found.text[:MaxLine]
		}
		return found, true
	}
	l.joined = append(l.joined[:0], found.text[:min(len(found.text), MaxLine)]...)
	for l.folded() {
		l.at++
		more := l.physical()
		if room := MaxLine - len(l.joined); len(more) > room {
			more, found.cut = more[:room], true
		}
		l.joined = append(l.joined, more...)
	}
	found.text = l.joined
	return found, true
}

// physical takes the rest of the line that at is in, and the empty lines after it.
func (l *lines) physical() []byte {
	if l.lf < l.at || l.lf == 0 {
		l.lf = len(l.data)
		if n := bytes.IndexByte(l.data[l.at:], '\n'); n >= 0 {
			l.lf = l.at + n
		}
	}
	text := l.data[l.at:l.lf]
	if n := bytes.IndexByte(text, '\r'); n >= 0 {
		text = text[:n]
	}
	l.at += len(text)
	l.blank()
	return text
}

func (l *lines) blank() {
	for l.at < len(l.data) && (l.data[l.at] == '\r' || l.data[l.at] == '\n') {
		l.at++
	}
}

func (l *lines) folded() bool {
	return l.at < len(l.data) && (l.data[l.at] == ' ' || l.data[l.at] == '\t')
}

type kind uint8

const (
	event kind = iota
	timezone
	other
)

// component is an event or zone of a file, or a place where one was tried.
type component struct {
	kind     kind
	offset   int // of its BEGIN line
	from, to int // its content lines
	calendar int // -1 outside of any
	uid      string
	broken   string // why it cannot be read
}

type vcalendar struct {
	name    string
	cancels bool // METHOD:CANCEL
}

// file is what a first look at a file finds.
type file struct {
	data       []byte
	calendars  []vcalendar
	components []component

	todos, journals, others int

	trouble   string // why the file, or its end, is not read
	troubleAt int

	zones map[zoneKey]int // the first component for each zone name
}

// zoneKey is a TZID in a calendar, or in any (-1).
type zoneKey struct {
	calendar int
	tzid     string
}

// topLevel are the components that stand in a calendar and in no other component.
var topLevel = map[string]kind{
	"VCALENDAR": other, "VEVENT": event, "VTIMEZONE": timezone, "VTODO": other, "VJOURNAL": other, "VFREEBUSY": other,
}

// scanner finds the components of a file by their BEGIN and END lines alone, so that one whose lines
// are wrong inside spoils no other.
type scanner struct {
	*file
	open   *component // nil between components
	name   string     // of the open one
	inside []string   // the names of components in it that are open
	deeper int        // how many more are, beyond MaxDepth
	tzid   string
}

// maxUID is the length in bytes of a UID that is kept as it is. Others are replaced by a hash.
const maxUID = store.MaxRefBytes

const byteOrderMark = "\xef\xbb\xbf"

func scan(data []byte) *file {
	s := &scanner{file: &file{data: data, zones: map[zoneKey]int{}}}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		s.trouble = "the file is UTF-16: save it as UTF-8"
		return s.file
	}
	l := &lines{data: data}
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		l.at = len(byteOrderMark)
	}
	for found, ok := l.next(); ok; found, ok = l.next() {
		if len(s.components) >= MaxComponents {
			s.trouble, s.troubleAt = "the file has more components than are read: split it", found.offset
			return s.file
		}
		s.line(found, l.at)
	}
	s.abandon("the file ends before its END line", len(data))
	if len(s.calendars) == 0 && len(s.components) == 0 && s.todos+s.journals+s.others == 0 {
		s.trouble = "the file is no calendar: it has no BEGIN:VCALENDAR line"
	}
	return s.file
}

func (s *scanner) line(found line, after int) {
	colon := bytes.IndexByte(found.text[:min(len(found.text), 64)], ':')
	if colon < 0 {
		colon = bytes.IndexByte(found.text, ':')
		if colon < 0 {
			return
		}
	}
	name := found.text[:colon]
	switch {
	case is(name, "BEGIN"):
		s.begin(value(found, colon), found.offset, after)
	case is(name, "END"):
		s.end(value(found, colon), found.offset)
	case s.open == nil:
		if n := len(s.calendars) - 1; n >= 0 {
			switch {
			case is(name, "METHOD"):
				s.calendars[n].cancels = value(found, colon) == "CANCEL"
			case is(property(name), "X-WR-CALNAME") && s.calendars[n].name == "":
				s.calendars[n].name = firstLine(unescape(text(found.text[colon+1:])))
			}
		}
	case len(s.inside) > 0 || s.deeper > 0:
	case s.open.kind == event && is(property(name), "UID") && s.open.uid == "":
		s.open.uid = strings.TrimSpace(unescape(text(found.text[colon+1:])))
		if len(s.open.uid) > maxUID {
			s.open.uid = madeUID(found.text)
		}
	case s.open.kind == timezone && is(property(name), "TZID"):
		s.tzid = strings.TrimSpace(text(found.text[colon+1:]))
	}
}

func is(name []byte, want string) bool {
	return len(name) == len(want) && strings.EqualFold(string(name), want)
}

// property gives the name of a property without its parameters.
func property(name []byte) []byte {
	if n := bytes.IndexByte(name, ';'); n >= 0 {
		return name[:n]
	}
	return name
}

func value(found line, colon int) string {
	v := bytes.TrimSpace(found.text[colon+1:])
	return strings.ToUpper(string(v[:min(len(v), 64)]))
}

func (s *scanner) begin(name string, offset, after int) {
	kind, top := topLevel[name]
	if !top && s.open != nil {
		if len(s.inside) == MaxDepth {
			s.deeper++
			s.open.broken = "components lie too deep in it"
			return
		}
		s.inside = append(s.inside, name)
		return
	}
	s.abandon("another component begins before its END line", offset)
	switch name {
	case "VCALENDAR":
		s.calendars = append(s.calendars, vcalendar{})
		return
	case "VTODO":
		s.todos++
	case "VJOURNAL":
		s.journals++
	case "VEVENT", "VTIMEZONE":
	default:
		s.others++
		kind = other
	}
	s.open, s.name, s.tzid = &component{kind: kind, offset: offset, from: after, calendar: len(s.calendars) - 1}, name, ""
}

func (s *scanner) end(name string, offset int) {
	switch {
	case s.open == nil:
	case s.deeper > 0:
		s.deeper--
	case len(s.inside) > 0 && s.inside[len(s.inside)-1] == name:
		s.inside = s.inside[:len(s.inside)-1]
	case name == s.name:
		if len(s.inside) > 0 && s.open.broken == "" {
			s.open.broken = "a component in it has no END line"
		}
		s.close(offset)
	case name == "VCALENDAR":
		s.abandon("the calendar ends before its END line", offset)
	}
}

// abandon closes a component that has no END line.
func (s *scanner) abandon(why string, offset int) {
	if s.open == nil {
		return
	}
	if s.open.broken == "" {
		s.open.broken = why
	}
	s.close(offset)
}

func (s *scanner) close(offset int) {
	c := *s.open
	s.open, s.inside, s.deeper = nil, s.inside[:0], 0
	c.to = offset
	switch {
	case c.kind == other:
		return
	case c.kind == event && c.uid == "":
		c.uid = madeUID(s.data[c.from:c.to])
	case c.kind == timezone && c.broken == "":
		for _, key := range []zoneKey{{c.calendar, s.tzid}, {-1, s.tzid}} {
			if _, ok := s.zones[key]; !ok {
				s.zones[key] = len(s.components)
			}
		}
	}
	s.components = append(s.components, c)
}
