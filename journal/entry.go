package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Kind says what an entry is.
type Kind string

// The kinds of entries. A reader must refuse a record with one it does not know.
const (
	Begun    Kind = "begun"    // how the run began: the first entry and no other; a [Beginning]
	Asked    Kind = "asked"    // a step that acts is about to be done: an [Asking]
	Reported Kind = "reported" // what came of a step: a [Report]
	Told     Kind = "told"     // an event
	Resumed  Kind = "resumed"  // another sitting begins: a [Resumption]
)

// Entry is one entry of a record.
type Entry struct {
	Sequence int64  // from 1, without a gap
	Kind     Kind   //
	Name     string // of the step, or of the event's type; empty for other kinds
	Body     string // one line of JSON
	Hash     Hash
}

// Hash is what an entry says of itself and of all before it.
type Hash [sha256.Size]byte

// String gives the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String gives.
func ParseHash(text string) (Hash, error) {
	var h Hash
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("%q is not %d hexadecimal digits", text, 2*len(h))
	}
	copy(h[:], raw)
	return h, nil
}

// chainFormat begins every chain, so that its hashes are nobody else's.
const chainFormat = "loom-journal/1"

// Chain computes the hashes of a run's entries: of each, SHA-256 over the hash before it, the sequence, and
// the kind, name and body with their lengths. The hash before the first is that of the run's id.
type Chain struct{ last Hash }

// NewChain begins the chain of a run.
func NewChain(run string) Chain {
	return Chain{sha256.Sum256(parts([]byte(chainFormat), run))}
}

// Next gives the hash of the next entry, whatever hash it carries, and goes on from it.
func (c *Chain) Next(e Entry) Hash {
	data := binary.BigEndian.AppendUint64(c.last[:len(c.last):len(c.last)], uint64(e.Sequence))
	c.last = sha256.Sum256(parts(data, string(e.Kind), e.Name, e.Body))
	return c.last
}

func parts(data []byte, texts ...string) []byte {
	for _, text := range texts {
		data = append(binary.BigEndian.AppendUint64(data, uint64(len(text))), text...)
	}
	return data
}

// BrokenError says where a chain does not hold.
type BrokenError struct {
	Sequence int64 // of the first entry that does not fit
	Why      string
}

// Error names the entry.
func (e *BrokenError) Error() string { return fmt.Sprintf("entry %d: %s", e.Sequence, e.Why) }

// Verify checks that the entries are the ones that were written, none changed, removed or moved. Its error is
// a *BrokenError. What it cannot see is a record whose whole end was cut off or written anew together
// with its head: for that, keep the head elsewhere.
func (r *Record) Verify() error {
	chain := NewChain(r.Run)
	for i, e := range r.Entries {
		want := int64(i) + 1
		switch {
		case e.Sequence != want:
			return &BrokenError{want, fmt.Sprintf("it is missing; the next one there is is %d", e.Sequence)}
		case chain.Next(e) != e.Hash:
			return &BrokenError{want, "it is not what was written"}
		case (e.Kind == Begun) != (i == 0):
			return &BrokenError{want, "a record begins once, with its first entry"}
		}
	}
	switch {
	case len(r.Entries) == 0:
		return &BrokenError{1, "it is missing"}
	case r.Entries[len(r.Entries)-1].Hash != r.Head:
		return &BrokenError{int64(len(r.Entries)) + 1, "entries are missing at the end"}
	}
	return nil
}
