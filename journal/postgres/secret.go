package postgres

import (
	"context"
	"database/sql/driver"
	"strings"
)

// secret is a password. No error tells it.
type secret string

// from takes the password out of a text.
func (s secret) from(text string) string {
	if s == "" {
		return text
	}
	return strings.ReplaceAll(text, string(s), "********")
}

// guarded is a connector whose errors are one line and do not tell the password.
type guarded struct {
	driver.Connector
	hide secret
}

// Connect implements driver.Connector.
func (g guarded) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := g.Connector.Connect(ctx)
	if err == nil {
		return c, nil
	}
	text := g.hide.from(err.Error())
	failed := &connectError{strings.Join(strings.Fields(text), " "), err}
	if text != err.Error() {
		failed.cause = nil // it would tell
	}
	return nil, failed
}

type connectError struct {
	text  string
	cause error
}

// Error says what failed, in one line.
func (e *connectError) Error() string { return e.text }

// Unwrap gives what the driver said; nil where that tells the password.
func (e *connectError) Unwrap() error { return e.cause }
