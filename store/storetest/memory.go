package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
	"github.com/loomrun/loom/store/query"
	"github.com/loomrun/loom/store/words"
)

// Memory holds records in memory and reads them as the contract says it, one by one and with no index: for tests of what reads a
// [store.View], and to hold stores against. It is not for several goroutines.
type Memory struct {
	owner   store.Owner
	sources []store.SourceState
	entries []entry
}

type entry struct {
	record   *store.Record
	indexed  *store.Indexed
	source   string
	id       store.ID
	observed time.Time
	spoilt   bool // its stored label is another than its source gives
}

// NewMemory makes a store without sources.
func NewMemory(owner store.Owner) *Memory { return &Memory{owner: owner} }

// AddSource adds a source, or changes what is there under its name. A state with a time in Synced is one of a source that was read.
func (m *Memory) AddSource(s store.SourceState) {
	if err := s.Check(); err != nil {
		panic(err)
	}
	at, there := slices.BinarySearchFunc(m.sources, s.Name, func(s store.SourceState, name string) int { return strings.Compare(s.Name, name) })
	if there {
		m.sources[at] = s
		return
	}
	m.sources = slices.Insert(m.sources, at, s)
}

// Put adds records to a source.
func (m *Memory) Put(source string, observed time.Time, records ...*store.Record) {
	for _, r := range records {
		if err := r.Check(); err != nil {
			panic(err)
		}
	}
	m.put(source, observed, records...)
}

func (m *Memory) put(source string, observed time.Time, records ...*store.Record) {
	for _, r := range records {
		id := store.NewID(source, r.Ref, r.Time)
		for slices.ContainsFunc(m.entries, func(e entry) bool { return e.id == id }) {
			id++
		}
		m.entries = append(m.entries, entry{r, store.Index(r), source, id, observed, false})
	}
	slices.SortFunc(m.entries, func(a, b entry) int { return cmp.Compare(b.id, a.id) })
}

// Trust is what [store.Store] has of that name.
func (m *Memory) Trust(context.Context) (store.Trust, error) {
	return store.TrustOf(m.owner, m.plain()), nil
}

func (m *Memory) plain() (all []store.Source) {
	for _, s := range m.sources {
		all = append(all, s.Source)
	}
	return all
}

// Write is what [store.Store] has of that name.
func (m *Memory) Write(ctx context.Context, trust store.Trust, documents []store.Written, at time.Time) error {
	if err := store.CheckWritten(documents); err != nil {
		return err
	}
	if now, err := m.Trust(ctx); err != nil || now != trust {
		return store.ErrTrust
	}
	labels, refs := map[string]bool{}, map[string]bool{} // of the documents
	for _, d := range documents {
		labels[d.Label.Canonical()], refs[d.Record.Ref] = true, true
	}
	written := func(name string) bool {
		return slices.ContainsFunc(m.sources, func(s store.SourceState) bool { return s.Name == name && s.IsWritten() })
	}
	var kept []entry
	filled := map[string]bool{}
	for _, e := range m.entries {
		if !written(e.source) || !refs[e.record.Ref] {
			kept, filled[e.source] = append(kept, e), true
		}
	}
	var sources []store.SourceState
	names := map[string]string{} // of sources, by label
	for _, s := range m.sources {
		if s.IsWritten() {
			if !filled[s.Name] && !labels[s.Written] {
				continue
			}
			labels[s.Written], names[s.Written] = true, s.Name
		}
		sources = append(sources, s)
	}
	if len(labels) > store.MaxWrittenSources {
		return fmt.Errorf("written documents of %d labels: %d can be", len(labels), store.MaxWrittenSources)
	}
	m.sources, m.entries = sources, kept
	for _, d := range documents {
		m.put(m.sourceOf(names, d.Label, at), at, d.Record)
	}
	return nil
}

// sourceOf gives the name of the source of the documents with a label, which is made where it is missing.
func (m *Memory) sourceOf(names map[string]string, l label.Label, at time.Time) string {
	named := func(name string) func(store.SourceState) bool {
		return func(s store.SourceState) bool { return s.Name == name }
	}
	text := l.Canonical()
	if names[text] == "" {
		s := store.WrittenSource(l, at, func(name string) bool { return slices.ContainsFunc(m.sources, named(name)) })
		names[text] = s.Name
		m.sources = append(m.sources, store.SourceState{Source: s})
		slices.SortFunc(m.sources, func(a, b store.SourceState) int { return strings.Compare(a.Name, b.Name) })
	}
	s := &m.sources[slices.IndexFunc(m.sources, named(names[text]))]
	s.Synced, s.Complete = at, true
	return s.Name
}

// Mislabel makes the stored label of a record one that its source does not give.
func (m *Memory) Mislabel(source, ref string) {
	for i, e := range m.entries {
		m.entries[i].spoilt = e.spoilt || e.source == source && e.record.Ref == ref
	}
}

