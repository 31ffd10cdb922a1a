package calendar

import (
	"slices"
	"sort"
)

// The instances of a rule are found period by period (RFC 5545 3.3.10). A period is a second, ..., a
// day, a week, a month or a year; the rule takes every INTERVALth from that of DTSTART on. The table
// of 3.3.10 says which BY parts expand a period and which limit it:
//
//	            SECONDLY MINUTELY HOURLY DAILY  WEEKLY MONTHLY YEARLY
//	BYMONTH     limit    limit    limit  limit  limit  limit   expand
//	BYWEEKNO    -        -        -      -      -      -       expand
//	BYYEARDAY   limit    limit    limit  -      -      -       expand
//	BYMONTHDAY  limit    limit    limit  limit  -      expand  expand
//	BYDAY       limit    limit    limit  limit  expand note 1  note 2
//	BYHOUR      limit    limit    limit  expand expand expand  expand
//	BYMINUTE    limit    limit    expand expand expand expand  expand
//	BYSECOND    limit    expand   expand expand expand expand  expand
//	BYSETPOS    limit    limit    limit  limit  limit  limit   limit
//
// For the parts that choose days, to expand a period and to limit it come to the same: of all days
// of the period those stay that every given part allows. This holds for both notes as well. What
// DTSTART implies is added first (imply). Where the table has a dash the part must not be used; a
// rule that uses it nevertheless is limited by it.
//
// The period of a yearly rule with BYWEEKNO is the year of weeks, not the calendar year: week 1 may
// begin in December. RFC 5545 does not say so, but otherwise INTERVAL would part the days of a week.

// Moments are wall clock seconds from 1970-01-01T00:00:00: those of the years 1 to 9999.
const (
	firstMoment = -719162 * secondsPerDay
	lastMoment  = 2932897*secondsPerDay - 1 // the last second of the year 9999
)

// work counts the steps that expansions may still take together. A step looks at one day, one
// period or one instance.
type work struct{ left int }

func (w *work) spend(n int) bool {
	w.left -= n
	return w.left >= 0
}

// expansion gives the instances of a rule in wall time, in order, none twice.
type expansion struct {
	rule  Rule
	start int64
	work  *work
	until func(moment int64) bool // whether an instance may still begin at the moment; nil: always

	hours, minutes, seconds []int
	ordinals                func(x *expansion, ordinal, day int) bool

	period int64 // number of the period that comes next, from 0
	used   int64 // instances before those of set that are still to come
	floor  int64 // nothing before this moment belongs to the set of the next period
	from   int64 // instances before this moment are counted and not given
	to     int64 // nor is any after this one

	// Where period 0 begins: a moment, or a year and a month where periods differ in length.
	first       int64
	year, month int

	// The set of the period at hand, before BYSETPOS: each base moment with each time of day.
	bases []int64
	picks []int // BYSETPOS: the places in the set; nil: all
	at    int   // the next place

	done bool
}

// expand begins with the instances of a rule for a start. Of a start that is a date, times of day in
// the rule are not heeded.
func expand(rule Rule, start Time, budget *work, until func(int64) bool) *expansion {
	x := &expansion{rule: rule, start: start.wall, work: budget, until: until, floor: start.wall, from: firstMoment, to: lastMoment}
	x.imply(start)
	x.anchor(int(floorDiv(start.wall, secondsPerDay)))
	return x
}

