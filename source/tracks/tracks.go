// Package tracks reads where a person was and what they did: GPX files (1.0 and 1.1), the records of an OwnTracks recorder, and exports of
// ActivityWatch. Files of hundreds of megabytes are read piece by piece.
//
// A point with a time becomes a record of kind place; its details are a [Place]. All points are kept, however near they are to each
// other. A place is not searched by words unless it has a name, and so is a waypoint. The reference of a place is its time and its coordinates,
// with a hash of the name and the device where it has any: the same point twice, in one file or in an older and a newer export,
// is one record.
//
// What was done for a while becomes a record of kind activity; its details are an [Activity]. Its reference is its time with a hash of
// the bucket and of what was observed: an event that had not ended when it was exported is the same record in the next export.
//
// Coordinates, times and durations that cannot be are skipped with the byte offset of the point. What has no time is not
// kept: it says where, but not when. How many of these there are is told once for each file.
package tracks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// The formats, by their names in a source.
const (
	GPX           = "gpx"
	OwnTracks     = "owntracks"
	ActivityWatch = "activitywatch"
)

// Limits of what is read.
const (
	MaxItemBytes = 1 << 20 // of one point, event or line
	maxDepth     = 64      // elements within each other
	maxTextBytes = 4 << 10 // of a name, a title; longer is cut
)

// first and last bound the times that are believed.
var (
	first = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	last  = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// format is how the files of one format are told and read.
type format struct {
	extensions []string
	begins     func(head []byte) bool // of the first kilobytes of a file
	read       func(ctx context.Context, in io.Reader, sink source.Sink) error
}

var formats = map[string]format{
	GPX:           {[]string{".gpx"}, beginsGPX, readGPX},
	OwnTracks:     {[]string{".rec", ".json", ".jsonl", ".ndjson"}, beginsOwnTracks, readOwnTracks},
	ActivityWatch: {[]string{".json"}, beginsActivityWatch, readActivityWatch},
}

func (f format) wants(name string) bool {
	return slices.Contains(f.extensions, strings.ToLower(path.Ext(name)))
}

// Reader reads the files of one format: the file at a location, or all below it that end as files of the format do.
func Reader(name, location string) (source.Reader, error) {
	f, ok := formats[name]
	if !ok {
		return nil, fmt.Errorf("there is no format %q of places or activity: the formats are %s, %s, %s", name, GPX, OwnTracks, ActivityWatch)
	}
	return reader{f, location}, nil
}

type reader struct {
	format
	location string
}

func (r reader) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return source.Files(ctx, r.location, r.wants, nil)
}

func (r reader) Read(ctx context.Context, c source.Container, _ source.Before, sink source.Sink) (string, error) {
	f, err := boundedfile.Open(source.Path(r.location, c))
	if err != nil {
		return "", err
	}
	defer f.Close()
	return "", r.read(ctx, f, sink)
}

// Detect tells the format of a file, or of the first file below a folder that has one of them. It looks at the first few thousand.
func Detect(location string) (name string, ok bool) {
	ok = source.Any(location, nil, func(c source.Container) bool {
		var head []byte
		for _, name = range []string{GPX, OwnTracks, ActivityWatch} {
			f := formats[name]
			if c.Name != "." && !f.wants(c.Name) {
				continue
			}
			if head == nil {
				head = headOf(source.Path(location, c))
			}
			if f.begins(head) {
				return true
			}
		}
		return false
	})
	if !ok {
		name = ""
	}
	return name, ok
}

func headOf(file string) []byte {
	head, err := boundedfile.Head(file, 16<<10)
	if err != nil {
		return []byte{}
	}
	return head
}

// Place is what the details of a record of kind place hold. Coordinates are WGS 84, in degrees with at most seven
// decimals, which is a centimetre.
type Place struct {
	Lat      float64  `json:"lat"`
	Lon      float64  `json:"lon"`
	Accuracy *float64 `json:"accuracy,omitempty"` // metres
	Altitude *float64 `json:"altitude,omitempty"` // metres
	Speed    *float64 `json:"speed,omitempty"`    // metres a second
	Name     string   `json:"name,omitempty"`
	Note     string   `json:"note,omitempty"`
	Address  string   `json:"address,omitempty"`
	Regions  []string `json:"regions,omitempty"` // that the person named and was in
	Track    string   `json:"track,omitempty"`   // the name of what the point is of
	Device   string   `json:"device,omitempty"`
}

