package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// Trust implements [store.Store].
func (d *DB) Trust(ctx context.Context) (store.Trust, error) {
	tx, err := d.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", known(err)
	}
	trust, err := trustOf(ctx, tx)
	return trust, known(errors.Join(err, tx.Rollback()))
}

func trustOf(ctx context.Context, q querier) (store.Trust, error) {
	var owner store.Owner
	err := q.QueryRowContext(ctx, "SELECT subject FROM owner").Scan(&owner.Subject)
	if err != nil {
		return "", err
	}
	if owner.Facets, err = texts(ctx, q, "SELECT name FROM facet ORDER BY name"); err != nil {
		return "", err
	}
	facets, err := facetsBySource(ctx, q)
	if err != nil {
		return "", err
	}
	rows, err := q.QueryContext(ctx, "SELECT number, name, kind, format FROM source")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var sources []store.Source
	for rows.Next() {
		var s store.Source
		var kind string
		if err := rows.Scan(&s.Number, &s.Name, &kind, &s.Format); err != nil {
			return "", err
		}
		s.Kind, s.Facets = store.SourceKind(kind), facets[s.Number]
		sources = append(sources, s)
	}
	return store.TrustOf(owner, sources), rows.Err()
}

// Write implements [store.Store].
func (d *DB) Write(ctx context.Context, trust store.Trust, documents []store.Written, at time.Time) error {
	if err := store.CheckWritten(documents); err != nil {
		return err
	}
	words := make([]*store.Indexed, len(documents)) // outside of the transaction, as it is work
	for i, w := range documents {
		words[i] = store.Index(w.Record)
	}
	lock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return d.change(ctx, "write documents", func(tx *sql.Tx) error {
		now, err := trustOf(ctx, tx)
		if err != nil {
			return err
		}
		if now != trust {
			return fmt.Errorf("%w: nothing was written", store.ErrTrust)
		}
		w := &writingDown{db: d, ctx: ctx, tx: tx, at: at}
		if err := w.forget(documents); err != nil {
			return err
		}
		return w.put(documents, words)
	})
}

// writingDown is the transaction of one call of [DB.Write].
type writingDown struct {
	db  *DB
	ctx context.Context
	tx  *sql.Tx
	at  time.Time
}

// batches are those of one step, by the number of their source.
type batches map[int64]*batch

func (w *writingDown) batch(of batches, s store.Source) *batch {
	b := of[s.Number]
	if b == nil {
		b = &batch{importing: &importing{db: w.db, source: s, at: w.at}, ctx: w.ctx, tx: w.tx}
		of[s.Number] = b
	}
	return b
}

func (of batches) finish() error {
	for _, number := range slices.Sorted(maps.Keys(of)) {
		if err := of[number].finish(); err != nil {
			return err
		}
	}
	return nil
}

// forget takes out what was written before under the references of documents. It is over before anything is put in, so that the index never has
// two rows of one number.
func (w *writingDown) forget(documents []store.Written) error {
	of := batches{}
	for _, d := range documents {
		type former struct{ source, id, tokens, bytes int64 }
		rows, err := w.tx.QueryContext(w.ctx, `SELECT r.source, r.number, r.tokens, octet_length(r.title) + octet_length(r.body)
			FROM source s CROSS JOIN record r ON r.source = s.number AND r.ref = ? WHERE s.format = ?`, d.Record.Ref, store.WrittenFormat)
		if err != nil {
			return err
		}
		var all []former
		for rows.Next() {
			var f former
			if err := rows.Scan(&f.source, &f.id, &f.tokens, &f.bytes); err != nil {
				return errors.Join(err, rows.Close())
			}
			all = append(all, f)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		for _, f := range all {
			if err := w.batch(of, store.Source{Number: f.source}).remove(store.ID(f.id), f.tokens, f.bytes); err != nil {
				return err
			}
		}
	}
	return of.finish()
}

// put puts documents in, each into the source of its label.
func (w *writingDown) put(documents []store.Written, words []*store.Indexed) error {
	of, byLabel := batches{}, map[string]*batch{}
	for i, d := range documents {
		text := d.Label.Canonical()
		b := byLabel[text]
		if b == nil {
			s, err := w.source(d.Label)
			if err != nil {
				return err
			}
			b = w.batch(of, s)
			if b.label, err = labelNumber(w.ctx, w.tx, text); err != nil {
				return err
			}
			byLabel[text] = b
		}
		if _, err := b.insert(d.Record, words[i]); err != nil {
			return err
		}
	}
	if err := of.finish(); err != nil {
		return err
	}
	for number := range of {
		if _, err := w.tx.ExecContext(w.ctx, "UPDATE source SET synced = ? WHERE number = ?", w.at.Unix(), number); err != nil {
			return err
		}
	}
	// That there was a source once would tell a reader of what is not there for it now.
	if _, err := w.tx.ExecContext(w.ctx, "DELETE FROM source WHERE format = ? AND records = 0", store.WrittenFormat); err != nil {
		return err
	}
	var labels int
	err := w.tx.QueryRowContext(w.ctx, "SELECT count(*) FROM source WHERE format = ?", store.WrittenFormat).Scan(&labels)
	if err == nil && labels > store.MaxWrittenSources {
		err = fmt.Errorf("the written documents would have %d labels, and can have %d: remove a source of some first", labels, store.MaxWrittenSources)
	}
	return err
}

// source gives the source of the documents with a label, which is made where it is missing.
func (w *writingDown) source(l label.Label) (store.Source, error) {
	var unasked error
	s := store.WrittenSource(l, w.at, func(name string) bool {
		var taken bool
		err := w.tx.QueryRowContext(w.ctx, "SELECT EXISTS (SELECT 1 FROM source WHERE name = ?)", name).Scan(&taken)
		unasked = errors.Join(unasked, err)
		return taken
	})
	if unasked != nil {
		return s, unasked
	}
	err := w.tx.QueryRowContext(w.ctx, "SELECT number, name FROM source WHERE format = ? AND written = ?", store.WrittenFormat, s.Written).Scan(&s.Number, &s.Name)
	if !errors.Is(err, sql.ErrNoRows) {
		return s, err
	}
	added, err := w.tx.ExecContext(w.ctx, "INSERT INTO source (name, kind, format, location, added, written) VALUES (?, ?, ?, '', ?, ?)",
		s.Name, string(s.Kind), s.Format, s.Added.Unix(), s.Written)
	if err != nil {
		return s, err
	}
	s.Number, err = added.LastInsertId()
	return s, err
}
