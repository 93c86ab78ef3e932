package permit

import (
	"context"
	"fmt"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// Limit returns the limit in force.
func (c *Core) Limit() int { return int(limitOf(c.word.Load())) }

// Mode returns the mode in force.
func (c *Core) Mode() spillway.Mode { return modeOf(c.word.Load()) }

// SetLimit changes the limit. Raising it admits whom it now has room for; lowering
// it takes nothing away from who holds a permit, and sends away waiters that are
// now too heavy.
func (c *Core) SetLimit(n int) error {
	if n < 1 || n > MaxLimit {
		return c.fault("Limit", n, limitRange())
	}
	var from int
	c.mu.Lock()
	// The errors first: nobody may be refused under the new limit with an error
	// that names the old one.
	c.rejections.Store(c.newRejections(n, c.flow.hint))
	for {
		s := c.word.Load()
		from = int(limitOf(s))
		if c.word.CompareAndSwap(s, withLimit(s, n)) {
			break
		}
	}
	switch {
	case n > from:
		c.raised.Add(1)
	case n < from:
		c.lowered.Add(1)
	}
	c.lookLocked()
	c.reweighLocked()
	c.settleLocked()
	c.mu.Unlock()
	c.slots.Reserve(n)
	c.tellLimit(from, n)
	return nil
}

// SetMode changes the mode. Off and Shadow admit everybody who waits, RefuseAll
// sends them away.
func (c *Core) SetMode(m spillway.Mode) error {
	if !m.Valid() {
		return c.fault("Mode", m, knownModes)
	}
	var from spillway.Mode
	c.mu.Lock()
	for {
		s := c.word.Load()
		from = modeOf(s)
		if c.word.CompareAndSwap(s, withMode(s, m)) {
			break
		}
	}
	if from != m && c.word.Load()&pacedBit != 0 {
		c.landLocked() // what the mode before admitted wasn't paced, or not even counted
	}
	c.lookLocked()
	c.settleLocked()
	c.mu.Unlock()
	c.tellMode(from, m)
	return nil
}

// Shut refuses all further calls and sends away who waits, without waiting for
// anybody.
func (c *Core) Shut() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drained == nil {
		c.drained = make(chan struct{})
	}
	c.word.Or(closedBit)
	c.lookLocked()
	c.settleLocked()
	return c.drained
}

// Close refuses all further calls, sends away who waits, and returns when the last
// permit is back or ctx is done. Permits that are out stay valid. Ghosts are not
// waited for: nobody is going to release them. It may be called any number of
// times, from anywhere.
func (c *Core) Close(ctx context.Context) error {
	select {
	case <-c.Shut():
	case <-ctx.Done():
		c.mu.Lock()
		out := useOf(c.word.Load()) - c.ghosts.weight
		c.mu.Unlock()
		if out > 0 { // else the last one came back in the same instant
			return fmt.Errorf("%s %q: closed with %d permits still in use: %w",
				c.opts.Component, c.opts.Name, out, cause.Of(ctx))
		}
	}
	return nil
}

// Name returns the component's name.
func (c *Core) Name() string { return c.opts.Name }
