package messages

import (
	"cmp"

	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/sse"
	"github.com/loomrun/loom/model/wire"
)

// maxBlocks bounds the blocks of one answer. Most are text or thinking, which keeps nothing.
const maxBlocks = 4096

// answer is one answer while its events come in.
type answer struct {
	draft  wire.Draft
	blocks map[uint64]*block
	reason string // why the answer ends; empty until it does
}

// block is one part of an answer.
type block struct {
	kind    string
	call    *wire.Call // of a block of kind tool_use
	input   string     // the arguments its begin gave, as JSON text; empty for none
	stopped bool
}

// The kinds of block that are read. Others are passed over.
const (
	textBlock = "text"
	toolBlock = "tool_use"
)

// Draft implements [wire.Answer].
func (a *answer) Draft() *wire.Draft { return &a.draft }

// Take implements [wire.Answer]. Events that are not known are passed over.
func (a *answer) Take(e sse.Event) *model.Failure {
	event, failure := wire.Event(e)
	if failure != nil {
		return failure
	}
	kind, failure := wire.Text(event, "type")
	if failure != nil {
		return failure
	}
	kind = cmp.Or(kind, e.Name)
	if a.reason != "" && (kind == "message_start" || kind == "content_block_start" || kind == "content_block_delta" || kind == "content_block_stop") {
		return model.Fail(model.Malformed, nil, "the answer goes on behind its end")
	}
	if kind == "error" {
		return wire.BrokeOff(event)
	}
	a.draft.Started = true // by an event of any other kind, so that no repetition is a second answer
	switch kind {
	case "message_start":
		failure = a.begin(event)
	case "content_block_start":
		failure = a.open(event)
	case "content_block_delta":
		failure = a.add(event)
	case "content_block_stop":
		failure = a.stop(event)
	case "message_delta":
		failure = a.end(event)
	case "message_stop":
		if a.reason == "" {
			failure = model.Fail(model.Incomplete, nil, "the stream ended without a reason why the answer did")
		}
		a.draft.Done = failure == nil
	}
	return failure
}

func (a *answer) begin(event document.Value) *model.Failure {
	message, failure := wire.Map(event, "message")
	if failure != nil {
		return failure
	}
	return a.takeUsage(message)
}

// at gives the index of the block that an event is about, and the block, which is nil when it has
// not begun.
func (a *answer) at(event document.Value) (uint64, *block, *model.Failure) {
	index, ok, failure := wire.Index(event, "index", "a block")
	if failure == nil && !ok {
		failure = model.Fail(model.Malformed, nil, "an event of a block has no index")
	}
	return index, a.blocks[index], failure
}

// running gives the block that an event is about, which must have begun and not stopped.
func (a *answer) running(event document.Value) (*block, *model.Failure) {
	_, b, failure := a.at(event)
	if failure == nil && (b == nil || b.stopped) {
		return nil, model.Fail(model.Malformed, nil, "a block goes on that has not begun or has stopped")
	}
	return b, failure
}

func (a *answer) open(event document.Value) *model.Failure {
	index, earlier, failure := a.at(event)
	switch {
	case failure != nil:
		return failure
	case earlier != nil:
		return model.Fail(model.Malformed, nil, "a block begins twice")
	case len(a.blocks) == maxBlocks:
		return model.Fail(model.TooLarge, nil, "the answer has more than %d blocks", maxBlocks)
	}
	content, failure := wire.Map(event, "content_block")
	if failure != nil {
		return failure
	}
	b := &block{}
	if b.kind, failure = wire.Text(content, "type"); failure != nil {
		return failure
	}
	if a.blocks == nil {
		a.blocks = map[uint64]*block{}
	}
	a.blocks[index] = b
	switch b.kind {
	case textBlock:
		text, failure := wire.Text(content, "text")
		if failure != nil {
			return failure
		}
		return a.draft.AddText(text)
	case toolBlock:
		return a.openCall(index, b, content)
	}
	return nil
}

