package store

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/label"
)

// SourceKind says what a source holds.
type SourceKind string

// The kinds of sources.
const (
	MailSource     SourceKind = "mail"
	CalendarSource SourceKind = "calendar"
	ContactsSource SourceKind = "contacts"
	PagesSource    SourceKind = "pages"
	PlacesSource   SourceKind = "places"
	ActivitySource SourceKind = "activity"
)

// classes are the source-class atoms of D39, by kind of source.
var classes = map[SourceKind]string{
	MailSource:     "email",
	CalendarSource: "calendar",
	ContactsSource: "contact",
	PagesSource:    "document",
	PlacesSource:   "location",
	ActivitySource: "activity",
}

// SourceKinds are all kinds there are, in the order people are told them.
var SourceKinds = []SourceKind{MailSource, CalendarSource, ContactsSource, PagesSource, PlacesSource, ActivitySource}

// Classes are the classes of all kinds of sources, sorted: what a ceiling that is to read any of them names.
func Classes() []string { return slices.Sorted(maps.Values(classes)) }

// FileCabinet is the name of the source every instance has: the pages folder inside it.
const FileCabinet = "fc"

// Limits of what an instance holds.
const (
	MaxSources       = 1000 // that are synced
	MaxFacets        = 200
	MaxLocationBytes = 4 << 10
)

// Source is one place records come from: a mail folder, a calendar file, a folder of pages. Its kind, format and facets
// are the trusted columns that its records' labels are made from.
type Source struct {
	Number   int64 // of this store; given by the store, never shown
	Name     string
	Kind     SourceKind
	Format   string   // how it is read: mbox, maildir, eml, ics, vcard, markdown, gpx, owntracks, activitywatch; [WrittenFormat] is not read
	Location string   // an absolute path; "" for the file cabinet
	Facets   []string // sorted
	Added    time.Time
	Written  string // of a source of [WrittenFormat] the label of its documents in canonical JSON, else ""
}

// Connector names what observed the records: the kind and the format of the source.
func (s Source) Connector() string { return string(s.Kind) + "." + s.Format }

// Class is the class atom of the source's records.
func (s Source) Class() string { return classes[s.Kind] }

// LabelOf is the label of every record of a source: a pure function of trusted columns (D39). Of a source of written documents it is the
// one they were written with (D42); where that cannot be read, one that fits no ceiling.
func LabelOf(owner string, s Source) label.Label {
	if s.IsWritten() {
		return readWritten(s.Written)
	}
	return label.OfRecord(owner, s.Class(), s.Connector(), s.Facets)
}

// nameForm is the form of facets and of names of sources (5.1).
var nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)

// CheckFacet says what is wrong with the name of a facet.
func CheckFacet(name string) error {
	if !nameForm().MatchString(name) {
		return fmt.Errorf("%q cannot be a facet: use 1 to 64 of a-z, 0-9 and -, and begin with a letter or digit", name)
	}
	return nil
}

// Check says what is wrong with a source.
func (s Source) Check() error {
	if !nameForm().MatchString(s.Name) {
		return fmt.Errorf("%q cannot be the name of a source: use 1 to 64 of a-z, 0-9 and -, and begin with a letter or digit", s.Name)
	}
	if classes[s.Kind] == "" {
		return fmt.Errorf("there is no kind of source %q: the kinds are %s", s.Kind, listed(SourceKinds))
	}
	if s.IsWritten() || s.Written != "" {
		return fmt.Errorf("source %s: the format %s is of what runs write; nothing is read in it", s.Name, WrittenFormat)
	}
	if s.Format == "" || len(s.Location) > MaxLocationBytes {
		return fmt.Errorf("source %s: no format, or a location of more than %d bytes", s.Name, MaxLocationBytes)
	}
	for i, f := range s.Facets {
		if err := CheckFacet(f); err != nil {
			return fmt.Errorf("source %s: %w", s.Name, err)
		}
		if i > 0 && s.Facets[i-1] >= f {
			return fmt.Errorf("source %s: facets are not sorted, or named twice", s.Name)
		}
	}
	return nil
}

func listed(kinds []SourceKind) string {
	s := ""
	for i, k := range kinds {
		if i > 0 {
			s += ", "
		}
		s += string(k)
	}
	return s
}
