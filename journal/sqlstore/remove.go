package sqlstore

import (
	"context"
	"fmt"

	"github.com/loomrun/loom/journal"
)

// Remove implements journal.Store.
func (s *Store) Remove(ctx context.Context, run string) error {
	err := s.change(ctx, "remove run", run, func(t *transaction) error {
		// Before the row of the run, as in Begin: two that wait for each other would wait for ever.
		if t.dialect.LockDocuments != "" {
			if _, err := t.exec(t.dialect.LockDocuments); err != nil {
				return err
			}
		}
		r, err := t.run(run)
		if err != nil {
			return err
		}
		if s.holds(r.holder, r.renewed) {
			return &journal.HeldError{Holder: *r.holder}
		}
		return t.remove(run)
	})
	if err != nil || s.dialect.Purge == nil {
		return err
	}
	if err := s.dialect.Purge(ctx, s.db); err != nil {
		return s.explain("remove run", run, fmt.Errorf("it is removed, but its text may still be found in the files of the database until the next removal: %w", err))
	}
	return nil
}

// remove removes what is there of a run, and the documents that were only its own.
func (t *transaction) remove(run string) error {
	var digests []string
	err := t.each("SELECT sha256 FROM journal_run_documents WHERE run = $1", []any{run}, func(scan func(...any) error) error {
		var sha256 string
		err := scan(&sha256)
		digests = append(digests, sha256)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := t.exec("DELETE FROM journal_runs WHERE id = $1", run); err != nil {
		return err
	}
	for _, sha256 := range digests {
		if _, err := t.exec("DELETE FROM journal_documents WHERE sha256 = $1"+
			" AND NOT EXISTS (SELECT 1 FROM journal_run_documents r WHERE r.sha256 = $1)", sha256); err != nil {
			return err
		}
	}
	return nil
}
