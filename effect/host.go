package effect

import (
	"os"
	"time"

	"github.com/loomrun/loom/catalog"
)

// HostClock is the binding to this machine's clock and time zone.
func HostClock() *Clock {
	zone := func() (*time.Location, error) { return HostZone(os.LookupEnv) }
	return NewClock(catalog.SystemQuery().Protocol, time.Now, zone)
}
