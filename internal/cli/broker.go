package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/broker"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/store"
)

func newBroker(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "broker [command]",
		Short: "Serve your data to programs that cannot open it",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBrokerServe(s))
	return c
}

func newBrokerServe(s streams) *cobra.Command {
	var queue, facets, run, place string
	c := &cobra.Command{
		Use:   "serve --queue DIR --facets LIST [flags]",
		Short: "Answer the read verbs through a folder, as if only some facets existed",
		Long: `Answer search, page discover, page inspect, page read, people, calendar list, context and profile
to programs that share a folder with this one and nothing else, such as those in a sandbox.
Where ` + retrieval.PageQueueVariable + ` or ` + retrieval.SearchQueueVariable + ` names that folder,
these commands ask the broker and never open an instance themselves.

What is in none of the facets does not exist for them: no answer, count or order depends on it.
The folder has mode 0700 and one broker; it is made if it is not there, and taken away again.
One line is printed once requests are answered, and for each of them one on standard error:
when it came, the run, the verb, the outcome and how long it took.

An interrupt or termination signal ends it with exit status 0.`,
		Example: `  loom broker serve --queue /run/user/1000/loom-work --facets work`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case queue == "":
				return usage(errors.New("name the folder of the queue with --queue"))
			case !c.Flag("facets").Changed:
				return usage(errors.New("name what is served with --facets: nothing is served to everybody"))
			}
			path, err := filepath.Abs(queue)
			if err != nil {
				return err
			}
			// What was made is taken away before the program ends. A second signal ends it at once.
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop)
			return withInstance(ctx, place, func(in opened) error {
				scope, _, err := in.scopeOf(ctx, facets)
				if err != nil {
					return err
				}
				var unwritten error
				server := broker.Server{Folder: path, Store: in.Store, Scope: scope, Run: run, Log: s.logRequest, Ready: func() {
					unwritten = s.write(fmt.Appendf(nil, "serving %s: facets %s\n", printable.Line(path), strings.Join(slices.Sorted(slices.Values(scope.Facets)), ", ")))
				}}
				return errors.Join(server.Serve(ctx), unwritten)
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&queue, "queue", "", "serve the requests in this `folder`")
	flags.StringVar(&facets, "facets", "", "answer as if only what is in one of these facets existed, a `list` with commas")
	flags.StringVar(&run, "run", "", "what the log calls those who ask, an `id` (default: chosen at random)")
	instanceFlag(flags, &place)
	return c
}

// scopeOf reads a list of facets of the instance, and names its owner.
func (in opened) scopeOf(ctx context.Context, facets string) (scope store.Scope, owner string, err error) {
	err = in.ownView(ctx, func(v store.View) (err error) {
		owner = v.Owner().Subject
		scope, err = readverb.ScopeOf(facets, v.Owner().Facets)
		return err
	})
	return scope, owner, err
}

// logRequest writes the line of a request.
func (s streams) logRequest(l broker.Line) {
	fmt.Fprintf(s.err, "%s %s %s %s %d ms\n", l.At.UTC().Format(time.RFC3339), printable.Line(l.Run), l.Verb, l.Outcome, l.Took.Milliseconds())
}

// queueOf gives the queue that a read is asked through, by the variables of retrieval 5.2; "" where it reads the instance. A variable that is
// empty counts as not there.
func queueOf(verb string) string {
	variables := []string{retrieval.PageQueueVariable, retrieval.SearchQueueVariable}
	if verb == "search" {
		variables = []string{retrieval.SearchQueueVariable, retrieval.PageQueueVariable}
	}
	for _, name := range variables {
		if queue := os.Getenv(name); queue != "" {
			return queue
		}
	}
	return ""
}

// ask ends a command as the broker of a queue says. There is no other way to an answer once a queue is named.
func (s streams) ask(c *cobra.Command, queue string, argv []string, asJSON bool) error {
	for _, name := range []string{"facets", "instance"} {
		if c.Flag(name).Changed {
			return s.refused(broker.Forbidden, "--"+name+" is not for who reads through a queue: the broker was started for some facets of one instance", asJSON)
		}
	}
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	reply, err := broker.Ask(ctx, queue, argv)
	switch {
	case err != nil && ctx.Err() != nil:
		return &statusError{status: ExitInterrupted, err: errors.New("interrupted")}
	case err != nil:
		return s.refused(broker.Refused, err.Error(), asJSON)
	case reply.Code != "":
		return s.refused(reply.Code, reply.Message, asJSON)
	}
	switch {
	case asJSON:
		err = s.write(reply.Stdout)
	case len(reply.Stdout) > 0 && reply.Message == "":
		err = s.writeIndented(reply.Stdout)
	}
	if err != nil {
		return err
	}
	for _, note := range reply.Notes {
		s.say(note)
	}
	if reply.Message != "" && (len(reply.Stdout) == 0 || !asJSON) {
		s.say(reply.Message)
	}
	if reply.Caret != "" {
		for line := range strings.Lines(reply.Caret) {
			if _, err := fmt.Fprintln(s.err, printable.Line(strings.TrimRight(line, "\n"))); err != nil {
				return err
			}
		}
	}
	if reply.Status == readverb.StatusAnswered {
		return nil
	}
	return &statusError{status: reply.Status}
}

// refused ends a command that got no answer through a queue. With --json that is a payload too, so that no program takes it for something else.
func (s streams) refused(code, message string, asJSON bool) error {
	if !asJSON {
		return &statusError{status: ExitFailed, err: fmt.Errorf("%s: %s", code, message)}
	}
	if err := s.write(broker.RefusalJSON(code, message)); err != nil {
		return err
	}
	return &statusError{status: ExitFailed}
}

// writeIndented prints a payload for a person.
func (s streams) writeIndented(payload []byte) error {
	v, err := strictjson.ParseForeign(payload, strictjson.MaxDepth)
	if err != nil {
		return fmt.Errorf("the answer of the broker: %w", err)
	}
	text := canonjson.Append(nil, v)
	if isTerminal(s.out) {
		text = []byte(strings.Join(printable.Lines(string(text)), "\n") + "\n")
	}
	return s.write(text)
}
