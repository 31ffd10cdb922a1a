package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/loomrun/loom/journal"
)

// row is the row of a run.
type row struct {
	head    int64 // the sequence of the last entry
	lease   int64
	holder  *journal.Holder // nil: the lease was given back
	renewed time.Time
}

// run reads the row of a run that the transaction is about to change.
func (t *transaction) run(id string) (r row, err error) {
	var holder sql.NullString
	var renewed int64
	err = t.one("SELECT head_sequence, lease, holder, renewed FROM journal_runs WHERE id = $1"+t.dialect.LockRow,
		[]any{id}, &r.head, &r.lease, &holder, &renewed)
	if errors.Is(err, sql.ErrNoRows) {
		return r, journal.ErrNoRun
	}
	if err == nil {
		r.holder, err = readHolder(holder)
	}
	r.renewed = time.UnixMilli(renewed)
	return r, err
}

func readHolder(stored sql.NullString) (*journal.Holder, error) {
	if !stored.Valid {
		return nil, nil
	}
	h := new(journal.Holder)
	if err := journal.Decode(stored.String, h); err != nil {
		return nil, fmt.Errorf("the holder of the lease: %w", err)
	}
	return h, nil
}

// holds tells whether a lease keeps others away.
func (s *Store) holds(holder *journal.Holder, renewed time.Time) bool {
	if holder == nil {
		return false
	}
	if alive, known := s.alive(*holder); known {
		return alive
	}
	return s.now().Before(renewed.Add(journal.LeaseTime))
}

// Take implements journal.Store. Who has the lease already cannot take it again: two goroutines of one
// process are two writers.
func (s *Store) Take(ctx context.Context, run string, by journal.Holder) (journal.Lease, error) {
	lease := journal.Lease{Run: run, Holder: by}
	err := s.change(ctx, "take run", run, func(t *transaction) error {
		r, err := t.run(run)
		if err != nil {
			return err
		}
		if s.holds(r.holder, r.renewed) {
			return &journal.HeldError{Holder: *r.holder}
		}
		holder, err := journal.Encode(by)
		if err != nil {
			return err
		}
		lease.Number = r.lease + 1
		_, err = t.exec("UPDATE journal_runs SET lease = $2, holder = $3, renewed = $4 WHERE id = $1",
			run, lease.Number, holder, s.now().UnixMilli())
		return err
	})
	if err != nil {
		return journal.Lease{}, err
	}
	return lease, nil
}

// Renew implements journal.Store. [Store.Append] renews a lease too.
func (s *Store) Renew(ctx context.Context, l journal.Lease) error {
	return s.change(ctx, "renew the lease of run", l.Run, func(t *transaction) error {
		changed, err := t.exec("UPDATE journal_runs SET renewed = $3 WHERE id = $1 AND lease = $2 AND holder IS NOT NULL",
			l.Run, l.Number, s.now().UnixMilli())
		if err == nil && changed == 0 {
			err = journal.ErrLeaseLost
		}
		return err
	})
}

// Release implements journal.Store.
func (s *Store) Release(ctx context.Context, l journal.Lease) error {
	return s.change(ctx, "release run", l.Run, func(t *transaction) error {
		_, err := t.exec("UPDATE journal_runs SET holder = NULL WHERE id = $1 AND lease = $2", l.Run, l.Number)
		return err
	})
}
