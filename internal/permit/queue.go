package permit

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
)

// A waiter is one caller in the queue. Its fields are guarded by the core's lock;
// ready is how it is told, by exactly one send.
type waiter struct {
	next, prev *waiter
	weight     uint64
	since      int64        // when it came
	until      int64        // when its longest wait is over; 0 if only its context says
	queued     bool         // whether it is still in the queue
	ready      chan release // capacity 1, empty while it waits
}

// release is what a waiter is told when it leaves the queue.
type release struct {
	verdict verdict
	counted bool            // for admitted: whether the weight was taken
	over    bool            // for admitted: whether Shadow admitted it over the limit
	reason  spillway.Reason // for refused ones
}

// refusedWaiting is a verdict only waiters get: refused, for release.reason.
const refusedWaiting = tooHeavy + 1

// queue is a doubly linked list, first in first out. Waiters that left are kept
// for the next ones, as many as ever waited at once but at most maxSpare.
type queue struct {
	head, tail *waiter
	n          int
	spare      *waiter
	spares     int
}

const maxSpare = 1024

// Wait admits a call of weight n, and lets it wait in the queue if there is no
// room and fewer than maxWaiting callers are waiting. It returns when the permits
// are the caller's, or with the reason why they never will be: the queue is full,
// the longest wait is over, the limit fell below n, the mode or Close sent the
// caller away, or ctx is done. Whoever gets an error has left nothing behind.
func (c *Core) Wait(ctx context.Context, n, maxWaiting int) (Use, error) {
	if err := c.ready(ctx); err != nil {
		return Use{}, err
	}
	for {
		u, v := c.take(n)
		if v == full && maxWaiting > 0 {
			w, v := c.enqueue(n, maxWaiting)
			switch {
			case w != nil:
				return c.await(ctx, w, n)
			case v == refusedWaiting:
				return Use{}, c.reject(ctx, spillway.ReasonQueueFull)
			}
			continue // there is room, or there are other rules, by now
		}
		if v != admitted {
			return Use{}, c.refuse(ctx, v, n)
		}
		c.note(ctx, u)
		return u, nil
	}
}

// enqueue puts a caller into the queue. It returns no waiter if the queue is full
// (refusedWaiting), or if the word no longer says that there is no room (full).
func (c *Core) enqueue(n, maxWaiting int) (*waiter, verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue.n >= maxWaiting {
		return nil, refusedWaiting
	}
	for {
		s := c.word.Load()
		if s&(modeMask|closedBit) != 0 || uint64(n) > limitOf(s) || s&waitingBit == 0 && fits(s, uint64(n)) {
			return nil, full
		}
		if s&waitingBit != 0 || c.word.CompareAndSwap(s, s|waitingBit) {
			break
		}
	}
	w := c.queue.get()
	w.weight, w.since = uint64(n), c.now()
	if c.opts.MaxWait > 0 {
		w.until = later(w.since, c.opts.MaxWait)
	}
	c.queue.push(w)
	c.armLocked()
	c.checkLocked()
	return w, admitted
}

// await parks the caller until the core or ctx releases it.
func (c *Core) await(ctx context.Context, w *waiter, n int) (Use, error) {
	var r release
	select {
	case r = <-w.ready:
	case <-ctx.Done():
		c.mu.Lock()
		if w.queued {
			c.queue.remove(w)
			c.queue.put(w)
			c.settleLocked() // it may have stood in front of somebody who fits
			c.mu.Unlock()
			return Use{}, c.cancel(ctx)
		}
		c.mu.Unlock()
		r = <-w.ready // it was released in the same instant
	}
	waited := time.Duration(c.now() - w.since)
	weight := w.weight
	c.recycle(w)
	switch r.verdict {
	case admitted:
		// A done context admits nothing, whichever of the two came first: what was
		// granted goes back, and on to the next.
		if ctx.Err() != nil {
			if r.counted {
				c.giveBack(weight)
			}
			return Use{}, c.cancel(ctx)
		}
		if !r.counted {
			return Use{}, nil
		}
		if r.over {
			c.wouldRefuse.Add(1)
		}
		u := c.admit(weight)
		c.note(ctx, u)
		return u, nil
	case refusedWaiting:
		return Use{}, c.rejectAfter(ctx, r.reason, waited)
	default:
		return Use{}, c.refuse(ctx, r.verdict, n)
	}
}

