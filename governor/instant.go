package governor

import "time"

// instantLayout is the one form of an instant: a date and time of UTC in whole seconds.
const instantLayout = "2006-01-02T15:04:05Z"

// parseInstant gives the seconds since 1970 of an instant. It refuses dates that no calendar has,
// leap seconds, fractions, offsets and lower-case letters, all of which package time would take or
// round in some layout.
func parseInstant(text string) (seconds int64, ok bool) {
	t, err := time.Parse(instantLayout, text)
	if err != nil || t.Format(instantLayout) != text {
		return 0, false
	}
	return t.Unix(), true
}
