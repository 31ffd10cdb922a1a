package audit

import (
	"slices"
	"time"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/journal"
)

// said is what a person said of a request between two sittings (D18).
type said struct {
	of      request
	denied  bool
	expires string // of a grant
	used    bool
}

// request is what a grant is for, and nothing else.
type request struct {
	action, arguments, capability, id string
	revision                          uint64
	definition                        string
}

// saysSomebody tells whether persons have a say in a run: a record without a word of them had its authority elsewhere.
func saysSomebody(entries []journal.Entry) bool {
	return slices.ContainsFunc(entries, isSaid)
}

func isSaid(e journal.Entry) bool {
	return e.Kind == journal.Told && (e.Name == journal.EventName(event.Granted{}) || e.Name == journal.EventName(event.Denied{}))
}

// says takes what a person said. It must be of something that waited at the stop before it.
func (a *auditor) says(at int64, s said) {
	waits := slices.ContainsFunc(a.end.waiting, func(w event.Waiting) bool {
		return s.of == request{w.Action, w.Arguments, w.Capability, w.Case, w.Revision, a.kept.table.SHA256}
	})
	switch {
	case a.end.over != event.ApprovalRequired:
		a.effects.fail(at, "a person says something where the run does not wait for an approval")
	case !waits || s.of.arguments == "":
		a.effects.fail(at, "a person says something of %.100q that does not wait like this", s.of.action)
	}
	a.said = append(a.said, s)
}

// checkGrant checks that what is admitted with a capability was granted, in just these bytes, and uses the grant up.
func (a *auditor) checkGrant(at int64, e event.Admitted, decided string) {
	of := request{e.Action, e.Arguments, e.Capability, e.Case, e.Revision, a.kept.table.SHA256}
	i := -1
	for j := range a.said {
		if a.said[j].of == of {
			i = j
		}
	}
	if i < 0 {
		a.effects.fail(at, "nobody granted the capability %.100q for exactly this", e.Capability)
		return
	}
	s := &a.said[i]
	expires, err := time.Parse(time.RFC3339, s.expires)
	now, decidedErr := time.Parse(time.RFC3339, decided)
	switch {
	case s.denied:
		a.effects.fail(at, "a person denied it last")
	case s.used:
		a.effects.fail(at, "the grant for it was used before")
	case err != nil || decidedErr != nil:
		a.effects.fail(at, "it cannot be told whether the grant for it had expired")
	case !now.Before(expires):
		a.effects.fail(at, "the grant for it had expired")
	}
	s.used = true
}

// checkWaiting checks that a stop says, of each action that waits, what an approval would be for.
func (a *auditor) checkWaiting(at int64, e event.Stopped, f governor.Frontier, proposed bool) {
	names := make([]string, len(e.Waiting))
	for i, w := range e.Waiting {
		names[i] = w.Action
		known := w.Action == a.step.action && w.Arguments == a.step.arguments // also of the proposal that waited before
		if w.Case != a.kept.table.ID || w.Revision != f.Revision || w.Capability != f.Admit(w.Action).Capability ||
			!known && (proposed || w.Arguments != "" && w.Arguments != "{}") {
			a.stop.fail(at, "it is not %.100q as it is here that waits", w.Action)
		}
	}
	if !slices.Equal(names, e.Actions) {
		a.stop.fail(at, "it does not tell what an approval would be for")
	}
}
