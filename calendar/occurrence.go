package calendar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Bounds of one call of [Event.Occurrences], where the window does not set others.
const (
	// DefaultLimit is the number of occurrences that are returned.
	DefaultLimit = 10_000
	// DefaultSteps is the work spent on rules. A step looks at one day, one period or one instance
	// and takes some ten nanoseconds: about 20 ms in all. A weekly rule takes nine for each week of
	// the window, and none for those before it.
	DefaultSteps = 1_000_000
)

// Reasons why occurrences are not complete. Those returned beside one of them are occurrences.
var (
	// ErrLimit means that there are more. Those returned are the first.
	ErrLimit = errors.New("the window has more occurrences than the limit")
	// ErrSteps means that a rule takes too long to work out. Any may be missing.
	ErrSteps = errors.New("a rule of the event takes more steps than the budget")
)

// Window is what [Event.Occurrences] looks at.
type Window struct {
	From, To time.Time // instants, To not included; zero for no bound
	// Zone is where the person is: dates and floating times are taken in it. nil is UTC.
	Zone  *time.Location
	Limit int // of occurrences, [DefaultLimit] if 0
	Steps int // of work, [DefaultSteps] if 0
}

// Occurrence is one instance of an event.
type Occurrence struct {
	// Instance is the start that the series gives it, the value of its RECURRENCE-ID.
	Instance Time
	// Start and End are dates if the event is of dates, else readings in the event's own zone. A
	// start that the clock skips is one that it shows, as far after as the gap is wide. End does not
	// belong to the occurrence.
	Start, End Time
	// Begin and Finish are the same as instants; of dates and floating times, in the window's zone.
	Begin, Finish time.Time
	// Event has the properties: the series, or the event of the override. Cancelled instances are
	// there too; its Status tells.
	Event *Event
}

// Occurrences gives the instances of the event that overlap the window, by their Begin. One that
// ends when the window begins does not overlap it; one of no length belongs to it if the window
// holds its Begin.
//
// The start of the event is always an instance (RFC 5545 3.8.5.3). Where a rule with a COUNT does
// not give it, it counts all the same. Instances come in the event's own zone: the wall clock stays,
// a reading that the clock skips is taken with the offset before the gap, one that it shows twice is
// the first (3.3.5). Instants that come out twice are one occurrence. An override replaces its
// instance wherever it moves it; an excluded instance with an override is not excluded.
//
// The error wraps [ErrLimit], [ErrSteps] or [ErrUnknownZone].
func (e *Event) Occurrences(w Window) ([]Occurrence, error) {
	s, err := newSeries(e, w)
	if err != nil {
		return nil, fmt.Errorf("occurrences of an event: %w", err)
	}
	return s.occurrences()
}

// Instant gives the instant of one of the event's times; of a date or a floating time, in the zone, UTC
// if it is nil. A date is its midnight. The error wraps [ErrUnknownZone].
func (e *Event) Instant(t Time, zone *time.Location) (time.Time, error) {
	if zone == nil {
		zone = time.UTC
	}
	zones, err := zonesOf(&Event{Start: t, Definitions: e.Definitions}, ZoneOf(zone))
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(zones.instant(t), 0).UTC(), nil
}

// zones are the zones of an event's times.
type zones struct {
	floating *Zone
	named    map[string]*Zone
}

// zonesOf finds the zones of all times of an event, its overrides included.
func zonesOf(e *Event, floating *Zone) (*zones, error) {
	z := &zones{floating: floating, named: map[string]*Zone{UTC: {name: UTC, location: time.UTC}}}
	if err := z.add(e, e); err != nil {
		return nil, err
	}
	for i := range e.Overrides {
		o := &e.Overrides[i]
		if err := z.find(e, o.Instance); err != nil {
			return nil, err
		}
		if err := z.add(e, &o.Event); err != nil {
			return nil, fmt.Errorf("the override of %s: %w", o.Instance, err)
		}
	}
	return z, nil
}

func (z *zones) add(series, e *Event) error {
	if err := z.find(series, e.Start, e.End); err != nil {
		return err
	}
	if err := z.find(series, e.Excluded...); err != nil {
		return err
	}
	for _, added := range e.Added {
		if err := z.find(series, added.Start, added.End); err != nil {
			return err
		}
	}
	return nil
}

