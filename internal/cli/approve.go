package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run/record"
)

// verdictFlags are the flags of approve and deny, as given.
type verdictFlags struct {
	action  string
	expires time.Duration // of approve
	yes     bool
	journal string
}

func newApprove(s streams) *cobra.Command {
	var f verdictFlags
	c := &cobra.Command{
		Use:   "approve RUN [--action ACTION] [--expires TIME] [--yes]",
		Short: "Allow the action that a run waits to be approved, once",
		Long: `Show what a run waits to be approved, ask, and allow exactly that: this action with these
arguments, by this capability, at this revision of the case, under this definition. It
is allowed once, and for an hour unless --expires says otherwise. What is allowed is not
done by this: loom resume does it.

What waits is shown with who and what the action reaches. A character that would not be
seen, or would change how the rest is seen, is shown as \u{...}. Without a terminal to
ask on, --yes must say that it is meant.

RUN is an id, the first 4 or more characters of one, or last.

Exit status 1: nothing was allowed, and the message says why.`,
		Example: `  loom approve last
  loom approve --action note.publish --expires 10m k3j2mtqa`,
		Args: func(c *cobra.Command, args []string) error {
			if f.expires <= 0 || f.expires > record.MaxGrantTime {
				return fmt.Errorf("--expires is a time above 0 and of at most %d h, such as 10m", int(record.MaxGrantTime.Hours()))
			}
			return cobra.ExactArgs(1)(c, args)
		},
		ValidArgsFunction: oneRunID,
		RunE: func(c *cobra.Command, args []string) error {
			return f.decide(c, s, args[0], "approve", fmt.Sprintf("holds: for %s from now, for one effect", shortTime(f.expires)),
				func(ctx context.Context, a record.Approver, run string, what event.Waiting) (event.Event, error) {
					return a.Approve(ctx, run, what, f.expires)
				})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.action, "action", "", "the `action` that is meant, where several wait")
	flags.DurationVar(&f.expires, "expires", record.DefaultGrantTime, "how `long` it is allowed, such as 10m or 24h; at most 168h")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	journalFlag(flags, &f.journal)
	return c
}

func newDeny(s streams) *cobra.Command {
	var f verdictFlags
	c := &cobra.Command{
		Use:   "deny RUN [--action ACTION] [--yes]",
		Short: "Refuse the action that a run waits to be approved",
		Long: `Show what a run waits to be approved, ask, and refuse exactly that. It is refused until
the case has another revision or you approve it after all. The run does not go on by
this: loom resume makes the refusal known to it, and it may go another way.

RUN is an id, the first 4 or more characters of one, or last.

Exit status 1: nothing was refused, and the message says why.`,
		Example: `  loom deny last
  loom deny --action note.publish k3j2mtqa`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: oneRunID,
		RunE: func(c *cobra.Command, args []string) error {
			return f.decide(c, s, args[0], "deny", "holds: until the case has another revision",
				func(ctx context.Context, a record.Approver, run string, what event.Waiting) (event.Event, error) {
					return a.Deny(ctx, run, what)
				})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.action, "action", "", "the `action` that is meant, where several wait")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	journalFlag(flags, &f.journal)
	return c
}

// say enters what a person says of what waits.
type say func(ctx context.Context, a record.Approver, run string, what event.Waiting) (event.Event, error)

// decide shows what a run waits for, asks, and has it entered.
func (f *verdictFlags) decide(c *cobra.Command, s streams, name, verb, holds string, say say) error {
	ctx := c.Context()
	set, err := settle(c.Flags())
	if err != nil {
		return err
	}
	store, rec, err := set.readRun(ctx, f.journal, name)
	if err != nil {
		return err
	}
	defer store.Close()
	what, err := f.shown(s, rec, holds)
	if err != nil {
		return refusedVerdict(verb, rec.Run, err)
	}
	if !f.yes {
		if err := confirm(s, verb+" this?", verb, "nothing was decided"); err != nil {
			return err
		}
	}
	said, err := say(ctx, record.Approver{Store: store, By: person()}, rec.Run, what)
	if err != nil {
		return refusedVerdict(verb, rec.Run, err)
	}
	if err := (human{s}).read(said); err != nil {
		return err
	}
	if isTerminal(s.err) {
		s.say("to go on: " + s.program + " resume " + rec.Run)
	}
	return nil
}

// shown prints on standard error what is to be decided, each value so that nothing in it is hidden (D4).
func (f *verdictFlags) shown(s streams, rec *journal.Record, holds string) (event.Waiting, error) {
	var none event.Waiting
	if err := rec.Verify(); err != nil {
		return none, err
	}
	waiting, err := record.Waits(rec)
	if err != nil {
		return none, err
	}
	what, err := record.Choose(waiting, f.action)
	if err != nil {
		return none, err
	}
	definition, err := record.Definition(rec)
	if err != nil {
		return none, err
	}
	summary, err := journal.Summarise(rec.Entries)
	if err != nil {
		return none, err
	}
	line := printable.Line
	_, err = fmt.Fprintf(s.err, `run: %s
intent: %s
protocol: %s (SHA-256 %s)
action: %s
arguments: %s
capability: %s
case: %s at revision %d
reaches: %s
%s
`, line(rec.Run), line(summary.Intent), line(summary.Protocol), line(definition), line(what.Action), line(what.Arguments),
		line(what.Capability), line(what.Case), what.Revision, line(what.Reach), holds)
	if err != nil {
		return none, fmt.Errorf("show what waits: %w", err)
	}
	return what, nil
}

// refusedVerdict says of which run nothing was decided, and why.
func refusedVerdict(verb, run string, err error) error {
	if holder, ok := errors.AsType[*journal.HeldError](err); ok {
		return held(run, holder.Holder, "")
	}
	if broken, ok := errors.AsType[*journal.BrokenError](err); ok {
		return notWritten(run, broken)
	}
	if which, ok := errors.AsType[*record.WhichError](err); ok {
		return fmt.Errorf("%s run %s: %w; name one with --action", verb, run, which)
	}
	return fmt.Errorf("%s run %s: %w", verb, run, err)
}

// person names who decides, for the record.
func person() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "an unnamed user"
}

// shortTime gives a time without the parts that are zero at its end.
func shortTime(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero); n > 0 && text[n:] == zero {
			text = text[:n+1]
		}
	}
	return text
}
