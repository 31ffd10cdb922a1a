package cli

import (
	"fmt"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/run"
)

// reported does a run and then writes its context report where one is asked for, however the run ended
// (7.6). A report that cannot be written changes nothing about how it ended: the status stays, and the
// message comes behind that of the run, if it has one.
func reported(path string, policy run.ContextPolicy, do func(*run.Account) error) error {
	if path == "" {
		return do(nil)
	}
	account := run.NewAccount(policy, time.Now)
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
	return &statusError{status, unwritten, hintOf(err)}
}
