package chat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/sse"
)

// Limits of one answer. The stream has limits of its own; these bound what is kept of it.
const (
	maxCalls     = 32
	maxCallID    = 256
	maxCallName  = 256
	maxArguments = 1 << 20 // bytes of all calls together
	maxText      = 1 << 20 // bytes of text, and of a refusal
)

// answer is one answer while its events come in.
type answer struct {
	started bool // an event of the answer itself has come
	done    bool // the terminal event has come
	finish  string
	calls   []partialCall
	size    int // bytes of arguments
	text    strings.Builder
	refusal strings.Builder
	usage   *model.Usage
}

type partialCall struct {
	index     uint64
	id, name  string
	arguments []byte
}

// take adds one event. Members that are not known are passed over.
func (a *answer) take(e sse.Event) *model.Failure {
	if strings.TrimSpace(e.Data) == "[DONE]" {
		if a.finish == "" {
			return model.Fail(model.Incomplete, nil, "the stream ended without a reason why the answer did")
		}
		a.done = true
		return nil
	}
	chunk, err := strictjson.Parse([]byte(e.Data), strictjson.MaxDepth)
	if err != nil {
		return model.Fail(model.Malformed, err, "an event of the answer: %v", err)
	}
	if chunk.Kind != document.Map {
		return wrongKind("an event of the answer", chunk, document.Map)
	}
	if said := errorIn(chunk, e.Name == "error"); said.isError {
		class, known := said.class()
		if !known {
			class = model.Incomplete
		}
		return said.failure(class, "the endpoint broke off the answer")
	}
	a.started = true
	choices, failure := list(chunk, "choices")
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
		return wrongKind("a choice", choice, document.Map)
	}
	if index, ok := present(choice, "index"); ok && index.Text != "0" {
		return model.Fail(model.Malformed, nil, "the answer has more than one choice")
	}
	if delta, ok := present(choice, "delta"); ok {
		if failure := a.takeDelta(delta); failure != nil {
			return failure
		}
	}
	finish, failure := text(choice, "finish_reason")
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
		return wrongKind("delta", delta, document.Map)
	}
	content, failure := text(delta, "content")
	if failure != nil {
		return failure
	}
	refusal, failure := text(delta, "refusal")
	if failure != nil {
		return failure
	}
	calls, failure := list(delta, "tool_calls")
	if failure != nil {
		return failure
	}
	if a.finish != "" && (content != "" || refusal != "" || len(calls) > 0) {
		return model.Fail(model.Malformed, nil, "the answer goes on behind its end")
	}
	a.text.WriteString(content)
	a.refusal.WriteString(refusal)
	if a.text.Len() > maxText || a.refusal.Len() > maxText {
		return model.Fail(model.TooLarge, nil, "the answer has more than %d bytes of text", maxText)
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
		return wrongKind("a tool call", piece, document.Map)
	}
	if written, ok := present(piece, "index"); ok {
		n, err := strconv.ParseUint(written.Text, 10, 31)
		if written.Kind != document.Number || err != nil {
			return model.Fail(model.Malformed, nil, "the index of a tool call is not a small whole number")
		}
		index = n
	}
	at := slices.IndexFunc(a.calls, func(c partialCall) bool { return c.index == index })
	if at < 0 {
		if len(a.calls) == maxCalls {
			return model.Fail(model.TooLarge, nil, "the answer has more than %d tool calls", maxCalls)
		}
		at = len(a.calls)
		a.calls = append(a.calls, partialCall{index: index})
	}
	call := &a.calls[at]
	if failure := once(&call.id, piece, "id", maxCallID); failure != nil {
		return failure
	}
	function, ok := present(piece, "function")
	if !ok {
		return nil
	}
	if function.Kind != document.Map {
		return wrongKind("function", function, document.Map)
	}
	if failure := once(&call.name, function, "name", maxCallName); failure != nil {
		return failure
	}
	arguments, failure := text(function, "arguments")
	if failure != nil {
		return failure
	}
	a.size += len(arguments)
	if a.size > maxArguments {
		return model.Fail(model.TooLarge, nil, "the answer has more than %d bytes of arguments", maxArguments)
	}
	call.arguments = append(call.arguments, arguments...)
	return nil
}

// once keeps a text that is written whole, in one piece or the same in each.
func once(kept *string, piece document.Value, name string, limit int) *model.Failure {
	written, failure := text(piece, name)
	switch {
	case failure != nil:
		return failure
	case len(written) > limit:
		return model.Fail(model.TooLarge, nil, "the %s of a tool call has more than %d bytes", name, limit)
	case written == "" || written == *kept:
		return nil
	case *kept != "":
		return model.Fail(model.Malformed, nil, "a tool call has a second %s", name)
	}
	*kept = written
	return nil
}

