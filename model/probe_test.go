package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/loomrun/loom/model"
)

// answering is a model that always gives the same.
type answering struct {
	reply model.Reply
	err   error
	asked []model.Request
}

func (a *answering) UpstreamName() string { return "fixed" }

func (a *answering) Ask(_ context.Context, r model.Request) (model.Reply, error) {
	a.asked = append(a.asked, r)
	return a.reply, a.err
}

func TestProbe(t *testing.T) {
	five := uint64(5)
	usage := &model.Usage{InputTokens: &five}
	called := func(calls ...model.Call) model.Reply {
		return model.Reply{Calls: calls, Stop: model.StopToolCalls, Usage: usage}
	}
	good := model.Call{Name: "report_state", Arguments: "{ \"state\" : \"\\u0072eady\" }"}
	with := func(arguments string) model.Reply {
		return called(model.Call{Name: good.Name, Arguments: arguments})
	}
	long := strings.Repeat("é", 300)
	for _, tc := range []struct {
		name   string
		reply  model.Reply
		detail string // empty where the model can do what a run needs
	}{
		{"the call", called(good), ""},
		{"the call at the end of a turn, beside text", model.Reply{Calls: []model.Call{good}, Text: "Done.", Stop: model.StopEndTurn, Usage: usage}, ""},
		{"nothing", model.Reply{Stop: model.StopEndTurn}, "and wrote nothing"},
		{"text", model.Reply{Text: "I am ready.", Stop: model.StopEndTurn}, "it wrote: I am ready."},
		{"long text", model.Reply{Text: long, Stop: model.StopEndTurn}, "é […]"},
		{"two calls", called(good, good), "the model made 2 tool calls where one was asked for"},
		{"another tool", called(model.Call{Name: "other", Arguments: good.Arguments}), "a tool that was not offered: other"},
		{"another value", with(`{"state":"fine"}`), `does not admit: {"state":"fine"}`},
		{"more arguments", with(`{"state":"ready","a":1}`), `does not admit: {"state":"ready","a":1}`},
		{"an argument twice", with(`{"state":"ready","state":"ready"}`), "does not admit"},
		{"no arguments", with(`{}`), "does not admit: {}"},
		{"the length was reached", model.Reply{Stop: model.StopMaxOutputTokens}, "see max_output_tokens in the catalog"},
		{"the endpoint broke off", model.Reply{Stop: model.StopIncomplete}, "the endpoint ended the answer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &answering{reply: tc.reply}
			got, err := model.Probe(context.Background(), m)
			if len(m.asked) != 1 || m.asked[0].Check() != nil || len(m.asked[0].Tools) != 1 {
				t.Fatalf("asked %+v", m.asked)
			}
			if tc.detail == "" {
				if err != nil || got != tc.reply.Usage {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			failure, ok := errors.AsType[*model.Failure](err)
			if !ok || failure.Class != model.Unsupported || failure.Transient() || !strings.Contains(failure.Detail, tc.detail) || !utf8.ValidString(failure.Detail) {
				t.Errorf("got %v, want %q", err, tc.detail)
			}
		})
	}
}

func TestProbePassesAFailureOn(t *testing.T) {
	want := model.Fail(model.Unavailable, nil, "busy")
	if _, err := model.Probe(context.Background(), &answering{err: want}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
