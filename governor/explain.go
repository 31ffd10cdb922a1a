package governor

import (
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/protocol"
)

// explanation builds the explanation of a decision (4.8). Its maps are written in canonical order.
type explanation struct {
	readings // of all records
	decision *Decision

	shown map[standing]document.Value // see show
	rests map[view][]document.Value   // see restsOn
}

// standing is a record, by rank, and why it does not count, or that it applies.
type standing struct {
	rank int32
	why  reason
}

func (d *Decision) newExplanation() *explanation {
	all := make([]int32, len(d.evaluation.bound))
	for i := range all {
		all[i] = int32(i)
	}
	return &explanation{
		readings: d.evaluation.readingsOf(all),
		decision: d,
		shown:    map[standing]document.Value{},
		rests:    map[view][]document.Value{},
	}
}

// explanationRecords counts how often records stand in the explanation at most, without building it.
func (d *Decision) explanationRecords() int {
	x := d.newExplanation()
	n := 0
	for i := range d.Claims {
		n += len(x.ofClaim(int32(i)))
	}
	count := func(reasons []Reason) {
		for _, r := range reasons {
			if r.Kind == EvidenceReason {
				n += len(x.byGroup[r.group])
			}
		}
	}
	for _, a := range d.Actions {
		count(a.Reasons)
	}
	for _, o := range d.Outcomes {
		count(o.Reasons)
	}
	return n
}

func (d *Decision) explanation() document.Value {
	x := d.newExplanation()
	v := document.MapOf()
	add := func(name string, part document.Value) {
		if len(part.Members) > 0 {
			v.Members = append(v.Members, document.M(name, part))
		}
	}
	add("actions", x.actions())
	add("claims", x.claims())
	add("computed_from", x.computedFrom())
	add("obligations", x.obligations())
	add("outcomes", x.outcomes())
	return v
}

func (x *explanation) actions() document.Value {
	part := document.MapOf()
	for _, a := range x.decision.Actions {
		if a.Status != Admissible {
			part.Members = append(part.Members, document.M(a.Action, x.because(a.Status, a.Reasons)))
		}
	}
	return part
}

func (x *explanation) obligations() document.Value {
	part := document.MapOf()
	for i, o := range x.decision.Obligations {
		if o.Status == Open {
			part.Members = append(part.Members, document.M(o.Obligation, x.because(Open, x.owing(i))))
		}
	}
	return part
}

func (x *explanation) outcomes() document.Value {
	part := document.MapOf()
	for _, o := range x.decision.Outcomes {
		if o.Status == Blocked {
			part.Members = append(part.Members, document.M(o.Outcome, x.because(Blocked, o.Reasons)))
		}
	}
	return part
}

// owing gives the reasons of an open obligation: that it is not known to apply, else that it is not
// discharged.
func (e *evaluation) owing(i int) []Reason {
	if p := e.applicablePrograms[i]; !p.absent() && e.value[p.root()] == isUnknown {
		return e.reasons(p)
	}
	return e.reasons(e.dischargePrograms[i])
}

// because is a status with its deciding reasons, each evidence reason followed by the records read.
func (x *explanation) because(status Status, reasons []Reason) document.Value {
	list := document.ListOf()
	for _, r := range reasons {
		list.Items = append(list.Items, r.document())
		if r.Kind == EvidenceReason {
			for _, rank := range x.byGroup[r.group] {
				list.Items = append(list.Items, x.show(standing{rank, x.excludedFrom(x.order[rank], 0)}))
			}
		}
	}
	return document.MapOf(document.M("because", list), statusMember(status))
}

// show gives a record as applied or excluded, once for all places where it stands the same.
func (x *explanation) show(record standing) document.Value {
	v, ok := x.shown[record]
	if ok {
		return v
	}
	id := document.M("evidence", document.TextOf(x.request.Evidence[x.order[record.rank]].ID))
	if record.why == applies {
		v = document.MapOf(id, document.M("status", document.TextOf("applied")))
	} else {
		v = document.MapOf(id, document.M("reason", document.TextOf(record.why.word())), document.M("status", document.TextOf("excluded")))
	}
	x.shown[record] = v
	return v
}

