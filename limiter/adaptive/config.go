package adaptive

import (
	"fmt"
	"math"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// Class is a kind of call with a latency of its own, such as batches or scans.
type Class struct {
	// Name is what calls of the class are marked with, by [WithClass]. It must not be
	// empty, and no other class's.
	Name string
	// Target is the latency at which calls of the class are held under load: what they
	// take on average, by the geometric mean, when the backend is as busy as it should
	// be; about 1.75 times what they take alone. Zero means that it is learned.
	Target time.Duration
}

// Config are the settings of a controller.
type Config struct {
	// Min is the lowest limit. Below 1 it stands for a pace: 0.1 is one call at a time,
	// and nine times a latency between two. It must be 0.001 at least.
	Min float64
	// Max is the highest limit, and the highest weight of a call. It must be at least 1
	// and not below Min. The guard's own limit must be from Min to Max.
	Max int
	// Target is the latency target of calls that are marked with no class: see
	// [Class.Target]. Zero means that it is learned.
	Target time.Duration
	// Classes are the kinds of calls with latencies of their own. There may be
	// 15 at most. None means that all calls are of one kind.
	Classes []Class
	// Trusted lets the limit move freely between Min and Max. False keeps it within half
	// and twice the static limit, until SetTrusted says otherwise.
	Trusted bool
	// Mode is what to do with the verdict. Enforce, which is zero, moves the limit; Shadow
	// computes and tells and leaves the static limit; Off doesn't compute either.
	// RefuseAll is an error: that is the guard's own.
	Mode spillway.Mode
	// Recent is how many changes Stats keeps, the newest, up to 4096. Zero means none.
	Recent int
	// Hooks are told of every change, in this order.
	Hooks []Hooks
}

// Hooks are told of what a controller does, on the goroutine of the call that caused it
// and outside of any lock. They may call the controller and the guard, and may panic
// without harm. A nil hook is not called.
type Hooks struct {
	// Changed is told of every change of the limit, in Shadow too; the first is Drive's own,
	// before Drive has returned. Changes by several goroutines may be told in any order.
	Changed func(Change)
}

const (
	maxClasses = spillway.MeterLabels - 1
	maxRecent  = 1 << 12
)

// DefaultConfig returns the settings to start with, for a limit of max at most:
// everything is learned, calls may be paced down to a tenth of a permit, and the limit
// stays within half and twice the static one until it is trusted. The last 64 changes
// are kept.
func DefaultConfig(max int) Config {
	return Config{Min: 0.1, Max: max, Recent: 64}
}

// minMin is the lowest Min. The gap between two paced calls has a bound anyway.
const minMin = 0.001

// Validate returns a *spillway.ConfigError that lists every fault of the settings, for a
// guard whose static limit that is; nil if there is none. Drive calls it.
func (c Config) Validate(static int) error { return c.validate("", static) }

// bounds is where a static limit must be, in words.
func (c Config) bounds() string {
	return fmt.Sprintf("must be from Min to Max, %v to %d", c.Min, c.Max)
}

// validate is Validate for the guard of that name.
func (c Config) validate(name string, static int) error {
	e := &spillway.ConfigError{Component: "adaptive", Name: name}
	if c.Max < 1 || c.Max > limiter.MaxLimit {
		e.Add("Max", c.Max, fmt.Sprintf("must be from 1 to %d", limiter.MaxLimit))
	}
	if !(c.Min >= minMin && c.Min <= float64(c.Max)) { // NaN too
		e.Add("Min", c.Min, fmt.Sprintf("must be from %v to Max", minMin))
	}
	if float64(static) < c.Min || static > c.Max {
		e.Add("Limit", static, "the guard's own limit "+c.bounds())
	}
	if c.Target < 0 {
		e.Add("Target", c.Target, "must not be negative")
	}
	if len(c.Classes) > maxClasses {
		e.Add("Classes", len(c.Classes), fmt.Sprintf("must be %d at most", maxClasses))
	}
	names := map[string]bool{}
	for i, k := range c.Classes {
		if k.Name == "" || names[k.Name] {
			e.Add(fmt.Sprintf("Classes[%d].Name", i), k.Name, "must not be empty, nor be there twice")
		}
		names[k.Name] = true
		if k.Target < 0 {
			e.Add(fmt.Sprintf("Classes[%d].Target", i), k.Target, "must not be negative")
		}
	}
	if !c.Mode.Valid() || c.Mode == spillway.RefuseAll {
		e.Add("Mode", c.Mode, knownModes)
	}
	if c.Recent < 0 || c.Recent > maxRecent {
		e.Add("Recent", c.Recent, fmt.Sprintf("must be from 0 to %d", maxRecent))
	}
	return e.Err()
}

// knownModes is what a mode must be.
const knownModes = "must be Enforce, Shadow or Off"

// fault is the error of one thing that can't be had.
func fault(name, field string, value any, problem string) error {
	e := &spillway.ConfigError{Component: "adaptive", Name: name}
	e.Add(field, value, problem)
	return e
}

// rule returns the rule that moves a limit that started as static.
func (c Config) rule(static int, trusted bool) rule {
	r := rule{low: c.Min, high: float64(c.Max), static: float64(static)}
	if !trusted {
		r.low = max(r.low, untrustedLow*float64(static))
		r.high = min(r.high, untrustedHigh*float64(static))
	}
	if r.low > 1 {
		r.low = math.Ceil(r.low) // permits are whole
	}
	r.targets[0] = float64(c.Target)
	for i, k := range c.Classes {
		r.targets[i+1] = float64(k.Target)
	}
	return r
}
