// Package calendar is about a person's events: what one is, when it recurs, and in which zone (RFC
// 5545, RFC 7529). It reads no files, asks no network and knows no clock; the zones of the IANA
// database are those of the running system, or built in.
//
// An [Event] is a whole series: the event, the rules by which it recurs, and the instances that
// somebody changed. It is kept as JSON, see [Encode]. Times stay what the calendar said: a date
// stays a date, and nine o'clock in Berlin stays that through every change of the clock.
// [Event.Occurrences] lists the instances in a window.
package calendar

import (
	"encoding/json/v2"
	"errors"
	"fmt"
)

// Limits of one event.
const (
	// MaxAttendees is the number of attendees that are kept.
	MaxAttendees = 1_000
	// MaxRules is the number of rules of a kind.
	MaxRules = 16
	// MaxDates is the number of added and excluded instances, of each kind.
	MaxDates = 20_000
	// MaxOverrides is the number of changed instances.
	MaxOverrides = 10_000
	// MaxDefinitions is the number of zones that an event brings along.
	MaxDefinitions = 8
)

// What an event's Status may be (RFC 5545 3.8.1.11), besides "" for not stated.
const (
	Confirmed = "CONFIRMED"
	Tentative = "TENTATIVE"
	Cancelled = "CANCELLED"
)

// What an event's Transparency may be (RFC 5545 3.8.2.7): whether it takes up the person's time. ""
// is as good as opaque.
const (
	Opaque      = "OPAQUE"
	Transparent = "TRANSPARENT"
)

// Party is who organizes an event.
type Party struct {
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"` // an e-mail address, else a URI
}

// Attendee is who is asked to come. Participation (RFC 5545 3.2.12, such as ACCEPTED) and Role
// (3.2.16, such as OPT-PARTICIPANT) are in upper case, "" where the calendar does not say.
type Attendee struct {
	Name          string `json:"name,omitzero"`
	Address       string `json:"address,omitzero"`
	Participation string `json:"participation,omitzero"`
	Role          string `json:"role,omitzero"`
}

// Event is a series of one or more instances that have a UID in common.
type Event struct {
	UID          string     `json:"uid,omitzero"`
	Sequence     int        `json:"sequence,omitzero"`
	Summary      string     `json:"summary,omitzero"`
	Description  string     `json:"description,omitzero"`
	Location     string     `json:"location,omitzero"`
	URL          string     `json:"url,omitzero"`
	Organizer    Party      `json:"organizer,omitzero"`
	Attendees    []Attendee `json:"attendees,omitempty"`
	Status       string     `json:"status,omitzero"`
	Transparency string     `json:"transparency,omitzero"`
	Categories   []string   `json:"categories,omitempty"`

	// Start is the first instance's. End is where that one ends, the first moment or date that does
	// not belong to it; its exact distance from Start holds for every instance. Where the calendar
	// gives a duration instead, End is zero and Duration is set; its days are days on the wall. With
	// neither, an instance lasts one day if Start is a date and no time at all if not (RFC 5545
	// 3.6.1).
	Start    Time     `json:"start,omitzero"`
	End      Time     `json:"end,omitzero"`
	Duration Duration `json:"duration,omitzero"`

	Rules         []Rule     `json:"rules,omitempty"`         // RRULE
	Added         []Added    `json:"added,omitempty"`         // RDATE
	Excluded      []Time     `json:"excluded,omitempty"`      // EXDATE
	ExcludedRules []Rule     `json:"excludedRules,omitempty"` // EXRULE, of RFC 2445
	Overrides     []Override `json:"overrides,omitempty"`

	// Detached says that the calendar has changed instances of the series only, not the series: a
	// person invited to one of its meetings. The event then has the properties of the first of
	// them, and no instances but its overrides.
	Detached bool `json:"detached,omitzero"`

	// Definitions are the zones of the event's times that have no other name.
	Definitions []Definition `json:"definitions,omitempty"`

	// Notes say in words for people what of the calendar's text could not be taken as it stands.
	Notes []string `json:"notes,omitempty"`
}

