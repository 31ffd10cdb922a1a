package vcard

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/store"
)

// Limits of what is kept of a card. What is longer is cut, and the member cut of the details says so.
const (
	MaxValues     = 100     // of each list: addresses, numbers
	MaxValueBytes = 2 << 10 // of each text but the note
	MaxNoteBytes  = 256 << 10
	MaxMembers    = 20_000 // of a group
	maxKeys       = 60     // of each kind of identifier: together less than store.MaxKeys
	maxRefBytes   = 500
)

// Contact is what the details of a record of kind contact hold.
type Contact struct {
	Name       string   `json:"name"`
	Given      string   `json:"given,omitempty"`
	Family     string   `json:"family,omitempty"`
	Nicknames  []string `json:"nicknames,omitempty"`
	Emails     []string `json:"emails,omitempty"`  // in the form of their identifiers, or as they stand where they are none
	Phones     []string `json:"phones,omitempty"`  // the same
	Handles    []string `json:"handles,omitempty"` // without the service
	Org        string   `json:"org,omitempty"`     // with its units, the largest first
	Title      string   `json:"title,omitempty"`
	Role       string   `json:"role,omitempty"`
	Birthday   string   `json:"birthday,omitempty"` // 1985-04-12, --04-12 without a year, or as it stands
	Addresses  []string `json:"addresses,omitempty"`
	URLs       []string `json:"urls,omitempty"`
	Note       string   `json:"note,omitempty"` // private: no part of a summary
	Categories []string `json:"categories,omitempty"`
	UID        string   `json:"uid,omitempty"`
	Kind       string   `json:"kind,omitempty"` // org, location, …; none for an individual
	Photo      bool     `json:"photo,omitzero"` // that the card has one, which is not kept
	Cut        bool     `json:"cut,omitzero"`   // that something was longer than it is kept
}

// Group is what the details of a record of kind group hold.
type Group struct {
	Name string `json:"name"`
	// Members are the references of cards, or mailto: or tel: with an identifier.
	Members []string `json:"members,omitempty"`
	UID     string   `json:"uid,omitempty"`
	Cut     bool     `json:"cut,omitzero"`
}

// PersonID is the id of a person whose card has a reference: a pure function of it, the same in every source and at
// every reading. It is 20 characters of RFC 4648's base 32, in lower case, of its SHA-256.
func PersonID(ref string) string {
	sum := sha256.Sum256([]byte(ref))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

// recordOf makes a record of the lines of a card, or says why it cannot.
func recordOf(lines [][]byte) (*store.Record, string) {
	all, cut := properties(lines)
	b := builder{Contact: Contact{Cut: cut}}
	for _, p := range all {
		b.take(p)
	}
	if b.group {
		return b.groupRecord()
	}
	return b.contactRecord()
}

// builder gathers what a card says.
type builder struct {
	Contact
	composed  string // the name of N
	preferred bool   // that Name is of a preferred FN
	members   []string
	group     bool
	rev       time.Time
}

func (b *builder) take(p property) {
	switch p.name {
	case "FN":
		if s := b.clip(oneLine(p.plain()), MaxValueBytes); s != "" && (b.Name == "" || p.preferred() && !b.preferred) {
			b.Name, b.preferred = s, p.preferred()
		}
	case "N":
		b.takeName(p)
	case "NICKNAME", "X-NICKNAME":
		b.addTo(&b.Nicknames, p.plains(',')...)
	case "EMAIL":
		s := p.plain()
		b.addTo(&b.Emails, cmp.Or(string(store.EmailIdentifier(s)), s))
	case "TEL":
		s := p.plain()
		b.addTo(&b.Phones, cmp.Or(string(store.PhoneIdentifier(s)), strings.TrimPrefix(s, "tel:")))
	case "IMPP", "SOCIALPROFILE", "X-SOCIALPROFILE", "X-SKYPE", "X-SKYPE-USERNAME", "X-JABBER", "X-AIM", "X-ICQ", "X-MSN", "X-YAHOO",
		"X-QQ", "X-GADUGADU", "X-GOOGLE-TALK", "X-GTALK", "X-TELEGRAM", "X-TWITTER", "X-MATRIX", "X-SIGNAL":
		b.addTo(&b.Handles, handle(p))
	case "ORG":
		b.setOnce(&b.Org, strings.Join(p.plains(';'), ", "))
	case "TITLE":
		b.setOnce(&b.Title, p.plain())
	case "ROLE":
		b.setOnce(&b.Role, p.plain())
	case "BDAY":
		b.setOnce(&b.Birthday, birthday(p))
	case "ADR":
		b.addTo(&b.Addresses, address(p))
	case "URL":
		b.addTo(&b.URLs, p.plain())
	case "NOTE":
		if s := p.plain(); s != "" && !strings.Contains(b.Note, s) {
			b.Note = b.clip(strings.TrimSpace(b.Note+"\n\n"+s), MaxNoteBytes)
		}
	case "CATEGORIES", "X-CATEGORIES":
		b.addTo(&b.Categories, p.plains(',')...)
	case "UID":
		b.setOnce(&b.UID, normalUID(p.plain()))
	case "KIND", "X-ADDRESSBOOKSERVER-KIND":
		switch kind := strings.ToLower(p.plain()); kind {
		case "group":
			b.group = true
		case "individual", "":
		default:
			b.setOnce(&b.Kind, kind)
		}
	case "MEMBER", "X-ADDRESSBOOKSERVER-MEMBER":
		b.takeMember(p.plain())
	case "REV":
		b.rev = instant(p.plain())
	case "PHOTO":
		b.Photo = true
	}
}

// takeName reads N: the family name, the given one, more of them, what stands before and what behind (RFC 6350 section 6.2.2).
func (b *builder) takeName(p property) {
	parts := make([]string, 5)
	for i, part := range p.split(';') {
		if i < len(parts) {
			separator := byte(',')
			if p.old { // 2.1 knows no lists there
				separator = 0
			}
			parts[i] = oneLine(strings.Join(part.plains(separator), " "))
		}
	}
	b.setOnce(&b.Family, parts[0])
	b.setOnce(&b.Given, parts[1])
	b.setOnce(&b.composed, strings.Join(filled(parts[3], parts[1], parts[2], parts[0], parts[4]), " "))
}

func (b *builder) takeMember(s string) {
	scheme, rest, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "mailto":
		s = "mailto:" + cmp.Or(string(store.EmailIdentifier(rest)), rest)
	case "tel":
		s = "tel:" + cmp.Or(string(store.PhoneIdentifier(rest)), rest)
	default:
		s = normalUID(s)
	}
	if s = b.clip(s, MaxValueBytes/16); s == "" {
		return
	}
	if len(b.members) == MaxMembers {
		b.Cut = true
		return
	}
	b.members = append(b.members, s)
}

