// Package effect holds what performs the actions of a protocol and verifies what they did.
//
// A [Binding] serves protocols of one shape. For a run it opens a [Port], which performs an action
// once and reports what happened, and whose verifier turns that report, and nothing else, into
// evidence (governed-runs 5.1, 6). The host clock is one binding; nothing outside knows which.
package effect

import (
	"context"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/protocol"
)

// NoArguments is the argument schema that admits only {}: the empty object. A port whose action takes
// nothing gives exactly this text, by which a run knows that the action can be proposed without a
// model (D10).
const NoArguments = `{"type":"object","properties":{},"additionalProperties":false}`

// Binding serves protocols.
type Binding interface {
	// Name says how a protocol is carried out, such as "clock".
	Name() string
	// SHA256 is the digest, in hexadecimal, of what the binding is bound to: a run goes on only with a
	// binding of the same digest.
	SHA256() string
	// Serves tells whether this binding can carry out the protocol.
	Serves(p *protocol.Protocol) bool
	// Lacks says what is missing for a protocol that it serves to be carried out to its end; empty for
	// nothing. A run stops for it before a case opens.
	Lacks(p *protocol.Protocol) string
	// Open makes the port of one run. It touches nothing yet.
	Open(intent Intent) Port
}

// Intent is what a run is for.
type Intent struct {
	Text string
	// Revision is intent-sha256-<64 hex digits of the text>.
	Revision string
}

// Port performs and verifies the actions of one run. It is used by one goroutine.
//
// Only Start and Perform may touch anything outside the process. A run keeps what these two gave and
// is replayed from that without calling them, also on another machine, so all else that a port says
// must follow from its intent, its arguments and the reports it is given.
type Port interface {
	// Start readies the run and gives the revision of each artifact the case opens with. What can
	// be refused before a case opens is refused here, by an error. It changes nothing that counts: a
	// run that was killed at once is started again.
	Start(ctx context.Context) (revisions map[string]string, err error)
	// Performs tells whether the port can perform the action.
	Performs(action string) bool
	// Arguments gives the JSON Schema of the arguments of an action that it performs, for the model.
	Arguments(action string) string
	// CheckArguments says why arguments of an action that it performs, which are one JSON object on
	// one line, are refused; empty for fine. The model reads what it says.
	CheckArguments(action, arguments string) string
	// Reach says, for a person who is asked to approve an action that it performs, who and what the
	// action reaches: what it may read, change and send. One line.
	Reach(action string) string
	// Perform does the action, once. An error fails the run: what the effect did is then unknown.
	Perform(ctx context.Context, r Request) (Report, error)
	// Verify makes evidence of a report that this port gave for r, in the order of reports. An error
	// fails the run.
	Verify(r Request, report Report) (Verdict, error)
}

// Bounded is a port whose run reads under a ceiling (retrieval 4.6).
type Bounded interface {
	Port
	// Bound says what the run is held to. It is asked once, before Start, and may look at the world as Start may.
	Bound(ctx context.Context) (Bound, error)
	// Hold holds the port to a bound: that which Bound gave, now or when the run began.
	Hold(b Bound) error
}

// Bound is what a run is held to from its begin to its end, also when it is resumed with other flags.
type Bound struct {
	Ceiling string   // a JSON list of clauses; null where there is no bound
	From    []string // where the ceiling comes from, for people, such as "--ceiling work"
	Terms   string   // JSON: what else the port is held to
}

// Request is one action of a case.
type Request struct {
	Run       string // the run's id
	Step      int    // from 1
	Case      string
	Revision  uint64            // of the case
	Artifacts map[string]string // the present revision of each
	Action    string
	Arguments string // one JSON object on one line
	// Label is the label of all that the run had been shown when it proposed this, so of what it wrote (retrieval 4.4): canonical
	// JSON of a label without integrity; empty where that is public.
	Label string `json:",omitzero"`
}

// Report is what came of a request. It holds everything that is known of the effect, so that a run
// can be replayed from its reports. What is not UTF-8 in Refused and Text is replaced by U+FFFD; all
// else is UTF-8.
type Report struct {
	// Refused says why the effect was not performed; empty when it was. It stands alone then:
	// nothing was observed and no revision changes.
	Refused string
	// Unconfined says why the effect could not be confined as it must be, as "CODE: detail"; empty where that is
	// no matter. It was not performed then, and the run stops.
	Unconfined string
	// Text is the report for people and for the model; it may have several lines.
	Text string
	// Source and Subject say who observed and which artifact it is about.
	Source, Subject string
	// Observation is JSON: what was observed.
	Observation string
	// Revisions are the artifact revisions that the effect changed; nil for none.
	Revisions map[string]string
	// Disclosed is what a model is shown of the effect in the place of Text; nil for nothing else than Text.
	Disclosed *Disclosure `json:",omitzero"`
}

// Disclosure is labelled data that an effect brings before the model.
type Disclosure struct {
	OutputID  string
	Text      string // JSON on one line
	Label     string // of what Text shows: canonical JSON of a label without integrity; empty where that is public
	Truncated bool   // Text does not show all there is
}

// Verdict is what a verifier makes of a report.
type Verdict struct {
	Evidence []Evidence
	Why      string // why there is no evidence; may be empty
}

// Evidence is one record for the governor, and who made it.
type Evidence struct {
	Record   governor.Record
	Producer string
}
