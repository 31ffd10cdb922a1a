package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// view is a [store.View]: one read transaction and the sources that exist in it.
type view struct {
	o       Options
	conn    *sql.Conn
	tx      *sql.Tx
	done    context.CancelFunc
	scope   store.Scope
	owner   store.Owner
	sources []*source // by name
	all     bool      // every source of the store is among them
}

// source is one of a view.
type source struct {
	store.SourceState
	label    label.Label
	number   int64 // of the label; 0 where no record has it yet
	searched int64
	tokens   int64
}

// View implements [store.Store].
func (d *DB) View(ctx context.Context, scope store.Scope) (store.View, error) {
	v := &view{o: d.o, scope: store.Scope{Facets: slices.Clone(scope.Facets)}}
	// Waiting for a connection ends with ctx; the transaction lives as long as the view, whatever becomes of the call that opened it.
	conn, err := d.read.Conn(ctx)
	if err != nil {
		return nil, known(err)
	}
	lasting, done := context.WithCancel(context.WithoutCancel(ctx))
	tx, err := conn.BeginTx(lasting, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		done()
		return nil, known(errors.Join(err, conn.Close()))
	}
	v.conn, v.tx, v.done = conn, tx, done
	if err := v.load(ctx); err != nil {
		return nil, errors.Join(known(err), v.Close())
	}
	return v, nil
}

// Close implements [store.View].
func (v *view) Close() error {
	err := v.tx.Rollback()
	v.done()
	return errors.Join(err, v.conn.Close())
}

// Owner implements [store.View].
func (v *view) Owner() store.Owner {
	o := v.owner
	o.Facets = slices.Clone(o.Facets)
	return o
}

// Sources implements [store.View].
func (v *view) Sources() []store.SourceState {
	all := make([]store.SourceState, len(v.sources))
	for i, s := range v.sources {
		all[i] = s.SourceState
	}
	return all
}

