package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/retrieval"
	"github.com/loomrun/loom/store"
)

func newCeiling(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ceiling [command]",
		Short: "Say and write down what a run may see",
		Long: `A ceiling is a list of clauses. A record may be seen if each clause of its label has an alternative that the
ceiling has too: its owner, the class of its kind, and its facets, if it is in any.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCeilingShow(s), newCeilingWrite(s))
	return c
}

// ceilingFlags are those that say which ceiling is meant.
type ceilingFlags struct{ facets, place string }

func (f *ceilingFlags) declare(c *cobra.Command, needed bool) {
	what := "of a reader of these facets, a `list` with commas"
	if !needed {
		what += " (default: the owner's own)"
	}
	c.Flags().StringVar(&f.facets, "facets", "", what)
	instanceFlag(c.Flags(), &f.place)
}

// ceiling gives what a reader of facets of the instance may see, and the facets, sorted; what its owner may see where none are named.
func (f *ceilingFlags) ceiling(ctx context.Context, scoped bool) (ceiling label.Ceiling, facets []string, err error) {
	err = withInstance(ctx, f.place, func(in opened) error {
		var owner string
		if scoped {
			scope, of, err := in.scopeOf(ctx, f.facets)
			if err != nil {
				return err
			}
			owner, facets = of, slices.Sorted(slices.Values(scope.Facets))
		} else {
			return in.ownView(ctx, func(v store.View) error {
				ceiling = label.OwnerCeiling(v.Owner().Subject, store.Classes(), v.Owner().Facets)
				return nil
			})
		}
		ceiling = label.ScopeCeiling(owner, store.Classes(), facets)
		return nil
	})
	return ceiling, facets, err
}

// ceilingWords says what a ceiling admits.
func ceilingWords(c label.Ceiling) string {
	if !c.Bounded() {
		return "everything"
	}
	return printable.Line(label.Words(c.Clauses()))
}

func newCeilingShow(s streams) *cobra.Command {
	var f ceilingFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [flags]",
		Short: "Say what a reader of some facets may see",
		Long: `Print the ceiling of a reader of some facets, or of the owner, in words, or with --json as the list of clauses that
--max-confidentiality takes.`,
		Example: `  loom ceiling show --facets work,family
  loom run --max-confidentiality "$(loom ceiling show --facets work --json)" "QUESTION"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ceiling, _, err := f.ceiling(c.Context(), c.Flag("facets").Changed)
			switch {
			case err != nil:
				return err
			case asJSON:
				return s.write([]byte(ceiling.Canonical() + "\n"))
			}
			return s.write([]byte(ceilingWords(ceiling) + "\n"))
		},
	}
	c.Flags().SortFlags = false
	c.Flags().BoolVar(&asJSON, "json", false, "print the clauses as JSON instead")
	f.declare(c, false)
	return c
}

func newCeilingWrite(s streams) *cobra.Command {
	var f ceilingFlags
	var out string
	var force bool
	c := &cobra.Command{
		Use:   "write --facets LIST --out FILE [flags]",
		Short: "Write the ceiling record that bounds every read of a run",
		Long: `Write the ceiling of a reader of some facets to a file of mode 0600, for --record of loom retrieval
write. It is read anew for each read of a run, so a file that is written over counts at once.`,
		Example: `  loom ceiling write --facets work --out work.json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case !c.Flag("facets").Changed:
				return usage(errors.New("name the facets of the record with --facets"))
			case out == "":
				return usage(errors.New("name the file of the record with --out"))
			}
			path, err := filepath.Abs(out)
			if err != nil {
				return err
			}
			ceiling, facets, err := f.ceiling(c.Context(), true)
			if err != nil {
				return err
			}
			if _, err := os.Lstat(path); err == nil && !force {
				return fmt.Errorf("%s is there already; --force writes over it", path)
			}
			record := retrieval.Record{Ceiling: ceiling, Facets: facets, FacetSource: "loom ceiling write"}
			if err := atomicfile.Write(path, record.JSON()); err != nil {
				return err
			}
			return s.write(fmt.Appendf(nil, "wrote %s\n%s\n", printable.Line(path), ceilingWords(ceiling)))
		},
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&out, "out", "", "write this `file`")
	f.declare(c, true)
	c.Flags().BoolVar(&force, "force", false, "write over a file that is there")
	return c
}
