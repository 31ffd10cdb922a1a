package chat

import (
	"cmp"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/sse"
	"github.com/loomrun/loom/model/wire"
)

// answer is one answer while its events come in.
type answer struct {
	draft  wire.Draft
	finish string
}

// Draft implements [wire.Answer].
func (a *answer) Draft() *wire.Draft { return &a.draft }

// Take implements [wire.Answer]. Members that are not known are passed over.
func (a *answer) Take(e sse.Event) *model.Failure {
	if wire.IsDone(e) {
		if a.finish == "" {
			return model.Fail(model.Incomplete, nil, "the stream ended without a reason why the answer did")
		}
		a.draft.Done = true
		return nil
	}
	chunk, failure := wire.Event(e)
	if failure != nil {
		return failure
	}
	a.draft.Started = true
	choices, failure := wire.List(chunk, "choices")
	if failure != nil {
		return failure
	}
	if len(choices) > 1 {
		return model.Fail(model.Malformed, nil, "the answer has more than one choice")
	}
	for _, choice := range choices {
		if failure := a.takeChoice(choice); failure != nil {
			return failure
		}
	}
	return a.takeUsage(chunk)
}

func (a *answer) takeChoice(choice document.Value) *model.Failure {
	if choice.Kind != document.Map {
		return wire.WrongKind("a choice", choice, document.Map)
	}
	if index, ok := wire.Present(choice, "index"); ok && index.Text != "0" {
		return model.Fail(model.Malformed, nil, "the answer has more than one choice")
	}
	if delta, ok := wire.Present(choice, "delta"); ok {
		if failure := a.takeDelta(delta); failure != nil {
			return failure
		}
	}
	finish, failure := wire.Text(choice, "finish_reason")
	if failure != nil {
		return failure
	}
	if finish != "" {
		if a.finish != "" && a.finish != finish {
			return model.Fail(model.Malformed, nil, "the answer ends for two reasons")
		}
		a.finish = finish
	}
	return nil
}

func (a *answer) takeDelta(delta document.Value) *model.Failure {
	if delta.Kind != document.Map {
		return wire.WrongKind("delta", delta, document.Map)
	}
	content, failure := wire.Text(delta, "content")
	if failure != nil {
		return failure
	}
	refusal, failure := wire.Text(delta, "refusal")
	if failure != nil {
		return failure
	}
	calls, failure := wire.List(delta, "tool_calls")
	if failure != nil {
		return failure
	}
	if a.finish != "" && (content != "" || refusal != "" || len(calls) > 0) {
		return model.Fail(model.Malformed, nil, "the answer goes on behind its end")
	}
	if failure := a.draft.AddText(content); failure != nil {
		return failure
	}
	if failure := a.draft.AddRefusal(refusal); failure != nil {
		return failure
	}
	for position, call := range calls {
		if failure := a.takeCall(uint64(position), call); failure != nil {
			return failure
		}
	}
	return nil
}

// takeCall adds a piece of a call. Some servers leave the index out; then the piece's position in
// its list is taken, and a call that lands on another one is caught by its id or name.
func (a *answer) takeCall(index uint64, piece document.Value) *model.Failure {
	if piece.Kind != document.Map {
		return wire.WrongKind("a tool call", piece, document.Map)
	}
	written, ok, failure := wire.Index(piece, "index", "a tool call")
	if failure != nil {
		return failure
	}
	if ok {
		index = written
	}
	call, failure := a.draft.Call(index)
	if failure != nil {
		return failure
	}
	if failure := call.SetID(piece, "id"); failure != nil {
		return failure
	}
	function, ok := wire.Present(piece, "function")
	if !ok {
		return nil
	}
	if function.Kind != document.Map {
		return wire.WrongKind("function", function, document.Map)
	}
	if failure := call.SetName(function, "name"); failure != nil {
		return failure
	}
	arguments, failure := wire.Text(function, "arguments")
	if failure != nil {
		return failure
	}
	return call.Add(arguments)
}

// takeUsage keeps the numbers of an event. Later ones replace earlier ones; they are final when both
// main numbers come together in an event that does not stand before the end.
func (a *answer) takeUsage(chunk document.Value) *model.Failure {
	usage, ok := wire.Present(chunk, "usage")
	if !ok {
		return nil
	}
	if usage.Kind != document.Map {
		return wire.WrongKind("usage", usage, document.Map)
	}
	if a.draft.Usage == nil {
		a.draft.Usage = &model.Usage{}
	}
	u := a.draft.Usage
	input, output := wire.Count(usage, "prompt_tokens"), wire.Count(usage, "completion_tokens")
	of := func(details, name string) *uint64 {
		inner, _ := usage.Get(details)
		return wire.Count(inner, name)
	}
	u.InputTokens = cmp.Or(input, u.InputTokens)
	u.OutputTokens = cmp.Or(output, u.OutputTokens)
	u.CachedInputTokens = cmp.Or(of("prompt_tokens_details", "cached_tokens"), u.CachedInputTokens)
	u.ReasoningOutputTokens = cmp.Or(of("completion_tokens_details", "reasoning_tokens"), u.ReasoningOutputTokens)
	u.Final = a.finish != "" && input != nil && output != nil
	return nil
}

// Reply implements [wire.Answer].
func (a *answer) Reply() (model.Reply, *model.Failure) {
	switch a.finish {
	case "stop":
		return a.draft.Reply(model.StopEndTurn)
	case "tool_calls":
		return a.draft.Reply(model.StopToolCalls)
	case "length":
		return a.draft.Reply(model.StopMaxOutputTokens)
	}
	reply, failure := a.draft.Reply(model.StopIncomplete)
	if failure == nil && a.finish == "content_filter" {
		return model.Reply{}, model.Fail(model.Refused, nil, "the provider filtered the answer")
	}
	return reply, failure
}
