package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/internal/valueschema"
	"github.com/loomrun/loom/label"
)

// cellLink is the canonical form of a link to a cell, in a space of its own or in any (6.4). This product has no cells.
var cellLink = lazyregexp.New(`^(?:(?:/@|//)[^/\s]+/(?:of|computed):\S+|(?:of|computed):[0-9A-Za-z:_-]{16,}(?:[/#@]\S*)?)$`)

// resolving turns the tokens of a value into links.
type resolving struct {
	run     string
	handles *handle.Table
	schema  *Schema // nil: none

	cited  []string // tokens of rows that are to be documents, each once
	sealed []string // pointers
	steps  int      // that parts of the schema may yet be looked at

	// What else stands where the schema speaks of labels: parts about what the run itself wrote, and about rows that are linked.
	written   []*node
	isWritten map[*node]bool
	linked    []linked

	unheld, unresolvable []string
}

// linked is a position with the row that stands there.
type linked struct {
	parts []*node
	row   handle.Referent
}

// failure is what was wrong, the weightiest first; nil for nothing.
func (r *resolving) failure() error {
	switch {
	case len(r.unheld) > 0:
		return refused(UnheldHandle, r.unheld...)
	case len(r.unresolvable) > 0:
		return refused(UnresolvableHandle, r.unresolvable...)
	case r.steps <= 0:
		return refused(InvalidResult, fmt.Sprintf("to find what the schema says of labels at each place takes more than %d steps", valueschema.MaxWork))
	case len(r.cited) > MaxMinted:
		return refused(InvalidResult, fmt.Sprintf("it cites more than %d rows", MaxMinted))
	}
	return nil
}

// prose checks the tokens inside of a text. They stay what they are; where is said of one that is not held.
func (r *resolving) prose(text, where string) {
	for _, found := range handle.Find(text) {
		if _, held := r.handles.Get(found.Token); !held {
			r.unheld = append(r.unheld, clip(found.Token)+" "+where)
		}
	}
}

// cite takes a token for that of a row that is to be a document.
func (r *resolving) cite(token string, where string) (handle.Referent, bool) {
	row, held := r.handles.Get(token)
	if !held || row.Kind != handle.Document {
		r.unheld = append(r.unheld, clip(token)+" "+where)
		return row, false
	}
	return row, true
}

func (r *resolving) mint(token string) {
	if !slices.Contains(r.cited, token) {
		r.cited = append(r.cited, token)
	}
}

// clip is as much of a text as an error repeats.
func clip(text string) string {
	const shown = 64
	return valueschema.Cut(text, shown)
}

// value resolves the value at a pointer, which these parts of the schema are about.
func (r *resolving) value(v document.Value, pointer string, parts []*node) document.Value {
	if len(parts) > 0 {
		parts = at(&r.steps, parts)
	}
	if token, isReference := referenceOf(v); isReference {
		return r.reference(token, pointer, parts)
	}
	for _, n := range parts {
		if n.speaks() && !r.isWritten[n] {
			r.isWritten[n] = true
			r.written = append(r.written, n)
		}
	}
	switch v.Kind {
	case document.Text:
		r.prose(v.Text, "at "+place(pointer))
	case document.List:
		items := make([]document.Value, len(v.Items))
		for i, one := range v.Items {
			items[i] = r.value(one, pointer+"/"+strconv.Itoa(i), item(&r.steps, parts, i))
		}
		return document.ListOf(items...)
	case document.Map:
		members := make([]document.Member, len(v.Members))
		for i, m := range v.Members {
			r.prose(m.Name, "in a name at "+place(pointer))
			members[i] = document.M(m.Name, r.value(m.Value, pointer+"/"+escaped(m.Name), member(&r.steps, parts, m.Name)))
		}
		return document.MapOf(members...)
	}
	return document.Value{Kind: v.Kind, Text: v.Text}
}

// referenceOf tells whether a value as a whole is a reference, and gives the text of it: "" for one that has none.
func referenceOf(v document.Value) (text string, ok bool) {
	if v.Kind == document.Text {
		return v.Text, handle.IsToken(v.Text) || cellLink().MatchString(v.Text)
	}
	link, has := v.Get(keywordReference)
	return link.Text, has && len(v.Members) == 1
}

// reference resolves a reference: to a link, or, where the row may not stand here, to one that leads nowhere.
func (r *resolving) reference(text, pointer string, parts []*node) document.Value {
	where := "at " + place(pointer)
	if !handle.IsToken(text) {
		r.unresolvable = append(r.unresolvable, where+": a link is the token of a row that was shown, and nothing else")
		return document.Value{}
	}
	row, held := r.cite(text, where)
	if !held {
		return document.Value{}
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(n *node) bool { return !n.speaks() })
	for _, n := range parts {
		if n.ceiling != nil && !label.Fits(row.Label, *n.ceiling) {
			r.sealed = append(r.sealed, pointer)
			return linkTo(sealedLink(r.run, pointer))
		}
	}
	r.mint(text)
	if len(parts) > 0 {
		r.linked = append(r.linked, linked{parts, row})
	}
	return linkTo(pathOfRow(r.run, text))
}

func linkTo(path string) document.Value {
	return document.MapOf(document.M(keywordReference, document.TextOf(path)))
}

// sealedLink is the link of a sealed position: it follows from run and position alone, and so tells nothing of the row that does not stand there.
func sealedLink(run, pointer string) string {
	const digits = 12
	sum := sha256.Sum256([]byte("sealed\x00" + run + "\x00" + pointer))
	return "opaque:" + hex.EncodeToString(sum[:])[:digits] + "#" + pointer
}

// place shows a pointer.
func place(pointer string) string {
	if pointer == "" {
		return "the root"
	}
	return valueschema.Cut(pointer, valueschema.MaxFaultBytes)
}

// speaks tells whether the part says anything of labels itself.
func (n *node) speaks() bool { return n.ceiling != nil || len(n.required) > 0 }
