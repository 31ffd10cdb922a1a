package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
)

// Search implements [store.View].
func (v *view) Search(ctx context.Context, s store.Search) (store.Result, error) {
	if s.Limit < 1 || s.Limit > store.MaxLimit {
		return store.Result{}, fmt.Errorf("a limit of %d hits: 1 to %d can be", s.Limit, store.MaxLimit)
	}
	sources, err := v.chosen(s.Sources)
	if err != nil {
		return store.Result{}, err
	}
	if len(sources) == 0 || s.Parties != nil && len(s.Parties) == 0 || s.Kinds != nil && !slices.ContainsFunc(s.Kinds, func(k store.Kind) bool { return slices.Contains(store.Kinds, k) }) {
		return store.Result{}, nil
	}
	f := finding{view: v, ctx: ctx, s: s, match: v.expression(sources, s), low: int64(store.FirstID(whole(s.Since))), high: int64(store.LastID)}
	if !s.Until.IsZero() {
		f.high = int64(store.FirstID(whole(s.Until)))
	}
	if s.Rank == store.ByScore && len(s.Query.Terms()) > 0 {
		err = f.byScore()
	} else {
		err = f.byTime()
	}
	if err != nil {
		return store.Result{}, known(err)
	}
	f.found.Snippets = make([]string, len(f.found.Rows))
	for i, r := range f.found.Rows {
		f.found.Snippets[i] = s.Query.Snippet(r.Body)
	}
	return f.found, nil
}

// scopeColumn is an expression that finds records by a word of the scope column.
func scopeColumn(words ...string) string {
	return `scope : ("` + strings.Join(words, `" OR "`) + `")`
}

// expression is what the index is asked. The scope column keeps out what does not exist for the view, so that no list is read
// further because of it.
func (v *view) expression(sources []*source, s store.Search) string {
	var parts []string
	if m := s.Query.Match(); m != "" {
		parts = append(parts, "("+m+")")
	}
	if !v.all || len(sources) != len(v.sources) {
		var words []string
		for _, from := range sources {
			words = append(words, store.SourceWord(from.Number))
		}
		parts = append(parts, scopeColumn(words...))
	}
	if s.Kinds != nil {
		var words []string
		for _, k := range s.Kinds {
			// What is no kind must not get into an expression.
			if slices.Contains(store.Kinds, k) {
				words = append(words, store.KindWord(k))
			}
		}
		parts = append(parts, scopeColumn(words...))
	}
	if s.Parties != nil {
		var words []string
		for _, p := range s.Parties {
			words = append(words, store.PartyWord(p))
		}
		parts = append(parts, scopeColumn(words...))
	}
	if len(parts) == 0 {
		return query.Everything
	}
	return strings.Join(parts, " AND ")
}

// finding is one search on its way.
type finding struct {
	*view
	ctx       context.Context
	s         store.Search
	match     string
	low, high int64 // of the numbers of records
	found     store.Result
	scanned   int // bytes that regular expressions were tried on
	began     time.Time
}

// byTime takes the newest hits.
func (f *finding) byTime() error {
	return f.candidates(f.match, func(number int64) (bool, error) {
		r, ok, err := f.candidate(number)
		if err != nil || !ok {
			return err == nil && !f.found.Truncated, err
		}
		if len(f.found.Rows) == f.s.Limit {
			f.found.Truncated = true
			return false, nil
		}
		f.found.Rows = append(f.found.Rows, r)
		return true, nil
	})
}

// byScore weighs the newest hits and the newest that have a term in their title.
func (f *finding) byScore() error {
	var numbers []int64
	take := func(match string) error {
		n := 0
		return f.candidates(match, func(number int64) (bool, error) {
			if n == store.MaxScored {
				f.found.Truncated = true
				return false, nil
			}
			n++
			numbers = append(numbers, number)
			return true, nil
		})
	}
	if err := take(f.match); err != nil {
		return err
	}
	if f.found.Truncated {
		if err := take("(" + f.match + ") AND (" + titled(f.s.Query) + ")"); err != nil {
			return err
		}
		slices.SortFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) })
		numbers = slices.Compact(numbers)
	}
	statistics, err := f.statistics()
	if err != nil {
		return err
	}
	type scored struct {
		number int64
		score  float64
	}
	var all []scored
	for _, number := range numbers {
		r, ok, err := f.candidate(number)
		if err != nil {
			return err
		}
		if ok {
			all = append(all, scored{number, f.s.Query.Score(fieldsOf(r), statistics)})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.number, a.number)) })
	if len(all) > f.s.Limit {
		all, f.found.Truncated = all[:f.s.Limit], true
	}
	for _, a := range all {
		// Read again rather than kept: a thousand bodies may be much, and few of them are shown.
		r, err := f.read(a.number)
		if err != nil {
			return err
		}
		f.found.Rows = append(f.found.Rows, r)
	}
	return nil
}

