package instance

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // an instance means the same on a machine without a zone database
	"unicode"
	"unicode/utf8"

	"github.com/loomrun/loom/internal/xdg"
	"github.com/loomrun/loom/store"
)

// checkOwner says what is wrong with the owner of an instance.
func checkOwner(o store.Owner) error {
	if err := CheckSubject(o.Subject); err != nil {
		return err
	}
	if _, err := Zone(o.Zone); err != nil {
		return err
	}
	for _, f := range o.Facets {
		if err := store.CheckFacet(f); err != nil {
			return err
		}
	}
	if len(o.Facets) > store.MaxFacets {
		return fmt.Errorf("there are %d facets, and %d can be", len(o.Facets), store.MaxFacets)
	}
	return nil
}

// CheckSubject says what is wrong with the name of an owner.
func CheckSubject(subject string) error {
	hidden := func(c rune) bool { return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
	if strings.TrimSpace(subject) != subject || subject == "" || len(subject) > MaxSubjectBytes || !utf8.ValidString(subject) || strings.ContainsFunc(subject, hidden) {
		return fmt.Errorf("%q cannot be an owner: use 1 to %d bytes of text, without space around it", subject, MaxSubjectBytes)
	}
	return nil
}

// Zone gives a zone by its name in the tz database.
func Zone(name string) (*time.Location, error) {
	const longest = 64
	// A name of the database goes nowhere but down; these others are whatever this machine has.
	if name == "" || name == "Local" || len(name) > longest || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "posix") || strings.HasPrefix(name, "right/") {
		return nil, fmt.Errorf("%q is no zone: use a name of the tz database such as Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no zone: use a name of the tz database such as Europe/Berlin", name)
	}
	return zone, nil
}

// localtime is the link that names the zone of a system.
const localtime = "/etc/localtime"

// MachineZone gives the name of the zone that this machine is in and what said so: the variable TZ, or the link /etc/localtime. Where
// neither names one it is UTC, and the error says so.
func MachineZone(lookup xdg.Lookup) (name, from string, err error) {
	return machineZone(lookup, localtime)
}

func machineZone(lookup xdg.Lookup, link string) (name, from string, err error) {
	const utc = "UTC"
	if value, set := lookup("TZ"); set {
		if value == "" {
			return utc, "TZ", nil
		}
		name, from = zoneName(strings.TrimPrefix(value, ":")), "TZ"
	} else if to, err := os.Readlink(link); err == nil {
		name, from = zoneName(to), link
	}
	if name == "" {
		return utc, "", errors.New("neither TZ nor /etc/localtime names a zone of the tz database")
	}
	return name, from, nil
}

// zoneName gives the name of a zone that is named by itself or by the path of its file.
func zoneName(text string) string {
	if _, below, found := strings.Cut(text, "zoneinfo/"); found {
		text = below
	}
	if _, err := Zone(text); err != nil {
		return ""
	}
	return text
}
