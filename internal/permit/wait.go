package permit

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
)

// waitedSamples is how many times as many of the calls that have waited are timed, unless
// a meter is there, which is told how many there are: the prediction lives on them, and a
// call that has waited doesn't notice two more readings of the clock. A power of two.
const waitedSamples = 4

// Wait admits a call of weight n, and lets it wait in the queue if there is no
// room and fewer than maxWaiting callers are waiting. It returns when the permits
// are the caller's, or with the reason why they never will be: the queue is full,
// the longest wait is over, the limit fell below n, the mode or Close sent the
// caller away, or ctx is done. Whoever gets an error has left nothing behind.
func (c *Core) Wait(ctx context.Context, n, maxWaiting int) (Use, error) {
	if err := c.ready(ctx); err != nil {
		return Use{}, err
	}
	class := c.classOf(ctx)
	for {
		u, v := c.take(ctx, n)
		if (v == full || v == paced) && maxWaiting > 0 {
			done := ctx.Done() // the caller's code: not with a place in the queue
			w, r := c.enqueue(ctx, n, maxWaiting)
			switch {
			case w != nil:
				c.tellFull(w)
				u, waited, err := c.await(ctx, done, class, w, n)
				c.tellWaited(ctx, u, waited, err)
				return u, err
			case r.verdict == refusedWaiting:
				return Use{}, c.reject(ctx, r.reason)
			}
			continue // there is room, or there are other rules, by now
		}
		if v != admitted {
			return Use{}, c.refuse(ctx, v, n)
		}
		c.note(class, u)
		return u, nil
	}
}

// enqueue puts a caller into the queue. It returns no waiter if the caller is
// refused (refusedWaiting, with the reason), or if the word no longer says that
// there is no room (full).
func (c *Core) enqueue(ctx context.Context, n, maxWaiting int) (*waiter, release) {
	var deadline int64
	if c.opts.Predict {
		deadline = c.deadlineOf(ctx) // the caller's code: not under the lock
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.flow.clock = now
	if c.queue.n >= maxWaiting {
		c.hintLocked()
		return nil, release{verdict: refusedWaiting, reason: spillway.ReasonQueueFull}
	}
	var takes uint64
	for {
		s := c.word.Load()
		var ok bool
		takes, ok = c.weigh(s, uint64(n))
		free := room(s, takes) && (s&pacedBit == 0 || c.isDue())
		if s&(modeMask|closedBit) != 0 || !ok || free {
			return nil, release{verdict: full}
		}
		if c.opts.Predict && c.hopelessLocked(takes, deadline, now) {
			c.hintLocked()
			return nil, release{verdict: refusedWaiting, reason: spillway.ReasonPredicted}
		}
		if s&waitingBit != 0 || c.word.CompareAndSwap(s, s|waitingBit) {
			break
		}
	}
	if c.queue.n == 0 {
		c.flow.begin(now)
	}
	w := c.queue.get()
	w.weight, w.takes, w.since, w.deadline = uint64(n), takes, now, deadline
	if c.opts.MaxWait > 0 {
		w.until = later(w.since, c.opts.MaxWait)
	}
	c.queue.push(w)
	if c.opts.Newest {
		c.settleLocked() // the newest is next, and may fit where an older one doesn't
		return w, release{}
	}
	c.armLocked()
	c.checkLocked()
	return w, release{}
}

// await parks the caller until the core or ctx, whose Done is done, releases it, and also
// returns how long that took.
func (c *Core) await(ctx context.Context, done <-chan struct{}, class spillway.Class, w *waiter, n int) (u Use, waited time.Duration, err error) {
	var r release
	select {
	case r = <-w.ready:
	case <-done:
		if waited, ok := c.withdraw(w); ok {
			return Use{}, waited, c.giveUp(ctx, waited)
		}
		r = <-w.ready // it was released in the same instant
	}
	waited = time.Duration(c.now() - w.since)
	c.wait.Record(waited)
	takes := w.takes
	c.recycle(w)
	switch r.verdict {
	case admitted:
		u, err = c.accept(ctx, class, takes, waited, r)
		return u, waited, err
	case refusedWaiting:
		return Use{}, waited, c.rejectAfter(ctx, r.reason, waited)
	default:
		return Use{}, waited, c.refuse(ctx, r.verdict, n)
	}
}

// withdraw takes a waiter who gives up out of the queue, and returns how long he has
// waited. It is false if the waiter was released already.
func (c *Core) withdraw(w *waiter) (waited time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.queued {
		return 0, false
	}
	c.flow.clock = c.now()
	waited = time.Duration(c.flow.clock - w.since)
	c.wait.Record(waited)
	c.queue.remove(w)
	c.queue.put(w)
	c.settleLocked() // it may have stood in front of somebody who fits
	return waited, true
}

// accept turns what a waiter was granted into a Use. A done context admits nothing,
// whichever of the two came first: then the grant goes back, and on to the next; and so
// it does if the context, which is the caller's code, panics when it is asked.
func (c *Core) accept(ctx context.Context, class spillway.Class, weight uint64, waited time.Duration, r release) (u Use, err error) {
	accepted := false
	defer func() {
		if r.counted && !accepted {
			c.giveBack(weight)
		}
	}()
	if ctx.Err() != nil {
		return Use{}, c.giveUp(ctx, waited)
	}
	accepted = true
	if !r.counted {
		return Use{}, nil
	}
	if r.over {
		c.wouldRefuse.Add(1)
	}
	sampled := c.sampled.Load()
	if c.meter.Load() == nil {
		sampled /= waitedSamples
	}
	u = c.admit(ctx, weight, sampled)
	c.note(class, u)
	return u, nil
}

// tellFull tells the meter that a caller has come to wait. Should that end the goroutine,
// the caller gives up his place, or what he was granted in it meanwhile.
func (c *Core) tellFull(w *waiter) {
	m := c.meter.Load()
	if m == nil {
		return
	}
	told := false
	defer func() {
		if !told {
			c.desert(w)
		}
	}()
	m.full(w.since)
	told = true
}

// desert is for a waiter whose caller won't be there for the answer. It counts as a call
// that was given up.
func (c *Core) desert(w *waiter) {
	c.canceled.Add(1)
	if _, ok := c.withdraw(w); ok {
		return
	}
	r := <-w.ready
	c.wait.Record(time.Duration(c.now() - w.since))
	takes := w.takes
	c.recycle(w)
	if r.counted {
		c.giveBack(takes)
	}
}

func (c *Core) recycle(w *waiter) {
	c.mu.Lock()
	c.queue.put(w)
	c.mu.Unlock()
}