func (v *view) load(ctx context.Context) error {
	var made int64
	if err := v.tx.QueryRowContext(ctx, "SELECT subject, zone, made FROM owner").Scan(&v.owner.Subject, &v.owner.Zone, &made); err != nil {
		return err
	}
	v.owner.Made = time.Unix(made, 0).UTC()
	var err error
	if v.owner.Facets, err = texts(ctx, v.tx, "SELECT name FROM facet ORDER BY name"); err != nil {
		return err
	}
	facets, err := facetsBySource(ctx, v.tx)
	if err != nil {
		return err
	}
	rows, err := v.tx.QueryContext(ctx, `SELECT number, name, kind, format, location, added, records, searched, tokens, bytes, synced, problem, written,
		(SELECT count(*) FROM skip CROSS JOIN container c ON c.number = skip.container WHERE c.source = s.number),
		(SELECT time FROM record WHERE record.source = s.number AND record.number >= ? ORDER BY record.number DESC LIMIT 1)
		FROM source s ORDER BY name`, int64(store.FirstID(time.Time{}.Add(1)))) // records without a time come before
	if err != nil {
		return err
	}
	defer rows.Close()
	v.all = true
	admits := v.scope.Admitting(v.owner.Subject)
	for rows.Next() {
		var s source
		var kind string
		var added int64
		var synced, newest sql.NullInt64
		if err := rows.Scan(&s.Number, &s.Name, &kind, &s.Format, &s.Location, &added, &s.Records, &s.searched, &s.tokens, &s.Bytes,
			&synced, &s.Problem, &s.Written, &s.Skipped, &newest); err != nil {
			return err
		}
		s.Kind, s.Added, s.Facets = store.SourceKind(kind), time.Unix(added, 0).UTC(), facets[s.Number]
		if !admits(s.Source) {
			v.all = false
			continue
		}
		s.Synced, s.Newest = instant(synced), instant(newest)
		s.Complete = synced.Valid && s.Problem == "" && s.Skipped == 0
		s.label = store.LabelOf(v.owner.Subject, s.Source)
		v.sources = append(v.sources, &s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, s := range v.sources {
		err := v.tx.QueryRowContext(ctx, "SELECT number FROM label WHERE text = ?", s.label.Canonical()).Scan(&s.number)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

func facetsBySource(ctx context.Context, q querier) (map[int64][]string, error) {
	rows, err := q.QueryContext(ctx, "SELECT source, facet FROM source_facet ORDER BY source, facet")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	facets := map[int64][]string{}
	for rows.Next() {
		var source int64
		var facet string
		if err := rows.Scan(&source, &facet); err != nil {
			return nil, err
		}
		facets[source] = append(facets[source], facet)
	}
	return facets, rows.Err()
}

// instant gives the time of a column.
func instant(seconds sql.NullInt64) time.Time {
	if !seconds.Valid {
		return time.Time{}
	}
	return time.Unix(seconds.Int64, 0).UTC()
}

// chosen are the sources of the view that are named; all of them where names is nil.
func (v *view) chosen(names []string) ([]*source, error) {
	if names == nil {
		return v.sources, nil
	}
	var chosen []*source
	for _, name := range names {
		at, ok := slices.BinarySearchFunc(v.sources, name, func(s *source, name string) int { return strings.Compare(s.Name, name) })
		if !ok {
			return nil, fmt.Errorf("%w: %s", store.ErrNoSource, name)
		}
		if !slices.Contains(chosen, v.sources[at]) {
			chosen = append(chosen, v.sources[at])
		}
	}
	return chosen, nil
}

// columns of a record in the order that [view.row] scans them.
const columns = "number, source, ref, kind, label, time, until, observed, title, folder, thread, senders, receivers, keys, details, tokens, body"

// row reads a record of one of the view's sources. The error wraps [store.ErrMislabelled] where its label is not the one its columns give.
func (v *view) row(scan func(...any) error) (store.Row, error) {
	var r store.Row
	var number, from, labelled, observed, tokens int64
	var kind, senders, receivers, keys, details string
	var at, until sql.NullInt64
	if err := scan(&number, &from, &r.Ref, &kind, &labelled, &at, &until, &observed, &r.Title, &r.Folder, &r.Thread, &senders, &receivers, &keys,
		&details, &tokens, &r.Body); err != nil {
		return r, err
	}
	s := v.sourceNumbered(from)
	if s == nil {
		// Asked only for the view's own sources, this is a fault of the store, not of the record.
		return r, fmt.Errorf("%w: a record of a source that is not there", store.ErrDamaged)
	}
	r.ID, r.Kind, r.Source = store.ID(number), store.Kind(kind), &s.SourceState
	r.Time, r.Until, r.Observed = instant(at), instant(until), time.Unix(observed, 0).UTC()
	r.From, r.To, r.Keys = unpackParties(senders), unpackParties(receivers), unpack(keys)
	if details != "" {
		r.Details = []byte(details)
	}
	r.Unsearched = tokens < 0
	r.Label = s.label
	// Labels are equal when their numbers are: the text of each is there once.
	if labelled != s.number {
		return r, store.ErrMislabelled
	}
	return r, nil
}

func (v *view) sourceNumbered(number int64) *source {
	for _, s := range v.sources {
		if s.Number == number {
			return s
		}
	}
	return nil
}

// Records implements [store.View].
func (v *view) Records(ctx context.Context, f store.Filter) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		sources, err := v.chosen(f.Sources)
		if err == nil && f.Ref != "" && len(sources) != 1 {
			err = errors.New("a reference is looked for in exactly one source")
		}
		if err != nil {
			yield(store.Row{}, err)
			return
		}
		if len(sources) == 0 || f.Keys != nil && len(f.Keys) == 0 {
			return
		}
		statement, args := selection(sources, f)
		rows, err := v.tx.QueryContext(ctx, statement, args...)
		if err != nil {
			yield(store.Row{}, known(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			r, err := v.row(rows.Scan)
			if err != nil && !errors.Is(err, store.ErrMislabelled) {
				yield(store.Row{}, known(err))
				return
			}
			if err != nil {
				r = store.Row{}
			}
			if !yield(r, err) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(store.Row{}, known(err))
		}
	}
}

// maxMerged is how many sources are read side by side, each in its order; of more, what they have is sorted.
const maxMerged = 64

// selection is the statement of a filter.
func selection(sources []*source, f store.Filter) (string, []any) {
	numbers := make([]any, len(sources))
	for i, s := range sources {
		numbers[i] = s.Number
	}
	where, whereArgs := condition(f)
	const start = "SELECT " + columns + " FROM record WHERE "
	var b strings.Builder
	var args []any
	switch {
	case f.Keys != nil || f.Thread != "" || f.Party != "":
		// These pick the records in order of their numbers; an index of sources would only be in the way.
		b.WriteString(start + "+source" + in(len(numbers)) + where)
		args = append(numbers, whereArgs...)
	case len(numbers) > maxMerged:
		b.WriteString(start + "source" + in(len(numbers)) + where)
		args = append(numbers, whereArgs...)
	default:
		for i, number := range numbers {
			if i > 0 {
				b.WriteString(" UNION ALL ")
			}
			b.WriteString(start + "source = ?" + where)
			args = append(append(args, number), whereArgs...)
		}
	}
	b.WriteString(" ORDER BY number")
	if !f.Oldest {
		b.WriteString(" DESC")
	}
	if f.Limit > 0 {
		b.WriteString(" LIMIT ?")
		args = append(args, f.Limit)
	}
	return b.String(), args
}

// in is the condition of being one of n values.
func in(n int) string { return " IN (?" + strings.Repeat(",?", n-1) + ")" }

// condition is what a filter asks for beside sources.
func condition(f store.Filter) (string, []any) {
	var b strings.Builder
	var args []any
	if f.Kinds != nil {
		b.WriteString(" AND kind" + in(len(f.Kinds)+1))
		args = append(args, "")
		for _, k := range f.Kinds {
			args = append(args, string(k))
		}
	}
	if f.Ref != "" {
		b.WriteString(" AND ref = ?")
		args = append(args, f.Ref)
	}
	if f.Thread != "" {
		// Said twice, as the index is of those that have one.
		b.WriteString(" AND thread = ? AND thread <> ''")
		args = append(args, f.Thread)
	}
	if f.Keys != nil {
		b.WriteString(" AND number IN (SELECT record FROM key WHERE key" + in(len(f.Keys)) + ")")
		for _, k := range f.Keys {
			args = append(args, k)
		}
	}
	if f.Party != "" {
		b.WriteString(" AND number IN (SELECT rowid FROM word WHERE word MATCH ?)")
		args = append(args, scopeColumn(store.PartyWord(f.Party)))
	}
	if !f.To.IsZero() {
		b.WriteString(" AND number < ? AND (time < ?)")
		args = append(args, int64(store.FirstID(f.To.Add(time.Second))), whole(f.To).Unix())
	}
	if !f.From.IsZero() {
		// What lasts ends after From; what does not is at From or later.
		b.WriteString(" AND (until > ? OR until IS NULL AND number >= ? OR time >= ?)")
		args = append(args, f.From.Unix(), int64(store.FirstID(whole(f.From))), whole(f.From).Unix())
	}
	return b.String(), args
}

// whole rounds up: the store keeps whole seconds, and what is before 10:00:00.5 is before 10:00:01.
func whole(t time.Time) time.Time {
	if t.Nanosecond() > 0 {
		return t.Add(time.Second)
	}
	return t
}

// Skipped implements [store.View].
func (v *view) Skipped(ctx context.Context, name string, limit int) ([]store.Skip, error) {
	sources, err := v.chosen([]string{name})
	if err != nil {
		return nil, err
	}
	rows, err := v.tx.QueryContext(ctx, `SELECT name, position, reason FROM skip JOIN container ON number = container WHERE source = ?
		ORDER BY name, position LIMIT ?`, sources[0].Number, limit)
	if err != nil {
		return nil, known(err)
	}
	defer rows.Close()
	var all []store.Skip
	for rows.Next() {
		var s store.Skip
		if err := rows.Scan(&s.Container, &s.Position, &s.Reason); err != nil {
			return nil, known(err)
		}
		all = append(all, s)
	}
	return all, known(rows.Err())
}

// FacetChanges implements [store.View].
func (v *view) FacetChanges(ctx context.Context) ([]store.FacetChange, error) {
	if v.scope.Facets != nil {
		return nil, nil
	}
	rows, err := v.tx.QueryContext(ctx, "SELECT at, source, facets_was, facets_is, records FROM facet_change ORDER BY number")
	if err != nil {
		return nil, known(err)
	}
	defer rows.Close()
	var all []store.FacetChange
	list := func(text string) []string {
		if text == "" {
			return nil
		}
		return strings.Split(text, ",")
	}
	for rows.Next() {
		var c store.FacetChange
		var at int64
		var was, is string
		if err := rows.Scan(&at, &c.Source, &was, &is, &c.Records); err != nil {
			return nil, known(err)
		}
		c.At, c.Before, c.After = time.Unix(at, 0).UTC(), list(was), list(is)
		all = append(all, c)
	}
	return all, known(rows.Err())
}
