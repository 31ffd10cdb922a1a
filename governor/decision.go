package governor

import (
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// Decision is what a case comes to (4.8). Sections are in id order. Parts of it are shared, with each
// other and with the protocol, so that it must not be changed; it may be read by several goroutines.
type Decision struct {
	Claims      []ClaimDecision
	Obligations []ObligationDecision
	Actions     []ActionDecision
	Outcomes    []OutcomeDecision

	evaluation *evaluation
}

// ClaimDecision is the value of a claim and the records that were taken away from it.
type ClaimDecision struct {
	Claim    string
	Value    protocol.Truth
	Excluded []ExcludedRecord // by record id
}

// ExcludedRecord is a record that a claim would read and why it does not: "revision_mismatch",
// "expired" or "invalidated".
type ExcludedRecord struct{ Record, Reason string }

// ObligationDecision is whether a debt is Open, Discharged or NotApplicable.
type ObligationDecision struct {
	Obligation string
	Status     Status
}

// ActionDecision is whether an action is Admissible, ApprovalRequired or Blocked, and why.
type ActionDecision struct {
	Action   string
	Status   Status
	Requires []string // capabilities
	Reasons  []Reason
}

// OutcomeDecision is whether the case may end this way: Legitimate or Blocked.
type OutcomeDecision struct {
	Outcome   string
	Status    Status
	Reasons   []Reason
	DecidedBy *DecidedBy
}

// DecidedBy names the explicit decision that made an outcome legitimate and who took it.
type DecidedBy struct {
	Decision   string
	Principals []string // by code point, each once
}

// Legitimate gives the outcome the case has come to: the one that is legitimate, if it is exactly
// one. A case with two is still open (4.11).
func (d *Decision) Legitimate() (outcome string, ok bool) {
	for _, o := range d.Outcomes {
		if o.Status != Legitimate {
			continue
		}
		if ok {
			return "", false
		}
		outcome, ok = o.Outcome, true
	}
	return outcome, ok
}

// decide puts the values that evaluation found into a decision.
func (e *evaluation) decide() *Decision {
	p := e.protocol
	d := &Decision{
		evaluation:  e,
		Claims:      make([]ClaimDecision, len(p.Claims)),
		Obligations: make([]ObligationDecision, len(p.Obligations)),
		Actions:     make([]ActionDecision, len(p.Actions)),
		Outcomes:    make([]OutcomeDecision, len(p.Outcomes)),
	}
	excluded := e.excludedByClaim()
	for i := range p.Claims {
		d.Claims[i] = ClaimDecision{Claim: p.Claims[i].ID, Value: e.own[i].word(), Excluded: excluded(int32(i))}
	}
	for i := range p.Obligations {
		d.Obligations[i] = ObligationDecision{p.Obligations[i].ID, e.obligation(i)}
	}
	for i := range p.Actions {
		d.Actions[i] = e.action(i)
	}
	for i := range p.Outcomes {
		d.Outcomes[i] = e.outcome(i)
	}
	return d
}

func (e *evaluation) obligation(i int) Status {
	if p := e.applicablePrograms[i]; !p.absent() {
		switch e.value[p.root()] {
		case isFalse:
			return NotApplicable
		case isUnknown:
			return Open
		}
	}
	if e.value[e.dischargePrograms[i].root()] == isTrue {
		return Discharged
	}
	return Open
}

// action looks at authority only once the precondition holds, and a denial outranks an undecided
// capability (4.6).
func (e *evaluation) action(i int) ActionDecision {
	a := &e.protocol.Actions[i]
	d := ActionDecision{Action: a.ID, Status: Blocked, Requires: a.Requires}
	if p := e.actionPrograms[i]; e.value[p.root()] != isTrue {
		d.Reasons = e.reasons(p)
		return d
	}
	var denied, undecided []Reason
	for _, capability := range a.Requires {
		granted, decided := e.grant[capability]
		switch {
		case !decided:
			undecided = append(undecided, Reason{Kind: CapabilityReason, Name: capability, Value: "none"})
		case !granted:
			denied = append(denied, Reason{Kind: CapabilityReason, Name: capability, Value: "denied"})
		}
	}
	switch {
	case denied != nil:
		d.Reasons = denied
	case undecided != nil:
		d.Status, d.Reasons = ApprovalRequired, undecided
	default:
		d.Status = Admissible
	}
	return d
}

func (e *evaluation) outcome(i int) OutcomeDecision {
	o := &e.protocol.Outcomes[i]
	d := OutcomeDecision{Outcome: o.ID, Status: Blocked}
	if !o.DecisionOutcome() {
		if p := e.outcomePrograms[i]; e.value[p.root()] != isTrue {
			d.Reasons = e.reasons(p)
		} else {
			d.Status = Legitimate
		}
		return d
	}
	if principals := e.principals[int32(i)]; principals != nil {
		d.Status, d.DecidedBy = Legitimate, &DecidedBy{o.Decision, principals}
	} else {
		d.Reasons = []Reason{{Kind: DecisionReason, Name: o.Decision}}
	}
	return d
}

// Bytes gives the decision with its explanation as canonical JSON (2.11, 4.8).
func (d *Decision) Bytes() []byte { return canonjson.Append(nil, d.Document()) }

// Document gives the decision with its explanation as a tree, maps in canonical order.
func (d *Decision) Document() document.Value {
	p := d.evaluation.protocol
	v := document.MapOf()
	add := func(name string, member document.Value) { v.Members = append(v.Members, document.M(name, member)) }
	if len(d.Actions) > 0 {
		actions := document.MapOf()
		for _, a := range d.Actions {
			actions.Members = append(actions.Members, document.M(a.Action, document.MapOf(append(reasonsMember(a.Reasons), statusMember(a.Status))...)))
		}
		add("actions", actions)
	}
	add("case", document.TextOf(d.evaluation.request.Snapshot.ID))
	claims := document.MapOf()
	for _, c := range d.Claims {
		claims.Members = append(claims.Members, document.M(c.Claim, c.document()))
	}
	add("claims", claims)
	add("explanation", d.explanation())
	add("format", document.TextOf(DecisionFormat))
	if len(d.Obligations) > 0 {
		obligations := document.ListOf()
		for _, o := range d.Obligations {
			obligations.Items = append(obligations.Items, document.MapOf(
				document.M("id", document.TextOf(o.Obligation)), statusMember(o.Status)))
		}
		add("obligations", obligations)
	}
	if len(d.Outcomes) > 0 {
		outcomes := document.MapOf()
		for _, o := range d.Outcomes {
			outcomes.Members = append(outcomes.Members, document.M(o.Outcome, o.document()))
		}
		add("outcomes", outcomes)
	}
	add("protocol", document.TextOf(p.ID))
	add("protocol_revision", document.UintOf(p.Revision))
	return v
}

func (c ClaimDecision) document() document.Value {
	v := document.MapOf()
	if len(c.Excluded) > 0 {
		list := document.ListOf()
		for _, x := range c.Excluded {
			list.Items = append(list.Items, document.MapOf(
				document.M("evidence", document.TextOf(x.Record)), document.M("reason", document.TextOf(x.Reason))))
		}
		v.Members = append(v.Members, document.M("excluded_evidence", list))
	}
	v.Members = append(v.Members, document.M("value", document.TextOf(string(c.Value))))
	return v
}

func (o OutcomeDecision) document() document.Value {
	v := document.MapOf()
	if o.DecidedBy != nil {
		v.Members = append(v.Members, document.M("decided_by", document.MapOf(
			document.M("decision", document.TextOf(o.DecidedBy.Decision)),
			document.M("principals", document.TextsOf(o.DecidedBy.Principals)))))
	}
	v.Members = append(append(v.Members, reasonsMember(o.Reasons)...), statusMember(o.Status))
	return v
}

func statusMember(s Status) document.Member { return document.M("status", document.TextOf(string(s))) }

// reasonsMember gives no member where there is no reason.
func reasonsMember(reasons []Reason) []document.Member {
	if len(reasons) == 0 {
		return nil
	}
	list := document.ListOf()
	for _, r := range reasons {
		list.Items = append(list.Items, r.document())
	}
	return []document.Member{document.M("reasons", list)}
}
