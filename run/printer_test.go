package run_test

import (
	"fmt"
	"strings"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/governor"
)

// line writes an event on one line; empty for those that are for the record alone. Of a frontier it marks each action: + admissible, ? needs
// approval, - blocked.
func line(e event.Event) string {
	switch e := e.(type) {
	case event.ReferenceFound:
		return fmt.Sprintf("reference %s %s", e.Kind, e.Value)
	case event.TurnCompleted:
		return fmt.Sprintf("turn %d %s of %s: %s", e.Turn, e.Phase, e.Model, e.Stop)
	case event.ToolCalled:
		return fmt.Sprintf("call %s: %s %s", e.CallID, plain(e.Name), plain(e.Arguments))
	case event.TokensUsed:
		return "usage of " + e.Model + counts(e)
	case event.Routed:
		return fmt.Sprintf("routed %s: %s", plain(e.Protocol), map[bool]string{true: "accepted", false: "not accepted"}[e.Accepted])
	case event.Picked:
		by := map[event.PickedBy]string{event.ByModel: "model", event.ByMatcher: "matcher", event.ByFlag: "flag"}[e.By]
		return strings.TrimSpace(fmt.Sprintf("picked %s by %s %s", e.Protocol, by, e.Confidence) + " " + plain(strings.Join(e.Reasons, "; ")))
	case event.PickRefused:
		return "pick refused: " + plain(e.Why)
	case event.FrontierComputed:
		shown := make([]string, len(e.Actions))
		for i, a := range e.Actions {
			mark := map[string]string{string(governor.Admissible): "+", string(governor.ApprovalRequired): "?", string(governor.Blocked): "-"}[a.Status]
			shown[i] = mark + a.Action
		}
		return fmt.Sprintf("frontier %d: %s", e.Revision, strings.Join(shown, " "))
	case event.Proposed:
		return fmt.Sprintf("step %d: %s %s", e.Step, plain(e.Action), plain(e.Arguments))
	case event.NotProposed:
		return fmt.Sprintf("step %d: %s (not proposed)", e.Step, plain(e.Action))
	case event.EffectReported:
		return "effect: " + plain(e.Report)
	case event.StepRefused:
		return "refused: " + plain(e.Reason)
	case event.EvidenceSubmitted:
		return fmt.Sprintf("evidence: %s (%s)", strings.TrimSpace(e.Kind+" "+e.Result), e.Record)
	case event.NoEvidence:
		return "evidence: none: " + plain(e.Why)
	case event.Stopped:
		text := fmt.Sprintf("stopped after %d: %s", e.Steps, e.Reason)
		if e.Detail != "" {
			text += " (" + plain(e.Detail) + ")"
		}
		if e.Actions != nil {
			text += " for " + strings.Join(e.Actions, ", ")
		}
		return text
	case event.Failed:
		return fmt.Sprintf("failed after %d: %s", e.Steps, plain(e.Error))
	case event.CaseOpened, event.Decided, event.Observed, event.Admitted, event.RevisionsMoved, event.EvidenceReceived:
		return "" // for the record
	}
	return fmt.Sprintf("unknown event %T", e)
}

// plain keeps a text on its line.
func plain(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }

func counts(e event.TokensUsed) string {
	var text strings.Builder
	for _, c := range []struct {
		name string
		n    *uint64
	}{
		{"in", e.InputTokens},
		{"out", e.OutputTokens},
		{"cached", e.CachedInputTokens},
		{"cache made", e.CacheCreationInputTokens},
		{"reasoning", e.ReasoningOutputTokens},
	} {
		if c.n != nil {
			fmt.Fprintf(&text, ", %s %d", c.name, *c.n)
		}
	}
	if e.Final {
		text.WriteString(", final")
	}
	return text.String()
}

// lines takes the indentation of a transcript in a test away.
func lines(text string) []string {
	var trimmed []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			trimmed = append(trimmed, line)
		}
	}
	return trimmed
}
