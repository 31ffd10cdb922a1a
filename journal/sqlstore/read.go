package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/loomrun/loom/journal"
)

// Read implements journal.Store.
func (s *Store) Read(ctx context.Context, run string) (*journal.Record, error) {
	record := &journal.Record{Run: run}
	err := s.look(ctx, "read run", run, func(t *transaction) error {
		var summary string
		var head []byte
		err := t.one("SELECT summary, head FROM journal_runs WHERE id = $1", []any{run}, &summary, &head)
		if errors.Is(err, sql.ErrNoRows) {
			return journal.ErrNoRun
		}
		if err != nil {
			return err
		}
		if copy(record.Head[:], head) != len(head) || len(head) != len(record.Head) {
			return damaged("the hash of the head has %d bytes", len(head))
		}
		if err := journal.Decode(summary, &record.Summary); err != nil {
			return fmt.Errorf("the summary: %w", err)
		}
		size := 0
		err = t.entries(run, 0, func(e journal.Entry) error {
			if size += len(e.Body); size > journal.MaxRecordBytes {
				return fmt.Errorf("its entries have more than %d bytes", journal.MaxRecordBytes)
			}
			record.Entries = append(record.Entries, e)
			return nil
		})
		if err == nil {
			record.Documents, err = t.documents(run)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return record, nil
}

// List implements journal.Store. Runs that began in the same second come by id, the highest first. A holder that
// is dead, or whose lease has run out, is nobody. A list whose summaries take more than journal.MaxRecordBytes
// is an error.
func (s *Store) List(ctx context.Context) ([]journal.Listed, error) {
	var listed []journal.Listed
	err := s.look(ctx, "list the runs", "", func(t *transaction) error {
		size := 0
		return t.each("SELECT id, summary, head_sequence, holder, renewed FROM journal_runs ORDER BY began DESC, id DESC",
			nil, func(scan func(...any) error) error {
				var l journal.Listed
				var summary string
				var holder sql.NullString
				var renewed int64
				if err := scan(&l.Run, &summary, &l.Entries, &holder, &renewed); err != nil {
					return err
				}
				if size += len(l.Run) + len(summary); size > journal.MaxRecordBytes {
					return fmt.Errorf("the summaries of all runs have more than %d bytes", journal.MaxRecordBytes)
				}
				err := journal.Decode(summary, &l.Summary)
				if err == nil {
					l.Holder, err = readHolder(holder)
				}
				if err != nil {
					return fmt.Errorf("run %q: %w", l.Run, err)
				}
				if !s.holds(l.Holder, time.UnixMilli(renewed)) {
					l.Holder = nil
				}
				listed = append(listed, l)
				return nil
			})
	})
	if err != nil {
		return nil, err
	}
	return listed, nil
}
