// Package protocol reads protocol/1 documents: what a kind of work is about, what counts as
// evidence, which claims follow from it, which actions are allowed when, and how the work may end.
//
// [Compile] reads a YAML document strictly, reports every problem it has (governed-runs 2.8, 2.9)
// and gives a [Protocol]: the document in normal order. Two documents that say the same thing have
// the same normal form, byte for byte (2.10), whatever their key order, style or comments.
//
// The package is pure: it reads no file, no clock and no environment.
package protocol

// Format is the only document format this package reads.
const Format = "protocol/1"

// MaxPredicateDepth bounds how deep a predicate nests together with the claims it tests: the number
// of predicates on the longest way from the outermost one to a leaf, both counted, where a claim
// leaf goes on into the rule of its claim (governed-runs 4.9, 11.4 case 72).
const MaxPredicateDepth = 4096

// Protocol is a valid document in normal order: sections by id, sets sorted and without repeats,
// predicates sorted (2.10). It must not be changed.
type Protocol struct {
	ID          string
	Revision    uint64
	Description *string

	Inputs        []Input
	Artifacts     []Artifact
	EvidenceKinds []EvidenceKind
	Claims        []Claim
	Obligations   []Obligation
	Actions       []Action
	Outcomes      []Outcome
	Invalidation  []InvalidationRule
}

// Input is a choice that a case states when it opens (2.12).
type Input struct {
	ID          string
	Description *string
	Values      []string // closed, never empty, no value twice
}

// Artifact is a thing a case is about. A case gives it exactly one present revision.
type Artifact struct {
	ID          string
	Description *string
}

// EvidenceKind is a sort of record. Without a MaxAge its records never expire.
type EvidenceKind struct {
	ID          string
	Description *string
	MaxAge      *MaxAge
}

// Claim is a proposition that evidence makes true, false or leaves unknown.
type Claim struct {
	ID          string
	Description *string
	TrueWhen    *Predicate
}

// Obligation is a debt that is open until its predicate holds.
type Obligation struct {
	ID             string
	Description    *string
	ApplicableWhen *Predicate // nil: always applicable
	DischargedWhen *Predicate
}

// Action is something that may be done.
type Action struct {
	ID           string
	Description  *string
	Effect       *string // the effect class: read, write and none are used, any identifier is accepted
	Precondition *Predicate
	Requires     []string // capabilities
	MayProduce   []string // evidence kinds
}

// Outcome is a way the case may legitimately end: by a predicate, or by an explicit decision.
// Exactly one of Requires and Decision is set.
type Outcome struct {
	ID          string
	Description *string
	Requires    *Predicate
	Decision    string
}

// InvalidationRule takes records made against an older revision of Upstream away from claims.
type InvalidationRule struct {
	ID          string
	Description *string
	Upstream    string
	Invalidates []string // claims
}

// DecisionOutcome tells whether the outcome needs an explicit decision.
func (o Outcome) DecisionOutcome() bool { return o.Requires == nil }

// Compile reads one document, validates it and puts it in normal order. The error is a [Problems].
// It does not bound the size of data: the catalog does (2.3).
func Compile(data []byte) (*Protocol, error) {
	d, problem := read(data)
	if problem != nil {
		return nil, Problems{*problem}
	}
	if problems := d.validate(); len(problems) > 0 {
		return nil, problems
	}
	return d.normalize(), nil
}

// Declared gives the id and the revision a readable document declares, also when it is not valid. It
// serves messages that propose a registration name (2.2).
func Declared(data []byte) (id string, revision uint64, ok bool) {
	d, problem := read(data)
	if problem != nil {
		return "", 0, false
	}
	return d.id.text, d.revision, true
}
