package cli

import (
	"testing"
	"time"
)

func TestShortTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "1h", 168 * time.Hour: "168h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 30 * time.Second: "30s",
		time.Hour + time.Second: "1h0m1s", 100 * time.Millisecond: "100ms", 61 * time.Second: "1m1s", 20*time.Hour + 10*time.Minute: "20h10m",
	} {
		if got := shortTime(d); got != want {
			t.Errorf("%s is shown as %s, want %s", d, got, want)
		}
	}
}
