package tracks

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/loomrun/loom/source"
)

// points are the elements of GPX that have coordinates: of tracks, of routes, and by themselves.
var points = map[string]bool{"trkpt": true, "rtept": true, "wpt": true}

func beginsGPX(head []byte) bool { return bytes.Contains(head, []byte("<gpx")) }

// readGPX gives the points of a GPX file to a sink. Offsets are those of the start tags, for a file that is not UTF-8 in the text made of it.
//
// Entities that XML does not define and the instructions of a document type are not followed.
func readGPX(ctx context.Context, in io.Reader, sink source.Sink) error {
	m := &meter{in: in}
	g := gpx{sink: sink, xml: xml.NewDecoder(m)}
	g.xml.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		known, err := htmlindex.Get(label)
		if err != nil {
			return nil, fmt.Errorf("the character set is not known: %q", label)
		}
		return known.NewDecoder().Reader(in), nil
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m.next()
		at := g.xml.InputOffset()
		token, err := g.xml.Token()
		if err == io.EOF {
			switch {
			case !g.root && at > 0:
				return g.end(at, "the file holds no GPX")
			}
			return g.end(at, "")
		}
		if err != nil {
			reason, failed := m.ending(err, "the file is damaged XML from here"+where(err))
			if failed != nil {
				return failed
			}
			return g.end(at, reason)
		}
		reason, err := g.take(at, token)
		if err != nil {
			return err
		}
		if reason != "" {
			return g.end(at, reason)
		}
	}
}

// where names the line of a fault.
func where(err error) string {
	var fault *xml.SyntaxError
	if errors.As(err, &fault) {
		if strings.Contains(fault.Msg, "EOF") {
			return fmt.Sprintf(" (line %d: it ends too early; the export may have been cut short)", fault.Line)
		}
		return fmt.Sprintf(" (line %d)", fault.Line)
	}
	return ""
}

// gpx is a GPX file that is being read.
type gpx struct {
	sink source.Sink
	xml  *xml.Decoder

	root    bool     // that the outermost element is gpx
	path    []string // the elements that are open
	track   string   // the name of the track or route that is open
	text    strings.Builder
	inPoint int // the number of open elements at the start of the point that is open, 0 where none is
	at      int64
	point   Place
	lat     string
	lon     string
	time    string

	timeless int // points without a time
}

// take takes a token. The reason says why nothing behind it can be read.
func (g *gpx) take(at int64, token xml.Token) (reason string, err error) {
	switch t := token.(type) {
	case xml.StartElement:
		if len(g.path) == maxDepth {
			return fmt.Sprintf("more than %d elements stand within each other; nothing behind this place was read", maxDepth), nil
		}
		if len(g.path) == 0 {
			if t.Name.Local != "gpx" {
				return "the file holds no GPX", nil
			}
			g.root = true
		}
		g.path = append(g.path, t.Name.Local)
		g.text.Reset()
		switch {
		case g.inPoint == 0 && points[t.Name.Local]:
			g.inPoint, g.at = len(g.path), at
			g.point, g.lat, g.lon, g.time = Place{Track: g.track}, attribute(t, "lat"), attribute(t, "lon"), ""
		case t.Name.Local == "trk", t.Name.Local == "rte":
			g.track = ""
		}
	case xml.CharData:
		if g.text.Len()+len(t) <= MaxItemBytes {
			g.text.Write(t)
		}
	case xml.EndElement:
		name, depth := t.Name.Local, len(g.path)
		text := strings.TrimSpace(g.text.String())
		g.text.Reset()
		g.path = g.path[:depth-1]
		switch {
		case g.inPoint == 0:
			if name == "name" && depth > 1 && (g.path[depth-2] == "trk" || g.path[depth-2] == "rte") {
				g.track = clip(text)
			}
		case depth == g.inPoint:
			g.inPoint = 0
			return "", g.put()
		default:
			g.member(name, text, depth == g.inPoint+1)
		}
	}
	return "", nil
}

// member takes what an element within a point says. Only those that stand in the point itself are of GPX; of the extensions within it only a speed is
// taken, which Garmin and OsmAnd put there.
func (g *gpx) member(name, text string, direct bool) {
	switch {
	case name == "speed":
		g.point.Speed = number(text)
	case !direct:
	case name == "time":
		g.time = text
	case name == "ele":
		g.point.Altitude = number(text)
	case name == "name":
		g.point.Name = text
	case name == "desc", name == "cmt":
		if g.point.Note == "" {
			g.point.Note = text
		}
	}
}

func (g *gpx) put() error {
	if g.time == "" {
		g.timeless++
		return nil
	}
	lat, lon := number(g.lat), number(g.lon)
	if lat == nil || lon == nil {
		return g.sink.Skip(g.at, "the point has no latitude or no longitude in decimal degrees")
	}
	t, err := parseTime(g.time)
	if err != nil {
		return g.sink.Skip(g.at, "the time of the point is not one of ISO 8601")
	}
	g.point.Lat, g.point.Lon = *lat, *lon
	r, reason := g.point.record(t, "")
	if reason != "" {
		return g.sink.Skip(g.at, reason)
	}
	return g.sink.Put(g.at, r)
}

// end tells the sink of the points without a time and of why the reading ended early, if it did.
func (g *gpx) end(at int64, reason string) error {
	if g.timeless > 0 {
		timeless := fmt.Sprintf("%d points have no time: they say where, but not when", g.timeless)
		if g.timeless == 1 {
			timeless = "1 point has no time: it says where, but not when"
		}
		reason = strings.Join(filled(reason, timeless), "; also, ")
	}
	if reason == "" {
		return nil
	}
	return g.sink.Skip(at, reason)
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// number reads a decimal number, nil where it is none.
func number(s string) *float64 {
	s = strings.TrimSpace(s)
	if strings.Trim(s, "0123456789+-.eE") != "" || len(s) > 64 { // neither hexadecimal nor Inf
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil
	}
	return &n
}

// parseTime reads a time of ISO 8601 in the forms that tracks have. One without a zone is UTC, which GPX demands.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if err == nil {
			break
		}
		t, err = time.Parse(form, s)
	}
	return t, err
}
