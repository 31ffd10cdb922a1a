package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/effect/command"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/record"
)

func newRunsReplay(s streams) *cobra.Command {
	var place, file string
	c := &cobra.Command{
		Use:   "replay RUN",
		Short: "Play a run again from its record, to see whether this version does the same",
		Long: `Play a run again by what its record holds: no model is asked, nothing is performed and
no clock is read. The first entry that this version would write otherwise is named, with
what the record holds and what would be written now.

A run of programs of your own needs its bindings file for this too; none is started.

Exit status 0: it is the same. 3: something differs. 1: it could not be replayed.`,
		Example:           "  loom runs replay last",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: oneRunID,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			store, rec, err := set.readRun(c.Context(), place, args[0])
			if err != nil {
				return err
			}
			defer store.Close()
			if err := rec.Verify(); err != nil {
				return notWritten(rec.Run, err)
			}
			var bound *command.Binding
			if file != "" { // else what is installed now does not matter
				all, err := definitions()
				if err != nil {
					return err
				}
				if bound, err = set.bind(file, all); err != nil {
					return err
				}
			}
			err = record.Replay(rec, bindings(bound, readsOf(rec)))
			if differs, ok := errors.AsType[*record.DiffersError](err); ok {
				return &statusError{status: ExitStopped, err: differs}
			}
			if err != nil {
				return fmt.Errorf("replay run %s: %w", rec.Run, err)
			}
			return s.write(fmt.Appendf(nil, "replayed: %d entries, the same\n", len(rec.Entries)))
		},
	}
	journalFlag(c.Flags(), &place)
	bindingsFlag(c.Flags(), &file)
	return c
}

// readsOf gives what a run read data with: what needs nothing of this host where it opened a case, else what lacked a configuration.
func readsOf(rec *journal.Record) *retrieve.Binding {
	for _, e := range rec.Entries {
		if e.Kind == journal.Told && e.Name == journal.EventName(event.Routed{}) {
			var routed event.Routed
			if journal.Decode(e.Body, &routed) == nil && !routed.Accepted {
				return retrieve.New(retrieve.Options{})
			}
		}
	}
	return retrieve.Recorded()
}
