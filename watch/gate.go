package watch

import (
	"sync/atomic"
	"time"
)

// gate lets something pass once in a while, and counts the rest. The zero gate lets the
// first pass.
type gate struct {
	last atomic.Int64  // when something passed, in nanoseconds of the wall clock; 0: never
	left atomic.Uint64 // what hasn't passed since
}

// pass reports whether something may pass now, and how much hasn't since the last time.
func (g *gate) pass(now time.Time, every time.Duration) (left uint64, ok bool) {
	n := now.UnixNano()
	last := g.last.Load()
	// A clock that was set back lets pass, too.
	if last != 0 && n >= last && n-last < int64(every) || !g.last.CompareAndSwap(last, n) {
		g.left.Add(1)
		return 0, false
	}
	return g.left.Swap(0), true
}
