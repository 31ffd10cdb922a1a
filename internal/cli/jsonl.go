package cli

import (
	"slices"
	"strings"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/run/record"
)

// recordSchema is the version of the jsonl records. A reader must skip kinds it does not know (1.5).
const recordSchema = 1

// jsonl prints the events of a run as one JSON object a line, keys in alphabetical order, for
// programs (1.5). A member without a value is left out: never null, never 0 for unknown.
type jsonl struct {
	streams
	ended *bool // the Terminal record was written
}

func (j jsonl) read(e event.Event) error {
	switch e := e.(type) {
	case event.Routed:
		members := []document.Member{document.M("accepted", document.BoolOf(e.Accepted))}
		if e.Protocol != "" {
			members = append(members, text("protocol", e.Protocol))
		}
		return j.record("Route", members...)
	case event.CeilingSet:
		return j.record("Ceiling", text("ceiling", e.Ceiling), document.M("from", document.TextsOf(e.From)))
	case event.ContextObserved:
		return j.record("Observation", number("step", e.Step), text("action", e.Action), text("output_id", e.OutputID),
			text("label", e.Label), text("context_label", e.Context), document.M("truncated", document.BoolOf(e.Truncated)))
	case event.TurnCompleted:
		return j.record("Turn", number("turn", e.Turn), text("phase", string(e.Phase)), text("model", e.Model), text("turn_stop", e.Stop))
	case event.ToolCalled:
		return j.record("ToolCall", number("turn", e.Turn), text("call_id", e.CallID), text("name", e.Name), text("arguments", e.Arguments))
	case event.TokensUsed:
		return j.record("Usage", append([]document.Member{
			number("turn", e.Turn), text("model", e.Model), document.M("final_usage", document.BoolOf(e.Final)),
		}, counts(e)...)...)
	case event.Stopped:
		if e.Reason == event.ApprovalRequired {
			if err := j.record("Approval", document.M("actions", document.TextsOf(e.Actions))); err != nil {
				return err
			}
		}
		return j.terminal(stopStatus(e.Reason), append(ending(e.Protocol, e.Steps, e.CaseOpen), text("stop_reason", string(e.Reason)))...)
	case event.Resumed:
		members := []document.Member{number("sitting", e.Sitting), number("steps", e.Steps)}
		if e.Outcome != "" {
			members = append(members, text("outcome", string(e.Outcome)))
		}
		return j.record("Resumed", members...)
	case event.Granted:
		return j.record("Granted", append(said(e.Action, e.Arguments, e.Capability, e.Case, e.Revision, e.SHA256, e.By), text("expires", e.Expires))...)
	case event.Denied:
		return j.record("Denied", said(e.Action, e.Arguments, e.Capability, e.Case, e.Revision, e.SHA256, e.By)...)
	case event.Failed:
		status := ExitFailed
		if e.Interrupted {
			status = ExitInterrupted
		}
		return j.terminal(status, append(ending(e.Protocol, e.Steps, e.CaseOpen), text("error", e.Error))...)
	}
	return nil // the rest is for people
}

// said is what a person approved or denied.
func said(action, arguments, capability, id string, revision uint64, definition, by string) []document.Member {
	return []document.Member{
		text("action", action), text("arguments", arguments), text("capability", capability), text("case", id),
		document.M("revision", document.UintOf(revision)), text("definition_sha256", definition), text("by", by),
	}
}

// fail ends the stream of a run that failed before it began, or could not tell that it failed.
func (j jsonl) fail(status int, err error) error {
	if *j.ended {
		return nil
	}
	return j.terminal(status, text("error", err.Error()))
}

// unknownOutcome tells of an effect that a run waits to hear about.
func (j jsonl) unknownOutcome(doubt *record.InDoubtError) error {
	return j.record("UnknownOutcome", number("step", doubt.Step), text("action", doubt.Action), text("arguments", doubt.Arguments))
}

func (j jsonl) terminal(status int, members ...document.Member) error {
	*j.ended = true
	return j.record("Terminal", append(members, number("exit_status", status))...)
}

func ending(protocol string, steps int, caseOpen bool) []document.Member {
	var members []document.Member
	if protocol != "" {
		members = append(members, text("protocol", protocol))
	}
	if caseOpen {
		members = append(members, number("steps", steps))
	}
	return members
}

func counts(e event.TokensUsed) []document.Member {
	var members []document.Member
	for _, c := range []struct {
		name  string
		count *uint64
	}{
		{"input_tokens", e.InputTokens},
		{"output_tokens", e.OutputTokens},
		{"cached_input_tokens", e.CachedInputTokens},
		{"cache_creation_input_tokens", e.CacheCreationInputTokens},
		{"reasoning_output_tokens", e.ReasoningOutputTokens},
	} {
		if c.count != nil {
			members = append(members, document.M(c.name, document.UintOf(*c.count)))
		}
	}
	return members
}

func (j jsonl) record(kind string, members ...document.Member) error {
	members = append(members, text("kind", kind), number("schema_version", recordSchema))
	slices.SortFunc(members, func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) })
	return j.write(append(canonjson.AppendCompact(nil, document.MapOf(members...)), '\n'))
}

func text(name, value string) document.Member { return document.M(name, document.TextOf(value)) }

func number(name string, n int) document.Member { return document.M(name, document.IntOf(int64(n))) }
