package record

import (
	"errors"
	"fmt"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/journal"
)

// offered gives the catalog that a run began with, from its record.
func offered(rec *journal.Record, b journal.Beginning) (catalog.Catalog, error) {
	entries := make([]*catalog.Entry, 0, len(b.Catalog))
	for _, d := range b.Catalog {
		if shipped, ok := catalog.Bundled().Get(d.Name); ok && d.Bundled && shipped.SHA256() == d.SHA256 {
			entries = append(entries, shipped) // which need not be compiled to be matched by words
			continue
		}
		text, ok := rec.Documents[d.SHA256]
		if !ok {
			return catalog.Catalog{}, fmt.Errorf("the journal does not hold the definition of %s that the run began with", d.Name)
		}
		source := catalog.Source{Kind: catalog.Memory}
		if d.Bundled {
			source.Kind = catalog.Loom // its place is among the bundled ones
		}
		entry, err := catalog.Check(d.Name, []byte(text), source)
		if err != nil {
			return catalog.Catalog{}, fmt.Errorf("the definition that the run began with: %w", err)
		}
		entries = append(entries, entry)
	}
	return catalog.Of(entries...), nil
}

// beginning reads how a run began.
func beginning(rec *journal.Record) (journal.Beginning, error) {
	var b journal.Beginning
	if len(rec.Entries) == 0 || rec.Entries[0].Kind != journal.Begun {
		return b, errors.New("the record has no begin")
	}
	return b, journal.Decode(rec.Entries[0].Body, &b)
}
