package permit

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Stats is a snapshot of a core. The fields are read one after the other, ends
// before beginnings, so that at any time Admitted >= ended calls, and all counts
// only grow.
type Stats struct {
	Name        string
	Mode        spillway.Mode
	Closed      bool
	Limit       int
	Pace        time.Duration
	InUse       int // weight, ghosts included
	Ghosts      int // weight
	GhostsTotal uint64
	Waiting     int
	Room        int // callers that may wait
	WaitWeight  int // permits that are waited for, as many as would be taken
	OldestWait  time.Duration
	Admitted    uint64
	Ended       spillway.OutcomeCounts
	Aborted     uint64
	Refused     spillway.RefusalCounts
	Canceled    uint64
	TimedOut    uint64 // of them, those whose time was over while they waited
	AfterClose  uint64
	Invalid     uint64
	WouldRefuse uint64
	Raised      uint64 // changes of the limit
	Lowered     uint64
	Hold        spillway.Distribution
	Wait        spillway.Distribution // of calls that waited, however that ended
	Service     time.Duration         // what a call is taken to need; 0 if nothing was measured
	RetryAfter  time.Duration         // the hint that a refusal carries now
}

// Stats returns a snapshot. It takes the lock for a moment, and ends ghosts whose
// time is over.
func (c *Core) Stats() Stats {
	st := Stats{Name: c.opts.Name, Room: c.opts.Room}
	c.mu.Lock()
	if c.exorciseLocked() > 0 {
		c.settleLocked()
	}
	st.Ghosts, st.GhostsTotal = int(c.ghosts.weight), c.ghosts.total
	st.Waiting, st.WaitWeight = c.queue.n, int(c.queue.takes)
	if w := c.queue.head; w != nil {
		st.OldestWait = time.Duration(c.flow.clock - w.since)
	}
	s := c.word.Load()
	st.RetryAfter = max(c.opts.RetryAfter, time.Duration(c.gap.Load()))
	if c.queue.n > 0 {
		st.RetryAfter = c.rejections.Load().byReason[spillway.ReasonQueueFull].RetryAfter
	}
	c.mu.Unlock()
	st.Mode, st.Closed = modeOf(s), s&closedBit != 0
	st.Pace = time.Duration(c.gap.Load())
	st.Limit, st.InUse = int(limitOf(s)), int(useOf(s))
	st.Aborted = c.aborted.Load()
	for i := range c.ended {
		st.Ended[i] = c.ended[i].Load()
	}
	for i := range c.refused {
		st.Refused[i] = c.refused[i].Load()
	}
	st.TimedOut = c.timedOut.Load()
	st.Canceled, st.AfterClose = c.canceled.Load(), c.closedCalls.Load()
	st.Invalid, st.WouldRefuse = c.invalid.Load(), c.wouldRefuse.Load()
	st.Raised, st.Lowered = c.raised.Load(), c.lowered.Load()
	st.Hold, st.Wait = c.hold.Snapshot(), c.wait.Snapshot()
	st.Service = time.Duration(c.flow.service.Load())
	st.Admitted = c.admitted.Load()
	return st
}
