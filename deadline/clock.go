package deadline

import (
	"time"

	"github.com/spillway-go/spillway"
)

// A reading of the clock costs as much as all the rest of a short job. While work is
// brisk, orders and jobs of Go therefore share readings, within bounds that keep what is
// promised: see guess.
const (
	// briskPause is how many nanoseconds lie at most between two readings of the clock
	// as long as work is brisk.
	briskPause = 10_000
	// readEvery is of how many orders, and of how many jobs of a worker, one reads the
	// clock at least.
	readEvery = 64
	// staleAfter is how old a reading gets at most, but for the timer's own lateness,
	// that stands for the time.
	staleAfter = int64(time.Millisecond)
	// farAhead is how far a deadline has to be from a reading that stands for the time:
	// a hundred times as much, so that the timer may be very late.
	farAhead = int64(100 * time.Millisecond)
)

// now is the time.
func (c *core) now() int64 { return int64(time.Since(c.base)) }

// tickedLocked notes a reading of the clock. A worker may bring it late, after others.
func (c *core) tickedLocked(now int64) {
	c.brisk = now-c.clock < briskPause
	c.clock = max(c.clock, now)
}

// guessLocked decides whether a worker may take the last reading for the time when the
// job that it has taken ends: the work is brisk, nobody predicts, and the executor's
// timer comes to say so when the reading is getting old. That a job isn't brisk is known
// before: whoever runs for longer than a millisecond, or doesn't run, finds the timer
// there, and the clock is read at his end and before the next start.
func (c *core) guessLocked(j *job) bool {
	if j.kind != kindGo || !c.brisk || c.share > 0 || c.queue.n == 0 || j.deadline-c.clock < farAhead {
		return false
	}
	if !c.guessing.Load() {
		c.guessing.Store(true)
		c.armAtLocked(c.clock + staleAfter)
	}
	return true
}

// isRead reports whether the end of a worker's n-th job that might be guessed is read all
// the same: of the last of a group, and of the first after it, so that how long that one
// ran is known.
func isRead(n uint32) bool { return n%readEvery <= 1 }

// quickLocked gives an order of Go its slot if nothing has to be found out for it: the time
// is known well enough, there is room and no worker to wake, and the timer has nothing to
// do. Otherwise it gives nil.
func (c *core) quickLocked(deadline int64) *slot {
	q, n := &c.queue, c.submitted
	left := deadline - c.clock
	if !c.open || !c.brisk || n%readEvery == 0 || q.n >= c.queueCap || q.isFull() || c.busy+c.waking < c.target ||
		deadline < c.expiry.lazyAt || left < farAhead || left > c.longest || !c.guessing.Load() {
		return nil
	}
	c.submitted = n + 1
	s := q.at(q.tail)
	q.tail++
	q.n++
	c.checkLocked()
	return s
}

// goOn accounts for a job of Go that has gone well and takes the next, if nothing has to be
// found out for either: when the one ended, and whether the time of the other is up, is
// known well enough. It is what seek does, and no more than this once in a while.
func (c *core) goOn(w *worker) bool {
	if isRead(w.jobs+1) || !c.guessing.Load() {
		return false
	}
	q := &c.queue
	c.mu.Lock()
	if q.n == 0 || c.parked.n > 0 || c.live > c.target || !c.brisk {
		c.mu.Unlock()
		return false
	}
	s := q.at(q.head)
	if s.kind != kindGo || !s.tight || s.deadline-c.clock < farAhead {
		c.mu.Unlock()
		return false
	}
	c.count.ended[spillway.OutcomeOK]++
	w.own.slot, w.own.started = *s, c.clock
	q.remove(q.head)
	c.checkLocked()
	c.mu.Unlock()
	w.jobs++
	w.guessed = true
	return true
}
