package cli

import (
	"testing"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// What the command line said of bindings is said again; what is set elsewhere still holds.
func TestHowARunOfBoundCommandsGoesOn(t *testing.T) {
	for _, tc := range []struct {
		flags runFlags
		from  config.Origin
		want  string
	}{
		{runFlags{actionBindings: "b.json", offline: true}, config.Flag, "loom resume --offline --action-bindings b.json "},
		{runFlags{actionBindings: "b.json", unconfined: true}, config.Flag, "loom resume --action-bindings b.json --unconfined-bindings "},
		{runFlags{actionBindings: "b.json", unconfined: true}, config.Environment, "loom resume --unconfined-bindings "},
		{runFlags{actionBindings: "b.json"}, config.File, "loom resume "},
	} {
		tc.flags.settled.sources = map[string]config.Source{"action_bindings": {Origin: tc.from}}
		ended := record.Ended{Outcome: run.Outcome{Reason: event.StepBudget}}
		if got := tc.flags.again(streams{program: "loom"}, ended); got != tc.want {
			t.Errorf("%q from %s: %q, want %q", tc.flags.actionBindings, tc.from, got, tc.want)
		}
	}
}

// A shell takes each as one word that is the text again.
func TestWordsOfAShell(t *testing.T) {
	for text, want := range map[string]string{
		"ops/bindings-1.json": "ops/bindings-1.json",
		"":                    "''",
		"two words":           "'two words'",
		"it's":                `'it'\''s'`,
		"$(x)`y`\"z\\":        "'$(x)`y`\"z\\'",
		"~/b":                 "'~/b'",
		"ä":                   "'ä'",
	} {
		if got := shellWord(text); got != want {
			t.Errorf("%q as %s, want %s", text, got, want)
		}
	}
}
