package store

import (
	"errors"

	"github.com/loomrun/loom/label"
)

// WrittenFormat is the format of the sources that written documents are in: pages that a run wrote, each with a label of its own (D42).
const WrittenFormat = "written"

// Limits of one call of [Store.Write].
const (
	MaxWritten = 1000 // documents
)

// ErrTrust means that the facets or sources of the instance, which labels follow from, have changed since [Store.Trust] was asked.
var ErrTrust = errors.New("the facets or sources of the instance have changed meanwhile")

// Trust is a snapshot of what labels follow from: the owner, the facets, and which source is in which of them. Two snapshots
// are equal as long as none of these has changed.
type Trust string

// Written is a document with the label that its writer made for it.
type Written struct {
	Record *Record // of kind [Page]
	Label  label.Label
}
