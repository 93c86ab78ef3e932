package retry

import (
	"sync/atomic"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/histogram"
)

// Stats is a snapshot of a retrier. Counts start with the retrier and only grow.
// Each call is counted once: in Canceled, Invalid, Aborted or Ended. At any time
//
//	Ended.Total() + Aborted <= Originals
//	Retries + BackingOff    <= Delays.Count
//
// and when no call is under way the first two are equal, and the others differ by
// the back-offs in which a context ended.
type Stats struct {
	Name       string                // the retrier's name
	Canceled   uint64                // calls whose context was done before the first attempt
	Invalid    uint64                // calls without any bound in time: see Unlimited
	Aborted    uint64                // calls that a panic or Goexit ended
	Ended      StopCounts            // calls that ended, by reason
	Retried    StopCounts            // those of Ended that had at least one back-off
	BackingOff uint64                // calls that are in a back-off at this moment
	Originals  uint64                // first attempts
	Retries    uint64                // further attempts
	Delays     spillway.Distribution // the back-offs, as they were drawn
	Budget     BudgetStats           // the budget, which others may share; zero if there is none
}

// counters are what Stats is made of. Index 0 is for calls that had no back-off,
// index 1 for the others.
type counters struct {
	_       [64]byte // what is in front is read by every call, the rest written
	ended   [2][stopCount]atomic.Uint64
	aborted [2]atomic.Uint64
	_       [64]byte

	canceled   atomic.Uint64
	invalid    atomic.Uint64
	continued  atomic.Uint64 // calls that had a first back-off
	retries    atomic.Uint64
	backingOff atomic.Int64
	delays     histogram.Recorder
}

// Stats returns a snapshot. It takes no lock.
func (r *Retrier[T]) Stats() Stats {
	c := r.core
	if c == nil {
		return Stats{}
	}
	n := &c.counters
	st := Stats{
		Name:     c.policy.Name,
		Canceled: n.canceled.Load(),
		Invalid:  n.invalid.Load(),
		Budget:   c.policy.Budget.Stats(),
	}
	// Ends are read before beginnings, so that there are never more of them.
	for i := range st.Ended {
		st.Retried[i] = n.ended[1][i].Load()
		first := n.ended[0][i].Load()
		st.Ended[i] = first + st.Retried[i]
		st.Originals += first
	}
	again, first := n.aborted[1].Load(), n.aborted[0].Load()
	st.Aborted = first + again
	// Retries first: a back-off that ends in between must not be counted twice.
	st.Retries = n.retries.Load()
	st.BackingOff = uint64(max(n.backingOff.Load(), 0))
	st.Delays = n.delays.Snapshot()
	st.Originals += first + n.continued.Load()
	return st
}
