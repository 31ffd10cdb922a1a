package wires

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/modeltest"
	"github.com/loomrun/loom/model/wire"
)

// What every wire must do, whatever its protocol.

const testSecret = "sk-4f9a0c77d1e25b38"

func withSecret(b model.Binding) model.Binding {
	b.AuthKind, b.Secret = model.Bearer, model.NewSecret(testSecret)
	return b
}

func client(t testing.TB, b model.Binding, options ...wire.Option) *wire.Client {
	t.Helper()
	c, err := New(b, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// forEach runs a test for each protocol.
func forEach(t *testing.T, test func(t *testing.T, s speech)) {
	for _, s := range speeches {
		t.Run(string(s.protocol), func(t *testing.T) { test(t, s) })
	}
}

func (s speech) binding(baseURL string) model.Binding {
	return modeltest.BindingTo(baseURL, s.protocol)
}

// picked is an answer of one call, beside a false text.
func (s speech) picked() string {
	return s.stream([]part{{text: "It is noon."}, {id: "c", name: "pick_protocol", arguments: `{"protocol":"system-query@1"}`}}, allUsage)
}

// serve starts a server that answers with streams, each once.
func serve(t testing.TB, bodies ...string) *modeltest.Server {
	t.Helper()
	recording := &modeltest.Recording{}
	for _, body := range bodies {
		recording.Answers = append(recording.Answers, modeltest.Answer{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body,
		})
	}
	return modeltest.Start(t, recording)
}

// replay starts a server that gives one recorded answer.
func replay(t testing.TB, answer string) *modeltest.Server {
	t.Helper()
	recording, err := modeltest.ParseRecording([]byte("-- x --\n" + answer))
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Start(t, recording)
}

func ask(t testing.TB, b model.Binding, options ...wire.Option) (model.Reply, error) {
	t.Helper()
	return client(t, b, options...).Ask(context.Background(), modeltest.Question)
}

func TestNewRefuses(t *testing.T) {
	none := func(context.Context) (model.Secret, error) { return model.Secret{}, nil }
	forEach(t, func(t *testing.T, s speech) {
		for _, tc := range []struct {
			name    string
			edit    func(*model.Binding)
			options []wire.Option
			want    string
		}{
			{"nothing", func(*model.Binding) {}, nil, "<nil>"},
			{"another protocol", func(b *model.Binding) { b.Protocol = "smoke" }, nil, `no wire speaks the protocol "smoke"`},
			{"no model", func(b *model.Binding) { b.UpstreamName = "" }, nil, "the binding names no model"},
			{"a key without a secret", func(b *model.Binding) { b.AuthKind = model.APIKey }, nil, "an account has a secret exactly when it is not anonymous"},
			{"a secret of nobody", func(b *model.Binding) { b.Secret = model.NewSecret("x") }, nil, "an account has a secret exactly when it is not anonymous"},
			{"tokens of nobody", func(*model.Binding) {}, []wire.Option{wire.Token(none)}, "an account whose tokens come from elsewhere is not anonymous and has no secret of its own"},
			{"tokens beside a secret", func(b *model.Binding) { *b = withSecret(*b) }, []wire.Option{wire.Token(none)}, "an account whose tokens come from elsewhere is not anonymous and has no secret of its own"},
			{"user information, which would be sent", func(b *model.Binding) { b.BaseURL = "http://me:pw@127.0.0.1/v1" }, nil, "the base URL has user information"},
			{"a bad base URL", func(b *model.Binding) { b.BaseURL = "unix:/x" }, nil, "the base URL does not start with http:// or https://"},
		} {
			b := s.binding("http://127.0.0.1/v1")
			tc.edit(&b)
			if _, err := New(b, tc.options...); fmt.Sprint(err) != tc.want {
				t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
			}
		}
	})
}

// governed-runs 7.3 and 11.13, case 167: what an anonymous account sends, and nothing more.
func TestAnonymousRequest(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		server := serve(t, s.picked())
		if _, err := ask(t, s.binding(server.BaseURL())); err != nil {
			t.Fatal(err)
		}
		got := server.Requests()[0]
		header := http.Header{
			"Accept":         {"text/event-stream"},
			"Content-Length": {fmt.Sprint(len(got.Body))},
			"Content-Type":   {"application/json"},
			"User-Agent":     {"loom"},
		}
		if s.protocol == model.Messages {
			header["Anthropic-Version"] = []string{"2023-06-01"}
		}
		want := modeltest.Request{
			Method: "POST", Path: s.path, Header: header, Body: got.Body,
			Host: strings.TrimSuffix(strings.TrimPrefix(server.BaseURL(), "http://"), "/v1"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if tree, err := strictjson.Parse([]byte(got.Body), strictjson.MaxDepth); err != nil {
			t.Error(err)
		} else if name, _ := tree.Get("model"); name.Text != modeltest.ModelName {
			t.Errorf("asks for the model %q", name.Text)
		}
	})
}

// DECISIONS D13: where an account's secret is sent, once.
func TestSecretIsSentInItsHeader(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		for _, kind := range []model.AuthKind{model.Bearer, model.APIKey} {
			server := serve(t, s.picked())
			b := withSecret(s.binding(server.BaseURL()))
			b.AuthKind = kind
			if _, err := ask(t, b); err != nil {
				t.Fatal(err)
			}
			want := http.Header{"Authorization": {"Bearer " + testSecret}}
			if kind == model.APIKey && s.withKey == "X-Api-Key" {
				want = http.Header{"X-Api-Key": {testSecret}}
			}
			got := http.Header{}
			for name, values := range server.Requests()[0].Header {
				if strings.Contains(strings.Join(values, " "), testSecret) {
					got[name] = values
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
		}
	})
}

// Each request asks for its own token; without one nothing is sent.
func TestTokensFromElsewhere(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		server := serve(t, s.picked(), s.picked())
		b := s.binding(server.BaseURL())
		b.AuthKind, b.BillingKind = model.SubscriptionOAuth, model.Subscription
		refused := &model.Failure{Class: model.Deadline, Detail: "the login server is slow"}
		given := []struct {
			text  string
			err   error
			class model.Class
		}{
			{text: "token-one-4f9a0c77"},
			{class: model.Unauthorized},
			{text: "token-4f9a0c77\r\nX-Other: 1", class: model.Unauthorized},
			{err: errors.New("log in first"), class: model.Unauthorized},
			{err: refused, class: model.Deadline},
			{text: "token-two-d1e25b38"},
		}
		turn := 0
		c := client(t, b, wire.Header("Originator", "loom"), wire.Header("Authorization", "x"), wire.Token(func(context.Context) (model.Secret, error) {
			turn++
			return model.NewSecret(given[turn-1].text), given[turn-1].err
		}))
		for i, want := range given {
			reply, err := c.Ask(context.Background(), modeltest.Question)
			if want.class == "" {
				if err != nil {
					t.Errorf("turn %d: %v", i, err)
				}
				continue
			}
			if got := modeltest.AsFailure(t, reply, err); got.Class != want.class || want.err != nil && !errors.Is(err, want.err) {
				t.Errorf("turn %d: got %v", i, got)
			}
		}
		requests := server.Requests()
		if len(requests) != 2 || requests[0].Header.Get("Authorization") != "Bearer token-one-4f9a0c77" ||
			requests[1].Header.Get("Authorization") != "Bearer token-two-d1e25b38" || requests[0].Header.Get("Originator") != "loom" {
			t.Errorf("got %+v", requests)
		}
	})
}

