package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
)

func newSearch(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "search [QUERY] [flags]",
		Short: "Find mail, events, contacts, pages and activity by their words",
		Long: `Print what has the words of a query, the newest first: when it was, the name of its source and
its title, and below it a piece of its text.

  budget report          both words, in the title, the text, the sender or a recipient
  "budget report"        the words side by side
  budg*                  words that begin so
  NOT draft, -draft      without the word (not at the very beginning, where -draft is a flag)
  a OR b, (a OR b) c     either; groups
  from:alice to: subject: in:inbox
                         in one field
  /colou?r/              a regular expression

` + instants + `

A person is named as for people; a group stands for all who are in it. Exit status 1: nobody is
known so; 3: several people are.`,
		Example: `  loom search 'budget from:alice' --since now-30d
  loom search --person alice@example.com --sources mail
  loom search '"annual report"' --rank score --json`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.String("sources", "", "search only these sources, connectors (mail.mbox) or kinds (mail), a `list` with commas; fc is the file cabinet")
	flags.String("since", "", "nothing before this `time`")
	flags.String("until", "", "nothing from this `time` on")
	flags.String("tz", "", "`zone` of times without one (default: the instance's)")
	flags.String("person", "", "only what this `person` or group takes part in")
	flags.String("limit", "", fmt.Sprintf("at most this `number` of hits, 1 to %d (default %d)", store.MaxLimit, store.DefaultLimit))
	flags.String("rank", "", "`order` of hits: recency, the newest first, or score (default recency)")
	c = s.reads(c, []string{"search"}, showFound)
	// The words of a query may be written without quotation marks around all of them.
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			args = []string{strings.Join(args, " ")}
		}
		return run(c, args)
	}
	return c
}

func showFound(s shown) error {
	found := s.payload.(*readverb.Found)
	var rows [][]string
	var snippets []string
	for _, h := range found.Hits {
		source, _, _ := strings.Cut(h.SourceRef, "/")
		rows = append(rows, []string{s.when(h.Time), source, h.From, h.Title})
		snippets = append(snippets, h.Snippet)
	}
	if err := s.list(rows, snippets...); err != nil {
		return err
	}
	if len(found.Hits) == 0 {
		s.say("nothing found")
	}
	if found.Truncated {
		s.say("there is more: narrow the search, or raise --limit")
	}
	for _, name := range slices.Sorted(maps.Keys(found.SourceStatus)) {
		switch found.SourceStatus[name].Status {
		case readverb.SourceNeverSynced:
			s.say("the source " + name + " was never synced; see loom sync")
		case readverb.SourceIncomplete:
			s.say("the source " + name + " is incomplete; see loom status " + name)
		}
	}
	return nil
}
