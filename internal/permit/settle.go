package permit

import (
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
)

// settleLocked does for the queue whatever the word now allows: it grants permits,
// sends away who can't be served any more, clears the waiting bit with the last
// waiter, and tells Close when the last permit is back.
func (c *Core) settleLocked() {
	c.serveLocked()
	c.shedLocked()
	if c.queue.head == nil && c.word.Load()&waitingBit != 0 {
		c.word.And(^uint64(waitingBit))
		c.flow.decay(c.flow.clock) // a silence counts also if it ended because nobody waits any more
	}
	c.armLocked()
	if s := c.word.Load(); s&closedBit != 0 && c.drained != nil && useOf(s) == c.ghosts.weight {
		select {
		case <-c.drained:
		default:
			close(c.drained)
		}
	}
	c.checkLocked()
}

// serveLocked answers, one after the other, those who can be answered now.
func (c *Core) serveLocked() {
	for w := c.nextLocked(); w != nil; w = c.nextLocked() {
		r, ok := c.decideLocked(w)
		if !ok {
			return
		}
		c.queue.remove(w)
		w.ready <- r
	}
}

// nextLocked returns who is to be served next: the oldest waiter, or the newest.
func (c *Core) nextLocked() *waiter {
	if c.opts.Newest {
		return c.queue.tail
	}
	return c.queue.head
}

// checkLocked tests the invariants of word.go that tie the word to what the lock
// guards.
func (c *Core) checkLocked() {
	if !invariant.Enabled {
		return
	}
	s := c.word.Load()
	invariant.Check(s&waitingBit != 0 == (c.queue.n > 0), "permit: waiting bit in %#x with %d in the queue", s, c.queue.n)
	invariant.Check(s&ghostsBit != 0 == (len(c.ghosts.list) > 0), "permit: ghosts bit in %#x with %d ghosts", s, len(c.ghosts.list))
	invariant.Check(c.ghosts.weight <= useOf(s), "permit: ghosts hold %d of %d in use", c.ghosts.weight, useOf(s))
	running := s&pacedBit != 0 && modeOf(s) == spillway.Enforce && c.landed.Load() != never
	invariant.Check(!running || useOf(s) == c.ghosts.weight, "permit: the gap runs with %d in use, ghosts %d", useOf(s), c.ghosts.weight)
}

// decideLocked says what the next waiter gets now; ok is false if it has to go on
// waiting. If it is granted permits they have been taken.
func (c *Core) decideLocked(w *waiter) (r release, ok bool) {
	for {
		s := c.word.Load()
		if s&closedBit != 0 {
			return release{verdict: closed}, true
		}
		switch modeOf(s) {
		case spillway.RefuseAll:
			return release{verdict: refusedWaiting, reason: spillway.ReasonRefuseAll}, true
		case spillway.Off:
			return release{verdict: admitted}, true
		case spillway.Shadow:
			c.queue.retake(w, min(w.weight, useMask-useOf(s))) // as in takeSlow
		case spillway.Enforce:
			takes, ok := c.weigh(s, w.weight)
			if !ok {
				return release{verdict: refusedWaiting, reason: spillway.ReasonLimitShrunk}, true
			}
			if !fits(s, takes) || s&pacedBit != 0 && (useOf(s) != 0 || !c.isDue()) {
				return r, false
			}
			if w.deadline != 0 && c.tooLateLocked(w) {
				c.hintLocked()
				return release{verdict: refusedWaiting, reason: spillway.ReasonPredicted}, true
			}
			c.queue.retake(w, takes)
		}
		if c.word.CompareAndSwap(s, s+w.takes) {
			if s&pacedBit != 0 {
				c.landed.Store(never)
			}
			c.flow.launched = c.flow.clock
			return release{verdict: admitted, counted: true, over: !fits(s, w.takes)}, true
		}
	}
}

// reweighLocked brings the queue up to date with a limit, or a highest weight, that has
// changed. It sends away every waiter that is too heavy by now, wherever it stands:
// behind a head that waits on, it could wait for ever.
func (c *Core) reweighLocked() {
	s := c.word.Load()
	for w := c.queue.head; w != nil; {
		next := w.next
		if takes, ok := c.weigh(s, w.weight); ok {
			c.queue.retake(w, takes)
		} else {
			c.queue.remove(w)
			w.ready <- release{verdict: refusedWaiting, reason: spillway.ReasonLimitShrunk}
		}
		w = next
	}
}

// armLocked sets the timer for the first thing that time alone brings about while
// callers wait: the longest wait of the oldest, the end of a ghost, or the moment
// when a queue that is served from its newest is too old. There is one timer for all,
// and none while nobody waits. It is moved only to an earlier time: one that comes too
// early finds nothing to do and is set anew, which is cheaper than moving it at every
// hand-off.
func (c *Core) armLocked() {
	w := c.queue.head
	if w == nil {
		if c.armed != 0 {
			c.timer.Stop()
			c.armed = 0
		}
		return
	}
	at := w.until
	if len(c.ghosts.list) > 0 && (at == 0 || c.ghosts.list[0].until < at) {
		at = c.ghosts.list[0].until
	}
	if due := c.dueAt(); due != 0 && (at == 0 || due < at) {
		at = due
	}
	if c.opts.Newest {
		if shed := c.flow.shedAt(w); at == 0 || shed < at {
			at = shed
		}
	}
	if at == 0 || c.armed != 0 && c.armed <= at {
		return
	}
	c.armed = at
	d := time.Duration(at - c.now())
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.tick)
		return
	}
	c.timer.Reset(d)
}

// tick is the timer's: it ends ghosts and waits whose time is over. All waiters
// wait equally long at most, so the queue is sorted by the end of the wait too.
func (c *Core) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = 0
	c.exorciseLocked()
	now := c.flow.clock
	c.serveLocked() // who can be served at this very moment is served
	for w := c.queue.head; w != nil && w.until != 0 && w.until <= now; w = c.queue.head {
		c.hintLocked()
		c.queue.remove(w)
		w.ready <- release{verdict: refusedWaiting, reason: spillway.ReasonMaxWait}
		c.serveLocked() // it may have stood in front of somebody who fits
	}
	c.settleLocked()
}
