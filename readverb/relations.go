package readverb

import (
	"path"
	"slices"
	"strings"

	"github.com/loomrun/loom/source/markdown"
)

// relationsOf are the pages that p links to, and those that link to it.
func relationsOf(p *page, all []*page, used *labels) Relations {
	names := namesOf(all)
	var links, backlinks []*page
	for _, other := range names.linked(p) {
		if !other.is(p) {
			links = append(links, other)
		}
	}
	for _, other := range all {
		if !other.is(p) && slices.ContainsFunc(names.linked(other), p.is) {
			backlinks = append(backlinks, other)
		}
	}
	related := Relations{}
	show := func(pages []*page) []Related {
		slices.SortFunc(pages, byPath)
		if len(pages) > MaxRelations {
			pages, related.Truncated = pages[:MaxRelations], true
		}
		shown := make([]Related, 0, len(pages))
		for _, other := range pages {
			used.add(other.label)
			shown = append(shown, Related{other.id, other.title, other.path})
		}
		return shown
	}
	related.Links = show(links)
	related.Backlinks = show(backlinks)
	return related
}

// pageNames finds pages by what a link may call them: by a key of the page, and by the name of its source, a line feed and the key.
type pageNames map[string][]*page

func namesOf(all []*page) pageNames {
	names := pageNames{}
	for _, p := range all {
		plain := strings.TrimSuffix(p.path, path.Ext(p.path))
		own := []string{markdown.PathKey(p.path), markdown.PathKey(plain), markdown.NameKey(path.Base(plain)), markdown.AliasKey(p.title)}
		for _, a := range p.aliases {
			own = append(own, markdown.AliasKey(a))
		}
		slices.Sort(own)
		for _, name := range slices.Compact(own) {
			names[name] = append(names[name], p)
			names[p.source+"\n"+name] = append(names[p.source+"\n"+name], p)
		}
	}
	return names
}

// linked are the pages that p links to, each once. A path is one of the same source; a name in [[ ]] is a path, the name of a file or an
// alias, of the same source before any other. A link that may mean several pages of its best way to be read leads to none.
func (n pageNames) linked(p *page) []*page {
	var pages []*page
	for _, link := range p.links {
		own := p.source + "\n"
		ways := []string{own + markdown.PathKey(link)}
		if name, ok := strings.CutPrefix(link, "[["); ok {
			name = strings.TrimSuffix(name, "]]")
			byPath, byName, byAlias := markdown.PathKey(name), markdown.NameKey(name), markdown.AliasKey(name)
			ways = []string{own + byPath, own + byName, own + byAlias, byPath, byName, byAlias}
		}
		for _, name := range ways {
			if found := n[name]; len(found) > 0 {
				if len(found) == 1 && !slices.ContainsFunc(pages, found[0].is) {
					pages = append(pages, found[0])
				}
				break
			}
		}
	}
	return pages
}
