package adaptive

import (
	"fmt"
	"time"
)

// Cause says why a limit was changed.
type Cause uint8

// The causes of a change.
const (
	Steady    Cause = iota // it wasn't
	Latency                // calls took longer than is tolerated
	Errors                 // calls were answered with overload, or not in time
	Silence                // nothing came back though something was under way
	Growth                 // the limit was in use, and all was well
	Recovery               // the same, after errors or silence: back to what went well before
	Idle                   // the limit was far above what was in use
	Operator               // Drive, SetMode, SetTrusted, SetStatic or Stop
	Fallback               // the controller found itself broken and went back to the static limit
	Remeasure              // for a moment, to see what calls take with few under way; or up again, knowing it

	causeCount
)

var causeNames = [...]string{
	"steady", "latency", "errors", "silence", "growth", "recovery", "idle", "operator", "fallback", "remeasure",
}

// String returns the cause's name in lower case, as telemetry uses it.
func (c Cause) String() string {
	if c < causeCount {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// CauseCounts counts changes by cause.
type CauseCounts [causeCount]uint64

// Of returns how many changes had the cause c; 0 if there is no such cause.
func (c CauseCounts) Of(cause Cause) uint64 {
	if cause >= causeCount {
		return 0
	}
	return c[cause]
}

// Change is one change of a limit, with what it was decided on. Limits are in permits
// and may be fractions; below one they stand for a pace.
type Change struct {
	Name      string        // the guard's
	At        time.Time     // when
	Cause     Cause         // why
	From      float64       // the limit before
	To        float64       // the limit after
	Pace      time.Duration // the gap between two calls; 0 with a limit of one or more
	Ratio     float64       // latency over reference, over all classes
	Tolerance float64       // what that ratio may be
	Errors    float64       // the share of overload signals, 0 to 1
	Healthy   float64       // permits in use on average while all was well
	Samples   int           // calls that the decision rests on
	InUse     int           // the most permits that were in use
	Shadow    bool          // whether it was only computed
}

// String returns the change in one line.
func (c Change) String() string {
	s := fmt.Sprintf("%s: %.4g -> %.4g: %v", c.Name, c.From, c.To, c.Cause)
	if c.Shadow {
		s += " (shadow)"
	}
	s += fmt.Sprintf(", latency %.2f times its reference (%.2f tolerated), errors %.1f %%, %d samples, %d in use, healthy %.3g",
		c.Ratio, c.Tolerance, 100*c.Errors, c.Samples, c.InUse, c.Healthy)
	if c.Pace > 0 {
		s += fmt.Sprintf(", a call every %v", c.Pace.Round(time.Microsecond))
	}
	return s
}
