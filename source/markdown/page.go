package markdown

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/store"
)

// Limits of what front matter says of a page.
const (
	MaxValues    = 60 // of each list
	maxTextBytes = 2 << 10
)

// The kinds of pages (9.3), and that of all others.
const (
	ProjectPage = "project"
	EntityPage  = "entity"
	OtherPage   = "page"
)

// Page is what the details of a record of kind page hold.
type Page struct {
	PageID      string         `json:"pageId"`
	Path        string         `json:"path"`
	Kind        string         `json:"kind"`
	Aliases     []string       `json:"aliases,omitempty"`
	Tags        []string       `json:"tags,omitempty"` // without #
	Status      string         `json:"status,omitempty"`
	Summary     string         `json:"summary,omitempty"`
	Name        string         `json:"name,omitempty"`
	Bio         string         `json:"bio,omitempty"`
	Emails      []string       `json:"emails,omitempty"` // in the form of their identifiers, or as they stand where they are none
	Phones      []string       `json:"phones,omitempty"` // the same
	Handles     []string       `json:"handles,omitempty"`
	Source      string         `json:"source"` // the exact text, without a byte order mark
	FrontMatter jsontext.Value `json:"frontMatter,omitempty"`
	// Links are the paths of pages that are linked, and names of pages in [[ ]].
	Links    []string  `json:"links,omitempty"`
	Headings []Heading `json:"headings,omitempty"`
	Cut      bool      `json:"cut,omitzero"` // that there were more values, links or text than are kept
}

// PageID is the id of the page at a path: a pure function of it, so that an id tells nothing of other pages, and 40 bits of its SHA-256, so that among
// ten thousand pages hardly two have one. It is the same in every source.
func PageID(below string) string {
	sum := sha256.Sum256([]byte(below))
	return "P-" + strconv.FormatUint(binary.BigEndian.Uint64(sum[:8])>>24, 10)
}

