package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/version"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/wires"
	"github.com/loomrun/loom/run"
	"github.com/loomrun/loom/run/record"
)

// defaultAlias is what --model and --classifier-model name when they are left out (1.2).
const defaultAlias = "gpt-5.6-sol"

// runFlags are the flags of run, as given.
type runFlags struct {
	protocol   string
	offline    bool
	catalog    string
	model      string
	classifier string
	threshold  string
	maxSteps   uint
	output     choice
	workspace  string
	journal    string

	actionBindings string
	unconfined     bool

	reading reading

	contextPolicy choice
	contextReport string

	settled   settled
	unsettled error // why the flags could not be settled
}

// The values of --output.
const (
	outputHuman = "human"
	outputJSONL = "jsonl"
)

func newRun(s streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [flags] INTENT",
		Short: "Classify an intent and carry it out",
		Long: `Carry out an intent, given as one argument: put it in quotes.

Loom picks a protocol of its catalog for the intent and opens a case under it. In
every step the admissible actions are computed, one is proposed, checked again,
performed, and what it did is verified. Evidence alone completes the case.

A model of --catalog, or else of the Codex login (see loom login), picks the protocol
and proposes actions; where only one action without arguments is left, no model is
asked. With --offline no model is asked at all: a built-in matcher picks the protocol,
and a step that would need a model stops the run.

With --action-bindings actions are performed by programs of your own, which run
confined where the file says so; else --unconfined-bindings must allow them.

With --loom-retrieval-config questions about your own data are answered: the model reads
through eight read-only tools, row by row below the --ceiling that you name.

What the run does is kept in the journal: see loom runs, and loom resume for a run that
can go on.

Exit status 0: completed, or waiting for an approval. 3: stopped by a rule. 1: failed.`,
		Example: `  loom run --offline "need to know the current time"
  loom run --offline --protocol system-query@1 "what time is it"
  loom run --catalog models.toml --classifier-model small --model large "what time is it"
  loom run --offline --protocol team-notes@1 --action-bindings bindings.json "a note"
  loom run --loom-retrieval-config ~/.config/loom/retrieval.json --ceiling work "when is the review"`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || len(args) == 1 && strings.TrimSpace(args[0]) == "":
				return errors.New("run needs an intent")
			case len(args) > 1:
				return fmt.Errorf("run takes one intent, not %d arguments; put it in quotes", len(args))
			case f.offline && f.catalog != "":
				return errOfflineCatalog
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.settled, f.unsettled = settle(c.Flags())
			if err := f.reading.check(); err != nil && f.unsettled == nil {
				return usage(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
			}
			return reported(f.contextReport, run.ContextPolicy(f.contextPolicy.word), func(account *run.Account) error {
				return runIntent(c.Context(), s, f, args[0], account)
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.offline, "offline", false, "use no model: match the intent by words and make forced moves only")
	flags.StringVar(&f.protocol, "protocol", "", "use this definition of the catalog, `NAME@MAJOR`, and classify nothing")
	f.settable(flags)
	f.unconfinedFlag(flags)
	f.reading.flags(flags)
	flags.StringVar(&f.contextReport, "context-report", "", "write what the requests to models came to, in numbers only, into a JSON `file`")
	flags.StringVar(&f.workspace, "workspace", "", "work tree of a software change, a `directory`; other protocols ignore it")
	// Only a name that is registered twice or unknown makes these fail.
	_ = c.RegisterFlagCompletionFunc("protocol", protocolNames)
	_ = c.RegisterFlagCompletionFunc("context-policy", cobra.FixedCompletions(f.contextPolicy.among, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(f.output.among, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// runIntent carries the intent out and prints its events in the chosen form.
func runIntent(ctx context.Context, s streams, f runFlags, intent string, account *run.Account) error {
	if f.interruptible() {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer stop()
	}
	t := newTranscript(s, f.output.word)
	ended, err := prepareAndRun(ctx, f, intent, account, t)
	if why, ok := errors.AsType[*unconfinedError](err); ok {
		return t.unconfined(why)
	}
	return t.conclude(ctx, ended, err, f.again(s, ended))
}

// interruptible tells whether an interrupt ends the command with a word of ours, and with it what it has started. Only
// requests to models and programs take long enough for that.
func (f runFlags) interruptible() bool { return !f.offline || f.actionBindings != "" }

// again is how a person goes on with a run, up to its id.
func (f runFlags) again(s streams, ended record.Ended) string {
	words := []string{s.program, "resume"}
	if f.offline && ended.Reason != event.NeedsModel {
		words = append(words, "--offline")
	}
	return strings.Join(append(words, f.againBound()...), " ") + " "
}

// prepareAndRun makes the checks that come before a run, in the order of 1.3, opens the journal, and runs.
func prepareAndRun(ctx context.Context, f runFlags, intent string, account *run.Account, t *transcript) (record.Ended, error) {
	if f.unsettled != nil {
		return record.Ended{}, f.unsettled
	}
	threshold, err := run.ParseDecimal(f.threshold)
	if err != nil {
		return record.Ended{}, fmt.Errorf("the threshold %w", err)
	}
	steps := f.steps()
	options := record.Options{Version: version.Number, Options: run.Options{
		Intent: intent, Protocol: f.protocol,
		Threshold: threshold, MaxSteps: &steps, Events: t.read,
		ContextPolicy: run.ContextPolicy(f.contextPolicy.word), Account: account,
	}}
	if !f.offline {
		classify := f.protocol == ""
		if options.Classifier, options.Agent, err = f.models(classify); err != nil {
			return record.Ended{}, err
		}
	}
	if options.Catalog, err = definitions(); err != nil {
		return record.Ended{}, err
	}
	if _, known := options.Catalog.Get(f.protocol); f.protocol != "" && !known {
		return record.Ended{}, fmt.Errorf("--protocol %s: the catalog holds %s", f.protocol, strings.Join(options.Catalog.Names(), ", "))
	}
	if err := options.Check(); err != nil { // before a journal is made for nothing
		return record.Ended{}, err
	}
	if options.Bindings, err = f.performing(ctx, t.streams, options.Catalog); err != nil {
		return record.Ended{}, err
	}
	if options.Store, err = f.settled.openJournal(ctx, f.journal); err != nil {
		return record.Ended{}, err
	}
	// The store is not closed. What was written is on the disk, and the process is about to end; to close SQLite
	// would bring its log into the file, which takes two more waits for the disk in every run.
	return record.Run(ctx, options)
}

var errOfflineCatalog = errors.New("--offline uses no model, so it does not go with --catalog")

// steps gives the budget.
func (f runFlags) steps() int { return int(min(f.maxSteps, maxMaxSteps)) }

// maxMaxSteps bounds --max-steps where a larger number would mean the same.
const maxMaxSteps = 1_000_000

// models resolves the two aliases, the classifier's first, before anything is asked. Without a
// catalog they are ids of models that the Codex login reaches. The classifier is left out where nothing is
// classified.
func (f runFlags) models(classify bool) (classifier, agent model.Client, err error) {
	if f.catalog == "" {
		return f.loginModels(classify)
	}
	routes, err := model.ReadRoutes(f.catalog)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.settled.from("catalog", "--catalog"), err)
	}
	if classify {
		if classifier, err = f.client(routes, f.settled.from("classifier_model", "--classifier-model"), f.classifier); err != nil {
			return nil, nil, err
		}
	}
	agent, err = f.client(routes, f.settled.from("model", "--model"), f.model)
	return classifier, agent, err
}

func (f runFlags) client(routes *model.Routes, from, alias string) (model.Client, error) {
	binding, err := routes.Resolve(alias)
	if err != nil {
		var refused *model.RouteError
		errors.As(err, &refused)
		return nil, fmt.Errorf("%s %s: %s (in %s)", from, alias, refused.Reason, f.catalog)
	}
	client, err := wires.New(binding)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w (in %s)", from, alias, err, f.catalog)
	}
	return model.Retry(client), nil
}
