package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/label"
)

// WrittenFormat is the format of the sources that written documents are in: pages that a run wrote, each with a label of its own (D42).
// All documents of one label are in one such source, which [Store.Write] makes when it is first needed and takes away with its last document.
const WrittenFormat = "written"

// Limits of what is written.
const (
	MaxWritten        = 1000 // documents of one call of [Store.Write]
	MaxWrittenSources = 500  // different labels of the documents of an instance
	// MaxWrittenLabelBytes bounds the canonical text of one of them: each view reads all of them when it is opened.
	MaxWrittenLabelBytes = 64 << 10
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

// IsWritten says whether a source has documents that runs wrote.
func (s Source) IsWritten() bool { return s.Format == WrittenFormat }

// RefuseWritten is the error of what cannot be done to a source of written documents.
func (s Source) RefuseWritten() error {
	if !s.IsWritten() {
		return nil
	}
	return fmt.Errorf("source %s: runs wrote its documents, with a label that stays: it is in no facet, and there is nothing to sync", s.Name)
}

// TrustOf is the trust of an instance with an owner and these sources, in any order. Sources of written documents are left out: no label is
// made from them.
func TrustOf(owner Owner, sources []Source) Trust {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n", owner.Subject, owner.Facets)
	for _, s := range slices.SortedFunc(slices.Values(sources), func(a, b Source) int { return strings.Compare(a.Name, b.Name) }) {
		if !s.IsWritten() {
			fmt.Fprintf(h, "%d %q %q %q %q\n", s.Number, s.Name, s.Kind, s.Format, s.Facets)
		}
	}
	return Trust(hex.EncodeToString(h.Sum(nil)))
}

// CheckWritten says what is wrong with the documents of one call of [Store.Write].
func CheckWritten(documents []Written) error {
	if len(documents) > MaxWritten {
		return fmt.Errorf("%d documents: at most %d can be written at once", len(documents), MaxWritten)
	}
	seen := map[string]bool{}
	for _, w := range documents {
		if w.Record == nil {
			return errors.New("a document without a record")
		}
		if err := w.check(seen); err != nil {
			return fmt.Errorf("document %q: %w", clip(w.Record.Ref), err)
		}
		seen[w.Record.Ref] = true
	}
	return nil
}

// clip is as much of a reference as a message shows.
func clip(ref string) string {
	const shown = 200
	return ref[:min(len(ref), shown)]
}

func (w Written) check(seen map[string]bool) error {
	if err := w.Record.Check(); err != nil {
		return err
	}
	switch {
	case w.Record.Kind != Page:
		return fmt.Errorf("it is of kind %q: what is written is of kind %q", w.Record.Kind, Page)
	case seen[w.Record.Ref]:
		return errors.New("it is there twice")
	}
	failed := func(a label.Atom) bool { return a == label.ReadFailed() }
	for _, c := range w.Label.Confidentiality() {
		if slices.ContainsFunc(c.Alternatives(), failed) {
			return errors.New("its label says that a label could not be read")
		}
	}
	text := w.Label.Canonical()
	if len(text) > MaxWrittenLabelBytes {
		return fmt.Errorf("its label has %d bytes: at most %d can be kept", len(text), MaxWrittenLabelBytes)
	}
	if back, err := label.ReadLabel([]byte(text)); err != nil || !back.Equal(w.Label) {
		return errors.New("its label cannot be kept: read again it is not the same")
	}
	return nil
}

// readWritten reads the label of a source of written documents.
func readWritten(text string) label.Label {
	l, err := label.ReadLabel([]byte(text))
	if err != nil {
		return label.New([]label.Clause{label.AnyOf(label.ReadFailed())}, nil)
	}
	return l
}

// WrittenSource is the source of the documents with a label, as it is made at a time: its name follows from the label. Taken says which names
// there are already.
func WrittenSource(l label.Label, at time.Time, taken func(name string) bool) Source {
	const prefix, shortest = "written-", 12
	text := l.Canonical()
	sum := sha256.Sum256([]byte(text))
	digits := hex.EncodeToString(sum[:])[:56] // with the prefix the most a name can have
	n := shortest
	for n < len(digits) && taken(prefix+digits[:n]) {
		n++
	}
	return Source{Name: prefix + digits[:n], Kind: PagesSource, Format: WrittenFormat, Added: at, Written: text}
}
