package record_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/loomrun/loom/model"
)

// answer is one reply of a scripted model.
type answer func(context.Context, model.Request) (model.Reply, error)

// script is a model that answers with its turns.
type script struct {
	turns   []answer
	answers answer // in the place of turns
	asked   []model.Request
}

// says makes a model with these turns.
func says(turns ...answer) *script { return &script{turns: turns} }

func (*script) UpstreamName() string { return "m-1" }

func (c *script) Ask(ctx context.Context, r model.Request) (model.Reply, error) {
	c.asked = append(c.asked, r)
	switch {
	case c.answers != nil:
		return c.answers(ctx, r)
	case len(c.asked) > len(c.turns):
		return model.Reply{}, model.Fail(model.Unavailable, nil, "the script has no answer left")
	}
	return c.turns[len(c.asked)-1](ctx, r)
}

// calls makes an answer of tool calls, written as NAME ARGUMENTS.
func calls(written ...string) answer {
	reply := model.Reply{Stop: model.StopToolCalls, Usage: &model.Usage{InputTokens: new(uint64(1) << 60), Final: true}}
	for i, w := range written {
		name, arguments, _ := strings.Cut(w, " ")
		reply.Calls = append(reply.Calls, model.Call{ID: fmt.Sprintf("c%d", i+1), Name: name, Arguments: arguments})
	}
	return func(context.Context, model.Request) (model.Reply, error) { return reply, nil }
}

// breaks makes an answer that fails.
func breaks(context.Context, model.Request) (model.Reply, error) {
	return model.Reply{}, model.Fail(model.Unavailable, nil, "busy")
}
