package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/audit"
)

func newRunsAudit(s streams) *cobra.Command {
	var place, noted string
	var asJSON bool
	c := &cobra.Command{
		Use:   "audit RUN [--json] [--head HASH]",
		Short: "Check the record of a run against itself",
		Long: `Check that the record of a run is what was written, that the governor decides again what
it decided, that every effect was admitted before it, that evidence came from effects, and
that the run stopped as its rules say. One line per check: its name, and pass, fail, or
inconclusive where something that it needs is missing. Findings stand below, each with
the entry it is about.

A record whose end was written anew together with its last hash still fits. Against that,
note the head that is printed somewhere else, and give it later with --head: the record
must still hold it.

Exit status 0: every check passed. 3: one failed. 1: one was inconclusive and none failed,
or the record could not be read.`,
		Example: `  loom runs audit last
  loom runs audit last --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: oneRunID,
		RunE: func(c *cobra.Command, args []string) error {
			var head *journal.Hash
			if c.Flags().Changed("head") {
				hash, err := journal.ParseHash(noted)
				if err != nil {
					return usage(fmt.Errorf("--head %w; see %s --help", err, c.CommandPath()))
				}
				head = &hash
			}
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			store, record, err := set.readRun(c.Context(), place, args[0])
			if err != nil {
				return err
			}
			defer store.Close()
			report, err := audited(c.Context(), store, record, head)
			if err != nil {
				return err
			}
			shown := reportLines(report)
			if asJSON {
				shown = append(report.JSON(), '\n')
			}
			if err := s.write(shown); err != nil {
				return err
			}
			switch report.Verdict {
			case audit.Pass:
				return nil
			case audit.Fail:
				return &statusError{status: ExitStopped}
			}
			return fmt.Errorf("the audit of run %s is inconclusive: something that it needs is missing", record.Run)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print a JSON object instead")
	flags.StringVar(&noted, "head", "", "a head `hash` that an earlier audit printed")
	journalFlag(flags, &place)
	return c
}

// audited checks a record, its cases, and that it still holds a head that was noted, where there is one.
func audited(ctx context.Context, store journal.Store, record *journal.Record, noted *journal.Hash) (audit.Report, error) {
	cases, damage, err := casesOf(ctx, store, record)
	if err != nil {
		return audit.Report{}, err
	}
	report := audit.Check(record, cases)
	if damage != nil {
		i := slices.IndexFunc(report.Checks, func(c audit.Checked) bool { return c.Name == audit.Cases })
		c := &report.Checks[i]
		c.Findings = append([]audit.Finding{{What: damage.Error()}}, c.Findings...)
		c.Verdict, report.Verdict = audit.Fail, audit.Fail
	}
	if noted == nil {
		return report, nil
	}
	head := audit.Checked{Name: "head", Verdict: audit.Pass}
	if !slices.ContainsFunc(record.Entries, func(e journal.Entry) bool { return e.Hash == *noted }) {
		head.Verdict, report.Verdict = audit.Fail, audit.Fail
		head.Findings = []audit.Finding{{What: "no entry has the hash that was noted: what was written up to then is not what the record holds"}}
	}
	report.Checks = append(report.Checks, head)
	return report, nil
}

// casesOf reads the cases that a record tells of. Damage is what keeps one from being read.
func casesOf(ctx context.Context, store journal.Store, record *journal.Record) (cases []*journal.Case, damage, err error) {
	cases = []*journal.Case{} // they were looked for
	for _, e := range record.Entries {
		told, err := e.Event()
		if err != nil {
			continue // the audit says so
		}
		opened, ok := told.(event.CaseOpened)
		if !ok {
			continue
		}
		c, err := store.Case(ctx, record.Run, opened.Case)
		switch {
		case errors.Is(err, journal.ErrDamaged):
			damage = err
		case err != nil:
			return nil, nil, err
		default:
			cases = append(cases, c)
		}
	}
	return cases, damage, nil
}

func reportLines(r audit.Report) []byte {
	var lines []byte
	for _, c := range r.Checks {
		lines = fmt.Appendf(lines, "%s: %s", c.Name, c.Verdict)
		if c.Name == audit.Chain {
			lines = fmt.Appendf(lines, " (%d entries, head %s)", r.Entries, r.Head)
		}
		lines = append(lines, '\n')
		for _, f := range c.Findings {
			if f.Sequence > 0 {
				lines = fmt.Appendf(lines, "  entry %d: %s\n", f.Sequence, printable.Line(f.What))
			} else {
				lines = fmt.Appendf(lines, "  %s\n", printable.Line(f.What))
			}
		}
		if c.More > 0 {
			lines = fmt.Appendf(lines, "  and %d more\n", c.More)
		}
	}
	return lines
}
