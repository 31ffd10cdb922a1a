// Package chat speaks the chat-completions protocol to one model (governed-runs 7.3).
//
// It is a thin wire with few ways out: one POST per request, no redirect followed, no proxy, no
// cookie, nothing taken from the environment, the account's secret sent to the binding's base URL
// and nowhere else. An answer counts only when its stream says why it ended and then that it ended;
// anything less is a failure, and no call is taken from it.
package chat

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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loomrun/loom/model"
	"github.com/loomrun/loom/model/sse"
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

// Sizes of what is read besides the stream.
const (
	maxHeader    = 64 << 10
	maxErrorBody = 64 << 10
)

// tellingSecret is the length in bytes from which a secret in an answer is no coincidence. Servers of
// one's own often take a word for a key, and a model may write any word.
const tellingSecret = 16

// Client asks the model of one binding. It is safe for use by several goroutines.
type Client struct {
	binding   model.Binding
	url       *url.URL
	transport *http.Transport // alone, since it follows no redirect and keeps no cookie
}

var _ model.Client = (*Client)(nil)

// New makes a client for a binding of the protocol [model.ChatCompletions]. It opens no connection.
func New(b model.Binding) (*Client, error) {
	u, err := b.URL("/chat/completions")
	switch {
	case err != nil:
		return nil, err
	case b.Protocol != model.ChatCompletions:
		return nil, errors.New("the binding is not of the protocol " + string(model.ChatCompletions))
	case b.UpstreamName == "":
		return nil, errors.New("the binding names no model")
	case b.Secret.IsZero() != (b.AuthKind == model.Anonymous):
		return nil, errors.New("an account has a secret exactly when it is not anonymous")
	}
	return &Client{
		binding: b,
		url:     u,
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
	}, nil
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
	body, err := encode(c.binding, r)
	if err != nil {
		return model.Reply{}, err
	}
	if ctx.Err() != nil {
		return model.Reply{}, withdrawn(ctx)
	}
	reply, failure := c.ask(ctx, body)
	if failure == nil {
		return reply, nil
	}
	if ctx.Err() != nil { // whatever was noticed first, this is what happened
		started, usage := failure.Started, failure.Usage
		failure = withdrawn(ctx)
		failure.Started, failure.Usage = started, usage
	}
	failure.Hide(c.binding.Secret)
	return model.Reply{}, failure
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

func (c *Client) ask(ctx context.Context, body []byte) (model.Reply, *model.Failure) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request := (&http.Request{
		Method:        http.MethodPost,
		URL:           c.url,
		ContentLength: int64(len(body)),
		// Without GetBody the transport cannot send the request again by itself.
		Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{
			"Accept":       {"text/event-stream"},
			"Content-Type": {"application/json"},
			"User-Agent":   {"loom"},
		},
	}).WithContext(ctx)
	if !c.binding.Secret.IsZero() {
		request.Header.Set("Authorization", "Bearer "+c.binding.Secret.Reveal())
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return model.Reply{}, unreachable(err)
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
	reply, failure := read(response.Body)
	if failure == nil && c.repeatsSecret(reply) {
		failure = model.Fail(model.Malformed, nil, "the answer repeats the account's secret")
		failure.Started, failure.Usage = true, reply.Usage
	}
	return reply, failure
}

// unreachable is the failure of a request that got no answer.
func unreachable(err error) *model.Failure {
	class, what := model.Unavailable, err.Error()
	lookup, noLookup := errors.AsType[*net.DNSError](err)
	errno, system := errors.AsType[syscall.Errno](err)
	timeout, timed := errors.AsType[net.Error](err)
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case distrusted:
		class, what = model.Unsupported, "its certificate does not hold"
	case notTLS:
		class, what = model.Unsupported, "it does not speak TLS"
	case noLookup && lookup.IsNotFound:
		what = "its host name is not known"
	case noLookup:
		what = "its host name could not be looked up"
	case system:
		what = errno.Error()
	case timed && timeout.Timeout():
		what = "it took too long"
	case errors.Is(err, io.EOF):
		what = "it closed the connection"
	}
	return model.Fail(class, err, "no answer from the endpoint: %s", what)
}

// declined is the failure that an answer with a status other than 200 means.
func declined(response *http.Response) *model.Failure {
	status := response.StatusCode
	said := words(response)
	what := strings.TrimSpace(fmt.Sprintf("the endpoint answered %d %s", status, http.StatusText(status)))
	failure := said.failure(classOfStatus(status), what)
	if status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusUnprocessableEntity {
		// The status of a request that is wrong; the code may say that it is something else.
		if class, known := said.class(); known {
			failure.Class = class
		}
	}
	failure.RetryAfter = retryAfter(response.Header.Get("Retry-After"))
	return failure
}

// notAStream is the failure that an answer with status 200 means when it is no event stream.
func notAStream(response *http.Response) *model.Failure {
	said := words(response)
	class, known := said.class()
	if !known {
		class = model.Malformed
	}
	return said.failure(class, "the endpoint did not answer with an event stream")
}

// words reads what an endpoint says where it does not answer, as far as it can be read.
func words(response *http.Response) endpointError {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	return readError(body)
}

// repeatsSecret reports whether the account's secret stands in an answer, which is recorded.
func (c *Client) repeatsSecret(reply model.Reply) bool {
	secret := c.binding.Secret
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

// read takes a whole answer from a stream.
func read(stream io.Reader) (model.Reply, *model.Failure) {
	events := sse.NewReader(stream)
	var a answer
	for !a.done {
		event, err := events.Next()
		var failure *model.Failure
		switch {
		case err == nil:
			failure = a.take(event)
		case errors.Is(err, sse.ErrTooLarge):
			failure = model.Fail(model.TooLarge, err, "%v", err)
		case errors.Is(err, io.EOF):
			failure = model.Fail(model.Incomplete, nil, "the answer ended before its terminal event")
		case a.started:
			failure = model.Fail(model.Incomplete, err, "the answer broke off before its terminal event")
		default:
			failure = model.Fail(model.Unavailable, err, "the answer broke off before its first event")
		}
		if failure != nil {
			return model.Reply{}, a.fail(failure)
		}
	}
	reply, failure := a.reply()
	return reply, a.fail(failure)
}

// retryAfter reads the header of that name (RFC 9110, section 10.2.3): seconds or a date. What is
// neither, or in the past, counts as nothing.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
