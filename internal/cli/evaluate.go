package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/boundedfile"
	"github.com/loomrun/loom/internal/document"
)

// maxEvaluateInput bounds an evaluation request (1.7).
const maxEvaluateInput = 16 * boundedfile.MiB

func newEvaluate(s streams) *cobra.Command {
	var input string
	c := &cobra.Command{
		Use:   "evaluate [--input PATH]",
		Short: "Make one governor decision from a JSON request",
		Long: `Read one JSON request and print one decision as a line of JSON.

A request has the members protocol (a registration such as software-change@1),
snapshot (canon-case/1), evidence (a list of canon-evidence/1) and, if records
may expire, at (an instant such as 2026-03-01T08:00:00Z).

Exit status 0: a decision was made. 3: the request was refused; the refusal is
on standard output. 1: the input could not be read.`,
		Example: `  loom evaluate < request.json
  loom evaluate --input request.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return evaluate(s, input) },
	}
	c.Flags().StringVar(&input, "input", "", "`file` to read instead of standard input; at most 16 MiB")
	return c
}

func evaluate(s streams, input string) error {
	var data []byte
	var err error
	if input == "" {
		data, err = boundedfile.ReadFrom(s.in, "standard input", maxEvaluateInput)
	} else {
		data, err = boundedfile.Read(input, maxEvaluateInput)
	}
	if err != nil {
		return err
	}
	if document.FirstInvalid(data) < len(data) {
		return errors.New("the request is not UTF-8")
	}
	all, err := definitions()
	if err != nil {
		return err
	}
	answer, refused := governor.Answer(data, func(name string) (*governor.Rules, bool) {
		entry, ok := all.Get(name)
		if !ok {
			return nil, false
		}
		return governor.Prepare(entry.Protocol()), true
	})
	if refused == nil {
		return s.write(answer)
	}
	if err := s.write(refused.Line()); err != nil {
		return err
	}
	return &statusError{status: ExitStopped, err: fmt.Errorf("evaluation refused: %s: %s", refusedPart(refused), refused.Message)}
}

// refusedPart names what a refusal is about, as the message does (1.7). Records count from 0, as in
// the refusal's evidence_index.
func refusedPart(r *governor.Refusal) string {
	switch r.Part {
	case governor.ProtocolPart:
		return "protocol"
	case governor.SnapshotPart:
		return "snapshot"
	case governor.EvidencePart:
		return fmt.Sprintf("evidence record %d", r.Index)
	case governor.TimePart:
		return "time"
	default:
		return "request"
	}
}
