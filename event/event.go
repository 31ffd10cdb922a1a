// Package event holds what a run says happened, as values.
//
// A run emits one stream of these, in the order in which things happened. The lines for people, the
// jsonl records and every other view are readers of that stream (DESIGN, "How an intent flows");
// nothing else leaves a run while it goes on. Texts are as they came, from models, programs and
// files: a reader that prints them for people must make them printable.
//
// A journal keeps events under the names of their types and fields, so a name that changes makes old
// records unreadable.
package event

// Event is one thing that happened in a run. The types of this package are the only events.
type Event interface{ isEvent() }

// ReferenceFound is a key or link found in the intent by rules.
type ReferenceFound struct{ Kind, Value string }

// Phase says what a model was asked for.
type Phase string

// The phases of a run that may need a model.
const (
	Classification Phase = "Classification" // pick a protocol for the intent
	Action         Phase = "Action"         // pick an action and its arguments
)

// TurnCompleted is one completed model request. Turns count from 1.
type TurnCompleted struct {
	Turn  int
	Phase Phase
	Model string // the name in the model catalog; what a server claims does not count
	Stop  string // EndTurn, ToolCalls, MaxOutputTokens or Incomplete
}

// ToolCalled is one call in a turn, also one that is refused afterwards.
type ToolCalled struct {
	Turn      int
	CallID    string
	Name      string
	Arguments string // JSON text as the model wrote it
}

// TokensUsed is what the provider said a turn cost. A number it did not report is nil.
type TokensUsed struct {
	Turn                     int
	Model                    string
	InputTokens              *uint64
	OutputTokens             *uint64
	CachedInputTokens        *uint64
	CacheCreationInputTokens *uint64
	ReasoningOutputTokens    *uint64
	Final                    bool
}

// Routed says which protocol was picked and whether the run goes on under it.
type Routed struct {
	Protocol string
	Accepted bool
}

// PickedBy says who chose the protocol.
type PickedBy uint8

// The ways a protocol is chosen.
const (
	ByModel   PickedBy = iota // a classification model
	ByMatcher                 // the built-in matcher
	ByFlag                    // the person, by --protocol
)

// Picked is an accepted choice of protocol.
type Picked struct {
	Protocol   string
	By         PickedBy
	Confidence string   // decimal as it was written; empty for ByFlag
	Reasons    []string // likewise
}

// PickRefused is a choice of protocol that the router did not accept.
type PickRefused struct{ Why string }

// ActionStatus is one action of a frontier: "admissible", "approval-required" or "blocked".
type ActionStatus struct{ Action, Status string }

// FrontierComputed is the frontier of the case before a selection or before a stop.
type FrontierComputed struct {
	ID       string
	Revision uint64
	At       string         // the trusted instant of the evaluation; empty for none
	Actions  []ActionStatus // in id order
}

// Proposed is a step with an action and its arguments.
type Proposed struct {
	Step      int
	Action    string
	Arguments string // compact JSON
}

// NotProposed is a step that ended before there was a proposal.
type NotProposed struct {
	Step   int
	Action string // what was named instead of a proposal; empty for nothing
}

// EffectReported is what a performed effect said.
type EffectReported struct {
	Step   int
	Report string // may have several lines
}

// StepRefused says why a step had no effect.
type StepRefused struct {
	Step   int
	Reason string
}

// EvidenceSubmitted is a record that a verifier made of an effect's report.
type EvidenceSubmitted struct {
	Step         int
	Kind, Result string
	Record       string // its id
}

// NoEvidence says that a verifier made no record, and why if it says so.
type NoEvidence struct {
	Step int
	Why  string
}

// The events from here to [Resumed] say what a run's record must hold for the run to be checked and
// continued later. They are for journals; lines for people and jsonl records leave them out.

// CaseOpened is a case that was opened under a definition.
type CaseOpened struct {
	Case          string
	Protocol      string // the registration
	SHA256        string // of the definition's bytes, in hexadecimal
	Binding       string // the name of what carries the protocol out
	BindingSHA256 string // of what the binding is bound to
	Revision      uint64 // of the case
	Artifacts     map[string]string
	Inputs        map[string]string
	Performs      []string // the declared actions that the binding performs, in id order
}

// Decided is one decision of the governor about a case: what went in, and the digest of what came out.
type Decided struct {
	Case      string
	Revision  uint64            // of the case
	Artifacts map[string]string // the revision of each
	Evidence  int               // it rests on so many records: the first that applied
	At        string            // the trusted instant; empty for none
	SHA256    string            // of the decision's canonical bytes, in hexadecimal
}

// CeilingSet says what a run may be shown: before its case is opened, and never otherwise afterwards (retrieval 4.6).
type CeilingSet struct {
	Ceiling string   // a JSON list of clauses; null where there is no bound
	From    []string // where it comes from, for people
	Terms   string   // JSON: what else what performs the actions is held to
}

// ContextObserved is a labelled observation that came before the model (retrieval 4.4). It is told behind everything else of its step.
type ContextObserved struct {
	Sequence  int // of such observations, from 1
	Step      int
	Action    string // that showed it
	OutputID  string
	Channels  []string
	Label     string // of what was shown: canonical JSON of a label without integrity
	Truncated bool   // not all there is was shown
	Context   string // the label of all that the run has been shown, this included
}

