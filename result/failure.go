package result

import (
	"errors"
	"fmt"

	"github.com/loomrun/loom/internal/codeunits"
)

// Code says in which way a result was refused (7.2).
type Code string

// The codes.
const (
	InvalidResult      Code = "invalid_result"      // the value does not fit its schema, or is beyond a limit
	UnheldHandle       Code = "unheld_handle"       // it names a token that the run does not hold
	UnresolvableHandle Code = "unresolvable_handle" // it refers to what no token of the run stands for
	CommitRefused      Code = "cfc_commit_refused"  // it may not be written with the label that it would have
	CommitFailed       Code = "commit_failed"       // the cabinet could not keep it
)

// sentences are the public messages.
var sentences = map[Code]string{
	InvalidResult:      "the result does not have the form that is asked for",
	UnheldHandle:       "the result names a token that this run does not hold",
	UnresolvableHandle: "the result refers to something that is no row which this run was shown",
	CommitRefused:      "the result may not be written, because of what this run was shown",
	CommitFailed:       "the result could not be written",
}

// Limits of what an error says.
const (
	maxRefusals     = 10
	maxRefusalUnits = 300 // UTF-16 code units of each
)

// Error says why there is no result. Nothing of the result was kept then. What it says in public, message and refusals, repeats nothing of
// a label and nothing of a row: it may be shown to the model that gave the result. The cause, which errors.Unwrap gives, is
// for the host alone.
type Error struct {
	Code Code
	// Refusals are what was wrong, one thing each, at most ten. Places in the result are JSON pointers (RFC 6901).
	Refusals []string
	cause    error
}

// Error gives one sentence for the code.
func (e *Error) Error() string { return sentences[e.Code] }

// Unwrap gives the cause, which may hold labels and what the store says; nil for none.
func (e *Error) Unwrap() error { return e.cause }

// refused makes an error that has no cause of its own.
func refused(code Code, refusals ...string) *Error {
	e := &Error{Code: code}
	for i, text := range refusals {
		if i == maxRefusals {
			e.Refusals = append(e.Refusals, fmt.Sprintf("and %d more", len(refusals)-maxRefusals))
			break
		}
		e.Refusals = append(e.Refusals, codeunits.Cut(text, maxRefusalUnits))
	}
	return e
}

// because adds a cause.
func (e *Error) because(cause error) *Error {
	e.cause = cause
	return e
}

// Reasons for which a receipt is refused (7.4). They stand in the refusals of an [Error], and before a caller of [Transaction] as they are.
var (
	ErrReceiptMissing  = errors.New("the receipt is missing: none was prepared")
	ErrReceiptTarget   = errors.New("the receipt is for another target: another transaction prepared it")
	ErrReceiptProducer = errors.New("the receipt is of another runtime and producer")
	ErrReceiptConsumed = errors.New("the receipt is consumed: it was recorded before")
	ErrReceiptTrust    = errors.New("the trust that the receipt was prepared under has changed meanwhile")
	ErrSealed          = errors.New("external-content-observation-added: the transaction is sealed, and takes no observation any more")
)
