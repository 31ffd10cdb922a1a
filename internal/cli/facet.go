package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/store"
)

func newFacet(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "facet [command]",
		Short: "Say which side of your life a source belongs to",
		Long: `A facet is a side of a life, such as family or work. A source is in none, one or several,
and the label of each of its records names them: what may read one of them may see the
record. A source that is in none is for its owner alone.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newFacetList(s), newFacetNew(s), newFacetAdd(s), newFacetRemove(s))
	return c
}

func newFacetList(s streams) *cobra.Command {
	var place string
	var asJSON, history bool
	c := &cobra.Command{
		Use:   "list [--history] [--json]",
		Short: "List the facets, or what was changed about them",
		Long: `Print one line per facet with the sources that are in it; a hyphen stands for none.

With --history, print one line per change, the oldest first: when, the source, its facets
before and after, and how many records were labelled anew.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withInstance(c.Context(), place, func(in opened) error {
				return in.ownView(c.Context(), func(v store.View) error {
					if history {
						return s.facetHistory(c.Context(), v, asJSON)
					}
					return s.listFacets(v, asJSON)
				})
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&history, "history", false, "print the changes of sources' facets")
	flags.BoolVar(&asJSON, "json", false, "print a JSON array instead")
	instanceFlag(flags, &place)
	return c
}

func (s streams) listFacets(v store.View, asJSON bool) error {
	list := document.ListOf()
	var rows [][]string
	for _, facet := range v.Owner().Facets {
		var names []string
		for _, there := range v.Sources() {
			if slices.Contains(there.Facets, facet) {
				names = append(names, there.Name)
			}
		}
		list.Items = append(list.Items, document.MapOf(text("facet", facet), document.M("sources", document.TextsOf(names))))
		rows = append(rows, []string{facet, listOrDash(names)})
	}
	switch {
	case asJSON:
		return s.write(canonjson.Append(nil, list))
	case len(rows) == 0:
		s.say("there are no facets yet; " + s.program + " facet new NAME makes one")
		return nil
	}
	return s.write(table(rows))
}

func (s streams) facetHistory(ctx context.Context, v store.View, asJSON bool) error {
	changes, err := v.FacetChanges(ctx)
	if err != nil {
		return err
	}
	zone, err := instance.Zone(v.Owner().Zone)
	if err != nil {
		return err
	}
	list := document.ListOf()
	var rows [][]string
	for _, c := range changes {
		list.Items = append(list.Items, document.MapOf(
			document.M("at", instantOrNull(c.At)),
			text("source", c.Source),
			document.M("before", document.TextsOf(c.Before)),
			document.M("after", document.TextsOf(c.After)),
			document.M("records", document.IntOf(c.Records))))
		rows = append(rows, []string{
			shownTime(c.At, zone), c.Source, listOrDash(c.Before) + " to " + listOrDash(c.After), counted(c.Records, "record"),
		})
	}
	if asJSON {
		return s.write(canonjson.Append(nil, list))
	}
	return s.write(table(rows))
}

func newFacetNew(s streams) *cobra.Command {
	var place string
	c := &cobra.Command{
		Use:     "new NAME...",
		Short:   "Make facets, so that sources can be put into them",
		Long:    "Make facets known. Nothing is put into them yet, and nobody sees more than before.",
		Example: "  loom facet new family work",
		Args: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if err := store.CheckFacet(name); err != nil {
					return err
				}
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return withInstance(c.Context(), place, func(in opened) error { return newFacets(c.Context(), s, in, args) })
		},
	}
	instanceFlag(c.Flags(), &place)
	return c
}

