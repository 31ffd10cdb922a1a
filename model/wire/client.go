// Package wire is what the wires share: everything between a request that is written and an answer
// that is read, and the bounded pieces of an answer. A protocol is a [Dialect] of it.
//
// There are few ways out: one POST per request, no redirect followed, no proxy, no cookie, nothing
// taken from the environment, the account's secret sent to the binding's base URL and nowhere else
// (governed-runs 7.3). An answer counts only when its stream says that it ended; anything less is a
// failure, and no call is taken from it.
package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/loomrun/loom/model"
)

// Times that bound the way to an answer. Once it has begun, only the caller's context bounds it.
const (
	dialTime = 10 * time.Second
	tlsTime  = 10 * time.Second
	// headerTime is long because some servers send their header only with the first token.
	headerTime = 5 * time.Minute
	// errorBodyTime is how long the words behind an error status may take.
	errorBodyTime = 5 * time.Second
	// idleTime is short, because a connection that was quietly lost is noticed only by its next user.
	idleTime = 30 * time.Second
)

// maxHeader bounds the header of an answer, in bytes.
const maxHeader = 64 << 10

// tellingSecret is the length in bytes from which a secret in an answer is no coincidence. Servers of
// one's own often take a word for a key, and a model may write any word.
const tellingSecret = 16

// Dialect is how one protocol asks and answers.
type Dialect struct {
	Protocol model.Protocol
	Path     string // put behind the base URL; starts with a slash
	// Encode writes the body of a request that [model.Request.Check] found good. Its error is a
	// [*model.Failure].
	Encode func(model.Binding, model.Request) ([]byte, error)
	// Answer begins an answer.
	Answer func() Answer
	// Header is sent with each request, beside what every wire sends. It may be nil.
	Header http.Header
	// KeyHeader is the header that carries the secret of an api-key account. Where it is empty,
	// such a secret is sent as a bearer token.
	KeyHeader string
}

// Client asks the model of one binding in one dialect. It is safe for use by several goroutines.
type Client struct {
	binding   model.Binding
	dialect   Dialect
	url       *url.URL
	header    http.Header
	token     func(context.Context) (model.Secret, error) // nil where the binding has the secret
	transport *http.Transport                             // alone, since it follows no redirect and keeps no cookie
}

var _ model.Client = (*Client)(nil)

