package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/readverb"
)

func newPeople(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "people PERSON [flags]",
		Short: "Say who an address, a number or a group is",
		Long: `Print who a person is, from all cards and pages that are of the same person: those with an
address, number or handle and a name in common. A person is named exactly, by one of

  alice@example.com
  +1 415 555 0100
  handle:alice
  person:ID                       as people prints it
  group:family                    all who are in a group
  "People/Alice Example/about.md" the page about a person

Exit status 1: nobody is known so; 3: several people are.`,
		Example: "  loom people alice@example.com --shape card",
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().String("shape", "", "`what` to print: summary, or card with private notes (default summary)")
	return s.reads(c, []string{"people"}, showPeople)
}

func showPeople(s shown) error {
	if g, ok := s.payload.(*readverb.GroupOfPeople); ok {
		rows := [][]string{{g.DisplayName, g.CanonicalID}}
		for _, m := range g.Members {
			rows = append(rows, []string{"  " + m.DisplayName, m.CanonicalID})
		}
		if err := s.list(rows); err != nil {
			return err
		}
		if g.Truncated {
			s.say("there are more members than are shown")
		}
		return nil
	}
	p := s.payload.(*readverb.Person)
	facts := [][2]string{{"name", p.DisplayName}, {"id", p.CanonicalID}}
	each := func(name string, values []string) {
		for _, v := range values {
			facts = append(facts, [2]string{name, oneLine(v)})
		}
	}
	each("known as", p.Identifiers)
	for _, page := range p.Pages {
		facts = append(facts, [2]string{"page", page.Path + " (" + page.PageID + ")"})
	}
	messages := fmt.Sprint(p.Interaction.Messages)
	if p.Interaction.More {
		messages = "more than " + messages
	}
	if !p.Interaction.Last.IsZero() {
		messages += ", the last " + s.when(p.Interaction.Last) + ": " + oneLine(p.Interaction.LastTitle)
	}
	facts = append(facts, [2]string{"messages", messages}, [2]string{"organisation", p.Org}, [2]string{"title", p.Title}, [2]string{"birthday", p.Birthday})
	each("address", p.Addresses)
	each("web", p.URLs)
	facts = append(facts, [2]string{"categories", strings.Join(p.Categories, ", ")})
	for line := range strings.Lines(p.Note) {
		facts = append(facts, [2]string{"note", strings.TrimSpace(line)})
	}
	return s.facts(facts...)
}
