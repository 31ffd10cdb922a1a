package governor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/loomrun/loom/protocol"
)

// read takes the parts of a request in and refuses the first that is wrong, in the order of 4.9.
// With setAside a record of an undeclared kind or subject is left out instead (4.11, 4.12).
func (e *evaluation) read(in parts, setAside bool) *Refusal {
	var refused *Refusal
	if e.request.Snapshot, refused = in.snapshot(); refused != nil {
		return refused
	}
	if refused := e.checkSnapshot(); refused != nil {
		return refused
	}
	undeclaredSubject, refused := e.readRecords(in, setAside)
	if refused != nil {
		return refused
	}
	if e.request.Authority, refused = in.authority(); refused != nil {
		return refused
	}
	if refused := e.checkAuthority(); refused != nil {
		return refused
	}
	if e.request.At, refused = in.instant(); refused != nil {
		return refused
	}
	if e.request.At != nil {
		if e.at, e.hasAt = parseInstant(*e.request.At); !e.hasAt {
			return refuse(TimePart, InvalidInstant, "the evaluation instant %q is not a UTC date and time such as 2026-03-01T08:00:00Z", *e.request.At)
		}
	}
	if e.request.Decisions, refused = in.decisions(); refused != nil {
		return refused
	}
	if refused := e.checkDecisions(); refused != nil {
		return refused
	}
	return undeclaredSubject
}

// checkSnapshot also puts the snapshot's artifacts and inputs in the protocol's order.
func (e *evaluation) checkSnapshot() *Refusal {
	s := &e.request.Snapshot
	bad, found := firstInvalid(identifier{"case id", &s.ID}, identifier{"protocol id", &s.Protocol},
		identifier{"case revision", s.Revision}, identifier{"termination", s.Termination})
	for i := 0; i < len(s.Artifacts) && !found; i++ {
		a := &s.Artifacts[i]
		bad, found = firstInvalid(identifier{"artifact id", &a.Artifact}, identifier{"artifact revision", &a.Revision})
	}
	if found {
		return refuse(SnapshotPart, protocol.InvalidIdentifier, "%s", bad)
	}
	if s.Protocol != e.protocol.ID {
		return refuse(SnapshotPart, protocol.MalformedInput, "the snapshot is of protocol %q, not %q", s.Protocol, e.protocol.ID)
	}
	if refused := e.checkArtifacts(s); refused != nil {
		return refused
	}
	return e.checkInputs(s)
}

func (e *evaluation) checkArtifacts(s *Snapshot) *Refusal {
	inOrder := make([]ArtifactRevision, len(e.protocol.Artifacts))
	for _, a := range s.Artifacts {
		i, declared := e.artifacts[a.Artifact]
		switch {
		case !declared:
			return refuse(SnapshotPart, protocol.UndeclaredArtifact, "the snapshot lists artifact %q, which %s does not declare", a.Artifact, e.protocol.ID)
		case inOrder[i] != ArtifactRevision{}:
			return refuse(SnapshotPart, protocol.DuplicateIdentifier, "the snapshot lists artifact %q twice", a.Artifact)
		}
		inOrder[i] = a
	}
	for i, a := range e.protocol.Artifacts {
		if inOrder[i] == (ArtifactRevision{}) {
			return refuse(SnapshotPart, protocol.MalformedInput, "the snapshot misses artifact %q, which %s declares", a.ID, e.protocol.ID)
		}
	}
	s.Artifacts = inOrder
	return nil
}

