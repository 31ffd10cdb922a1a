package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/internal/atomicfile"
	"github.com/loomrun/loom/store"
)

// importing is a [store.Import].
type importing struct {
	db         *DB
	lock       *atomicfile.Lock
	source     store.Source
	label      string
	at         time.Time
	containers map[string]*container
	counts     store.Counts
}

// container is what is known of one in the midst of an import.
type container struct {
	number      int64
	reading     int64
	keep        bool
	stamp, note string
	complete    bool
}

// Import implements [store.Store]. It waits a moment for another program that writes; then the error wraps [store.ErrBusy].
func (d *DB) Import(ctx context.Context, name string, at time.Time) (store.Import, error) {
	lock, err := d.lock(ctx)
	if err != nil {
		return nil, err
	}
	i := &importing{db: d, lock: lock, at: at, containers: map[string]*container{}}
	if err := i.load(ctx, name); err != nil {
		lock.Unlock()
		return nil, err
	}
	return i, nil
}

func (i *importing) load(ctx context.Context, name string) error {
	s, owner, err := sourceNamed(ctx, i.db.read, name)
	if err != nil {
		return known(err)
	}
	if err := s.RefuseWritten(); err != nil {
		return err
	}
	i.source, i.label = s, store.LabelOf(owner, s).Canonical()
	rows, err := i.db.read.QueryContext(ctx, "SELECT number, name, reading, stamp, note FROM container WHERE source = ?", s.Number)
	if err != nil {
		return known(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c container
		var name string
		var stamp sql.NullString
		if err := rows.Scan(&c.number, &name, &c.reading, &stamp, &c.note); err != nil {
			return known(err)
		}
		c.stamp, c.complete = stamp.String, stamp.Valid
		i.containers[name] = &c
	}
	return known(rows.Err())
}

// Source implements [store.Import].
func (i *importing) Source() store.Source { return i.source }

// Known implements [store.Import].
func (i *importing) Known(name string) (stamp, note string, ok bool) {
	c := i.containers[name]
	if c == nil || !c.complete {
		return "", "", false
	}
	return c.stamp, c.note, true
}

// Listed implements [store.Import].
func (i *importing) Listed(ctx context.Context, there map[string]bool) error {
	var gone []*container
	for name, c := range i.containers {
		if !there[name] {
			gone = append(gone, c)
			delete(i.containers, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return i.db.change(ctx, "forget containers", func(tx *sql.Tx) error {
		for _, c := range gone {
			if err := lose(ctx, tx, "container = ?", c.number); err != nil {
				return err
			}
			for _, statement := range []string{"DELETE FROM skip WHERE container = ?", "DELETE FROM container WHERE number = ?"} {
				if _, err := tx.ExecContext(ctx, statement, c.number); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// lose removes items and notes which records they leave without one.
func lose(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO orphan (record) SELECT record FROM item WHERE "+where+" ON CONFLICT DO NOTHING", args...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM item WHERE "+where, args...)
	return err
}

// batch is one transaction of an import.
type batch struct {
	*importing
	ctx     context.Context
	tx      *sql.Tx
	label   int64
	counts  store.Counts
	added   struct{ records, searched, tokens, bytes int64 }
	unwords []store.ID // rows to take out of the index
	words   []indexed  // rows to put in
}

type indexed struct {
	id     store.ID
	kind   store.Kind
	record *store.Indexed
}

// Apply implements [store.Import].
func (i *importing) Apply(ctx context.Context, changes []store.Change) error {
	if len(changes) == 0 {
		return nil
	}
	var b *batch
	before := map[string]container{} // what a transaction that fails must not have changed
	for _, c := range changes {
		if known := i.containers[c.Container]; known != nil {
			before[c.Container] = *known
		}
	}
	err := i.db.change(ctx, "import", func(tx *sql.Tx) error {
		b = &batch{importing: i, ctx: ctx, tx: tx}
		var err error
		if b.label, err = labelNumber(ctx, tx, i.label); err != nil {
			return err
		}
		for _, c := range changes {
			if err := b.make(c); err != nil {
				return fmt.Errorf("%s: %w", c.Container, err)
			}
		}
		return b.finish()
	})
	if err != nil {
		for _, c := range changes {
			delete(i.containers, c.Container)
		}
		for name, c := range before {
			i.containers[name] = &c
		}
		return err
	}
	i.counts.New += b.counts.New
	i.counts.Changed += b.counts.Changed
	i.counts.Gone += b.counts.Gone
	i.counts.Copies += b.counts.Copies
	return nil
}

func (b *batch) exec(statement string, args ...any) error {
	_, err := b.tx.ExecContext(b.ctx, statement, args...)
	return err
}

var errNotBegun = errors.New("the container's reading was not begun")

func (b *batch) make(c store.Change) error {
	at := b.containers[c.Container]
	if c.Op != store.Begin && at == nil {
		return errNotBegun
	}
	switch c.Op {
	case store.Begin:
		return b.begin(c, at)
	case store.Put:
		return b.put(c, at)
	case store.Skipped:
		return b.exec("INSERT INTO skip (container, position, reading, reason) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET reading = excluded.reading, reason = excluded.reason",
			at.number, c.Position, at.reading, c.Reason)
	case store.Lost:
		if err := b.exec("DELETE FROM skip WHERE container = ? AND position = ?", at.number, c.Position); err != nil {
			return err
		}
		return lose(b.ctx, b.tx, "container = ? AND position = ?", at.number, c.Position)
	case store.Done:
		return b.done(c, at)
	}
	return fmt.Errorf("there is no change %d", c.Op)
}

func (b *batch) begin(c store.Change, at *container) error {
	if at == nil {
		added, err := b.tx.ExecContext(b.ctx, "INSERT INTO container (source, name, reading) VALUES (?, ?, 1)", b.source.Number, c.Container)
		if err != nil {
			return err
		}
		number, err := added.LastInsertId()
		b.containers[c.Container] = &container{number: number, reading: 1, keep: c.Keep}
		return err
	}
	// Not complete until Done: a program that is killed before has the container read again.
	at.reading, at.keep = at.reading+1, c.Keep
	if c.Keep {
		return b.exec("UPDATE container SET reading = ? WHERE number = ?", at.reading, at.number)
	}
	at.complete = false
	return b.exec("UPDATE container SET reading = ?, stamp = NULL, note = '' WHERE number = ?", at.reading, at.number)
}

func (b *batch) done(c store.Change, at *container) error {
	if !at.keep && at.reading > 1 {
		if err := lose(b.ctx, b.tx, "container = ? AND reading < ?", at.number, at.reading); err != nil {
			return err
		}
	}
	if at.reading > 1 {
		// What was wrong with the container as a whole is so no more.
		const whole = -1
		if err := b.exec("DELETE FROM skip WHERE container = ? AND reading < ? AND (? OR position = ?)", at.number, at.reading, !at.keep, whole); err != nil {
			return err
		}
	}
	at.stamp, at.note, at.complete = c.Stamp, c.Note, true
	return b.exec("UPDATE container SET stamp = ?, note = ? WHERE number = ?", c.Stamp, c.Note, at.number)
}

func (b *batch) put(c store.Change, at *container) error {
	r := c.Record
	if err := r.Check(); err != nil {
		return err
	}
	x := c.Indexed
	if x == nil {
		x = store.Index(r)
	}
	var was struct {
		number, tokens, bytes int64
		time                  sql.NullInt64
		hash                  []byte
	}
	err := b.tx.QueryRowContext(b.ctx, "SELECT number, time, hash, tokens, octet_length(title) + octet_length(body) FROM record WHERE source = ? AND ref = ?", b.source.Number, r.Ref).
		Scan(&was.number, &was.time, &was.hash, &was.tokens, &was.bytes)
	if errors.Is(err, sql.ErrNoRows) {
		id, err := b.insert(r, x)
		if err != nil {
			return err
		}
		b.counts.New++
		return b.item(c, at, id, x)
	}
	if err != nil {
		return err
	}
	id := store.ID(was.number)
	// Found elsewhere too, where it was not lost: the place that was known first counts, so that a record does not go back and forth.
	var copied bool
	err = b.tx.QueryRowContext(b.ctx, `SELECT EXISTS (SELECT 1 FROM item WHERE record = ? AND (container, position) < (?, ?)
		AND NOT (container = ? AND reading < ? AND NOT ?))`,
		was.number, at.number, c.Position, at.number, at.reading, at.keep).Scan(&copied)
	switch {
	case err != nil:
		return err
	case copied:
		b.counts.Copies++
	case bytes.Equal(was.hash, x.Hash[:]):
	default:
		if id, err = b.replace(id, was.tokens, was.bytes, r, x); err != nil {
			return err
		}
		b.counts.Changed++
	}
	return b.item(c, at, id, x)
}

// itemHash is how many bytes of the hash of a record its places keep.
const itemHash = 8

func (b *batch) item(c store.Change, at *container, id store.ID, x *store.Indexed) error {
	if at.reading > 1 {
		// Another record stood here before: it may have no other place.
		if err := b.exec("INSERT INTO orphan (record) SELECT record FROM item WHERE container = ? AND position = ? AND record <> ? ON CONFLICT DO NOTHING",
			at.number, c.Position, int64(id)); err != nil {
			return err
		}
		if err := b.exec("DELETE FROM skip WHERE container = ? AND position = ?", at.number, c.Position); err != nil {
			return err
		}
	}
	return b.exec(`INSERT INTO item (container, position, reading, record, hash) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET reading = excluded.reading, record = excluded.record, hash = excluded.hash`,
		at.number, c.Position, at.reading, int64(id), x.Hash[:itemHash])
}

// insert puts a new record in.
func (b *batch) insert(r *store.Record, x *store.Indexed) (store.ID, error) {
	id := store.NewID(b.source.Name, r.Ref, r.Time)
	tokens := x.Tokens()
	if r.Unsearched {
		tokens = -1
	}
	for {
		added, err := b.tx.ExecContext(b.ctx, `INSERT INTO record (number, source, ref, kind, label, time, until, observed, hash, title, folder, thread, senders, receivers, keys, details, tokens, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO NOTHING`,
			int64(id), b.source.Number, r.Ref, string(r.Kind), b.label, unix(r.Time), unix(r.Until), b.at.Unix(), x.Hash[:],
			r.Title, r.Folder, r.Thread, packParties(r.From), packParties(r.To), packKeys(r.Keys), string(r.Details), tokens, r.Body)
		if err != nil {
			return 0, err
		}
		n, err := added.RowsAffected()
		if err != nil {
			return 0, err
		}
		if n == 1 {
			break
		}
		id++ // two records of one second and one hash of 24 bits
	}
	for _, k := range r.Keys {
		if err := b.exec("INSERT INTO key (key, record) VALUES (?, ?) ON CONFLICT DO NOTHING", k, int64(id)); err != nil {
			return 0, err
		}
	}
	b.count(1, int64(tokens), int64(len(r.Title)+len(r.Body)))
	if !r.Unsearched {
		b.words = append(b.words, indexed{id, r.Kind, x})
	}
	return id, nil
}

// replace puts a record in the place of another of its name.
func (b *batch) replace(old store.ID, tokens, bytes int64, r *store.Record, x *store.Indexed) (store.ID, error) {
	if err := b.remove(old, tokens, bytes); err != nil {
		return 0, err
	}
	id, err := b.insert(r, x)
	if err != nil {
		return 0, err
	}
	return id, b.exec("UPDATE item SET record = ? WHERE record = ?", int64(id), int64(old))
}

// remove takes a record out, but not its items.
func (b *batch) remove(id store.ID, tokens, bytes int64) error {
	b.count(-1, tokens, bytes)
	if tokens >= 0 {
		// One that this very batch put in is not in the index yet.
		before := len(b.words)
		b.words = slices.DeleteFunc(b.words, func(x indexed) bool { return x.id == id })
		if len(b.words) == before {
			b.unwords = append(b.unwords, id)
		}
	}
	if err := b.exec("DELETE FROM key WHERE record = ?", int64(id)); err != nil {
		return err
	}
	return b.exec("DELETE FROM record WHERE number = ?", int64(id))
}

func (b *batch) count(records, tokens, bytes int64) {
	b.added.records += records
	b.added.bytes += records * bytes
	if tokens >= 0 {
		b.added.searched += records
		b.added.tokens += records * tokens
	}
}

// finish brings the index of words and the counts of the source in step.
func (b *batch) finish() error {
	for _, id := range b.unwords {
		if err := b.exec("DELETE FROM word WHERE rowid = ?", int64(id)); err != nil {
			return err
		}
	}
	// The index takes rows in order as they come, and begins a new segment where one is out of order.
	slices.SortFunc(b.words, func(x, y indexed) int { return cmp.Compare(x.id, y.id) })
	for _, w := range b.words {
		if err := b.exec("INSERT INTO word (rowid, title, body, sender, recipient, folder, scope) VALUES (?, ?, ?, ?, ?, ?, ?)",
			int64(w.id), w.record.Title, w.record.Body, w.record.Sender, w.record.Recipient, w.record.Folder, w.record.Scope(b.source.Number, w.kind)); err != nil {
			return err
		}
	}
	a := b.added
	if a.records == 0 && a.bytes == 0 && a.tokens == 0 && a.searched == 0 {
		return nil
	}
	return b.exec("UPDATE source SET records = records + ?, searched = searched + ?, tokens = tokens + ?, bytes = bytes + ? WHERE number = ?",
		a.records, a.searched, a.tokens, a.bytes, b.source.Number)
}

// Finish implements [store.Import].
func (i *importing) Finish(ctx context.Context, problem string, at time.Time) (store.Counts, error) {
	defer i.lock.Unlock()
	var b *batch
	var records, skipped int64
	err := i.db.change(ctx, "finish", func(tx *sql.Tx) error {
		b = &batch{importing: i, ctx: ctx, tx: tx}
		if err := b.sweep(); err != nil {
			return err
		}
		if err := b.finish(); err != nil {
			return err
		}
		if err := b.exec("UPDATE source SET synced = ?, problem = ? WHERE number = ?", at.Unix(), problem, i.source.Number); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT records, (SELECT count(*) FROM skip CROSS JOIN container ON number = container WHERE source = s.number) FROM source s WHERE number = ?`,
			i.source.Number).Scan(&records, &skipped)
	})
	if err != nil {
		return store.Counts{}, err
	}
	c := i.counts
	c.Gone += b.counts.Gone
	c.Unchanged = records - c.New - c.Changed
	c.Skipped = skipped
	return c, nil
}

// sweep removes the records that stand nowhere any more.
func (b *batch) sweep() error {
	rows, err := b.tx.QueryContext(b.ctx, `SELECT number, tokens, octet_length(title) + octet_length(body) FROM orphan JOIN record ON number = orphan.record
		WHERE source = ? AND NOT EXISTS (SELECT 1 FROM item WHERE item.record = orphan.record)`, b.source.Number)
	if err != nil {
		return err
	}
	defer rows.Close()
	type gone struct{ id, tokens, bytes int64 }
	var all []gone
	for rows.Next() {
		var g gone
		if err := rows.Scan(&g.id, &g.tokens, &g.bytes); err != nil {
			return err
		}
		all = append(all, g)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, g := range all {
		if err := b.remove(store.ID(g.id), g.tokens, g.bytes); err != nil {
			return err
		}
		b.counts.Gone++
	}
	// Where a record lost the place it was read from, and stands otherwise at the next one, that is read again the next time.
	if err := b.exec(`UPDATE container SET stamp = NULL, note = '' WHERE number IN (
		SELECT item.container FROM orphan JOIN record ON number = orphan.record JOIN item ON item.record = orphan.record
		WHERE source = ? AND item.hash <> substr(record.hash, 1, length(item.hash))
		AND NOT EXISTS (SELECT 1 FROM item f WHERE f.record = item.record AND (f.container, f.position) < (item.container, item.position)))`,
		b.source.Number); err != nil {
		return err
	}
	// One import runs at a time: all of them are of this source, or of one whose import another program left unfinished.
	return b.exec("DELETE FROM orphan WHERE record IN (SELECT number FROM record WHERE source = ?) OR NOT EXISTS (SELECT 1 FROM record WHERE number = orphan.record)",
		b.source.Number)
}

// Abandon implements [store.Import].
func (i *importing) Abandon() { i.lock.Unlock() }

func unix(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.Unix(), Valid: !t.IsZero()}
}

// Lists are kept as text, each of their items ended by a line feed: none holds one, see [store.Record.Check].

func packParties(parties []store.Party) string {
	var b strings.Builder
	for _, p := range parties {
		b.WriteString(p.Name)
		b.WriteByte('\n')
		b.WriteString(string(p.Address))
		b.WriteByte('\n')
	}
	return b.String()
}

func packKeys(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return strings.Join(keys, "\n") + "\n"
}

func unpack(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func unpackParties(text string) (parties []store.Party) {
	list := unpack(text)
	for at := 0; at+1 < len(list); at += 2 {
		parties = append(parties, store.Party{Name: list[at], Address: store.Identifier(list[at+1])})
	}
	return parties
}
