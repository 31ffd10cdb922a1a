package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/loomrun/loom/journal"
)

const (
	// maxRunIDBytes bounds the id of a run: an index of PostgreSQL holds no more than about 2,700 bytes a row.
	maxRunIDBytes = 1024
	// rowsAtOnce and bytesAtOnce bound one statement that adds entries.
	rowsAtOnce  = 16
	bytesAtOnce = journal.MaxEntryBytes
)

// Begin implements journal.Store.
func (s *Store) Begin(ctx context.Context, run string, by journal.Holder, batch journal.Batch, documents []journal.Document) (journal.Lease, error) {
	lease := journal.Lease{Run: run, Number: 1, Holder: by}
	err := s.change(ctx, "begin run", run, func(t *transaction) error {
		if err := checkBeginning(run, batch, documents); err != nil {
			return err
		}
		holder, err := journal.Encode(by)
		if err != nil {
			return err
		}
		if len(documents) > 0 && t.dialect.LockDocuments != "" {
			if _, err := t.exec(t.dialect.LockDocuments); err != nil {
				return err
			}
		}
		made, err := t.exec("INSERT INTO journal_runs (id, began, summary, head_sequence, head, lease, holder, renewed)"+
			" VALUES ($1, $2, '', 0, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING",
			run, batch.Summary.Began, []byte{}, lease.Number, holder, s.now().UnixMilli())
		if err == nil && made == 0 {
			err = errors.New("the journal holds a run of this id already")
		}
		if err == nil {
			err = t.keepDocuments(run, documents)
		}
		if err == nil {
			err = t.add(lease, 0, batch, s.now().UnixMilli())
		}
		return err
	})
	if err != nil {
		return journal.Lease{}, err
	}
	return lease, nil
}

func checkBeginning(run string, batch journal.Batch, documents []journal.Document) error {
	switch {
	case run == "" || len(run) > maxRunIDBytes:
		return fmt.Errorf("a run's id has 1 to %d bytes, not %d", maxRunIDBytes, len(run))
	case len(batch.Entries) == 0:
		return errors.New("a run begins with an entry")
	}
	for _, text := range []string{run, batch.Summary.Began} {
		if err := journal.CheckText(text); err != nil {
			return err
		}
	}
	return checkDocuments(documents)
}

// Append implements journal.Store. It renews the lease as well.
func (s *Store) Append(ctx context.Context, l journal.Lease, batch journal.Batch) error {
	return s.change(ctx, "append to run", l.Run, func(t *transaction) error {
		if len(batch.Entries) > 0 {
			return t.add(l, batch.Entries[0].Sequence-1, batch, s.now().UnixMilli())
		}
		head, err := t.held(l)
		if err != nil {
			return err
		}
		return t.add(l, head, batch, s.now().UnixMilli())
	})
}

// held gives the sequence of the last entry of a run whose lease this is.
func (t *transaction) held(l journal.Lease) (head int64, err error) {
	r, err := t.run(l.Run)
	switch {
	case errors.Is(err, journal.ErrNoRun):
		return 0, fmt.Errorf("%w, and removed it", journal.ErrLeaseLost)
	case err != nil:
		return 0, err
	case r.lease != l.Number || r.holder == nil:
		return 0, journal.ErrLeaseLost
	}
	return r.head, nil
}

