package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// verify checks the chain of hashes.
func (a *auditor) verify() {
	if broken, ok := errors.AsType[*journal.BrokenError](a.record.Verify()); ok {
		a.chain.fail(broken.Sequence, "%s", broken.Why)
	}
}

// concludeDefinition says where there was nothing to check.
func (a *auditor) concludeDefinition() {
	if a.kept.opened == nil {
		a.definition.note("no case was opened")
	}
}

// opens makes a governor that offers the definition of a case, or none where there is no such definition.
func (a *auditor) opens(at int64, e event.CaseOpened) *governor.Governor {
	a.checkOffer(at, e)
	text, there := a.record.Documents[e.SHA256]
	if !there {
		a.definition.doubt(at, "the journal does not hold the definition of %.100q", e.Protocol)
		return nil
	}
	if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != e.SHA256 {
		a.definition.fail(at, "the definition of %.100q that the journal holds has another SHA-256", e.Protocol)
		return nil
	}
	entry, err := catalog.Check(e.Protocol, []byte(text), catalog.Source{Kind: catalog.Memory})
	if err != nil {
		a.definition.fail(at, "%.300v", err)
		return nil
	}
	a.kept.size = len(text)
	a.kept.artifacts = len(entry.Protocol().Artifacts)
	g, err := governor.New(governor.Definition{Name: e.Protocol, SHA256: e.SHA256, Rules: governor.Prepare(entry.Protocol())})
	if err != nil {
		a.definition.fail(at, "%.300v", err)
		return nil
	}
	return g
}

// checkOffer checks that the definition is the one that was picked from the catalog of the run.
func (a *auditor) checkOffer(at int64, e event.CaseOpened) {
	if !slices.ContainsFunc(a.begin.Catalog, func(d journal.Definition) bool { return d.Name == e.Protocol && d.SHA256 == e.SHA256 }) {
		a.definition.fail(at, "the catalog that the run began with offers no %.100q with that SHA-256", e.Protocol)
	}
	if e.Protocol != a.end.picked || e.Protocol != a.end.routed || !a.end.accepted {
		a.definition.fail(at, "%.100q is not what was picked", e.Protocol)
	}
	if a.begin.Protocol != "" && a.begin.Protocol != e.Protocol {
		a.definition.fail(at, "the run began with %.100q, not with %.100q", a.begin.Protocol, e.Protocol)
	}
}
