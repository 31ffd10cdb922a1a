package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/internal/printable"
)

func newProtocolsRemove(s streams) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "Remove an installed definition",
		Long:              "Remove an installed definition. Bundled ones stay.",
		Example:           "  loom protocols remove team-notes@1",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: installedNames,
		RunE: func(c *cobra.Command, args []string) error {
			store, err := installedStore()
			if err != nil {
				return err
			}
			if err := store.Remove(c.Context(), catalog.Bundled(), args[0]); err != nil {
				return err
			}
			return s.write(fmt.Appendf(nil, "removed %s\n", printable.Line(args[0])))
		},
	}
}
