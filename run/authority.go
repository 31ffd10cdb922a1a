package run

import (
	"context"

	"github.com/loomrun/loom/effect"
)

// Permission is what an authority says about one capability for one proposal.
type Permission uint8

// The permissions. The zero Permission asks a person.
const (
	NeedsApproval Permission = iota
	Allow
	Deny
)

// Authority grants capabilities. Its word holds for exactly the capability and the proposal it was
// asked about: action, arguments, case and case revision (5.5).
type Authority interface {
	// Permit says whether the proposal may use the capability. An error fails the run.
	//
	// Before a run stops for approvals it asks about each action that waits for one, with no step
	// and empty arguments: is there a point in proposing it? Allow lets the run go on, and is no
	// grant; the proposal is asked for when it is there.
	Permit(ctx context.Context, capability string, proposal effect.Request) (Permission, error)
}

// AskAlways is the authority of the command line: every capability needs a person's approval.
type AskAlways struct{}

// Permit gives NeedsApproval.
func (AskAlways) Permit(context.Context, string, effect.Request) (Permission, error) {
	return NeedsApproval, nil
}