// imply adds what the rule leaves to DTSTART: the day, unless a part that chooses days is there, and
// the time of day.
func (x *expansion) imply(start Time) {
	r := &x.rule
	_, month, monthDay := civil(int(floorDiv(start.wall, secondsPerDay)))
	anyDay := len(r.Weeks) == 0 && len(r.YearDays) == 0 && len(r.MonthDays) == 0 && len(r.Days) == 0
	inMonth := len(r.Months) > 0
	switch {
	case r.Frequency == Yearly && anyDay:
		r.MonthDays = []int{monthDay}
		if !inMonth {
			r.Months = []int{month}
		}
	case r.Frequency == Yearly && !inMonth && len(r.MonthDays) > 0 && len(r.Weeks) == 0 && len(r.YearDays) == 0 && len(r.Days) == 0:
		r.Months = []int{month}
	case r.Frequency == Yearly && len(r.Weeks) > 0 && len(r.YearDays) == 0 && len(r.MonthDays) == 0 && len(r.Days) == 0,
		r.Frequency == Weekly && anyDay:
		r.Days = []Day{{Day: weekday(int(floorDiv(start.wall, secondsPerDay)))}}
	case r.Frequency == Monthly && anyDay:
		r.MonthDays = []int{monthDay}
	}
	switch {
	case r.Frequency == Monthly || r.Frequency == Yearly && inMonth:
		x.ordinals = (*expansion).nthOfMonth
	case r.Frequency == Yearly && len(r.Weeks) == 0:
		x.ordinals = (*expansion).nthOfYear
	}

	clock := int(floorMod(start.wall, secondsPerDay))
	if start.IsDate() {
		r.Hours, r.Minutes, r.Seconds = nil, nil, nil
	}
	x.hours = orElse(r.Hours, clock/secondsPerHour)
	x.minutes = orElse(r.Minutes, clock/secondsPerMinute%60)
	x.seconds = orElse(r.Seconds, clock%secondsPerMinute)
	if n := len(x.seconds); x.seconds[n-1] == secondsPerMinute {
		x.seconds = slices.Clone(x.seconds)
		x.seconds[n-1]-- // a leap second, RFC 5545 3.3.12
		x.seconds = slices.Compact(x.seconds)
	}
	// The parts of a day that lie in the base moment.
	switch r.Frequency {
	case Hourly:
		x.hours = []int{0}
	case Minutely:
		x.hours, x.minutes = []int{0}, []int{0}
	case Secondly:
		x.hours, x.minutes, x.seconds = []int{0}, []int{0}, []int{0}
	}
}

func orElse(list []int, only int) []int {
	if len(list) > 0 {
		return list
	}
	return []int{only}
}

// next gives the next instance. It ends after the last one, after the year 9999, and when the work
// is used up, which work.left below 0 then shows.
func (x *expansion) next() (int64, bool) {
	for !x.done {
		if x.rule.Count > 0 && x.used >= int64(x.rule.Count) {
			break
		}
		if x.at < x.size() {
			if !x.work.spend(1) {
				break
			}
			moment := x.moment(x.at)
			x.at++
			x.used++
			if moment > x.to || x.until != nil && !x.until(moment) {
				break
			}
			return moment, true
		}
		if !x.fill() {
			break
		}
	}
	x.done = true
	return 0, false
}

// seek makes next begin with the first instance at or after a moment. It must be called first.
func (x *expansion) seek(moment int64) {
	if moment <= x.start {
		return
	}
	x.from = moment
	// One period before the one of the moment: with SKIP=FORWARD its last day may reach into that.
	target := x.periodOf(moment) - 1
	if x.rule.Count == 0 {
		x.period = max(0, target)
		return
	}
	// COUNT has to know what came before. Where each period has as many instances as any other,
	// they need not be visited.
	if x.even() && target > 0 && x.fill() {
		first := x.size() - x.search(x.start)
		if x.fill() {
			each := x.size()
			x.restart()
			x.period, x.used = target, int64(first)+(target-1)*int64(each)
			return
		}
	}
	x.restart()
}

func (x *expansion) restart() {
	x.period, x.used, x.floor = 0, 0, x.start
	x.bases, x.picks, x.at = x.bases[:0], nil, 0
}

// even says whether every period has the same number of instances, the first one aside.
func (x *expansion) even() bool {
	r := &x.rule
	if len(r.Months) > 0 || len(r.Weeks) > 0 || len(r.YearDays) > 0 || len(r.MonthDays) > 0 {
		return false
	}
	switch r.Frequency {
	case Weekly:
		return true
	case Daily:
		return len(r.Days) == 0
	case Hourly:
		return len(r.Days) == 0 && len(r.Hours) == 0
	case Minutely:
		return len(r.Days) == 0 && len(r.Hours) == 0 && len(r.Minutes) == 0
	case Secondly:
		return len(r.Days) == 0 && len(r.Hours) == 0 && len(r.Minutes) == 0 && len(r.Seconds) == 0
	}
	return false
}

// times is the number of times of day that each base moment has.
func (x *expansion) times() int { return len(x.hours) * len(x.minutes) * len(x.seconds) }

// size is the number of instances in the set of the period at hand.
func (x *expansion) size() int {
	if x.picks != nil {
		return len(x.picks)
	}
	return len(x.bases) * x.times()
}

