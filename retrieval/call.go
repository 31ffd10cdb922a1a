package retrieval

import (
	"context"
	"errors"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/label"
)

// Session makes the calls of one run. It holds nothing between two of them.
type Session struct {
	ConfigPath string        // of the host's configuration, which is read anew for every call; "" where the run reads nothing
	Ceiling    label.Ceiling // of the run; label.Unbounded() for none
	// RequireRowLabels withholds rows without a label (D38).
	RequireRowLabels bool
	// FailOnExceed withholds every row of a call where one exceeds the ceiling.
	FailOnExceed bool
	// Program gives what answers; nil is a process for each call.
	Program func(*Config) Program
}

// Call is one use of a tool.
type Call struct {
	OutputID string
	Tool     string // its id
	Input    document.Value
	Query    label.Label // the label of all that the model had seen when it asked
}

// Call makes a call, in the order of 5.5, and gives what there is to measure. It never fails otherwise than by a [Failure]. A call that ctx ends while the
// program runs is [Cancelled], one that takes longer than the configuration allows is [CommandFailed] (D33); the program is dead then.
func (s *Session) Call(ctx context.Context, c Call) Observed {
	o := Observed{
		OutputID: c.OutputID, Tool: c.Tool, Input: c.Input, RunCeiling: s.Ceiling, Ceiling: s.Ceiling, RecordCeiling: label.Unbounded(),
		Query: label.New(c.Query.Confidentiality(), nil), RequireRowLabels: s.RequireRowLabels, FailOnExceed: s.FailOnExceed,
	}
	tool, known := ToolNamed(c.Tool)
	switch {
	case s.ConfigPath == "" || !known:
		return o.failed(failed(NotConfigured))
	case ctx.Err() != nil:
		return o.failed(failed(Cancelled))
	}
	config, err := ReadConfig(s.ConfigPath)
	if err != nil {
		return o.failed(failed(CommandFailed))
	}
	if f := o.bound(config); f != nil {
		return o.failed(f)
	}
	argv, fault := Argv(c.Tool, c.Input)
	if fault != nil {
		return o.failed(fault)
	}
	o.Argv = argv
	exit, fault := s.run(ctx, config, argv)
	if fault != nil {
		return o.failed(fault)
	}
	if _, fault = outcome(tool, argv, exit); fault != nil {
		return o.failed(fault)
	}
	o.Payload, o.Status = string(exit.Stdout), exit.Status
	return o
}

// bound takes the record that the configuration names into the ceiling of the call.
func (o *Observed) bound(c *Config) *Failure {
	if c.ReadCeilingFile == "" {
		return nil
	}
	record, err := ReadRecord(c.ReadCeilingFile)
	if err != nil || c.Facets != nil && !sameFacets(c.Facets, record.Facets) {
		return failed(CeilingUnavailable)
	}
	met, err := label.Meet(o.RunCeiling, record.Ceiling)
	if err != nil {
		return failed(CeilingUnavailable)
	}
	o.RecordCeiling, o.Ceiling = record.Ceiling, met
	return nil
}

// run has the program answer.
func (s *Session) run(ctx context.Context, c *Config, argv []string) (Exit, *Failure) {
	limit := c.TimeLimit
	if limit == 0 {
		limit = DefaultTimeLimit
	}
	limited, done := context.WithTimeout(ctx, limit)
	defer done()
	makes := s.Program
	if makes == nil {
		makes = (*Config).Process
	}
	exit, err := makes(c).Run(limited, argv)
	switch {
	case ctx.Err() != nil:
		return Exit{}, failed(Cancelled)
	case err != nil || errors.Is(limited.Err(), context.DeadlineExceeded):
		return Exit{}, failed(CommandFailed)
	case len(exit.Stdout) > MaxPayloadBytes:
		return Exit{}, failed(CommandFailed)
	}
	return exit, nil
}
