package result

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loomrun/loom/handle"
	"github.com/loomrun/loom/label"
	"github.com/loomrun/loom/store"
)

// begun is a transaction of a new writer.
func begun(t *testing.T, c *cabinet) *Transaction {
	t.Helper()
	tx, err := NewLedger(c).Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// E178: a receipt is good for one use, by whom and for what it was prepared.
func TestReceipts(t *testing.T) {
	row := handle.Referent{Label: labelled(t, "SECRET", certified)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		use  func(tx *Transaction, r Receipt) error
		want error
		word string
	}{
		{"good", func(tx *Transaction, r Receipt) error { return tx.Record(r, "agent") }, nil, ""},
		{"forged", func(tx *Transaction, _ Receipt) error { return tx.Record(Receipt{}, "agent") }, ErrReceiptMissing, "missing"},
		{"twice", func(tx *Transaction, r Receipt) error {
			must(tx.Record(r, "agent"))
			return tx.Record(r, "agent")
		}, ErrReceiptConsumed, "consumed"},
		{"by a copy of it", func(tx *Transaction, r Receipt) error {
			other := r
			must(tx.Record(other, "agent"))
			return tx.Record(r, "agent")
		}, ErrReceiptConsumed, "consumed"},
		{"another transaction", func(tx *Transaction, r Receipt) error { return tx.ledger.begin().Record(r, "agent") }, ErrReceiptTarget, "target"},
		{"another writer", func(_ *Transaction, r Receipt) error { return begun(t, &cabinet{}).Record(r, "agent") }, ErrReceiptProducer, "runtime and producer"},
		{"another producer", func(tx *Transaction, r Receipt) error { return tx.Record(r, "somebody") }, ErrReceiptProducer, "runtime and producer"},
		{"trust that changed", func(tx *Transaction, r Receipt) error {
			must(tx.ledger.Renew(context.Background()))
			return tx.Record(r, "agent")
		}, ErrReceiptTrust, "trust"},
		{"after it was sealed", func(tx *Transaction, r Receipt) error {
			must(tx.Seal())
			return tx.Record(r, "agent")
		}, ErrSealed, "external-content-observation-added"},
		{"prepared after it was sealed", func(tx *Transaction, _ Receipt) error {
			must(tx.Seal())
			_, err := tx.Prepare(row, "agent")
			return err
		}, ErrSealed, "external-content-observation-added"},
		{"sealed twice", func(tx *Transaction, _ Receipt) error {
			must(tx.Seal())
			if tx.Seal() == nil {
				t.Error("it can be sealed twice")
			}
			return nil
		}, nil, ""},
		{"sealed under trust that changed", func(tx *Transaction, _ Receipt) error {
			must(tx.ledger.Renew(context.Background()))
			return tx.Seal()
		}, ErrReceiptTrust, "trust"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tx := begun(t, &cabinet{trust: []store.Trust{"a", "b"}})
			r, err := tx.Prepare(row, "agent")
			must(err)
			before := len(tx.observed)
			err = tc.use(tx, r)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.word) {
				t.Errorf("%v", err)
			}
			if tc.want != nil && tc.want != ErrReceiptConsumed && len(tx.observed) != before {
				t.Error("what is refused was observed")
			}
		})
	}
}

// E179, E180: flow keeps what is inherited by all, requirements look at all that each carries.
func TestFlowAndConsumedLabels(t *testing.T) {
	tx := begun(t, &cabinet{})
	for i, l := range []label.Label{labelled(t, "A", certified, verified), labelled(t, "B", verified)} {
		tx.read(l)
		got := tx.Label(labelled(t, "A")).Canonical()
		want := []string{`{"confidentiality":["A"],"integrity":[{"policy":"p","type":"https://commonfabric.org/cfc/atom/PolicyCertified"},` + derived + `]}`, `{"confidentiality":["A","B"],"integrity":[` + derived + `]}`}[i]
		if got != want {
			t.Errorf("%s", got)
		}
	}
	met := requirementOf(parsed(t, verified))
	if !tx.vouches(labelled(t, "B"), met) {
		t.Errorf("what all carry is not vouched for")
	}
}

func TestALedgerWithoutTrust(t *testing.T) {
	broken := errors.New("broken")
	if _, err := NewLedger(&cabinet{failAt: 1, err: broken}).Begin(context.Background()); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestRequirements(t *testing.T) {
	const concept = `{"type":"https://commonfabric.org/cfc/atom/Concept","uri":"u"}`
	for _, tc := range []struct {
		require, carried string
		met              bool
	}{
		{`"v"`, `"v"`, true},
		{`"v"`, `"w"`, false},
		{`"v"`, verified, false},
		{verified, verified, true},
		{`{"type":"t/Verified"}`, verified, true},
		{`{"type":"t/Verified","by":"ada"}`, verified, true},
		{`{"type":"t/Verified","by":"bob"}`, verified, false},
		{`{"type":"t/Verified","of":"x"}`, verified, false},
		{`{"type":"t/Verified"}`, `"t/Verified"`, false},
		{concept, concept, false},
	} {
		r := requirementOf(parsed(t, tc.require))
		if got := r.metByAll([]label.Label{labelled(t, "", tc.carried)}); got != tc.met {
			t.Errorf("%s of %s: %v", tc.require, tc.carried, got)
		}
	}
	r := requirementOf(parsed(t, `{"type":"t/Verified"}`))
	one, other := labelled(t, "", verified), labelled(t, "", `{"type":"t/Verified","by":"bob"}`)
	if r.metByAll([]label.Label{one, other}) {
		t.Error("different witnesses are taken for one (3.7)")
	}
	if !r.metByAll(nil) {
		t.Error("it is not met where nothing was observed")
	}
}
