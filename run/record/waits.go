package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
)

// ErrNothingWaits says that a run waits for no approval: it is over, goes on, or stopped for something else.
var ErrNothingWaits = errors.New("nothing of the run waits for an approval")

// WhichError says that it must be said which of several actions is meant.
type WhichError struct{ Actions []string }

// Error names them.
func (e *WhichError) Error() string {
	return "several actions wait for an approval, so say which: " + strings.Join(e.Actions, ", ")
}

// NotWaitingError says that an action does not wait for an approval.
type NotWaitingError struct {
	Action  string
	Waiting []string // those that do
}

// Error names them.
func (e *NotWaitingError) Error() string {
	return fmt.Sprintf("%s does not wait for an approval; what waits is %s", e.Action, strings.Join(e.Waiting, ", "))
}

// NotProposedError says that an action waits whose arguments nobody has proposed yet.
type NotProposedError struct{ Action string }

// Error says what to do.
func (e *NotProposedError) Error() string {
	return "the arguments of " + e.Action + " have not been proposed yet; resume the run: it will stop again with them"
}

// OtherError says that what a person has seen is not what waits now.
type OtherError struct{ Action string }

// Error says what to do.
func (e *OtherError) Error() string {
	return "what waits is no longer what was shown of " + e.Action + "; look at it again"
}

// Waits gives what the approvals would be for that a run waits for, in frontier order. The error may be
// ErrNothingWaits or wrap journal.ErrDamaged. The record is not verified.
func Waits(rec *journal.Record) ([]event.Waiting, error) {
	for _, e := range slices.Backward(rec.Entries) {
		if saidBetween(e) {
			continue
		}
		told, err := e.Event()
		if err != nil {
			return nil, err
		}
		if stopped, ok := told.(event.Stopped); ok && len(stopped.Waiting) > 0 {
			return stopped.Waiting, nil
		}
		break
	}
	return nil, ErrNothingWaits
}

// Choose gives the one of several that wait that a person means: by its action, or the only one for an empty
// action. The error is a *WhichError, a *NotWaitingError or, since nobody can approve what is not known yet, a
// *NotProposedError.
func Choose(waiting []event.Waiting, action string) (event.Waiting, error) {
	actions := make([]string, len(waiting))
	for i, w := range waiting {
		actions[i] = w.Action
	}
	i := slices.Index(actions, action)
	switch {
	case action == "" && len(waiting) > 1:
		return event.Waiting{}, &WhichError{actions}
	case action == "" && len(waiting) == 1:
		i = 0
	case i < 0:
		return event.Waiting{}, &NotWaitingError{action, actions}
	}
	if waiting[i].Arguments == "" {
		return event.Waiting{}, &NotProposedError{waiting[i].Action}
	}
	return waiting[i], nil
}

// saidBetween tells whether an entry is what a person said between two sittings.
func saidBetween(e journal.Entry) bool {
	return e.Kind == journal.Told && (e.Name == journal.EventName(event.Granted{}) || e.Name == journal.EventName(event.Denied{}))
}