// PersonID is the id of the person whom the page at People/<Name>/about.md is about: 20 characters of RFC 4648's base 32, in lower case,
// of the SHA-256 of the path.
func PersonID(below string) string {
	sum := sha256.Sum256([]byte(below))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

// AliasKey is the key of the pages that have an alias or a title, whatever their case, width and spaces.
func AliasKey(alias string) string { return "alias:" + folded(alias) }

// NameKey is the key of the pages whose file has a name, without its ending: what [[Name]] links to.
func NameKey(name string) string { return "name:" + folded(name) }

// PathKey is the key of the page at a path, with its ending or without.
func PathKey(below string) string { return "path:" + normalPath(below) }

// IDKey is the key of the page with an id.
func IDKey(id string) string { return "page:" + id }

func folded(s string) string { return oneLine(cases.Fold().String(norm.NFKC.String(s))) }

func normalPath(below string) string { return norm.NFC.String(below) }

// aboutForm is the path of the page about a person.
var aboutForm = lazyregexp.New(`^People/([^/]+)/about\.md$`)

// pageOf makes a record of the text of a page. Where the record is nil it says why; with a record, a fault is what is wrong with its front matter.
func pageOf(below string, text []byte, changed time.Time) (*store.Record, *fault) {
	below = normalPath(below)
	const prefix = len("path:")
	if len(below)+prefix > store.MaxRefBytes {
		return nil, &fault{0, fmt.Sprintf("the path of the page is longer than %d bytes", store.MaxRefBytes-prefix)}
	}
	mark := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	text = text[mark:]
	p := Page{PageID: PageID(below), Path: below, Source: string(text)}

	var matter document.Value
	var wrong *fault
	rest, plain := text, "" // what is Markdown, and what of the front matter is taken for text
	if found, behind, ok := cutFrontMatter(text); ok {
		first := int64(mark + bytes.IndexByte(text, '\n') + 1)
		matter, ok, wrong = parseFrontMatter(found, first)
		switch {
		case ok:
			rest = behind
			p.describe(matter)
		case wrong != nil: // its rules would make headings of it
			rest, plain = behind, readable(string(found))
			fallthrough
		default:
			matter = document.Value{}
		}
	}
	if at, reason := tooMuch(rest); reason != "" {
		// Without its text rather than with all that stands on it, as some of this may be hidden.
		wrong = &fault{int64(mark + len(text) - len(rest) + at), reason + ": the page is kept, but its text is not searched"}
		rest = nil
	}
	shown := readText(below, rest)
	for _, s := range texts(matter, nil) {
		shown.wikiLinks(s)
	}
	p.Links, p.Headings, p.Cut = shown.links, shown.headings, p.Cut || shown.cut
	p.Kind = kindOf(below, matter)

	about := aboutForm().FindStringSubmatch(below)
	name := strings.TrimSuffix(path.Base(below), path.Ext(below))
	title := cmp.Or(clip(oneLine(scalar(matter, "title")), maxTitleBytes), shown.title())
	if title == "" && about != nil {
		title = about[1]
	}
	title = cmp.Or(title, oneLine(name), below)

	r := &store.Record{
		Ref: below, Kind: store.Page, Title: title, Time: date(matter, changed.Location(), "updated", "modified", "date", "created"),
		Body: strings.Join(slices.DeleteFunc(slices.Concat(
			[]string{p.Summary, p.Name, p.Bio}, p.Aliases, p.Tags, p.Emails, p.Phones, p.Handles, []string{plain, string(shown.body)},
		), func(s string) bool { return s == "" }), "\n"),
		Keys: []string{PathKey(below), PathKey(strings.TrimSuffix(below, path.Ext(below))), IDKey(p.PageID), NameKey(name)},
	}
	if len(r.Body) > store.MaxBodyBytes {
		r.Body, p.Cut = clip(r.Body, store.MaxBodyBytes), true
	}
	if r.Time.IsZero() {
		r.Time = changed.UTC().Truncate(time.Second)
	}
	if r.Folder = path.Dir(below); r.Folder == "." {
		r.Folder = ""
	}
	p.addKeys(r, about != nil, matter)

	var err error
	if r.Details, err = json.Marshal(p); err != nil || len(r.Details) > store.MaxDetailsBytes {
		return nil, &fault{0, fmt.Sprintf("the page cannot be kept: with its escapes its text is larger than %d bytes", store.MaxDetailsBytes)}
	}
	return r, wrong
}

// describe takes what has a meaning from front matter, which is kept as a whole as well.
func (p *Page) describe(matter document.Value) {
	if len(matter.Members) > 0 {
		p.FrontMatter = canonjson.AppendCompact(nil, asJSON(matter))
	}
	p.Aliases = p.values(list(matter, "\n", "aliases", "alias"), same)
	p.Tags = p.values(list(matter, ",\n ", "tags", "tag"), func(s string) string { return strings.TrimLeft(s, "#") })
	p.Status = clip(scalar(matter, "status"), maxTextBytes)
	p.Summary = clip(scalar(matter, "summary", "description"), maxTextBytes)
	p.Name = clip(oneLine(scalar(matter, "name")), maxTextBytes)
	p.Bio = clip(scalar(matter, "bio"), maxTextBytes)
	p.Emails = p.values(list(matter, ",\n ", "emails", "email"), func(s string) string { return cmp.Or(string(store.EmailIdentifier(s)), s) })
	p.Phones = p.values(list(matter, ",\n", "phones", "phone"), func(s string) string { return cmp.Or(string(store.PhoneIdentifier(s)), s) })
	p.Handles = p.values(list(matter, ",\n", "handles", "handle"), func(s string) string { return strings.TrimPrefix(strings.TrimPrefix(s, "handle:"), "@") })
}

func same(s string) string { return s }

// values are the different values of a list, up to a limit.
func (p *Page) values(all []string, normal func(string) string) []string {
	var kept []string
	for _, s := range all {
		s = clip(oneLine(normal(s)), maxTextBytes)
		switch {
		case s == "" || slices.Contains(kept, s):
		case len(kept) == MaxValues:
			p.Cut = true
			return kept
		default:
			kept = append(kept, s)
		}
	}
	return kept
}

// addKeys adds what the page is found by beside its path: its title and its aliases as long as there is room, and whom it is about.
func (p *Page) addKeys(r *store.Record, about bool, matter document.Value) {
	add := func(keys ...string) {
		for _, key := range keys {
			switch {
			case key == "" || len(key) > store.MaxRefBytes || slices.Contains(r.Keys, key):
			case len(r.Keys) == store.MaxKeys:
				p.Cut = true
			default:
				r.Keys = append(r.Keys, key)
			}
		}
	}
	if about {
		add(r.Ref, "person:"+PersonID(r.Ref))
	}
	if about || p.Kind == EntityPage {
		for _, s := range p.Emails {
			add(store.EmailIdentifier(s).Key())
		}
		for _, s := range p.Phones {
			add(store.PhoneIdentifier(s).Key())
		}
		for _, s := range p.Handles {
			if i, err := store.ParseIdentifier("handle:" + s); err == nil {
				add(i.Key())
			}
		}
	}
	add(AliasKey(r.Title))
	if id := scalar(matter, "id"); id != "" {
		add(AliasKey(id))
	}
	for _, alias := range p.Aliases {
		add(AliasKey(alias))
	}
}

// kindOf is the kind of the page at a path.
func kindOf(below string, matter document.Value) string {
	switch strings.ToLower(scalar(matter, "kind")) {
	case "project", "projects":
		return ProjectPage
	case "entity", "entities":
		return EntityPage
	case "page", "pages":
		return OtherPage
	}
	switch first, _, _ := strings.Cut(below, "/"); {
	case first != below && (first == "Projects" || first == "projects"):
		return ProjectPage
	case aboutForm().MatchString(below):
		return EntityPage
	}
	return OtherPage
}

// texts adds the texts of a value.
func texts(v document.Value, all []string) []string {
	if v.Kind == document.Text {
		return append(all, v.Text)
	}
	for _, item := range v.Items {
		all = texts(item, all)
	}
	for _, m := range v.Members {
		all = texts(m.Value, all)
	}
	return all
}

// readable is a text without the control characters that stand in it.
func readable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip cuts a text to at most so many bytes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
