package catalog

import (
	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/boundedfile"
)

// WithSeam gives the store with its writer seen by a test.
func (s *Store) WithSeam(seam atomicfile.Seam) *Store {
	seen := *s
	seen.writer.Seam = seam
	return &seen
}

// WithLimit gives the store with another limit of its manifest.
func (s *Store) WithLimit(limit boundedfile.Size) *Store {
	limited := *s
	limited.limit = limit
	return &limited
}
