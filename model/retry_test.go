package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/loomrun/loom/model"
)

// asking is how long each attempt of a scripted client takes.
const asking = 10 * time.Millisecond

// scripted is a client that gives one outcome after the other: a failure, or the reply.
type scripted struct {
	outcomes []error // nil is the reply
	began    []time.Time
	asked    []model.Request
}

var answer = model.Reply{
	Calls: []model.Call{{ID: "call-1", Name: "pick_protocol", Arguments: "{}"}},
	Stop:  model.StopToolCalls,
	Usage: &model.Usage{Final: true},
}

func (s *scripted) UpstreamName() string { return "scripted-1" }

func (s *scripted) Ask(ctx context.Context, r model.Request) (model.Reply, error) {
	s.began, s.asked = append(s.began, time.Now()), append(s.asked, r)
	if ctx.Err() != nil {
		return model.Reply{}, model.Fail(model.Cancelled, ctx.Err(), "the request was withdrawn")
	}
	time.Sleep(asking) // in a bubble
	outcome := s.outcomes[len(s.began)-1]
	if outcome != nil {
		return model.Reply{}, outcome
	}
	return answer, nil
}

// waits gives the times between the end of each attempt and the begin of the next.
func (s *scripted) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(s.began); i++ {
		waits = append(waits, s.began[i].Sub(s.began[i-1])-asking)
	}
	return waits
}

func busy(after time.Duration) *model.Failure {
	return &model.Failure{Class: model.Unavailable, Detail: "busy", RetryAfter: after}
}

// What is asked again, after which waits, and what is said in the end (7.5; cases 158 to 162).
func TestRetry(t *testing.T) {
	const second = time.Second
	failed := func(class model.Class) error { return &model.Failure{Class: class, Detail: "no"} }
	begun := &model.Failure{Class: model.Unavailable, Detail: "busy", Started: true}
	long := &model.Failure{Class: model.Unavailable, Detail: strings.Repeat("ß", model.MaxDetail/2)}
	for _, tc := range []struct {
		name     string
		outcomes []error
		waits    []time.Duration
		failure  string // empty where the reply comes
	}{
		{"a reply needs one attempt", []error{nil}, nil, ""},
		{"case 158: unavailable twice, then the reply", []error{busy(0), busy(0), nil}, []time.Duration{second, 2 * second}, ""},
		{"case 159: unavailable three times", []error{busy(0), busy(0), busy(0)}, []time.Duration{second, 2 * second}, "Unavailable: busy (after 3 attempts)"},
		{"case 160: a delay of 60 s is cut to 30 s", []error{busy(60 * second), busy(60 * second), nil}, []time.Duration{30 * second, 30 * second}, ""},
		{"case 160: a delay of 0 shortens nothing", []error{busy(0), nil}, []time.Duration{second}, ""},
		{"a short delay shortens nothing", []error{busy(second / 2), busy(second), nil}, []time.Duration{second, 2 * second}, ""},
		{"a longer delay is kept", []error{busy(7 * second), busy(3 * second), nil}, []time.Duration{7 * second, 3 * second}, ""},
		{"a delay of exactly 30 s is kept", []error{busy(30 * second), nil}, []time.Duration{30 * second}, ""},
		{"a delay in the past shortens nothing", []error{busy(-second), nil}, []time.Duration{second}, ""},
		{"case 161: never once the answer has begun", []error{begun}, nil, "Unavailable: busy"},
		{"case 162: a refusal", []error{failed(model.Refused)}, nil, "Refused: no"},
		{"case 162: a 401", []error{failed(model.Unauthorized)}, nil, "Unauthorized: no"},
		{"case 162: a 400", []error{failed(model.InvalidRequest)}, nil, "InvalidRequest: no"},
		{"never Unsupported", []error{failed(model.Unsupported)}, nil, "Unsupported: no"},
		{"never TooLarge", []error{failed(model.TooLarge)}, nil, "TooLarge: no"},
		{"never Cancelled", []error{failed(model.Cancelled)}, nil, "Cancelled: no"},
		{"never Deadline", []error{failed(model.Deadline)}, nil, "Deadline: no"},
		{"never Incomplete", []error{failed(model.Incomplete)}, nil, "Incomplete: no"},
		{"never Malformed", []error{failed(model.Malformed)}, nil, "Malformed: no"},
		{"the second attempt may end it", []error{busy(0), failed(model.Unauthorized)}, []time.Duration{second}, "Unauthorized: no"},
		{"begun in the second attempt", []error{busy(0), begun}, []time.Duration{second}, "Unavailable: busy"},
		{"another class in the last attempt is kept", []error{busy(0), busy(0), failed(model.Refused)}, []time.Duration{second, 2 * second}, "Refused: no (after 3 attempts)"},
		{"a long detail makes room", []error{long, long, long}, []time.Duration{second, 2 * second}, "Unavailable: " + strings.Repeat("ß", 499) + " […] (after 3 attempts)"},
		{"an error that is no failure", []error{errors.New("odd")}, nil, "Malformed: odd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &scripted{outcomes: tc.outcomes}
				var attempts []model.Attempt
				ctx := model.ObserveAttempts(t.Context(), func(a model.Attempt) { attempts = append(attempts, a) })
				reply, err := model.Retry(client).Ask(ctx, request)

				if diff := cmp.Diff(tc.waits, client.waits()); diff != "" {
					t.Errorf("the waits: %s", diff)
				}
				if len(client.asked) != len(tc.outcomes) {
					t.Errorf("asked %d times, want %d", len(client.asked), len(tc.outcomes))
				}
				for i, r := range client.asked {
					if diff := cmp.Diff(request, r); diff != "" {
						t.Errorf("attempt %d sends another request: %s", i+1, diff)
					}
				}
				if tc.failure == "" {
					if diff := cmp.Diff(answer, reply); diff != "" || err != nil {
						t.Errorf("%v %s", err, diff)
					}
				} else {
					checkFailure(t, reply, err, tc.failure)
				}
				checkAttempts(t, attempts, tc.outcomes)
			})
		})
	}
}

