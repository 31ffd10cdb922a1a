package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/codex"
)

func newLogin(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "login [command]",
		Short: "Use the login of the Codex program",
		Long: `Without --catalog, a run asks a model by the login of the Codex program, if there is
one. Loom cannot make that login: its provider documents no way for other programs to
sign a person in. This command says how to get one.

Loom reads the login from $CODEX_HOME/auth.json, or else $HOME/.codex/auth.json, and
renews it there when less than 15 minutes of it are left.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("loom does not sign in by itself; run codex login (codex login --device-auth where there is no browser), then see loom login status")
		},
	}
	c.AddCommand(newLoginStatus(s))
	return c
}

func newLoginStatus(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [--json]",
		Short: "Say whether there is a login and how long it lives",
		Long: `Say which file the login is in, how long its access token still lives, and whether it
can be renewed. Nothing is sent and no token is shown.

Exit status 0: a run can use the login. 1: it cannot.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return loginStatus(s, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object instead")
	return c
}

func loginStatus(s streams, asJSON bool) error {
	path, err := codex.Path()
	if err != nil {
		return err
	}
	status := codex.Inspect(path)
	shown := loginLines(status)
	if asJSON {
		shown = loginJSON(status)
	}
	if err := s.write(shown); err != nil {
		return err
	}
	if !status.Usable() {
		return errors.New(status.Problem)
	}
	return nil
}

// loginLines says a login's status for people.
func loginLines(status codex.Status) []byte {
	lines := fmt.Appendf(nil, "file: %s\n", printable.Line(status.File))
	if status.ExpiresAt.IsZero() {
		return append(lines, "access token: none that can be used\n"...)
	}
	until := status.ExpiresAt.Format(time.RFC3339)
	if status.Left == 0 {
		lines = fmt.Appendf(lines, "access token: ended at %s\n", until)
	} else {
		lines = fmt.Appendf(lines, "access token: lives for another %s, until %s\n", status.Left, until)
	}
	if status.Renewable() {
		return fmt.Appendf(lines, "renewal: possible; a run renews it when less than %d minutes are left\n", codex.RenewBefore/time.Minute)
	}
	return fmt.Appendf(lines, "renewal: not possible: %s\n", printable.Line(status.NotRenewable))
}

// loginJSON says it for programs. What is not known is left out.
func loginJSON(status codex.Status) []byte {
	members := []document.Member{
		text("file", status.File),
		document.M("usable", document.BoolOf(status.Usable())),
		document.M("renewable", document.BoolOf(status.Renewable())),
	}
	if !status.ExpiresAt.IsZero() {
		members = append(members,
			text("expires_at", status.ExpiresAt.Format(time.RFC3339)),
			document.M("seconds_left", document.IntOf(int64(status.Left/time.Second))))
	}
	if status.NotRenewable != "" {
		members = append(members, text("not_renewable", status.NotRenewable))
	}
	if status.Problem != "" {
		members = append(members, text("problem", status.Problem))
	}
	return canonjson.Append(nil, document.MapOf(members...))
}

// loginModels gives the two models of a run without a catalog: those of the Codex login, under their
// ids (D12, 7.4).
func (f runFlags) loginModels(classify bool) (classifier, agent model.Client, err error) {
	path, err := codex.Path()
	var login *codex.Login
	if err == nil {
		login, err = codex.Open(path)
	}
	switch {
	case errors.Is(err, codex.ErrNoToken):
		return nil, nil, fmt.Errorf("no model to ask: name a model catalog with --catalog, run without a model with --offline, or log in as loom login says (%w)", err)
	case err != nil:
		return nil, nil, err
	}
	if classify {
		if classifier, err = loginModel(login, f.settled.from("classifier_model", "--classifier-model"), f.classifier); err != nil {
			return nil, nil, err
		}
	}
	agent, err = loginModel(login, f.settled.from("model", "--model"), f.model)
	return classifier, agent, err
}

func loginModel(login *codex.Login, flag, id string) (model.Client, error) {
	client, err := codex.New(login, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return model.Retry(client), nil
}