// moment gives the instance at a place of the set. The set is never laid out: a month with all its
// seconds would take 20 MB.
func (x *expansion) moment(i int) int64 {
	if x.picks != nil {
		i = x.picks[i]
	}
	base, i := x.bases[i/x.times()], i%x.times()
	second := x.seconds[i%len(x.seconds)]
	i /= len(x.seconds)
	minute := x.minutes[i%len(x.minutes)]
	hour := x.hours[i/len(x.minutes)]
	return base + int64(hour*secondsPerHour+minute*secondsPerMinute+second)
}

// search gives the place of the first instance of the set at or after a moment.
func (x *expansion) search(moment int64) int {
	return sort.Search(x.size(), func(i int) bool { return x.moment(i) >= moment })
}

// fill takes the next period that may have instances and makes its set, without what is before the
// floor and with what is before from counted only. It is false at the end of time and of the work.
func (x *expansion) fill() bool {
	x.bases, x.picks, x.at = x.bases[:0], nil, 0
	if !x.work.spend(1) {
		return false
	}
	begin := x.begin(x.period)
	if begin > x.to || begin > x.start && x.until != nil && !x.until(begin) {
		return false
	}
	switch x.rule.Frequency {
	case Yearly, Monthly, Weekly:
		x.period++
		if !x.days(begin) {
			return false
		}
	default:
		if again := x.excluded(begin); again > begin {
			x.period = max(x.period+1, ceilDiv(again-x.first, x.unit()))
			return true
		}
		x.period++
		x.bases = append(x.bases, begin)
	}
	x.pick()
	size := x.size()
	if size == 0 {
		return true
	}
	visible := x.search(x.floor)
	x.floor = max(x.floor, x.moment(size-1)+1)
	x.at = max(visible, x.search(x.from))
	x.used += int64(x.at - visible)
	return true
}

// pick applies BYSETPOS to the set.
func (x *expansion) pick() {
	if len(x.rule.Positions) == 0 {
		return
	}
	x.picks = make([]int, 0, len(x.rule.Positions))
	size := len(x.bases) * x.times()
	for _, position := range x.rule.Positions {
		at := position - 1
		if position < 0 {
			at = size + position
		}
		if at >= 0 && at < size {
			x.picks = append(x.picks, at)
		}
	}
	slices.Sort(x.picks)
	x.picks = slices.Compact(x.picks)
}

// unit is the distance in seconds between two periods of fixed length, 0 for months and years.
func (x *expansion) unit() int64 {
	var unit int64
	switch x.rule.Frequency {
	case Secondly:
		unit = 1
	case Minutely:
		unit = secondsPerMinute
	case Hourly:
		unit = secondsPerHour
	case Daily:
		unit = secondsPerDay
	case Weekly:
		unit = daysPerWeek * secondsPerDay
	}
	return unit * int64(x.rule.Interval)
}

// anchor sets where period 0 begins, for a start on a day.
func (x *expansion) anchor(day int) {
	x.year, x.month, _ = civil(day)
	x.first = x.start
	switch x.rule.Frequency {
	case Yearly:
		if len(x.rule.Weeks) > 0 {
			x.anchorWeeks(day)
		}
	case Weekly:
		x.first = int64(day-floorMod(int(weekday(day)-x.rule.WeekStart), daysPerWeek)) * secondsPerDay
	case Daily:
		x.first = int64(day) * secondsPerDay
	case Hourly:
		x.first -= floorMod(x.first, secondsPerHour)
	case Minutely:
		x.first -= floorMod(x.first, secondsPerMinute)
	}
}

// anchorWeeks makes the year of weeks that a day belongs to period 0. Where that is the one before
// its calendar year, and has no instance left, it is over and the calendar year is meant.
func (x *expansion) anchorWeeks(day int) {
	calendarYear := x.year
	x.year = weekYear(day, x.rule.WeekStart)
	if x.year < calendarYear && x.fill() && x.at == x.size() {
		x.year = calendarYear
	}
	x.restart()
}

