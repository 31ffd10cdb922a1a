// Package cli is the command line of loom: one file per verb, and nothing decided here. A verb reads
// its flags, calls the package that does the work, and prints what that says.
package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/internal/version"
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	program  string // the base name the program was started under, before every message (D1)
}

// say writes one message line to standard error.
func (s streams) say(message string) {
	fmt.Fprintf(s.err, "%s: %s\n", s.program, printable.Line(message))
}

// Main runs the command line args, of which the first is the program, and gives the exit status.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	// A reader that goes away early is an error of a write, not a signal that ends the process
	// before it can say so.
	signal.Ignore(syscall.SIGPIPE)
	s := streams{in: in, out: out, err: errs, program: filepath.Base(args[0])}
	root := NewCommand(s.program, in, out, errs)
	root.SetArgs(args[1:])
	err := root.Execute()
	status, message := statusOf(err)
	for _, line := range []string{message, hintOf(err)} {
		if line != "" {
			s.say(line)
		}
	}
	return status
}

// NewCommand gives the whole command tree under the name the program goes by, for the program itself
// and for what documents it.
func NewCommand(program string, in io.Reader, out, err io.Writer) *cobra.Command {
	s := streams{in: in, out: out, err: err, program: program}
	root := &cobra.Command{
		Use:   program + " [command]",
		Short: "Let a model act for you under rules that can be checked",
		Long: `Loom carries out what you ask for under a written protocol. A model may propose what to
do next; a governor admits or blocks it; and only evidence of what really happened
completes the work.

Begin here:

  loom run --offline "need to know the current time"
                                  a whole run, without any model
  loom runs                       what has been done, and how it ended
  loom protocols list             what loom can be asked for
  loom protocols init team-notes  a protocol for a program of your own
  loom init                       a place for your own mail and calendar, to search them
  loom retrieval write            let runs answer questions about it, below a ceiling
  loom run --help                 runs with a model of your own`,
		Version:       version.Number,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			err := fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
			}
			return err
		},
		SuggestionsMinimumDistance: 2,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newInit(s), newSource(s), newSync(s), newFacet(s), newStatus(s))
	root.AddCommand(newSearch(s), newPage(s), newPeople(s), newCalendar(s), newContext(s), newProfile(s), newRetrieval(s), newBroker(s), newCeiling(s))
	root.AddCommand(newRun(s), newResume(s), newApprove(s), newDeny(s), newRuns(s), newEvaluate(s), newProtocols(s), newModels(s), newLogin(s), newConfig(s))
	everyCommand(root, understandable)
	return root
}

func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, child := range c.Commands() {
		everyCommand(child, do)
	}
}

// understandable makes what a command says about a command line it cannot understand an error of
// usage that names the help.
func understandable(c *cobra.Command) {
	c.DisableFlagsInUseLine = true // each command's use line names what matters
	hint := func(err error) error {
		if err == nil {
			return nil
		}
		separator := ";"
		if strings.HasSuffix(err.Error(), "?") {
			separator = ""
		}
		return usage(fmt.Errorf("%w%s see %s --help", err, separator, c.CommandPath()))
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return hint(err) })
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return hint(check(c, args)) }
	}
}

// write sends bytes to standard output. A reader that has gone away makes the command fail.
func (s streams) write(data []byte) error {
	if _, err := s.out.Write(data); err != nil {
		var failed *fs.PathError
		if errors.As(err, &failed) {
			err = failed.Err // its path is standard output once more
		}
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}
