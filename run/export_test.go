package run

import (
	"context"

	"github.com/loomrun/loom/governor"
)

// What the tests of this package's inside use.
var (
	ReadPick        = readPick
	ToolNames       = toolNames
	Words           = words
	ShownConfidence = shownConfidence
)

// Parts gives what a pick says.
func (p pick) Parts() (protocol string, confidence Decimal, reasons []string) {
	return p.protocol, p.confidence, p.reasons
}

// Meanwhile is Run with an executor that, before each proposal, lets somebody else give the case's
// artifacts new revisions. No caller of Run can reach the case, but a host that keeps cases where
// others work on them too could.
func Meanwhile(ctx context.Context, o Options, moves map[string]string) (Outcome, error) {
	r := newRunner(o)
	r.Executor = meanwhile{r, o.Executor, moves}
	return r.carryOut(ctx)
}

// Kept is Run, and what the case of the run then holds.
func Kept(ctx context.Context, o Options) ([]governor.Received, []governor.Observation, error) {
	r := newRunner(o)
	if _, err := r.carryOut(ctx); err != nil {
		return nil, nil, err
	}
	return r.governor.Kept(r.outcome.Case)
}

type meanwhile struct {
	*runner
	executor Executor
	moves    map[string]string
}

func (m meanwhile) Propose(ctx context.Context, s Selection) (Proposal, error) {
	if _, err := m.governor.UpdateRevisions(m.outcome.Case, m.moves); err != nil {
		return Proposal{}, err
	}
	return m.executor.Propose(ctx, s)
}

// History gives what a model is shown after steps whose effects reported these texts.
func History(intent string, came ...string) []string {
	var t transcript
	for _, text := range came {
		t.add(Proposal{Action: "work", Arguments: "{}"}, "  effect: "+behindBars(text))
	}
	return t.items(intent)
}