func (z *zones) find(series *Event, times ...Time) error {
	for _, t := range times {
		if t.zone == "" || z.named[t.zone] != nil {
			continue
		}
		zone, err := FindZone(t.zone, series.Definitions...)
		if err != nil {
			return err
		}
		z.named[t.zone] = zone
	}
	return nil
}

func (z *zones) of(t Time) *Zone {
	if t.zone == "" {
		return z.floating
	}
	return z.named[t.zone]
}

// instant gives the instant of a time.
func (z *zones) instant(t Time) int64 {
	instant, _ := z.of(t).instant(t.wall)
	return instant
}

// span is how long an instance lasts, and in which zone it ends.
type span struct {
	days, seconds int64
	zone          string // of the end, "" for that of the start
}

func (z *zones) span(start, end Time, d Duration) span {
	switch {
	case !end.IsZero() && start.IsDate():
		return span{days: max(1, (end.wall-start.wall)/secondsPerDay)}
	case !end.IsZero():
		return span{seconds: max(0, z.instant(end)-z.instant(start)), zone: end.zone}
	case start.IsDate():
		return span{days: max(1, d.Days+ceilDiv(d.Seconds, secondsPerDay))}
	}
	return span{days: d.Days, seconds: d.Seconds}
}

// length is at least as long as the span ever is, in seconds.
func (s span) length() int64 { return s.days*secondsPerDay + s.seconds + 2*secondsPerDay }

// series is an event with all that is worked out once for a window.
type series struct {
	event    *Event
	zones    *zones
	zone     *Zone // of the start
	span     span
	from, to int64 // instants
	limit    int
	work     *work

	excluded starts
	replaced starts // by overrides of one instance
	onward   []onward
	reach    int64 // seconds by which overrides may move an instance or make it longer

	found []Occurrence
}

// onward is an override of an instance and those after it.
type onward struct {
	override *Override
	wall     int64 // of the first instance, on the series' clock
	shift    int64
	span     span
}

func newSeries(e *Event, w Window) (*series, error) {
	location := w.Zone
	if location == nil {
		location = time.UTC
	}
	zones, err := zonesOf(e, ZoneOf(location))
	if err != nil {
		return nil, err
	}
	s := &series{
		event: e, zones: zones, zone: zones.of(e.Start), span: zones.span(e.Start, e.End, e.Duration),
		from: firstMoment - 2*secondsPerDay, to: lastMoment + 2*secondsPerDay,
		limit: w.Limit, work: &work{left: w.Steps},
	}
	if !w.From.IsZero() {
		s.from = w.From.Unix()
	}
	if !w.To.IsZero() {
		s.to = w.To.Unix()
		if w.To.Nanosecond() > 0 {
			s.to++
		}
	}
	if s.limit <= 0 {
		s.limit = DefaultLimit
	}
	if s.work.left <= 0 {
		s.work.left = DefaultSteps
	}
	for _, excluded := range e.Excluded {
		s.excluded.add(s, excluded)
	}
	for i := range e.Overrides {
		s.override(&e.Overrides[i])
	}
	slices.SortStableFunc(s.onward, func(a, b onward) int { return cmp.Compare(a.wall, b.wall) })
	return s, nil
}

func (s *series) override(o *Override) {
	if !o.Onward {
		s.replaced.add(s, o.Instance)
		return
	}
	next := onward{override: o, wall: s.wall(o.Instance), span: s.zones.span(o.Event.Start, o.Event.End, o.Event.Duration)}
	next.shift = o.Event.Start.wall - next.wall
	s.reach = max(s.reach, next.shift, -next.shift, next.span.length())
	s.onward = append(s.onward, next)
}

// wall gives what the series' clock shows at a time that names one of its instances.
func (s *series) wall(t Time) int64 {
	start := s.event.Start
	switch {
	case t.IsDate() && !start.IsDate():
		return t.wall + floorMod(start.wall, secondsPerDay)
	case start.IsDate() || t.zone == start.zone || t.zone == "":
		return t.wall
	}
	return s.zone.reading(s.zones.instant(t))
}

