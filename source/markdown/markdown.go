// Package markdown reads pages: a folder of Markdown files, as Obsidian and other programs keep them, and the pages of an instance itself.
//
// A page is CommonMark; between a first line of --- and the next may stand front matter, in
// the plain part of YAML. Its body is what a reader of the page sees; the exact text is in the details, which are a [Page].
//
// The reference of a page is its path below the source's location, with forward slashes and in the normal form C of Unicode. What has a
// name in front matter:
//
//	title                            else the first heading of level 1, the name of the folder of about.md below People, or the file's name
//	kind                             project, projects, entity, entities; else a page below Projects or projects is a project, People/<Name>/about.md
//	                                 an entity, and all others are pages
//	aliases, alias, id               names that the page is found by too
//	tags, tag, status, summary or description, name, bio
//	email or emails, phone or phones, handle or handles
//	updated or modified, date, created  the time of the page, the first of these that is one; else the file's
//
// Names are compared without case. Everything else of the front matter is kept in the details as it stands.
//
// Front matter that cannot be read does not lose a page: the page is kept as if it were text, and its fault is skipped with
// its place, so that a person finds out. A value that is left empty, as templates leave them, is no fault.
//
// Folders that begin with a dot (.git, .obsidian, .trash) and node_modules are not looked into.
package markdown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/store"
)

// Format is the name of the format in a source.
const Format = "markdown"

// MaxPageBytes bounds the file of a page.
const MaxPageBytes = boundedfile.MiB

// Reader reads the pages of one file, or of all files that end in .md or .markdown below a folder. Dates of front matter without a zone are in zone.
func Reader(location string, zone *time.Location) source.Reader { return reader{location, zone} }

// Detect tells a place that holds pages: a file by its ending, or a folder with such a file among the first few thousand.
func Detect(location string) (format string, ok bool) {
	if !source.Any(location, enter, func(c source.Container) bool { return c.Name == "." && wanted(location) || wanted(c.Name) }) {
		return "", false
	}
	return Format, true
}

func wanted(name string) bool {
	if strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return true
	}
	return false
}

func enter(folder string) bool {
	name := path.Base(folder)
	return !strings.HasPrefix(name, ".") && name != "node_modules"
}

type reader struct {
	location string
	zone     *time.Location
}

func (r reader) Containers(ctx context.Context) iter.Seq2[source.Container, error] {
	return source.Files(ctx, r.location, wanted, enter)
}

func (r reader) Read(ctx context.Context, c source.Container, _ source.Before, sink source.Sink) (string, error) {
	file := source.Path(r.location, c)
	below := c.Name
	if below == "." {
		below = path.Base(file)
	}
	text, changed, err := content(file)
	switch {
	case errors.Is(err, boundedfile.ErrTooLarge):
		return "", sink.Skip(0, "the page is larger than "+MaxPageBytes.String())
	case err != nil:
		return "", err
	}
	return "", take(below, text, changed.In(r.zone), sink)
}

func content(file string) (text []byte, changed time.Time, err error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, changed, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, changed, err
	}
	text, err = boundedfile.ReadFrom(f, file, MaxPageBytes)
	return text, info.ModTime(), err
}

// Record makes the record of a page from its path, its exact text and when it was changed, as a reading of a file does; dates of front matter
// without a zone are in that of changed. The path ends in .md or .markdown, its parts are separated by one slash, and none of them begins with
// a dot. The error says why there is no record. What a sync would tell beside a record, such as front matter that cannot be read, is no error:
// the page is kept, [Page.Source] to the byte, though its text may not be searched.
func Record(below string, text []byte, changed time.Time) (*store.Record, error) {
	hidden := func(part string) bool { return strings.HasPrefix(part, ".") }
	switch {
	case !fs.ValidPath(below) || strings.Contains(below, "\x00") || slices.ContainsFunc(strings.Split(below, "/"), hidden) || !wanted(below):
		return nil, fmt.Errorf("%q is no path of a page: name a file that ends in .md, below folders that begin with no dot", below)
	case len(text) > int(MaxPageBytes):
		return nil, fmt.Errorf("page %s: it is larger than %s", below, MaxPageBytes)
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return nil, fmt.Errorf("page %s: it begins with a byte order mark, which would not be kept", below)
	}
	if at := document.FirstInvalid(text); at < len(text) {
		return nil, fmt.Errorf("page %s: it is not UTF-8 from byte %d on", below, at)
	}
	r, wrong := pageOf(below, text, changed)
	if r == nil {
		return nil, fmt.Errorf("page %s: %s", below, wrong.reason)
	}
	return r, nil
}

// take gives the page at a path to a sink. Changed is when the file was, in the zone that dates are in.
func take(below string, text []byte, changed time.Time, sink source.Sink) error {
	if at := document.FirstInvalid(text); at < len(text) {
		return sink.Skip(int64(at), "the page is not UTF-8 from here on: save it as UTF-8")
	}
	r, fault := pageOf(below, text, changed)
	if r != nil {
		if err := sink.Put(0, r); err != nil {
			return err
		}
	}
	if fault != nil {
		return sink.Skip(fault.at, fault.reason)
	}
	return nil
}