var request = model.Request{
	Instructions: "Pick a protocol.",
	Input:        []string{"What time is it?"},
	Tools:        []model.Tool{{Name: "pick_protocol", Description: "Picks.", Parameters: `{"type":"object"}`}},
}

func checkFailure(t *testing.T, reply model.Reply, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[*model.Failure](err); !ok || err.Error() != want {
		t.Errorf("got %v, want the failure %q", err, want)
	}
	if diff := cmp.Diff(model.Reply{}, reply); diff != "" {
		t.Errorf("a reply beside a failure: %s", diff)
	}
}

// checkAttempts checks that every attempt was told of once, with its own time and outcome.
func checkAttempts(t *testing.T, got []model.Attempt, outcomes []error) {
	t.Helper()
	if len(got) != len(outcomes) {
		t.Fatalf("%d attempts were told of, want %d", len(got), len(outcomes))
	}
	for i, a := range got {
		if a.Number != i+1 || a.Elapsed != asking || (a.Failure == nil) != (outcomes[i] == nil) {
			t.Errorf("attempt %d is told as %+v", i+1, a)
		}
		if f, ok := outcomes[i].(*model.Failure); ok && a.Failure != f {
			t.Errorf("attempt %d is told with %v, want %v", i+1, a.Failure, f)
		}
		if outcomes[i] == nil && a.Usage != answer.Usage {
			t.Errorf("attempt %d is told without its usage", i+1)
		}
	}
}

// 7.5: cancellation and a deadline interrupt a wait, and nothing is asked after them.
func TestWaitIsInterrupted(t *testing.T) {
	stopped := errors.New("the operator left")
	for _, tc := range []struct {
		name  string
		bound func(context.Context) (context.Context, context.CancelFunc)
		want  string
		cause error
	}{
		{"by cancellation", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(asking+time.Second/2, func() { cancel(stopped) })
			return ctx, func() { timer.Stop() }
		}, "Cancelled: the request was withdrawn before attempt 2; attempt 1: Unavailable: busy", stopped},
		{"by a deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, asking+time.Second/2)
		}, "Deadline: the time for the request ran out before attempt 2; attempt 1: Unavailable: busy", context.DeadlineExceeded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				used := &model.Usage{}
				client := &scripted{outcomes: []error{&model.Failure{Class: model.Unavailable, Detail: "busy", RetryAfter: time.Minute, Usage: used}}}
				ctx, stop := tc.bound(t.Context())
				defer stop()
				began := time.Now()
				reply, err := model.Retry(client).Ask(ctx, request)
				checkFailure(t, reply, err, tc.want)
				if took := time.Since(began); took != asking+time.Second/2 {
					t.Errorf("it took %s", took)
				}
				if !errors.Is(err, ctx.Err()) || !errors.Is(err, tc.cause) {
					t.Errorf("the cause of %v is lost", err)
				}
				if failure, _ := errors.AsType[*model.Failure](err); failure.Usage != used {
					t.Error("the usage of the failed attempt is lost")
				}
			})
		})
	}
}

