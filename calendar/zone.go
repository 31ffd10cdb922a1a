package calendar

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // names of zones must mean the same on a machine without a zone database
)

// maxZoneName is the length in bytes of a TZID. Those of Outlook that list cities reach 70.
const maxZoneName = 256

// ErrUnknownZone means a zone name that stands for nothing known.
var ErrUnknownZone = errors.New("the zone is unknown")

// Zone tells instants from wall clock readings.
type Zone struct {
	name     string
	location *time.Location // nil: by before and changes
	before   int            // offset ahead of the first change
	changes  []transition
}

// FindZone gives the zone that a TZID stands for (RFC 5545 3.2.19). In this order it is tried as
//
//   - UTC, a name of the IANA database (Europe/Berlin), or a name of Windows (W. Europe Standard
//     Time), which stands for the zone that CLDR gives for its main territory;
//   - one with a prefix: /mozilla.org/20050126_1/Europe/Berlin, tzone://Microsoft/Utc;
//   - the TZID of a definition: first by the IANA name that it gives, then by its rules.
//
// The error wraps [ErrUnknownZone] where nothing helps, and says what is wrong with a definition.
func FindZone(tzid string, definitions ...Definition) (*Zone, error) {
	tzid = strings.Trim(strings.TrimSpace(tzid), `"`)
	if z := namedZone(tzid); z != nil {
		return z, nil
	}
	var wrong error
	for i := range definitions {
		d := &definitions[i]
		if d.TZID != tzid || !plausibleZone(tzid) {
			continue
		}
		if z := namedZone(d.Location); z != nil {
			return z, nil
		}
		z, err := d.zone()
		if err == nil {
			return z, nil
		}
		wrong = err
	}
	if wrong != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrUnknownZone, shorten(tzid), wrong)
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownZone, shorten(tzid))
}

// ZoneOf gives the zone of a location.
func ZoneOf(location *time.Location) *Zone { return &Zone{name: location.String(), location: location} }

// Name gives the name under which the zone stands in a [Time]: "UTC", an IANA name, or the TZID of a
// definition.
func (z *Zone) Name() string { return z.name }

// IsDefined says whether the zone exists by a definition only, which must be kept for it.
func (z *Zone) IsDefined() bool { return z.location == nil }

// plausibleZone says whether a name can stand in the text of a [Time].
func plausibleZone(name string) bool {
	return name != "" && len(name) <= maxZoneName && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '[' || r == ']' || r == 0x7f })
}

func shorten(name string) string {
	if len(name) > 80 {
		return strings.ToValidUTF8(name[:80], "") + "..."
	}
	return name
}

// namedZone looks a TZID up without definitions, nil if it is none of the known names.
func namedZone(tzid string) *Zone {
	if tzid == "" || len(tzid) > maxZoneName {
		return nil
	}
	switch strings.ToUpper(tzid) {
	case "UTC", "Z", "GMT", "ETC/UTC", "ETC/GMT", "ZULU", "ETC/ZULU", "UNIVERSAL", "TZONE://MICROSOFT/UTC":
		return &Zone{name: UTC, location: time.UTC}
	}
	if name, ok := windowsZones[strings.ToLower(tzid)]; ok {
		return ianaZone(name)
	}
	for rest, more := tzid, true; more; _, rest, more = strings.Cut(rest, "/") {
		if z := ianaZone(rest); z != nil {
			return z
		}
	}
	return nil
}

var ianaZones sync.Map // name -> *Zone; a zone costs more to read than to use

// ianaZone loads a zone of the database, nil if there is none. Names that mean this machine's own
// zone, or clocks with leap seconds, are none.
func ianaZone(name string) *Zone {
	if z, ok := ianaZones.Load(name); ok {
		return z.(*Zone)
	}
	if len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-+/", r)
	}) {
		return nil
	}
	first, _, _ := strings.Cut(name, "/")
	if first == "" || first == "right" || first == "posix" {
		return nil
	}
	switch name {
	case "Local", "localtime", "posixrules", "Factory":
		return nil
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	z, _ := ianaZones.LoadOrStore(name, &Zone{name: name, location: location})
	return z.(*Zone)
}

// offset gives the seconds that the clock is ahead of UTC at an instant.
func (z *Zone) offset(instant int64) int64 {
	if z.location != nil {
		if z.location == time.UTC {
			return 0
		}
		_, offset := time.Unix(instant, 0).In(z.location).Zone()
		return int64(offset)
	}
	after := sort.Search(len(z.changes), func(i int) bool { return z.changes[i].instant > instant })
	if after == 0 {
		return int64(z.before)
	}
	return int64(z.changes[after-1].offset)
}

// reading gives what the wall clock shows at an instant.
func (z *Zone) reading(instant int64) int64 { return instant + z.offset(instant) }

// instant gives the instant of a wall clock reading. Of a reading that the clock shows twice it is
// the first; one that the clock skips is taken with the offset from before the gap (RFC 5545
// 3.3.5), and shown is false.
func (z *Zone) instant(wall int64) (instant int64, shown bool) {
	before := z.offset(wall - secondsPerDay)
	if z.offset(wall-before) == before {
		return wall - before, true
	}
	for _, offset := range [...]int64{z.offset(wall + secondsPerDay), z.offset(wall)} {
		if z.offset(wall-offset) == offset {
			return wall - offset, true
		}
	}
	return wall - before, false
}
