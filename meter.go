package spillway

import (
	"context"
	"time"
)

// Meter measures the calls of a guard, as an adaptive limit has to: all, or one in so
// many. It is asked and told on the callers' goroutines and path, outside of any lock:
// its methods must be quick, must not block and must be safe for concurrent use. A panic
// in them is swallowed. All times are those of the guard's own clock, which the guard has
// read anyway. A call that was admitted before its guard had a meter isn't told; one that was
// begun with another meter is told to the one that is there at its end.
type Meter interface {
	// Begin is asked when a call was admitted that will be measured, for a label that End gets back: which
	// kind of call it is, say. It must be below [MeterLabels]; others count as 0.
	Begin(ctx context.Context, at time.Duration) (label uint8)
	// Full is told that a call found no room: of every call that comes to wait, and of
	// one in eight that are refused.
	Full(at time.Duration)
	// End is told how a call that was measured ended, once, after its permits came back. One
	// that a panic or Goexit ended has OutcomeLocal: it says nothing of the backend.
	End(s Sample)
}

// MeterLabels is how many labels a [Meter] may use.
const MeterLabels = 16

// Sample is how one call of a guard ended.
type Sample struct {
	At      time.Duration // when, on the guard's clock
	Took    time.Duration // how long it held its permits
	InUse   int           // permits that were in use just before it gave back its own
	Weight  int           // permits it held
	Outcome Outcome       // how it ended
	Label   uint8         // what the meter's Begin said of it
}
