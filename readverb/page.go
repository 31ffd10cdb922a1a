package readverb

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/source/markdown"
	"github.com/loomrun/loom/store"
)

// Limits of what is read of pages.
const (
	// MaxDiscovered is the most pages that page discover lists, and how many it lists where no limit is named.
	MaxDiscovered = 500
	// MaxPagesRead is how many pages are looked at, the newest of them, to list or relate them.
	MaxPagesRead = 20_000
	// MaxRelations is how many links, and how many backlinks, page inspect gives.
	MaxRelations = 200
	// maxCandidates is how many pages one name is looked up among.
	maxCandidates = 100
	// maxLinks is how many links of one page are looked at.
	maxLinks = 1000
	// maxPageTexts and maxPageText bound aliases, tags, headings and their lengths.
	maxPageTexts = 100
	maxPageText  = 500
	// maxPagesBytes is how much of aliases, tags, links and the like is held of all pages together.
	maxPagesBytes = 128 << 20
)

const (
	noteManyPages  = "there are more pages than are looked at; the oldest were left out"
	noteLongPages  = "the pages have too many links and aliases to be held; those of the oldest were left out"
	kindAll        = "all"
	capableInspect = "inspect"
	capableRead    = "read"
)

// pageKinds are the kinds of pages in the singular (D34), in the order of their listing, with their plurals.
var pageKinds = []struct{ one, many string }{{"entity", "entities"}, {"page", "pages"}, {"project", "projects"}}

func pluralOf(kind string) string {
	for _, k := range pageKinds {
		if k.one == kind {
			return k.many
		}
	}
	return kind
}

// PageDiscover is the verb page discover: which pages there are.
type PageDiscover struct {
	Kind    string // all, project, projects, entity or entities; "" is all
	Limit   int    // 1 to [MaxDiscovered]; 0 is the most
	Concise bool   // without aliases, tags, status, summary and when the page changed
}

