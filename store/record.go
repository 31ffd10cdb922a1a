package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind says what a record is. The kind of a record and the kind of its source
// are different things: a mail source holds mail, a pages source holds pages.
type Kind string

// The kinds of records.
const (
	Mail     Kind = "mail"     // one message
	Event    Kind = "event"    // one calendar series with its overridden instances
	Contact  Kind = "contact"  // one card of one person or organisation
	Group    Kind = "group"    // one group of contacts
	Page     Kind = "page"     // one Markdown page
	Place    Kind = "place"    // where the person was at one instant
	Activity Kind = "activity" // what the person did for a while
)

// Kinds are all kinds there are.
var Kinds = []Kind{Mail, Event, Contact, Group, Page, Place, Activity}

// Limits of one record. What is longer is cut by the importer, which says so in
// Details, or skipped with the reason; the store refuses it.
const (
	MaxRefBytes     = 1 << 10
	MaxTitleBytes   = 4 << 10
	MaxBodyBytes    = 4 << 20
	MaxDetailsBytes = 4 << 20
	MaxParties      = 1000
	MaxKeys         = 200
)

// A Party takes part in a record: who wrote a message or was sent it, who
// organizes an event or is invited.
type Party struct {
	Name    string // as the source shows it, "" where it shows none
	Address Identifier
}

// Record is what an importer makes of one item of a source. It holds no label:
// the store makes the label from the source's trusted columns (D39), never from
// what a record says.
//
// A record is immutable once it is given to the store.
type Record struct {
	// Ref names the record within its source, the same each time it is read: a
	// Message-ID with a hash of the content behind it, the UID of an event, the
	// path of a page.
	Ref  string
	Kind Kind
	// Title is the subject, the summary, the name of a card.
	Title string
	// Body is plain text, what is searched and read: no markup, no hidden text.
	Body string
	// Time is when it happened: the date of a message, the start of a series, the
	// instant of a place. The zero time is a record without one, which sorts
	// before all others.
	Time time.Time
	// Until is when it is over: the end of an event's last instance, of an
	// activity. Zero means at once; [Forever] is a series without an end.
	Until time.Time
	// From and To are the senders and the recipients (all that a message was sent
	// to, openly), the organizer and the attendees.
	From, To []Party
	// Folder is where the source keeps the record: a mailbox, a calendar's name, a
	// folder of pages.
	Folder string
	// Thread names the conversation a message belongs to, "" for other kinds.
	Thread string
	// Keys are the exact names a record of the kinds contact, group and page is
	// looked up by: [Identifier.Key] of its addresses, its path, its aliases. Parties
	// are found without them.
	Keys []string
	// Details is a JSON object with what only this kind has; its importer documents
	// the members.
	Details jsontext.Value
	// Unsearched leaves the record out of the index of words: a place has none.
	Unsearched bool
}