// starts is a set of starts of instances as a calendar names them: in the series' zone, in another,
// in none, or by the date only.
type starts struct {
	instants, walls, days map[int64]bool
}

func (set *starts) add(s *series, t Time) {
	switch {
	case t.IsDate() || s.event.Start.IsDate():
		set.days = put(set.days, floorDiv(t.wall, secondsPerDay))
	case t.zone == "" || t.zone == s.event.Start.zone:
		set.walls = put(set.walls, t.wall)
	default:
		set.instants = put(set.instants, s.zones.instant(t))
	}
}

func put(set map[int64]bool, key int64) map[int64]bool {
	if set == nil {
		set = map[int64]bool{}
	}
	set[key] = true
	return set
}

func (set *starts) has(wall, instant int64) bool {
	return set.walls[wall] || set.instants[instant] || set.days[floorDiv(wall, secondsPerDay)]
}

func (s *series) occurrences() ([]Occurrence, error) {
	e := s.event
	for i := range e.Overrides {
		if o := &e.Overrides[i]; !o.Onward {
			s.place(o.Instance, o.Event.Start, s.zones.span(o.Event.Start, o.Event.End, o.Event.Duration), &o.Event)
		}
	}
	if !e.Detached {
		// An added instance comes before the rules: where both give a start, its end is stated.
		for _, added := range e.Added {
			length := s.span
			if !added.End.IsZero() || !added.Duration.IsZero() {
				length = s.zones.span(added.Start, added.End, added.Duration)
			}
			s.instance(added.Start, s.wall(added.Start), length)
		}
		s.instance(e.Start, e.Start.wall, s.span)
		for _, rule := range e.Rules {
			s.byRule(rule)
		}
	}
	slices.SortStableFunc(s.found, func(a, b Occurrence) int { return a.Begin.Compare(b.Begin) })
	s.found = slices.CompactFunc(s.found, func(a, b Occurrence) bool { return a.Event == b.Event && a.Begin.Equal(b.Begin) })
	var err error
	if len(s.found) > s.limit {
		s.found, err = s.found[:s.limit:s.limit], ErrLimit
	}
	if s.work.left < 0 {
		err = ErrSteps
	}
	return s.found, err
}

// byRule adds the instances of one rule.
func (s *series) byRule(rule Rule) {
	x := s.expand(rule)
	// Two days are more than any zone is away from UTC, or moves its clock.
	x.seek(s.from - s.span.length() - s.reach)
	x.to = min(x.to, s.to+s.reach+2*secondsPerDay)
	latest := int64(firstMoment)
	given := 0
	for wall, ok := x.next(); ok; wall, ok = x.next() {
		t := s.event.Start
		t.wall = wall
		added := s.instance(t, wall, s.span)
		// Readings that the clock skips come out later than readings after them. Only when the
		// clock has caught up, those found first are the first ones; the same goes for instances
		// that an override moves.
		instant, shown := s.zone.instant(wall)
		if given > s.limit && shown && instant >= latest {
			return
		}
		latest = max(latest, instant)
		if added {
			given++
			latest = max(latest, s.found[len(s.found)-1].Begin.Unix()+s.reach)
		}
	}
}

// expand begins a rule for the start of the series. Where the rule does not give the start itself,
// that counts as its first instance (RFC 5545 3.3.10, COUNT).
func (s *series) expand(rule Rule) *expansion {
	start := s.event.Start
	until := rule.untilIn(s.zone, start)
	x := expand(rule, start, s.work, until)
	if rule.Count > 0 {
		x.to = start.wall
		if _, ok := x.next(); !ok {
			rule.Count--
		}
		x = expand(rule, start, s.work, until)
		x.done = rule.Count == 0
	}
	return x
}

// instance adds one instance of the series unless it is excluded, overridden or out of the window,
// and says whether it did.
func (s *series) instance(t Time, wall int64, length span) bool {
	instant, _ := s.zones.of(t).instant(t.wall)
	if s.excluded.has(wall, instant) || s.replaced.has(wall, instant) {
		return false
	}
	event, start := s.event, t
	if at := s.onwardAt(wall); at >= 0 {
		o := s.onward[at]
		event, length = &o.override.Event, o.span
		start = event.Start
		start.wall = wall + o.shift
		if start.IsDate() {
			start.wall = floorDiv(start.wall, secondsPerDay) * secondsPerDay
		}
	}
	if !s.near(start, length) {
		return false
	}
	for _, rule := range s.event.ExcludedRules {
		x := s.expand(rule)
		x.seek(wall)
		if moment, ok := x.next(); ok && moment == wall {
			return false
		}
	}
	return s.place(t, start, length, event)
}