// settleLocked does for the queue whatever the word now allows: it grants permits
// from the head on, sends away who can't be served any more, clears the waiting
// bit with the last waiter, and tells Close when the last permit is back.
func (c *Core) settleLocked() {
	for w := c.queue.head; w != nil; w = c.queue.head {
		r, ok := c.decideLocked(w)
		if !ok {
			break
		}
		c.queue.remove(w)
		w.ready <- r
	}
	if c.queue.head == nil && c.word.Load()&waitingBit != 0 {
		c.word.And(^uint64(waitingBit))
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
}

// decideLocked says what the head of the queue gets now; ok is false if it has to
// go on waiting. If it is granted permits they have been taken.
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
			w.weight = min(w.weight, useMask-useOf(s)) // as in takeSlow
		case spillway.Enforce:
			if w.weight > limitOf(s) {
				return release{verdict: refusedWaiting, reason: spillway.ReasonLimitShrunk}, true
			}
			if !fits(s, w.weight) {
				return r, false
			}
		}
		if c.word.CompareAndSwap(s, s+w.weight) {
			return release{verdict: admitted, counted: true, over: !fits(s, w.weight)}, true
		}
	}
}

// shrinkLocked sends away every waiter whose weight is above the limit, wherever
// it stands: behind a head that waits on, it could wait for ever.
func (c *Core) shrinkLocked() {
	limit := limitOf(c.word.Load())
	for w := c.queue.head; w != nil; {
		next := w.next
		if w.weight > limit {
			c.queue.remove(w)
			w.ready <- release{verdict: refusedWaiting, reason: spillway.ReasonLimitShrunk}
		}
		w = next
	}
}

// armLocked sets the timer for the first thing that time alone brings about while
// callers wait: the longest wait of the head, or the end of a ghost. There is one
// timer for all. It is moved only to an earlier time: one that comes too early
// finds nothing to do and is set anew, which is cheaper than moving it at every
// hand-off.
func (c *Core) armLocked() {
	w := c.queue.head
	if w == nil {
		return
	}
	at := w.until
	if len(c.ghosts.list) > 0 && (at == 0 || c.ghosts.list[0].until < at) {
		at = c.ghosts.list[0].until
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
	now := c.now()
	c.exorciseLocked(now)
	for w := c.queue.head; w != nil && w.until != 0 && w.until <= now; w = c.queue.head {
		// Who can be served at this very moment is served.
		r, ok := c.decideLocked(w)
		if !ok {
			r = release{verdict: refusedWaiting, reason: spillway.ReasonMaxWait}
		}
		c.queue.remove(w)
		w.ready <- r
	}
	c.settleLocked()
}

func (c *Core) recycle(w *waiter) {
	c.mu.Lock()
	c.queue.put(w)
	c.mu.Unlock()
}

func (q *queue) push(w *waiter) {
	w.prev, w.queued = q.tail, true
	if q.tail == nil {
		q.head = w
	} else {
		q.tail.next = w
	}
	q.tail = w
	q.n++
}

func (q *queue) remove(w *waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev, w.queued = nil, nil, false
	q.n--
}

// get returns a waiter that isn't in the queue, with an empty channel.
func (q *queue) get() *waiter {
	if w := q.spare; w != nil {
		q.spare, w.next = w.next, nil
		q.spares--
		return w
	}
	return &waiter{ready: make(chan release, 1)}
}

// put keeps a waiter that has left for the next one.
func (q *queue) put(w *waiter) {
	if q.spares >= maxSpare {
		return
	}
	w.weight, w.since, w.until = 0, 0, 0
	w.next, q.spare = q.spare, w
	q.spares++
}
