package model_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/chat"
	"github.com/loomrun/loom/model/modeltest"
)

// Every recorded answer closes its connection, because a bubble's time stands still while one of its
// goroutines waits for the network.
const (
	overloaded = "\n-- overloaded --\nHTTP 503\nConnection: close\nContent-Type: application/json\n\n" +
		`{"error":{"message":"busy"}}` + "\n"
	overloadedByCode = "\n-- overloaded by the code of its body --\nHTTP 400\nConnection: close\nContent-Type: application/json\n\n" +
		`{"error":{"message":"busy","code":"server_is_overloaded"}}` + "\n"
	overloadedInStream = "\n-- overloaded by the first event --\n" + stream + "\n" + overload
	limited60          = "\n-- asks for a minute --\nHTTP 429\nConnection: close\nRetry-After: 60\n\n"
	limited0           = "\n-- asks for nothing --\nHTTP 429\nConnection: close\nRetry-After: 0\n\n"
	dropped            = "\n-- dropped --\nHTTP 200\nFault: drop\n\n"
	denied             = "\n-- denied --\nHTTP 401\nConnection: close\n\n" + `{"error":{"message":"no"}}` + "\n"
	wrong              = "\n-- wrong --\nHTTP 400\nConnection: close\n\n" + `{"error":{"message":"no"}}` + "\n"
	refused            = "\n-- refused --\nHTTP 400\nConnection: close\nContent-Type: application/json\n\n" +
		`{"error":{"message":"no","code":"content_policy_violation"}}` + "\n"
	stream   = "HTTP 200\nConnection: close\nContent-Type: text/event-stream\n"
	call     = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"pick_protocol","arguments":"{}"}}]}}]}` + "\n\n"
	end      = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	counted  = `data: {"choices":[],"usage":{"prompt_tokens":812,"completion_tokens":24,"total_tokens":836}}` + "\n\n"
	done     = "data: [DONE]\n\n"
	answered = "\n-- the answer --\n" + stream + "\n" + call + end + counted + done
	unbilled = "\n-- the answer without usage --\n" + stream + "\n" + call + end + done
	late     = "\n-- one event, then an overload --\n" + stream + "\n" + call + overload
	overload = `data: {"error":{"message":"busy","code":"server_is_overloaded"}}` + "\n\n"
)

var cut = "\n-- one event, then the connection drops --\n" + stream + "Fault: cut " + strconv.Itoa(len(call)) + "\n\n" + call + end + done

// Cases 158 to 163 over the wire: what is asked again, after how long, and what each attempt tells.
func TestRetryOverTheWire(t *testing.T) {
	const second = time.Second
	type told struct {
		Class model.Class // empty for the reply
		Input uint64      // zero where no usage was told
	}
	for _, tc := range []struct {
		name      string
		recording string
		took      time.Duration // all of it waiting: the network takes no time in a bubble
		failure   string        // empty where the reply comes
		attempts  []told
	}{
		{"case 158: 503 twice, then the answer", overloaded + overloaded + answered, 3 * second, "", []told{{model.Unavailable, 0}, {model.Unavailable, 0}, {"", 812}}},
		{"case 159: 503 three times", overloaded + overloaded + overloaded, 3 * second, "Unavailable: the endpoint answered 503 Service Unavailable: busy (after 3 attempts)", []told{{model.Unavailable, 0}, {model.Unavailable, 0}, {model.Unavailable, 0}}},
		{"case 160: Retry-After 60 waits 30 s", limited60 + answered, 30 * second, "", []told{{model.Unavailable, 0}, {"", 812}}},
		{"case 160: Retry-After 0 waits 1 s", limited0 + answered, second, "", []told{{model.Unavailable, 0}, {"", 812}}},
		{"case 161: one event, then the connection drops", cut + answered, 0, "Incomplete: the answer broke off before its terminal event", []told{{model.Incomplete, 0}}},
		{"case 162: 401", denied + answered, 0, "Unauthorized: the endpoint answered 401 Unauthorized: no", []told{{model.Unauthorized, 0}}},
		{"case 162: 400", wrong + answered, 0, "InvalidRequest: the endpoint answered 400 Bad Request: no", []told{{model.InvalidRequest, 0}}},
		{"case 162: a refusal", refused + answered, 0, "Refused: the endpoint answered 400 Bad Request: no", []told{{model.Refused, 0}}},
		{"case 163: an answer without usage tells none", unbilled, 0, "", []told{{"", 0}}},
		{"an overload that comes as 400", overloadedByCode + answered, second, "", []told{{model.Unavailable, 0}, {"", 812}}},
		{"an overload in the place of an answer's first event", overloadedInStream + answered, second, "", []told{{model.Unavailable, 0}, {"", 812}}},
		{"an overload after the first event", late + answered, 0, "Unavailable: the endpoint broke off the answer: busy", []told{{model.Unavailable, 0}}},
		{"a connection closed without an answer", dropped + dropped + answered, 3 * second, "", []told{{model.Unavailable, 0}, {model.Unavailable, 0}, {"", 812}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recording, err := modeltest.ParseRecording([]byte(tc.recording))
			if err != nil {
				t.Fatal(err)
			}
			server := modeltest.Start(t, recording)
			synctest.Test(t, func(t *testing.T) {
				var attempts []told
				ctx := model.ObserveAttempts(t.Context(), func(a model.Attempt) {
					var now told
					if a.Failure != nil {
						now.Class = a.Failure.Class
					}
					if a.Usage != nil {
						now.Input = *a.Usage.InputTokens
					}
					attempts = append(attempts, now)
				})
				began := time.Now()
				reply, err := model.Retry(wire(t, server.BaseURL())).Ask(ctx, request)
				if took := time.Since(began); took != tc.took {
					t.Errorf("it took %s, want %s", took, tc.took)
				}
				if tc.failure != "" {
					checkFailure(t, reply, err, tc.failure)
				} else if err != nil || len(reply.Calls) != 1 {
					t.Errorf("got %+v, %v", reply, err)
				}
				if diff := cmp.Diff(tc.attempts, attempts); diff != "" {
					t.Error(diff)
				}
			})
			if got := server.Requests(); len(got) != len(tc.attempts) {
				t.Errorf("the server got %d requests, want %d", len(got), len(tc.attempts))
			} else if last := got[len(got)-1]; last.Body != got[0].Body {
				t.Errorf("the last attempt sends\n%s\nand the first\n%s", last.Body, got[0].Body)
			}
		})
	}
}

// Where nothing listens, it is asked three times.
func TestRetryWhereNothingListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		reply, err := model.Retry(wire(t, "http://"+listener.Addr().String()+"/v1")).Ask(t.Context(), request)
		checkFailure(t, reply, err, "Unavailable: no answer from the endpoint: connection refused (after 3 attempts)")
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// Cancellation ends a wait at once, and the server is not asked again.
func TestCancelledWhileWaitingOverTheWire(t *testing.T) {
	recording, err := modeltest.ParseRecording([]byte(overloaded + answered))
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Start(t, recording)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ctx = model.ObserveAttempts(ctx, func(model.Attempt) { time.AfterFunc(time.Second/2, cancel) })
		began := time.Now()
		reply, err := model.Retry(wire(t, server.BaseURL())).Ask(ctx, request)
		checkFailure(t, reply, err, "Cancelled: the request was withdrawn before attempt 2; attempt 1: Unavailable: the endpoint answered 503 Service Unavailable: busy")
		if took := time.Since(began); took != time.Second/2 {
			t.Errorf("it took %s", took)
		}
	})
	if got := len(server.Requests()); got != 1 {
		t.Errorf("the server got %d requests", got)
	}
}

func wire(t *testing.T, baseURL string) model.Client {
	t.Helper()
	client, err := chat.New(model.Binding{
		Alias: "demo-agent", BaseURL: baseURL, UpstreamName: modeltest.ModelName, Protocol: model.ChatCompletions,
		AuthKind: model.Anonymous, BillingKind: model.SelfHosted,
		Capabilities: model.Capabilities{Tools: true, ToolChoice: true, ContextWindow: 32768, MaxOutputTokens: 4096},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
