package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/store"
)

// initFlags are the flags of init, as given.
type initFlags struct {
	name, owner, zone string
	facets            []string
}

func newInit(s streams) *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init [--name NAME] [--owner SUBJECT] [--zone ZONE] [--facet FACET]...",
		Short: "Make a place for your own data",
		Long: `Make an instance: a folder that only you may look into, $XDG_DATA_HOME/loom/instances/NAME,
for the records of your mail, calendar, contacts, pages, places and activity.

The owner is who the data belongs to; every record is labelled with that name. Dates that
say no zone are in the owner's. Facets are the sides of a life that are kept apart, such
as family and work; loom facet new makes more of them.

At a terminal loom asks for what no flag says. Elsewhere it takes your user name, the
machine's zone and no facets, and says so.

Exit status 1: there is an instance of this name, and nothing was changed.`,
		Example: `  loom init
  loom init --owner ada --zone Europe/Berlin --facet family --facet work`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return initInstance(c.Context(), s, f, func(flag string) bool { return c.Flags().Changed(flag) })
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.name, "name", instance.DefaultName, "`name` of the instance: a-z, 0-9 and -")
	flags.StringVar(&f.owner, "owner", "", "whose data it is: a name or an address, the `subject` of every label (default your user name)")
	flags.StringVar(&f.zone, "zone", "", "`zone` of the tz database that dates without one are in (default the machine's)")
	flags.StringArrayVar(&f.facets, "facet", nil, "a `facet` that sources can be put into; may be given several times")
	return c
}

func initInstance(ctx context.Context, s streams, f initFlags, given func(flag string) bool) error {
	zone, zoneFrom, noZone := instance.MachineZone(os.LookupEnv)
	asks := isTerminal(s.in) && isTerminal(s.err)
	p := prompt{s, bufio.NewReader(s.in)}
	taken := map[string]string{} // where a value that no flag says comes from
	if !given("owner") {
		f.owner, taken["owner"] = userName(), "your user name"
		if asks {
			if err := p.ask("whose data is it", &f.owner, instance.CheckSubject); err != nil {
				return err
			}
			taken["owner"] = ""
		}
	}
	if !given("zone") {
		f.zone, taken["zone"] = zone, "from "+zoneFrom
		if noZone != nil {
			taken["zone"] = noZone.Error()
		}
		if asks {
			err := p.ask("zone of dates that say none", &f.zone, func(text string) error { _, err := instance.Zone(text); return err })
			if err != nil {
				return err
			}
			taken["zone"] = ""
		}
	}
	if !given("facet") && asks {
		var list string
		err := p.ask("facets, such as family work (none is fine)", &list, func(text string) error {
			f.facets = strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' })
			for _, facet := range f.facets {
				if err := store.CheckFacet(facet); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	owner := store.Owner{Subject: f.owner, Zone: f.zone, Facets: slices.Compact(slices.Sorted(slices.Values(f.facets))), Made: time.Now()}
	made, err := instance.Create(ctx, os.LookupEnv, f.name, owner)
	if errors.Is(err, fs.ErrExist) {
		return &statusError{status: ExitFailed, err: err, hint: "another one needs another --name"}
	}
	if err != nil {
		return err
	}
	return s.write(madeLines(s.program, made, owner, taken))
}

// madeLines tells of an instance that was made, and what comes next.
func madeLines(program string, made instance.Instance, owner store.Owner, taken map[string]string) []byte {
	line := printable.Line
	from := func(what string) string {
		if taken[what] == "" {
			return ""
		}
		return " (" + line(taken[what]) + ")"
	}
	lines := fmt.Appendf(nil, "made the instance %s in %s\n", line(made.Name()), line(made.Folder))
	lines = fmt.Appendf(lines, "owner: %s%s\n", line(owner.Subject), from("owner"))
	lines = fmt.Appendf(lines, "zone: %s%s\n", line(owner.Zone), from("zone"))
	lines = fmt.Appendf(lines, "facets: %s\n", listOrDash(owner.Facets))
	facet := ""
	if len(owner.Facets) > 0 {
		facet = " --facet " + owner.Facets[0]
	}
	chosen := ""
	if made.Name() != instance.DefaultName {
		chosen = " --instance " + made.Name()
	}
	return fmt.Appendf(lines, "next:\n  %[1]s source add mail ~/Mail%[2]s%[3]s\n  %[1]s sync%[3]s\n", program, facet, chosen)
}

// listOrDash gives words in a line; a hyphen for none.
func listOrDash(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return printable.Line(strings.Join(words, ", "))
}

// userName gives the name under which the person works at this machine, "me" where it has none.
func userName() string {
	u, err := user.Current()
	if err != nil || instance.CheckSubject(u.Username) != nil {
		return "me"
	}
	return u.Username
}

// prompt asks a person at a terminal.
type prompt struct {
	streams
	lines *bufio.Reader
}

const (
	// maxTold bounds a line that a person is asked for, in bytes.
	maxTold = 4 << 10
	// maxAsked bounds how often an answer that cannot be taken is asked for again.
	maxAsked = 5
)

// ask asks for a value. An empty answer takes the one that is there; one that cannot be taken is asked for again.
func (p prompt) ask(question string, value *string, check func(string) error) error {
	if *value != "" {
		question = fmt.Sprintf("%s [%s]", question, printable.Line(*value))
	}
	for range maxAsked {
		if _, err := fmt.Fprintf(p.err, "%s: ", question); err != nil {
			return err
		}
		answer, err := p.line()
		if err != nil {
			return err
		}
		if answer == "" {
			answer = *value
		}
		if err := check(answer); err != nil {
			p.say(err.Error())
			continue
		}
		*value = answer
		return nil
	}
	return errors.New("no answer could be taken")
}

// line reads one line of an answer.
func (p prompt) line() (string, error) {
	var line []byte
	for len(line) < maxTold {
		c, err := p.lines.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return "", errors.New("the answers ended; nothing was made")
		case err != nil:
			return "", fmt.Errorf("read the answer: %w", err)
		case c == '\n':
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, c)
	}
	return "", fmt.Errorf("an answer has more than %d bytes; nothing was made", maxTold)
}
