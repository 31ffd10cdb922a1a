package journaltest

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/sqlstore"
)

// 4.11: what was written is read back and compared before it counts.
func readBack(t *testing.T, open Opener) {
	_, b, l := begun(t, open, sqlstore.Options{}, "run-1")
	for _, marker := range []string{"0.10", "0.20", "obs-1", "q-77", "marked@1", "marked label"} {
		liar := open.must(t, sqlstore.Options{Connector: func(c driver.Connector) driver.Connector { return lying{c, marker} }})
		o := observed("case-1", "0.20")
		o.Subject = "obs-1"
		c := opened("case-1")
		c.Artifacts["query"], c.Protocol = "q-77", "marked@1"
		undo := *b
		batch := b.told(c, received("case-1", "0.10"), o)
		batch.Summary.Label = "marked label"
		if err := liar.Append(t.Context(), l, batch); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%s: %v", marker, err)
		}
		*b = undo
	}
	intact(t, open.must(t, sqlstore.Options{}), b)
}

// lying changes a text on its way to the database, but only where it stands alone or in JSON that is not an entry.
type lying struct {
	driver.Connector
	marker string
}

func (l lying) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := l.Connector.Connect(ctx)
	return liar{&conn{inner, func(Op, bool) error { return nil }}, l.marker}, err
}

type liar struct {
	*conn
	marker string
}

func (l liar) ExecContext(ctx context.Context, statement string, arguments []driver.NamedValue) (driver.Result, error) {
	l.lie(statement, arguments)
	return l.conn.ExecContext(ctx, statement, arguments)
}

// QueryContext lies about a change that gives back what it wrote.
func (l liar) QueryContext(ctx context.Context, statement string, arguments []driver.NamedValue) (driver.Rows, error) {
	l.lie(statement, arguments)
	return l.conn.QueryContext(ctx, statement, arguments)
}

func (l liar) lie(statement string, arguments []driver.NamedValue) {
	if strings.HasPrefix(statement, "SELECT") || strings.Contains(statement, "journal_entries") {
		return
	}
	for i, a := range arguments {
		if text, ok := a.Value.(string); ok {
			arguments[i].Value = strings.ReplaceAll(text, l.marker, "0.1")
		}
	}
}
