package responses

import (
	"cmp"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/sse"
	"github.com/loomrun/loom/model/wire"
)

// answer is one answer while its events come in.
type answer struct {
	draft    wire.Draft
	stop     model.Stop
	filtered bool // the provider cut the answer for its content
}

// Draft implements [wire.Answer].
func (a *answer) Draft() *wire.Draft { return &a.draft }

// Reply implements [wire.Answer].
func (a *answer) Reply() (model.Reply, *model.Failure) {
	reply, failure := a.draft.Reply(a.stop)
	if failure == nil && a.filtered {
		return model.Reply{}, model.Fail(model.Refused, nil, "the provider filtered the answer")
	}
	return reply, failure
}

// Take implements [wire.Answer]. Events that are not known are passed over.
func (a *answer) Take(e sse.Event) *model.Failure {
	if wire.IsDone(e) {
		return model.Fail(model.Incomplete, nil, "the stream ended before its terminal event")
	}
	event, failure := wire.Event(e)
	if failure != nil {
		return failure
	}
	kind, failure := wire.Text(event, "type")
	if failure != nil {
		return failure
	}
	kind = cmp.Or(kind, e.Name)
	if kind == "error" {
		return wire.BrokeOff(event)
	}
	if kind != failedEvent {
		a.draft.Started = true // by an event of any other kind, so that no repetition is a second answer
	}
	switch kind {
	case "response.output_text.delta":
		return delta(event, a.draft.AddText)
	case "response.refusal.delta":
		return delta(event, a.draft.AddRefusal)
	case "response.output_item.added":
		return a.open(event)
	case "response.function_call_arguments.delta":
		call, failure := a.unfinished(event)
		if failure != nil {
			return failure
		}
		return delta(event, call.Add)
	case "response.function_call_arguments.done":
		call, failure := a.unfinished(event)
		if failure != nil {
			return failure
		}
		return agree(call, event)
	case "response.output_item.done":
		return a.finish(event)
	case "response.completed":
		return a.complete(event)
	case "response.incomplete":
		return a.breakOff(event)
	case failedEvent:
		return a.fail(event)
	}
	return nil
}

// failedEvent says that the answer failed. It is no part of an answer: as a stream's first event it
// means that none began.
const failedEvent = "response.failed"

// delta gives the text of an event to what keeps it.
func delta(event document.Value, keep func(string) *model.Failure) *model.Failure {
	text, failure := wire.Text(event, "delta")
	if failure != nil {
		return failure
	}
	return keep(text)
}

// at gives the call an event is about, which is new when nothing has come of it yet.
func (a *answer) at(event document.Value) (*wire.Call, *model.Failure) {
	index, ok, failure := wire.Index(event, "output_index", "a tool call")
	switch {
	case failure != nil:
		return nil, failure
	case !ok:
		return nil, model.Fail(model.Malformed, nil, "an event of a tool call has no output_index")
	}
	if call := a.draft.Find(index); call != nil {
		return call, nil
	}
	call, failure := a.draft.Call(index)
	if failure == nil {
		call.Unfinished = true
	}
	return call, failure
}

// unfinished gives the call an event is about, which must not have ended.
func (a *answer) unfinished(event document.Value) (*wire.Call, *model.Failure) {
	call, failure := a.at(event)
	if failure == nil && !call.Unfinished {
		return nil, model.Fail(model.Malformed, nil, "a tool call goes on behind its end")
	}
	return call, failure
}

// callItem gives the item of an event when it is a function call.
func callItem(event document.Value) (item document.Value, ok bool, failure *model.Failure) {
	if item, failure = wire.Map(event, "item"); failure != nil {
		return item, false, failure
	}
	kind, failure := wire.Text(item, "type")
	return item, kind == "function_call", failure
}

// open takes the begin of a call. Arguments that stand there are no arguments yet.
func (a *answer) open(event document.Value) *model.Failure {
	item, ok, failure := callItem(event)
	if failure != nil || !ok {
		return failure
	}
	call, failure := a.unfinished(event)
	if failure != nil {
		return failure
	}
	return named(call, item)
}

func named(call *wire.Call, item document.Value) *model.Failure {
	if failure := call.SetID(item, "call_id"); failure != nil {
		return failure
	}
	return call.SetName(item, "name")
}

// agree takes the whole arguments of a call, which must be what its pieces were, if any came.
func agree(call *wire.Call, from document.Value) *model.Failure {
	arguments, failure := wire.Text(from, "arguments")
	switch {
	case failure != nil:
		return failure
	case call.Arguments() == "":
		return call.Add(arguments)
	case call.Arguments() != arguments:
		return model.Fail(model.Malformed, nil, "the whole arguments of a tool call are not what their pieces were")
	}
	return nil
}

// finish takes the end of a call, from which alone it counts.
func (a *answer) finish(event document.Value) *model.Failure {
	item, ok, failure := callItem(event)
	if failure != nil || !ok {
		return failure
	}
	call, failure := a.unfinished(event)
	if failure != nil {
		return failure
	}
	if failure := named(call, item); failure != nil {
		return failure
	}
	if failure := agree(call, item); failure != nil {
		return failure
	}
	status, failure := wire.Text(item, "status")
	call.Unfinished = status != "" && status != "completed"
	return failure
}

// complete takes the end of an answer that is whole.
func (a *answer) complete(event document.Value) *model.Failure {
	response, failure := a.terminal(event)
	if failure != nil {
		return failure
	}
	status, failure := wire.Text(response, "status")
	if failure != nil {
		return failure
	}
	if status != "" && status != "completed" {
		return model.Fail(model.Malformed, nil, "the answer is said to be completed and not to be")
	}
	a.stop = model.StopEndTurn
	if a.draft.HasCalls() {
		a.stop = model.StopToolCalls
	}
	a.draft.Done = true
	return nil
}

// breakOff takes the end of an answer that the endpoint cut.
func (a *answer) breakOff(event document.Value) *model.Failure {
	response, failure := a.terminal(event)
	if failure != nil {
		return failure
	}
	details, failure := wire.Map(response, "incomplete_details")
	if failure != nil {
		return failure
	}
	reason, failure := wire.Text(details, "reason")
	if failure != nil {
		return failure
	}
	a.stop = model.StopIncomplete
	switch reason {
	case "max_output_tokens":
		a.stop = model.StopMaxOutputTokens
	case "content_filter":
		a.filtered = true
	}
	a.draft.Done = true
	return nil
}

// fail takes the end of an answer that failed.
func (a *answer) fail(event document.Value) *model.Failure {
	response, failure := a.terminal(event)
	if failure != nil {
		return failure
	}
	return wire.BrokeOff(response)
}

// terminal gives the response of a terminal event, with its usage taken.
func (a *answer) terminal(event document.Value) (document.Value, *model.Failure) {
	response, failure := wire.Map(event, "response")
	if failure != nil {
		return response, failure
	}
	usage, failure := wire.Map(response, "usage")
	if failure != nil || usage.Kind != document.Map {
		return response, failure
	}
	inner := func(details, name string) *uint64 {
		v, _ := usage.Get(details)
		return wire.Count(v, name)
	}
	a.draft.Usage = &model.Usage{
		InputTokens:           wire.Count(usage, "input_tokens"),
		OutputTokens:          wire.Count(usage, "output_tokens"),
		CachedInputTokens:     inner("input_tokens_details", "cached_tokens"),
		ReasoningOutputTokens: inner("output_tokens_details", "reasoning_tokens"),
	}
	a.draft.Usage.Final = a.draft.Usage.InputTokens != nil && a.draft.Usage.OutputTokens != nil
	return response, nil
}