func (a *answer) openCall(index uint64, b *block, content document.Value) (failure *model.Failure) {
	if b.call, failure = a.draft.Call(index); failure != nil {
		return failure
	}
	b.call.Unfinished = true
	if input, ok := wire.Present(content, "input"); ok {
		b.input = canonjson.Compact(input)
	}
	if failure := b.call.SetID(content, "id"); failure != nil {
		return failure
	}
	return b.call.SetName(content, "name")
}

func (a *answer) add(event document.Value) *model.Failure {
	b, failure := a.running(event)
	if failure != nil {
		return failure
	}
	delta, failure := wire.Map(event, "delta")
	if failure != nil {
		return failure
	}
	kind, failure := wire.Text(delta, "type")
	if failure != nil {
		return failure
	}
	switch {
	case b.kind == textBlock && kind == "text_delta":
		text, failure := wire.Text(delta, "text")
		if failure != nil {
			return failure
		}
		return a.draft.AddText(text)
	case b.kind == toolBlock && kind == "input_json_delta":
		piece, failure := wire.Text(delta, "partial_json")
		if failure != nil {
			return failure
		}
		return b.call.Add(piece)
	case b.kind == toolBlock, kind == "input_json_delta" && b.kind == textBlock:
		return model.Fail(model.Malformed, nil, "a block goes on as one of another kind")
	}
	return nil
}

// stop ends a block. A call of which no pieces came has the arguments its begin gave: an empty object
// where the tool takes none. Pieces beside arguments of the begin would be two answers.
func (a *answer) stop(event document.Value) *model.Failure {
	b, failure := a.running(event)
	if failure != nil {
		return failure
	}
	b.stopped = true
	if b.kind != toolBlock {
		return nil
	}
	b.call.Unfinished = false
	switch {
	case b.call.Arguments() == "":
		return b.call.Add(b.input)
	case b.input != "" && b.input != "{}":
		return model.Fail(model.Malformed, nil, "a tool call has arguments in its begin and in pieces")
	}
	return nil
}

func (a *answer) end(event document.Value) *model.Failure {
	delta, failure := wire.Map(event, "delta")
	if failure != nil {
		return failure
	}
	reason, failure := wire.Text(delta, "stop_reason")
	switch {
	case failure != nil:
		return failure
	case reason != "" && a.reason != "" && reason != a.reason:
		return model.Fail(model.Malformed, nil, "the answer ends for two reasons")
	}
	a.reason = cmp.Or(a.reason, reason)
	return a.takeUsage(event)
}

// takeUsage keeps the numbers of an event. Those of the end are the whole answer's and replace
// earlier ones; only with them the numbers are final.
func (a *answer) takeUsage(from document.Value) *model.Failure {
	usage, failure := wire.Map(from, "usage")
	if failure != nil || usage.Kind != document.Map {
		return failure
	}
	u := &model.Usage{}
	if a.draft.Usage != nil {
		u = a.draft.Usage
	}
	output := wire.Count(usage, "output_tokens")
	u.InputTokens = cmp.Or(wire.Count(usage, "input_tokens"), u.InputTokens)
	u.OutputTokens = cmp.Or(output, u.OutputTokens)
	u.CachedInputTokens = cmp.Or(wire.Count(usage, "cache_read_input_tokens"), u.CachedInputTokens)
	u.CacheCreationInputTokens = cmp.Or(wire.Count(usage, "cache_creation_input_tokens"), u.CacheCreationInputTokens)
	u.Final = a.reason != "" && output != nil && u.InputTokens != nil
	a.draft.Usage = u
	return nil
}

// Reply implements [wire.Answer].
func (a *answer) Reply() (model.Reply, *model.Failure) {
	switch a.reason {
	case "end_turn", "stop_sequence":
		return a.draft.Reply(model.StopEndTurn)
	case "tool_use":
		return a.draft.Reply(model.StopToolCalls)
	case "max_tokens":
		return a.draft.Reply(model.StopMaxOutputTokens)
	case "refusal":
		return model.Reply{}, model.Fail(model.Refused, nil, "the model declined to answer")
	default: // pause_turn, model_context_window_exceeded, and what is not known
		return a.draft.Reply(model.StopIncomplete)
	}
}
