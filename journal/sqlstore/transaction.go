package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/loomrun/loom/journal"
)

// transaction is one transaction of the database.
type transaction struct {
	ctx     context.Context
	tx      *sql.Tx
	dialect *Dialect
}

// change does something to a run in one transaction, whole or not at all.
func (s *Store) change(ctx context.Context, doing, run string, do func(*transaction) error) error {
	return s.within(ctx, doing, run, nil, do)
}

// look reads in one transaction: it sees one state, whatever others change meanwhile.
func (s *Store) look(ctx context.Context, doing, run string, do func(*transaction) error) error {
	return s.within(ctx, doing, run, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, do)
}

func (s *Store) within(ctx context.Context, doing, run string, o *sql.TxOptions, do func(*transaction) error) error {
	tx, err := s.db.BeginTx(ctx, o)
	if err == nil {
		if err = do(&transaction{ctx, tx, &s.dialect}); err == nil {
			err = tx.Commit()
		} else {
			_ = tx.Rollback() // what made it necessary is the error
		}
	}
	return s.explain(doing, run, err)
}

// explain says what was being done where an error came up.
func (s *Store) explain(doing, run string, err error) error {
	if err == nil {
		return nil
	}
	if run != "" {
		doing = fmt.Sprintf("%s %q", doing, run)
	}
	if s.dialect.Damaged(err) && !errors.Is(err, journal.ErrDamaged) {
		return fmt.Errorf("%s: %s: %w: %w", s.dialect.Name, doing, journal.ErrDamaged, err)
	}
	return fmt.Errorf("%s: %s: %w", s.dialect.Name, doing, err)
}

// exec executes a statement and gives how many rows it changed.
func (t *transaction) exec(statement string, arguments ...any) (int64, error) {
	result, err := t.tx.ExecContext(t.ctx, statement, arguments...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// one reads a query's only row. Its error is sql.ErrNoRows where there is none.
func (t *transaction) one(query string, arguments []any, into ...any) error {
	return t.tx.QueryRowContext(t.ctx, query, arguments...).Scan(into...)
}

// each reads a query's rows in their order.
func (t *transaction) each(query string, arguments []any, row func(scan func(...any) error) error) error {
	rows, err := t.tx.QueryContext(t.ctx, query, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// damaged says in what way what is stored cannot be what was written.
func damaged(format string, arguments ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{journal.ErrDamaged}, arguments...)...)
}

// unlikeWritten is the error of a change that reads back as something else. Nothing of it is kept.
func unlikeWritten(what string) error {
	return damaged("%s reads back unlike it was written, and nothing was kept", what)
}
