package wire

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
)

// Limits of one answer. The stream has limits of its own; these bound what is kept of it.
const (
	MaxCalls     = 32
	MaxCallID    = 256     // bytes
	MaxCallName  = 256     // bytes
	MaxArguments = 1 << 20 // bytes of all calls together
	MaxText      = 1 << 20 // bytes of text, and of a refusal
)

// Draft is what has come in of an answer, whatever the protocol.
type Draft struct {
	Started bool         // an event of the answer itself has come
	Done    bool         // the terminal event has come
	Usage   *model.Usage // nil until the endpoint reports some
	calls   []*Call
	size    int // bytes of arguments
	text    strings.Builder
	refusal strings.Builder
}

// Call is a call while its pieces come in.
type Call struct {
	draft     *Draft
	index     uint64
	id, name  string
	arguments []byte
	// Unfinished keeps the call from counting: a protocol that says where a call ends sets it
	// until the end has come.
	Unfinished bool
}

// AddText adds to what the model writes beside its calls.
func (d *Draft) AddText(s string) *model.Failure { return within(&d.text, s) }

// AddRefusal adds to the model's words for why it declines. With any, the answer is Refused.
func (d *Draft) AddRefusal(s string) *model.Failure { return within(&d.refusal, s) }

func within(b *strings.Builder, s string) *model.Failure {
	if b.Len()+len(s) > MaxText {
		return model.Fail(model.TooLarge, nil, "the answer has more than %d bytes of text", MaxText)
	}
	b.WriteString(s)
	return nil
}

// Find gives the call at an index of the answer, or nil.
func (d *Draft) Find(index uint64) *Call {
	for _, c := range d.calls {
		if c.index == index {
			return c
		}
	}
	return nil
}

// Call gives the call at an index of the answer, which is new when nothing has come of it yet.
func (d *Draft) Call(index uint64) (*Call, *model.Failure) {
	if c := d.Find(index); c != nil {
		return c, nil
	}
	if len(d.calls) == MaxCalls {
		return nil, model.Fail(model.TooLarge, nil, "the answer has more than %d tool calls", MaxCalls)
	}
	c := &Call{draft: d, index: index}
	d.calls = append(d.calls, c)
	return c, nil
}

// SetID keeps the call's id from a member of a piece. It is written whole, in one piece or the same
// in each; an empty one says nothing.
func (c *Call) SetID(piece document.Value, member string) *model.Failure {
	return once(&c.id, piece, member, MaxCallID)
}

// SetName keeps the call's name like SetID its id.
func (c *Call) SetName(piece document.Value, member string) *model.Failure {
	return once(&c.name, piece, member, MaxCallName)
}

func once(kept *string, piece document.Value, name string, limit int) *model.Failure {
	written, failure := Text(piece, name)
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

// Add adds to the text of the call's arguments.
func (c *Call) Add(arguments string) *model.Failure {
	c.draft.size += len(arguments)
	if c.draft.size > MaxArguments {
		return model.Fail(model.TooLarge, nil, "the answer has more than %d bytes of arguments", MaxArguments)
	}
	c.arguments = append(c.arguments, arguments...)
	return nil
}

// Arguments gives the text of the arguments so far.
func (c *Call) Arguments() string { return string(c.arguments) }

// Reply makes the reply of a whole answer that ended in a given way. Calls are taken in the order of
// their indexes, and only from an answer that is not cut; a call that is not whole, or whose arguments
// are not one JSON object of at most 128 levels, is Malformed (governed-runs 11.13, case 165).
func (d *Draft) Reply(stop model.Stop) (model.Reply, *model.Failure) {
	if d.refusal.Len() > 0 {
		return model.Reply{}, model.Fail(model.Refused, nil, "the model declined: %s", d.refusal.String())
	}
	reply := model.Reply{Text: d.text.String(), Stop: stop, Usage: d.Usage}
	if stop != model.StopEndTurn && stop != model.StopToolCalls {
		return reply, nil
	}
	slices.SortFunc(d.calls, func(x, y *Call) int { return cmp.Compare(x.index, y.index) })
	for i, call := range d.calls {
		switch {
		case call.Unfinished:
			return model.Reply{}, model.Fail(model.Malformed, nil, "the answer ended within tool call %d", i+1)
		case call.name == "":
			return model.Reply{}, model.Fail(model.Malformed, nil, "tool call %d has no name", i+1)
		}
		tree, err := strictjson.Parse(call.arguments, strictjson.MaxDepth)
		if err != nil {
			return model.Reply{}, model.Fail(model.Malformed, err, "the arguments of tool call %d: %v", i+1, err)
		}
		if tree.Kind != document.Map {
			return model.Reply{}, WrongKind("the arguments of tool call "+strconv.Itoa(i+1), tree, document.Map)
		}
		reply.Calls = append(reply.Calls, model.Call{ID: call.id, Name: call.name, Arguments: string(call.arguments)})
	}
	if stop == model.StopToolCalls && len(reply.Calls) == 0 {
		return model.Reply{}, model.Fail(model.Malformed, nil, "the answer ended for its tool calls and has none")
	}
	return reply, nil
}

// HasCalls reports whether anything of a call has come.
func (d *Draft) HasCalls() bool { return len(d.calls) > 0 }

// complete completes a failure with what is known of the answer.
func (d *Draft) complete(f *model.Failure) *model.Failure {
	f.Started, f.Usage = d.Started, d.Usage
	if f.Usage != nil && !d.Done {
		f.Usage.Final = false
	}
	return f
}
