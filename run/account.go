package run

import (
	"context"
	"errors"
	"time"

	"github.com/loomrun/loom/event"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/run/workingcontext"
)

// Account is what the requests of a run to models came to, in numbers only: it holds nothing of what
// was asked, answered, reported or done (7.6). It belongs to one run and one goroutine. A nil Account
// keeps nothing.
type Account struct {
	policy      ContextPolicy
	now         func() time.Time
	began       time.Time
	requests    []accounted
	checkpoints int
	retrievals  int
}

// accounted is one attempt to have a request answered.
type accounted struct {
	phase string
	bytes int
	attempt
}

// attempt is what a run keeps of an attempt.
type attempt struct {
	ElapsedMS int64
	Usage     *model.Usage
}

// NewAccount begins an account. Its time runs from now.
func NewAccount(policy ContextPolicy, now func() time.Time) *Account {
	if policy == "" {
		policy = ContextLegacy
	}
	return &Account{policy: policy, now: now, began: now()}
}

// accountPhases are the phases by the names of 7.6. With one call for selection and arguments (D10) the
// choice of an action is a selection.
var accountPhases = map[event.Phase]string{event.Classification: "classification", event.Action: "selection"}

// enter enters the attempts of one request.
func (a *Account) enter(phase event.Phase, request model.Request, attempts []attempt) {
	if a == nil {
		return
	}
	size := workingcontext.Size(request)
	for _, each := range attempts {
		a.requests = append(a.requests, accounted{accountPhases[phase], size, each})
	}
}

// keep takes over what is counted in the context.
func (a *Account) keep(c *workingcontext.Context) {
	if a != nil {
		a.checkpoints, a.retrievals = c.Checkpoints(), c.Retrievals()
	}
}

// JSON gives the context report: the account up to now, as canonical JSON. The time of the run includes
// the waits between attempts.
func (a *Account) JSON() []byte {
	requests := []document.Value{}
	for _, r := range a.requests {
		usage := model.Usage{}
		if r.Usage != nil {
			usage = *r.Usage
		}
		requests = append(requests, document.MapOf(
			document.M("phase", document.TextOf(r.phase)),
			document.M("request_bytes", document.IntOf(int64(r.bytes))),
			document.M("elapsed_ms", document.IntOf(r.ElapsedMS)),
			document.M("final_usage", document.BoolOf(usage.Final)),
			document.M("input_tokens", orNull(usage.InputTokens)),
			document.M("cache_read_tokens", orNull(usage.CachedInputTokens)),
			document.M("cache_write_tokens", orNull(usage.CacheCreationInputTokens)),
			document.M("output_tokens", orNull(usage.OutputTokens))))
	}
	return canonjson.Append(nil, document.MapOf(
		document.M("policy", document.TextOf(string(a.policy))),
		document.M("requests", document.ListOf(requests...)),
		document.M("checkpoints", document.IntOf(int64(a.checkpoints))),
		document.M("retrievals", document.IntOf(int64(a.retrievals))),
		document.M("model_calls", document.IntOf(int64(len(a.requests)))),
		document.M("elapsed_ms", document.IntOf(a.now().Sub(a.began).Milliseconds()))))
}

func orNull(n *uint64) document.Value {
	if n == nil {
		return document.Value{Kind: document.Null}
	}
	return document.UintOf(*n)
}

// measured asks a client and gives what its attempts came to: those that a retrying client tells of,
// else the one there was. Without an account nothing is measured.
func (r *runner) measured(ctx context.Context, client model.Client, request model.Request) (model.Reply, []attempt, error) {
	if r.Account == nil {
		reply, err := client.Ask(ctx, request)
		return reply, nil, err
	}
	var attempts []attempt
	began := r.Account.now()
	reply, err := client.Ask(model.ObserveAttempts(ctx, func(a model.Attempt) {
		attempts = append(attempts, attempt{a.Elapsed.Milliseconds(), a.Usage})
	}), request)
	if len(attempts) == 0 {
		usage := reply.Usage
		if failure, ok := errors.AsType[*model.Failure](err); ok {
			usage = failure.Usage
		}
		attempts = []attempt{{r.Account.now().Sub(began).Milliseconds(), usage}}
	}
	return reply, attempts, err
}
