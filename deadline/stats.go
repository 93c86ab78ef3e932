package deadline

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Stats is a snapshot of an executor. Counts start with the executor and only grow. At
// any time Submitted == Parked + Depth + Busy + Outcomes().
type Stats struct {
	Name          string        // the executor's name
	Mode          spillway.Mode // the mode in force
	Closed        bool          // whether Close was called
	Capacity      int           // jobs that may wait
	Depth         int           // jobs that wait
	Oldest        time.Duration // how long the first of them has waited; 0 if none waits
	MaxSubmitters int           // callers that may be parked until there is room
	Parked        int           // callers that are
	Workers       int           // workers there shall be
	Busy          int           // workers that have a job
	Idle          int           // workers that could take one, started or not; the others tell of jobs that died

	Submitted   uint64                 // jobs handed in, whatever became of them
	Ended       spillway.OutcomeCounts // jobs whose operation returned, by outcome
	Aborted     uint64                 // jobs that a panic or Goexit ended
	Refused     spillway.RefusalCounts // jobs that weren't started, by reason: also those that expired or were dropped in the queue
	Canceled    uint64                 // jobs whose context was canceled before they started
	AfterClose  uint64                 // jobs that came after Close, or that Close found parked or in the queue
	Invalid     uint64                 // jobs without function or deadline, with impossible items, and nested ones
	Late        uint64                 // of those that ran: ended after their deadline, however; their work was wasted
	WouldRefuse uint64                 // verdicts of the prediction that mode Shadow didn't carry out
	LostItems   uint64                 // items of jobs of Go and GoN that failed, or weren't run

	// Samples where jobs of Go follow each other by microseconds (of both one in 64 at
	// least, and every one that ran for more than a millisecond), else of every job.
	Wait spillway.Distribution // from submission to start, of the jobs that started
	Run  spillway.Distribution // from start to end
}

// Outcomes returns how many jobs have ended, in whatever way.
func (s Stats) Outcomes() uint64 {
	return s.Ended.Total() + s.Aborted + s.Refused.Total() + s.Canceled + s.AfterClose + s.Invalid
}

// Stats returns a snapshot. It takes the lock that submissions take, and looks at each
// waiting job whether it was canceled: those are gone then, and their ends told. It
// never blocks but for that. The zero Executor gives a closed one with nothing in it.
func (e *Executor[T]) Stats() Stats {
	if e.core == nil {
		return Stats{Closed: true}
	}
	return e.core.stats()
}

func (c *core) stats() Stats {
	var out fallout
	now := c.now()
	c.mu.Lock()
	c.expireLocked(now, &out)
	c.sweepLocked(now, &out)
	c.checkLocked()
	starting := min(c.queue.n, c.freeLocked())
	s := Stats{
		Name: c.name, Mode: c.mode, Closed: c.closing,
		Capacity: c.queueCap, Depth: c.queue.n - starting,
		MaxSubmitters: c.parkedCap, Parked: c.parked.n,
		Workers: c.target, Busy: c.busy + starting, Idle: c.freeLocked() - starting,
		Submitted: c.submitted, Ended: c.count.ended, Aborted: c.count.aborted,
		Refused: c.count.refused, Canceled: c.count.canceled, AfterClose: c.count.afterClose,
		Invalid: c.count.invalid, Late: c.count.late, WouldRefuse: c.count.wouldRefuse,
		LostItems: c.count.lostItems,
	}
	for place := c.queue.head; s.Depth > 0 && place < c.queue.tail; place++ {
		if o := c.queue.at(place); o.task != nil && !o.rough {
			s.Oldest = time.Duration(now - o.since)
			break
		}
	}
	c.mu.Unlock()
	c.fire(&out)
	s.Wait, s.Run = c.wait.Snapshot(), c.run.Snapshot()
	return s
}
