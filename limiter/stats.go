package limiter

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Stats is a snapshot of a limiter. Counts start with the limiter and only grow.
// At any time Ended.Total() + Aborted <= Admitted, and the two are equal when no
// call is under way.
type Stats struct {
	Name        string                 // the limiter's name
	Mode        spillway.Mode          // the mode in force
	Closed      bool                   // whether Close was called
	Limit       int                    // permits there are
	Pace        time.Duration          // the gap between two calls, if they are paced
	InUse       int                    // permits in use, ghosts included
	Available   int                    // permits free; 0 if more are in use than there are
	Ghosts      int                    // permits of calls that timed out and may still be worked on
	Admitted    uint64                 // calls admitted
	Refused     spillway.RefusalCounts // calls refused, by reason
	WouldRefuse uint64                 // calls that mode Shadow admitted over the limit
	Canceled    uint64                 // calls whose context was done before they began
	AfterClose  uint64                 // calls that came after Close
	Invalid     uint64                 // calls with an impossible weight, and nested ones
	Ended       spillway.OutcomeCounts // calls that ended, by outcome
	Aborted     uint64                 // calls that a panic or Goexit ended
	GhostsTotal uint64                 // calls that became ghosts
	Raised      uint64                 // how often the limit was raised
	Lowered     uint64                 // how often it was lowered
	Hold        spillway.Distribution  // how long permits were held: one call in 64; those that a meter measures if there is one, all with Track
}

// Stats returns a snapshot. It takes a lock for a moment, which admissions don't.
func (l *Limiter[T]) Stats() Stats {
	if l.core == nil {
		return Stats{Closed: true}
	}
	s := l.core.Stats()
	return Stats{
		Name: s.Name, Mode: s.Mode, Closed: s.Closed,
		Limit: s.Limit, Pace: s.Pace, InUse: s.InUse, Available: max(s.Limit-s.InUse, 0), Ghosts: s.Ghosts,
		Admitted: s.Admitted, Refused: s.Refused, WouldRefuse: s.WouldRefuse,
		Canceled: s.Canceled, AfterClose: s.AfterClose, Invalid: s.Invalid,
		Ended: s.Ended, Aborted: s.Aborted, GhostsTotal: s.GhostsTotal, Raised: s.Raised, Lowered: s.Lowered, Hold: s.Hold,
	}
}

// Holders lists who holds a permit now, the oldest first. It is empty unless
// Config.Track says otherwise.
func (l *Limiter[T]) Holders() []spillway.Holder {
	if l.core == nil {
		return nil
	}
	return l.core.Holders()
}
