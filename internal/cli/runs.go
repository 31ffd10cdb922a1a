package cli

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/run/record"
)

func newRuns(s streams) *cobra.Command {
	c := newRunsList(s)
	c.Use = "runs [command]"
	c.Short = "See what runs did: list, show, check, replay and remove their records"
	c.Long = `Every run keeps a record in the journal: what it was about to do, before it did it, and
what came of it. Without a command the runs are listed, as by runs list.

A run is named by its id, by the first 4 or more characters of it, or as last.`
	c.Example = `  loom runs
  loom runs show last
  loom runs audit last`
	c.AddCommand(newRunsList(s), newRunsShow(s), newRunsAudit(s), newRunsReplay(s), newRunsRemove(s))
	return c
}

func newRunsList(s streams) *cobra.Command {
	var place string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [--json]",
		Short: "List the runs, the latest first",
		Long: `Print one line per run, the latest first: its id, when it began, its protocol, how it
stands, and its intent. Two spaces separate the columns; a hyphen stands for no protocol.

How a run stands is its stop, or: running, with the process that works on it; failed;
interrupted, also when it was killed; unknown outcome, with the action whose effect was
begun and has not reported.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			return runsList(c.Context(), s, set, place, asJSON)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print a JSON array instead")
	journalFlag(flags, &place)
	return c
}

func runsList(ctx context.Context, s streams, set settled, place string, asJSON bool) error {
	var all []journal.Listed
	store, err := set.readJournal(ctx, place)
	switch {
	case errors.Is(err, errNoJournal): // that is an empty one
	case err != nil:
		return err
	default:
		defer store.Close()
		if all, err = store.List(ctx); err != nil {
			return err
		}
	}
	if asJSON {
		list := document.ListOf()
		for _, l := range all {
			list.Items = append(list.Items, listedDocument(l))
		}
		return s.write(canonjson.Append(nil, list))
	}
	if len(all) == 0 {
		s.say(errNoJournal.Error())
		return nil
	}
	width, terminal := columns(s.out)
	var lines []byte
	for _, l := range all {
		line := listedLine(l)
		rest := maxIntentShown
		if terminal {
			rest = max(width-utf8.RuneCountInString(line), minIntentShown)
		}
		lines = fmt.Appendf(lines, "%s%s\n", line, shortened(printable.Line(l.Summary.Intent), rest))
	}
	return s.write(lines)
}

const (
	// maxIntentShown bounds an intent in a list that is not for a terminal, in characters.
	maxIntentShown = 120
	// minIntentShown is how much of it a narrow terminal gets.
	minIntentShown = 16
	// listTime is how a list shows an instant: as the clock on the wall has it.
	listTime = "2006-01-02 15:04"
)

// listedLine gives the line of a run, up to its intent.
func listedLine(l journal.Listed) string {
	protocol := l.Summary.Protocol
	if protocol == "" {
		protocol = "-"
	}
	line := fmt.Sprintf("%s  %s  %s  %s  ", printable.Line(l.Run), wallTime(l.Summary.Began), printable.Line(protocol), printable.Line(standing(l)))
	if l.Summary.Label != "" {
		line += fmt.Sprintf("[%s]  ", printable.Line(labelWords(l.Summary.Label)))
	}
	return line
}

// labelWords says what a label names; the label as it stands where it cannot be read.
func labelWords(text string) string {
	l, err := label.ReadLabel([]byte(text))
	if err != nil {
		return text
	}
	return label.Words(l.Confidentiality())
}

// wallTime gives an instant of the journal in the local zone; as it is, where it is none.
func wallTime(instant string) string {
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return printable.Line(instant)
	}
	return at.Local().Format(listTime)
}

// standing says how a run stands.
func standing(l journal.Listed) string {
	switch {
	case l.Holder != nil:
		return fmt.Sprintf("running (%s)", l.Holder)
	case l.Summary.InDoubt != "":
		return fmt.Sprintf("unknown outcome (%s)", l.Summary.InDoubt)
	case l.Summary.Stop == "": // it was killed
		return journal.InterruptedStop
	}
	return l.Summary.Stop
}

// shortened gives at most so many characters of a line.
func shortened(line string, limit int) string {
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	return string([]rune(line)[:limit-1]) + "…"
}

// listedDocument is the JSON form of a run in a list. Instants are in UTC.
func listedDocument(l journal.Listed) document.Value {
	holder := document.Value{}
	if l.Holder != nil {
		holder = document.MapOf(text("host", l.Holder.Host), number("process", l.Holder.Process))
	}
	s := l.Summary
	return document.MapOf(
		text("run", l.Run),
		text("began", s.Began),
		text("intent", s.Intent),
		document.M("protocol", textOrNull(s.Protocol)),
		number("steps", s.Steps),
		document.M("stop", textOrNull(s.Stop)),
		document.M("detail", textOrNull(s.Detail)),
		document.M("unknown_outcome", textOrNull(s.InDoubt)),
		document.M("label", textOrNull(s.Label)),
		document.M("resumable", document.BoolOf(record.Resumable(s))),
		number("entries", l.Entries),
		document.M("holder", holder))
}
