package wire

import (
	"context"
	"crypto/x509"
	"net"

	"github.com/loomrun/loom/model"
)

// Option changes how a client sends. The zero choice of each is what a catalog's binding means.
type Option func(*Client)

// Header adds a header to each request. It replaces one of that name, but never the one that carries
// the account's secret.
func Header(name, value string) Option {
	return func(c *Client) { c.header.Set(name, value) }
}

// Token lets each request ask for the account's token before it is sent, in place of a secret of the
// binding. Source may be called by several goroutines at once. An error of it that is a
// [*model.Failure] is the request's failure; any other means class Unauthorized, and its text, which
// must hold nothing secret, becomes part of the detail. No connection is opened then.
func Token(source func(context.Context) (model.Secret, error)) Option {
	return func(c *Client) { c.token = source }
}

// Dial lets connections be made by a function of the caller's, for a server that is reached by
// another way than the system's network.
func Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *Client) { c.transport.DialContext = dial }
}

// Roots lets the endpoint's certificate hold by these authorities in place of the system's.
func Roots(pool *x509.CertPool) Option {
	return func(c *Client) { c.transport.TLSClientConfig.RootCAs = pool }
}
