//go:build linux

package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/loomrun/loom/internal/process"
)

// BenchmarkConfinement compares a confined /bin/true with bubblewrap alone by the same command line, but
// for the descriptors that tell of it and hold it.
func BenchmarkConfinement(b *testing.B) {
	needBackend(b)
	s := spec(b)
	s.Command.Path, s.Command.Args, s.Read = "/bin/true", nil, nil
	if err := os.Mkdir(s.Work+"/notes", 0o700); err != nil {
		b.Fatal(err)
	}
	b.Run("bubblewrap", func(b *testing.B) {
		l, err := prepare(s)
		if err != nil {
			b.Fatal(err)
		}
		defer l.close()
		box := box{spec: s, layout: l, limits: &limiter{}}
		args := box.command(Backend).Args
		for i, arg := range args {
			// Without the three descriptors before them, the folders come first.
			if arg == "--ro-bind-fd" || arg == "--bind-fd" {
				n, _ := strconv.Atoi(args[i+1])
				args[i+1] = strconv.Itoa(n - 3)
			}
		}
		at := 0
		for args[at] != "--info-fd" {
			at++
		}
		args = append(args[:at:at], args[at+6:]...)
		for b.Loop() {
			cmd := exec.Command(Backend, args...)
			cmd.Env, cmd.ExtraFiles = []string{}, l.files()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v %s", err, out)
			}
		}
	})
	b.Run("confined", func(b *testing.B) {
		for b.Loop() {
			if got, _, err := Run(b.Context(), s); err != nil || got.ExitCode != 0 {
				b.Fatalf("%v %+v", err, got)
			}
		}
	})
	b.Run("bound", func(b *testing.B) {
		for b.Loop() {
			if _, err := process.Run(b.Context(), s.Command); err != nil {
				b.Fatal(err)
			}
		}
	})
}
