package governor

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/loomrun/loom/internal/uuid8"
	"github.com/loomrun/loom/protocol"
)

// snapshot is the state of the case as evaluation sees it. The caller holds the lock.
func (c *caseState) snapshot() Snapshot {
	return Snapshot{
		ID: c.id, Protocol: c.definition.Rules.protocol.ID, Revision: new("r" + strconv.FormatUint(c.revision, 10)),
		Artifacts: c.artifacts, Inputs: c.inputs,
	}
}

// decide evaluates the case at an instant; empty for none. What was accepted before is not refused
// now, so the only refusal left is of the instant.
func (g *Governor) decide(id, at string) (*Decision, uint64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := g.find(id)
	if err != nil {
		return nil, 0, err
	}
	request := Request{Snapshot: c.snapshot(), Evidence: c.evidence}
	if at != "" {
		request.At = &at
	}
	d, refused := c.definition.Rules.Evaluate(request)
	if refused != nil {
		return nil, 0, refused
	}
	return d, c.revision, nil
}

// FrontierEntry is one declared action at one revision of a case.
type FrontierEntry struct {
	Action      string
	Description string // empty where the protocol has none
	Effect      string // the effect class, likewise
	Status      Status
	Capability  string   // the required capability; empty for none
	Reasons     []string // compact JSON
}

// ClaimValue is the value of one claim.
type ClaimValue struct {
	Claim string
	Value protocol.Truth
}

// Frontier is the list of all actions of a case with their status at one case revision (4.11).
type Frontier struct {
	ID              string // a UUID of version 8: equal decisions have equal ids
	Case            string
	Revision        uint64
	Entries         []FrontierEntry // in id order
	Claims          []ClaimValue    // in id order
	OpenObligations []string        // in id order
	At              string          // the instant of the evaluation; empty for none
	Outcome         string          // that the case has come to; empty for a case with none, or with two
	Evidence        int             // the decision rests on so many records: the first that applied
	SHA256          string          // of the decision's canonical bytes, in hexadecimal
}

// Frontier computes the frontier of a case, at an instant that the host trusts. Without one (empty)
// no evidence expires (4.5, D23).
func (g *Governor) Frontier(id, at string) (Frontier, error) {
	d, revision, err := g.decide(id, at)
	if err != nil {
		return Frontier{}, err
	}
	return d.frontier(id, revision, at), nil
}

// frontier lists what a decision about a case says.
func (d *Decision) frontier(id string, revision uint64, at string) Frontier {
	decision := d.Bytes()
	digest := sha256.Sum256(decision)
	f := Frontier{
		Case: id, Revision: revision, At: at, ID: frontierID(id, revision, decision),
		Evidence: len(d.evaluation.request.Evidence), SHA256: hex.EncodeToString(digest[:]),
	}
	f.Outcome, _ = d.Legitimate()
	for i, a := range d.Actions {
		declared := &d.evaluation.protocol.Actions[i]
		entry := FrontierEntry{Action: a.Action, Status: a.Status, Description: orEmpty(declared.Description), Effect: orEmpty(declared.Effect)}
		if len(a.Requires) > 0 {
			entry.Capability = a.Requires[0]
		}
		for _, r := range a.Reasons {
			entry.Reasons = append(entry.Reasons, r.String())
		}
		f.Entries = append(f.Entries, entry)
	}
	for _, c := range d.Claims {
		f.Claims = append(f.Claims, ClaimValue{c.Claim, c.Value})
	}
	for _, o := range d.Obligations {
		if o.Status == Open {
			f.OpenObligations = append(f.OpenObligations, o.Obligation)
		}
	}
	return f
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// frontierID is made from what the frontier follows from, so that equal decisions have equal ids.
func frontierID(id string, revision uint64, decision []byte) string {
	return uuid8.Of(id, strconv.FormatUint(revision, 10), string(decision))
}

// Completion gives the outcome that a case has come to. A case with none, or with two, is open.
func (g *Governor) Completion(id, at string) (outcome string, complete bool, err error) {
	d, _, err := g.decide(id, at)
	if err != nil {
		return "", false, err
	}
	outcome, complete = d.Legitimate()
	return outcome, complete, nil
}
