package tracks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/loomrun/loom/source"
)

// lenient reads JSON as programs write it: half of a surrogate pair or a byte that is not UTF-8, of a title that was cut, becomes U+FFFD; of
// members of one name the last counts.
var lenient = jsontext.AllowInvalidUTF8(true)

// location is a message of OwnTracks (the JSON of its booklet), as the recorder keeps and exports it.
type location struct {
	Type    string   `json:"_type"`
	Lat     *float64 `json:"lat"`
	Lon     *float64 `json:"lon"`
	Time    *float64 `json:"tst"` // seconds of Unix time
	Acc     *float64 `json:"acc"`
	Alt     *float64 `json:"alt"`
	Vel     *float64 `json:"vel"` // kilometres an hour
	TID     string   `json:"tid"`
	Topic   string   `json:"topic"` // owntracks/user/device
	Desc    string   `json:"desc"`
	POI     string   `json:"poi"`
	Regions []string `json:"inregions"`
	Addr    string   `json:"addr"` // what the recorder found
}

func beginsOwnTracks(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if _, _, ok := cutRecord(line); ok {
		return true
	}
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') &&
		(bytes.Contains(head, []byte(`"tst"`)) || bytes.Contains(head, []byte(`"_type"`))) && !bytes.Contains(head, []byte(`"buckets"`))
}

// readOwnTracks gives the locations of a file to a sink: of a recorder's .rec, of JSON one to a line, or of an export, which is a list
// or an object with the list as its member data or locations.
func readOwnTracks(ctx context.Context, in io.Reader, sink source.Sink) error {
	buffered := bufio.NewReaderSize(in, 64<<10)
	head, err := buffered.Peek(32 << 10)
	if err != nil && err != io.EOF {
		return err
	}
	if byLine(head) {
		return readLines(ctx, buffered, sink)
	}
	return readDocument(ctx, buffered, sink)
}

// byLine tells a file in which each line is an item by its first line that is not empty.
func byLine(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '[' {
		return false
	}
	if line[0] != '{' {
		return true
	}
	var object struct {
		Type string `json:"_type"`
	}
	return json.Unmarshal(line, &object, lenient) == nil && object.Type != ""
}

// cutRecord divides a line of a .rec file: when the recorder had it, what it is ("*" is a location), and the message.
func cutRecord(line []byte) (kind string, message []byte, ok bool) {
	parts := bytes.SplitN(line, []byte("\t"), 3)
	if len(parts) != 3 {
		return "", nil, false
	}
	if _, err := time.Parse(time.RFC3339, string(parts[0])); err != nil {
		return "", nil, false
	}
	return strings.TrimSpace(string(parts[1])), parts[2], true
}

func readLines(ctx context.Context, in *bufio.Reader, sink source.Sink) error {
	var offset int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := offset
		line, size, err := readLine(in)
		if err != nil && err != io.EOF {
			return err
		}
		offset += size
		ended := err == io.EOF
		if at == 0 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		err = nil
		if line = bytes.TrimSpace(line); size > MaxItemBytes {
			err = sink.Skip(at, "the line is longer than 1 MiB")
		} else if len(line) > 0 {
			err = takeLine(line, at, sink)
		}
		if err != nil || ended {
			return err
		}
	}
}

// readLine reads a line, of which it keeps no more than may be. Size is that of all of it.
func readLine(in *bufio.Reader) (line []byte, size int64, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if size += int64(len(piece)); size <= MaxItemBytes {
			line = append(line, piece...)
		}
		if err != bufio.ErrBufferFull {
			return line, size, err
		}
	}
}

func takeLine(line []byte, at int64, sink source.Sink) error {
	if line[0] != '{' {
		kind, message, ok := cutRecord(line)
		if !ok {
			return sink.Skip(at, "the line is no record of OwnTracks: a time, a kind and a message with tabs between them")
		}
		if kind != "*" { // a last will, steps, a card: no location
			return nil
		}
		line = message
	}
	return takeLocation(line, at, sink)
}

