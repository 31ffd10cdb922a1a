package governor_test

import (
	"slices"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// model is the reference that the governor is held to, taken from the text alone and written as
// plainly as possible: sections 4.4 to 4.6 here, reasons (4.7) and refusals (4.9) in the files beside
// this one. It shares nothing, remembers nothing and follows claims by recursion, so it is for small
// protocols. It takes well-formed documents only.
type model struct {
	p *protocol.Protocol
	governor.Documents
}

// decide gives the decision without format, header and explanation, or the code of a refusal.
func (m model) decide() (document.Value, string) {
	sections, outcomes := obj("claims", section(m.p.Claims, m.claim)), section(m.p.Outcomes, m.outcome)
	var obligations []document.Value
	for _, o := range m.p.Obligations {
		obligations = append(obligations, obj("id", o.ID, "status", m.obligation(o)))
	}
	sections = withList(sections, "obligations", obligations)
	for name, s := range map[string]document.Value{"actions": section(m.p.Actions, m.action), "outcomes": outcomes} {
		if len(s.Members) > 0 {
			sections.Members = append(sections.Members, document.M(name, s))
		}
	}
	return sections, m.refusal(outcomes)
}

// view is what a predicate sees: the records that apply and the values of claims.
type view struct {
	applies func(record document.Value) bool
	value   func(claim string) protocol.Truth
}

// inside is the view from within a claim: what is excluded for it is excluded throughout (4.5).
func (m model) inside(claim string) view {
	v := view{applies: func(r document.Value) bool { return m.excluded(r, claim) == "" }}
	v.value = func(id string) protocol.Truth { return m.eval(m.rule(id), v) }
	return v
}

// outside is the view of obligations, actions and outcomes: no claim, so nothing is invalidated.
func (m model) outside() view {
	return view{
		applies: func(r document.Value) bool { return m.excluded(r, "") == "" },
		value:   func(id string) protocol.Truth { return m.eval(m.rule(id), m.inside(id)) },
	}
}

// eval is the table of 4.4.
func (m model) eval(p *protocol.Predicate, v view) protocol.Truth {
	switch p.Form {
	case protocol.All, protocol.Any:
		deciding, value := truth(p.Form == protocol.Any), truth(p.Form == protocol.All)
		for _, q := range p.Members {
			switch m.eval(q, v) {
			case deciding:
				return deciding
			case protocol.Unknown:
				value = protocol.Unknown
			}
		}
		return value
	case protocol.Not:
		return swapped(m.eval(p.Members[0], v))
	case protocol.OfClaim:
		value := v.value(p.Claim)
		return map[protocol.Truth]protocol.Truth{
			protocol.True: value, protocol.False: swapped(value), protocol.Unknown: truth(value == protocol.Unknown),
		}[p.Is]
	case protocol.OfInput:
		return truth(slices.Contains(p.In, text(m.Snapshot, "inputs", p.Input)))
	}
	read := matching(m.Evidence, func(r document.Value) bool { return reads(p, r) && v.applies(r) })
	with := matching(read, func(r document.Value) bool {
		result, ok := r.Get("result")
		return p.Result == nil || (ok && result.Text == *p.Result)
	})
	if len(read) == 0 || (0 < len(with) && len(with) < len(read)) {
		return protocol.Unknown
	}
	return truth(len(with) > 0)
}

func reads(match *protocol.Predicate, record document.Value) bool {
	return text(record, "kind") == match.Kind && (match.Subject == nil || text(record, "subject") == *match.Subject)
}

// excluded tells why a record does not apply for a claim, or, without one, why it applies nowhere (4.5).
func (m model) excluded(r document.Value, claim string) string {
	if text(r, "subject_revision") != m.present(text(r, "subject")) {
		return "revision_mismatch"
	}
	at, given := instant(m.At.Text)
	observed, recorded := instant(text(r, "observed_at"))
	for _, k := range m.p.EvidenceKinds {
		if k.ID == text(r, "kind") && k.MaxAge != nil && given && recorded && at > observed && uint64(at-observed) > k.MaxAge.Seconds {
			return "expired"
		}
	}
	for _, rule := range m.p.Invalidation {
		against := text(r, "upstream_revisions", rule.Upstream)
		stale := against != "" && against != m.present(rule.Upstream)
		if stale && claim != "" && slices.ContainsFunc(rule.Invalidates, func(named string) bool { return m.buildsOn(claim, named) }) {
			return "invalidated"
		}
	}
	return ""
}

func (m model) present(artifact string) string {
	return text(m.Snapshot, "artifacts", artifact, "revision")
}

func (m model) rule(claim string) *protocol.Predicate {
	return m.p.Claims[slices.IndexFunc(m.p.Claims, func(c protocol.Claim) bool { return c.ID == claim })].TrueWhen
}

func (m model) buildsOn(claim, on string) bool {
	return claim == on || slices.ContainsFunc(leaves(m.rule(claim)), func(leaf *protocol.Predicate) bool {
		return leaf.Form == protocol.OfClaim && m.buildsOn(leaf.Claim, on)
	})
}

// canRead tells whether a match that is reachable from a claim would read a record.
func (m model) canRead(claim string, r document.Value) bool {
	return slices.ContainsFunc(leaves(m.rule(claim)), func(leaf *protocol.Predicate) bool {
		return leaf.Form == protocol.OfClaim && m.canRead(leaf.Claim, r) || leaf.Form == protocol.Evidence && reads(leaf, r)
	})
}

func (m model) claim(c protocol.Claim) (string, document.Value) {
	value := obj("value", string(m.eval(c.TrueWhen, m.inside(c.ID))))
	var excluded []document.Value
	for _, r := range byID(m.Evidence) {
		if why := m.excluded(r, c.ID); why != "" && m.canRead(c.ID, r) {
			excluded = append(excluded, obj("evidence", text(r, "id"), "reason", why))
		}
	}
	return c.ID, withList(value, "excluded_evidence", excluded)
}

func (m model) obligation(o protocol.Obligation) string {
	applicable := protocol.True
	if o.ApplicableWhen != nil {
		applicable = m.eval(o.ApplicableWhen, m.outside())
	}
	if applicable == protocol.True && m.eval(o.DischargedWhen, m.outside()) == protocol.True {
		return "discharged"
	}
	return map[bool]string{true: "not_applicable", false: "open"}[applicable == protocol.False]
}

func (m model) action(a protocol.Action) (string, document.Value) {
	if m.eval(a.Precondition, m.outside()) != protocol.True {
		return a.ID, obj("status", "blocked", "reasons", m.reasons(a.Precondition))
	}
	reasons := map[string][]document.Value{} // by decision
	for _, c := range a.Requires {
		given := append(matching(m.Authority.Items, func(v document.Value) bool { return text(v, "capability") == c }), obj("decision", "none"))
		decision := text(given[0], "decision")
		reasons[decision] = append(reasons[decision], obj("capability", c, "decision", decision))
	}
	switch {
	case len(reasons["denied"]) > 0:
		return a.ID, obj("status", "blocked", "reasons", reasons["denied"])
	case len(reasons["none"]) > 0:
		return a.ID, obj("status", "approval-required", "reasons", reasons["none"])
	}
	return a.ID, obj("status", "admissible")
}

func (m model) outcome(o protocol.Outcome) (string, document.Value) {
	if !o.DecisionOutcome() {
		if m.eval(o.Requires, m.outside()) == protocol.True {
			return o.ID, obj("status", "legitimate")
		}
		return o.ID, obj("status", "blocked", "reasons", m.reasons(o.Requires))
	}
	var principals []string
	for _, d := range m.Decisions.Items {
		current := text(m.Snapshot, "revision") != "" && text(d, "case_revision") == text(m.Snapshot, "revision")
		if current && text(d, "decision") == o.Decision && text(d, "outcome") == o.ID {
			principals = append(principals, text(d, "principal"))
		}
	}
	if len(principals) == 0 {
		return o.ID, obj("status", "blocked", "reasons", document.ListOf(obj("decision", o.Decision, "present", false)))
	}
	slices.Sort(principals)
	return o.ID, obj("status", "legitimate", "decided_by", obj("decision", o.Decision, "principals", document.TextsOf(slices.Compact(principals))))
}
