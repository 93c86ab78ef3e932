package permit

import (
	"fmt"
	"math"
	"time"

	"github.com/spillway-go/spillway"
)

// A limit below one is a pace: one permit, and a gap between its coming back and its
// being given out again. While the paced bit is set, gap is how long that is, and due
// is when the next admission may be made; never while a paced call is under way.
//
// Invariant: while the paced bit is set an admission in mode Enforce finds use = 0.
const never = math.MaxInt64

// SetPace sets the gap; with 0 calls aren't paced.
func (c *Core) SetPace(gap time.Duration) error {
	if gap < 0 {
		e := &spillway.ConfigError{Component: c.opts.Component + " " + c.opts.Name}
		e.Add("Pace", gap, "must not be negative")
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.gap.Swap(int64(gap))
	if from == int64(gap) {
		return nil
	}
	switch due := c.due.Load(); {
	case gap == 0:
		c.word.And(^uint64(pacedBit))
	case from == 0:
		c.due.Store(later(c.now(), gap))
		c.word.Or(pacedBit)
	case due != never:
		c.due.Store(later(due-from, gap))
	}
	c.rejections.Store(c.newRejections(c.Limit(), c.flow.hint))
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
	due := c.due.Load()
	return due != never && c.now() >= due
}

// launch notes an admission that was made on the word s. Nobody else is admitted
// meanwhile: the permit is out.
func (c *Core) launch(s uint64) {
	if s&pacedBit != 0 {
		c.due.Store(never)
	}
}

// landed notes that a permit of a paced core came back.
func (c *Core) landed(now int64) { c.due.Store(later(now, time.Duration(c.gap.Load()))) }

// dueAt returns when time alone will let the next caller in; 0 if it won't.
func (c *Core) dueAt() int64 {
	due := c.due.Load()
	if s := c.word.Load(); s&pacedBit == 0 || useOf(s) != 0 || due == never {
		return 0
	}
	return due
}

// SetMaxWeight sets up to which weight a call that is heavier than the limit may run
// all the same, when nothing else is under way: it then counts as the whole limit.
// With 0 it never may.
func (c *Core) SetMaxWeight(n int) error {
	if n < 0 || n > MaxLimit {
		e := &spillway.ConfigError{Component: c.opts.Component + " " + c.opts.Name}
		e.Add("MaxWeight", n, fmt.Sprintf("must be from 0 to %d", MaxLimit))
		return e
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
