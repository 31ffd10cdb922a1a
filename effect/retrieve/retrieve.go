// Package retrieve performs the reads of a run over a person's data, and gives the answer that rests on them (D40).
//
// Its binding serves every protocol that declares at least one of the eight tools of package retrieval as an action under the tool's own
// name. A read is measured against the ceiling of the run before anything of it is shown; what is shown is held under tokens, and the answer is
// an action whose evidence needs every token it cites to be held.
//
// All that a port knows of a run follows from its bound and from the reports of its effects, so that a run that is resumed or
// replayed holds the same tokens and gives the same texts.
package retrieve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/result"
	"github.com/loomrun/loom/retrieval"
)

// The names of the contract.
const (
	// BindingName is what the binding is called in records.
	BindingName = "retrieval"
	// DescribeHandle and AnswerGive are the actions beside the eight tools.
	DescribeHandle = "describe_handle"
	AnswerGive     = "answer.give"

	artifact = "intent"
	source   = "loom/retrieval"
	producer = "loom/retrieval-verifier"

	rowsAdmitted   = "rows_admitted"
	rowsNone       = "rows_none"
	answerGrounded = "answer_grounded"
	answerEmpty    = "answer_empty"
)

// Options say what runs read with, and under what.
type Options struct {
	// ConfigPath is the host's configuration of retrieval (5.1). Without it the tools do not exist.
	ConfigPath string
	// Program makes what answers the reads; nil is the process that the configuration names.
	Program func(*retrieval.Config) retrieval.Program
	// Ceiling is what the host bounds the run with, before the record that the configuration names; From says where it comes from.
	Ceiling label.Ceiling
	From    []string
	// Tools are the ids that are offered; nil is all eight.
	Tools []string
	// RequireRowLabels withholds rows without a label (D38).
	RequireRowLabels bool
	// FailOnExceed withholds every row of a read where one exceeds the ceiling.
	FailOnExceed bool
	// ResultSchema is the JSON Schema of a structured result, which is written as a page; nil for none.
	ResultSchema []byte
	// ResultCeiling bounds the label of the result.
	ResultCeiling label.Ceiling
	// Cabinet opens where results are written, and says how to close it.
	Cabinet func(ctx context.Context) (result.Cabinet, func() error, error)
	// Resumed says that a run goes on: it is held to what it began with, and a run that was not held to anything yet does not go on.
	Resumed bool
	// Now is the clock that a result is dated by; nil is time.Now.
	Now func() time.Time
}

// Binding carries out protocols of retrieval.
type Binding struct {
	options  Options
	recorded bool
}

// New makes the binding of a host.
func New(o Options) *Binding {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Binding{options: o}
}

// Recorded makes the binding that a recorded run is played with: it performs nothing, and needs nothing of a host.
func Recorded() *Binding { return &Binding{recorded: true} }

// Name gives "retrieval".
func (b *Binding) Name() string { return BindingName }

// SHA256 gives a digest that is the same on every host: what a run is held to is in its record, not in what it is bound to.
func (b *Binding) SHA256() string {
	sum := sha256.Sum256([]byte(source + "/1"))
	return hex.EncodeToString(sum[:])
}

// Serves tells whether a protocol declares one of the eight tools.
func (b *Binding) Serves(p *protocol.Protocol) bool {
	return slices.ContainsFunc(p.Actions, func(a protocol.Action) bool {
		_, ok := retrieval.ToolNamed(a.ID)
		return ok
	})
}

// Lacks says how to configure what is not.
func (b *Binding) Lacks(*protocol.Protocol) string {
	if b.recorded || b.options.ConfigPath != "" {
		return ""
	}
	return "to read data needs --loom-retrieval-config FILE, which loom retrieval write makes"
}

// Open makes the port of one run.
func (b *Binding) Open(intent effect.Intent) effect.Port { return &port{binding: b, intent: intent} }
