package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// MaxAttempts bounds how often one request is sent, the first time included (governed-runs 7.5).
	MaxAttempts = 3
	// MaxWait bounds a wait between attempts, whatever the endpoint asks for (7.5).
	MaxWait = 30 * time.Second
)

// waits are the least times between attempts (7.5).
var waits = [MaxAttempts - 1]time.Duration{time.Second, 2 * time.Second}

// Retrying is a client that sends a request again where that is safe: the same request to the same
// model by the same account, at most [MaxAttempts] times in all (governed-runs 7.5).
//
// Only a transient failure is followed by another attempt (see [Failure.Transient]): the endpoint was
// not there, was overloaded or failed by itself, and nothing of an answer had arrived. Before the
// second attempt it waits one second, before the third two. A delay that the endpoint asks for makes a
// wait longer, up to [MaxWait], and never shorter. The context interrupts a wait.
//
// It is safe for use by several goroutines if the client it wraps is.
type Retrying struct {
	client Client
}

var _ Client = (*Retrying)(nil)

// Retry wraps a client that asks once.
func Retry(client Client) *Retrying { return &Retrying{client} }

// UpstreamName gives the wrapped client's.
func (r *Retrying) UpstreamName() string { return r.client.UpstreamName() }

// Ask implements [Client], with several attempts where they are needed. The failure of the last
// permitted attempt keeps its class, and its detail says how many there were.
func (r *Retrying) Ask(ctx context.Context, request Request) (Reply, error) {
	for number := 1; ; number++ {
		began := time.Now()
		reply, err := r.client.Ask(ctx, request)
		attempt := Attempt{Number: number, Elapsed: time.Since(began), Usage: reply.Usage}
		if err != nil {
			attempt.Failure = failureOf(err)
			attempt.Usage = attempt.Failure.Usage
		}
		if observe, ok := ctx.Value(observing{}).(func(Attempt)); ok {
			observe(attempt)
		}
		switch failure := attempt.Failure; {
		case failure == nil:
			return reply, nil
		case number == MaxAttempts:
			return Reply{}, exhausted(failure)
		case !failure.Transient():
			return Reply{}, failure
		default:
			if pause(ctx, waitAfter(number, failure)) != nil {
				return Reply{}, interrupted(ctx, number, failure)
			}
		}
	}
}

// Attempt is one sending of a request and what came of it.
type Attempt struct {
	Number  int           // from 1 to MaxAttempts, anew for each request
	Elapsed time.Duration // of this attempt alone; the waits between attempts belong to none
	Failure *Failure      // nil for the attempt that got the reply
	Usage   *Usage        // what the endpoint reported, also with a failure; nil when nothing
}

type observing struct{}

// ObserveAttempts gives a context whose requests through a [Retrying] client tell observe of each
// attempt, as soon as it is over and before the wait for the next. The observer goes with the context
// so that a caller knows which of its own requests an attempt belongs to. It is called by the
// goroutine that asks. One that an outer context carries is not called any more.
func ObserveAttempts(ctx context.Context, observe func(Attempt)) context.Context {
	return context.WithValue(ctx, observing{}, observe)
}

// waitAfter gives the wait after a failed attempt, counted from 1.
func waitAfter(number int, failure *Failure) time.Duration {
	return max(waits[number-1], min(failure.RetryAfter, MaxWait))
}

// pause waits, or gives the context's error once that is done.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err() // both may have come at once
	}
}

// failureOf gives the failure in an error. A client of an embedding program might break the rule that
// there is one; nothing is known of its error then, so that the request is not sent again.
func failureOf(err error) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	return Fail(Malformed, err, "%v", err)
}

// exhausted is the failure of the last attempt with the number of attempts in its detail.
func exhausted(failure *Failure) *Failure {
	note := fmt.Sprintf(" (after %d attempts)", MaxAttempts)
	last := *failure
	last.Detail = cutTo(last.Detail, MaxDetail-len(note)) + note
	return &last
}

// interrupted is the failure of a request whose context was done while it waited after an attempt.
func interrupted(ctx context.Context, number int, failure *Failure) *Failure {
	class, what := Cancelled, "the request was withdrawn"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		class, what = Deadline, "the time for the request ran out"
	}
	cause := ctx.Err()
	if reason := context.Cause(ctx); reason != cause {
		cause = fmt.Errorf("%w: %w", cause, reason)
	}
	given := Fail(class, cause, "%s before attempt %d; attempt %d: %v", what, number+1, number, failure)
	given.Usage = failure.Usage
	return given
}
