package cli

import (
	"errors"

	"github.com/loomrun/loom/event"
)

// Exit statuses are an interface: scripts branch on them (governed-runs 1.1, D3). This is the one
// place where they stand; the reference documentation has the same table.
const (
	// ExitDone: run or resume reached its end (Completed, ApprovalRequired); other commands did their work;
	// evaluate made a decision.
	ExitDone = 0
	// ExitFailed: the operation failed. Standard error has one line that says why.
	ExitFailed = 1
	// ExitUsage: the command line could not be understood.
	ExitUsage = 2
	// ExitStopped: run stopped without reaching its end; evaluate refused; resume waits to hear of an effect;
	// audit found what should not be; replay found a difference; sync was incomplete.
	ExitStopped = 3
	// ExitInterrupted: an interrupt or termination signal ended the command.
	ExitInterrupted = 130
)

// stopStatus is the exit status of a run that a rule stopped (1.4). Waiting for an approval is
// success: the program did all it may do.
func stopStatus(reason event.StopReason) int {
	switch reason {
	case event.Completed, event.ApprovalRequired:
		return ExitDone
	default:
		return ExitStopped
	}
}

// statusError ends a command with a status other than ExitFailed. A nil err says nothing more.
type statusError struct {
	status int
	err    error
	hint   string // what may be done next, for a person at a terminal; may be empty
}

func (e *statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usage marks an error as one of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{status: ExitUsage, err: err}
}

// statusOf gives the exit status and the message, if any, of a command's error.
func statusOf(err error) (status int, message string) {
	if err == nil {
		return ExitDone, ""
	}
	var s *statusError
	if errors.As(err, &s) {
		return s.status, s.Error()
	}
	return ExitFailed, err.Error()
}

// hintOf gives the hint, if any, of a command's error.
func hintOf(err error) string {
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.hint
	}
	return ""
}