// A token that an endpoint repeats is hidden like a secret of the catalog.
func TestTokenDoesNotComeBack(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		server := replay(t, "HTTP 401\n\nyou sent "+testSecret)
		b := s.binding(server.BaseURL())
		b.AuthKind = model.SubscriptionOAuth
		reply, err := ask(t, b, wire.Token(func(context.Context) (model.Secret, error) { return model.NewSecret(testSecret), nil }))
		if got := modeltest.AsFailure(t, reply, err); got.Detail != "the endpoint answered 401 Unauthorized: you sent [secret]" {
			t.Errorf("got %v", got)
		}
	})
}

// governed-runs 11.1, case 30: the name a server claims is nobody's name.
func TestUpstreamNameIsTheBindings(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		c := client(t, s.binding(serve(t, s.picked()).BaseURL()))
		reply, err := c.Ask(context.Background(), modeltest.Question)
		if err != nil || !strings.Contains(s.picked(), "some-other-name") {
			t.Fatal(err)
		}
		if c.UpstreamName() != modeltest.ModelName || strings.Contains(fmt.Sprintf("%+v", reply), "some-other-name") {
			t.Errorf("got %q, %+v", c.UpstreamName(), reply)
		}
	})
}

// What an answer may be, and what is made of it. Text is beside calls and never one.
func TestAnswers(t *testing.T) {
	one := part{id: "c", name: "f", arguments: `{"a" :1.50}`}
	two := part{id: "d", name: "unknown", arguments: `{}`}
	call := func(p part) model.Call { return model.Call{ID: p.id, Name: p.name, Arguments: p.arguments} }
	n := func(n uint64) *uint64 { return &n }
	for _, tc := range []struct {
		name  string
		parts []part
		usage string
		want  model.Reply
	}{
		{"one call", []part{one}, noUsage, model.Reply{Stop: model.StopToolCalls, Calls: []model.Call{call(one)}}},
		{"several calls, in order", []part{two, {text: "t"}, one}, noUsage, model.Reply{Stop: model.StopToolCalls, Text: "t", Calls: []model.Call{call(two), call(one)}}},
		{"text only", []part{{text: "It "}, {text: "is."}}, noUsage, model.Reply{Stop: model.StopEndTurn, Text: "It is."}},
		{"nothing", nil, noUsage, model.Reply{Stop: model.StopEndTurn}},
		{"all usage", nil, allUsage, model.Reply{Stop: model.StopEndTurn, Usage: &model.Usage{InputTokens: n(412), OutputTokens: n(31), Final: true}}},
		{"usage in part, which is not final", nil, someUsage, model.Reply{Stop: model.StopEndTurn, Usage: &model.Usage{OutputTokens: n(31)}}},
	} {
		t.Run(tc.name, func(t *testing.T) { // cases 163 and 30
			forEach(t, func(t *testing.T, s speech) {
				got, err := ask(t, s.binding(serve(t, s.stream(tc.parts, tc.usage)).BaseURL()))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Cases 162 and 165, and D6: what is wrong with an answer is never mended.
func TestWrongAnswers(t *testing.T) {
	nested := func(levels int) string {
		return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
	}
	for _, tc := range []struct {
		name string
		part part
		want model.Class // empty for a reply
	}{
		{"128 levels of arguments", part{name: "f", arguments: nested(128)}, ""},
		{"129 levels of arguments, case 165", part{name: "f", arguments: nested(129)}, model.Malformed},
		{"cut arguments", part{name: "f", arguments: `{"a":`}, model.Malformed},
		{"arguments with a member twice", part{name: "f", arguments: `{"a":1,"a":1}`}, model.Malformed},
		{"a list for arguments", part{name: "f", arguments: `[]`}, model.Malformed},
		{"two objects for arguments", part{name: "f", arguments: `{}{}`}, model.Malformed},
		{"no name", part{arguments: `{}`}, model.Malformed},
		{"a long name", part{name: strings.Repeat("n", wire.MaxCallName+1), arguments: `{}`}, model.TooLarge},
		{"a long id", part{id: strings.Repeat("n", wire.MaxCallID+1), name: "f", arguments: `{}`}, model.TooLarge},
		{"long arguments", part{name: "f", arguments: `{"a":"` + strings.Repeat("n", wire.MaxArguments) + `"}`}, model.TooLarge},
		{"long text", part{text: strings.Repeat("n", wire.MaxText+1)}, model.TooLarge},
		{"a refusal, case 162", part{refusal: "I will not."}, model.Refused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			forEach(t, func(t *testing.T, s speech) {
				server := serve(t, s.stream([]part{tc.part}, noUsage))
				reply, err := ask(t, s.binding(server.BaseURL()))
				if tc.want == "" {
					if err != nil || len(reply.Calls) != 1 {
						t.Errorf("got %+v, %v", reply, err)
					}
					return
				}
				if got := modeltest.AsFailure(t, reply, err); got.Class != tc.want || !got.Started || got.Transient() {
					t.Errorf("got %+v", got)
				}
				if strings.HasPrefix(tc.name, "129") && !errors.Is(err, strictjson.ErrTooDeep) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// governed-runs 7.5: what an error event means, as the first event and behind output. Only the first
// may be tried again, and only an overload.
func TestErrorEvents(t *testing.T) {
	forEach(t, func(t *testing.T, s speech) {
		for code, class := range map[string]model.Class{
			"server_is_overloaded":  model.Unavailable,
			"overloaded_error":      model.Unavailable,
			"rate_limit_error":      model.Unavailable,
			"authentication_error":  model.Unauthorized,
			"invalid_request_error": model.InvalidRequest,
			"nobody_knows":          model.Incomplete,
		} {
			server := serve(t, s.failed("Come back.", code), s.first()+s.failed("Come back.", code))
			c := client(t, s.binding(server.BaseURL()))
			for _, started := range []bool{false, true} {
				reply, err := c.Ask(context.Background(), modeltest.Question)
				got := modeltest.AsFailure(t, reply, err)
				if got.Class != class || got.Started != started || got.Transient() != (class == model.Unavailable && !started) ||
					got.Detail != "the endpoint broke off the answer: Come back." {
					t.Errorf("%s: got %+v", code, got)
				}
			}
		}
	})
}

// Case 164 over a real connection, by a break and by an end. Each byte has its turn in the packages
// of the wires.
func TestCutConnectionGivesNothing(t *testing.T) {
	const step = 23
	forEach(t, func(t *testing.T, s speech) {
		body := s.picked()
		first := strings.Index(body, "\n\n") + 2
		for _, fault := range []modeltest.Fault{modeltest.Cut, modeltest.End} {
			recording := &modeltest.Recording{}
			for cut := len(body) % step; cut <= len(body); cut += step {
				recording.Answers = append(recording.Answers, modeltest.Answer{
					Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Fault: fault, After: cut,
				})
			}
			server := modeltest.Start(t, recording)
			c := client(t, s.binding(server.BaseURL()))
			for _, a := range recording.Answers {
				reply, err := c.Ask(context.Background(), modeltest.Question)
				if a.After == len(body) {
					if err != nil {
						t.Errorf("%s at %d: %v", fault, a.After, err)
					}
					continue
				}
				f := modeltest.AsFailure(t, reply, err)
				if f.Class != model.Incomplete && f.Class != model.Unavailable || a.After >= first && f.Transient() {
					t.Errorf("%s at %d: %v", fault, a.After, f)
				}
			}
			if n := len(server.Requests()); n != len(recording.Answers) {
				t.Errorf("%d requests for %d questions", n, len(recording.Answers))
			}
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	const n = 20
	forEach(t, func(t *testing.T, s speech) {
		bodies := make([]string, n)
		for i := range bodies {
			bodies[i] = s.picked()
		}
		c := client(t, s.binding(serve(t, bodies...).BaseURL()))
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				if _, err := c.Ask(context.Background(), modeltest.Question); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}
