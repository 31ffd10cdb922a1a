// Package governor decides what may be done in a case, and why.
//
// [Rules] hold one protocol, resolved for evaluation. [Rules.Evaluate] is a pure function: from the
// state of a case and the evidence in it to a [Decision] or a [Refusal]. It reads no clock and does
// no input or output, and the order in which records, authority and decisions are given never
// changes the bytes of the answer (governed-runs 4).
//
// [Governor] keeps cases in memory: it opens them under a protocol, takes evidence and observations,
// and answers what the frontier is and whether the case is complete (4.11).
package governor

import "github.com/loomrun/loom/protocol"

// The formats this package reads and writes.
const (
	CaseFormat     = "canon-case/1"
	EvidenceFormat = "canon-evidence/1"
	DecisionFormat = "canon-decision/1"
)

// SemanticsVersion names the rules by which decisions are made. It stands in every explanation and
// changes only when the same input may get another decision (D22).
const SemanticsVersion = "0.1.0"

// Status is what an action, an obligation or an outcome comes to in a decision.
type Status string

// The statuses.
const (
	Admissible       Status = "admissible"
	ApprovalRequired Status = "approval-required"
	Blocked          Status = "blocked"

	Open          Status = "open"
	Discharged    Status = "discharged"
	NotApplicable Status = "not_applicable"

	Legitimate Status = "legitimate"
)

// Snapshot is the state of a case (4.1).
type Snapshot struct {
	ID          string
	Protocol    string             // the protocol id, not its registration
	Artifacts   []ArtifactRevision // every declared artifact, once
	Revision    *string            // of the case as a whole
	Termination *string            // the outcome the case claims to have ended with
	Inputs      []InputValue       // every declared case input, once; nil where none is given
}

// ArtifactRevision is the revision of one artifact.
type ArtifactRevision struct{ Artifact, Revision string }

// InputValue is the value of one case input.
type InputValue struct{ Input, Value string }

// Record is an immutable statement of one kind about one artifact revision (4.2).
type Record struct {
	ID                string
	Kind              string
	Result            *string
	Subject           string
	SubjectRevision   string
	ObservedAt        *string            // an instant, YYYY-MM-DDTHH:MM:SSZ
	UpstreamRevisions []ArtifactRevision // what the record was made against
}

// Authority is a grant or a denial of one capability.
type Authority struct {
	Capability string
	Granted    bool
}

// ExplicitDecision is what a principal decided about an outcome at one revision of the case.
type ExplicitDecision struct{ Decision, Outcome, Principal, CaseRevision string }

// Request is everything an evaluation looks at. An explanation tells parts that were not given (nil)
// from empty ones.
type Request struct {
	Snapshot  Snapshot
	Evidence  []Record
	Authority []Authority
	Decisions []ExplicitDecision
	At        *string // the instant of the evaluation; without one nothing expires
}

// truth orders the three values so that all is the least and any the greatest of its members, and
// not is the negative.
type truth int8

const (
	isFalse   truth = -1
	isUnknown truth = 0
	isTrue    truth = 1
)

func (t truth) word() protocol.Truth {
	switch t {
	case isTrue:
		return protocol.True
	case isFalse:
		return protocol.False
	default:
		return protocol.Unknown
	}
}

func truthOf(holds bool) truth {
	if holds {
		return isTrue
	}
	return isFalse
}
