package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/store"
)

// maxSkipsShown bounds the skipped items that the status of a source names.
const maxSkipsShown = 1000

func newStatus(s streams) *cobra.Command {
	var place string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [NAME] [--json]",
		Short: "Say what your instance holds, and what is missing from it",
		Long: fmt.Sprintf(`Print where the instance is, whose it is, and one line per source: how many records there are
of it, the time of the newest, how many items could not be taken, the size of its text, when it was last
synced, and whether that was complete.

With the name of a source, print the same of it alone, one thing a line, and each item that
could not be taken with its place and the reason, at most %d. Times are in the owner's zone.`, maxSkipsShown),
		Example: `  loom status
  loom status work-mail`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: oneSourceName,
		RunE: func(c *cobra.Command, args []string) error {
			return withInstance(c.Context(), place, func(in opened) error {
				return in.ownView(c.Context(), func(v store.View) error {
					if len(args) == 1 {
						return s.sourceStatus(c.Context(), v, args[0], asJSON)
					}
					return s.status(in.Instance, v, asJSON)
				})
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print a JSON object instead")
	instanceFlag(flags, &place)
	return c
}

// oneSourceName completes the argument of a command that takes one source.
func oneSourceName(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return sourceNames(c, args, toComplete)
}

func (s streams) status(in instance.Instance, v store.View, asJSON bool) error {
	size, err := in.Size()
	if err != nil {
		return err
	}
	owner := v.Owner()
	if asJSON {
		sources := document.ListOf()
		for _, there := range v.Sources() {
			sources.Items = append(sources.Items, document.MapOf(sourceMembers(there)...))
		}
		return s.write(canonjson.Append(nil, document.MapOf(
			text("instance", in.Name()),
			text("folder", in.Folder),
			text("owner", owner.Subject),
			text("zone", owner.Zone),
			document.M("facets", document.TextsOf(owner.Facets)),
			document.M("made", instantOrNull(owner.Made)),
			document.M("database_bytes", document.IntOf(size)),
			document.M("sources", sources))))
	}
	zone, err := instance.Zone(owner.Zone)
	if err != nil {
		return err
	}
	lines := table([][]string{
		{"instance", in.Name()},
		{"folder", in.Folder},
		{"owner", owner.Subject},
		{"zone", owner.Zone},
		{"facets", listOrDash(owner.Facets)},
		{"database", sizeText(size)},
	})
	rows := [][]string{{"NAME", "RECORDS", "NEWEST", "SKIPPED", "TEXT", "SYNCED", "STATE"}}
	for _, there := range v.Sources() {
		rows = append(rows, []string{
			there.Name, fmt.Sprint(there.Records), shownTime(there.Newest, zone), fmt.Sprint(there.Skipped),
			sizeText(there.Bytes), shownTime(there.Synced, zone), sourceState(there),
		})
	}
	return s.write(append(append(lines, '\n'), table(rows)...))
}

// sourceState says whether the last sync of a source was complete, or why not.
func sourceState(s store.SourceState) string {
	var why []string
	switch {
	case s.Complete:
		return "complete"
	case s.Synced.IsZero() && s.Records == 0 && s.Skipped == 0:
		return "never synced"
	case s.Synced.IsZero():
		return "incomplete: no sync has come to its end yet"
	case s.Problem != "":
		why = append(why, s.Problem)
	}
	if s.Skipped > 0 {
		why = append(why, fmt.Sprintf("%d skipped", s.Skipped))
	}
	return "incomplete: " + strings.Join(why, "; ")
}

func (s streams) sourceStatus(ctx context.Context, v store.View, name string, asJSON bool) error {
	there, err := sourceNamed(s, v, name)
	if err != nil {
		return err
	}
	skips, err := v.Skipped(ctx, name, maxSkipsShown)
	if err != nil {
		return err
	}
	if asJSON {
		return s.write(canonjson.Append(nil, document.MapOf(append(sourceMembers(there), document.M("skips", skipsDocument(skips)))...)))
	}
	zone, err := instance.Zone(v.Owner().Zone)
	if err != nil {
		return err
	}
	return s.write(sourceLines(there, skips, zone))
}

// sourceLines is the status of one source, one thing a line.
func sourceLines(there store.SourceState, skips []store.Skip, zone *time.Location) []byte {
	location := there.Location
	switch {
	case there.Name == store.FileCabinet:
		location = "the pages of the instance"
	case there.IsWritten():
		location = "what runs wrote into the instance"
	}
	lines := table([][]string{
		{"name", there.Name},
		{"kind", string(there.Kind)},
		{"format", there.Format},
		{"location", location},
		{"facets", listOrDash(there.Facets)},
		{"records", fmt.Sprint(there.Records)},
		{"text", sizeText(there.Bytes)},
		{"newest", shownTime(there.Newest, zone)},
		{"skipped", fmt.Sprint(there.Skipped)},
		{"added", shownTime(there.Added, zone)},
		{"synced", shownTime(there.Synced, zone)},
		{"state", sourceState(there)},
	})
	lines = appendSkips(lines, there.Source, skips)
	if more := there.Skipped - int64(len(skips)); more > 0 {
		lines = fmt.Appendf(lines, "  … and %d more\n", more)
	}
	return lines
}

// sizeText gives a number of bytes as people read it.
func sizeText(bytes int64) string {
	const step = 1024
	size, unit := float64(bytes), ""
	for _, unit = range []string{"bytes", "KiB", "MiB", "GiB", "TiB"} {
		if size < step {
			break
		}
		if unit != "TiB" {
			size /= step
		}
	}
	if unit == "bytes" {
		return counted(bytes, "byte")
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}
