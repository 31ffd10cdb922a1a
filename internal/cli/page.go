package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/readverb"
)

func newPage(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "page [command]",
		Short: "List, look at and read pages",
		Long: `Pages are Markdown files of your sources and of the file cabinet.

A page is named by its id (P-12), its path with or without .md, an alias or its title, or the name of
its file. Where several pages are named so, put the name of the source and a colon before it: notes:plan.md.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPageDiscover(s), newPageInspect(s), newPageRead(s))
	return c
}

func newPageDiscover(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "discover [flags]",
		Short: "List the pages there are",
		Long:  `Print one line per page: its kind, path, id, source and title, by kind and path.`,
		Args:  cobra.NoArgs,
	}
	flags := c.Flags()
	flags.String("kind", "", "only pages of this `kind`: all, project(s), entity or entities (default all)")
	flags.String("limit", "", fmt.Sprintf("at most this `number` of pages, 1 to %d (default %d)", readverb.MaxDiscovered, readverb.MaxDiscovered))
	flags.Bool("concise", false, "with --json, leave out aliases, tags, status, summary and when pages changed")
	return s.reads(c, []string{"page", "discover"}, func(s shown) error {
		found := s.payload.(*readverb.Discovered)
		var rows [][]string
		for _, p := range found.Pages {
			rows = append(rows, []string{p.Kind, p.Path, p.PageID, p.Source, p.Title})
		}
		if err := s.list(rows); err != nil {
			return err
		}
		if more := found.TotalPages - len(found.Pages); more > 0 {
			s.say(fmt.Sprintf("%s more", counted(int64(more), "page")))
		} else if found.TotalPages == 0 {
			s.say("there are no such pages")
		}
		return nil
	})
}

func newPageInspect(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "inspect PAGE [flags]",
		Short:   "Say what a page is, and which pages it links to and is linked from",
		Long:    `Print what is known of a page without its text. Exit status 1: there is no such page, or there are several.`,
		Example: "  loom page inspect P-12",
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().Bool("concise", false, "leave out aliases, tags, headings and size")
	return s.reads(c, []string{"page", "inspect"}, func(s shown) error {
		p := s.payload.(*readverb.Inspected)
		size := ""
		if p.Bytes > 0 {
			size = sizeText(int64(p.Bytes))
		}
		facts := [][2]string{
			{"page", p.PageID},
			{"title", p.Title},
			{"kind", p.Kind},
			{"path", p.Path},
			{"source", p.Source},
			{"aliases", strings.Join(p.Aliases, ", ")},
			{"tags", strings.Join(p.Tags, ", ")},
			{"status", p.Status},
			{"summary", oneLine(p.Summary)},
			{"version", p.SourceVersion},
			{"size", size},
		}
		for _, h := range p.Headings {
			facts = append(facts, [2]string{"heading", h})
		}
		for _, l := range p.Relations.Links {
			facts = append(facts, [2]string{"links to", l.Path + " (" + l.PageID + ")"})
		}
		for _, l := range p.Relations.Backlinks {
			facts = append(facts, [2]string{"linked from", l.Path + " (" + l.PageID + ")"})
		}
		if err := s.facts(facts...); err != nil {
			return err
		}
		if p.Relations.Truncated {
			s.say("there are more links than are shown")
		}
		return nil
	})
}

func newPageRead(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "read PAGE [flags]",
		Short: "Print the Markdown of a page",
		Long: `Print the exact Markdown of a page; on a terminal with its control characters escaped. Exit status 1: there
is no such page, or there are several.`,
		Example: `  loom page read projects/plan.md
  loom page read notes:index`,
		Args: cobra.ExactArgs(1),
	}
	return s.reads(c, []string{"page", "read"}, func(s shown) error {
		text := s.payload.(*readverb.Content).Content
		if isTerminal(s.out) {
			text = strings.Join(printable.Lines(text), "\n") + "\n"
		}
		return s.write([]byte(text))
	})
}
