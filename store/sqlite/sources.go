package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/sqlitefile"
	"github.com/loomrun/loom/store"
)

// AddFacet implements [store.Store].
func (d *DB) AddFacet(ctx context.Context, facet string, at time.Time) error {
	if err := store.CheckFacet(facet); err != nil {
		return err
	}
	lock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return d.change(ctx, "add a facet", func(tx *sql.Tx) error {
		var there int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM facet").Scan(&there); err != nil {
			return err
		}
		if there >= store.MaxFacets {
			return fmt.Errorf("there are %d facets already, and no more can be", there)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO facet (name, added) VALUES (?, ?) ON CONFLICT DO NOTHING", facet, at.Unix())
		return err
	})
}

// AddSource implements [store.Store].
func (d *DB) AddSource(ctx context.Context, s store.Source) (store.Source, error) {
	if err := s.Check(); err != nil {
		return s, err
	}
	lock, err := d.lock(ctx)
	if err != nil {
		return s, err
	}
	defer lock.Unlock()
	err = d.change(ctx, "add a source", func(tx *sql.Tx) error {
		var all, same int
		err := tx.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE format <> ?), count(*) FILTER (WHERE name = ?) FROM source", store.WrittenFormat, s.Name).Scan(&all, &same)
		switch {
		case err != nil:
			return err
		case same > 0:
			return fmt.Errorf("source %s: %w", s.Name, store.ErrSourceThere)
		case all >= store.MaxSources:
			return fmt.Errorf("there are %d sources already, and no more can be", all)
		}
		added, err := tx.ExecContext(ctx, "INSERT INTO source (name, kind, format, location, added) VALUES (?, ?, ?, ?, ?)",
			s.Name, string(s.Kind), s.Format, s.Location, s.Added.Unix())
		if err != nil {
			return err
		}
		if s.Number, err = added.LastInsertId(); err != nil {
			return err
		}
		return putIn(ctx, tx, s.Number, s.Facets)
	})
	return s, err
}

// putIn puts a source that is in no facet into some.
func putIn(ctx context.Context, tx *sql.Tx, source int64, facets []string) error {
	for _, f := range facets {
		var there bool
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM facet WHERE name = ?", f).Scan(&there); err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("%w: %s", store.ErrNoFacet, f)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO source_facet (source, facet) VALUES (?, ?)", source, f); err != nil {
			return err
		}
	}
	return nil
}

// SetFacets implements [store.Store].
func (d *DB) SetFacets(ctx context.Context, name string, facets []string, at time.Time) (store.FacetChange, error) {
	c := store.FacetChange{At: at, Source: name, After: slices.Compact(slices.Sorted(slices.Values(facets)))}
	lock, err := d.lock(ctx)
	if err != nil {
		return c, err
	}
	defer lock.Unlock()
	err = d.change(ctx, "change facets", func(tx *sql.Tx) error {
		s, owner, err := sourceNamed(ctx, tx, name)
		if err != nil {
			return err
		}
		if err := s.RefuseWritten(); err != nil {
			return err
		}
		c.Before = s.Facets
		if slices.Equal(c.Before, c.After) {
			return nil
		}
		s.Facets = c.After
		if err := s.Check(); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM source_facet WHERE source = ?", s.Number); err != nil {
			return err
		}
		if err := putIn(ctx, tx, s.Number, c.After); err != nil {
			return err
		}
		number, err := labelNumber(ctx, tx, store.LabelOf(owner, s).Canonical())
		if err != nil {
			return err
		}
		labelled, err := tx.ExecContext(ctx, "UPDATE record SET label = ? WHERE source = ?", number, s.Number)
		if err != nil {
			return err
		}
		if c.Records, err = labelled.RowsAffected(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO facet_change (at, source, facets_was, facets_is, records) VALUES (?, ?, ?, ?, ?)",
			at.Unix(), name, strings.Join(c.Before, ","), strings.Join(c.After, ","), c.Records)
		return err
	})
	return c, err
}

// RemoveSource implements [store.Store]. It takes time and memory in proportion to the whole store: what was removed is overwritten.
func (d *DB) RemoveSource(ctx context.Context, name string) (records int64, err error) {
	lock, err := d.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer lock.Unlock()
	err = d.change(ctx, "remove a source", func(tx *sql.Tx) error {
		s, _, err := sourceNamed(ctx, tx, name)
		if err != nil {
			return err
		}
		if name == store.FileCabinet {
			return errors.New("the file cabinet is a part of the instance and cannot be removed")
		}
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM record WHERE source = ?", s.Number).Scan(&records); err != nil {
			return err
		}
		for _, statement := range []string{
			"DELETE FROM word WHERE rowid IN (SELECT number FROM record WHERE source = ? AND tokens >= 0)",
			"DELETE FROM orphan WHERE record IN (SELECT number FROM record WHERE source = ?)",
			"DELETE FROM item WHERE container IN (SELECT number FROM container WHERE source = ?)",
			"DELETE FROM skip WHERE container IN (SELECT number FROM container WHERE source = ?)",
			"DELETE FROM container WHERE source = ?",
			"DELETE FROM record WHERE source = ?",
			"DELETE FROM source WHERE number = ?",
		} {
			if _, err := tx.ExecContext(ctx, statement, s.Number); err != nil {
				return err
			}
		}
		// The index marks what is deleted; merged into one, it holds none of it any more.
		_, err = tx.ExecContext(ctx, "INSERT INTO word (word) VALUES ('optimize')")
		return err
	})
	if err != nil {
		return 0, err
	}
	return records, known(sqlitefile.Purge(ctx, d.write))
}

// querier is what a transaction and a connection have.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// sourceNamed gives a source and the owner's subject.
func sourceNamed(ctx context.Context, q querier, name string) (s store.Source, owner string, err error) {
	s.Name = name
	var kind string
	var added int64
	err = q.QueryRowContext(ctx, `SELECT number, kind, format, location, added, written, (SELECT subject FROM owner) FROM source WHERE name = ?`, name).
		Scan(&s.Number, &kind, &s.Format, &s.Location, &added, &s.Written, &owner)
	if errors.Is(err, sql.ErrNoRows) {
		return s, "", fmt.Errorf("%w: %s", store.ErrNoSource, name)
	}
	if err != nil {
		return s, "", err
	}
	s.Kind, s.Added = store.SourceKind(kind), time.Unix(added, 0).UTC()
	s.Facets, err = texts(ctx, q, "SELECT facet FROM source_facet WHERE source = ? ORDER BY facet", s.Number)
	return s, owner, err
}

func texts(ctx context.Context, q querier, query string, args ...any) (all []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// labelNumber gives the number of a label, which is made where it is missing.
func labelNumber(ctx context.Context, tx *sql.Tx, text string) (number int64, err error) {
	if _, err := tx.ExecContext(ctx, "INSERT INTO label (text) VALUES (?) ON CONFLICT DO NOTHING", text); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT number FROM label WHERE text = ?", text).Scan(&number)
	return number, err
}
