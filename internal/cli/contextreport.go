package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/run"
)

// contextPolicy is the value of --context-policy.
type contextPolicy run.ContextPolicy

// String, Set and Type make a contextPolicy a flag value.
func (p *contextPolicy) String() string { return string(*p) }

// Set takes legacy or bounded.
func (p *contextPolicy) Set(text string) error {
	switch policy := run.ContextPolicy(text); policy {
	case run.ContextLegacy, run.ContextBounded:
		*p = contextPolicy(policy)
		return nil
	}
	return errors.New("it is legacy or bounded")
}

// Type names the value in help.
func (p *contextPolicy) Type() string { return "policy" }

// reported does a run and then writes its context report where one is asked for, however the run ended
// (7.6). A report that cannot be written changes nothing about how it ended: the status stays, and the
// message comes behind that of the run, if it has one.
func reported(path string, policy contextPolicy, do func(*run.Account) error) error {
	if path == "" {
		return do(nil)
	}
	account := run.NewAccount(run.ContextPolicy(policy), time.Now)
	err := do(account)
	unwritten := atomicfile.Write(path, account.JSON())
	if unwritten == nil {
		return err
	}
	unwritten = fmt.Errorf("--context-report: %w", unwritten)
	status, message := statusOf(err)
	if message != "" {
		unwritten = fmt.Errorf("%w; %w", err, unwritten)
	}
	return &statusError{status, unwritten}
}
