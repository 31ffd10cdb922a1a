package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/source/formats"
	"github.com/loomrun/loom/store"
)

func newSource(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "source [command]",
		Short: "Say where your data is: add, list and remove sources",
		Long: `A source is a place your data comes from: a mailbox, a calendar file, an address book, a
folder of pages. Loom reads it and never writes to it; loom sync brings what it holds into
your instance. The source fc, the File Cabinet, is the folder of pages in the instance itself.
The documents that runs wrote are in sources of the format written, one for each label.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSourceAdd(s), newSourceList(s), newSourceRemove(s))
	return c
}

// sourceAdd are the arguments of source add, as given.
type sourceAdd struct {
	kind                   store.SourceKind
	location, name, format string
	facets                 []string
}

func newSourceAdd(s streams) *cobra.Command {
	var a sourceAdd
	var place string
	c := &cobra.Command{
		Use:   "add KIND LOCATION [--name NAME] [--facet FACET]... [--format FORMAT]",
		Short: "Add a source",
		Long: `Add a file or folder as a source. Nothing is read yet but what tells its format; loom sync
does that. Symbolic links in LOCATION are followed once, now: it is the place they lead to
that is kept.

KIND and the formats that are told by what is there:

` + kindLines() + `
The records of a source carry its facets: who may read one of them may see the records. A
source without facets is for its owner alone. Without --name the source is named after the
file or folder.

Exit status 1: nothing was added, and the message says why.`,
		Example: `  loom source add mail ~/Mail --name work-mail --facet work
  loom source add calendar ~/family.ics --facet family`,
		Args: func(c *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(2)(c, args); err != nil {
				return err
			}
			a.kind, a.location = store.SourceKind(args[0]), args[1]
			names := formats.Names(a.kind)
			switch {
			case names == nil:
				return fmt.Errorf("there is no kind %q: it is %s", args[0], alternatives(store.SourceKinds))
			case a.format != "" && !slices.Contains(names, a.format):
				return fmt.Errorf("there is no format %q of %s: it is %s", a.format, a.kind, alternatives(names))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			var kinds []string
			for _, k := range store.SourceKinds {
				kinds = append(kinds, string(k))
			}
			return kinds, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return withInstance(c.Context(), place, func(in opened) error { return addSource(c.Context(), s, in, a) })
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&a.name, "name", "", "`name` of the source: a-z, 0-9 and -")
	flags.StringArrayVar(&a.facets, "facet", nil, "a `facet` the source is in; may be given several times")
	flags.StringVar(&a.format, "format", "", "how the source is read, where loom does not tell: a `format` of the kind")
	instanceFlag(flags, &place)
	return c
}

// kindLines are the kinds of sources with their formats.
func kindLines() string {
	var lines strings.Builder
	for _, k := range store.SourceKinds {
		fmt.Fprintf(&lines, "  %-8s  %s\n", k, strings.Join(formats.Names(k), ", "))
	}
	return lines.String()
}

// alternatives gives words as a sentence has them.
func alternatives[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

func addSource(ctx context.Context, s streams, in opened, a sourceAdd) error {
	location, err := locate(a.location)
	if err != nil {
		return err
	}
	if below(in.Folder, location) {
		return fmt.Errorf("%s is in the instance itself, whose pages are the source %s", location, store.FileCabinet)
	}
	added := store.Source{
		Name: a.name, Kind: a.kind, Format: a.format, Location: location,
		Facets: slices.Compact(slices.Sorted(slices.Values(a.facets))), Added: time.Now(),
	}
	if added.Name == "" {
		added.Name = nameOf(location, a.kind)
	}
	err = in.ownView(ctx, func(v store.View) error {
		for _, f := range added.Facets {
			if err := knownFacet(s, v, f); err != nil {
				return err
			}
		}
		for _, there := range v.Sources() {
			switch {
			case there.Name == added.Name:
				return fmt.Errorf("source %s: %w; give this one another --name", added.Name, store.ErrSourceThere)
			case there.Kind == added.Kind && there.Location == location:
				return fmt.Errorf("%s is the source %s already", location, there.Name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if added.Format == "" {
		if added.Format, err = formats.Detect(a.kind, location); err != nil {
			return fmt.Errorf("%w; or say how to read it with --format", err)
		}
	}
	if added, err = in.AddSource(ctx, added); err != nil {
		return err
	}
	facets := "for its owner alone"
	if len(added.Facets) > 0 {
		facets = "in " + strings.Join(added.Facets, ", ")
	}
	return s.write(fmt.Appendf(nil, "added %s: %s in the format %s, %s, from %s\n", printable.Line(added.Name), added.Kind, added.Format,
		printable.Line(facets), printable.Line(location)))
}

// locate gives the absolute path without symbolic links of what a person names.
func locate(given string) (string, error) {
	path, err := filepath.Abs(given)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("the source cannot be found: %w", err)
	case !utf8.ValidString(path):
		return "", fmt.Errorf("the path %q is not UTF-8, so it cannot be kept", path)
	}
	return path, nil
}

// below tells whether a path is a folder or in it.
func below(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// nameOf makes a name of a source from its location: of the last part of the path without its extension what a name can have.
func nameOf(location string, kind store.SourceKind) string {
	const longest = 64
	base := strings.ToLower(filepath.Base(location))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	words := strings.FieldsFunc(base, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	name := strings.Join(words, "-")
	if name == "" {
		return string(kind)
	}
	return strings.TrimSuffix(name[:min(len(name), longest)], "-")
}

// knownFacet says which facets there are where one is not among them.
func knownFacet(s streams, v store.View, facet string) error {
	known := v.Owner().Facets
	if slices.Contains(known, facet) {
		return nil
	}
	are := "there are none yet"
	if len(known) > 0 {
		are = "there are " + strings.Join(known, ", ")
	}
	return &statusError{
		status: ExitFailed, err: fmt.Errorf("%w as %q: %s", store.ErrNoFacet, facet, are),
		hint: fmt.Sprintf("%s facet new %s makes it", s.program, facet),
	}
}

// sourceNamed gives the state of a source.
func sourceNamed(s streams, v store.View, name string) (store.SourceState, error) {
	for _, there := range v.Sources() {
		if there.Name == name {
			return there, nil
		}
	}
	return store.SourceState{}, fmt.Errorf("%w as %q; see %s source list", store.ErrNoSource, name, s.program)
}

func newSourceList(s streams) *cobra.Command {
	var place string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [--json]",
		Short: "List the sources",
		Long: `Print one line per source by name: its kind and format, its facets, how many records there
are of it, the time of the newest, and when it was last synced. Two spaces or more separate the
columns; a hyphen stands for none. Times are in the owner's zone.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withInstance(c.Context(), place, func(in opened) error {
				return in.ownView(c.Context(), func(v store.View) error { return s.listSources(v, asJSON) })
			})
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print a JSON array instead")
	instanceFlag(flags, &place)
	return c
}

