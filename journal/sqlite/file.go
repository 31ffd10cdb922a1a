package sqlite

import (
	"context"
	"errors"

	"github.com/loomrun/loom/journal/sqlstore"
)

// fill makes an empty file a journal without entries.
func fill(ctx context.Context, path string, o sqlstore.Options) error {
	db, err := connect(path, o)
	if err != nil {
		return err
	}
	s, err := tables()
	if err == nil {
		// It stays so for good, and nobody else has the file yet: a file that is in use may be too busy for it.
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	}
	if err == nil {
		err = s.Up(ctx, db)
	}
	// The last connection that closes brings the log into the file and removes it.
	return errors.Join(err, db.Close())
}
