package journaltest

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
)

// Op is what a store asks of its database.
type Op string

// The operations that a Hook is called around.
const (
	Write Op = "write" // a statement that changes something
	Sync  Op = "sync"  // a commit: what was written becomes durable
	Read  Op = "read"  // a query, and each of its rows
)

// Hook is called before and after each operation, so that a test can end the process or let the operation
// fail at every one. An error it returns is the operation's error: before it, nothing was done; after it, it
// was done and is reported as failed all the same. An operation that failed has no after. Several goroutines
// may call a hook at the same time.
type Hook func(op Op, after bool) error

// Faulty puts a hook around the operations of a database: use it as sqlstore.Options.Connector.
func Faulty(hook Hook) func(driver.Connector) driver.Connector {
	return func(c driver.Connector) driver.Connector { return connector{c, hook} }
}

// ErrPlanted is the error of an operation that [FailAt] lets fail.
var ErrPlanted = errors.New("planted")

// FailAt gives a hook that lets one operation fail, counted from 0 over all connections, before or after it is
// done, and what tells how many operations were asked for so far. A number below 0 lets none fail.
func FailAt(n int64, after bool) (hook Hook, asked func() int64) {
	counts := map[bool]*atomic.Int64{false: new(atomic.Int64), true: new(atomic.Int64)}
	hook = func(_ Op, isAfter bool) error {
		if counts[isAfter].Add(1)-1 == n && isAfter == after {
			return ErrPlanted
		}
		return nil
	}
	return hook, counts[false].Load
}

// around does an operation between the two calls of the hook.
func (h Hook) around(op Op, do func() error) error {
	err := h(op, false)
	if err == nil {
		err = do()
	}
	if err == nil {
		err = h(op, true)
	}
	return err
}

// opOf tells a query that changes something from one that does not.
func opOf(statement string) Op {
	word, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	if strings.EqualFold(word, "SELECT") {
		return Read
	}
	return Write
}

type connector struct {
	driver.Connector
	hook Hook
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{inner, c.hook}, nil
}

// conn passes on what the connections of both databases can do. Statements are executed, not prepared, so
// that every one is seen.
type conn struct {
	driver.Conn
	hook Hook
}

var errPrepared = errors.New("journaltest: a prepared statement would pass unseen")

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errPrepared }

func (c *conn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return nil, errPrepared
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	inner, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return tx{inner, c.hook}, nil
}

func (c *conn) ExecContext(ctx context.Context, statement string, arguments []driver.NamedValue) (result driver.Result, err error) {
	err = c.hook.around(opOf(statement), func() error {
		result, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, statement, arguments)
		return err
	})
	return result, err
}

func (c *conn) QueryContext(ctx context.Context, query string, arguments []driver.NamedValue) (driver.Rows, error) {
	var inner driver.Rows
	err := c.hook.around(opOf(query), func() (err error) {
		inner, err = c.Conn.(driver.QueryerContext).QueryContext(ctx, query, arguments)
		return err
	})
	if err != nil {
		if inner != nil {
			err = errors.Join(err, inner.Close())
		}
		return nil, err
	}
	return rows{inner, c.hook}, nil
}

func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) CheckNamedValue(value *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

type tx struct {
	driver.Tx
	hook Hook
}

func (t tx) Commit() error {
	began := false
	err := t.hook.around(Sync, func() error {
		began = true
		return t.Tx.Commit()
	})
	if err != nil && !began {
		// A driver leaves no transaction open behind a commit that failed.
		err = errors.Join(err, t.Tx.Rollback())
	}
	return err
}

type rows struct {
	driver.Rows
	hook Hook
}

func (r rows) Next(into []driver.Value) error {
	return r.hook.around(Read, func() error { return r.Rows.Next(into) })
}
