package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/command"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/internal/process"
	"github.com/loomrun/loom/sandbox"
)

// boundCommands is what a binding to programs is called.
const boundCommands = "bound commands"

// bindingsFlag declares the flag that names a bindings file.
func bindingsFlag(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "action-bindings", "", "which of your programs performs which action, a JSON `file`")
}

// unconfinedFlag declares the flag that is said anew for every run: it has no key and no variable.
func (f *runFlags) unconfinedFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&f.unconfined, "unconfined-bindings", false, "let bound programs that are not confined run with all of your rights")
}

// bindings are what this program can carry out: what a bindings file binds, if there is one, reads of data, and the host clock.
// The first that serves a definition carries it out.
func bindings(bound *command.Binding, reads *retrieve.Binding) []effect.Binding {
	all := []effect.Binding{reads, effect.HostClock()}
	if bound == nil {
		return all
	}
	return append([]effect.Binding{bound}, all...)
}

// bind reads a bindings file, checks it against the catalog and finds its programs (6.4). No file, no binding.
func (s settled) bind(file string, c catalog.Catalog) (*command.Binding, error) {
	if file == "" {
		return nil, nil
	}
	bound, err := bindFile(file, c)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.from("action_bindings", "--action-bindings"), file, err)
	}
	return bound, nil
}

func bindFile(file string, c catalog.Catalog) (*command.Binding, error) {
	f, err := command.Read(file)
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	where := command.Where{Folder: folder}
	where.Path, _ = os.LookupEnv("PATH")
	where.Home, _ = os.LookupEnv("HOME")
	return command.Bind(f, c, where)
}

// commandUnconfined is why programs that would have all of a person's rights are not run, in the words of 6.4.
const commandUnconfined = "CommandUnconfined: Substrate does not confine the commands --action-bindings binds; " +
	"pass --unconfined-bindings to run them with the operator's rights"

// unconfinedError says that a run does not begin, since its programs may not run unconfined or cannot be confined.
type unconfinedError struct{ detail string } // "CODE: detail"

// Error gives the detail.
func (e *unconfinedError) Error() string { return e.detail }

// performing gives the bindings of a run whose programs may be started, and says on standard error where one of them
// will have all of the person's rights. Nothing has been asked or kept yet.
func (f runFlags) performing(ctx context.Context, s streams, c catalog.Catalog) ([]effect.Binding, error) {
	reads, err := f.reading.binding(ctx, f.settled)
	if err != nil {
		return nil, err
	}
	bound, err := f.settled.bind(f.actionBindings, c)
	switch {
	case err != nil:
		return nil, err
	case bound != nil && bound.Unconfined() && !f.unconfined:
		return nil, &unconfinedError{commandUnconfined}
	}
	// What programs leave behind is ended with them.
	if bound != nil || f.reading.config != "" {
		if err := process.AdoptOrphans(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}
	if bound == nil {
		return bindings(nil, reads), nil
	}
	if err := bound.CheckConfinement(ctx); err != nil {
		if refusal, ok := errors.AsType[*sandbox.Refusal](err); ok {
			return nil, &unconfinedError{refusal.Error()}
		}
		return nil, fmt.Errorf("%s %s: %w", f.settled.from("action_bindings", "--action-bindings"), f.actionBindings, err)
	}
	if bound.Unconfined() {
		if _, err := fmt.Fprintf(s.err, "%s: unconfined (--unconfined-bindings)\n", boundCommands); err != nil {
			return nil, fmt.Errorf("say that programs run unconfined: %w", err)
		}
	}
	return bindings(bound, reads), nil
}

// unconfined prints that a run has stopped before anything was asked, because of its programs' confinement.
func (t *transcript) unconfined(why *unconfinedError) error {
	var err error
	if !t.records {
		err = t.write([]byte("confinement: " + boundCommands + "\n"))
	}
	if err == nil {
		err = t.read(event.Stopped{Reason: event.ConfinementUnavailable, Detail: why.detail})
	}
	if err != nil {
		return t.fail(ExitFailed, err)
	}
	return &statusError{status: ExitStopped}
}

// againBound is what a person adds to go on with a run of the same programs: what the command line said of them.
func (f runFlags) againBound() []string {
	var words []string
	if f.settled.sources["action_bindings"].Origin == config.Flag {
		words = append(words, "--action-bindings", shellWord(f.actionBindings))
	}
	if f.unconfined {
		words = append(words, "--unconfined-bindings")
	}
	if f.settled.sources["loom_retrieval_config"].Origin == config.Flag {
		words = append(words, "--loom-retrieval-config", shellWord(f.reading.config))
	}
	return words
}

// shellWord gives a text as one word of a shell.
func shellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:,@%"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
