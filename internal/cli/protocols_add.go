package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/protocol"
)

// addFlags are the flags of protocols add, as given.
type addFlags struct {
	file    string
	git     bool // --source and --path were given
	source  string
	path    string
	replace bool
}

func newProtocolsAdd(s streams) *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add NAME@MAJOR (--file PATH | --source LOCATOR --path PATH) [--replace]",
		Short: "Install a definition",
		Long: `Install a protocol definition under a name. MAJOR is the revision that the document
declares.

The document is a file of this machine, or one file of a Git commit that LOCATOR pins:
git+URL#COMMIT, where URL is https, ssh or file and COMMIT all 40 digits. It is checked
as by protocols check. Its exact bytes are kept with their SHA-256 and where they came
from, and the source is not looked at again: to take a change in, install once more with
--replace.

Exit status 1: nothing was changed, and the message says why.`,
		Example: `  loom protocols add team-notes@1 --file team-notes.yaml
  loom protocols add team-notes@1 --file team-notes.yaml --replace`,
		ValidArgsFunction: installedNames,
		RunE:              func(c *cobra.Command, args []string) error { return protocolsAdd(c.Context(), s, f, args[0]) },
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(1)(c, args); err != nil {
			return err
		}
		file, source, path := c.Flags().Changed("file"), c.Flags().Changed("source"), c.Flags().Changed("path")
		switch {
		case file && source:
			return errors.New("--file and --source do not go together")
		case path && !source:
			return errors.New("--path goes with --source")
		case source && !path:
			return errors.New("--source needs --path, the document's path in the repository")
		case !file && !source:
			return errors.New("name the document with --file, or with --source and --path")
		}
		f.git = source
		return nil
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.file, "file", "", "YAML `document` to install; at most 1 MiB")
	flags.StringVar(&f.source, "source", "", "`locator` of a pinned Git commit, git+URL#COMMIT")
	flags.StringVar(&f.path, "path", "", "`path` of the document in the repository")
	flags.BoolVar(&f.replace, "replace", false, "take the place of an installed definition of this name")
	return c
}

func protocolsAdd(ctx context.Context, s streams, f addFlags, name string) error {
	store, err := installedStore()
	if err != nil {
		return err
	}
	from := catalog.FromFile(f.file)
	if f.git {
		from = catalog.FromGit(f.source, f.path)
		// What git started is ended before the program is.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer stop()
	}
	err = store.Install(ctx, catalog.Bundled(), name, from, f.replace)
	var problems protocol.Problems
	switch {
	case err == nil:
		return s.write(fmt.Appendf(nil, "installed %s\n", printable.Line(name)))
	case errors.Is(err, context.Canceled):
		return &statusError{status: ExitInterrupted, err: errors.New("interrupted; nothing was installed")}
	case errors.As(err, &problems):
		if _, err := s.err.Write(problemLines(from.String(), problems)); err != nil {
			return err
		}
		return fmt.Errorf("%s is not a valid protocol document; nothing was installed", from)
	case errors.Is(err, catalog.ErrExists):
		return fmt.Errorf("%w; --replace puts this document in its place", err)
	}
	return err
}
