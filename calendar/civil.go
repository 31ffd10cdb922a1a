package calendar

import "time"

// Days are counted from 1970-01-01 in the Gregorian calendar, extended backwards to the year 1.

// dayNumber counts the days from 1970-01-01 to a day.
func dayNumber(year, month, day int) int {
	// Years begin in March, so that the leap day is the last of its year and months have a formula.
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// civil gives year, month and day of a day number.
func civil(day int) (year, month, dayOfMonth int) {
	day += 719468
	era := floorDiv(day, 146097)
	dayOfEra := day - era*146097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	month = shifted + 3
	year = yearOfEra + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, dayOfYear - (153*shifted+2)/5 + 1
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysInYear(year int) int {
	if isLeap(year) {
		return 366
	}
	return 365
}

func daysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		return daysInYear(year) - 337
	}
	return 31
}

func dayExists(year, month, day int) bool {
	return year >= minYear && year <= maxYear && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
}

func weekday(day int) time.Weekday { return time.Weekday(floorMod(day+4, daysPerWeek)) }

// weekStart gives the first day of week 1 of a year: the first week that has at least four of its
// days in the year (RFC 5545 3.3.10, BYWEEKNO).
func weekStart(year int, first time.Weekday) int {
	fourth := dayNumber(year, 1, 4)
	return fourth - floorMod(int(weekday(fourth)-first), daysPerWeek)
}

// weekYear gives the year whose weeks a day belongs to. It differs from its calendar year in the
// first and last days of some years.
func weekYear(day int, first time.Weekday) int {
	year, _, _ := civil(day)
	switch {
	case day >= weekStart(year+1, first):
		return year + 1
	case day < weekStart(year, first):
		return year - 1
	}
	return year
}

func weeksIn(year int, first time.Weekday) int {
	return (weekStart(year+1, first) - weekStart(year, first)) / daysPerWeek
}

type integer interface{ ~int | ~int64 }

func floorDiv[T integer](a, b T) T {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod[T integer](a, b T) T { return a - floorDiv(a, b)*b }

func ceilDiv[T integer](a, b T) T { return -floorDiv(-a, b) }
