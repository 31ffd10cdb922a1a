package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkProcess compares whole processes: a Go program that says hello, and a whole offline run of
// loom, from exec to exit. Both are built the same way.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("XDG_STATE_HOME", dir) // every run is kept there
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, program := range []struct {
		name, source string
		args         []string
	}{
		{"hello", hello, nil},
		{"loom-version", "./cmd/loom", []string{"--version"}},
		{"loom-run-offline", "./cmd/loom", []string{"run", "--offline", "need to know the current time"}},
	} {
		b.Run(program.name, func(b *testing.B) {
			binary := filepath.Join(dir, program.name)
			build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, program.source)
			build.Dir = ".." // the module of the program
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			for b.Loop() {
				if err := exec.Command(binary, program.args...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
