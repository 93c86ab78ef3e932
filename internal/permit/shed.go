package permit

import (
	"time"

	"github.com/spillway-go/spillway"
)

// A queue that is served from its newest end leaves its oldest waiters to starve.
// It is kept short by the controlled delay of Facebook's "Fail at Scale" (2015): as
// long as the queue was empty a moment ago, a waiter may wait standingAfter; once it
// has been standing for that long, only shedAfter.
const (
	standingAfter = int64(100 * time.Millisecond)
	shedAfter     = int64(5 * time.Millisecond)
)

// shedAt returns when a waiter has waited too long for a queue that is served from
// its newest end.
func (f *flow) shedAt(w *waiter) int64 {
	return max(w.since+shedAfter, min(f.since+standingAfter, w.since+standingAfter))
}

// shedLocked sends away who has waited too long in such a queue.
func (c *Core) shedLocked() {
	if !c.opts.Newest || c.queue.head == nil {
		return
	}
	for w := c.queue.head; w != nil && c.flow.shedAt(w) <= c.flow.clock; w = c.queue.head {
		c.hintLocked()
		c.queue.remove(w)
		w.ready <- release{verdict: refusedWaiting, reason: spillway.ReasonDropped}
	}
}
