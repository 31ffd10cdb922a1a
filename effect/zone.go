package effect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones by name also where the system has no zone files
	"unicode/utf8"

	"github.com/loomrun/loom/internal/boundedfile"
)

// maxZoneBytes bounds a zone file. The largest of the tz database has a few kilobytes.
const maxZoneBytes = boundedfile.MiB

// zoneFiles says where a host keeps its time zones.
type zoneFiles struct {
	system string   // the zone it runs in: a file, or a link to one
	named  []string // folders of zones by name; the first that has a name counts
}

// hostZones are the places that the systems of today agree on.
var hostZones = zoneFiles{system: "/etc/localtime", named: []string{"/usr/share/zoneinfo", "/etc/zoneinfo"}}

// HostZone gives the host's time zone: what TZ says where it is set, else the system's (6.1). An
// empty TZ is UTC. Package time turns a TZ that it cannot read into UTC without a word; here it is
// an error, since a wrong local time would be believed.
//
// A TZ names a zone of the tz database or an absolute path of a zone file, either with a colon before
// it. A zone by name comes from the system's files, and where these do not have it from the copy in
// this program. ZONEINFO, by which package time can be made to look elsewhere first, never changes
// what a name means.
func HostZone(lookup func(variable string) (value string, set bool)) (*time.Location, error) {
	return hostZones.zone(lookup)
}

func (z zoneFiles) zone(lookup func(string) (string, bool)) (*time.Location, error) {
	elsewhere, _ := lookup("ZONEINFO")
	value, set := lookup("TZ")
	switch {
	case !set:
		return z.ofSystem(elsewhere)
	case value == "":
		return time.UTC, nil
	case !utf8.ValidString(value):
		return nil, errors.New("TZ is not UTF-8; unset it or name a zone such as Europe/Berlin")
	}
	name := strings.TrimPrefix(value, ":") // POSIX lets a colon stand before a zone of the implementation
	if path.IsAbs(name) {
		zone, err := readZone(name, name)
		if err != nil {
			return nil, fmt.Errorf("TZ is %q: %w", value, err)
		}
		return zone, nil
	}
	zone, err := z.byName(name, elsewhere)
	if err != nil {
		return nil, fmt.Errorf("TZ is %q, which %w; unset it or name a zone such as Europe/Berlin", value, err)
	}
	return zone, nil
}

// ofSystem gives the zone the system runs in: UTC where nothing says which.
func (z zoneFiles) ofSystem(elsewhere string) (*time.Location, error) {
	zone, err := readZone("Local", z.system)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return zone, err
	}
	link, err := os.Readlink(z.system)
	if err != nil { // there is not even a link that leads nowhere
		return time.UTC, nil
	}
	// A system without zone files can still name its zone, by a link into the folder where they
	// would be.
	_, name, _ := strings.Cut(link, "zoneinfo/")
	if zone, err = z.byName(name, elsewhere); err != nil {
		return nil, fmt.Errorf("%s is a link to %s, which %w; set TZ to a zone such as Europe/Berlin", z.system, link, err)
	}
	return zone, nil
}

// byName gives a zone of the tz database. Its errors say what the name does not do.
func (z zoneFiles) byName(name, elsewhere string) (*time.Location, error) {
	if !isZoneName(name) {
		return nil, noZone(name)
	}
	for _, folder := range z.named {
		zone, err := readZone(name, path.Join(folder, name))
		switch {
		case err == nil:
			return zone, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
	}
	if elsewhere != "" { // where time.LoadLocation would look before it looks into its own copy
		return nil, errors.New("has no zone file on this system, and the copy in this program is not used while ZONEINFO is set")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, noZone(name)
	}
	return zone, nil
}

// isZoneName tells whether a text could be a name of the tz database: a path of such characters as
// its names have, going nowhere but down.
func isZoneName(s string) bool {
	const more = "0123456789/_+-" // besides letters
	odd := strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune(more, c))
	})
	return s != "" && !odd && s != "Local" && path.Clean(s) == s && !path.IsAbs(s)
}

func noZone(name string) error {
	if strings.ContainsAny(name, "0123456789,<") { // such as CET-1CEST,M3.5.0,M10.5.0/3
		return errors.New("is no zone of the tz database (rules with offsets written out are not read)")
	}
	return errors.New("is no zone of the tz database")
}

// readZone reads a zone file.
func readZone(name, file string) (*time.Location, error) {
	data, err := boundedfile.Read(file, maxZoneBytes)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("%s is no zone file", file)
	}
	return zone, nil
}
