package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/store"
)

// instanceFlag declares the flag that says whose data is meant.
func instanceFlag(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "instance", "", "use this `instance`: a name, or a path with a slash (default: the only one, or default)")
}

// opened is an instance with its store, which is closed when the command ends.
type opened struct {
	instance.Instance
	store.Store
}

// openInstance opens the instance that the flag, the environment or the configuration chooses.
func openInstance(ctx context.Context, flag string) (opened, error) {
	found, err := instance.Find(os.LookupEnv, flag)
	if err != nil {
		return opened{}, err
	}
	data, err := found.Open(ctx)
	return opened{found, data}, err
}

// withInstance opens the instance for a command and closes it behind it.
func withInstance(ctx context.Context, flag string, do func(opened) error) (err error) {
	in, err := openInstance(ctx, flag)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return do(in)
}

// ownView shows a command all there is, as its owner sees it.
func (in opened) ownView(ctx context.Context, do func(store.View) error) (err error) {
	v, err := in.View(ctx, store.Scope{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return do(v)
}

// sourceNames completes the names of sources.
func sourceNames(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	_ = withInstance(c.Context(), c.Flag("instance").Value.String(), func(in opened) error {
		return in.ownView(c.Context(), func(v store.View) error {
			for _, s := range v.Sources() {
				names = append(names, s.Name+"\t"+s.Connector())
			}
			return nil
		})
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}