// Added is an instance besides those of the rules (RDATE). End and Duration are zero where it lasts
// as long as the others do.
type Added struct {
	Start    Time     `json:"start"`
	End      Time     `json:"end,omitzero"`
	Duration Duration `json:"duration,omitzero"`
}

// Override is a changed instance (RECURRENCE-ID, RFC 5545 3.8.4.4). A cancelled one has an event of
// status [Cancelled].
type Override struct {
	// Instance is the start that the instance had before the change.
	Instance Time `json:"instance"`
	// Onward says that the later instances are changed alike: their starts move by as much on the
	// wall clock (RANGE=THISANDFUTURE).
	Onward bool `json:"onward,omitzero"`
	// Event has all properties of the changed instance. It does not recur.
	Event Event `json:"event"`
}

// Encode gives an event as JSON: equal events, equal bytes. Its error is that of [Event.Validate],
// or that a text is not UTF-8.
func Encode(e *Event) ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("write an event: %w", err)
	}
	data, err := json.Marshal(e, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write an event: %w", err)
	}
	return data, nil
}

// Decode reads what [Encode] wrote. Members that an event does not have are errors, and so is what
// [Event.Validate] finds.
func Decode(data []byte) (*Event, error) {
	e := new(Event)
	if err := json.Unmarshal(data, e, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return e, nil
}

// Validate says what makes an event unusable: no start, more of something than its limit, an
// override that recurs, a zone of neither the database nor a definition.
func (e *Event) Validate() error {
	if err := e.validate(); err != nil {
		return err
	}
	if len(e.Definitions) > MaxDefinitions {
		return fmt.Errorf("the event brings more than %d zones", MaxDefinitions)
	}
	if _, err := zonesOf(e, &Zone{name: UTC}); err != nil {
		return err
	}
	for i := range e.Overrides {
		o := &e.Overrides[i]
		if o.Instance.IsZero() {
			return errors.New("an override names no instance")
		}
		if o.Event.recurs() || len(o.Event.Definitions) > 0 {
			return fmt.Errorf("the override of %s is a series itself", o.Instance)
		}
		if err := o.Event.validate(); err != nil {
			return fmt.Errorf("the override of %s: %w", o.Instance, err)
		}
	}
	return nil
}

func (e *Event) recurs() bool {
	return len(e.Rules)+len(e.Added)+len(e.Excluded)+len(e.ExcludedRules)+len(e.Overrides) > 0 || e.Detached
}

func (e *Event) validate() error {
	for _, limited := range []struct {
		what      string
		have, max int
	}{
		{"attendees", len(e.Attendees), MaxAttendees},
		{"rules", max(len(e.Rules), len(e.ExcludedRules)), MaxRules},
		{"added instances", len(e.Added), MaxDates},
		{"excluded instances", len(e.Excluded), MaxDates},
		{"overrides", len(e.Overrides), MaxOverrides},
	} {
		if limited.have > limited.max {
			return fmt.Errorf("the event has more than %d %s", limited.max, limited.what)
		}
	}
	switch {
	case e.Start.IsZero():
		return errors.New("the event has no start")
	case e.Detached && len(e.Overrides) == 0:
		return errors.New("the event is of changed instances only, and has none")
	case !e.End.IsZero() && !e.Duration.IsZero():
		return errors.New("the event has an end and a duration")
	case !e.End.IsZero() && e.End.IsDate() != e.Start.IsDate():
		return errors.New("of start and end one is a date and the other is not")
	}
	for _, added := range e.Added {
		if added.Start.IsZero() || !added.End.IsZero() && added.End.IsDate() != added.Start.IsDate() {
			return errors.New("an added instance has no start, or an end of another kind")
		}
	}
	for _, excluded := range e.Excluded {
		if excluded.IsZero() {
			return errors.New("an excluded instance has no start")
		}
	}
	for _, rule := range append(e.Rules[:len(e.Rules):len(e.Rules)], e.ExcludedRules...) {
		if e.Start.IsDate() && rule.Frequency < Daily {
			return fmt.Errorf("a rule with FREQ=%s needs a start with a time of day", rule.Frequency)
		}
	}
	return nil
}
