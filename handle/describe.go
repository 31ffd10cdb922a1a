package handle

import (
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// maxEchoed bounds how much of an unknown token is repeated, in UTF-16 code units.
const maxEchoed = 64

// Describe tells what a model may know of a token (6.5): for a referent that is held, kind, source, where its label came from, and the
// label as [Names] gives it; never the content. Of any other text it says that it is not known, and repeats the text where that has the
// form of a token. A token of an address is never known: none is given out.
func (t *Table) Describe(token string) document.Value {
	r, held := t.Get(token)
	if !held {
		unknown := document.M("known", document.BoolOf(false))
		if !IsToken(token) {
			return document.MapOf(unknown)
		}
		return document.MapOf(document.M("token", document.TextOf(codeunits.Cut(token, maxEchoed))), unknown)
	}
	return document.MapOf(
		document.M("token", document.TextOf(token)),
		document.M("known", document.BoolOf(true)),
		document.M("referent", document.MapOf(
			document.M("kind", document.TextOf(string(r.Kind))),
			document.M("source", document.TextOf(r.Source)),
			document.M("labelSource", document.TextOf(string(r.LabelSource))),
		)),
		document.M("labels", Names(r.Label)),
	)
}

// Names gives a label as a model may see it (5.9): {"confidentiality":[[type,…],…],"integrity":[type,…]}, of each clause the types of
// its atoms and nothing of whom or what they are about. A clause without an atom that has a type is left out.
func Names(l label.Label) document.Value {
	types := l.Types()
	clauses := make([]document.Value, len(types.Confidentiality))
	for i, alternatives := range types.Confidentiality {
		clauses[i] = document.TextsOf(alternatives)
	}
	return document.MapOf(
		document.M("confidentiality", document.ListOf(clauses...)),
		document.M("integrity", document.TextsOf(types.Integrity)),
	)
}
