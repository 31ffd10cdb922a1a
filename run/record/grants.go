package record

import (
	"context"
	"time"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
)

// grants is the authority of a run whose record holds what persons say of its requests (D18). It follows from the
// entries of the record, and from the clock.
type grants struct {
	now        func() time.Time
	definition string // the digest of the definition that the case was opened under
	words      []word // in the order in which they were said
}

// bound is what a word is about: a grant of one is no grant of any other.
type bound struct {
	action, arguments, capability, id string
	revision                          uint64
	definition                        string
}

// word is a grant or a denial.
type word struct {
	bound
	granted bool
	expires string // of a grant
	spent   bool   // by an effect that was admitted, or by time
}

// take takes an entry that was added to the record.
func (g *grants) take(e journal.Entry) error {
	if e.Kind != journal.Told {
		return nil
	}
	told, err := e.Event()
	switch e := told.(type) {
	case event.CaseOpened:
		g.definition = e.SHA256
	case event.Decided:
		// A clock that is put back later does not bring a grant to life again.
		for i := range g.words {
			at, err := time.Parse(time.RFC3339, e.At)
			g.words[i].spent = g.words[i].spent || err == nil && g.words[i].expired(at)
		}
	case event.Granted:
		g.words = append(g.words, word{
			bound{e.Action, e.Arguments, e.Capability, e.Case, e.Revision, e.SHA256}, true, e.Expires, false,
		})
	case event.Denied:
		g.words = append(g.words, word{bound: bound{e.Action, e.Arguments, e.Capability, e.Case, e.Revision, e.SHA256}})
	case event.Admitted:
		if last := g.last(bound{e.Action, e.Arguments, e.Capability, e.Case, e.Revision, g.definition}); last != nil {
			last.spent = true
		}
	}
	return err
}

// last gives the latest word about something, which is the one that counts.
func (g *grants) last(about bound) *word {
	for i := len(g.words) - 1; i >= 0; i-- {
		if g.words[i].bound == about {
			return &g.words[i]
		}
	}
	return nil
}

// Permit says what was said of exactly this request, under exactly the definition of the case. Asked about an action
// without arguments, it says whether there is a point in proposing it: whether a grant for some arguments waits to be
// used, or else what was said last.
func (g *grants) Permit(_ context.Context, capability string, r effect.Request) (run.Permission, error) {
	about := bound{r.Action, r.Arguments, capability, r.Case, r.Revision, g.definition}
	if r.Arguments != "" {
		return g.says(g.last(about)), nil
	}
	said := run.NeedsApproval
	for i := range g.words {
		w := &g.words[i]
		if about.arguments = w.arguments; w.bound != about || w != g.last(about) {
			continue
		}
		if said = g.says(w); said == run.Allow {
			break
		}
	}
	return said, nil
}

// says gives the permission that a word comes to. No word is none.
func (g *grants) says(w *word) run.Permission {
	switch {
	case w == nil:
		return run.NeedsApproval
	case !w.granted:
		return run.Deny
	case w.spent || w.expired(g.now()):
		return run.NeedsApproval
	}
	return run.Allow
}

// expired tells whether a grant holds no more at an instant.
func (w *word) expired(at time.Time) bool {
	expires, err := time.Parse(time.RFC3339, w.expires)
	return err != nil || !at.Before(expires)
}
