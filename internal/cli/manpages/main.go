// Manpages writes the manual pages of loom, one per command, into the folder it is given:
//
//	go run ./internal/cli/manpages DIR
//
// It is a program of its own so that loom does not carry the renderer.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/loomrun/loom/internal/cli"
	"github.com/loomrun/loom/internal/version"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manpages DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	root := cli.NewCommand("loom", os.Stdin, os.Stdout, os.Stderr)
	root.DisableAutoGenTag = true
	// The pages of one version are the same bytes whenever they are made.
	date, err := time.Parse(time.DateOnly, version.Date)
	if err != nil {
		return err
	}
	return doc.GenManTree(root, &doc.GenManHeader{
		Section: "1", Source: "loom " + version.Number, Manual: "Loom", Date: &date,
	}, dir)
}
