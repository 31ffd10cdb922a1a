package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loomrun/loom/broker"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/readverb"
	"github.com/loomrun/loom/store"
)

// shown is an answer on its way to a person.
type shown struct {
	streams
	payload any
	zone    *time.Location // that times are shown in
}

// reads makes a command of one of the read verbs: words are what a call of it begins with, and show prints an answer
// for a person. The flags that c has are those of the call; those that all read verbs have come behind them.
func (s streams) reads(c *cobra.Command, words []string, show func(shown) error) *cobra.Command {
	var asJSON bool
	var facets, place string
	flags := c.Flags()
	flags.SortFlags = false
	var own []string
	flags.VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	flags.BoolVar(&asJSON, "json", false, "print JSON instead, with the label of each row")
	flags.StringVar(&facets, "facets", "", "read as if only what is in one of these facets existed, a `list` with commas")
	instanceFlag(flags, &place)
	c.RunE = func(c *cobra.Command, args []string) error {
		argv := append(append([]string{}, words...), args...)
		for _, name := range own {
			f := flags.Lookup(name)
			switch {
			case !f.Changed || f.Value.String() == "false" && f.Value.Type() == "bool":
			case f.Value.Type() == "bool":
				argv = append(argv, "--"+name)
			default:
				argv = append(argv, "--"+name, f.Value.String())
			}
		}
		call, err := readverb.Parse(argv)
		if err != nil {
			return err
		}
		if queue := queueOf(words[0]); queue != "" {
			return s.ask(c, queue, argv, asJSON)
		}
		err = withInstance(c.Context(), place, func(in opened) error {
			return in.scopedView(c.Context(), c.Flag("facets").Changed, facets, func(v store.View) error {
				answer, err := call.Read(c.Context(), readverb.Reader{View: v, Now: time.Now()})
				if err != nil {
					return s.refuse(answer, err)
				}
				zone := readverb.OwnersZone(v)
				if tz := c.Flag("tz"); tz != nil && tz.Changed {
					if zone, err = time.LoadLocation(tz.Value.String()); err != nil {
						return err
					}
				}
				return s.answer(answer, asJSON, func() error { return show(shown{s, answer.Payload, zone}) })
			})
		})
		return s.unreadable(err, asJSON)
	}
	return c
}

// unreadable prints a refusal for programs where there is no answer because the data could not be read. Without it exit status 1 of people would say
// that nobody is known so (retrieval 5.6).
func (s streams) unreadable(err error, asJSON bool) error {
	_, ended := errors.AsType[*statusError](err)
	_, argument := errors.AsType[*readverb.ArgumentError](err)
	if err == nil || ended || argument || !asJSON {
		return err
	}
	return errors.Join(err, s.write(broker.RefusalJSON("unreadable", "the data could not be read")))
}

// scopedView shows a command what exists within facets, or all there is where none are named.
func (in opened) scopedView(ctx context.Context, scoped bool, facets string, do func(store.View) error) (err error) {
	if !scoped {
		return in.ownView(ctx, do)
	}
	var scope store.Scope
	if err := in.ownView(ctx, func(v store.View) (err error) {
		scope, err = readverb.ScopeOf(facets, v.Owner().Facets)
		return err
	}); err != nil {
		return err
	}
	v, err := in.View(ctx, scope)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return do(v)
}

// refuse says why there is no answer.
func (s streams) refuse(answer readverb.Answer, err error) error {
	status := readverb.StatusOf(answer, err)
	if fault, ok := errors.AsType[*readverb.ArgumentError](err); ok && fault.Caret != "" {
		s.say(err.Error())
		if _, err := fmt.Fprintln(s.err, fault.Caret); err != nil {
			return err
		}
		return &statusError{status: status}
	}
	_, unknown := errors.AsType[*readverb.UnknownError](err)
	_, contested := errors.AsType[*readverb.ContestedError](err)
	_, argument := errors.AsType[*readverb.ArgumentError](err)
	switch {
	case unknown || contested:
		err = fmt.Errorf("Error: %w", err) // as retrieval 9.2 has it
	case !argument:
		return err
	}
	return &statusError{status: status, err: err}
}

// answer prints an answer and its notes, and ends the command as the answer does.
func (s streams) answer(a readverb.Answer, asJSON bool, show func() error) error {
	refusal, refused := a.Payload.(*readverb.Refusal)
	switch {
	case asJSON:
		data, err := a.JSON()
		if err != nil {
			return err
		}
		if err := s.write(data); err != nil {
			return err
		}
	case !refused:
		if err := show(); err != nil {
			return err
		}
	}
	for _, note := range a.Notes {
		s.say(note)
	}
	switch status := readverb.StatusOf(a, nil); {
	case status == ExitDone:
		return nil
	case refused && !asJSON:
		return &statusError{status: status, err: errors.New(refusal.Error)}
	default:
		return &statusError{status: status}
	}
}

const (
	// maxCell bounds a cell of a list that is not for a terminal, in characters.
	maxCell = 120
	// minCell is how much of the last cell a narrow terminal gets.
	minCell = 20
)

// list prints rows with aligned columns, the last of them as long as the terminal is wide. Details are lines that follow a row, indented.
func (s shown) list(rows [][]string, details ...string) error {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = shortened(cell, maxCell)
		}
	}
	width, terminal := columns(s.out)
	var out []byte
	for i, line := range strings.SplitAfter(string(table(rows)), "\n") {
		if line == "" {
			continue
		}
		line = strings.TrimRight(line, " \n")
		if terminal && utf8.RuneCountInString(line) > width {
			line = shortened(line, max(width, minCell))
		}
		out = append(out, line+"\n"...)
		if i < len(details) && details[i] != "" {
			detail := "    " + printable.Line(oneLine(details[i]))
			if terminal {
				detail = shortened(detail, max(width, minCell))
			}
			out = append(out, detail+"\n"...)
		}
	}
	return s.write(out)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// facts prints names with their values, without those that are empty.
func (s shown) facts(pairs ...[2]string) error {
	var rows [][]string
	for _, p := range pairs {
		if p[1] != "" {
			rows = append(rows, []string{p[0], p[1]})
		}
	}
	return s.write(table(rows))
}

// when shows an instant in the zone of the call.
func (s shown) when(t readverb.Instant) string { return shownTime(t.Time, s.zone) }

// instants documents how the arguments of time are written.
const instants = `A time is an instant such as 2026-03-29T09:00:00+02:00, the same without an offset in the zone of
the instance or --tz, a date, now, or some time before: now-30m, with s, m, h, d or w. A date that
ends something is in it.`