// titled finds records with a term in their title.
func titled(q query.Query) string {
	var parts []string
	for _, t := range q.Terms() {
		t.Field = query.Subject
		parts = append(parts, t.Match())
	}
	return strings.Join(parts, " OR ")
}

// statistics counts over what exists for the view.
func (f *finding) statistics() (query.Statistics, error) {
	var s query.Statistics
	var tokens, documents int64
	for _, from := range f.sources {
		documents += from.searched
		tokens += from.tokens
	}
	s.Documents = int(documents)
	if documents > 0 {
		s.AverageLength = float64(tokens) / float64(documents)
	}
	terms := f.s.Query.Terms()
	if len(terms) == 1 {
		// How rare the only term is changes no order.
		s.Frequency = []int{1}
		return s, nil
	}
	for _, t := range terms {
		match := t.Match()
		if !f.all {
			var words []string
			for _, from := range f.sources {
				words = append(words, store.SourceWord(from.Number))
			}
			match += " AND " + scopeColumn(words...)
		}
		var n int
		if err := f.tx.QueryRowContext(f.ctx, "SELECT count(*) FROM (SELECT 1 FROM word WHERE word MATCH ? LIMIT ?)", match, store.MaxCounted).Scan(&n); err != nil {
			return s, err
		}
		s.Frequency = append(s.Frequency, n)
	}
	return s, nil
}

// candidates asks the index, which needs no sorting for this order.
const candidates = "SELECT rowid FROM word WHERE word MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC"

// candidates gives the numbers of what the index finds in the window of time, the newest first.
func (f *finding) candidates(match string, take func(number int64) (more bool, err error)) error {
	rows, err := f.tx.QueryContext(f.ctx, candidates, match, f.low, f.high)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		if err := rows.Scan(&number); err != nil {
			return err
		}
		if more, err := take(number); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

func (f *finding) read(number int64) (store.Row, error) {
	return f.row(f.tx.QueryRowContext(f.ctx, "SELECT "+columns+" FROM record WHERE number = ?", number).Scan)
}

// candidate reads a record that the index found; ok is false where it is none: a regular expression says no, or its label is wrong.
func (f *finding) candidate(number int64) (r store.Row, ok bool, err error) {
	r, err = f.read(number)
	switch {
	case errors.Is(err, store.ErrMislabelled):
		f.found.Mislabelled++
		return store.Row{}, false, nil
	case errors.Is(err, sql.ErrNoRows):
		return r, false, fmt.Errorf("%w: the index has a record that is not there", store.ErrDamaged)
	case err != nil:
		return r, false, err
	}
	if len(f.s.Query.Regexps()) == 0 {
		return r, true, nil
	}
	if f.began.IsZero() {
		f.began = time.Now()
	}
	f.scanned += len(r.Title) + len(r.Body)
	if f.scanned > cmp.Or(f.o.ScannedBytes, store.MaxScannedBytes) || time.Since(f.began) > cmp.Or(f.o.ScanTime, store.MaxScanTime) {
		f.found.Truncated = true
		return r, false, nil
	}
	return r, f.s.Query.Admits(fieldsOf(r)), nil
}

// fieldsOf are the texts of a record that are searched.
func fieldsOf(r store.Row) query.Fields {
	return query.Fields{Title: r.Title, Body: r.Body, Sender: people(r.From), Recipient: people(r.To)}
}

func people(parties []store.Party) string {
	var b strings.Builder
	for _, p := range parties {
		b.WriteString(p.Name + " " + string(p.Address) + "\n")
	}
	return b.String()
}
