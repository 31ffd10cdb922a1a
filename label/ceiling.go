package label

import (
	"errors"
	"slices"
)

// Ceiling says what a reader may see: data all of whose clauses one of the ceiling's clauses subsumes.
// The clauses are a flat list of what is allowed, so that several facets are several clauses; one clause
// with several alternatives asks that every one of them may see the data.
//
// The zero Ceiling has no clause: public data only. That there is no bound must be said with
// [Unbounded].
type Ceiling struct {
	clauses   []Clause
	unbounded bool
}

// Unbounded is the absent ceiling: nothing is outside of it but a label that could not be read (D37).
func Unbounded() Ceiling { return Ceiling{unbounded: true} }

// UpTo makes a ceiling. Of equal clauses the first stays; the order is kept. Without a clause it admits
// public data only. Clauses beyond the limits of this package are more than [ReadCeiling] reads again.
func UpTo(clauses ...Clause) Ceiling {
	return Ceiling{clauses: unionOfClauses(nil, clauses)}
}

// Bounded tells whether there is a bound at all.
func (c Ceiling) Bounded() bool { return !c.unbounded }

// Clauses lists the clauses in order. An absent ceiling has none, and neither has one that admits
// public data only: ask [Ceiling.Bounded].
func (c Ceiling) Clauses() []Clause { return slices.Clone(c.clauses) }

// Equal tells whether two ceilings have the same clauses in the same order, or are both absent.
func (c Ceiling) Equal(other Ceiling) bool {
	return c.unbounded == other.unbounded && slices.EqualFunc(c.clauses, other.clauses, Clause.Equal)
}

// Canonical gives the JSON list of the clauses, and null where there is no bound. [ReadCeiling] does not
// read null: a bound must not vanish because something was null.
func (c Ceiling) Canonical() string {
	if c.unbounded {
		return "null"
	}
	return string(appendList(nil, c.clauses, Clause.append))
}

// Fits tells whether data with the label may be seen under the ceiling (section 3.5).
//
// Each clause of the label must be subsumed by some clause of the ceiling, that is: every alternative of
// the ceiling's clause, and at least one there must be, entails some alternative of the label's. An atom
// entails an equal one. Beyond that Expires(t1) entails Expires(t2) when t1 is before t2, and User(D)
// entails PersonalSpace(D), not the other way round.
//
// Without a bound every label fits but one that bears [ReadFailed]. A public label fits every ceiling.
func Fits(l Label, c Ceiling) bool {
	for i := range l.confidentiality {
		if !c.admits(l.confidentiality[i]) {
			return false
		}
	}
	return true
}

// Outside lists the clauses of the label that do not fit the ceiling, in order. There are none exactly
// when the label fits.
func Outside(l Label, c Ceiling) []Clause {
	var outside []Clause
	for _, clause := range l.confidentiality {
		if !c.admits(clause) {
			outside = append(outside, clause)
		}
	}
	return outside
}

func (c Ceiling) admits(l Clause) bool {
	if l.failed() {
		return false
	}
	if c.unbounded {
		return true
	}
	for i := range c.clauses {
		if c.clauses[i].subsumes(l) {
			return true
		}
	}
	return false
}

// MaxMeetAtoms bounds the work of one [Meet]: the alternatives of all pairs of clauses together.
const MaxMeetAtoms = 1 << 18

// ErrMeetTooLarge means that two ceilings together are beyond the limits of this package. There is no
// smaller ceiling that means the same, so nothing may be shown.
var ErrMeetTooLarge = errors.New("the two ceilings have too many clauses to be held at once; name fewer clauses")

// Meet gives the ceiling that admits exactly what both a and b admit (section 3.6). For every pair of a
// clause of a and a clause of b it has the clause of the alternatives of both, in the order of the
// pairs; clauses without alternatives take part in none. Its error is [ErrMeetTooLarge].
func Meet(a, b Ceiling) (Ceiling, error) {
	if a.unbounded {
		return b, nil
	}
	if b.unbounded {
		return a, nil
	}
	if len(b.clauses)*weightOf(a.clauses).atoms+len(a.clauses)*weightOf(b.clauses).atoms > MaxMeetAtoms {
		return Ceiling{}, ErrMeetTooLarge
	}
	both := make([]Clause, 0, len(a.clauses)*len(b.clauses))
	for _, ca := range a.clauses {
		for _, cb := range b.clauses {
			if len(ca.alternatives) > 0 && len(cb.alternatives) > 0 {
				both = append(both, anyOf(slices.Concat(ca.alternatives, cb.alternatives)))
			}
		}
	}
	met := Ceiling{clauses: unionOfClauses(nil, both)}
	if weightOf(met.clauses).tooMuch() {
		return Ceiling{}, ErrMeetTooLarge
	}
	return met, nil
}