// begin gives the first moment of a period, a moment after the last where that is out of range.
func (x *expansion) begin(period int64) int64 {
	if unit := x.unit(); unit > 0 {
		if period > (lastMoment-x.first)/unit {
			return lastMoment + 1
		}
		return x.first + period*unit
	}
	distance := period * int64(x.rule.Interval)
	if distance > 12*maxYear {
		return lastMoment + 1
	}
	year, month := x.year+int(distance), 1
	if x.rule.Frequency == Monthly {
		months := x.year*12 + x.month - 1 + int(distance)
		year, month = months/12, months%12+1
	}
	if year > maxYear {
		return lastMoment + 1
	}
	if x.rule.Frequency == Yearly && len(x.rule.Weeks) > 0 {
		return int64(weekStart(year, x.rule.WeekStart)) * secondsPerDay
	}
	return int64(dayNumber(year, month, 1)) * secondsPerDay
}

// periodOf gives the number of the last period that begins at or before a moment. The moment is
// after the start.
func (x *expansion) periodOf(moment int64) int64 {
	moment = min(moment, lastMoment)
	if unit := x.unit(); unit > 0 {
		return floorDiv(moment-x.first, unit)
	}
	day := int(floorDiv(moment, secondsPerDay))
	year, month, _ := civil(day)
	switch {
	case x.rule.Frequency == Monthly:
		return int64((year-x.year)*12+month-x.month) / int64(x.rule.Interval)
	case len(x.rule.Weeks) > 0:
		year = weekYear(day, x.rule.WeekStart)
	}
	return int64(year-x.year) / int64(x.rule.Interval)
}

// excluded gives the first moment at which a period of at most a day may be one that the rule does
// not exclude for its month, day, hour, minute or second. That is begin itself if it is not.
func (x *expansion) excluded(begin int64) int64 {
	r := &x.rule
	day := int(floorDiv(begin, secondsPerDay))
	year, month, _ := civil(day)
	if len(r.Months) > 0 && !slices.Contains(r.Months, month) {
		return int64(dayNumber(year, month, daysInMonth(year, month))+1) * secondsPerDay
	}
	if !x.allows(day, year, month) {
		return int64(day+1) * secondsPerDay
	}
	if r.Frequency == Daily {
		return begin
	}
	clock := int(floorMod(begin, secondsPerDay))
	hour, minute, second := clock/secondsPerHour, clock/secondsPerMinute%60, clock%secondsPerMinute
	if len(r.Hours) > 0 && !slices.Contains(r.Hours, hour) {
		return begin - floorMod(begin, secondsPerHour) + secondsPerHour
	}
	if r.Frequency <= Minutely && len(r.Minutes) > 0 && !slices.Contains(r.Minutes, minute) {
		return begin - floorMod(begin, secondsPerMinute) + secondsPerMinute
	}
	if r.Frequency == Secondly && len(r.Seconds) > 0 && !slices.Contains(r.Seconds, second) &&
		(second != secondsPerMinute-1 || !slices.Contains(r.Seconds, secondsPerMinute)) {
		return begin + 1
	}
	return begin
}

// days fills the bases with the days of a week, month or year that the rule allows. It is false when
// the work is used up.
func (x *expansion) days(begin int64) bool {
	r := &x.rule
	day := int(floorDiv(begin, secondsPerDay))
	switch {
	case r.Frequency == Weekly:
		return x.span(day, daysPerWeek)
	case r.Frequency == Monthly:
		year, month, _ := civil(day)
		return x.addMonth(year, month) && x.inOrder()
	case len(r.Weeks) > 0:
		year := weekYear(day, r.WeekStart)
		weeks := make([]int, 0, len(r.Weeks))
		for _, week := range r.Weeks {
			count := weeksIn(year, r.WeekStart)
			if week < 0 {
				week += count + 1
			}
			if week >= 1 && week <= count {
				weeks = append(weeks, week)
			}
		}
		slices.Sort(weeks)
		for _, week := range slices.Compact(weeks) {
			if !x.span(day+(week-1)*daysPerWeek, daysPerWeek) {
				return false
			}
		}
		return true
	}
	year, _, _ := civil(day)
	for month := 1; month <= 12; month++ {
		if !x.addMonth(year, month) {
			return false
		}
	}
	return x.inOrder()
}

// addMonth adds the days of a month, with what SKIP makes of those it does not have.
func (x *expansion) addMonth(year, month int) bool {
	r := &x.rule
	if len(r.Months) > 0 && !slices.Contains(r.Months, month) {
		return x.work.spend(1)
	}
	first, length := dayNumber(year, month, 1), daysInMonth(year, month)
	if !x.span(first, length) {
		return false
	}
	if r.Skip == Omit {
		return true
	}
	instead := first + length - 1
	if r.Skip == Forward {
		instead++
	}
	missing := slices.ContainsFunc(r.MonthDays, func(n int) bool { return n > length }) ||
		month == 12 && slices.ContainsFunc(r.YearDays, func(n int) bool { return n > daysInYear(year) })
	if missing && x.onWeekday(instead) {
		x.bases = append(x.bases, int64(instead)*secondsPerDay)
	}
	return true
}

