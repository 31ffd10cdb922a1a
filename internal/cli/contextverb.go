package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/readverb"
)

func newContext(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "context [command]",
		Short: "See where you were and what you did",
		Long: `See where you were and what you did, as your sources of places and activity have it.

` + instants,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newContextWhere(s), newContextActivity(s))
	return c
}

func newContextWhere(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "where [flags]",
		Short: "Say the last place that is known",
		Long: `Print the last place that is known, and since when.

` + instants,
		Example: "  loom context where --at now-2h",
		Args:    cobra.NoArgs,
	}
	c.Flags().String("at", "", "as it was at this `time` (default now)")
	c.Flags().String("tz", "", "`zone` of times without one (default: the instance's)")
	return s.reads(c, []string{"context", "where"}, func(s shown) error {
		p := s.payload.(*readverb.Whereabouts).Place
		if p == nil {
			s.say("no place is known")
			return nil
		}
		accuracy := ""
		if p.Accuracy != nil {
			accuracy = fmt.Sprintf("%g m", *p.Accuracy)
		}
		return s.facts(
			[2]string{"name", p.Name},
			[2]string{"latitude", fmt.Sprint(p.Lat)},
			[2]string{"longitude", fmt.Sprint(p.Lon)},
			[2]string{"accuracy", accuracy},
			[2]string{"observed", s.when(p.ObservedAt)},
			[2]string{"age", lasting(p.AgeSeconds)},
			[2]string{"source", p.Source})
	})
}

func newContextActivity(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "activity [flags]",
		Short: "Say what you did, and for how long",
		Long: fmt.Sprintf(`Print how long each application had each title within a window, the longest first, at most %d; then the time
of all together, in which what went on at once counts once.

`, readverb.MaxActivityRows) + instants,
		Example: "  loom context activity --since now-8h",
		Args:    cobra.NoArgs,
	}
	flags := c.Flags()
	flags.String("since", "", "from this `time` on (default: a day before until)")
	flags.String("until", "", "to this `time` (default now)")
	flags.String("tz", "", "`zone` of times without one (default: the instance's)")
	return s.reads(c, []string{"context", "activity"}, func(s shown) error {
		a := s.payload.(*readverb.Activities)
		var rows [][]string
		for _, sum := range a.Activity {
			rows = append(rows, []string{lasting(sum.Seconds), sum.App, sum.Title})
		}
		rows = append(rows, []string{lasting(a.TotalSeconds), "", "in all"})
		if err := s.list(rows); err != nil {
			return err
		}
		if a.Truncated {
			s.say("there is more than is shown; name a shorter window")
		}
		return nil
	})
}

// lasting shows a number of seconds.
func lasting(seconds int64) string {
	const most = int64(1<<63-1) / int64(time.Second)
	return (time.Duration(min(seconds, most)) * time.Second).String()
}
