package governor

import (
	"slices"

	"github.com/loomrun/loom/protocol"
)

// Evaluate makes the decision for a request, or gives the first refusal in the order of 4.9. The
// work is linear in the records and the predicates, and, for each set of records that invalidation
// takes away, in those records and in the claims that they are taken away from (4.10).
func (r *Rules) Evaluate(request Request) (*Decision, *Refusal) {
	return r.evaluate(typed{&request}, false)
}

// parts gives the parts of a request one by one, so that a part that cannot be read is refused in
// its turn: after what comes before it in the order of 4.9, before what comes after.
type parts interface {
	snapshot() (Snapshot, *Refusal)
	records() int
	record(i int) (Record, *Refusal)
	authority() ([]Authority, *Refusal)
	instant() (*string, *Refusal)
	decisions() ([]ExplicitDecision, *Refusal)
}

// typed is a request that needs no reading. A decision outlives the call, so that what it keeps of a
// request is copied, down to what pointers point at. Of records it keeps the ids alone.
type typed struct{ *Request }

func (t typed) snapshot() (Snapshot, *Refusal) {
	s := t.Snapshot // its lists are copied when they are put in order
	s.Revision, s.Termination = cloned(s.Revision), cloned(s.Termination)
	return s, nil
}

func (t typed) records() int                       { return len(t.Evidence) }
func (t typed) record(i int) (Record, *Refusal)    { return t.Evidence[i], nil }
func (t typed) authority() ([]Authority, *Refusal) { return slices.Clone(t.Authority), nil }
func (t typed) instant() (*string, *Refusal)       { return cloned(t.At), nil }

func (t typed) decisions() ([]ExplicitDecision, *Refusal) { return slices.Clone(t.Decisions), nil }

func cloned(text *string) *string {
	if text == nil {
		return nil
	}
	return new(*text)
}

// evaluation is the state of one Evaluate. The decision keeps it for its explanation, and nothing of
// it changes once the decision is made.
type evaluation struct {
	*Rules
	request Request // the snapshot's artifacts and inputs in the protocol's order, no record that is set aside
	at      int64   // seconds; only with hasAt
	hasAt   bool
	grant   map[string]bool // by capability: granted or denied

	principals map[int32][]string // by outcome: who took the current decision that it requires

	bound []binding // of each record
	moved upstreams // the watched artifacts that some record was made against at another revision

	tally tally       // of the records that apply everywhere
	sets  []upstreams // whose moving takes records away from some claim; sets[0] is empty
	setOf []int32     // by claim: its set; nil where that is sets[0] for every claim
	own   []truth     // by claim: its value under its own set
	seen  [][]truth   // by claim with a set: the values that the claims it tests have under that set
	value []truth     // by node of obligations, actions and outcomes
}

// binding is what evaluation knows of a record.
type binding struct {
	kind, subject int32
	every, about  int32     // the groups that read it, or none
	excluded      reason    // everywhere
	against       upstreams // watched artifacts it was made against at another revision; nil for none, or where it is excluded everywhere
}

// reason says why a record is excluded.
type reason uint8

const (
	applies reason = iota
	revisionMismatch
	expired
	invalidated
)

func (r reason) word() string {
	return [...]string{"", "revision_mismatch", "expired", "invalidated"}[r]
}

func (r *Rules) evaluate(in parts, setAside bool) (*Decision, *Refusal) {
	e := &evaluation{Rules: r}
	if refused := e.read(in, setAside); refused != nil {
		return nil, refused
	}
	if refused := e.checkEnd(); refused != nil {
		return nil, refused
	}
	e.count()
	e.evaluateClaims()
	e.evaluateRest()
	d := e.decide()
	if t := e.request.Snapshot.Termination; t != nil && d.Outcomes[e.outcomes[*t]].Status != Legitimate {
		return nil, refuse(SnapshotPart, IllegitimateTermination, "the case claims to have ended with outcome %s, which is not legitimate", *t)
	}
	return d, nil
}

// present gives the revision of an artifact.
func (e *evaluation) present(artifact int32) string {
	return e.request.Snapshot.Artifacts[artifact].Revision
}

// count goes over the records once: which stage excludes each, and what the applying ones say.
func (e *evaluation) count() {
	e.tally = e.newTally()
	for i := range e.bound {
		b := &e.bound[i]
		record := &e.request.Evidence[i]
		readers := &e.byKind[b.kind]
		b.every, b.about = readers.every, none
		if at, found := slices.BinarySearchFunc(readers.bySubject, b.subject, func(g subjectGroup, subject int32) int { return int(g.subject - subject) }); found {
			b.about = readers.bySubject[at].group
		}
		b.excluded = e.exclude(b, record)
		if b.excluded != applies {
			continue
		}
		e.against(b, record)
		e.add(b, record, 1)
	}
}

