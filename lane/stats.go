package lane

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Stats is a snapshot of a lane. Counts start with the lane and only grow. At any
// time Ended.Total() + Aborted <= Admitted, and the two are equal when no call is
// under way.
type Stats struct {
	Name          string                 // the lane's name, as of Lane.Name; from Set.Stats as configured
	Mode          spillway.Mode          // the mode in force
	Closed        bool                   // whether it was closed
	Limit         int                    // permits there are
	Pace          time.Duration          // the gap between two calls, if they are paced
	InUse         int                    // permits in use, ghosts and lent ones included
	Available     int                    // permits free; 0 if more are in use than there are
	Ghosts        int                    // permits of calls that timed out and may still be worked on
	Waiting       int                    // callers that wait
	MaxWaiting    int                    // callers that may wait
	OldestWait    time.Duration          // how long the oldest of them has waited
	Admitted      uint64                 // calls admitted
	Refused       spillway.RefusalCounts // calls refused, by reason
	WouldRefuse   uint64                 // calls that mode Shadow admitted over the limit
	Canceled      uint64                 // calls whose context ended before they were admitted
	TimedOut      uint64                 // of them, those whose deadline came while they waited
	AfterClose    uint64                 // calls that came, or waited, when the lane was closed
	Invalid       uint64                 // calls with an impossible weight, without a bound to their wait, and nested ones
	Ended         spillway.OutcomeCounts // calls that ended, by outcome
	Aborted       uint64                 // calls that a panic or Goexit ended
	GhostsTotal   uint64                 // calls that became ghosts
	Raised        uint64                 // how often the limit was raised
	Lowered       uint64                 // how often it was lowered
	Borrowed      int                    // calls under way with a permit of another lane
	BorrowedTotal uint64                 // calls that ran with a permit of another lane
	Lent          uint64                 // calls of other lanes that ran with a permit of this one
	Hold          spillway.Distribution  // how long permits were held: one call in 64, of those that waited one in 16; those that a meter measures if there is one, all with Track
	Wait          spillway.Distribution  // how long callers waited, of those who did
	Service       time.Duration          // what a call is taken to need: its ninth decile
	RetryAfter    time.Duration          // the hint that a refusal would carry now
}

// Stats returns a snapshot. It takes a lock for a moment, which uncontended calls
// don't.
func (b base) Stats() Stats {
	if b.core == nil {
		return Stats{Closed: true}
	}
	s := b.core.Stats()
	return Stats{
		Name: s.Name, Mode: s.Mode, Closed: s.Closed,
		Limit: s.Limit, Pace: s.Pace, InUse: s.InUse, Available: max(s.Limit-s.InUse, 0), Ghosts: s.Ghosts,
		Waiting: s.Waiting, MaxWaiting: s.Room, OldestWait: s.OldestWait,
		Admitted: s.Admitted, Refused: s.Refused, WouldRefuse: s.WouldRefuse,
		Canceled: s.Canceled, TimedOut: s.TimedOut, AfterClose: s.AfterClose, Invalid: s.Invalid,
		Ended: s.Ended, Aborted: s.Aborted, GhostsTotal: s.GhostsTotal, Raised: s.Raised, Lowered: s.Lowered,
		Borrowed: int(b.loans.borrowed.Load()), BorrowedTotal: b.loans.borrowedTotal.Load(), Lent: b.loans.lent.Load(),
		Hold: s.Hold, Wait: s.Wait, Service: s.Service, RetryAfter: s.RetryAfter,
	}
}

// Holders lists who holds a permit now, the oldest first. It is empty unless
// Config.Track says otherwise.
func (b base) Holders() []spillway.Holder {
	if b.core == nil {
		return nil
	}
	return b.core.Holders()
}
