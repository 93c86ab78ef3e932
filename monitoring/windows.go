package monitoring

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Windows are the spans of time that the rules look at. The zero Windows are an error:
// see [DefaultWindows].
type Windows struct {
	Rate     time.Duration // over which rates are taken: at least four scrapes
	Baseline time.Duration // over which the usual hold time is found
	Lag      time.Duration // how long before now the baseline ends, so that it isn't of the trouble itself
	Hold     time.Duration // how long a condition must last before its alert fires; one that a single event must not set off lasts for Rate
	Long     time.Duration // the same for conditions that are a matter of capacity
}

// DefaultWindows returns those of the shipped rules, for scrapes every 15 s or more often.
func DefaultWindows() Windows {
	return Windows{
		Rate: 5 * time.Minute, Baseline: time.Hour, Lag: 10 * time.Minute, Hold: 2 * time.Minute, Long: 10 * time.Minute,
	}
}

// span is d as queries look at it: half of Rate at least, so that two scrapes are in it, without
// which there is no rate.
func (w Windows) span(d time.Duration) time.Duration { return max(d, w.Rate/2) }

// validate names every window that is too short. Prometheus knows no spans below 1 ms.
func (w Windows) validate() error {
	faults := &spillway.ConfigError{Component: "monitoring.Windows"}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"Rate", w.Rate}, {"Baseline", w.Baseline}, {"Lag", w.Lag}, {"Hold", w.Hold}, {"Long", w.Long}} {
		if f.d < time.Millisecond {
			faults.Add(f.name, f.d, "must be at least 1ms")
		}
	}
	return faults.Err()
}
