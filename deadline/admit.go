package deadline

import (
	"context"

	"github.com/spillway-go/spillway"
)

// order is a job that comes, before it is known whether it gets in. Its slot's since is
// the time.
type order struct {
	slot
	weight   int  // the items, which may be any number
	waits    bool // whether its caller may be parked
	nested   bool // whether its caller is a job of the same executor
	canceled bool // whether ctx is done already
	bad      error
}

// looked is what a context says.
type looked struct {
	done     <-chan struct{}
	deadline int64
	tight    bool // whether it has a deadline
	canceled bool
}

// look asks an order's context what there is to ask, before the lock is taken. What
// doesn't change isn't asked again of one whose job some worker ran last.
func (c *core) look(ctx context.Context) (l looked) {
	l.done = ctx.Done()
	if x := c.seen.Load(); x.of(ctx, l.done) {
		return looked{l.done, x.until, true, ctx.Err() != nil}
	}
	if l.done != nil {
		l.canceled = ctx.Err() != nil
	}
	if at, ok := ctx.Deadline(); ok {
		l.deadline, l.tight = int64(at.Sub(c.base)), true
	}
	return l
}

// order makes an order of Go.
func (l looked) order(ctx context.Context, t task, items int, bad error) *order {
	return &order{
		slot:   slot{ctx: ctx, done: l.done, task: t, deadline: l.deadline, tight: l.tight},
		weight: items, canceled: l.canceled, bad: bad,
	}
}

// timeLocked notes when an order came, and what its deadline is. While work is brisk, most
// of Go take the last reading of the clock for the time: see clock.go. Such a time is rough:
// it is good enough to see that a context's deadline is neither near nor too far ahead, and
// is used for nothing else.
func (c *core) timeLocked(o *order) {
	left := o.deadline - c.clock
	o.rough = c.brisk && o.kind == kindGo && o.tight && c.submitted%readEvery != 0 && c.share == 0 &&
		left >= farAhead && left <= c.longest && c.guessing.Load()
	if o.rough {
		o.since = c.clock
		return
	}
	o.since = c.now()
	c.tickedLocked(o.since)
	if c.ttl == 0 {
		if !o.tight && o.bad == nil {
			o.bad = ErrNoDeadline
		}
		return
	}
	if last := o.since + int64(c.ttl); !o.tight || o.deadline > last {
		o.deadline, o.tight = last, false
	}
}

// judgeLocked decides about an order, and counts it unless it gets in.
func (c *core) judgeLocked(o *order, out *fallout) verdict {
	c.submitted++
	c.timeLocked(o)
	v := c.decideLocked(o, out)
	if v != admitted && v != parkIt {
		c.countLocked(v)
		if o.kind == kindGo {
			c.count.lostItems += uint64(max(o.weight, 0))
		}
		c.checkLocked()
	}
	return v
}

func (c *core) decideLocked(o *order, out *fallout) verdict {
	switch {
	case c.closing:
		return closedBefore
	case o.bad != nil || o.weight < 1 || o.weight > MaxItems:
		return invalid
	case c.mode == spillway.RefuseAll:
		return refusedMode
	case o.since >= o.deadline:
		return expired
	case o.canceled:
		return canceled
	}
	v := c.foreseeLocked(o)
	if v != admitted || !c.hasRoomLocked() {
		c.freshenLocked(o.since, out) // perhaps it is only the dead that stand in its way
		v = c.foreseeLocked(o)
	}
	if v != admitted {
		if c.mode == spillway.Enforce {
			return v
		}
		c.count.wouldRefuse++
	}
	if o.nested && !c.mayNestLocked(o) {
		o.bad = &spillway.NestedError{Component: component, Name: c.name}
		return invalid
	}
	switch {
	case c.hasRoomLocked():
		return admitted
	case c.overflow == DropOldest && c.queue.n > 0:
		c.leaveLocked(c.pullLocked(c.queue.head), dropped, o.since, out)
		return admitted
	case o.waits && c.parked.n < c.parkedCap:
		return parkIt
	}
	return refusedFull
}

// mayNestLocked reports whether a job's own job gets in without that the first waits
// for a worker while it holds one, or for room that it might take itself to make.
func (c *core) mayNestLocked(o *order) bool {
	if o.kind == kindDo {
		return c.freeLocked() > 0
	}
	return c.hasRoomLocked() || c.parkedCap == 0
}

// goLocked decides about an order of Go, and unlocks.
func (c *core) goLocked(o *order) error {
	var out fallout
	v := c.judgeLocked(o, &out)
	if v == admitted {
		c.placeLocked(o, nil, v, &out)
	}
	c.mu.Unlock()
	c.fire(&out)
	if v != admitted {
		return c.refusal(o, v)
	}
	return nil
}

// placeLocked puts in what was admitted or is to be parked: an order of Go alone, one of
// another kind with its job.
func (c *core) placeLocked(o *order, j *job, v verdict, out *fallout) {
	o.items = uint32(o.weight)
	if j != nil {
		j.slot = o.slot
		j.ended, j.watched, j.panicked = 0, false, false
		if o.kind == kindDo && j.wake == nil {
			j.wake = make(chan bool, 1)
		}
	}
	if v == parkIt {
		j.state = parked
		if o.kind == kindFuture {
			j.awaited, j.wake = true, make(chan bool, 1)
		}
		c.parked.push(j)
		c.watchLocked(j)
		c.armLocked()
		c.checkLocked()
		return
	}
	c.enqueueLocked(&o.slot, j)
	c.wakeLocked(out)
	c.checkLocked()
}

// refusal makes the error of an order that didn't get in, after the unlock.
func (c *core) refusal(o *order, v verdict) error {
	if v == invalid {
		if o.bad == nil {
			return &spillway.WeightError{Component: component, Name: c.name, Weight: o.weight, Limit: MaxItems}
		}
		return o.bad
	}
	if v == expired {
		c.tellRejected(o.ctx, c.rejections[v])
		return c.expiredErr
	}
	if r := c.rejections[v]; r != nil {
		c.tellRejected(o.ctx, r)
		return r
	}
	return c.errorOf(o.ctx, v, 0)
}
