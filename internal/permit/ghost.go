package permit

import (
	"math"
	"slices"
	"time"
)

// A ghost is a permit whose caller has gone while the backend may still be at
// work. It stays in use until its time is over; no timer is set for that unless
// somebody waits in the queue. Whoever finds no room looks whether a ghost's time
// is over.
type ghost struct {
	until int64 // nanoseconds on the core's clock
	token uint64
}

// ghosts is sorted by until. Ghosts of one timeout arrive in order, so inserting
// is appending in nearly all cases.
type ghosts struct {
	list   []ghost
	weight uint64 // permits held by ghosts
	total  uint64 // how many there have been
}

// haunt keeps the permits of a token whose call has ended in use for d.
func (c *Core) haunt(token, weight uint64, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flow.clock = c.now()
	c.ghosts.add(ghost{until: later(c.flow.clock, d), token: token}, weight)
	c.nextGhost.Store(c.ghosts.list[0].until)
	c.word.Or(ghostsBit)
	if c.word.Load()&pacedBit != 0 {
		c.landLocked()
	}
	c.settleLocked()
}

// later is the time d after now; the end of time if the clock can't count so far.
func later(now int64, d time.Duration) int64 {
	if t := now + int64(d); t >= now {
		return t
	}
	return math.MaxInt64
}

// add sorts g in behind its equals.
func (g *ghosts) add(e ghost, weight uint64) {
	at, _ := slices.BinarySearchFunc(g.list, e.until, func(a ghost, until int64) int {
		if a.until <= until {
			return -1
		}
		return 1
	})
	g.list = slices.Insert(g.list, at, e)
	g.weight += weight
	g.total++
}

// reap gives back the permits of ghosts whose time is over, and reports whether
// there were any. It costs a clock reading if there can't be.
func (c *Core) reap() bool {
	if c.now() < c.nextGhost.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.exorciseLocked()
	if n > 0 {
		c.settleLocked()
	}
	return n > 0
}

// exorciseLocked reads the clock, takes the permits of all ghosts that end by now off
// the word and returns how many ghosts there were. The caller must settle.
func (c *Core) exorciseLocked() int {
	c.flow.clock = c.now()
	g, now := &c.ghosts, c.flow.clock
	n := 0
	var back uint64
	for n < len(g.list) && g.list[n].until <= now {
		s, state := c.slots.Find(g.list[n].token)
		back += state & slotWeight
		s.Swap(state, 0) // nobody else changes a ghost's slot
		n++
	}
	if n == 0 {
		return 0
	}
	if c.watches && c.queue.n > 0 {
		c.flow.released(back, now)
	}
	g.list = slices.Delete(g.list, 0, n)
	g.weight -= back
	// The room first: who finds none, and no ghosts either, is refused.
	c.word.Add(-back)
	if len(g.list) == 0 {
		g.list = nil
		c.word.And(^uint64(ghostsBit))
	} else {
		c.nextGhost.Store(g.list[0].until)
	}
	return n
}
