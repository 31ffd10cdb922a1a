package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/instance"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/source"
	"github.com/loomrun/loom/source/formats"
	"github.com/loomrun/loom/store"
)

func newSync(s streams) *cobra.Command {
	var place string
	var asJSON bool
	c := &cobra.Command{
		Use:   "sync [NAME]... [--json]",
		Short: "Bring what your sources hold into your instance",
		Long: `Read what was added to the sources since the last sync, what was changed and what is gone,
and bring their records up to date. Without a name all sources are synced, the File Cabinet
(fc) among them. What runs wrote is in the instance alone and has nothing to be synced with.

Each source ends with a line of what became of its records: new, changed, gone, unchanged;
with copies, items that are the same record as another one; and skipped, items that could
not be taken, each of which is named with its place and the reason. What is wrong with one
source never keeps others from being synced.

An interrupt ends a sync between two steps, and the next one goes on from there. Nothing is
lost where the program is killed.

Exit status 3: incomplete, something was skipped or could not be read. 1: a source could
not be synced at all. 130: interrupted.`,
		Example: `  loom sync
  loom sync work-mail --json`,
		ValidArgsFunction: sourceNames,
		RunE: func(c *cobra.Command, args []string) error {
			// What is being written is ended before the program is. A second signal ends the program at once.
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop)
			err := withInstance(ctx, place, func(in opened) error { return syncInstance(ctx, s, in, args, asJSON) })
			if err != nil && ctx.Err() != nil {
				return &statusError{status: ExitInterrupted, err: fmt.Errorf("interrupted; the next %s sync goes on from here", s.program)}
			}
			return err
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line for each source")
	instanceFlag(flags, &place)
	return c
}

func syncInstance(ctx context.Context, s streams, in opened, names []string, asJSON bool) error {
	r := syncs{streams: s, to: in.Store, asJSON: asJSON}
	err := in.ownView(ctx, func(v store.View) error {
		for _, there := range v.Sources() {
			if len(names) == 0 && !there.IsWritten() || slices.Contains(names, there.Name) {
				r.sources = append(r.sources, there.Source)
			}
		}
		for _, name := range names {
			there, err := sourceNamed(s, v, name)
			if err == nil {
				err = there.RefuseWritten()
			}
			if err != nil {
				return err
			}
		}
		zone, err := instance.Zone(v.Owner().Zone)
		r.reader = func(from store.Source) (source.Reader, error) {
			return formats.Reader(from, formats.Setting{Pages: in.Pages(), Zone: zone})
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.run(ctx)
}

// syncs are the syncs of several sources, one after the other.
type syncs struct {
	streams
	to      store.Store
	sources []store.Source
	reader  func(store.Source) (source.Reader, error)
	asJSON  bool
}

// run syncs all sources. What is wrong with one does not keep it from the others; only an interrupt does.
func (r syncs) run(ctx context.Context) error {
	var failures []error
	var skipped int64
	unread := 0
	for _, from := range r.sources {
		report, err := r.sync(ctx, from)
		if ctx.Err() != nil && err != nil {
			return err // an interrupt, which is told where it was waited for
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s could not be synced: %w", from.Name, err))
		}
		skipped += report.Counts.Skipped
		if report.Problem != "" {
			unread++
		}
		if err := r.tell(from, report, err); err != nil {
			return err
		}
	}
	if len(failures) > 0 {
		for _, err := range failures[:len(failures)-1] {
			r.say(err.Error())
		}
		return failures[len(failures)-1]
	}
	return incomplete(skipped, unread)
}

// incomplete says what keeps a sync from being complete.
func incomplete(skipped int64, unread int) error {
	var why string
	switch {
	case skipped == 0 && unread == 0:
		return nil
	case unread == 0:
		why = counted(skipped, "item") + " could not be taken"
	case skipped == 0:
		why = counted(int64(unread), "source") + " could not be read as a whole"
	default:
		why = fmt.Sprintf("%s could not be taken, and %s could not be read as a whole", counted(skipped, "item"), counted(int64(unread), "source"))
	}
	return &statusError{status: ExitStopped, err: errors.New("incomplete: " + why)}
}

func (r syncs) sync(ctx context.Context, from store.Source) (source.Report, error) {
	reader, err := r.reader(from)
	if err != nil {
		return source.Report{Source: from.Name}, err
	}
	p := progress{to: r.err, name: from.Name}
	defer p.clear()
	return source.Sync(ctx, r.to, from.Name, reader, source.Options{Now: time.Now, Progress: p.tell})
}

// tell prints what a sync did. Failed is why it did not come to its end; messages tell it to people.
func (r syncs) tell(from store.Source, report source.Report, failed error) error {
	if r.asJSON {
		return r.write(append(canonjson.AppendCompact(nil, reportDocument(from, report, failed)), '\n'))
	}
	if failed != nil {
		return nil
	}
	c := report.Counts
	lines := fmt.Appendf(nil, "%s: %d new, %d changed, %d gone, %d unchanged, ", printable.Line(from.Name), c.New, c.Changed, c.Gone, c.Unchanged)
	switch {
	case c.Copies == 1:
		lines = append(lines, "1 copy, "...)
	case c.Copies > 1:
		lines = fmt.Appendf(lines, "%d copies, ", c.Copies)
	}
	lines = fmt.Appendf(lines, "%d skipped (%.1f s)\n", c.Skipped, report.Took.Seconds())
	if report.Problem != "" {
		lines = fmt.Appendf(lines, "  problem: %s\n", printable.Line(report.Problem))
	}
	lines = appendSkips(lines, from, report.Skips)
	if more := c.Skipped - int64(len(report.Skips)); more > 0 {
		lines = fmt.Appendf(lines, "  … and %d more: %s status %s\n", more, r.program, printable.Line(from.Name))
	}
	return r.write(lines)
}

// appendSkips adds one line for each item that could not be taken.
func appendSkips(lines []byte, from store.Source, skips []store.Skip) []byte {
	for _, skip := range skips {
		at := ""
		if skip.Position >= 0 {
			at = fmt.Sprintf(" at byte %d", skip.Position)
		}
		lines = fmt.Appendf(lines, "  skipped %s%s: %s\n", printable.Line(containerName(from, skip.Container)), at, printable.Line(skip.Reason))
	}
	return lines
}

// containerName is what a person calls a container: a source that is one file is that file.
func containerName(from store.Source, container string) string {
	if container == "." && from.Location != "" {
		return filepath.Base(from.Location)
	}
	return container
}

// reportDocument is the JSON form of what a sync did.
func reportDocument(from store.Source, report source.Report, failed error) document.Value {
	c := report.Counts
	failure := document.Value{}
	if failed != nil {
		failure = document.TextOf(failed.Error())
	}
	return document.MapOf(
		text("source", from.Name),
		document.M("new", document.IntOf(c.New)),
		document.M("changed", document.IntOf(c.Changed)),
		document.M("gone", document.IntOf(c.Gone)),
		document.M("unchanged", document.IntOf(c.Unchanged)),
		document.M("copies", document.IntOf(c.Copies)),
		document.M("skipped", document.IntOf(c.Skipped)),
		document.M("skips", skipsDocument(report.Skips)),
		document.M("complete", document.BoolOf(failed == nil && report.Complete())),
		document.M("problem", textOrNull(report.Problem)),
		document.M("error", failure),
		document.M("milliseconds", document.IntOf(report.Took.Milliseconds())))
}

// skipsDocument lists items that could not be taken; the position is null where the container itself could not.
func skipsDocument(skips []store.Skip) document.Value {
	list := document.ListOf()
	for _, skip := range skips {
		position := document.Value{}
		if skip.Position >= 0 {
			position = document.IntOf(skip.Position)
		}
		list.Items = append(list.Items, document.MapOf(
			text("container", skip.Container), document.M("position", position), text("reason", skip.Reason)))
	}
	return list
}
