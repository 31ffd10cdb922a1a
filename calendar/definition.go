package calendar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Limits of the zones that a file defines for itself.
const (
	// MaxObservances is the number of STANDARD and DAYLIGHT parts of a definition.
	MaxObservances = 400
	// maxTransitions is the number of changes of the clock that are kept of one definition.
	maxTransitions = 2_000
	// zoneSteps is the work that the rules of one definition may take. Two yearly rules over three
	// hundred years take 26,000.
	zoneSteps = 100_000
	// maxDefinedZones is the number of definitions that are remembered with their changes.
	maxDefinedZones = 500
	// maxOffset is the largest distance from UTC in seconds.
	maxOffset = secondsPerDay
)

// A definition's rules are followed between these moments. Those of Windows begin in 1601.
var (
	zoneBegin   = NewDate(1900, 1, 1).wall
	zoneHorizon = NewDate(2200, 1, 1).wall
)

// Definition is a zone as a calendar file describes it (VTIMEZONE, RFC 5545 3.6.5).
type Definition struct {
	TZID     string `json:"tzid"`
	Location string `json:"location,omitzero"` // an IANA name the file gives for it (X-LIC-LOCATION)

	Observances []Observance `json:"observances"`
}

// Observance is a part of a definition: STANDARD or DAYLIGHT time.
type Observance struct {
	Start Time   `json:"start"` // floating: when it first begins, on the clock before it
	From  int    `json:"from"`  // seconds east of UTC before it begins
	To    int    `json:"to"`    // seconds east of UTC while it lasts
	Rules []Rule `json:"rules,omitempty"`
	Dates []Time `json:"dates,omitempty"` // floating, further beginnings
}

// Validate says what makes a definition unusable.
func (d *Definition) Validate() error {
	if len(d.Observances) == 0 || len(d.Observances) > MaxObservances {
		return fmt.Errorf("its definition has not from 1 to %d observances", MaxObservances)
	}
	for _, o := range d.Observances {
		if o.Start.IsZero() {
			return errors.New("an observance of the zone has no start")
		}
		if max(o.From, -o.From, o.To, -o.To) >= maxOffset {
			return errors.New("an offset of the zone is missing, or a day or more")
		}
	}
	return nil
}

// transition is a change of the clock: from an instant on, it is offset seconds ahead of UTC.
type transition struct {
	instant int64
	offset  int
}

// definedZones remembers what definitions came to: each event of a series brings its own again.
var definedZones = struct {
	sync.Mutex
	byText map[string]*Zone
}{byText: map[string]*Zone{}}

// text says all that a definition's zone depends on.
func (d *Definition) text() string {
	return fmt.Sprintf("%q %v", d.TZID, d.Observances)
}

// zone gives the zone of a definition.
func (d *Definition) zone() (*Zone, error) {
	definedZones.Lock()
	defer definedZones.Unlock()
	text := d.text()
	if z, ok := definedZones.byText[text]; ok {
		return z, nil
	}
	z, err := d.evaluate()
	if err != nil {
		return nil, err
	}
	if len(definedZones.byText) == maxDefinedZones {
		clear(definedZones.byText)
	}
	definedZones.byText[text] = z
	return z, nil
}

// evaluate works out the changes of the clock between 1900 and 2200.
func (d *Definition) evaluate() (*Zone, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	z := &Zone{name: d.TZID}
	budget := &work{left: zoneSteps}
	earliest := lastMoment + int64(1)
	add := func(o *Observance, moment int64) bool {
		if moment > zoneHorizon || len(z.changes) == maxTransitions {
			return false
		}
		if moment < earliest {
			earliest, z.before = moment, o.From
		}
		z.changes = append(z.changes, transition{moment - int64(o.From), o.To})
		return true
	}
	for i := range d.Observances {
		o := &d.Observances[i]
		add(o, o.Start.wall)
		for _, date := range o.Dates {
			add(o, date.wall)
		}
		for _, rule := range o.Rules {
			until := rule.untilIn(&Zone{before: o.From}, o.Start)
			x := expand(rule, o.Start, budget, until)
			x.seek(zoneBegin)
			for moment, ok := x.next(); ok && add(o, moment); moment, ok = x.next() {
			}
		}
	}
	if budget.left < 0 || len(z.changes) == maxTransitions {
		return nil, errors.New("its definition changes the clock too often")
	}
	slices.SortStableFunc(z.changes, func(a, b transition) int { return cmp.Compare(a.instant, b.instant) })
	return z, nil
}
