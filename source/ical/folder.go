package ical

import (
	"bytes"
	"context"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/source"
)

// Format is the name of the format in a source.
const Format = "ics"

// Reader reads the calendar of one file, or of all files that end in .ics below a folder. A file of more than [MaxFile] bytes is
// not read. Dates and floating times are taken in the zone, UTC if it is nil. A calendar that its file gives no name has that of the file.
func Reader(location string, zone *time.Location) source.Reader { return folder{location, zone} }

// Detect tells a place that holds calendars: a file that begins with one, or a folder with a file that does. It looks at the first
// few thousand files of a folder.
func Detect(location string) (format string, ok bool) {
	if !source.Any(location, nil, func(c source.Container) bool {
		return (c.Name == "." || wanted(c.Name)) && begins(source.Path(location, c))
	}) {
		return "", false
	}
	return Format, true
}

// begins tells a file whose first line that is not empty begins a calendar.
func begins(file string) bool {
	head, _ := boundedfile.Head(file, 1024) // of what cannot be read, nothing
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	const begin = "BEGIN:VCALENDAR"
	return len(head) >= len(begin) && strings.EqualFold(string(head[:len(begin)]), begin)
}

func wanted(name string) bool { return strings.EqualFold(path.Ext(name), ".ics") }

// folder is the reader of files.
type folder struct {
	location string
	zone     *time.Location
}

// Containers implements [source.Reader].
func (f folder) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return source.Files(ctx, f.location, wanted, nil)
}

// Read implements [source.Reader].
func (f folder) Read(ctx context.Context, c source.Container, _ source.Before, sink source.Sink) (string, error) {
	file := source.Path(f.location, c)
	data, err := boundedfile.ReadDirect(file, MaxFile)
	if err != nil {
		return "", err
	}
	stem := strings.ToValidUTF8(strings.TrimSuffix(path.Base(file), path.Ext(file)), "\ufffd")
	Read(data, func(item Item) bool {
		if err = ctx.Err(); err != nil {
			return false
		}
		if item.Calendar == "" {
			item.Calendar = stem
		}
		err = f.give(item, sink)
		return err == nil
	})
	return "", err
}

// give gives what a sink is to have of an item.
func (f folder) give(item Item, sink source.Sink) error {
	if item.Event == nil {
		return sink.Skip(item.Offset, item.Skipped)
	}
	r, err := Record(item, f.zone)
	if err != nil {
		return sink.Skip(item.Offset, err.Error())
	}
	return sink.Put(item.Offset, r)
}
