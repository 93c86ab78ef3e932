package watch

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spillway-go/spillway"
)

// Config are the settings of a watcher.
type Config struct {
	// Logger is where everything goes. It must not be nil.
	Logger *slog.Logger
	// Interval is the time between two snapshots. It must be positive, also if nobody calls
	// Start.
	Interval time.Duration
	// Thresholds say from where on something is the matter.
	Thresholds Thresholds
	// Every is the least time between two lines about the same thing: a verdict that lasts,
	// the refusals of a guard. It must be positive.
	Every time.Duration
	// Holders is how many of the oldest holders a line shows, and how many are looked at for
	// leaks. Zero means none.
	Holders int
	// Ring is how many of the last who asked for a permit a [Trace] keeps. Zero means none.
	Ring int
	// TraceRate is how many lines a second a [Trace] may log. Zero means none.
	TraceRate int
}

// DefaultConfig returns the settings that fit most: a snapshot every 10 s,
// [DefaultThresholds], a line a minute about the same thing, five holders, the last 64 who
// asked, 100 traced lines a second.
func DefaultConfig(l *slog.Logger) Config {
	return Config{
		Logger: l, Interval: 10 * time.Second, Thresholds: DefaultThresholds(), Every: time.Minute,
		Holders: 5, Ring: 64, TraceRate: 100,
	}
}

// maxRing bounds what a Trace keeps, and a line shows.
const maxRing = 1 << 16

func (c Config) validate() error {
	e := &spillway.ConfigError{Component: "watch"}
	if c.Logger == nil {
		e.Add("Logger", nil, "must not be nil")
	}
	if c.Interval <= 0 {
		e.Add("Interval", c.Interval, "must be positive")
	}
	if c.Every <= 0 {
		e.Add("Every", c.Every, "must be positive")
	}
	for _, f := range []struct {
		field string
		value int
	}{{"Holders", c.Holders}, {"Ring", c.Ring}, {"TraceRate", c.TraceRate}} {
		if f.value < 0 || f.value > maxRing {
			e.Add(f.field, f.value, fmt.Sprintf("must be from 0 to %d", maxRing))
		}
	}
	e.Include("Thresholds.", c.Thresholds.Validate())
	return e.Err()
}

// Validate returns a *spillway.ConfigError that lists every fault, or nil.
func (t Thresholds) Validate() error {
	e := &spillway.ConfigError{Component: "watch.Thresholds"}
	for _, f := range []struct {
		field string
		value time.Duration
	}{{"Baseline", t.Baseline}, {"StuckAfter", t.StuckAfter}, {"LeakAfter", t.LeakAfter}} {
		if f.value < 0 {
			e.Add(f.field, f.value, "must not be negative")
		}
	}
	// Written so that NaN is a fault.
	if !(t.SlowFactor == 0 || t.SlowFactor > 1 && t.SlowFactor <= 1000) {
		e.Add("SlowFactor", t.SlowFactor, "must be 0, or over 1 and at most 1000")
	}
	if !(t.TightShare >= 0 && t.TightShare <= 1) {
		e.Add("TightShare", t.TightShare, "must be from 0 to 1")
	}
	return e.Err()
}
