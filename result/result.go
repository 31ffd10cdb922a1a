// Package result writes the answer of a run as labelled documents (retrieval 7, D42).
//
// A result is one page of the file cabinet, with the label of all that the run was shown, and one page for each row that the result cites,
// with exactly the row's own label. [Check] decides all that can be decided without the cabinet, as a pure function, so that an answer
// can be refused before it is an effect and judged again afterwards; [Write] does the same and keeps the pages, all of them or
// none.
//
// In the text of an answer and in names of members a token stays text. As a value of the structured result it becomes a link to the page
// of its row, or, where the schema sets a bound at that place which the row is beyond, to nothing: the place is sealed.
// Wherever a token stands, the run must hold it.
package result

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/internal/canonjson"
	"github.com/loomrun/loom/internal/codeunits"
	"github.com/loomrun/loom/internal/document"
	"github.com/loomrun/loom/internal/lazyregexp"
	"github.com/loomrun/loom/internal/strictjson"
	"github.com/loomrun/loom/internal/valueschema"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// Limits of a result, beside those of a page ([markdown.MaxPageBytes]) and of what a schema judges ([valueschema.MaxParts]).
//
// [markdown.MaxPageBytes]: https://pkg.go.dev/github.com/loomrun/loom/source/markdown#MaxPageBytes
const (
	MaxValueBytes = 1 << 20                 // of the structured value, as JSON on one line
	MaxValueDepth = strictjson.MaxDepth / 2 // of the structured value; half, so that a record may hold it inside of others
	MaxMinted     = 200                     // rows that are cited
)

// Request is a result that a run gives.
type Request struct {
	Run     string         // the id of the run: 1 to 64 letters, digits, hyphens and underscores
	Intent  string         // what the run was asked
	Answer  string         // in words
	Value   document.Value // in the form of Schema; only with it
	Schema  *Schema        // nil where no structured result is asked for
	Handles *handle.Table  // what the run holds; its salt is the id of the run. Nil: nothing
	Cited   []string       // tokens that the answer rests on, beside those in Value
	Context label.Label    // the accumulated label of the run (4.4)
	Ceiling label.Ceiling  // what the result may be labelled with at most; [label.Unbounded] for no bound
	At      time.Time      // when the result is given
}

// Written is a result as it was written.
type Written struct {
	Link   string         // the path of its page
	Label  label.Label    // of its page: the join of all that the run was shown
	Minted []Minted       // the pages of the cited rows: those of Cited first, then those of Value in their order
	Sealed []string       // JSON pointers of the places of Value that are sealed
	Value  document.Value // with links in the place of tokens
}

// Minted is the page of a cited row.
type Minted struct {
	Token string
	Link  string      // the path of the page
	Label label.Label // the row's own
}

// Plan is a result that may be written.
type Plan struct {
	Written
	documents []store.Written
}

// Check decides whether a result may be written, and what it is. It asks nobody and is a pure function of its request. The id of the run
// may be missing, for what is only proposed yet. The error is an *[Error].
func Check(r Request) (*Plan, error) {
	d, err := resolve(r)
	if err != nil {
		return nil, err
	}
	t := new(Ledger).begin()
	for _, row := range d.held() {
		t.read(row.Label)
	}
	return d.plan(t)
}

// Write writes a result into a cabinet: the page of the result and those of the rows it cites, or none of them. What it reads is what the run
// holds, so it needs no view. The error is an *[Error], but where the context ended: then it is not known whether anything was
// written.
func Write(ctx context.Context, cabinet Cabinet, r Request) (*Written, error) {
	d, err := resolve(r)
	if err == nil && r.Run == "" {
		err = refused(CommitFailed, "a result needs the id of its run")
	}
	if err != nil {
		return nil, err
	}
	ledger := NewLedger(cabinet)
	t, err := ledger.Begin(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	receipts, err := d.prepare(t)
	if err == nil {
		err = ledger.Renew(ctx)
	}
	if err != nil {
		return nil, failed(ctx, err)
	}
	if err := d.observe(t, receipts); err != nil {
		return nil, refused(CommitRefused, err.Error()).because(err)
	}
	p, err := d.plan(t)
	if err != nil {
		return nil, err
	}
	if err := t.Seal(); err != nil {
		return nil, refused(CommitRefused, err.Error()).because(err)
	}
	if err := cabinet.Write(ctx, t.trust, p.documents, r.At); err != nil {
		return nil, failed(ctx, err)
	}
	return &p.Written, nil
}

// failed is the error of a cabinet that failed.
func failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("write the result: %w", errors.Join(context.Cause(ctx), err))
	case errors.Is(err, store.ErrTrust):
		return refused(CommitRefused, ErrReceiptTrust.Error()).because(err)
	}
	return refused(CommitFailed).because(err)
}

// draft is a result whose tokens are resolved.
type draft struct {
	Request
	resolving
	resolved document.Value
}

// runForm is the form of the id of a run: it is part of paths.
var runForm = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

// proposed stands for the id of a run that is not known yet.
const proposed = "proposed"

