// Package schema brings the tables of a database to the version of this program, by numbered migrations that keep old data.
package schema

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Schema is how the tables of a database come to be.
type Schema struct {
	Dialect goose.Dialect
	Files   fs.FS  // the migrations, each NUMBER_NAME.sql
	Table   string // of the migrations that a database has been through
	Exists  string // a query of whether that table is there
}

// Newest gives the version that this program makes and takes: the highest number of a migration.
func (s Schema) Newest() (int64, error) {
	files, err := fs.ReadDir(s.Files, ".")
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

// Version gives the version of a database: 0 for one that never had any of these tables.
func (s Schema) Version(ctx context.Context, db *sql.DB) (version int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+s.Table).Scan(&version)
	if err == nil {
		return version, nil
	}
	var there bool
	if existsErr := db.QueryRowContext(ctx, s.Exists).Scan(&there); existsErr == nil && !there {
		return 0, nil
	}
	return 0, err
}

// Current tells whether a database of a version can be used as it is. A version that this program does not
// know yet is an error.
func (s Schema) Current(version int64) (bool, error) {
	newest, err := s.Newest()
	if err == nil && version > newest {
		err = fmt.Errorf("it has version %d, and this program knows versions up to %d: use the newer program that wrote it", version, newest)
	}
	return version == newest, err
}

// Up brings a database to the newest version. The caller keeps others from doing the same at the same time.
func (s Schema) Up(ctx context.Context, db *sql.DB) error {
	p, err := goose.NewProvider(s.Dialect, db, s.Files, goose.WithTableName(s.Table),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err == nil {
		_, err = p.Up(ctx)
	}
	if err != nil {
		return fmt.Errorf("make its tables: %w", err)
	}
	return nil
}
