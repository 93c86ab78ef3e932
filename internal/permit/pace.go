package permit

import (
	"fmt"
	"math"
	"time"
)

// A limit below one is a pace: one permit, and a gap between its coming back and its
// being given out again. While the paced bit is set, gap is how long that is, and landed
// is when the last permit came back: never while a call is under way. The due time isn't
// kept, because a gap may be longer than the clock can count, and may be changed.
//
// In mode Enforce a paced call is admitted under the lock, and landed is changed under it
// too. So whoever comes between a release and its settle finds what was before the
// release, and there it is never.
//
// Invariant: while the paced bit is set an admission in mode Enforce finds use = 0.
// Invariant: while the paced bit is set in mode Enforce, and landed isn't never, nothing
// but ghosts is in use, seen under the lock.
const never = math.MaxInt64

// SetPace sets the gap; with 0 calls aren't paced.
func (c *Core) SetPace(gap time.Duration) error {
	if gap < 0 {
		return c.fault("Pace", gap, "must not be negative")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	from := time.Duration(c.gap.Swap(int64(gap)))
	if from == gap {
		return nil
	}
	c.rejections.Store(c.newRejections(c.Limit(), c.flow.hint)) // first, as in SetLimit
	switch {
	case gap == 0:
		c.word.And(^uint64(pacedBit))
	case from == 0:
		c.word.Or(pacedBit)
		c.landLocked()
	}
	c.lookLocked()
	c.settleLocked()
	return nil
}

// room reports whether w permits are there for who comes now. If calls are paced it
// may not be due yet all the same.
func room(s, w uint64) bool {
	return s&waitingBit == 0 && fits(s, w) && (s&pacedBit == 0 || useOf(s) == 0)
}

// isDue reports whether the next paced admission may be made.
func (c *Core) isDue() bool {
	landed := c.landed.Load()
	return landed != never && c.now()-landed >= c.gap.Load()
}

// launch admits a paced call of weight w on the word s, in which there is room for it.
// again says that things have changed meanwhile.
func (c *Core) launch(s, w uint64) (v verdict, again bool) {
	if !c.isDue() {
		return paced, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isDue() || !c.word.CompareAndSwap(s, s+w) {
		return paced, true
	}
	c.landed.Store(never)
	return admitted, false
}

// landLocked has the gap begin now, unless calls are under way: then the last of them
// does it. Ghosts aren't: the gap runs while one has the permit.
func (c *Core) landLocked() {
	landed := int64(never)
	if useOf(c.word.Load()) == c.ghosts.weight {
		landed = c.now() // which is after whatever came back to the word
	}
	c.landed.Store(landed)
}

// dueAt returns when time alone will let the next caller in; 0 if it won't.
func (c *Core) dueAt() int64 {
	landed := c.landed.Load()
	if s := c.word.Load(); s&pacedBit == 0 || useOf(s) != 0 || landed == never {
		return 0
	}
	return later(landed, time.Duration(c.gap.Load()))
}

// SetMaxWeight sets up to which weight a call that is heavier than the limit may run
// all the same, when nothing else is under way: it then counts as the whole limit.
// With 0 it never may. Whoever waits and is too heavy now is sent away: to raise the limit
// and take this back, SetLimit comes first; to lower the limit and allow this, it comes
// last.
func (c *Core) SetMaxWeight(n int) error {
	if n < 0 || n > MaxLimit {
		return c.fault("MaxWeight", n, fmt.Sprintf("must be from 0 to %d", MaxLimit))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.maxWeight.Store(uint64(n))
	c.lookLocked()
	c.reweighLocked()
	c.settleLocked()
	return nil
}

// weigh returns what a call of weight n counts as; ok is false if it is too heavy.
func (c *Core) weigh(s, n uint64) (w uint64, ok bool) {
	limit := limitOf(s)
	if n-1 < limit {
		return n, true
	}
	return limit, n != 0 && n <= c.maxWeight.Load()
}