// claims explains every claim that is not true, every claim that a reason names, and every claim
// that an explained one tests, so that no value in an explanation is left unexplained.
func (x *explanation) claims() document.Value {
	d := x.decision
	explained := make([]bool, len(d.Claims))
	var pending []int32
	need := func(i int32) {
		if !explained[i] {
			explained[i] = true
			pending = append(pending, i)
		}
	}
	for i, c := range d.Claims {
		if c.Value != protocol.True {
			need(int32(i))
		}
	}
	named := func(reasons []Reason) {
		for _, r := range reasons {
			if r.Kind == ClaimReason {
				need(x.Rules.claims[r.Name])
			}
		}
	}
	for i, o := range d.Obligations {
		if o.Status == Open {
			named(x.owing(i))
		}
	}
	for _, a := range d.Actions {
		named(a.Reasons)
	}
	for _, o := range d.Outcomes {
		named(o.Reasons)
	}
	for next := 0; next < len(pending); next++ {
		for _, t := range x.claimTests[pending[next]] {
			need(t)
		}
	}
	part := document.MapOf()
	for i, c := range d.Claims {
		if explained[i] {
			part.Members = append(part.Members, document.M(c.Claim, x.claim(int32(i), c)))
		}
	}
	return part
}

// claim explains one claim: the claims it tests with the values they have for it, the records that
// matches reach, the matches that read none, and the case inputs it tests. Section 4.8 knows no inputs
// here, but a claim that rests on them alone would have no explanation.
func (x *explanation) claim(i int32, c ClaimDecision) document.Value {
	because := document.ListOf()
	for n, t := range x.claimTests[i] {
		tested := Reason{Kind: ClaimReason, Name: x.protocol.Claims[t].ID, Value: string(x.testedValue(i, n).word())}
		because.Items = append(because.Items, tested.document())
	}
	because.Items = append(because.Items, x.restsOn(i)...)
	for _, in := range x.inputsOf(i) {
		given := Reason{Kind: InputReason, Name: x.protocol.Inputs[in].ID, Value: x.request.Snapshot.Inputs[in].Value}
		because.Items = append(because.Items, given.document())
	}
	return document.MapOf(document.M("because", because), document.M("value", document.TextOf(string(c.Value))))
}

// inputsOf gives the case inputs that a claim's own predicate tests, by id, each once.
func (r *Rules) inputsOf(claim int32) []int32 {
	var inputs []int32
	p := r.claimPrograms[claim]
	for _, n := range r.nodes[p.from:p.to] {
		if n.form == protocol.OfInput {
			inputs = append(inputs, n.of)
		}
	}
	return sortedSet(inputs)
}

// restsOn shows the records that matches reachable from a claim read, and the matches that read none,
// once for all claims that see the same.
func (x *explanation) restsOn(claim int32) []document.Value {
	view := x.viewOf(claim)
	all, ok := x.rests[view]
	if ok {
		return all
	}
	for _, rank := range x.ofClaim(claim) {
		all = append(all, x.show(standing{rank, x.excludedFrom(x.order[rank], view.set)}))
	}
	for _, g := range x.reach.sets[view.reach] {
		if len(x.byGroup[g]) > 0 {
			continue
		}
		v := document.MapOf(
			document.M("kind", document.TextOf(x.protocol.EvidenceKinds[x.groups[g].kind].ID)),
			document.M("status", document.TextOf("absent")))
		v.Members = appendText(v.Members, "subject", x.subjectOf(&x.groups[g]))
		all = append(all, v)
	}
	x.rests[view] = all
	return all
}

// computedFrom names everything the decision was made from.
func (x *explanation) computedFrom() document.Value {
	request := &x.request
	v := document.MapOf()
	v.Members = appendText(v.Members, "at", request.At)
	if request.Authority != nil {
		list := document.ListOf()
		for _, a := range request.Authority {
			list.Items = append(list.Items, a.document())
		}
		v.Members = append(v.Members, document.M("authority", list))
	}
	v.Members = append(v.Members, document.M("case", request.Snapshot.document()))
	if request.Decisions != nil {
		list := document.ListOf()
		for _, d := range request.Decisions {
			list.Items = append(list.Items, d.document())
		}
		v.Members = append(v.Members, document.M("decisions", list))
	}
	ids := make([]string, 0, len(x.order))
	for _, record := range x.order {
		ids = append(ids, request.Evidence[record].ID)
	}
	v.Members = append(v.Members,
		document.M("evidence", document.TextsOf(ids)),
		document.M("protocol", document.TextOf(x.protocol.ID)),
		document.M("protocol_revision", document.UintOf(x.protocol.Revision)),
		document.M("semantics", document.MapOf(
			document.M("canon", document.TextOf(x.semantics)), document.M("format", document.TextOf(DecisionFormat)))))
	return v
}
