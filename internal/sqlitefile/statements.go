package sqlitefile

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// maxCompiled bounds the statements that a connection keeps compiled: there are some thirty, and as many more as
// there are sizes of a batch.
const maxCompiled = 64

// Compiling is a connector whose connections keep their statements compiled.
func Compiling(c driver.Connector) driver.Connector { return compiling{c} }

// compiling is a connector whose connections keep their statements compiled. Compiling them anew took a third
// of the time of an append.
type compiling struct{ driver.Connector }

// Connect implements driver.Connector.
func (c compiling) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := inner.(innerConn)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver lacks what a connection needs"), inner.Close())
	}
	return &compiledConn{whole, map[string]compiled{}}, nil
}

type innerConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type compiled interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// compiledConn is a connection with the compiled statements that nothing is using. A statement on a file is short, and
// waits for another program no longer than BusyTime, so it is not called off in its midst: to be able to would take a
// goroutine for each. As every connection, it is used
// by one goroutine at a time.
type compiledConn struct {
	innerConn
	free map[string]compiled
}

// take gives a compiled statement, which nobody else has until it is given back; nil for a text that is not worth it.
func (c *compiledConn) take(ctx context.Context, text string) (compiled, error) {
	if s := c.free[text]; s != nil {
		delete(c.free, text)
		return s, nil
	}
	switch word, _, _ := strings.Cut(text, " "); word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT":
		s, err := c.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		if s, ok := s.(compiled); ok {
			return s, nil
		}
		return nil, s.Close()
	}
	return nil, nil
}

func (c *compiledConn) giveBack(text string, s compiled) error {
	if c.free[text] != nil || len(c.free) == maxCompiled {
		return s.Close()
	}
	c.free[text] = s
	return nil
}

// ExecContext implements driver.ExecerContext.
func (c *compiledConn) ExecContext(ctx context.Context, text string, arguments []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.innerConn.ExecContext(ctx, text, arguments)
	}
	result, err := s.ExecContext(context.WithoutCancel(ctx), arguments)
	return result, errors.Join(err, c.giveBack(text, s))
}

// QueryContext implements driver.QueryerContext.
func (c *compiledConn) QueryContext(ctx context.Context, text string, arguments []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.innerConn.QueryContext(ctx, text, arguments)
	}
	rows, err := s.QueryContext(context.WithoutCancel(ctx), arguments)
	if err != nil {
		return nil, errors.Join(err, c.giveBack(text, s))
	}
	return &compiledRows{rows, func() error { return c.giveBack(text, s) }}, nil
}

// BeginTx implements driver.ConnBeginTx. A transaction that writes begins and ends by compiled statements too.
func (c *compiledConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if o != (driver.TxOptions{}) {
		return c.innerConn.BeginTx(ctx, o)
	}
	_, err := c.ExecContext(ctx, "BEGIN IMMEDIATE", nil)
	return compiledTx{c}, err
}

// compiledTx is a transaction that writes.
type compiledTx struct{ *compiledConn }

// Commit implements driver.Tx.
func (t compiledTx) Commit() error {
	_, err := t.ExecContext(context.Background(), "COMMIT", nil)
	if err != nil {
		_ = t.Rollback() // SQLite leaves it open where it was too busy, and has ended it itself where it was not
	}
	return err
}

// Rollback implements driver.Tx.
func (t compiledTx) Rollback() error {
	_, err := t.innerConn.ExecContext(context.Background(), "ROLLBACK", nil)
	return err
}

// Close implements driver.Conn.
func (c *compiledConn) Close() error {
	var errs []error
	for _, s := range c.free {
		errs = append(errs, s.Close())
	}
	clear(c.free)
	return errors.Join(append(errs, c.innerConn.Close())...)
}

// compiledRows gives its statement back when it is closed.
type compiledRows struct {
	driver.Rows
	done func() error
}

// Close implements driver.Rows.
func (r *compiledRows) Close() error {
	err := r.Rows.Close()
	if r.done != nil {
		err = errors.Join(err, r.done())
		r.done = nil
	}
	return err
}
