package model

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Class says what kind of failure ended a request, so that a caller knows what it may do next
// (governed-runs 7.5). Only Unavailable is transient: see [Failure.Transient].
type Class string

// The classes of failure. A class says nothing about whose fault it was.
const (
	// Unavailable means that the endpoint could not be reached, was overloaded, or failed by
	// itself (408, 409, 429, 5xx). Transient.
	Unavailable Class = "Unavailable"
	// Refused means that the provider or the model declined to answer this content.
	Refused Class = "Refused"
	// Unauthorized means that the endpoint does not accept the account or its secret.
	Unauthorized Class = "Unauthorized"
	// InvalidRequest means that the request itself is wrong, by the endpoint's word or before it
	// was sent.
	InvalidRequest Class = "InvalidRequest"
	// Unsupported means that the endpoint cannot do what was asked, or can only be reached in a way
	// that is not taken: by a redirect, or past a certificate that does not hold.
	Unsupported Class = "Unsupported"
	// TooLarge means that the request is too large for the model, or the answer for its limits.
	TooLarge Class = "TooLarge"
	// Cancelled means that the caller withdrew the request.
	Cancelled Class = "Cancelled"
	// Deadline means that the caller's time for the request ran out.
	Deadline Class = "Deadline"
	// Incomplete means that the answer broke off before its terminal event.
	Incomplete Class = "Incomplete"
	// Malformed means that the answer, or a call in it, is not what the protocol says.
	Malformed Class = "Malformed"
)

// MaxDetail bounds a failure's detail, in bytes.
const MaxDetail = 1024

// Failure is why a request has no reply. It is the one error type of [Client.Ask].
type Failure struct {
	Class Class
	// Detail says more in at most [MaxDetail] bytes of UTF-8. It may carry the endpoint's own
	// words, so it is printed through a filter; the account's secret is never in it.
	Detail string
	// Started is true when an event of the answer had already arrived.
	Started bool
	// RetryAfter is how long the endpoint asks to wait before another try; zero when it did not.
	RetryAfter time.Duration
	// Usage is what the endpoint reported before the failure, or nil.
	Usage *Usage
	// Cause is the error below this one, or nil. Its text may name hosts and addresses.
	Cause error
}

// Fail makes a Failure whose detail is cut to its limit. Cause may be nil.
func Fail(class Class, cause error, format string, args ...any) *Failure {
	return &Failure{Class: class, Detail: bounded(fmt.Sprintf(format, args...)), Cause: cause}
}

// Error gives "Class: detail".
func (f *Failure) Error() string {
	if f.Detail == "" {
		return string(f.Class)
	}
	return string(f.Class) + ": " + bounded(f.Detail)
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Transient reports whether the same request may be sent again: the endpoint was not available and
// nothing of an answer had arrived. After the first event a repetition could be a second answer.
func (f *Failure) Transient() bool { return f.Class == Unavailable && !f.Started }

// Hide takes a secret out of what the failure says: out of its detail wherever it or a part of it
// stands there, and the cause altogether if that repeats it. A wire calls it last.
func (f *Failure) Hide(s Secret) {
	f.Detail = bounded(s.Hide(f.Detail))
	if f.Cause != nil && s.In(f.Cause.Error()) {
		f.Cause = nil
	}
}

// bounded gives s as UTF-8 of at most MaxDetail bytes, with a mark where something is missing.
func bounded(s string) string { return cutTo(s, MaxDetail) }

// cutTo gives s as UTF-8 of at most limit bytes, with a mark where something is missing.
func cutTo(s string, limit int) string {
	const mark = " […]"
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