// checkInputs comes last of the snapshot, for which 4.9 gives no place, and refuses with the code
// that D25 gives a missing artifact.
func (e *evaluation) checkInputs(s *Snapshot) *Refusal {
	if s.Inputs == nil && len(e.protocol.Inputs) == 0 {
		return nil
	}
	inOrder := make([]InputValue, len(e.protocol.Inputs))
	for _, in := range s.Inputs {
		i, declared := e.inputs[in.Input]
		switch {
		case !declared:
			return refuse(SnapshotPart, protocol.MalformedInput, "the snapshot gives case input %q, which %s does not declare", in.Input, e.protocol.ID)
		case inOrder[i] != InputValue{}:
			return refuse(SnapshotPart, protocol.DuplicateIdentifier, "the snapshot gives case input %q twice", in.Input)
		case !slices.Contains(e.protocol.Inputs[i].Values, in.Value):
			return refuse(SnapshotPart, protocol.MalformedInput, "case input %s is %q, which is none of its values", in.Input, in.Value)
		}
		inOrder[i] = in
	}
	for i, in := range e.protocol.Inputs {
		if inOrder[i] == (InputValue{}) {
			return refuse(SnapshotPart, protocol.MalformedInput, "the snapshot misses case input %q, which %s declares", in.ID, e.protocol.ID)
		}
	}
	s.Inputs = inOrder
	return nil
}

// readRecords takes the records in. A subject that is not declared is refused only after everything
// else was read (4.9), so it is handed back apart.
func (e *evaluation) readRecords(in parts, setAside bool) (undeclaredSubject, refused *Refusal) {
	count := in.records()
	e.request.Evidence = make([]Record, count)
	e.bound = make([]binding, 0, count)
	seen := make(map[string]struct{}, count)
	kept := 0
	for i := range count {
		record := &e.request.Evidence[kept]
		if *record, refused = in.record(i); refused == nil {
			refused = checkRecord(record)
		}
		if refused == nil {
			if _, twice := seen[record.ID]; twice {
				refused = refuse(EvidencePart, protocol.DuplicateIdentifier, "the record id %q was used before", record.ID)
			}
		}
		kind, kindDeclared := e.kinds[record.Kind]
		subject, subjectDeclared := e.artifacts[record.Subject]
		if refused == nil && !kindDeclared && !setAside {
			refused = refuse(EvidencePart, protocol.UndeclaredEvidenceKind, "record %s is of kind %q, which %s does not declare", record.ID, record.Kind, e.protocol.ID)
		}
		if refused != nil {
			refused.Index = i
			return nil, refused
		}
		seen[record.ID] = struct{}{}
		if setAside && !(kindDeclared && subjectDeclared) {
			continue
		}
		if !subjectDeclared && undeclaredSubject == nil {
			undeclaredSubject = refuse(EvidencePart, protocol.UndeclaredArtifact, "record %s is about artifact %q, which %s does not declare", record.ID, record.Subject, e.protocol.ID)
			undeclaredSubject.Index = i
		}
		e.bound = append(e.bound, binding{kind: kind, subject: subject})
		kept++
	}
	e.request.Evidence = e.request.Evidence[:kept]
	return undeclaredSubject, nil
}

// checkRecord looks at what a record can be wrong about by itself.
func checkRecord(record *Record) *Refusal {
	if bad, found := firstInvalid(identifier{"record id", &record.ID}, identifier{"evidence kind", &record.Kind}, identifier{"subject", &record.Subject}, identifier{"subject revision", &record.SubjectRevision}); found {
		return refuse(EvidencePart, protocol.InvalidIdentifier, "%s", bad)
	}
	for i := range record.UpstreamRevisions {
		upstream := &record.UpstreamRevisions[i]
		if bad, found := firstInvalid(identifier{"upstream artifact", &upstream.Artifact}, identifier{"upstream revision", &upstream.Revision}); found {
			return refuse(EvidencePart, protocol.InvalidIdentifier, "%s", bad)
		}
	}
	if record.ObservedAt != nil {
		if _, ok := parseInstant(*record.ObservedAt); !ok {
			return refuse(EvidencePart, InvalidInstant, "record %s was observed at %q, which is not a UTC date and time such as 2026-03-01T08:00:00Z", record.ID, *record.ObservedAt)
		}
	}
	return nil
}