// Observed is an observation that was added to a case.
type Observed struct {
	Case    string
	Step    int
	Source  string // "executor" or "effect"
	Subject string
	Payload string // JSON, as written
}

// Admitted is a proposal that may be performed: the last thing told before its effect.
type Admitted struct {
	Case       string
	Step       int
	Action     string
	Arguments  string // compact JSON
	Revision   uint64 // of the case
	SHA256     string // of the decision that admits it
	Capability string // that was granted for it; empty where none is needed
}

// RevisionsMoved says that artifacts of a case have new revisions.
type RevisionsMoved struct {
	Case      string
	Step      int
	Revision  uint64            // of the case, now
	Artifacts map[string]string // the revision of each, now
}

// EvidenceReceived is a record that a verifier gave to the governor, also one that does not apply.
type EvidenceReceived struct {
	Case     string
	Step     int
	Kind     string // as announced
	Producer string
	Data     string // JSON, as written
	Applies  bool
}

// Resumed is the begin of another sitting of a run that had stopped, failed or been killed.
type Resumed struct {
	Steps   int // that were taken before
	Sitting int // the second is 2
	Outcome Outcome
}

// Outcome is what a person says of an effect whose report is missing.
type Outcome string

// The outcomes. The zero Outcome says nothing.
const (
	Performed    Outcome = "performed"
	NotPerformed Outcome = "not-performed"
)

// StopReason says why a run stopped (governed-runs 1.4).
type StopReason string

// The reasons.
const (
	Completed              StopReason = "Completed"
	ApprovalRequired       StopReason = "ApprovalRequired"
	NothingAdmissible      StopReason = "NothingAdmissible"
	StepBudget             StopReason = "StepBudget"
	NeedsModel             StopReason = "NeedsModel"
	NoLocalExecutor        StopReason = "NoLocalExecutor"
	Refused                StopReason = "Refused"
	ConfinementUnavailable StopReason = "ConfinementUnavailable"
)

// Stopped is the end of a run that stopped by a rule. It is the last event.
type Stopped struct {
	Reason   StopReason
	Detail   string   // empty for none
	Actions  []string // what waits for approval, in frontier order
	Protocol string   // empty before one was accepted
	Steps    int
	CaseOpen bool      // a case was opened, so Steps is a count
	Waiting  []Waiting `json:",omitzero"` // what an approval would be for: one for each of Actions, in their order
}

// Waiting is what an approval would be for (5.5): an action with the very arguments, at a revision of a case.
type Waiting struct {
	Action     string
	Arguments  string // compact JSON; empty where the action has not been proposed yet and may take some
	Capability string
	Case       string
	Revision   uint64 // of the case
	Reach      string // who and what the action reaches, as the port says it; one line
}

// Granted is a person's approval of what waits, between two sittings (D18). It is for exactly this request, under
// exactly this definition, and for one effect.
type Granted struct {
	Action     string
	Arguments  string // compact JSON
	Capability string
	Case       string
	Revision   uint64 // of the case
	SHA256     string // of the definition's bytes, in hexadecimal
	Expires    string // the instant from which on it holds no more, YYYY-MM-DDTHH:MM:SS.mmmZ
	By         string // who says so
}

// Denied is a person's denial of what waits, between two sittings (D18). It holds until the case has another
// revision or the same is granted.
type Denied struct {
	Action     string
	Arguments  string // compact JSON
	Capability string
	Case       string
	Revision   uint64 // of the case
	SHA256     string // of the definition's bytes, in hexadecimal
	By         string // who says so
}

// Failed is the end of a run that failed. It is the last event.
type Failed struct {
	Error       string
	Protocol    string
	Steps       int
	CaseOpen    bool
	Interrupted bool // from outside, not by what it did
}

func (ReferenceFound) isEvent()    {}
func (TurnCompleted) isEvent()     {}
func (ToolCalled) isEvent()        {}
func (TokensUsed) isEvent()        {}
func (Routed) isEvent()            {}
func (Picked) isEvent()            {}
func (PickRefused) isEvent()       {}
func (FrontierComputed) isEvent()  {}
func (Proposed) isEvent()          {}
func (NotProposed) isEvent()       {}
func (EffectReported) isEvent()    {}
func (StepRefused) isEvent()       {}
func (EvidenceSubmitted) isEvent() {}
func (NoEvidence) isEvent()        {}
func (CaseOpened) isEvent()        {}
func (Decided) isEvent()           {}
func (CeilingSet) isEvent()        {}
func (ContextObserved) isEvent()   {}
func (Observed) isEvent()          {}
func (Admitted) isEvent()          {}
func (RevisionsMoved) isEvent()    {}
func (EvidenceReceived) isEvent()  {}
func (Resumed) isEvent()           {}
func (Stopped) isEvent()           {}
func (Granted) isEvent()           {}
func (Denied) isEvent()            {}
func (Failed) isEvent()            {}