// add adds entries behind the head of a run whose lease this is.
func (t *transaction) add(l journal.Lease, head int64, batch journal.Batch, now int64) error {
	summary, err := journal.Encode(batch.Summary)
	if err != nil {
		return err
	}
	if err := t.advance(l, head, batch, summary, now); err != nil {
		return err
	}
	run := l.Run
	if err := checkEntries(head, batch.Entries); err != nil {
		return err
	}
	for rest := batch.Entries; len(rest) > 0; {
		n := atOnce(rest)
		if err := t.insert(run, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if batch.Last {
		if _, err := t.exec("UPDATE journal_runs SET holder = NULL WHERE id = $1", run); err != nil {
			return err
		}
	}
	if err := t.follow(run, batch.Entries); err != nil {
		return err
	}
	return t.compare(run, summary, batch.Entries)
}

// advance writes the row of a run, which is there only for who has the lease, and for entries that follow the head.
func (t *transaction) advance(l journal.Lease, head int64, batch journal.Batch, summary string, now int64) error {
	var changed int64
	var err error
	if last := len(batch.Entries) - 1; last >= 0 {
		changed, err = t.exec("UPDATE journal_runs SET summary = $2, renewed = $3, head_sequence = $4, head = $5"+
			" WHERE id = $1 AND lease = $6 AND head_sequence = $7 AND holder IS NOT NULL",
			l.Run, summary, now, batch.Entries[last].Sequence, batch.Entries[last].Hash[:], l.Number, head)
	} else {
		changed, err = t.exec("UPDATE journal_runs SET summary = $2, renewed = $3 WHERE id = $1", l.Run, summary, now)
	}
	if err != nil || changed == 1 {
		return err
	}
	there, err := t.held(l)
	if err == nil {
		err = checkEntries(there, batch.Entries)
	}
	if err == nil {
		err = unlikeWritten("the row of the run")
	}
	return err
}

// checkEntries refuses entries that do not follow the head, or that some database could not give back.
func checkEntries(head int64, entries []journal.Entry) error {
	for i, e := range entries {
		switch want := head + 1 + int64(i); {
		case e.Sequence != want:
			return fmt.Errorf("entry %d comes where %d is next: a caller lost count", e.Sequence, want)
		case (e.Kind == journal.Begun) != (e.Sequence == 1):
			return fmt.Errorf("entry %d is of kind %q: a record begins once, with its first entry", e.Sequence, e.Kind)
		case len(e.Body) > journal.MaxEntryBytes:
			return fmt.Errorf("entry %d has %d bytes, more than %d", e.Sequence, len(e.Body), journal.MaxEntryBytes)
		}
		for _, text := range []string{string(e.Kind), e.Name, e.Body} {
			if err := journal.CheckText(text); err != nil {
				return fmt.Errorf("entry %d: %w", e.Sequence, err)
			}
		}
	}
	return nil
}

// atOnce gives how many entries the next statement adds: at least one.
func atOnce(entries []journal.Entry) int {
	size := 0
	for i, e := range entries {
		if size += len(e.Body); i > 0 && (i == rowsAtOnce || size > bytesAtOnce) {
			return i
		}
	}
	return len(entries)
}

func (t *transaction) insert(run string, entries []journal.Entry) error {
	arguments := make([]any, 1, 1+entryColumns*len(entries))
	arguments[0] = run
	for i := range entries {
		e := &entries[i]
		arguments = append(arguments, e.Sequence, string(e.Kind), e.Name, e.Body, e.Hash[:])
	}
	made, err := t.exec(insertion(len(entries)), arguments...)
	if err == nil && made != int64(len(entries)) {
		err = unlikeWritten(fmt.Sprintf("one of the entries from %d on", entries[0].Sequence))
	}
	return err
}

// entryColumns is how many columns a row of entries has beside its run.
const entryColumns = 5

// insertion gives the statement that adds so many entries.
func insertion(entries int) string {
	var statement strings.Builder
	statement.WriteString("INSERT INTO journal_entries (run, sequence, kind, name, body, hash) VALUES ")
	for i := range entries {
		if i > 0 {
			statement.WriteString(", ")
		}
		statement.WriteString("($1")
		for column := range entryColumns {
			statement.WriteString(", $")
			statement.WriteString(strconv.Itoa(2 + i*entryColumns + column))
		}
		statement.WriteString(")")
	}
	return statement.String()
}

// compare reads back the row of a run. The rows of its cases are read back where they are written (4.11); entries need not
// be, since each carries a hash over itself, by which a reader sees any change.
func (t *transaction) compare(run, summary string, entries []journal.Entry) error {
	var stored string
	var sequence int64
	var hash []byte
	err := t.one("SELECT summary, head_sequence, head FROM journal_runs WHERE id = $1", []any{run}, &stored, &sequence, &hash)
	if err != nil {
		return err
	}
	if last := len(entries) - 1; stored != summary || last >= 0 && (sequence != entries[last].Sequence || string(hash) != string(entries[last].Hash[:])) {
		return unlikeWritten("the row of the run")
	}
	return nil
}

// entries reads the entries of a run behind a sequence, in order.
func (t *transaction) entries(run string, after int64, each func(journal.Entry) error) error {
	return t.each("SELECT sequence, kind, name, body, hash FROM journal_entries WHERE run = $1 AND sequence > $2 ORDER BY sequence",
		[]any{run, after}, func(scan func(...any) error) error {
			var e journal.Entry
			var hash []byte
			if err := scan(&e.Sequence, &e.Kind, &e.Name, &e.Body, &hash); err != nil {
				return err
			}
			if copy(e.Hash[:], hash) != len(e.Hash) || len(hash) != len(e.Hash) {
				return damaged("the hash of entry %d has %d bytes", e.Sequence, len(hash))
			}
			return each(e)
		})
}