// New makes a client for a binding of the dialect's protocol. It opens no connection.
func New(b model.Binding, d Dialect, options ...Option) (*Client, error) {
	u, err := b.URL(d.Path)
	if err != nil {
		return nil, err
	}
	c := &Client{
		binding: b,
		dialect: d,
		url:     u,
		header: http.Header{
			"Accept":       {"text/event-stream"},
			"Content-Type": {"application/json"},
			"User-Agent":   {"loom"},
		},
		transport: &http.Transport{
			Proxy:                  nil, // the default would take it from the environment
			DialContext:            (&net.Dialer{Timeout: dialTime}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    tlsTime,
			ResponseHeaderTimeout:  headerTime,
			MaxResponseHeaderBytes: maxHeader,
			IdleConnTimeout:        idleTime,
			DisableCompression:     true, // a small stream could unpack to a large one
			ForceAttemptHTTP2:      true,
		},
	}
	for name, values := range d.Header {
		c.header[name] = values
	}
	for _, option := range options {
		option(c)
	}
	switch {
	case b.Protocol != d.Protocol:
		return nil, errors.New("the binding is not of the protocol " + string(d.Protocol))
	case b.UpstreamName == "":
		return nil, errors.New("the binding names no model")
	case c.token != nil && (!b.Secret.IsZero() || b.AuthKind == model.Anonymous):
		return nil, errors.New("an account whose tokens come from elsewhere is not anonymous and has no secret of its own")
	case c.token == nil && b.Secret.IsZero() != (b.AuthKind == model.Anonymous):
		return nil, errors.New("an account has a secret exactly when it is not anonymous")
	}
	return c, nil
}

// UpstreamName gives the model's name at its endpoint, from the binding.
func (c *Client) UpstreamName() string { return c.binding.UpstreamName }

// Close gives up the connections that no request uses.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// Ask implements [model.Client].
func (c *Client) Ask(ctx context.Context, r model.Request) (model.Reply, error) {
	if err := r.Check(); err != nil {
		return model.Reply{}, err
	}
	body, err := c.dialect.Encode(c.binding, r)
	if err != nil {
		return model.Reply{}, err
	}
	if ctx.Err() != nil {
		return model.Reply{}, withdrawn(ctx)
	}
	secret, failure := c.secret(ctx)
	var reply model.Reply
	if failure == nil {
		reply, failure = c.ask(ctx, body, secret)
	}
	if failure == nil {
		return reply, nil
	}
	if ctx.Err() != nil { // whatever was noticed first, this is what happened
		started, usage := failure.Started, failure.Usage
		failure = withdrawn(ctx)
		failure.Started, failure.Usage = started, usage
	}
	failure.Hide(secret)
	return model.Reply{}, failure
}

// secret gives what proves the account for one request.
func (c *Client) secret(ctx context.Context) (model.Secret, *model.Failure) {
	if c.token == nil {
		return c.binding.Secret, nil
	}
	secret, err := c.token(ctx)
	if failure, ok := errors.AsType[*model.Failure](err); ok {
		return model.Secret{}, failure
	}
	switch {
	case err != nil:
		return model.Secret{}, model.Fail(model.Unauthorized, err, "the account has no token: %v", err)
	case secret.IsZero():
		return model.Secret{}, model.Fail(model.Unauthorized, nil, "the account has no token")
	case strings.ContainsFunc(secret.Reveal(), func(c rune) bool { return c <= ' ' || c > '~' }):
		return model.Secret{}, model.Fail(model.Unauthorized, nil, "the account's token holds what a header cannot")
	}
	return secret, nil
}

// withdrawn is the failure of a request whose context is done.
func withdrawn(ctx context.Context) *model.Failure {
	cause := ctx.Err()
	if reason := context.Cause(ctx); reason != cause {
		cause = fmt.Errorf("%w: %w", cause, reason)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return model.Fail(model.Deadline, cause, "the time for the request ran out")
	}
	return model.Fail(model.Cancelled, cause, "the request was withdrawn")
}

func (c *Client) ask(ctx context.Context, body []byte, secret model.Secret) (model.Reply, *model.Failure) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request := (&http.Request{
		Method:        http.MethodPost,
		URL:           c.url,
		ContentLength: int64(len(body)),
		// Without GetBody the transport cannot send the request again by itself.
		Body:   io.NopCloser(bytes.NewReader(body)),
		Header: c.header.Clone(),
	}).WithContext(ctx)
	switch {
	case secret.IsZero():
	case c.binding.AuthKind == model.APIKey && c.dialect.KeyHeader != "":
		request.Header.Set(c.dialect.KeyHeader, secret.Reveal())
	default:
		request.Header.Set("Authorization", "Bearer "+secret.Reveal())
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return model.Reply{}, Unreachable("the endpoint", err, err.Error())
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		defer time.AfterFunc(errorBodyTime, cancel).Stop()
		return model.Reply{}, declined(response)
	}
	if kind := response.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "text/event-stream" {
			defer time.AfterFunc(errorBodyTime, cancel).Stop()
			return model.Reply{}, notAStream(response)
		}
	}
	reply, failure := Read(response.Body, c.dialect.Answer())
	if failure == nil && repeats(reply, secret) {
		failure = model.Fail(model.Malformed, nil, "the answer repeats the account's secret")
		failure.Started, failure.Usage = true, reply.Usage
	}
	if failure != nil {
		return model.Reply{}, failure
	}
	return reply, nil
}

// repeats reports whether the account's secret stands in an answer, which is recorded.
func repeats(reply model.Reply, secret model.Secret) bool {
	if len(secret.Reveal()) < tellingSecret {
		return false
	}
	for _, call := range reply.Calls {
		if secret.In(call.ID) || secret.In(call.Name) || secret.In(call.Arguments) {
			return true
		}
	}
	return secret.In(reply.Text)
}
