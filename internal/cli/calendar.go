package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/readverb"
)

func newCalendar(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "calendar [command]",
		Short: "See what is in your calendars",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCalendarList(s))
	return c
}

func newCalendarList(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "list [flags]",
		Short: "List what is in a window of days",
		Long: fmt.Sprintf(`Print one line per occurrence, by its start: when it is, its title, where it is and its calendar. Each
instance of what recurs is one; those that were cancelled say so. Without a window it is today and the %d days
behind it. At most %d are listed, the first of the window; a message says when there are more.

With --json start and end have the offset of the event's own zone, or are days where it is of whole days; the end
does not belong to it.`, readverb.WindowDays, readverb.MaxOccurrences),
		Example: `  loom calendar list
  loom calendar list --from 2026-12-24 --to 2026-12-26`,
		Args: cobra.NoArgs,
	}
	flags := c.Flags()
	flags.Bool("all", false, "all there is, without a window")
	flags.String("from", "", "first `day` (default: today)")
	flags.String("to", "", fmt.Sprintf("last `day`, which is in (default: %d days after the first)", readverb.WindowDays))
	flags.String("tz", "", "`zone` of days, and of times without one (default: the instance's)")
	return s.reads(c, []string{"calendar", "list"}, showOccurrences)
}

func showOccurrences(s shown) error {
	all := s.payload.([]*readverb.Occurrence)
	var rows [][]string
	for _, o := range all {
		title := o.Title
		if o.Status != "confirmed" {
			title += " (" + o.Status + ")"
		}
		rows = append(rows, []string{s.span(o), title, o.Location, o.Calendar})
	}
	if err := s.list(rows); err != nil {
		return err
	}
	if len(all) == 0 {
		s.say("there is nothing in the calendars")
	}
	return nil
}

// span shows when an occurrence is: days as they are, times in the zone of the call.
func (s shown) span(o *readverb.Occurrence) string {
	if o.AllDay {
		// The last day is the one before the end.
		if end, err := time.Parse(time.DateOnly, o.End); err == nil {
			if last := end.AddDate(0, 0, -1).Format(time.DateOnly); last > o.Start {
				return o.Start + " to " + last
			}
		}
		return o.Start
	}
	start, errStart := time.Parse(time.RFC3339, o.Start)
	end, errEnd := time.Parse(time.RFC3339, o.End)
	if errStart != nil || errEnd != nil {
		return o.Start + " to " + o.End
	}
	from, to := start.In(s.zone).Format(listTime), end.In(s.zone).Format(listTime)
	switch day := len(time.DateOnly); {
	case from == to:
		return from
	case from[:day] == to[:day]:
		return from + "-" + to[day+1:]
	}
	return from + " to " + to
}
