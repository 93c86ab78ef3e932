package deadline

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

func (c *core) close(ctx context.Context) error {
	if _, ours := c.here(); ours || c.isNested(ctx) {
		return &spillway.NestedError{Component: component, Name: c.name}
	}
	draining := time.NewTimer(time.Duration(c.beginClose() - c.now()))
	defer draining.Stop()
	select {
	case <-c.gone:
		return c.report(nil)
	case <-draining.C:
	case <-ctx.Done():
	}
	c.cutOffRest()
	if !isClosed(c.gone) {
		select {
		case <-c.gone:
		case <-ctx.Done():
			c.giveUp()
			return c.report(cause.Of(ctx))
		}
	}
	return c.report(nil)
}

// beginClose closes the entrance, once, and says when the drain is over.
func (c *core) beginClose() (cutAt int64) {
	var out fallout
	now := c.now()
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		c.openLocked()
		c.cutAt = now + int64(c.drain)
		c.clearParkedLocked(closedOut, now, &out)
		c.dismissLocked(c.live, &out)
		out.gone = c.isOverLocked() // without workers nothing is in the queue either
	}
	cutAt = c.cutAt
	c.checkLocked()
	c.mu.Unlock()
	c.fire(&out)
	return cutAt
}

// cutOffRest cancels what was accepted and isn't done, once. Nothing is started
// afterwards. The sink is told on a goroutine of its own: it may take longer than Close may.
func (c *core) cutOffRest() {
	var out fallout
	now := c.now()
	c.mu.Lock()
	if c.cutKnown {
		c.mu.Unlock()
		return
	}
	c.cutKnown = true
	c.cut.Store(true)
	c.unstarted, c.cutOff = c.queue.n, c.busy
	for c.queue.n > 0 {
		c.leaveLocked(c.pullLocked(c.queue.head), closedOut, now, &out)
	}
	var ends []func(error)
	for c.contexts != nil {
		x := c.contexts
		ends = append(ends, x.inner.Load().cancel)
		c.unlinkLocked(x)
	}
	c.disarmLocked()
	tells := out.dead != nil && c.tells
	if tells {
		c.tellers++
	}
	c.checkLocked()
	c.mu.Unlock()
	for _, end := range ends {
		end(c.closedErr)
	}
	calls := c.answer(out.dead)
	out.dead = nil
	c.fire(&out)
	if tells {
		go c.tellAside(func() { callAll(calls) })
	}
}

// giveUp resolves the futures of jobs that still run: their operations can't be
// stopped, but nobody shall have to wait for them.
func (c *core) giveUp() {
	var ends []fallout
	c.mu.Lock()
	for w := c.workers; w != nil; w = w.after {
		if j := w.job; j != nil && j.kind == kindFuture && j.state == running {
			j.orphaned, j.state = true, settled
			ends = append(ends, fallout{over: j.over, stop: j.stop})
			j.stop = nil
		}
	}
	c.mu.Unlock()
	for i := range ends {
		ends[i].end()
	}
}

// report makes the error of Close, if there is something to report.
func (c *core) report(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &CloseError{Name: c.name, Unstarted: c.unstarted, Cut: c.cutOff, Running: c.busy, Cause: cause}
	if e.Unstarted == 0 && e.Cut == 0 && cause == nil {
		return nil
	}
	return e
}
