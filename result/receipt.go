package result

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// Cabinet is where results are written: the part of a [store.Store] that this package needs.
type Cabinet interface {
	// Trust is what labels follow from as it is now.
	Trust(ctx context.Context) (store.Trust, error)
	// Write keeps all documents or none. Its error wraps [store.ErrTrust] where trust is not what it was.
	Write(ctx context.Context, trust store.Trust, documents []store.Written, at time.Time) error
}

// Ledger is what one writer accounts for its observations with. It belongs to one cabinet, and knows the trust that it last had. It is not
// safe for use by several goroutines at once.
type Ledger struct {
	cabinet Cabinet
	trust   store.Trust
}

// NewLedger begins a ledger for a cabinet.
func NewLedger(c Cabinet) *Ledger { return &Ledger{cabinet: c} }

// Renew asks the cabinet for its trust. Receipts that were prepared under another one are refused from then on.
func (l *Ledger) Renew(ctx context.Context) error {
	trust, err := l.cabinet.Trust(ctx)
	if err != nil {
		return fmt.Errorf("ask for what labels follow from: %w", err)
	}
	l.trust = trust
	return nil
}

// Begin begins a transaction under the trust that the cabinet has now.
func (l *Ledger) Begin(ctx context.Context) (*Transaction, error) {
	if err := l.Renew(ctx); err != nil {
		return nil, err
	}
	return l.begin(), nil
}

func (l *Ledger) begin() *Transaction { return &Transaction{ledger: l, trust: l.trust} }

// Transaction accounts for what a result was made from, until it is sealed. What it observed decides the label of all that it writes. It
// is not safe for use by several goroutines at once.
type Transaction struct {
	ledger   *Ledger
	trust    store.Trust
	observed []label.Label // in full
	sealed   bool
}

// Receipt says that something was observed, without saying what. It is made by [Transaction.Prepare]; the zero Receipt is none.
type Receipt struct{ prepared *prepared }

// prepared is what a receipt is bound to, and the label of what was observed.
type prepared struct {
	ledger      *Ledger
	transaction *Transaction
	producer    string
	trust       store.Trust
	label       label.Label
	consumed    bool
}

// Prepare makes the receipt of a referent for this transaction and for who produces the result. Of the referent it keeps the label alone:
// its value is written nowhere (7.4).
func (t *Transaction) Prepare(r handle.Referent, producer string) (Receipt, error) {
	if t.sealed {
		return Receipt{}, ErrSealed
	}
	return Receipt{&prepared{ledger: t.ledger, transaction: t, producer: producer, trust: t.ledger.trust, label: r.Label}}, nil
}

// Record observes what a receipt stands for, once. It counts as a reading of content, so that a referent without hereditary integrity takes
// that of all others away. Its error is one of those of this package.
func (t *Transaction) Record(r Receipt, producer string) error {
	p := r.prepared
	switch {
	case t.sealed:
		return ErrSealed
	case p == nil:
		return ErrReceiptMissing
	case p.ledger != t.ledger || p.producer != producer:
		return ErrReceiptProducer
	case p.transaction != t:
		return ErrReceiptTarget
	case p.consumed:
		return ErrReceiptConsumed
	case p.trust != t.trust || p.trust != t.ledger.trust:
		return ErrReceiptTrust
	}
	p.consumed = true
	t.read(p.label)
	return nil
}

// read observes a document that is read in the transaction itself.
func (t *Transaction) read(l label.Label) { t.observed = append(t.observed, l) }

// Seal ends the observing: from now on the label is what it is.
func (t *Transaction) Seal() error {
	switch {
	case t.sealed:
		return errors.New("the transaction is sealed already")
	case t.trust != t.ledger.trust:
		return ErrReceiptTrust
	}
	t.sealed = true
	return nil
}

// Label is the label of what is made from all that was observed so far and from a context (7.3, 7.4, 3.7): every clause of each; of the
// integrity what is hereditary and what every one of the observed carries; and that an agent made it ([Derived]). The context is the
// accumulated label of a run, which keeps no integrity (4.4): where it has a clause that no observed row has, something else was seen too, of
// which nothing is known to vouch for it, and nothing is inherited.
func (t *Transaction) Label(context label.Label) label.Label {
	flow := label.Join(t.observed...)
	integrity := flow.Integrity()
	if !within(context, flow) {
		integrity = nil
	}
	clauses := label.Join(context, flow).Confidentiality()
	// In one order, so that two runs that were shown the same in another order write documents of one label.
	slices.SortFunc(clauses, func(a, b label.Clause) int { return strings.Compare(a.Canonical(), b.Canonical()) })
	return label.New(clauses, append(integrity, Derived()))
}

// within tells whether every clause of a label is one of another's.
func within(l, other label.Label) bool {
	has := map[string]bool{}
	for _, c := range other.Confidentiality() {
		has[c.Canonical()] = true
	}
	for _, c := range l.Confidentiality() {
		if !has[c.Canonical()] {
			return false
		}
	}
	return true
}

// vouches tells whether what was observed meets a requirement of integrity (3.7): there is one atom that meets it and that all carry. It
// looks at their integrity in full, not only at what is inherited. Where nothing was observed it is met; where the context has a clause
// that no observed row has, it is not.
func (t *Transaction) vouches(context label.Label, r requirement) bool {
	return within(context, label.Join(t.observed...)) && r.metByAll(t.observed)
}

// LabelOf is the label of a result that a run gives: of the accumulated label of the run, and of all it holds. It is a pure function of both.
func LabelOf(context label.Label, held *handle.Table) label.Label {
	t := new(Ledger).begin()
	for _, r := range held.Referents() {
		t.read(r.Label)
	}
	return t.Label(context)
}
