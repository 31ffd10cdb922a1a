//go:build linux

package sandbox

import (
	"os"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/process"
)

// TestAdoptionAndConfinementFit: a process that adopts orphans, as the command line is, gets the first
// process of a killed sandbox as its child.
func TestAdoptionAndConfinementFit(t *testing.T) {
	if os.Getenv(partVariable) == "" {
		needBackend(t)
		if out, err := part(t, "1").CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := process.AdoptOrphans(); err != nil {
		t.Fatal(err)
	}
	t.Run("the limit", TestTimeLimitEndsTheSandbox)
	t.Run("hidden grandchildren", TestHiddenGrandchildrenEnd)
	t.Run("an end of its own", TestEndsArePassedOn)
}