// inOrder sorts the bases, which SKIP may have put in disorder.
func (x *expansion) inOrder() bool {
	if x.rule.Skip != Omit {
		slices.Sort(x.bases)
		x.bases = slices.Compact(x.bases)
	}
	return true
}

// span adds the allowed ones of n days.
func (x *expansion) span(day, n int) bool {
	if !x.work.spend(n) {
		return false
	}
	for ; n > 0; n-- {
		year, month, _ := civil(day)
		if x.allows(day, year, month) {
			x.bases = append(x.bases, int64(day)*secondsPerDay)
		}
		day++
	}
	return true
}

// allows says whether every part of the rule that chooses days allows one.
func (x *expansion) allows(day, year, month int) bool {
	r := &x.rule
	if len(r.Months) > 0 && !slices.Contains(r.Months, month) {
		return false
	}
	if len(r.Weeks) > 0 {
		year := weekYear(day, r.WeekStart)
		week := (day-weekStart(year, r.WeekStart))/daysPerWeek + 1
		if !eitherWay(r.Weeks, week, weeksIn(year, r.WeekStart)) {
			return false
		}
	}
	if len(r.YearDays) > 0 && !eitherWay(r.YearDays, day-dayNumber(year, 1, 1)+1, daysInYear(year)) {
		return false
	}
	if len(r.MonthDays) > 0 && !eitherWay(r.MonthDays, day-dayNumber(year, month, 1)+1, daysInMonth(year, month)) {
		return false
	}
	return x.onWeekday(day)
}

// eitherWay says whether the list has the nth of count things, counted from either end.
func eitherWay(list []int, n, count int) bool {
	return slices.Contains(list, n) || slices.Contains(list, n-count-1)
}

// onWeekday says whether BYDAY allows a day. An ordinal means a place in the month or year; where
// RFC 5545 gives it no meaning, in other frequencies and with BYWEEKNO, it is not heeded.
func (x *expansion) onWeekday(day int) bool {
	if len(x.rule.Days) == 0 {
		return true
	}
	on := weekday(day)
	for _, d := range x.rule.Days {
		if d.Day == on && (d.Ordinal == 0 || x.ordinals == nil || x.ordinals(x, d.Ordinal, day)) {
			return true
		}
	}
	return false
}

func (x *expansion) nthOfMonth(ordinal, day int) bool {
	year, month, dayOfMonth := civil(day)
	return nth(ordinal, dayOfMonth, daysInMonth(year, month))
}

func (x *expansion) nthOfYear(ordinal, day int) bool {
	year, _, _ := civil(day)
	return nth(ordinal, day-dayNumber(year, 1, 1)+1, daysInYear(year))
}

// nth says whether the day at a place of a span is the ordinalth of its weekday there.
func nth(ordinal, place, length int) bool {
	if ordinal > 0 {
		return (place-1)/daysPerWeek+1 == ordinal
	}
	return (length-place)/daysPerWeek+1 == -ordinal
}

// untilIn gives the zone's reading of UNTIL as a test for expansions: inclusive, by the day where it
// is a date or the start is one, by the wall clock where it is floating, else by the instant.
func (r *Rule) untilIn(zone *Zone, start Time) func(int64) bool {
	switch {
	case r.Until.IsZero():
		return nil
	case r.Until.IsDate() || start.IsDate():
		last := floorDiv(r.Until.wall, secondsPerDay)*secondsPerDay + secondsPerDay - 1
		return func(moment int64) bool { return moment <= last }
	case r.Until.IsFloating():
		return func(moment int64) bool { return moment <= r.Until.wall }
	}
	return func(moment int64) bool {
		// No zone is further from UTC than two days: most instances need no look at it.
		if distance := moment - r.Until.wall; distance > 2*secondsPerDay || distance < -2*secondsPerDay {
			return distance < 0
		}
		instant, _ := zone.instant(moment)
		return instant <= r.Until.wall
	}
}