func parsePageDiscover(argv []string) (Verb, error) {
	v := PageDiscover{}
	err := grammar{
		verb:   "page discover",
		texts:  map[string]*string{"--kind": &v.Kind},
		counts: map[string]count{"--limit": {&v.Limit, MaxDiscovered}},
		flags:  map[string]*bool{"--concise": &v.Concise},
	}.parse(argv)
	if err != nil {
		return nil, err
	}
	if v.Kind != "" {
		if err := oneOf("--kind", v.Kind, "all", "project", "projects", "entity", "entities"); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// PageInspect is the verb page inspect: what a page is, and which pages it links to and is linked from.
type PageInspect struct {
	// Target is an id, a path with or without .md, an alias or a title, or the name of a file; with the name of a source and a colon before
	// it, it is one of that source. Of fc it is one of its own pages, and where it has none so named, one that runs wrote.
	Target  string
	Concise bool // without aliases, tags, headings and size
}

func parsePageInspect(argv []string) (Verb, error) {
	v := PageInspect{}
	err := grammar{verb: "page inspect", operand: &v.Target, needs: "a page", flags: map[string]*bool{"--concise": &v.Concise}}.parse(argv)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// PageRead is the verb page read: the Markdown of a page as it stands.
type PageRead struct{ Target string } // as in PageInspect

func parsePageRead(argv []string) (Verb, error) {
	v := PageRead{}
	if err := (grammar{verb: "page read", operand: &v.Target, needs: "a page"}).parse(argv); err != nil {
		return nil, err
	}
	return v, nil
}

// Discovered is the payload of page discover. Pages come by kind, then path, then source.
type Discovered struct {
	OK         bool         `json:"ok"`
	Concise    bool         `json:"concise"`
	Pages      []*Listed    `json:"pages"`
	TotalPages int          `json:"totalPages"` // of the kind that was asked for
	Summary    PagesSummary `json:"summary"`
	// OmittedViews are the kinds, in the plural, of which the limit left pages out.
	OmittedViews []string `json:"omittedViews,omitempty"`
}

// PagesSummary counts the pages of the payload.
type PagesSummary struct {
	Pages int `json:"pages"`
}

// Listed is one page of page discover. Its label is the page's.
type Listed struct {
	PageID       string   `json:"pageId"`
	Title        string   `json:"title"`
	Kind         string   `json:"kind"`
	Path         string   `json:"path"`
	Source       string   `json:"source"`
	Capabilities []string `json:"capabilities"`
	Aliases      []string `json:"aliases,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Status       string   `json:"status,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Updated      Instant  `json:"updated,omitzero"`
	Ifc          Ifc      `json:"ifc"`
}

// Inspected is the payload of page inspect. Its label is the join of those of the page and of all pages among its relations.
type Inspected struct {
	OK            bool      `json:"ok"`
	PageID        string    `json:"pageId"`
	Title         string    `json:"title"`
	Kind          string    `json:"kind"`
	Path          string    `json:"path"`
	Source        string    `json:"source"`
	Aliases       []string  `json:"aliases,omitempty"`
	Tags          []string  `json:"tags,omitempty"`
	Status        string    `json:"status,omitempty"`
	Summary       string    `json:"summary,omitempty"`
	SourceVersion string    `json:"sourceVersion"`
	Relations     Relations `json:"relations"`
	Capabilities  []string  `json:"capabilities"`
	Headings      []string  `json:"headings,omitempty"`
	Bytes         int       `json:"bytes,omitzero"`
	Ifc           Ifc       `json:"ifc"`
}

// Relations are the pages that a page is bound to, by path, then source.
type Relations struct {
	Links     []Related `json:"links"`
	Backlinks []Related `json:"backlinks"`
	Truncated bool      `json:"truncated,omitzero"` // there are more of either
}

// Related is a page among the relations of another.
type Related struct {
	PageID string `json:"pageId"`
	Title  string `json:"title"`
	Path   string `json:"path"`
}

// Content is the payload of page read. Its label is the page's.
type Content struct {
	OK            bool     `json:"ok"`
	PageID        string   `json:"pageId"`
	Title         string   `json:"title"`
	Kind          string   `json:"kind"`
	Path          string   `json:"path"`
	Source        string   `json:"source"`
	Aliases       []string `json:"aliases,omitempty"`
	Tags          []string `json:"tags,omitempty"`
	SourceVersion string   `json:"sourceVersion"`
	Capabilities  []string `json:"capabilities"`
	Bytes         int      `json:"bytes"`
	Content       string   `json:"content"` // the exact Markdown
	Ifc           Ifc      `json:"ifc"`
}

// Refusal is the payload of a page verb that has no page to show; the command then ends with exit status 1.
type Refusal struct {
	OK    bool   `json:"ok"`
	Code  string `json:"code"`
	Error string `json:"error"`
}

// The codes of a refusal.
const (
	UnknownPage   = "unknown_page"
	AmbiguousPage = "ambiguous_page"
)

// refused is the answer of a page verb that has no page.
func (r *reading) refused(code, why string) Answer {
	return Answer{Payload: &Refusal{Code: code, Error: why}, Failed: true, Notes: r.notes}
}

// page is what is kept of a page while others are looked at.
type page struct {
	source, ref, id, path, kind, title string
	status, summary                    string
	aliases, tags, headings, links     []string
	updated                            Instant
	label                              label.Label
}

// pageDetails is [markdown.Page] without what is not held.
type pageDetails struct {
	PageID   string             `json:"pageId"`
	Path     string             `json:"path"`
	Kind     string             `json:"kind"`
	Aliases  []string           `json:"aliases"`
	Tags     []string           `json:"tags"`
	Status   string             `json:"status"`
	Summary  string             `json:"summary"`
	Name     string             `json:"name"`
	Bio      string             `json:"bio"`
	Links    []string           `json:"links"`
	Headings []markdown.Heading `json:"headings"`
}

func pageOf(row store.Row) *page {
	d := decoded[pageDetails](row.Details)
	p := &page{
		source: row.Source.Name, ref: row.Ref, id: d.PageID, path: cmp.Or(d.Path, row.Ref), kind: d.Kind, title: row.Title,
		status: codeunits.Cut(d.Status, maxPageText), summary: codeunits.Cut(d.Summary, 4*maxPageText),
		aliases: few(d.Aliases, maxPageTexts, maxPageText), tags: few(d.Tags, maxPageTexts, maxPageText),
		links: few(d.Links, maxLinks, store.MaxRefBytes), updated: Instant{row.Time}, label: row.Label,
	}
	for _, h := range d.Headings[:min(len(d.Headings), maxPageTexts)] {
		p.headings = append(p.headings, codeunits.Cut(h.Text, maxPageText))
	}
	if !slices.ContainsFunc(pageKinds, func(k struct{ one, many string }) bool { return k.one == p.kind }) {
		p.kind = "page"
	}
	return p
}

func (p *page) is(other *page) bool { return p.source == other.source && p.ref == other.ref }

func byPath(a, b *page) int {
	return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.source, b.source), strings.Compare(a.ref, b.ref))
}

// bytes is about how much memory the lists of a page take.
func (p *page) bytes() int {
	n := len(p.status) + len(p.summary)
	for _, list := range [][]string{p.aliases, p.tags, p.links} {
		for _, s := range list {
			n += len(s) + 16
		}
	}
	return n
}

// pages are the pages of the view, the newest first, without headings. With links they have those, else they have not.
func (r *reading) pages(ctx context.Context, links bool) ([]*page, error) {
	var all []*page
	held := 0
	for row, err := range r.records(ctx, store.Filter{Kinds: []store.Kind{store.Page}, Limit: MaxPagesRead + 1}) {
		if err != nil {
			return nil, err
		}
		if len(all) == MaxPagesRead {
			r.note(noteManyPages)
			break
		}
		p := pageOf(row)
		p.headings = nil
		if !links {
			p.links = nil
		}
		if held += p.bytes(); held > maxPagesBytes {
			r.note(noteLongPages)
			p.aliases, p.tags, p.links, p.status, p.summary = nil, nil, nil, "", ""
		}
		all = append(all, p)
	}
	return all, nil
}

// Read answers with a *[Discovered].
func (v PageDiscover) Read(ctx context.Context, from Reader) (Answer, error) {
	r, err := from.begin("")
	if err != nil {
		return Answer{}, err
	}
	all, err := r.pages(ctx, false)
	if err != nil {
		return Answer{}, err
	}
	if v.Kind != "" && v.Kind != kindAll {
		all = slices.DeleteFunc(all, func(p *page) bool { return p.kind != v.Kind && pluralOf(p.kind) != v.Kind })
	}
	slices.SortFunc(all, func(a, b *page) int { return cmp.Or(strings.Compare(a.kind, b.kind), byPath(a, b)) })
	limit := v.Limit
	if limit == 0 {
		limit = MaxDiscovered
	}
	d := &Discovered{OK: true, Concise: v.Concise, TotalPages: len(all)}
	for i, p := range all {
		if i >= limit {
			if many := pluralOf(p.kind); !slices.Contains(d.OmittedViews, many) {
				d.OmittedViews = append(d.OmittedViews, many)
			}
			continue
		}
		l := &Listed{
			PageID: p.id, Title: p.title, Kind: p.kind, Path: p.path, Source: p.source, Capabilities: capabilities(), Ifc: Ifc{p.label},
		}
		if !v.Concise {
			l.Aliases, l.Tags, l.Status, l.Summary, l.Updated = p.aliases, p.tags, p.status, p.summary, p.updated
		}
		d.Pages = append(d.Pages, l)
	}
	d.Summary.Pages = len(d.Pages)
	return Answer{Payload: d, Notes: r.notes}, nil
}

func capabilities() []string { return []string{capableInspect, capableRead} }

var idForm = lazyregexp.New(`^P-[0-9]+$`)

// within cuts the name of a source off a target, and gives it and the sources to look in; nil is all.
func (r *reading) within(target string) (sources []string, name, rest string) {
	name, rest, ok := strings.Cut(target, ":")
	if !ok || rest == "" {
		return nil, "", target
	}
	for _, s := range r.View.Sources() {
		if s.Name == name || inCabinet(s) == name {
			sources = append(sources, s.Name)
		}
	}
	if sources == nil {
		return nil, "", target
	}
	return sources, name, rest
}

// named finds the page that a target names, among what the view has. The answer is the refusal where there is not exactly one.
func (r *reading) named(ctx context.Context, target string) (*page, *Answer, error) {
	within, name, target := r.within(target)
	// The first way of naming that names any page counts: a path that some alias is spelled like stays the path.
	ways := [][]string{
		{markdown.PathKey(target), markdown.PathKey(strings.TrimSuffix(target, ".md"))}, {markdown.AliasKey(target)}, {markdown.NameKey(target)},
	}
	if idForm().MatchString(target) {
		ways = append([][]string{{markdown.IDKey(target)}}, ways...)
	}
	for _, keys := range ways {
		var found []*page
		for row, err := range r.records(ctx, store.Filter{Kinds: []store.Kind{store.Page}, Sources: within, Keys: keys, Limit: maxCandidates}) {
			if err != nil {
				return nil, nil, err
			}
			found = append(found, pageOf(row))
		}
		if len(found) > 1 {
			// notes.md beside notes: the one that is spelled like the target.
			if exact := slices.DeleteFunc(slices.Clone(found), func(p *page) bool { return p.path != target }); len(exact) == 1 {
				found = exact
			}
		}
		if len(found) > 1 && within != nil {
			// A page of the File Cabinet itself comes before what runs wrote; where a view is without it, no document comes before another.
			if own := slices.DeleteFunc(slices.Clone(found), func(p *page) bool { return p.source != name }); len(own) == 1 {
				found = own
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil, nil
		default:
			refused := r.refused(AmbiguousPage, "several pages are named so; put the name of the source and a colon before the path")
			return nil, &refused, nil
		}
	}
	refused := r.refused(UnknownPage, "no page is named so; page discover lists the pages, and a sync brings in new ones")
	return nil, &refused, nil
}

// reread is the record of a page, with its text.
func (r *reading) reread(ctx context.Context, p *page) (store.Row, error) {
	for row, err := range r.records(ctx, store.Filter{Sources: []string{p.source}, Ref: p.ref, Limit: 1}) {
		return row, err
	}
	return store.Row{}, store.ErrDamaged
}

// open begins to answer about the page that a target names, and reads it. The answer is the refusal where there is not exactly one.
func (from Reader) open(ctx context.Context, target string) (r *reading, p *page, row store.Row, refused *Answer, err error) {
	if r, err = from.begin(""); err != nil {
		return nil, nil, row, nil, err
	}
	if p, refused, err = r.named(ctx, target); err == nil && refused == nil {
		row, err = r.reread(ctx, p)
	}
	return r, p, row, refused, err
}

// versionOf is the beginning of the record's hash.
func versionOf(row store.Row) string {
	sum := row.Hash()
	return hex.EncodeToString(sum[:8])
}

// markdownOf is the exact Markdown of a page.
func markdownOf(row store.Row) string {
	d := decoded[struct {
		Source *string `json:"source"`
	}](row.Details)
	if d.Source != nil {
		return *d.Source
	}
	return row.Body
}

// Read answers with a *[Content], or a *[Refusal].
func (v PageRead) Read(ctx context.Context, from Reader) (Answer, error) {
	r, p, row, refused, err := from.open(ctx, v.Target)
	if err != nil {
		return Answer{}, err
	}
	if refused != nil {
		return *refused, nil
	}
	text := markdownOf(row)
	return Answer{Payload: &Content{
		OK: true, PageID: p.id, Title: p.title, Kind: p.kind, Path: p.path, Source: p.source, Aliases: p.aliases, Tags: p.tags,
		SourceVersion: versionOf(row), Capabilities: capabilities(), Bytes: len(text), Content: text, Ifc: Ifc{row.Label},
	}, Notes: r.notes}, nil
}

// Read answers with an *[Inspected], or a *[Refusal].
func (v PageInspect) Read(ctx context.Context, from Reader) (Answer, error) {
	r, p, row, refused, err := from.open(ctx, v.Target)
	if err != nil {
		return Answer{}, err
	}
	if refused != nil {
		return *refused, nil
	}
	all, err := r.pages(ctx, true)
	if err != nil {
		return Answer{}, err
	}
	used := labels{}
	used.add(p.label)
	related := relationsOf(p, all, &used)
	i := &Inspected{
		OK: true, PageID: p.id, Title: p.title, Kind: p.kind, Path: p.path, Source: p.source, SourceVersion: versionOf(row),
		Relations: related, Capabilities: capabilities(), Ifc: Ifc{r.made(used.all...)},
	}
	if !v.Concise {
		i.Aliases, i.Tags, i.Status, i.Summary, i.Headings, i.Bytes = p.aliases, p.tags, p.status, p.summary, p.headings, len(markdownOf(row))
	}
	return Answer{Payload: i, Notes: r.notes}, nil
}