// Only is a store that has nothing but what a scope admits.
func (m *Memory) Only(scope store.Scope) *Memory {
	v := m.View(scope).(*memoryView)
	only := &Memory{owner: m.owner, entries: v.entries}
	only.sources = v.Sources()
	return only
}

// View opens what a scope admits.
func (m *Memory) View(scope store.Scope) store.View {
	v := &memoryView{owner: m.owner}
	admits := scope.Admitting(m.owner.Subject)
	admitted := map[string]*store.SourceState{}
	for _, s := range m.sources {
		if admits(s.Source) {
			admitted[s.Name] = &s
			v.sources = append(v.sources, &s)
		}
	}
	for _, e := range m.entries {
		s := admitted[e.source]
		if s == nil {
			continue
		}
		s.Records++
		s.Bytes += int64(len(e.record.Title) + len(e.record.Body))
		if e.record.Time.After(s.Newest) {
			s.Newest = e.record.Time
		}
		v.entries = append(v.entries, e)
	}
	return v
}

type memoryView struct {
	owner   store.Owner
	sources []*store.SourceState
	entries []entry // the newest first
}

func (v *memoryView) Owner() store.Owner { return v.owner }

func (v *memoryView) Sources() []store.SourceState {
	all := make([]store.SourceState, 0, len(v.sources))
	for _, s := range v.sources {
		plain := *s
		all = append(all, plain)
	}
	return all
}

func (v *memoryView) Close() error { return nil }

func (v *memoryView) Skipped(context.Context, string, int) ([]store.Skip, error) { return nil, nil }

func (v *memoryView) FacetChanges(context.Context) ([]store.FacetChange, error) { return nil, nil }

func (v *memoryView) source(name string) *store.SourceState {
	for _, s := range v.sources {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func (v *memoryView) known(names []string) error {
	for _, name := range names {
		if v.source(name) == nil {
			return fmt.Errorf("%w: %s", store.ErrNoSource, name)
		}
	}
	return nil
}

func (v *memoryView) row(e entry) store.Row {
	s := v.source(e.source)
	return store.Row{Record: *e.record, ID: e.id, Source: s, Label: store.LabelOf(v.owner.Subject, s.Source), Observed: e.observed}
}

// roundedUp is the first whole second at or after t.
func roundedUp(t time.Time) time.Time {
	if down := t.Truncate(time.Second); down.Before(t) {
		return down.Add(time.Second)
	}
	return t
}

func takesPart(r *store.Record, i store.Identifier) bool {
	is := func(p store.Party) bool { return p.Address == i }
	return slices.ContainsFunc(r.From, is) || slices.ContainsFunc(r.To, is) || slices.Contains(r.Keys, i.Key())
}

func among[T comparable](list []T, item T) bool { return list == nil || slices.Contains(list, item) }

func admits(f store.Filter, e entry) bool {
	r := e.record
	switch {
	case !among(f.Kinds, r.Kind), !among(f.Sources, e.source), f.Ref != "" && f.Ref != r.Ref, f.Thread != "" && f.Thread != r.Thread:
		return false
	case f.Party != "" && (r.Unsearched || !takesPart(r, f.Party)):
		return false
	case f.Keys != nil && !slices.ContainsFunc(r.Keys, func(k string) bool { return slices.Contains(f.Keys, k) }):
		return false
	case !f.To.IsZero() && (r.Time.IsZero() || !r.Time.Before(roundedUp(f.To))):
		return false
	case f.From.IsZero(), !r.Until.IsZero() && r.Until.After(f.From.Truncate(time.Second)):
		return true
	}
	return !r.Time.IsZero() && !r.Time.Before(roundedUp(f.From))
}

// Records implements [store.View].
func (v *memoryView) Records(ctx context.Context, f store.Filter) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		err := v.known(f.Sources)
		if err == nil && f.Ref != "" && len(f.Sources) != 1 {
			err = errors.New("a reference is looked for in exactly one source")
		}
		if err != nil {
			yield(store.Row{}, err)
			return
		}
		entries := slices.Clone(v.entries)
		if f.Oldest {
			slices.Reverse(entries)
		}
		given := 0
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				yield(store.Row{}, err)
				return
			}
			if !admits(f, e) {
				continue
			}
			row, err := v.row(e), error(nil)
			if e.spoilt {
				row, err = store.Row{}, store.ErrMislabelled
			}
			if !yield(row, err) {
				return
			}
			if given++; given == f.Limit {
				return
			}
		}
	}
}

