package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/journal"
)

func newRunsShow(s streams) *cobra.Command {
	var place string
	var asJSON bool
	output := newChoice("mode", outputHuman, outputJSONL)
	c := &cobra.Command{
		Use:   "show RUN [--output MODE | --json]",
		Short: "Print what a run printed, or its whole record",
		Long: `Print the transcript of a run again, byte for byte, with that of every time it was
resumed. A run that is going on is shown as far as it has come.

With --json the whole record is printed as one JSON object: every entry with its hash,
and the definitions it refers to.

Exit status 1: the record is not what was written. What of it can be read is printed.`,
		Example: `  loom runs show last
  loom runs show last --output jsonl
  loom runs show last --json`,
		Args: func(c *cobra.Command, args []string) error {
			if asJSON && c.Flags().Changed("output") {
				return errors.New("--json prints the whole record, so it does not go with --output")
			}
			return cobra.ExactArgs(1)(c, args)
		},
		ValidArgsFunction: oneRunID,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			store, record, err := set.readRun(c.Context(), place, args[0])
			if err != nil {
				return err
			}
			defer store.Close()
			if asJSON {
				err = s.write(canonjson.Append(nil, recordDocument(record)))
			} else {
				err = showAgain(s, record, output.word)
			}
			if err != nil {
				return err
			}
			if err := record.Verify(); err != nil {
				return notWritten(record.Run, err)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(&output, "output", "human: lines for people; jsonl: one JSON object a line")
	flags.BoolVar(&asJSON, "json", false, "print the whole record as one JSON object")
	journalFlag(flags, &place)
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.among, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// notWritten says that a record is not what was written.
func notWritten(run string, why error) error {
	return fmt.Errorf("the record of run %s is not what was written: %w; see loom runs audit %s", run, why, run)
}

// showAgain prints what a run told, in the order in which it was told.
func showAgain(s streams, record *journal.Record, output string) error {
	t := newTranscript(s, output)
	for _, e := range record.Entries {
		told, err := e.Event()
		if err != nil {
			return fmt.Errorf("show run %s: %w", record.Run, err)
		}
		if told == nil {
			continue
		}
		if err := t.read(told); err != nil {
			return err
		}
	}
	return nil
}

// recordDocument is a record as one JSON object. A body stays a text, since its hash is over its bytes.
func recordDocument(record *journal.Record) document.Value {
	entries := document.ListOf()
	for _, e := range record.Entries {
		entries.Items = append(entries.Items, document.MapOf(
			document.M("sequence", document.IntOf(e.Sequence)),
			text("kind", string(e.Kind)), text("name", e.Name), text("body", e.Body), text("hash", e.Hash.String())))
	}
	documents := document.MapOf()
	for _, digest := range slices.Sorted(maps.Keys(record.Documents)) {
		documents.Members = append(documents.Members, text(digest, record.Documents[digest]))
	}
	return document.MapOf(
		text("run", record.Run), text("head", record.Head.String()),
		document.M("entries", entries), document.M("documents", documents))
}
