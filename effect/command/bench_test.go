package command

import (
	"os/exec"
	"testing"

	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/internal/process"
)

// BenchmarkBoundStep compares what a bound action costs beyond its program: the program is started through the port, its
// report read and verified, beside the same program started bare with the same environment.
func BenchmarkBoundStep(b *testing.B) {
	program, err := exec.LookPath("echo")
	if err != nil {
		b.Skip(err)
	}
	step := func(members string) func(b *testing.B) {
		return func(b *testing.B) {
			needSandbox(b, members)
			w := folder(b)
			p := bind(b, w, `{"protocol":"team-ops@1","bindings":[{"action":"note.record","argv":["`+program+`","{}"],"arguments":{"properties":{"text":{"type":"string"}}}`+members+`}]}`).Open(effect.Intent{Revision: "intent-1"})
			r := recordNote(`{"text":"deploy finished"}`)
			for b.Loop() {
				report, err := p.Perform(b.Context(), r)
				if err != nil || report.Text != "{}" {
					b.Fatal(report, err)
				}
				if _, err := p.Verify(r, report); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	folderless := Where{Path: "/usr/bin:/bin"}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command(program, "{}")
			cmd.Env = folderless.environment()
			if out, err := cmd.Output(); err != nil || string(out) != "{}\n" {
				b.Fatal(string(out), err)
			}
		}
	})
	b.Run("unconfined", step(ways[0].members))
	b.Run("confined", step(ways[1].members))
	if err := process.AdoptOrphans(); err != nil { // as the command line does, once and for good
		b.Skip(err)
	}
	b.Run("unconfined-adopting", step(ways[0].members))
}