// Search implements [store.View].
func (v *memoryView) Search(_ context.Context, s store.Search) (store.Result, error) {
	if s.Limit < 1 || s.Limit > store.MaxLimit {
		return store.Result{}, fmt.Errorf("a limit of %d hits: 1 to %d can be", s.Limit, store.MaxLimit)
	}
	if err := v.known(s.Sources); err != nil {
		return store.Result{}, err
	}
	var found store.Result
	type hit struct {
		entry entry
		score float64
	}
	var hits []hit
	for _, e := range v.entries {
		r := e.record
		switch {
		case r.Unsearched, !among(s.Sources, e.source), !among(s.Kinds, r.Kind), !s.Since.IsZero() && e.id < store.FirstID(s.Since),
			!s.Until.IsZero() && e.id >= store.FirstID(roundedUp(s.Until)),
			s.Parties != nil && !slices.ContainsFunc(s.Parties, func(i store.Identifier) bool { return takesPart(r, i) }),
			!matches(s.Query.Match(), e.indexed):
			continue
		}
		// A withheld record's text is not looked at, so that a regular expression tells nothing of it.
		if e.spoilt {
			found.Mislabelled++
			continue
		}
		if s.Query.Admits(textsOf(r)) {
			hits = append(hits, hit{entry: e})
		}
	}
	if terms := s.Query.Terms(); s.Rank == store.ByScore && len(terms) > 0 {
		statistics := v.statistics(terms)
		for i := range hits {
			hits[i].score = s.Query.Score(textsOf(hits[i].entry.record), statistics)
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	}
	if len(hits) > s.Limit {
		hits, found.Truncated = hits[:s.Limit], true
	}
	for _, h := range hits {
		found.Rows = append(found.Rows, v.row(h.entry))
		found.Snippets = append(found.Snippets, s.Query.Snippet(h.entry.record.Body))
	}
	return found, nil
}

func textsOf(r *store.Record) query.Fields {
	people := func(parties []store.Party) string {
		var b strings.Builder
		for _, p := range parties {
			b.WriteString(p.Name + " " + string(p.Address) + "\n")
		}
		return b.String()
	}
	return query.Fields{Title: r.Title, Body: r.Body, Sender: people(r.From), Recipient: people(r.To)}
}

// statistics counts over what exists for the view.
func (v *memoryView) statistics(terms []query.Term) query.Statistics {
	var s query.Statistics
	tokens := 0
	s.Frequency = make([]int, len(terms))
	for _, e := range v.entries {
		if e.record.Unsearched {
			continue
		}
		s.Documents++
		tokens += e.indexed.Tokens()
		for i, t := range terms {
			if matches(t.Match(), e.indexed) {
				s.Frequency[i]++
			}
		}
	}
	if len(terms) == 1 {
		s.Frequency[0] = 1 // how rare the only term is changes no order
	}
	if s.Documents > 0 {
		s.AverageLength = float64(tokens) / float64(s.Documents)
	}
	return s
}

// matches evaluates an expression of the index (see [query.Query.Match]) for one record.
func matches(expression string, x *store.Indexed) bool {
	if expression == "" {
		return true
	}
	e := evaluation{text: expression, record: x}
	value := e.operand()
	if e.text != "" {
		panic("the expression of the index goes on: " + e.text)
	}
	return value
}

// evaluation reads an expression while it evaluates it.
type evaluation struct {
	text   string
	record *store.Indexed
}

func (e *evaluation) take(s string) bool {
	rest, ok := strings.CutPrefix(e.text, s)
	e.text = rest
	return ok
}

func (e *evaluation) operand() bool {
	if !e.take("(") {
		return e.term()
	}
	value := e.operand()
	for !e.take(")") {
		switch {
		case e.take(" AND "):
			value = e.operand() && value
		case e.take(" OR "):
			value = e.operand() || value
		case e.take(" NOT "):
			value = !e.operand() && value
		default:
			panic("the expression of the index is not understood: " + e.text)
		}
	}
	return value
}

// term is columns, a colon, a phrase in quotation marks, and a star where its last word may go on.
func (e *evaluation) term() bool {
	columns, rest, _ := strings.Cut(e.text, ` : "`)
	phrase, rest, ok := strings.Cut(rest, `"`)
	if !ok || words.Fold(phrase) != phrase {
		panic("the expression of the index has no phrase: " + e.text)
	}
	e.text = rest
	prefix := e.take(" *")
	for _, column := range strings.Fields(strings.Trim(columns, "{}")) {
		texts := map[string]string{
			"title": e.record.Title, "body": e.record.Body, "sender": e.record.Sender, "recipient": e.record.Recipient, "folder": e.record.Folder,
			"scope": store.Everything,
		}
		text, known := texts[column]
		if !known {
			panic("the index has no column " + column)
		}
		if prefix && strings.Contains(" "+text, " "+phrase) || strings.Contains(" "+text+" ", " "+phrase+" ") {
			return true
		}
	}
	return false
}