func (s streams) listSources(v store.View, asJSON bool) error {
	if asJSON {
		list := document.ListOf()
		for _, there := range v.Sources() {
			list.Items = append(list.Items, document.MapOf(sourceMembers(there)...))
		}
		return s.write(canonjson.Append(nil, list))
	}
	zone, err := instance.Zone(v.Owner().Zone)
	if err != nil {
		return err
	}
	rows := [][]string{{"NAME", "KIND", "FORMAT", "FACETS", "RECORDS", "NEWEST", "SYNCED"}}
	for _, there := range v.Sources() {
		rows = append(rows, []string{
			there.Name, string(there.Kind), there.Format, listOrDash(there.Facets), fmt.Sprint(there.Records),
			shownTime(there.Newest, zone), shownTime(there.Synced, zone),
		})
	}
	return s.write(table(rows))
}

// shownTime gives an instant as the clock on the owner's wall has it, a hyphen for none.
func shownTime(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(zone).Format(listTime)
}

// table lines columns up, with two spaces between them. No cell has a line feed or a tab: printable text is made of each.
func table(rows [][]string) []byte {
	const gap = 2
	var lines bytes.Buffer
	w := tabwriter.NewWriter(&lines, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = strings.ReplaceAll(printable.Line(cell), "\t", " ")
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a buffer takes everything
	return lines.Bytes()
}

// sourceMembers is the JSON form of a source. Instants are in UTC.
func sourceMembers(s store.SourceState) []document.Member {
	return []document.Member{
		text("name", s.Name),
		text("kind", string(s.Kind)),
		text("format", s.Format),
		document.M("location", textOrNull(s.Location)),
		document.M("facets", document.TextsOf(s.Facets)),
		document.M("added", instantOrNull(s.Added)),
		document.M("records", document.IntOf(s.Records)),
		document.M("text_bytes", document.IntOf(s.Bytes)),
		document.M("newest", instantOrNull(s.Newest)),
		document.M("skipped", document.IntOf(s.Skipped)),
		document.M("synced", instantOrNull(s.Synced)),
		document.M("complete", document.BoolOf(s.Complete)),
		document.M("problem", textOrNull(s.Problem)),
	}
}

func instantOrNull(t time.Time) document.Value {
	if t.IsZero() {
		return document.Value{}
	}
	return document.TextOf(t.UTC().Format(time.RFC3339))
}

func newSourceRemove(s streams) *cobra.Command {
	var place string
	var yes bool
	c := &cobra.Command{
		Use:   "remove NAME [--yes]",
		Short: "Remove a source with all its records",
		Long: `Say how many records there are of a source, ask, and remove it with all of them, also from
the index and from what was left of them in the files of the instance. What the source was
read from stays as it is.

Without a terminal to ask on, --yes must say that it is meant.

Exit status 1: nothing was removed, or it was and could not be overwritten; the message says
which.`,
		Example: `  loom source remove work-mail
  loom source remove --yes work-mail`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sourceNames,
		RunE: func(c *cobra.Command, args []string) error {
			return withInstance(c.Context(), place, func(in opened) error { return removeSource(c.Context(), s, in, args[0], yes) })
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&yes, "yes", "y", false, "do not ask")
	instanceFlag(flags, &place)
	return c
}

func removeSource(ctx context.Context, s streams, in opened, name string, yes bool) error {
	var there store.SourceState
	err := in.ownView(ctx, func(v store.View) (err error) {
		there, err = sourceNamed(s, v, name)
		return err
	})
	switch {
	case err != nil:
		return err
	case name == store.FileCabinet:
		return errors.New("the File Cabinet is a part of the instance and cannot be removed")
	case !yes:
		question := fmt.Sprintf("remove %s with its %s for good?", printable.Line(name), counted(there.Records, "record"))
		if there.IsWritten() {
			question += " runs wrote them, and they are nowhere else"
		} else {
			question += " " + printable.Line(there.Location) + " stays as it is"
		}
		if err := confirm(s, question, "remove", "nothing was removed"); err != nil {
			return err
		}
	}
	records, err := in.RemoveSource(ctx, name)
	if err != nil {
		return notRemoved(ctx, s, in, name, err)
	}
	return s.write(fmt.Appendf(nil, "removed %s with %s\n", printable.Line(name), counted(records, "record")))
}

// notRemoved says what became of a source whose removal failed: the records go first, then what the files have left of them.
func notRemoved(ctx context.Context, s streams, in opened, name string, why error) error {
	still := in.ownView(ctx, func(v store.View) error {
		_, err := sourceNamed(s, v, name)
		return err
	})
	if errors.Is(still, store.ErrNoSource) {
		return fmt.Errorf("%s was removed, but the files of the instance may still hold what it had, until the next source is removed: %w", name, why)
	}
	return why
}

// counted gives a number of things.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
