package effect

import "time"

// ZoneOf is HostZone for a host that keeps its zones elsewhere.
func ZoneOf(system string, named []string, lookup func(string) (string, bool)) (*time.Location, error) {
	return zoneFiles{system, named}.zone(lookup)
}
