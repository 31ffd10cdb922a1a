package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/loomrun/loom/internal/config"
	"github.com/loomrun/loom/internal/xdg"
	"github.com/loomrun/loom/journal"
	"github.com/loomrun/loom/journal/postgres"
	"github.com/loomrun/loom/journal/sqlite"
	"github.com/loomrun/loom/journal/sqlstore"
)

// journalFile is where the records of runs are, below the folder of a person's state (D2).
const journalFile = "journal.db"

// journalFlag declares the flag that says where the journal is.
func journalFlag(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "journal", "", "keep the records of runs in this SQLite file, or PostgreSQL database: a `path or URL` (default $XDG_STATE_HOME/loom/journal.db)")
}

// journalAt gives the place that a value of the flag names; the default for an empty one.
func (s settled) journalAt(value string) (config.Journal, error) {
	if value == "" {
		state, err := xdg.State(os.LookupEnv)
		if err != nil {
			return config.Journal{}, fmt.Errorf("%w; or name a journal with --journal", err)
		}
		return config.Journal{Path: filepath.Join(state, journalFile)}, nil
	}
	place, ok := config.ReadJournal(value)
	if !ok {
		return place, fmt.Errorf("%s is neither a path nor a postgres:// URL", s.from("journal", "--journal"))
	}
	return place, nil
}

// journalShown gives the place that a run would use, without a password; empty where there is none.
func (s settled) journalShown(value string) string {
	place, err := s.journalAt(value)
	if err != nil && value == "" {
		return ""
	}
	return place.String()
}

// errNoJournal means that no run has been kept so far.
var errNoJournal = errors.New("no run has been kept so far")

// openJournal opens the journal, of which a run may be the first, so that it is made where it is missing.
func (s settled) openJournal(ctx context.Context, value string) (journal.Store, error) {
	return s.journal(ctx, value, sqlstore.Options{})
}

// readJournal opens the journal if there is one. Else its error is errNoJournal.
func (s settled) readJournal(ctx context.Context, value string) (journal.Store, error) {
	store, err := s.journal(ctx, value, sqlstore.Options{Existing: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoJournal
	}
	return store, err
}

func (s settled) journal(ctx context.Context, value string, o sqlstore.Options) (journal.Store, error) {
	place, err := s.journalAt(value)
	if err != nil {
		return nil, err
	}
	var store journal.Store
	if place.Address != "" {
		store, err = postgres.Open(ctx, place.Address, o)
	} else {
		store, err = sqlite.Open(ctx, place.Path, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; every run is kept in a journal: mend this one or name another with --journal", err)
	}
	return store, nil
}