// takeLocation gives one message to a sink; one that is no location is passed over.
func takeLocation(message []byte, at int64, sink source.Sink) error {
	var l location
	if err := json.Unmarshal(message, &l, lenient, jsontext.AllowDuplicateNames(true)); err != nil {
		return sink.Skip(at, "the item is no message of OwnTracks: it is no JSON, or a member has another type")
	}
	switch l.Type {
	case "location", "":
	case "encrypted":
		return sink.Skip(at, "the message is encrypted: export from the recorder, which can decrypt it")
	default:
		return nil
	}
	if l.Lat == nil || l.Lon == nil || l.Time == nil {
		return sink.Skip(at, "the item has no lat, lon or tst")
	}
	const furthest = 1e11 // of seconds that a time can be made of
	if math.Abs(*l.Time) > furthest {
		return sink.Skip(at, "the time of the point is not within the years 1900 to 2199")
	}
	p := Place{
		Lat: *l.Lat, Lon: *l.Lon, Accuracy: l.Acc, Altitude: l.Alt, Name: l.POI, Address: l.Addr, Device: l.TID,
	}
	if p.Name == "" {
		p.Name = l.Desc
	}
	if parts := strings.Split(l.Topic, "/"); len(parts) > 2 {
		p.Device = parts[1] + "/" + parts[2]
	}
	if l.Vel != nil {
		speed := *l.Vel / 3.6
		p.Speed = &speed
	}
	for _, region := range l.Regions[:min(len(l.Regions), 100)] {
		if region = clip(region); region != "" {
			p.Regions = append(p.Regions, region)
		}
	}
	whole, part := math.Modf(*l.Time)
	device := l.TID // which a .rec and an export have
	if device == "" {
		device = p.Device
	}
	r, reason := p.record(time.Unix(int64(whole), int64(math.Round(part*1e3))*1e6), device)
	if reason != "" {
		return sink.Skip(at, reason)
	}
	return sink.Put(at, r)
}

func readDocument(ctx context.Context, in io.Reader, sink source.Sink) error {
	d := newDocument(ctx, in)
	found := false
	for {
		kind, err := d.peek()
		if err == io.EOF {
			if !found && d.offset() > 0 {
				return sink.Skip(0, "the file holds no locations of OwnTracks: a list of them, or an object with the list as its member data")
			}
			return nil
		}
		switch {
		case err != nil:
		case kind == '[':
			found = true
			err = d.items(func(item jsontext.Value, at int64) error { return takeLocation(item, at, sink) })
		case kind == '{':
			var list bool
			list, err = readObject(d, sink)
			found = found || list
		default:
			err = d.skip()
		}
		if err != nil {
			return d.ended(err, sink)
		}
	}
}

// readObject reads an object that holds a list of locations, or is one.
func readObject(d *document, sink source.Sink) (found bool, err error) {
	message := []byte("{")
	start, err := d.open()
	if err != nil {
		return false, err
	}
	for {
		name, more, err := d.name()
		if err != nil {
			return found, err
		}
		if !more {
			break
		}
		kind, err := d.peek()
		switch {
		case err != nil:
		case kind == '[' && (name == "data" || name == "locations"):
			found = true
			err = d.items(func(item jsontext.Value, at int64) error { return takeLocation(item, at, sink) })
		case kind == '{' || kind == '[' && name != "inregions":
			err = d.skip()
		default:
			var value jsontext.Value
			value, _, err = d.value()
			if err == nil && len(message)+len(name)+len(value) < MaxItemBytes {
				if len(message) > 1 {
					message = append(message, ',')
				}
				if message, err = jsontext.AppendQuote(message, name); err != nil {
					return found, fmt.Errorf("a member's name: %w", err)
				}
				message = append(append(message, ':'), value...)
			}
		}
		if err != nil {
			return found, err
		}
	}
	if found || !bytes.Contains(message, []byte(`"lat"`)) && !bytes.Contains(message, []byte(`"_type"`)) {
		return found, nil
	}
	if err := takeLocation(append(message, '}'), start, sink); err != nil {
		return true, sinkError{err}
	}
	return true, nil
}
