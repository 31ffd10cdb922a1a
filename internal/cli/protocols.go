package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/catalog"
	"github.com/loomrun/loom/effect"
	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/protocol"
	"github.com/loomrun/loom/run"
)

func newProtocols(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "protocols [command]",
		Short: "See, check, install and remove protocol definitions",
		Long: `A protocol is a YAML document: what a kind of work is about, what counts as evidence,
which actions are allowed when, and how the work may end. Loom carries out an intent
only under a protocol of its catalog.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newProtocolsList(s), newProtocolsShow(s), newProtocolsInit(s), newProtocolsAdd(s), newProtocolsRemove(s), newProtocolsCheck(s), newProtocolsCompile(s))
	return c
}

func newProtocolsList(s streams) *cobra.Command {
	var asJSON bool
	var file, reads string
	c := &cobra.Command{
		Use:   "list [--json]",
		Short: "List the definitions of the catalog",
		Long: `Print one line per definition, bundled ones first: its name, where it comes from, the
SHA-256 of its exact bytes, and how it is carried out here: by the clock, by reads of your
data, by bound commands where the bindings file is about it, or why not. Two spaces separate the columns.

A bindings file that is wrong is told on standard error, and the list is the one without it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := settle(c.Flags())
			if err != nil {
				return err
			}
			return protocolsList(s, set, file, reads, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array instead")
	bindingsFlag(c.Flags(), &file)
	c.Flags().StringVar(&reads, "loom-retrieval-config", "", "what runs read your data with, a JSON `file`")
	return c
}

func protocolsList(s streams, set settled, file, reads string, asJSON bool) error {
	all, err := definitions()
	if err != nil {
		return err
	}
	bound, err := set.bind(file, all)
	if err != nil {
		s.say(err.Error())
	}
	list := document.ListOf()
	var lines []byte
	for _, e := range all.Entries() {
		how := execution(e, bindings(bound, retrieve.New(retrieve.Options{ConfigPath: reads})))
		list.Items = append(list.Items, document.MapOf(
			document.M("name", document.TextOf(e.Name)),
			document.M("kind", document.TextOf(string(e.Source.Kind))),
			document.M("location", document.TextOf(e.Source.Location)),
			document.M("revision", document.TextOf(e.Source.Revision)),
			document.M("path", document.TextOf(e.Source.Path)),
			document.M("sha256", document.TextOf(e.SHA256())),
			document.M("execution", document.TextOf(how))))
		lines = fmt.Appendf(lines, "%s  %s  sha256:%s  %s\n", printable.Line(e.Name), printable.Line(e.Source.String()), e.SHA256(), printable.Line(how))
	}
	if asJSON {
		return s.write(canonjson.Append(nil, list))
	}
	return s.write(lines)
}

// execution says how a definition is carried out here (1.8), or why not, as a run of it would.
func execution(e *catalog.Entry, bindings []effect.Binding) string {
	lacks := run.NoExecutor(e.Name)
	for _, b := range bindings {
		if b.Serves(e.Protocol()) {
			if lacks = b.Lacks(e.Protocol()); lacks == "" {
				return b.Name()
			}
			break
		}
	}
	return "NoLocalExecutor: " + lacks
}

func newProtocolsShow(s streams) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print the exact YAML of a definition",
		Example:           "  loom protocols show system-query@1",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: protocolNames,
		RunE: func(_ *cobra.Command, args []string) error {
			entry, err := find(args[0])
			if err != nil {
				return err
			}
			return s.write([]byte(entry.YAML))
		},
	}
}

func find(name string) (*catalog.Entry, error) {
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	entry, ok := all.Get(name)
	if !ok {
		return nil, fmt.Errorf("the catalog holds no %s; see loom protocols list", name)
	}
	return entry, nil
}

func newProtocolsCheck(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Report everything that is wrong with protocol documents",
		Long: `Check protocol documents and print one line per problem, FILE:LINE:COLUMN: CODE: message.
A document without problems is reported with the name it registers under.

Exit status 1 when any document has a problem.`,
		Example: "  loom protocols check team-notes.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return protocolsCheck(s, args) },
	}
}

func protocolsCheck(s streams, files []string) error {
	bad := 0
	for _, file := range files {
		p, err := compileFile(file)
		var problems protocol.Problems
		switch {
		case errors.As(err, &problems):
			bad++
			if err := s.write(problemLines(file, problems)); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if err := s.write(fmt.Appendf(nil, "%s: valid%s\n", printable.Line(file), registersAs(p))); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d documents have problems", bad, len(files))
	}
	return nil
}

func registersAs(p *protocol.Protocol) string {
	if name, ok := catalog.NameFor(p.ID, p.Revision); ok {
		return ", registers as " + name.String()
	}
	return ", but its id and revision lead to no registration name"
}

// compileFile reads and compiles one document. A document's own faults are protocol.Problems.
func compileFile(file string) (*protocol.Protocol, error) {
	data, err := boundedfile.Read(file, catalog.MaxDefinitionBytes)
	if err != nil {
		return nil, err
	}
	return protocol.Compile(data)
}

func problemLines(file string, problems protocol.Problems) []byte {
	var lines []byte
	for _, p := range problems {
		lines = fmt.Appendf(lines, "%s:%s\n", printable.Line(file), printable.Line(p.Error()))
	}
	return lines
}

// maxNormalForm bounds what compile prints: a hostile document of 1 MiB can have a normal form of
// gigabytes.
const maxNormalForm = 64 * boundedfile.MiB

func newProtocolsCompile(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "compile FILE",
		Short: "Print the normal form of a protocol document",
		Long: `Print the normal form of a protocol document as canonical JSON. Documents that say the
same thing have the same normal form, byte for byte. Problems go to standard error.`,
		Example: "  loom protocols compile team-notes.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := compileFile(args[0])
			var problems protocol.Problems
			if errors.As(err, &problems) {
				if _, err := s.err.Write(problemLines(args[0], problems)); err != nil {
					return err
				}
				return fmt.Errorf("%s is not a valid protocol document", args[0])
			}
			if err != nil {
				return err
			}
			form, err := p.NormalFormWithin(int(maxNormalForm))
			if err != nil {
				return fmt.Errorf("the normal form of %s is larger than %s", args[0], maxNormalForm)
			}
			return s.write(form)
		},
	}
}
