package postgres_test

import (
	"context"
	"testing"

	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/journaltest"
	"github.com/loomrun/loom/journal/postgres"
	"github.com/loomrun/loom/journal/sqlstore"
)

func TestStore(t *testing.T) {
	journaltest.Store(t, func(t *testing.T) journaltest.Opener {
		address := journaltest.PostgreSQL(t)
		return func(ctx context.Context, o sqlstore.Options) (journal.Store, error) {
			return postgres.Open(ctx, address, o)
		}
	})
}