func newFacets(ctx context.Context, s streams, in opened, names []string) error {
	var known []string
	err := in.ownView(ctx, func(v store.View) error {
		known = v.Owner().Facets
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		said := "made the facet %s\n"
		if slices.Contains(known, name) {
			said = "the facet %s is there already\n"
		}
		if err := in.AddFacet(ctx, name, time.Now()); err != nil {
			return err
		}
		known = append(known, name)
		if err := s.write(fmt.Appendf(nil, said, printable.Line(name))); err != nil {
			return err
		}
	}
	return nil
}

func newFacetAdd(s streams) *cobra.Command {
	var place string
	var yes bool
	c := &cobra.Command{
		Use:   "add SOURCE FACET [--yes]",
		Short: "Put a source into a facet",
		Long: `Put a source into one more facet. That lets more be seen: loom says what becomes visible
to whom, asks, and labels the records of the source anew. The change is kept, see
loom facet list --history.

Without a terminal to ask on, --yes must say that it is meant.

Exit status 1: nothing was changed, and the message says why.`,
		Example:           "  loom facet add work-mail work",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: sourceAndFacet,
		RunE: func(c *cobra.Command, args []string) error {
			return withInstance(c.Context(), place, func(in opened) error { return addFacet(c.Context(), s, in, args[0], args[1], yes) })
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&yes, "yes", "y", false, "do not ask")
	instanceFlag(flags, &place)
	return c
}

func newFacetRemove(s streams) *cobra.Command {
	var place string
	c := &cobra.Command{
		Use:   "remove SOURCE FACET",
		Short: "Take a source out of a facet",
		Long: `Take a source out of a facet and label its records anew. That lets less be seen, so nothing
is asked. What was read before is not taken back. The change is kept, see
loom facet list --history.

Exit status 1: nothing was changed, and the message says why.`,
		Example:           "  loom facet remove work-mail family",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: sourceAndFacet,
		RunE: func(c *cobra.Command, args []string) error {
			return withInstance(c.Context(), place, func(in opened) error { return removeFacet(c.Context(), s, in, args[0], args[1]) })
		},
	}
	instanceFlag(c.Flags(), &place)
	return c
}

// sourceInFacet gives the state of a source and whether it is in a facet, both of which must be there.
func sourceInFacet(ctx context.Context, s streams, in opened, name, facet string) (there store.SourceState, already bool, err error) {
	err = in.ownView(ctx, func(v store.View) (err error) {
		if there, err = sourceNamed(s, v, name); err != nil {
			return err
		}
		if err := there.RefuseWritten(); err != nil {
			return err
		}
		return knownFacet(s, v, facet)
	})
	return there, slices.Contains(there.Facets, facet), err
}

func addFacet(ctx context.Context, s streams, in opened, name, facet string, yes bool) error {
	there, already, err := sourceInFacet(ctx, s, in, name, facet)
	switch {
	case err != nil:
		return err
	case already:
		return s.write(fmt.Appendf(nil, "%s is in %s already\n", printable.Line(name), printable.Line(facet)))
	}
	verb := "become"
	if there.Records == 1 {
		verb = "becomes"
	}
	err = s.write(fmt.Appendf(nil, "%s of %s %s visible to runs that may read %s\n", counted(there.Records, "record"), printable.Line(name), verb, printable.Line(facet)))
	if err == nil && !yes {
		err = confirm(s, fmt.Sprintf("put %s into %s?", printable.Line(name), printable.Line(facet)), "put it there", "nothing was changed")
	}
	if err != nil {
		return err
	}
	// An answer may take long. What was changed meanwhile is not undone by what was shown before.
	now, _, err := sourceInFacet(ctx, s, in, name, facet)
	if err == nil && !slices.Equal(now.Facets, there.Facets) {
		err = fmt.Errorf("the facets of %s were changed meanwhile; nothing was changed now", name)
	}
	if err != nil {
		return err
	}
	return s.setFacets(ctx, in, name, append(there.Facets, facet))
}

func removeFacet(ctx context.Context, s streams, in opened, name, facet string) error {
	there, already, err := sourceInFacet(ctx, s, in, name, facet)
	switch {
	case err != nil:
		return err
	case !already:
		return s.write(fmt.Appendf(nil, "%s is not in %s\n", printable.Line(name), printable.Line(facet)))
	}
	return s.setFacets(ctx, in, name, slices.DeleteFunc(there.Facets, func(f string) bool { return f == facet }))
}

func (s streams) setFacets(ctx context.Context, in opened, name string, facets []string) error {
	change, err := in.SetFacets(ctx, name, facets, time.Now())
	if err != nil {
		return err
	}
	are := "in no facet, for its owner alone"
	if len(change.After) > 0 {
		are = "in " + strings.Join(change.After, ", ")
	}
	return s.write(fmt.Appendf(nil, "%s is now %s; %s labelled anew\n", printable.Line(name), printable.Line(are), counted(change.Records, "record")))
}

// sourceAndFacet completes a source and then a facet.
func sourceAndFacet(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return sourceNames(c, args, toComplete)
	case 1:
		var facets []string
		_ = withInstance(c.Context(), c.Flag("instance").Value.String(), func(in opened) error {
			return in.ownView(c.Context(), func(v store.View) error {
				facets = v.Owner().Facets
				return nil
			})
		})
		return facets, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