// exclude applies the two stages that hold for everything: revision binding, then freshness (4.5).
func (e *evaluation) exclude(b *binding, record *Record) reason {
	if record.SubjectRevision != e.present(b.subject) {
		return revisionMismatch
	}
	age := e.protocol.EvidenceKinds[b.kind].MaxAge
	if age == nil || !e.hasAt || record.ObservedAt == nil {
		return applies
	}
	observed, _ := parseInstant(*record.ObservedAt)
	if e.at > observed && uint64(e.at-observed) > age.Seconds {
		return expired
	}
	return applies
}

// against notes the watched artifacts that have moved since the record was made.
func (e *evaluation) against(b *binding, record *Record) {
	for _, upstream := range record.UpstreamRevisions {
		u, watched := e.upstreamIndex[upstream.Artifact]
		if !watched || upstream.Revision == e.present(e.upstreams[u]) {
			continue
		}
		if b.against == nil {
			b.against = newUpstreams(len(e.upstreams))
		}
		b.against.add(u)
		if e.moved == nil {
			e.moved = newUpstreams(len(e.upstreams))
		}
		e.moved.add(u)
	}
}

// tally counts the records that apply, by group and by result that a match asks for.
type tally struct {
	applied []int32
	having  [][]int32
}

func (e *evaluation) newTally() tally {
	t := tally{applied: make([]int32, len(e.groups)), having: make([][]int32, len(e.groups))}
	results := 0
	for i := range e.groups {
		results += len(e.groups[i].results)
	}
	counts := make([]int32, results)
	for i := range e.groups {
		n := len(e.groups[i].results)
		t.having[i], counts = counts[:n:n], counts[n:]
	}
	return t
}

// add counts a record, or with -1 takes it out of the count.
func (e *evaluation) add(b *binding, record *Record, by int32) {
	for _, g := range [2]int32{b.every, b.about} {
		if g == none {
			continue
		}
		e.tally.applied[g] += by
		if record.Result == nil {
			continue
		}
		if at, found := slices.BinarySearch(e.groups[g].results, *record.Result); found {
			e.tally.having[g][at] += by
		}
	}
}

// evaluateClaims gives each claim its value. A claim that no moved artifact takes records away from
// tests only claims of the same sort.
func (e *evaluation) evaluateClaims() {
	e.own = make([]truth, len(e.claimPrograms))
	e.value = make([]truth, len(e.nodes))
	e.sets = []upstreams{nil}
	if e.moved != nil {
		e.assignSets()
	}
	for _, i := range e.claimOrder {
		if e.setOfClaim(i) == 0 {
			e.own[i] = e.run(e.claimPrograms[i], e.own)
		}
	}
	if len(e.sets) > 1 {
		e.evaluateInvalidated()
	}
}

// evaluateRest gives the predicates outside claims their values. They test claims by the claims' own
// values, and read evidence that no invalidation takes away.
func (e *evaluation) evaluateRest() {
	for _, section := range [...][]program{e.applicablePrograms, e.dischargePrograms, e.actionPrograms, e.outcomePrograms} {
		for _, p := range section {
			e.run(p, e.own)
		}
	}
}

// run finds the values of a program's nodes by the rules of 4.4, members first, and gives the value
// of the outermost. A program that is absent has no value.
func (e *evaluation) run(p program, claims []truth) truth {
	values := e.value
	var result truth
	for i := p.from; i < p.to; i++ {
		n := &e.nodes[i]
		switch n.form {
		case protocol.All:
			result = isTrue
			for _, m := range e.kids[n.from:n.to] {
				result = min(result, values[m])
			}
		case protocol.Any:
			result = isFalse
			for _, m := range e.kids[n.from:n.to] {
				result = max(result, values[m])
			}
		case protocol.Not:
			result = -values[e.kids[n.from]]
		case protocol.OfClaim:
			result = tested(claims[n.of], n.is)
		case protocol.OfInput:
			result = truthOf(slices.Contains(e.listed[n.detail], e.request.Snapshot.Inputs[n.of].Value))
		case protocol.Evidence:
			result = e.tally.matched(n)
		}
		values[i] = result
	}
	return result
}

func tested(claim truth, is protocol.Truth) truth {
	switch is {
	case protocol.True:
		return claim
	case protocol.False:
		return -claim
	default:
		return truthOf(claim == isUnknown)
	}
}

// matched is the value of an evidence match: absence is never false, and records that disagree leave
// it unknown.
func (t *tally) matched(n *node) truth {
	applied := t.applied[n.of]
	switch {
	case applied == 0:
		return isUnknown
	case n.detail == anyResult:
		return isTrue
	}
	switch t.having[n.of][n.detail] {
	case applied:
		return isTrue
	case 0:
		return isFalse
	default:
		return isUnknown
	}
}
