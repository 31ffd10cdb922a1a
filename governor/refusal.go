package governor

import (
	"fmt"

	"github.com/loomrun/loom/protocol"
)

// Codes of refusals that documents of protocol/1 do not share (4.9).
const (
	InvalidInstant          protocol.Code = "invalid-instant"
	UndeclaredOutcome       protocol.Code = "undeclared-outcome"
	UndeclaredDecision      protocol.Code = "undeclared-decision"
	IllegitimateTermination protocol.Code = "illegitimate-termination"
)

// Part is the part of a request that a refusal is about.
type Part string

// The parts of a request.
const (
	SnapshotPart  Part = "Snapshot"
	EvidencePart  Part = "Evidence"
	AuthorityPart Part = "Authority"
	TimePart      Part = "Time"
	DecisionsPart Part = "Decisions"
)

// Refusal says why no decision was made: the first cause in the order of 4.9.
type Refusal struct {
	Part    Part
	Index   int // of the record, from 0, where Part is EvidencePart
	Code    protocol.Code
	Message string
}

// Error gives "PART: CODE: MESSAGE".
func (r *Refusal) Error() string {
	if r.Part == EvidencePart {
		return fmt.Sprintf("%s %d: %s: %s", r.Part, r.Index, r.Code, r.Message)
	}
	return fmt.Sprintf("%s: %s: %s", r.Part, r.Code, r.Message)
}

func refuse(part Part, code protocol.Code, format string, args ...any) *Refusal {
	return &Refusal{Part: part, Code: code, Message: fmt.Sprintf(format, args...)}
}