// Check says what is wrong with a record. An importer that makes such a record has a fault.
func (r *Record) Check() error {
	switch {
	case r.Ref == "" || len(r.Ref) > MaxRefBytes:
		return fmt.Errorf("a record's reference has %d bytes: 1 to %d can be", len(r.Ref), MaxRefBytes)
	case !slices.Contains(Kinds, r.Kind):
		return fmt.Errorf("there is no kind of record %q", r.Kind)
	case len(r.Title) > MaxTitleBytes || len(r.Folder) > MaxTitleBytes || len(r.Thread) > MaxTitleBytes:
		return fmt.Errorf("a record's title, folder or thread has more than %d bytes", MaxTitleBytes)
	case len(r.Body) > MaxBodyBytes:
		return fmt.Errorf("a record's body has more than %d bytes", MaxBodyBytes)
	case len(r.Details) > MaxDetailsBytes || r.Details != nil && (r.Details.Kind() != '{' || !r.Details.IsValid()):
		return fmt.Errorf("a record's details are no object, or have more than %d bytes", MaxDetailsBytes)
	case len(r.From) > MaxParties || len(r.To) > MaxParties || len(r.Keys) > MaxKeys:
		return fmt.Errorf("a record has more than %d senders or recipients, or more than %d keys", MaxParties, MaxKeys)
	}
	for _, k := range r.Keys {
		if k == "" || len(k) > MaxRefBytes || strings.Contains(k, "\n") {
			return fmt.Errorf("a record's key is empty, has more than %d bytes, or a line feed", MaxRefBytes)
		}
		if !plain(k) {
			return errNotPlain
		}
	}
	for _, parties := range [][]Party{r.From, r.To} {
		for _, p := range parties {
			if len(p.Name) > MaxTitleBytes || len(p.Address) > MaxTitleBytes || strings.Contains(p.Name, "\n") || strings.Contains(string(p.Address), "\n") {
				return fmt.Errorf("the name or address of one who takes part has more than %d bytes, or a line feed", MaxTitleBytes)
			}
			if !plain(p.Name) || !plain(string(p.Address)) {
				return errNotPlain
			}
		}
	}
	for _, text := range []string{r.Ref, r.Title, r.Body, r.Folder, r.Thread} {
		if !plain(text) {
			return errNotPlain
		}
	}
	return nil
}

var errNotPlain = errors.New("a text of a record is not UTF-8, or holds a NUL")

func plain(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// Forever is the Until of what never ends.
var Forever = time.Unix(math.MaxInt64>>24, 0).UTC()

// Hash is the SHA-256 of everything the record holds: two readings with one hash are the
// same record unchanged.
func (r *Record) Hash() [sha256.Size]byte {
	h := sha256.New()
	text := func(parts ...string) {
		for _, s := range parts {
			write(h, uint64(len(s)))
			h.Write([]byte(s))
		}
	}
	parties := func(parties []Party) {
		write(h, uint64(len(parties)))
		for _, p := range parties {
			text(p.Name, string(p.Address))
		}
	}
	text(r.Ref, string(r.Kind), r.Title, r.Body, r.Folder, r.Thread, string(r.Details))
	write(h, uint64(seconds(r.Time)))
	write(h, uint64(seconds(r.Until)))
	parties(r.From)
	parties(r.To)
	write(h, uint64(len(r.Keys)))
	text(r.Keys...)
	if r.Unsearched {
		write(h, 1)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func write(h hash.Hash, n uint64) {
	var b [8]byte
	h.Write(binary.BigEndian.AppendUint64(b[:0], n))
}

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.Unix()
}

// ID orders the records of a store by their time; those of one second by a hash of source
// and reference, so that the order of two records never tells of a third. It is the row id
// in the store and the index; it changes when the record's time does.
type ID int64

// The parts of an ID: 38 bits of seconds from the year 1 on, above 24 bits of hash.
const (
	tieBits    = 24
	maxSeconds = 1<<38 - 1
	yearOne    = -62135596800 // seconds of 0001-01-01T00:00:00Z in Unix time
)

// NewID is the ID of a record unless another record has it: then the next that is free.
func NewID(source, ref string, t time.Time) ID {
	sum := sha256.Sum256([]byte(source + "\x00" + ref))
	tie := binary.BigEndian.Uint32(sum[:4]) >> (32 - tieBits)
	return FirstID(t) | ID(tie)
}

// FirstID is the least ID a record of that time can have: what IDs of a window of time are compared
// with. Times before the year 1, the zero time among them, are its first second; times after 8711 its last.
func FirstID(t time.Time) ID {
	s := int64(0)
	if !t.IsZero() {
		s = min(max(t.Unix()-yearOne, 1), maxSeconds)
	}
	return ID(s << tieBits)
}

// LastID is above every ID there can be.
const LastID = ID(maxSeconds+1) << tieBits

// token is a word of the index that no text can hold by chance.
func token(letter byte, key string) string {
	sum := sha256.Sum256([]byte(key))
	return string(letter) + hex.EncodeToString(sum[:12])
}