// addTo adds what is not there yet.
func (b *builder) addTo(list *[]string, values ...string) {
	for _, v := range values {
		v = b.clip(v, MaxValueBytes)
		if v == "" || slices.Contains(*list, v) {
			continue
		}
		if len(*list) == MaxValues {
			b.Cut = true
			return
		}
		*list = append(*list, v)
	}
}

func (b *builder) setOnce(field *string, value string) {
	if *field == "" {
		*field = b.clip(value, MaxValueBytes)
	}
}

// clip cuts a text to at most so many bytes, and remembers that it did.
func (b *builder) clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	b.Cut = true
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func (b *builder) contactRecord() (*store.Record, string) {
	if b.Name == "" {
		lists := [][]string{{b.composed, b.Org}, b.Nicknames, b.Emails, b.Phones, b.Handles}
		b.Name = cmp.Or(filled(slices.Concat(lists...)...)...)
		b.Name = oneLine(b.Name)
	}
	if b.Name == "" {
		return nil, "the card has no name, organisation, address or number"
	}
	keys := b.identifiers()
	if b.composed == b.Name {
		b.composed = ""
	}
	body := strings.Join(filled(slices.Concat(
		[]string{b.Name, b.composed}, b.Nicknames, []string{b.Org, b.Title, b.Role},
		b.Emails, b.Phones, b.Handles, b.Addresses, b.URLs, b.Categories, []string{b.Birthday, b.Note},
	)...), "\n")
	ref := b.ref(store.Contact, keys, body)
	r := &store.Record{
		Ref: ref, Kind: store.Contact, Title: b.Name, Body: body, Time: b.rev,
		Keys: append(keys, "person:"+PersonID(ref)),
	}
	return finish(r, b.Contact)
}

