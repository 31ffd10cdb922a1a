package cli

import (
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// A run without a model goes on without one, unless that is what it stopped for.
func TestHowARunGoesOn(t *testing.T) {
	for _, tc := range []struct {
		offline bool
		reason  event.StopReason
		want    string
	}{
		{true, event.StepBudget, "b10x-loom resume --offline "},
		{true, "", "b10x-loom resume --offline "},
		{true, event.NeedsModel, "b10x-loom resume "},
		{false, event.StepBudget, "b10x-loom resume "},
	} {
		ended := record.Ended{Outcome: run.Outcome{Reason: tc.reason}}
		if got := (runFlags{offline: tc.offline}).again(streams{program: "b10x-loom"}, ended); got != tc.want {
			t.Errorf("offline %v, stopped %q: %q, want %q", tc.offline, tc.reason, got, tc.want)
		}
	}
}
