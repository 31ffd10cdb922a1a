// Package schema brings the tables of a database to the version of this program, by numbered migrations that keep old data.
package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Errors of a database that cannot be used as it is.
var (
	ErrNone  = errors.New("it has none of the tables")
	ErrNewer = errors.New("use the newer program that wrote it")
)

// Schema is how the tables of a database come to be.
type Schema struct {
	Dialect goose.Dialect
	Files   fs.FS  // with the migrations in a folder of this name, each NUMBER_NAME.sql
	Table   string // of the migrations that a database has been through
	Exists  string // a query of whether that table is there
}

// Newest gives the version that this program makes and takes: the highest number of a migration.
func (s Schema) Newest() (int64, error) {
	files, err := fs.ReadDir(s.Files, "migrations")
	if err != nil {
		return 0, err
	}
	newest := int64(0)
	for _, f := range files {
		version, err := goose.NumericComponent(f.Name())
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}

// Behind tells whether a database is of an older version than this program, so that [Schema.Up] has something to do. Errors wrap
// [ErrNone] and [ErrNewer].
func (s Schema) Behind(ctx context.Context, db *sql.DB) (bool, error) {
	newest, err := s.Newest()
	if err != nil {
		return false, err
	}
	version, err := s.version(ctx, db)
	if err != nil {
		var there bool
		if existsErr := db.QueryRowContext(ctx, s.Exists).Scan(&there); existsErr != nil {
			return false, err
		}
		if !there {
			return false, ErrNone
		}
		// Another program may have made the table between the two questions.
		if version, err = s.version(ctx, db); err != nil {
			return false, err
		}
	}
	switch {
	case version == 0:
		return false, ErrNone
	case version > newest:
		return false, fmt.Errorf("it has version %d, and this program knows versions up to %d: %w", version, newest, ErrNewer)
	}
	return version < newest, nil
}

// version gives the version of a database: 0 for one whose table of migrations is empty.
func (s Schema) version(ctx context.Context, db *sql.DB) (version int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+s.Table).Scan(&version)
	return version, err
}

// Up brings a database to the newest version. The caller keeps others from doing the same at the same time.
func (s Schema) Up(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(s.Files, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(s.Dialect, db, files, goose.WithTableName(s.Table),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err == nil {
		_, err = p.Up(ctx)
	}
	if err != nil {
		return fmt.Errorf("make its tables: %w", err)
	}
	return nil
}
