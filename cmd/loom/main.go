// Loom lets a language model work over a person's own data and act for them, under protocols whose
// guarantees can be checked afterwards. See the README, or run loom help.
package main

import (
	"os"

	"github.com/loomrun/loom/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