// resolve does what the value alone decides (7.3, 1 to 4).
func resolve(r Request) (*draft, error) {
	if r.Handles == nil {
		r.Handles = handle.NewTable(r.Run)
	}
	switch {
	case r.Run != "" && !runForm().MatchString(r.Run):
		return nil, refused(CommitFailed, "the id of the run can be no name of a page")
	case r.Handles.Salt() != r.Run:
		return nil, refused(CommitFailed, "the tokens are those of another run")
	}
	d := &draft{Request: r, resolving: resolving{
		run: r.Run, handles: r.Handles, schema: r.Schema, steps: valueschema.MaxWork, isWritten: map[*node]bool{},
	}}
	if d.run == "" {
		d.run = proposed
	}
	if err := d.form(); err != nil {
		return nil, err
	}
	d.prose(r.Answer, "in the answer")
	for _, token := range r.Cited {
		if _, held := d.cite(token, "among what is cited"); held {
			d.mint(token)
		}
	}
	if r.Schema != nil {
		var parts []*node
		if r.Schema.reader.labels {
			parts = []*node{r.Schema.root}
		}
		d.resolved = d.value(d.Value, "", parts)
	}
	return d, d.failure()
}

// form checks the value against its schema and the limits, and puts the tree of its JSON text in its place.
func (d *draft) form() error {
	if d.Schema == nil {
		if d.Value.Kind != document.Null {
			return refused(InvalidResult, "there is a structured result, and none is asked for")
		}
		return nil
	}
	size := 0
	if !bounded(d.Value, MaxValueDepth, &size) {
		return refused(InvalidResult, fmt.Sprintf("the result is larger than %d bytes, or nested more than %d levels deep", MaxValueBytes, MaxValueDepth))
	}
	text := canonjson.Compact(d.Value)
	if len(text) > MaxValueBytes {
		return refused(InvalidResult, fmt.Sprintf("the result is larger than %d bytes", MaxValueBytes))
	}
	if wrong := d.Schema.values.Check(text); wrong != "" {
		return refused(InvalidResult, wrong)
	}
	var err error
	d.Value, err = strictjson.Parse([]byte(text), MaxValueDepth)
	return err // none: the schema has read the same
}

// bounded tells whether a value nests at most so many levels and has at most [MaxValueBytes] bytes of text.
func bounded(v document.Value, depth int, size *int) bool {
	*size += len(v.Text) + 1
	if *size > MaxValueBytes || depth < 0 || depth == 0 && (v.Kind == document.List || v.Kind == document.Map) {
		return false
	}
	for _, item := range v.Items {
		if !bounded(item, depth-1, size) {
			return false
		}
	}
	for _, m := range v.Members {
		if *size += len(m.Name); !bounded(m.Value, depth-1, size) {
			return false
		}
	}
	return true
}

func (d *draft) held() []handle.Referent { return d.Handles.Referents() }

// prepare makes receipts of all that is held and not cited (7.3, 5).
func (d *draft) prepare(t *Transaction) (receipts []Receipt, failed error) {
	cited := d.citedSet()
	for _, row := range d.held() {
		if cited[row.Token] {
			continue
		}
		receipt, err := t.Prepare(row, d.run)
		receipts, failed = append(receipts, receipt), errors.Join(failed, err)
	}
	return receipts, failed
}

// observe records the receipts and reads the documents of the cited rows (7.3, 7), in the order in which the run was shown them: the label
// that follows is that of [LabelOf] to the byte.
func (d *draft) observe(t *Transaction, receipts []Receipt) error {
	cited := d.citedSet()
	for _, row := range d.held() {
		if cited[row.Token] {
			t.read(row.Label)
			continue
		}
		if err := t.Record(receipts[0], d.run); err != nil {
			return err
		}
		receipts = receipts[1:]
	}
	return nil
}

func (d *draft) citedSet() map[string]bool {
	set := map[string]bool{}
	for _, token := range d.cited {
		set[token] = true
	}
	return set
}

// plan gates the result by what was observed, and makes its documents (7.3, 7 and 8).
func (d *draft) plan(t *Transaction) (*Plan, error) {
	l := t.Label(d.Context)
	if err := d.gate(t, l); err != nil {
		return nil, err
	}
	p := &Plan{Written: Written{Link: pathOf(d.run), Label: l, Sealed: d.sealed, Value: d.resolved}}
	for _, token := range d.cited {
		row, _ := d.handles.Get(token)
		p.Minted = append(p.Minted, Minted{Token: token, Link: pathOfRow(d.run, token), Label: row.Label})
	}
	if err := p.makePages(d); err != nil {
		return nil, refused(InvalidResult, "it cannot be kept as pages: "+codeunits.Cut(err.Error(), maxRefusalUnits)).because(err)
	}
	return p, nil
}

// gate refuses a result whose label is beyond the ceiling of the result, or beyond what the schema says of a place that the run wrote itself.
func (d *draft) gate(t *Transaction, l label.Label) error {
	if beyond := label.Outside(l, d.Ceiling); len(beyond) > 0 {
		return refused(CommitRefused, "what the run was shown is beyond the ceiling of the result").
			because(errors.New("beyond the ceiling of the result: " + label.Words(beyond)))
	}
	for _, n := range d.written {
		if n.ceiling != nil && !label.Fits(l, *n.ceiling) {
			return refused(CommitRefused, "what the run was shown is beyond what the schema admits at a place that is no row").
				because(errors.New("beyond maxConfidentiality of the schema: " + label.Words(label.Outside(l, *n.ceiling))))
		}
	}
	for _, n := range d.written {
		for _, r := range n.required {
			if !t.vouches(d.Context, r) {
				return unvouched(r)
			}
		}
	}
	for _, at := range d.linked {
		for _, n := range at.parts {
			for _, r := range n.required {
				if !r.metByAll([]label.Label{at.row.Label}) {
					return unvouched(r)
				}
			}
		}
	}
	return nil
}

func unvouched(r requirement) error {
	return refused(CommitRefused, "not all that the run was shown is vouched for as the schema requires").
		because(errors.New("requiredIntegrity of the schema is not met: " + r.atom.Canonical()))
}
