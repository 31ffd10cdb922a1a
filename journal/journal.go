// Package journal keeps what runs did: durable, in order, and so that a change made afterwards shows.
//
// A run's [Record] is a list of entries: how it began, what it was about to do, what came of it, what it
// told, how it was resumed. Each entry carries a hash over itself and the entry before (see [Chain]), so an entry that
// was changed, removed or moved no longer fits. A [Store] keeps records in a database, and beside them,
// as tables of their own, the cases that the entries tell of (governed-runs 4.11).
//
// Who writes a run holds the lease on it, so that two processes cannot continue one run.
package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loomrun/loom/governor"
)

const (
	// MaxEntryBytes bounds the body of an entry.
	MaxEntryBytes = 64 << 20
	// MaxRecordBytes bounds the bodies of all entries of a record that is read.
	MaxRecordBytes = 1 << 30
	// MaxCaseIDBytes bounds the id of a stored case (4.11).
	MaxCaseIDBytes = 122

	// LeaseTime is how long a lease holds without being renewed, where its holder cannot be looked at.
	LeaseTime = 60 * time.Second
	// RenewEvery is how often a holder renews its lease.
	RenewEvery = LeaseTime / 3
)

// Errors that callers branch on.
var (
	// ErrNoRun means that the journal holds no such run.
	ErrNoRun = errors.New("the journal holds no such run")
	// ErrLeaseLost means that another process took the run over: nothing was written.
	ErrLeaseLost = errors.New("another process has taken the run over")
	// ErrDamaged means that what is stored cannot be what was written.
	ErrDamaged = errors.New("the journal is damaged")
)

// HeldError says that a process works on a run.
type HeldError struct{ Holder Holder }

// Error names the process.
func (e *HeldError) Error() string { return "the run is held by " + e.Holder.String() }

// Store keeps the records of runs. It is safe for use by several goroutines, and several Stores, also of several
// processes, may use one database. journaltest has what every Store must pass.
//
// A method that changes anything does it whole and durably before it returns nil, or, if it returns an
// error, as far as is known not at all: a database that breaks while it commits may have done it all
// the same. What was written is read back and compared first.
type Store interface {
	// Begin makes a run, which nobody has, with its first entries, and gives its lease to a holder. The first entry has
	// the kind Begun and sequence 1. Documents are kept once, by digest.
	Begin(ctx context.Context, run string, by Holder, batch Batch, documents []Document) (Lease, error)
	// Take gives the lease of a run. Errors are ErrNoRun and, where a process that may be alive has it, a
	// *HeldError. A holder of this machine is looked at; another is taken for alive until LeaseTime after
	// its last renewal.
	Take(ctx context.Context, run string, by Holder) (Lease, error)
	// Renew renews a lease. Its error is ErrLeaseLost where another has the run.
	Renew(ctx context.Context, l Lease) error
	// Append adds entries behind those that are there, and what they say to the tables of cases. Their sequence goes on without a gap. Errors:
	// ErrLeaseLost; a *governor.CaseError of code StoreUnavailable or InvalidCaseId for a case that cannot be kept as it is.
	Append(ctx context.Context, l Lease, batch Batch) error
	// Release gives a lease back; a last batch has done so already. One that was lost meanwhile is left alone.
	Release(ctx context.Context, l Lease) error

	// Read gives the whole record of a run, as it is stored: it is not verified. The error may be ErrNoRun
	// or wrap ErrDamaged.
	Read(ctx context.Context, run string) (*Record, error)
	// List gives all runs, the latest first.
	List(ctx context.Context) ([]Listed, error)
	// Case gives a case of a run from its own tables. The error wraps ErrDamaged where a row is missing,
	// cut or added.
	Case(ctx context.Context, run, id string) (*Case, error)
	// Remove removes a run for good, its cases, and documents that no other run has. A run that is held
	// stays: the error is a *HeldError.
	Remove(ctx context.Context, run string) error
	// Close ends the use of the store.
	Close() error
}

// Lease is the right to write a run.
type Lease struct {
	Run    string
	Number int64 // each lease of a run has a higher one, so that an earlier holder is refused
	Holder Holder
}

// Batch is what one durable write adds to a run.
type Batch struct {
	Entries []Entry
	Summary Summary // of the run with these entries
	Last    bool    // the lease is given back with it
}

// Document is a text that a record refers to by digest, such as a protocol definition.
type Document struct {
	SHA256 string // in hexadecimal
	Text   string
}

// Record is all that is stored of a run.
type Record struct {
	Run     string
	Entries []Entry
	// Summary and Head are kept beside the entries: Head is the hash of the last one.
	Summary Summary
	Head    Hash
	// Documents are the texts the record refers to, by digest, as far as they are there and are what their
	// digest says.
	Documents map[string]string
}

// Listed is one line of a list of runs.
type Listed struct {
	Run     string
	Summary Summary
	Entries int
	// Holder is who works on the run: nil for nobody.
	Holder *Holder
}

// Case is a case as its tables hold it (4.11).
type Case struct {
	Run, ID          string
	Protocol, SHA256 string // the registration, and the digest of the definition
	Revision         uint64
	Artifacts        map[string]string
	Inputs           map[string]string
	Received         []governor.Received // in the order in which they came
	Observations     []governor.Observation
}

// storeError is a refusal of a case store.
func storeError(code governor.CaseErrorCode, format string, args ...any) error {
	return &governor.CaseError{Code: code, Detail: fmt.Sprintf(format, args...)}
}