// The observer of the nearest context hears of an attempt, so that each request has its own.
func TestObserverGoesWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := model.Retry(&scripted{outcomes: []error{busy(0), nil, nil, nil}})
		var heard []string
		as := func(ctx context.Context, phase string) context.Context {
			return model.ObserveAttempts(ctx, func(a model.Attempt) { heard = append(heard, fmt.Sprint(phase, a.Number)) })
		}
		outer := as(t.Context(), "outer")
		for _, ctx := range []context.Context{as(outer, "classification"), as(outer, "arguments"), t.Context()} {
			if _, err := client.Ask(ctx, request); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"classification1", "classification2", "arguments1"}, heard); diff != "" {
			t.Error(diff)
		}
		if client.UpstreamName() != "scripted-1" {
			t.Errorf("the name of the model is %q", client.UpstreamName())
		}
	})
}

// For any outcomes: at most three attempts, all but the last of them transient, waits within the
// bounds, and what is given back is what the last attempt gave.
func TestRetryProperties(t *testing.T) {
	classes := []model.Class{
		model.Unavailable, model.Unavailable, model.Unavailable, // the one that matters most
		model.Refused, model.Unauthorized, model.InvalidRequest, model.Unsupported, model.TooLarge,
		model.Cancelled, model.Deadline, model.Incomplete, model.Malformed,
	}
	outcome := rapid.Custom(func(t *rapid.T) error {
		if rapid.IntRange(0, 4).Draw(t, "reply") == 0 {
			return nil
		}
		return &model.Failure{
			Class:      rapid.SampledFrom(classes).Draw(t, "class"),
			Detail:     rapid.StringN(0, 8, 20).Draw(t, "detail"),
			Started:    rapid.IntRange(0, 4).Draw(t, "started") == 0,
			RetryAfter: time.Duration(rapid.Int64Range(-5e9, 120e9).Draw(t, "after")),
		}
	})
	sequence := rapid.SliceOfN(outcome, model.MaxAttempts, model.MaxAttempts)
	rapid.Check(t, func(rt *rapid.T) {
		outcomes := sequence.Draw(rt, "outcomes")
		synctest.Test(t, func(t *testing.T) {
			client := &scripted{outcomes: outcomes}
			told := 0
			ctx := model.ObserveAttempts(t.Context(), func(model.Attempt) { told++ })
			_, err := model.Retry(client).Ask(ctx, request)
			n := len(client.asked)
			if n < 1 || n > model.MaxAttempts || told != n {
				rt.Fatalf("%d attempts, %d told of", n, told)
			}
			for i, wait := range client.waits() {
				failure, failed := outcomes[i].(*model.Failure)
				if !failed || !failure.Transient() {
					rt.Fatalf("asked again after %v", outcomes[i])
				}
				least := time.Duration(i+1) * time.Second
				if wait < least || wait > model.MaxWait || wait < min(failure.RetryAfter, model.MaxWait) || wait > max(least, failure.RetryAfter) {
					rt.Fatalf("wait %d is %s where the endpoint asks for %s", i+1, wait, failure.RetryAfter)
				}
			}
			last, failed := outcomes[n-1].(*model.Failure)
			if !failed {
				if err != nil {
					rt.Fatalf("the reply is lost: %v", err)
				}
				return
			}
			if last.Transient() && n < model.MaxAttempts {
				rt.Fatalf("gave up after %d attempts", n)
			}
			got, ok := errors.AsType[*model.Failure](err)
			counted := strings.HasSuffix(err.Error(), " (after 3 attempts)")
			if !ok || got.Class != last.Class || got.Started != last.Started || !strings.HasPrefix(got.Detail, last.Detail) || counted != (n == model.MaxAttempts) {
				rt.Fatalf("got %v of %v after %d attempts", err, last, n)
			}
		})
	})
}
