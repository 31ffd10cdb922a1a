package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run/workingcontext"
)

// answer is what is kept of a request to a model.
type answer struct {
	Model    string // the name in the model catalog
	Reply    model.Reply
	Attempts []attempt // where an account is kept
}

// ask sends one model request and tells what came of it. Name gives the name that a call is shown
// under; nil for its own.
func (r *runner) ask(ctx context.Context, phase event.Phase, client model.Client, request model.Request, name func(string) string) (model.Reply, error) {
	step := Step{Name: "model:" + string(phase), About: asked(request), Acts: true}
	a, err := outside(ctx, r, step, func(ctx context.Context) (answer, error) {
		if client == nil {
			return answer{}, errNoModel
		}
		reply, attempts, err := r.measured(ctx, client, request)
		if err == nil && !readable(reply) {
			err = model.Fail(model.Malformed, nil, "the answer is not UTF-8")
		}
		return answer{client.UpstreamName(), reply, attempts}, err
	})
	r.Account.enter(phase, request, a.Attempts)
	if err != nil {
		return model.Reply{}, err
	}
	r.turns++
	events := []event.Event{event.TurnCompleted{Turn: r.turns, Phase: phase, Model: a.Model, Stop: string(a.Reply.Stop)}}
	for _, c := range a.Reply.Calls {
		shown := c.Name
		if name != nil {
			shown = name(c.Name)
		}
		events = append(events, event.ToolCalled{Turn: r.turns, CallID: c.ID, Name: shown, Arguments: c.Arguments})
	}
	if u := a.Reply.Usage; u != nil {
		events = append(events, event.TokensUsed{
			Turn: r.turns, Model: a.Model,
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedInputTokens: u.CachedInputTokens,
			CacheCreationInputTokens: u.CacheCreationInputTokens, ReasoningOutputTokens: u.ReasoningOutputTokens, Final: u.Final,
		})
	}
	return a.Reply, r.emit(events...)
}

// errNoModel ends a run that was interrupted while a model was asked and is resumed without one.
var errNoModel = errors.New("the run waits for the answer of a model, and there is none in this sitting")

// Request is what is kept of a request to a model.
type Request struct {
	Bytes  int    // in the form of workingcontext.Append
	SHA256 string // of that form, in hexadecimal
	Tools  []string
}

func asked(r model.Request) Request {
	form := workingcontext.Append(nil, r)
	sum := sha256.Sum256(form)
	kept := Request{Bytes: len(form), SHA256: hex.EncodeToString(sum[:])}
	for _, t := range r.Tools {
		kept.Tools = append(kept.Tools, t.Name)
	}
	return kept
}

// readable tells whether a reply is UTF-8 throughout. Every wire sees to that; a client of an embedding
// program might not, and anything else can be neither kept nor shown to a model again.
func readable(reply model.Reply) bool {
	return utf8.ValidString(reply.Text) && !slices.ContainsFunc(reply.Calls, func(c model.Call) bool {
		return !utf8.ValidString(c.ID) || !utf8.ValidString(c.Name) || !utf8.ValidString(c.Arguments)
	})
}