func (b *builder) groupRecord() (*store.Record, string) {
	if b.Name = cmp.Or(b.Name, b.composed, b.Org); b.Name == "" {
		return nil, "the group has no name"
	}
	slices.Sort(b.members)
	g := Group{Name: b.Name, Members: slices.Compact(b.members), UID: b.UID, Cut: b.Cut}
	ref := b.ref(store.Group, nil, "")
	var keys []string
	for _, name := range []string{b.Name, ref} {
		if key := keyOf("group:" + name); key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return finish(&store.Record{Ref: ref, Kind: store.Group, Title: b.Name, Body: b.Name, Time: b.rev, Keys: keys}, g)
}

func finish(r *store.Record, details any) (*store.Record, string) {
	var err error
	if r.Details, err = json.Marshal(details); err != nil || len(r.Details) > store.MaxDetailsBytes {
		return nil, fmt.Sprintf("the card cannot be kept: its details are more than %d bytes, or no text (%v)", store.MaxDetailsBytes, err)
	}
	return r, ""
}

// identifiers are the keys that a contact is found by.
func (b *builder) identifiers() []string {
	var keys []string
	add := func(values []string, identifier func(string) string) {
		n := 0
		for _, v := range values {
			key := identifier(v)
			if key == "" || slices.Contains(keys, key) {
				continue
			}
			if n++; n > maxKeys {
				b.Cut = true
				return
			}
			keys = append(keys, key)
		}
	}
	add(b.Emails, func(s string) string { return store.EmailIdentifier(s).Key() })
	add(b.Phones, func(s string) string { return store.PhoneIdentifier(s).Key() })
	add(b.Handles, func(s string) string { return keyOf("handle:" + s) })
	return keys
}

func keyOf(text string) string {
	i, err := store.ParseIdentifier(text)
	if err != nil {
		return ""
	}
	return i.Key()
}

// ref is what the card is known by.
func (b *builder) ref(kind store.Kind, keys []string, body string) string {
	switch {
	case b.UID != "" && len(b.UID) <= maxRefBytes:
		return b.UID
	case b.UID != "":
		return hashed(b.UID)
	case len(keys) == 0:
		return hashed(string(kind), normal(b.Name), body)
	}
	return hashed(slices.Concat([]string{string(kind), normal(b.Name)}, slices.Sorted(slices.Values(keys)))...)
}

func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// normal is a name as it is compared.
func normal(name string) string { return oneLine(strings.ToLower(norm.NFKC.String(name))) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

var uuidForm = lazyregexp.New(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// normalUID is a UID as others refer to it. A UUID is the same in any case and with or without its scheme (RFC 9562 section 4).
func normalUID(uid string) string {
	const scheme = "urn:uuid:"
	if len(uid) > len(scheme) && strings.EqualFold(uid[:len(scheme)], scheme) {
		uid = uid[len(scheme):]
	}
	if uuidForm().MatchString(uid) {
		return strings.ToLower(uid)
	}
	return uid
}

// address joins the parts of ADR, from the post-office box to the country.
func address(p property) string {
	var parts []string
	for _, part := range p.split(';') {
		s := strings.Join(strings.FieldsFunc(part.plain(), func(r rune) bool { return r == '\n' }), ", ")
		if s = oneLine(s); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

var schemeForm = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:(.+)$`)

// handle is the name on a service of an IMPP, a social profile or one of their older forms: what a parameter names as the user, the
// last part of the path of a web address, or the value without its scheme.
func handle(p property) string {
	s := p.plain()
	for _, name := range []string{"X-USER", "USERNAME", "X-USERNAME"} {
		if user := p.param(name); user != "" {
			s = user
		}
	}
	if u, err := url.Parse(s); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		path := strings.Split(strings.Trim(u.Path, "/"), "/")
		s = path[len(path)-1]
	} else if m := schemeForm().FindStringSubmatch(s); m != nil {
		s, _, _ = strings.Cut(m[1], "?")
		if plain, err := url.PathUnescape(s); err == nil && utf8.ValidString(plain) {
			s = plain
		}
	}
	s = strings.TrimPrefix(strings.TrimLeft(s, "/"), "u/") // as in matrix:u/alice:example.com
	return oneLine(strings.TrimPrefix(s, "@"))
}

var (
	dateForm     = lazyregexp.New(`^(\d{4})-?(\d{2})-?(\d{2})(?:$|[T ])`)
	yearlessForm = lazyregexp.New(`^--(\d{2})-?(\d{2})(?:$|[T ])`)
)

// birthday is a date in one form. Apple writes a year in place of none and names it in a parameter.
func birthday(p property) string {
	s := p.plain()
	if m := dateForm().FindStringSubmatch(s); m != nil {
		if m[1] == p.param("X-APPLE-OMIT-YEAR") {
			return "--" + m[2] + "-" + m[3]
		}
		return m[1] + "-" + m[2] + "-" + m[3]
	}
	if m := yearlessForm().FindStringSubmatch(s); m != nil {
		return "--" + m[1] + "-" + m[2]
	}
	return s
}

// instant reads a REV. The zero time is one that cannot be read or lies outside the years 1900 to 2200.
func instant(s string) time.Time {
	for _, form := range []string{
		time.RFC3339, "20060102T150405Z07:00", "20060102T150405Z0700", "2006-01-02T15:04:05", "20060102T150405",
		"2006-01-02", "20060102",
	} {
		if t, err := time.Parse(form, s); err == nil && t.Year() >= 1900 && t.Year() <= 2200 {
			return t.UTC()
		}
	}
	return time.Time{}
}
