package sqlite

import (
	"context"
	"errors"

	"github.com/loomrun/loom/internal/sqlitefile"
	"github.com/loomrun/loom/journal/sqlstore"
)

// fill makes an empty file a journal without entries.
func fill(ctx context.Context, path string, o sqlstore.Options) error {
	db, err := connect(path, o)
	if err != nil {
		return err
	}
	err = sqlitefile.Fill(ctx, db, tables)
	// The last connection that closes brings the log into the file and removes it.
	return errors.Join(err, db.Close())
}
