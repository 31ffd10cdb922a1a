// Package formats says which reader reads what: one row for each format of each kind of source.
package formats

import (
	"fmt"
	"strings"
	"time"

	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/source/ical"
	"github.com/loomrun/loom/source/mail"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/source/tracks"
	"github.com/loomrun/loom/source/vcard"
	"github.com/loomrun/loom/store"
)

// Setting is what readers need to know beside the source.
type Setting struct {
	Pages string         // the folder of the File Cabinet, where the source [store.FileCabinet] is
	Zone  *time.Location // of the owner: what dates and times without a zone are in; nil is UTC
}

// format is how one kind of source is read in one format.
type format struct {
	kind   store.SourceKind
	name   string
	reader func(location string, in Setting) (source.Reader, error)
	// detect tells the places that hold the format. Several rows may share one, which gives the name.
	detect func(location string) (name string, ok bool)
}

// formats are tried in this order.
var formats = []format{
	{store.MailSource, mail.Mbox, letters(mail.Mbox), mail.Detect},
	{store.MailSource, mail.Maildir, letters(mail.Maildir), mail.Detect},
	{store.MailSource, mail.EML, letters(mail.EML), mail.Detect},
	{store.CalendarSource, ical.Format, func(at string, in Setting) (source.Reader, error) { return ical.Reader(at, in.Zone), nil }, ical.Detect},
	{store.ContactsSource, vcard.Format, func(at string, _ Setting) (source.Reader, error) { return vcard.Reader(at), nil }, vcard.Detect},
	{store.PagesSource, markdown.Format, func(at string, in Setting) (source.Reader, error) { return markdown.Reader(at, in.Zone), nil }, markdown.Detect},
	{store.PlacesSource, tracks.GPX, track(tracks.GPX), tracks.Detect},
	{store.PlacesSource, tracks.OwnTracks, track(tracks.OwnTracks), tracks.Detect},
	{store.ActivitySource, tracks.ActivityWatch, track(tracks.ActivityWatch), tracks.Detect},
}

func letters(name string) func(string, Setting) (source.Reader, error) {
	return func(location string, _ Setting) (source.Reader, error) { return mail.Reader(name, location) }
}

func track(name string) func(string, Setting) (source.Reader, error) {
	return func(location string, _ Setting) (source.Reader, error) { return tracks.Reader(name, location) }
}

// Names are the formats of a kind of source, in the order they are tried in.
func Names(kind store.SourceKind) []string {
	var names []string
	for _, f := range formats {
		if f.kind == kind {
			names = append(names, f.name)
		}
	}
	return names
}

// Reader gives the reader of a source.
func Reader(s store.Source, in Setting) (source.Reader, error) {
	if in.Zone == nil {
		in.Zone = time.UTC
	}
	location := s.Location
	if s.Name == store.FileCabinet {
		location = in.Pages
	}
	for _, f := range formats {
		if f.kind == s.Kind && f.name == s.Format {
			return f.reader(location, in)
		}
	}
	return nil, fmt.Errorf("source %s is %s in the format %s, which this version of loom does not read", s.Name, s.Kind, s.Format)
}

// Detect gives the format of what is at a location, which is a file or a folder. Where it is none of the kind the error says so, and which
// kind it would be.
func Detect(kind store.SourceKind, location string) (string, error) {
	if found, ok := detect(location, func(k store.SourceKind) bool { return k == kind }); ok {
		return found.name, nil
	}
	err := fmt.Errorf("%s holds no %s that loom can read (%s)", location, kind, strings.Join(Names(kind), ", "))
	if found, ok := detect(location, func(k store.SourceKind) bool { return k != kind }); ok {
		err = fmt.Errorf("%w; but there is %s, which is of the kind %s", err, found.name, found.kind)
	}
	return "", err
}

func detect(location string, among func(store.SourceKind) bool) (format, bool) {
	for _, f := range formats {
		if !among(f.kind) {
			continue
		}
		if name, ok := f.detect(location); ok && name == f.name {
			return f, true
		}
	}
	return format{}, false
}
