package cli

import (
	"fmt"
	"strings"

	"github.com/loomrun/loom/effect/retrieve"
	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
	"github.com/loomrun/loom/internal/printable"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/run/record"
)

// human prints the events of a run as lines for people (1.4). Every value that the program did not
// make itself passes the printable filter, so no text from outside can begin a line.
type human struct{ streams }

func (h human) read(e event.Event) error {
	line := printable.Line
	switch e := e.(type) {
	case event.ReferenceFound:
		return h.print("reference: %s %s", e.Kind, line(e.Value))
	case event.Picked:
		return h.picked(e)
	case event.PickRefused:
		return h.print("refused: %s", line(e.Why))
	case event.CeilingSet:
		return h.ceiling(e)
	case event.FrontierComputed:
		shown := make([]string, len(e.Actions))
		for i, a := range e.Actions {
			shown[i] = fmt.Sprintf("%s (%s)", line(a.Action), statusWords(a.Status))
		}
		return h.print("frontier: %s", strings.Join(shown, ", "))
	case event.Proposed:
		return h.print("step %d: %s %s", e.Step, line(e.Action), line(e.Arguments))
	case event.NotProposed:
		action := e.Action
		if action == "" {
			action = "no action"
		}
		return h.print("step %d: %s (not proposed)", e.Step, line(action))
	case event.EffectReported:
		lines := printable.Lines(e.Report)
		return h.print("  effect: %s", strings.Join(lines, "\n    | "))
	case event.StepRefused:
		lines := printable.Lines(e.Reason)
		return h.print("  effect: refused: %s", strings.Join(lines, "\n    | "))
	case event.EvidenceSubmitted:
		return h.print("  evidence: %s", strings.TrimSpace(line(e.Kind)+" "+line(e.Result)))
	case event.NoEvidence:
		if e.Why == "" {
			return h.print("  evidence: none")
		}
		return h.print("  evidence: none (%s)", line(e.Why))
	case event.Resumed:
		return h.print("resumed: %s", sittingBegin(e))
	case event.Granted:
		return h.print("approved: %s %s", line(e.Action), line(e.Arguments))
	case event.Denied:
		return h.print("denied: %s %s", line(e.Action), line(e.Arguments))
	case event.Stopped:
		if e.Detail == "" {
			return h.print("stopped: %s", e.Reason)
		}
		return h.print("stopped: %s (%s)", e.Reason, line(e.Detail))
	}
	return nil // the rest is for programs
}

// sittingBegin says where a run goes on.
func sittingBegin(e event.Resumed) string {
	switch {
	case e.Steps == 0:
		return "before the first step"
	case e.Outcome == event.Performed:
		return fmt.Sprintf("after step %d, which was performed", e.Steps)
	case e.Outcome == event.NotPerformed:
		return fmt.Sprintf("after step %d, which was not performed", e.Steps)
	}
	return fmt.Sprintf("after step %d", e.Steps)
}

// unknownOutcome tells of an effect that a run waits to hear about.
func (h human) unknownOutcome(doubt *record.InDoubtError) error {
	return h.print("unknown outcome: step %d: %s %s", doubt.Step, printable.Line(doubt.Action), printable.Line(doubt.Arguments))
}

func (h human) picked(e event.Picked) error {
	if e.By == event.ByFlag {
		return h.print("picked %s (chosen by --protocol)", printable.Line(e.Protocol))
	}
	if err := h.print("picked %s (confidence %s)", printable.Line(e.Protocol), e.Confidence); err != nil {
		return err
	}
	for _, reason := range e.Reasons {
		if err := h.print("  reason: %s", printable.Line(reason)); err != nil {
			return err
		}
	}
	return nil
}

// ceiling says what a run may be shown.
func (h human) ceiling(e event.CeilingSet) error {
	ceiling, err := retrieve.ReadBound(e.Ceiling)
	if err != nil {
		return err
	}
	if !ceiling.Bounded() {
		return h.print("ceiling: none: the run may be shown all that it can read")
	}
	from := ""
	if len(e.From) > 0 {
		from = " (" + printable.Line(strings.Join(e.From, ", ")) + ")"
	}
	return h.print("ceiling: %s%s", printable.Line(label.Words(ceiling.Clauses())), from)
}

func statusWords(status string) string {
	if status == string(governor.ApprovalRequired) {
		return "approval required"
	}
	return printable.Line(status)
}

func (h human) print(format string, args ...any) error {
	return h.write(fmt.Appendf(nil, format+"\n", args...))
}