// record makes a record of a place at a time, or says why it cannot. The device is what tells the places of one device from those of another.
func (p Place) record(t time.Time, device string) (*store.Record, string) {
	if math.IsNaN(p.Lat) || math.IsNaN(p.Lon) || math.Abs(p.Lat) > 90 || math.Abs(p.Lon) > 180 {
		return nil, "the point is not on the Earth: its latitude is beyond 90 or its longitude beyond 180 degrees"
	}
	if t.Before(first) || !t.Before(last) {
		return nil, "the time of the point is not within the years 1900 to 2199"
	}
	p.Lat, p.Lon = rounded(p.Lat, 7), rounded(p.Lon, 7)
	p.Accuracy, p.Altitude, p.Speed = measure(p.Accuracy, 0), measure(p.Altitude, -math.MaxFloat64), measure(p.Speed, 0)
	p.Name, p.Note, p.Address = clip(p.Name), clip(p.Note), clip(p.Address)
	p.Track, p.Device = clip(p.Track), clip(p.Device)
	t = t.UTC()
	r := &store.Record{
		Kind: store.Place, Time: t, Title: p.Name, Unsearched: p.Name == "",
		Ref: t.Format(time.RFC3339Nano) + "@" + degrees(p.Lat) + "," + degrees(p.Lon),
	}
	if p.Name+device != "" {
		r.Ref += "/" + hashed(p.Name, device)
	}
	if !r.Unsearched {
		r.Body = strings.Join(filled(p.Name, p.Note, p.Address), "\n")
	}
	return finish(r, p)
}

func finish(r *store.Record, details any) (*store.Record, string) {
	var err error
	if r.Details, err = json.Marshal(details); err != nil {
		return nil, fmt.Sprintf("the item cannot be kept: %v", err)
	}
	return r, ""
}

// measure is a number as it is kept: to the centimetre, and none where it is less than it can be.
func measure(n *float64, least float64) *float64 {
	if n == nil || math.IsNaN(*n) || math.IsInf(*n, 0) || *n < least {
		return nil
	}
	kept := rounded(*n, 2)
	return &kept
}

func rounded(n float64, decimals int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(n, 'f', decimals, 64), 64)
	if err != nil || short == 0 { // not minus nought
		return 0
	}
	return short
}

func degrees(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:10])
}

// clip makes one line of a text, without control characters, and cuts it where it is long.
func clip(s string) string {
	if s == "" {
		return ""
	}
	if len(s) > 4*maxTextBytes {
		s = s[:4*maxTextBytes]
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return r <= ' ' || r >= 0x7f && r <= 0xa0
	}), " ")
	if len(s) <= maxTextBytes {
		return s
	}
	n := maxTextBytes
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// errTooLong ends a reading of a file in which one item is longer than any may be: behind it nothing can be told apart.
var errTooLong = errors.New("an item of more than 1 MiB stands here; nothing behind it was read")

// meter gives a decoder at most so many bytes before it must say that it is done with an item. So a file cannot make it hold more
// in memory, whatever stands in it.
type meter struct {
	in   io.Reader
	left int
	// failed is why the last read failed; decoders do not always say so.
	failed error
}

// next lets the decoder read another item.
func (m *meter) next() { m.left = MaxItemBytes }

func (m *meter) Read(b []byte) (int, error) {
	if m.left <= 0 {
		m.failed = errTooLong
		return 0, m.failed
	}
	n, err := m.in.Read(b[:min(len(b), m.left)])
	m.left -= n
	if err != nil && err != io.EOF {
		m.failed = err
	}
	return n, err
}

// ending says what to do when a decoder fails: an error of the disk is one of the file, all else is what stands in it.
func (m *meter) ending(err error, damage string) (reason string, failed error) {
	switch {
	case m.failed == errTooLong:
		return errTooLong.Error(), nil
	case m.failed != nil:
		return "", m.failed
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damage + ": it ends too early; the export may have been cut short", nil
	}
	return damage + "; nothing behind this place was read", nil
}
