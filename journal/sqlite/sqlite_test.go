package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

func TestStore(t *testing.T) {
	journaltest.Store(t, func(t *testing.T) journaltest.Opener {
		path := filepath.Join(t.TempDir(), "loom", "journal.db")
		return func(ctx context.Context, o sqlstore.Options) (journal.Store, error) {
			return sqlite.Open(ctx, path, o)
		}
	})
}