// near says whether an instance may overlap the window, without asking its zone.
func (s *series) near(start Time, length span) bool {
	return start.wall < s.to+2*secondsPerDay && start.wall+length.length() > s.from-2*secondsPerDay
}

// onwardAt gives the index of the last onward override that begins at or before an instance, or -1.
func (s *series) onwardAt(wall int64) int {
	at := len(s.onward) - 1
	for at >= 0 && s.onward[at].wall > wall {
		at--
	}
	return at
}

// place adds an instance if it overlaps the window, and says whether it did.
func (s *series) place(instance, start Time, length span, event *Event) bool {
	zone := s.zones.of(start)
	begin, shown := zone.instant(start.wall)
	if !shown && !start.IsDate() {
		start.wall = zone.reading(begin)
	}
	end := start
	end.wall += length.days * secondsPerDay
	finish, _ := zone.instant(end.wall)
	if !start.IsDate() {
		finish += length.seconds
		if length.zone != "" {
			end.zone = length.zone
		}
		end.wall = s.zones.of(end).reading(finish)
	}
	finish = max(finish, begin)
	if begin >= s.to || finish < s.from || finish == s.from && finish > begin || start.wall < firstMoment || start.wall > lastMoment {
		return false
	}
	if end.wall > lastMoment {
		end.wall = lastMoment
		if end.IsDate() {
			end.wall -= secondsPerDay - 1
		}
	}
	s.found = append(s.found, Occurrence{
		Instance: instance, Start: start, End: end,
		Begin: time.Unix(begin, 0).UTC(), Finish: time.Unix(finish, 0).UTC(), Event: event,
	})
	return true
}

// extentSteps is the work that [Event.Extent] spends on rules with a COUNT.
const extentSteps = 100_000

// extentPadding is more than any zone is or was away from UTC.
const extentPadding = 16 * secondsPerHour

// Extent is the time that an event with all its instances takes up.
type Extent struct {
	From, To time.Time
	Open     bool // there is no end; To says nothing
}

// Extent gives bounds for the instances of the event, cancelled ones included. They are never too
// narrow, whatever zone a window takes dates and floating times in, and may be too wide: by sixteen
// hours on either side, by more for overrides of an instance and all later ones, and without an end
// for a rule whose COUNT takes long to work out. The error wraps [ErrUnknownZone].
func (e *Event) Extent() (Extent, error) {
	// All that is not a rule is an occurrence of the event without rules and exclusions.
	single := *e
	single.Rules, single.Excluded, single.ExcludedRules = nil, nil, nil
	s, err := newSeries(&single, Window{Steps: extentSteps, Limit: MaxDates + MaxOverrides + 1})
	if err != nil {
		return Extent{}, err
	}
	s.replaced = starts{}
	from, to := e.Start.wall, e.Start.wall
	found, _ := s.occurrences()
	if len(found) > 0 {
		from, to = found[0].Begin.Unix(), found[0].Finish.Unix()
	}
	for _, o := range found {
		to = max(to, o.Finish.Unix())
	}
	var extent Extent
	for _, rule := range e.Rules {
		margin := s.span.length() + s.reach
		from = min(from, e.Start.wall-s.reach-2*secondsPerDay)
		switch {
		case rule.Count > 0:
			x := s.expand(rule)
			for moment, ok := x.next(); ok; moment, ok = x.next() {
				to = max(to, moment+margin)
			}
			extent.Open = extent.Open || s.work.left < 0
		case !rule.Until.IsZero():
			to = max(to, rule.Until.wall+secondsPerDay+margin)
		default:
			extent.Open = true
		}
	}
	extent.From = time.Unix(from-extentPadding, 0).UTC()
	extent.To = time.Unix(to+extentPadding, 0).UTC()
	return extent, nil
}
