package retrieval

import (
	"errors"
	"fmt"

	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/label"
)

// maxRecord bounds a record: a ceiling of the greatest size there can be, and its facets.
const maxRecord boundedfile.Size = 2 << 20

// Record is what bounds a dispatch that is scoped to facets (5.13). It is read anew for every call, so that a file that is replaced counts
// at once.
type Record struct {
	Ceiling     label.Ceiling
	Facets      []string // at least one
	FacetSource string   // where the scope came from, in free words
}

// ReadRecord reads the file of a record. What a clause says is not looked at: one that is no clause admits nothing.
func ReadRecord(path string) (Record, error) {
	data, err := boundedfile.Read(path, maxRecord)
	if err != nil {
		return Record{}, fmt.Errorf("read the ceiling record: %w", err)
	}
	r, err := parseRecord(data)
	if err != nil {
		return Record{}, fmt.Errorf("the ceiling record %s: %w", path, err)
	}
	return r, nil
}

func parseRecord(data []byte) (Record, error) {
	v, err := strictjson.Parse(data, strictjson.MaxDepth)
	if err != nil {
		return Record{}, err
	}
	if v.Kind != document.Map {
		return Record{}, document.Errorf(v.Place, "it is %s, and not an object", v.Kind)
	}
	var r Record
	clauses, _ := v.Get("loomReadCeiling")
	if clauses.Kind != document.List || len(clauses.Items) == 0 {
		return Record{}, errors.New("loomReadCeiling is not a list with something in it")
	}
	if r.Ceiling, err = label.CeilingOf(clauses); err != nil {
		return Record{}, err
	}
	facets, _ := v.Get("facets")
	if r.Facets, err = facetsOf(facets); err != nil {
		return Record{}, err
	}
	source, _ := v.Get("facetSource")
	if source.Kind != document.Text || source.Text == "" {
		return Record{}, errors.New("facetSource is not a text with something in it")
	}
	r.FacetSource = source.Text
	return r, nil
}

// JSON writes the record, for [ReadRecord].
func (r Record) JSON() []byte {
	dst := append([]byte(`{"loomReadCeiling":`), r.Ceiling.Canonical()...)
	dst = canonjson.AppendCompact(append(dst, `,"facets":`...), document.TextsOf(r.Facets))
	return append(canonjson.AppendString(append(dst, `,"facetSource":`...), r.FacetSource), "}\n"...)
}
