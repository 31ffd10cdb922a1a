package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/chat"
	"github.com/loomrun/loom/run"
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
	output     outputMode
	workspace  string
}

// outputMode is the value of --output.
type outputMode string

const (
	outputHuman outputMode = "human"
	outputJSONL outputMode = "jsonl"
)

// String, Set and Type make an outputMode a flag value.
func (o *outputMode) String() string { return string(*o) }

// Set takes human or jsonl.
func (o *outputMode) Set(text string) error {
	switch mode := outputMode(text); mode {
	case outputHuman, outputJSONL:
		*o = mode
		return nil
	}
	return errors.New("it is human or jsonl")
}

// Type names the value in help.
func (o *outputMode) Type() string { return "mode" }

func newRun(s streams) *cobra.Command {
	f := runFlags{output: outputHuman}
	c := &cobra.Command{
		Use:   "run [flags] INTENT",
		Short: "Classify an intent and carry it out",
		Long: `Carry out an intent, given as one argument: put it in quotes.

Loom picks a protocol of its catalog for the intent and opens a case under it. In
every step the admissible actions are computed, one is proposed, checked again,
performed, and what it did is verified. Evidence alone completes the case.

With --catalog a model picks the protocol and proposes actions; where only one action
without arguments is left, no model is asked. With --offline no model is asked at all:
a built-in matcher picks the protocol, and a step that would need a model stops the run.

Exit status 0: completed, or waiting for an approval. 3: stopped by a rule. 1: failed.`,
		Example: `  loom run --offline "need to know the current time"
  loom run --offline --protocol system-query@1 "what time is it"
  loom run --catalog models.toml --classifier-model small --model large "what time is it"`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || len(args) == 1 && strings.TrimSpace(args[0]) == "":
				return errors.New("run needs an intent")
			case len(args) > 1:
				return fmt.Errorf("run takes one intent, not %d arguments; put it in quotes", len(args))
			case f.offline && f.catalog != "":
				return errors.New("--offline uses no model, so it does not go with --catalog")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runIntent(c.Context(), s, f, args[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.offline, "offline", false, "use no model: match the intent by words and make forced moves only")
	flags.StringVar(&f.protocol, "protocol", "", "use this definition of the catalog, `NAME@MAJOR`, and classify nothing")
	flags.StringVar(&f.catalog, "catalog", "", "model catalog, a TOML `file`")
	flags.StringVar(&f.model, "model", defaultAlias, "`alias` of the catalog for the model that proposes actions")
	flags.StringVar(&f.classifier, "classifier-model", defaultAlias, "`alias` of the catalog for the model that picks the protocol")
	flags.StringVar(&f.threshold, "threshold", run.DefaultThreshold.String(), "least confidence of an accepted pick, a `number` from 0 to 1")
	flags.UintVar(&f.maxSteps, "max-steps", run.DefaultMaxSteps, "stop after this `number` of steps; refused ones count")
	flags.Var(&f.output, "output", "human: lines for people; jsonl: one JSON object a line")
	flags.StringVar(&f.workspace, "workspace", "", "work tree of a software change, a `directory`; other protocols ignore it")
	// Only a name that is registered twice or unknown makes these fail.
	_ = c.RegisterFlagCompletionFunc("protocol", protocolNames)
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{string(outputHuman), string(outputJSONL)}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// runIntent carries the intent out and prints its events in the chosen form.
func runIntent(ctx context.Context, s streams, f runFlags, intent string) error {
	if !f.offline {
		// Only a request to a model takes long enough to be interrupted with a word of ours.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer stop()
	}
	failed := func() int {
		if ctx.Err() != nil {
			return ExitInterrupted
		}
		return ExitFailed
	}
	records := jsonl{s, new(bool), failed}
	read := human{s}.read
	if f.output == outputJSONL {
		read = records.read
	}
	outcome, err := prepareAndRun(ctx, f, intent, read)
	if err == nil {
		return &statusError{stopStatus(outcome.Reason), nil}
	}
	if f.output == outputJSONL {
		err = errors.Join(err, records.fail(err))
	}
	if failed() == ExitInterrupted {
		err = errors.New("interrupted")
	}
	return &statusError{failed(), err}
}

// prepareAndRun makes the checks that come before a run, in the order of 1.3, and runs.
func prepareAndRun(ctx context.Context, f runFlags, intent string, read func(event.Event) error) (run.Outcome, error) {
	threshold, err := run.ParseDecimal(f.threshold)
	if err != nil {
		return run.Outcome{}, fmt.Errorf("the threshold %w", err)
	}
	definitions := catalog.Bundled()
	if _, known := definitions.Get(f.protocol); f.protocol != "" && !known {
		return run.Outcome{}, fmt.Errorf("--protocol %s: the catalog holds %s", f.protocol, strings.Join(definitions.Names(), ", "))
	}
	steps := int(min(f.maxSteps, maxMaxSteps))
	options := run.Options{
		Intent: intent, Catalog: definitions, Bindings: bindings(), Protocol: f.protocol,
		Threshold: threshold, MaxSteps: &steps, Events: read,
	}
	if !f.offline {
		if options.Classifier, options.Agent, err = f.models(); err != nil {
			return run.Outcome{}, err
		}
	}
	return run.Run(ctx, options)
}

// maxMaxSteps bounds --max-steps where a larger number would mean the same.
const maxMaxSteps = 1_000_000

// models resolves the two aliases, the classifier's first, before anything is asked.
func (f runFlags) models() (classifier, agent model.Client, err error) {
	if f.catalog == "" {
		return nil, nil, errors.New("no model to ask: name a model catalog with --catalog, or use --offline to run without a model (loom login comes with a later version)")
	}
	routes, err := model.ReadRoutes(f.catalog)
	if err != nil {
		return nil, nil, fmt.Errorf("--catalog: %w", err)
	}
	if f.protocol == "" { // else nothing is classified
		if classifier, err = f.client(routes, "--classifier-model", f.classifier); err != nil {
			return nil, nil, err
		}
	}
	agent, err = f.client(routes, "--model", f.model)
	return classifier, agent, err
}

func (f runFlags) client(routes *model.Routes, flag, alias string) (model.Client, error) {
	binding, err := routes.Resolve(alias)
	if err != nil {
		var refused *model.RouteError
		errors.As(err, &refused)
		return nil, fmt.Errorf("%s %s: %s (in %s)", flag, alias, refused.Reason, f.catalog)
	}
	client, err := chat.New(binding)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w (in %s)", flag, alias, err, f.catalog)
	}
	return client, nil
}
