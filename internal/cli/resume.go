package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/version"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

func newResume(s streams) *cobra.Command {
	var f runFlags
	outcome := choice{kind: "word", among: []string{string(event.Performed), string(event.NotPerformed)}}
	c := &cobra.Command{
		Use:   "resume [flags] RUN",
		Short: "Go on with a run that stopped, failed or was killed",
		Long: `Go on with a run that waits for an approval, ended its budget, needed a model, failed,
was interrupted or was killed. It goes on in its case, under the definition and with the
bindings it began with, and nothing that was performed is performed again. The budget counts from here.

Where an effect was begun and what came of it is not known, nothing is done: look
whether it was performed, and say so with --outcome.

RUN is an id, the first 4 or more characters of one, or last.

Exit status as of loom run. 3 also: an effect's outcome is unknown, and nothing was done.`,
		Example: `  loom resume last
  loom resume --offline --max-steps 5 k3j2mtqa
  loom resume --outcome not-performed last`,
		Args: func(c *cobra.Command, args []string) error {
			if f.offline && f.catalog != "" {
				return errOfflineCatalog
			}
			return cobra.ExactArgs(1)(c, args)
		},
		ValidArgsFunction: oneRunID,
		RunE: func(c *cobra.Command, args []string) error {
			f.settled, f.unsettled = settle(c.Flags())
			return resumeRun(c.Context(), s, f, args[0], event.Outcome(outcome.word))
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(&outcome, "outcome", "what became of the effect whose outcome is unknown: performed or not-performed")
	flags.BoolVar(&f.offline, "offline", false, "use no model: make forced moves only")
	f.settableAgain(flags)
	f.unconfinedFlag(flags)
	_ = c.RegisterFlagCompletionFunc("outcome", cobra.FixedCompletions(outcome.among, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(f.output.among, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// resumeRun goes on with a run and prints its events in the chosen form.
func resumeRun(ctx context.Context, s streams, f runFlags, name string, outcome event.Outcome) error {
	if f.interruptible() {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer stop()
	}
	t := newTranscript(s, f.output.word)
	ended, err := prepareAndResume(ctx, f, name, outcome, t)
	if why, ok := errors.AsType[*unconfinedError](err); ok {
		return t.unconfined(why)
	}
	if ended.Run != "" || ctx.Err() != nil {
		return t.conclude(ctx, ended, err, f.again(s, ended))
	}
	if doubt, ok := errors.AsType[*record.InDoubtError](err); ok {
		if shown := t.unknownOutcome(doubt); shown != nil {
			return t.fail(ExitFailed, shown)
		}
		return t.fail(ExitStopped, errors.New("whether it was performed is not known: look, and then resume with --outcome performed or --outcome not-performed"))
	}
	return t.fail(ExitFailed, err)
}

// prepareAndResume makes the checks of a run that goes on, in the order of those before a run, and goes on.
func prepareAndResume(ctx context.Context, f runFlags, name string, outcome event.Outcome, t *transcript) (record.Ended, error) {
	if f.unsettled != nil {
		return record.Ended{}, f.unsettled
	}
	store, err := f.settled.readJournal(ctx, f.journal)
	if err != nil {
		return record.Ended{}, err
	}
	defer store.Close()
	found, err := findRun(ctx, store, name)
	if err != nil {
		return record.Ended{}, err
	}
	if found.Holder != nil {
		return record.Ended{}, held(found.Run, *found.Holder, "")
	}
	steps := f.steps()
	options := record.Options{
		Options: run.Options{Bindings: bindings(nil, retrieve.Recorded()), MaxSteps: &steps, Events: t.read},
		Store:   store, Version: version.Number,
	}
	rec, err := store.Read(ctx, found.Run)
	if err != nil {
		return record.Ended{}, err
	}
	needs, err := goesOn(rec, outcome)
	if err != nil {
		return record.Ended{}, err
	}
	if needs.live && !f.offline {
		if options.Classifier, options.Agent, err = f.models(needs.classifier); err != nil {
			return record.Ended{}, err
		}
	}
	if options.Catalog, err = definitions(); err != nil {
		return record.Ended{}, err
	}
	if needs.live && needs.binding == boundCommands && f.actionBindings == "" {
		return record.Ended{}, fmt.Errorf("resume run %s: its actions are performed by bound commands; name their file with --action-bindings", found.Run)
	}
	if needs.live && needs.binding == retrieve.BindingName && f.reading.config == "" {
		return record.Ended{}, fmt.Errorf("resume run %s: it reads data; name what it reads with by --loom-retrieval-config", found.Run)
	}
	f.reading.resumed = true
	if needs.live {
		if options.Bindings, err = f.performing(ctx, t.streams, options.Catalog); err != nil {
			return record.Ended{}, err
		}
	}
	ended, err := record.Resume(ctx, options, found.Run, outcome)
	return ended, resuming(found.Run, ended, err)
}

// needs says what a run needs to go on.
type needs struct {
	live       bool // it goes on, with a model and what performs actions
	classifier bool
	binding    string // of its case; empty where none was opened
}

// goesOn tells what a run needs to go on, before anything is decided: a run that will not go on needs no
// model and no program, and one whose protocol has been picked no classifier.
func goesOn(rec *journal.Record, outcome event.Outcome) (needs, error) {
	if err := rec.Verify(); err != nil {
		return needs{}, notWritten(rec.Run, err)
	}
	var began journal.Beginning
	if err := journal.Decode(rec.Entries[0].Body, &began); err != nil {
		return needs{}, err
	}
	summary, err := journal.Summarise(rec.Entries)
	if err != nil {
		return needs{}, err
	}
	n := needs{live: record.Resumable(summary) && (summary.InDoubt == "") == (outcome == ""), classifier: began.Classifier}
	for _, e := range rec.Entries {
		n.classifier = n.classifier && e.Name != journal.EventName(event.Routed{})
		if e.Kind != journal.Told || e.Name != journal.EventName(event.CaseOpened{}) {
			continue
		}
		var opened event.CaseOpened
		if err := journal.Decode(e.Body, &opened); err != nil {
			return needs{}, err
		}
		n.binding = opened.Binding
	}
	return n, nil
}

// resuming says of an error which run it is about.
func resuming(id string, ended record.Ended, err error) error {
	if err == nil || ended.Run != "" { // it is the run's own
		return err
	}
	if _, doubt := errors.AsType[*record.InDoubtError](err); doubt {
		return err
	}
	if holder, ok := errors.AsType[*journal.HeldError](err); ok {
		return held(id, holder.Holder, "")
	}
	return fmt.Errorf("resume run %s: %w", id, err)
}
