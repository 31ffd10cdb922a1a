package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/journal"
)

func newRunsRemove(s streams) *cobra.Command {
	var place string
	var yes bool
	c := &cobra.Command{
		Use:   "rm RUN... [--yes]",
		Short: "Remove the records of runs for good",
		Long: `Show the runs, ask, and remove their records for good: what they asked and were told,
their cases, and the definitions that no other run refers to. A run that a process is
working on stays.

Without a terminal to ask on, --yes must say that it is meant.

Exit status 1: a run was not removed, and the message says why.`,
		Example: `  loom runs rm last
  loom runs rm --yes k3j2mtqa`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: runIDs,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			store, err := set.readJournal(c.Context(), place)
			if err != nil {
				return err
			}
			defer store.Close()
			return runsRemove(c.Context(), s, store, args, yes)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&yes, "yes", "y", false, "do not ask")
	journalFlag(flags, &place)
	return c
}

func runsRemove(ctx context.Context, s streams, store journal.Store, names []string, yes bool) error {
	var found []journal.Listed
	for _, name := range names {
		l, err := findRun(ctx, store, name)
		switch {
		case err != nil:
			return err
		case l.Holder != nil:
			return held(l.Run, *l.Holder, "; nothing was removed")
		}
		if !slices.ContainsFunc(found, func(other journal.Listed) bool { return other.Run == l.Run }) {
			found = append(found, l)
		}
	}
	if !yes {
		if err := agreed(s, found); err != nil {
			return err
		}
	}
	for _, l := range found {
		err := store.Remove(ctx, l.Run)
		if holder, ok := errors.AsType[*journal.HeldError](err); ok {
			return held(l.Run, holder.Holder, "")
		}
		if err != nil {
			return fmt.Errorf("remove run %s: %w", l.Run, err)
		}
		if err := s.write(fmt.Appendf(nil, "removed %s\n", printable.Line(l.Run))); err != nil {
			return err
		}
	}
	return nil
}

// held says which process works on a run.
func held(run string, by journal.Holder, then string) error {
	return fmt.Errorf("run %s is held by %s%s", run, by, then)
}

// agreed shows runs and asks whether they are to be removed.
func agreed(s streams, found []journal.Listed) error {
	var question []byte
	for _, l := range found {
		question = fmt.Appendf(question, "%s  %s  %s\n", printable.Line(l.Run), wallTime(l.Summary.Began),
			shortened(printable.Line(l.Summary.Intent), maxIntentShown))
	}
	what := "this run"
	if len(found) > 1 {
		what = fmt.Sprintf("these %d runs", len(found))
	}
	return confirm(s, fmt.Sprintf("%sremove %s for good?", question, what), "remove", "nothing was removed")
}
