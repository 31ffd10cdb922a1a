package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/journal"
)

const (
	// lastRun names the run that began last.
	lastRun = "last"
	// minRunName is the least of an id that names a run, in characters.
	minRunName = 4
	// maxRunsNamed bounds how many runs a message names.
	maxRunsNamed = 5
)

// findRun gives the run that a person names: by its id, by the beginning of one, or as the last.
func findRun(ctx context.Context, store journal.Store, name string) (journal.Listed, error) {
	all, err := store.List(ctx)
	switch {
	case err != nil && name != lastRun && errors.Is(err, journal.ErrDamaged):
		// Another run may be what is damaged: this one is read for itself.
		return journal.Listed{Run: name}, nil
	case err != nil:
		return journal.Listed{}, err
	case len(all) == 0:
		return journal.Listed{}, errNoJournal
	case name == lastRun && len(all) > 1 && all[0].Summary.Began == all[1].Summary.Began:
		return journal.Listed{}, fmt.Errorf("runs %s and %s began at the same time, so neither is the last; name one of them", all[0].Run, all[1].Run)
	case name == lastRun:
		return all[0], nil
	}
	var named []journal.Listed
	for _, l := range all {
		if l.Run == name {
			return l, nil
		}
		if strings.HasPrefix(l.Run, name) {
			named = append(named, l)
		}
	}
	switch {
	case len(named) == 0:
		return journal.Listed{}, fmt.Errorf("%w as %s; see loom runs", journal.ErrNoRun, name)
	case len(name) < minRunName:
		return journal.Listed{}, fmt.Errorf("%q is too short to name a run; give at least %d characters of its id", name, minRunName)
	case len(named) > 1:
		ids := make([]string, 0, maxRunsNamed+1)
		for _, l := range named[:min(len(named), maxRunsNamed)] {
			ids = append(ids, l.Run)
		}
		if len(named) > maxRunsNamed {
			ids = append(ids, "…")
		}
		return journal.Listed{}, fmt.Errorf("%d runs begin with %s: %s", len(named), name, strings.Join(ids, ", "))
	}
	return named[0], nil
}

// readRun opens the journal and reads the record of the run that a person names. A caller closes the store.
func (s settled) readRun(ctx context.Context, place, name string) (journal.Store, *journal.Record, error) {
	store, err := s.readJournal(ctx, place)
	if err != nil {
		return nil, nil, err
	}
	found, err := findRun(ctx, store, name)
	var record *journal.Record
	if err == nil {
		record, err = store.Read(ctx, found.Run)
	}
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, record, nil
}

// runIDs completes the ids of runs, each with its intent.
func runIDs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	set, err := settle(c.Flags())
	if err != nil {
		return nil, directive
	}
	store, err := set.readJournal(c.Context(), c.Flag("journal").Value.String())
	if err != nil {
		return nil, directive
	}
	defer store.Close()
	all, err := store.List(c.Context())
	if err != nil {
		return nil, directive
	}
	ids := []string{lastRun + "\tthe run that began last"}
	for _, l := range all {
		if !slices.Contains(args, l.Run) {
			ids = append(ids, l.Run+"\t"+shortened(printable.Line(l.Summary.Intent), maxIntentShown))
		}
	}
	return ids, directive
}

// oneRunID completes the argument of a command that takes one run.
func oneRunID(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return runIDs(c, args, toComplete)
}
