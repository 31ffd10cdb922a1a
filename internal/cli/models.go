package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/wires"
)

// checkTime bounds the one call of models --check. A model that thinks first takes part of it.
const checkTime = 2 * time.Minute

// modelsFlags are the flags of models, as given.
type modelsFlags struct {
	catalog string
	check   string
	asJSON  bool
}

func newModels(s streams) *cobra.Command {
	var f modelsFlags
	c := &cobra.Command{
		Use:   "models [--catalog FILE] [--json | --check ALIAS]",
		Short: "List the models of a catalog, or check one",
		Long: `Print one line per route of a model catalog: its alias, the model's name at its endpoint,
the protocol, the endpoint's base URL, how the account signs in, and whether a run can use
it, or why not. Two spaces separate the columns. Nothing is sent.

With --check one model is asked for one small tool call, the way a run asks. When it
cannot, the message has the endpoint's own words. The call may cost something.

Exit status 1 when the catalog is not valid, or the checked model cannot do what a run
needs.`,
		Example: `  loom models --catalog models.toml
  loom models --catalog models.toml --check small`,
		Args: func(c *cobra.Command, args []string) error {
			if f.asJSON && c.Flags().Changed("check") {
				return errors.New("--json prints the list, so it does not go with --check")
			}
			return cobra.NoArgs(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			if f.catalog == "" {
				return errors.New("no model catalog: name one with --catalog")
			}
			routes, err := model.ReadRoutes(f.catalog)
			if err != nil {
				return fmt.Errorf("%s: %w", set.from("catalog", "--catalog"), err)
			}
			if c.Flags().Changed("check") {
				return modelsCheck(c.Context(), s, f, routes)
			}
			return modelsList(s, f, routes)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.catalog, "catalog", "", "model catalog, a TOML `file`")
	flags.StringVar(&f.check, "check", "", "ask the model of this `alias` for one small tool call")
	flags.BoolVar(&f.asJSON, "json", false, "print a JSON array instead")
	return c
}

func modelsList(s streams, f modelsFlags, routes *model.Routes) error {
	list := document.ListOf()
	var lines []byte
	for _, e := range routes.Entries() {
		list.Items = append(list.Items, document.MapOf(
			document.M("alias", document.TextOf(e.Alias)),
			document.M("model", document.TextOf(e.UpstreamName)),
			document.M("protocol", document.TextOf(string(e.Protocol))),
			document.M("base_url", document.TextOf(e.BaseURL)),
			document.M("auth_kind", document.TextOf(string(e.AuthKind))),
			document.M("billing_kind", document.TextOf(string(e.BillingKind))),
			document.M("usable", document.BoolOf(e.Refusal == "")),
			document.M("reason", textOrNull(e.Refusal))))
		state := "usable"
		if e.Refusal != "" {
			state = "not usable: " + e.Refusal
		}
		lines = fmt.Appendf(lines, "%s  %s  %s  %s  %s  %s\n", printable.Line(e.Alias), printable.Line(e.UpstreamName),
			e.Protocol, printable.Line(e.BaseURL), e.AuthKind, printable.Line(state))
	}
	if f.asJSON {
		return s.write(canonjson.Append(nil, list))
	}
	return s.write(lines)
}

// modelsCheck asks one model and says what came of it.
func modelsCheck(ctx context.Context, s streams, f modelsFlags, routes *model.Routes) error {
	binding, err := routes.Resolve(f.check)
	var refused *model.RouteError
	if errors.As(err, &refused) {
		return fmt.Errorf("--check %s: %s (in %s)", f.check, refused.Reason, f.catalog)
	}
	client, err := wires.New(binding)
	if err != nil {
		return fmt.Errorf("--check %s: %w (in %s)", f.check, err, f.catalog)
	}
	defer client.Close()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	usage, err := model.Probe(limited, client)
	switch {
	case ctx.Err() != nil:
		return &statusError{status: ExitInterrupted, err: errors.New("interrupted")}
	case err != nil:
		return fmt.Errorf("%s cannot do what a run needs: %w", f.check, err)
	}
	return s.write(fmt.Appendf(nil, "%s can do what a run needs: %s by %s at %s%s\n", printable.Line(f.check),
		printable.Line(binding.UpstreamName), binding.Protocol, printable.Line(binding.Secret.Hide(binding.BaseURL)), cost(usage)))
}

// cost says how many tokens an answer took, as far as that is known.
func cost(u *model.Usage) string {
	if u == nil || u.InputTokens == nil || u.OutputTokens == nil {
		return ""
	}
	return fmt.Sprintf(" (%d tokens in, %d out)", *u.InputTokens, *u.OutputTokens)
}