// checkAuthority also puts the authority in order. Invalid names are looked for before repeated ones
// (4.9), and both in that order, so that what is refused does not hang on the order of the input.
func (e *evaluation) checkAuthority() *Refusal {
	authority := e.request.Authority
	slices.SortFunc(authority, func(a, b Authority) int { return strings.Compare(a.Capability, b.Capability) })
	for i := range authority {
		if bad, found := firstInvalid(identifier{"capability", &authority[i].Capability}); found {
			return refuse(AuthorityPart, protocol.InvalidIdentifier, "%s", bad)
		}
	}
	if len(authority) > 0 {
		e.grant = make(map[string]bool, len(authority))
	}
	for _, a := range authority {
		if _, twice := e.grant[a.Capability]; twice {
			return refuse(AuthorityPart, protocol.DuplicateIdentifier, "capability %q is decided twice", a.Capability)
		}
		e.grant[a.Capability] = a.Granted
	}
	return nil
}

// checkDecisions also puts the decisions in order, for the reason of checkAuthority.
func (e *evaluation) checkDecisions() *Refusal {
	decisions := e.request.Decisions
	slices.SortFunc(decisions, compareDecisions)
	for i := range decisions {
		d := &decisions[i]
		if bad, found := firstInvalid(identifier{"decision", &d.Decision}, identifier{"outcome", &d.Outcome}, identifier{"principal", &d.Principal}, identifier{"case revision", &d.CaseRevision}); found {
			return refuse(DecisionsPart, protocol.InvalidIdentifier, "%s", bad)
		}
	}
	for i, d := range decisions {
		if i > 0 && d == decisions[i-1] {
			return refuse(DecisionsPart, protocol.DuplicateIdentifier, "decision %q of %s for outcome %s is given twice", d.Decision, d.Principal, d.Outcome)
		}
	}
	return nil
}

func compareDecisions(a, b ExplicitDecision) int {
	return cmp.Or(strings.Compare(a.Decision, b.Decision), strings.Compare(a.Outcome, b.Outcome),
		strings.Compare(a.Principal, b.Principal), strings.Compare(a.CaseRevision, b.CaseRevision))
}

// checkEnd refuses a termination or decisions that name what the protocol does not declare, and notes
// who took the decisions that are current. Only whether the termination is legitimate must wait.
func (e *evaluation) checkEnd() *Refusal {
	s := &e.request.Snapshot
	if s.Termination != nil {
		if _, declared := e.outcomes[*s.Termination]; !declared {
			return refuse(SnapshotPart, UndeclaredOutcome, "the case claims to have ended with outcome %q, which %s does not declare", *s.Termination, e.protocol.ID)
		}
	}
	for _, d := range e.request.Decisions {
		if _, declared := e.outcomes[d.Outcome]; !declared {
			return refuse(DecisionsPart, UndeclaredOutcome, "decision %s is for outcome %q, which %s does not declare", d.Decision, d.Outcome, e.protocol.ID)
		}
	}
	if len(e.request.Decisions) > 0 {
		e.principals = map[int32][]string{}
	}
	for _, d := range e.request.Decisions {
		outcome := e.outcomes[d.Outcome]
		if e.protocol.Outcomes[outcome].Decision != d.Decision { // which is empty for an outcome by predicate
			return refuse(DecisionsPart, UndeclaredDecision, "outcome %s does not require decision %q", d.Outcome, d.Decision)
		}
		if s.Revision != nil && d.CaseRevision == *s.Revision {
			e.principals[outcome] = append(e.principals[outcome], d.Principal) // in order and without repeats, as the decisions are
		}
	}
	return nil
}

// identifier is a name to be checked, with what it names. A nil text is absent and fine.
type identifier struct {
	what string
	text *string
}

// String says what is wrong with an invalid identifier.
func (id identifier) String() string {
	return "the " + id.what + " must be text without white space, control or format characters"
}

func firstInvalid(names ...identifier) (identifier, bool) {
	for _, id := range names {
		if id.text != nil && !protocol.ValidIdentifier(*id.text) {
			return id, true
		}
	}
	return identifier{}, false
}