// takeUsage keeps the numbers of an event. Later ones replace earlier ones; they are final when both
// main numbers come together in an event that does not stand before the end.
func (a *answer) takeUsage(chunk document.Value) *model.Failure {
	usage, ok := present(chunk, "usage")
	if !ok {
		return nil
	}
	if usage.Kind != document.Map {
		return wrongKind("usage", usage, document.Map)
	}
	if a.usage == nil {
		a.usage = &model.Usage{}
	}
	input, output := count(usage, "prompt_tokens"), count(usage, "completion_tokens")
	of := func(details, name string) *uint64 {
		inner, _ := usage.Get(details)
		return count(inner, name)
	}
	a.usage.InputTokens = cmp.Or(input, a.usage.InputTokens)
	a.usage.OutputTokens = cmp.Or(output, a.usage.OutputTokens)
	a.usage.CachedInputTokens = cmp.Or(of("prompt_tokens_details", "cached_tokens"), a.usage.CachedInputTokens)
	a.usage.ReasoningOutputTokens = cmp.Or(of("completion_tokens_details", "reasoning_tokens"), a.usage.ReasoningOutputTokens)
	a.usage.Final = a.finish != "" && input != nil && output != nil
	return nil
}

// reply gives the answer after its terminal event.
func (a *answer) reply() (model.Reply, *model.Failure) {
	if a.refusal.Len() > 0 {
		return model.Reply{}, model.Fail(model.Refused, nil, "the model declined: %s", a.refusal.String())
	}
	reply := model.Reply{Text: a.text.String(), Usage: a.usage}
	switch a.finish {
	case "stop":
		reply.Stop = model.StopEndTurn
	case "tool_calls":
		reply.Stop = model.StopToolCalls
	case "content_filter":
		return model.Reply{}, model.Fail(model.Refused, nil, "the provider filtered the answer")
	case "length":
		reply.Stop = model.StopMaxOutputTokens
		return reply, nil
	default:
		reply.Stop = model.StopIncomplete
		return reply, nil
	}
	slices.SortFunc(a.calls, func(x, y partialCall) int { return cmp.Compare(x.index, y.index) })
	for i := range a.calls {
		call := &a.calls[i]
		if call.name == "" {
			return model.Reply{}, model.Fail(model.Malformed, nil, "tool call %d has no name", i+1)
		}
		tree, err := strictjson.Parse(call.arguments, strictjson.MaxDepth)
		if err != nil {
			return model.Reply{}, model.Fail(model.Malformed, err, "the arguments of tool call %d: %v", i+1, err)
		}
		if tree.Kind != document.Map {
			return model.Reply{}, wrongKind("the arguments of tool call "+strconv.Itoa(i+1), tree, document.Map)
		}
		reply.Calls = append(reply.Calls, model.Call{ID: call.id, Name: call.name, Arguments: string(call.arguments)})
	}
	if reply.Stop == model.StopToolCalls && len(reply.Calls) == 0 {
		return model.Reply{}, model.Fail(model.Malformed, nil, "the answer ended for its tool calls and has none")
	}
	return reply, nil
}

// fail completes a failure with what is known of the answer. It passes nil on.
func (a *answer) fail(f *model.Failure) *model.Failure {
	if f != nil {
		f.Started, f.Usage = a.started, a.usage
		if f.Usage != nil && !a.done {
			f.Usage.Final = false
		}
	}
	return f
}

func wrongKind(what string, v document.Value, want document.Kind) *model.Failure {
	return model.Fail(model.Malformed, nil, "%s: %s instead of %s", what, v.Kind, want)
}

// present finds a member that is there and not null, which mean the same in this protocol.
func present(v document.Value, name string) (document.Value, bool) {
	member, ok := v.Get(name)
	return member, ok && member.Kind != document.Null
}

// text reads a text member, empty where it is absent.
func text(v document.Value, name string) (string, *model.Failure) {
	member, ok := present(v, name)
	if ok && member.Kind != document.Text {
		return "", wrongKind(name, member, document.Text)
	}
	return member.Text, nil
}

// list reads a list member, empty where it is absent.
func list(v document.Value, name string) ([]document.Value, *model.Failure) {
	member, ok := present(v, name)
	if ok && member.Kind != document.List {
		return nil, wrongKind(name, member, document.List)
	}
	return member.Items, nil
}

// count reads a number of tokens. What is no whole number from 0 on is not known.
func count(v document.Value, name string) *uint64 {
	member, _ := v.Get(name)
	if member.Kind != document.Number {
		return nil
	}
	n, err := strconv.ParseUint(member.Text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
