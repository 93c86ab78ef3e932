package deadline

import (
	"fmt"

	"github.com/spillway-go/spillway"
)

// Name returns the executor's name.
func (e *Executor[T]) Name() string {
	if e.core == nil {
		return ""
	}
	return e.core.name
}

// SetWorkers changes how many jobs run at once, from 1 to MaxWorkers. More workers
// take waiting jobs, and make room for parked callers, at once. Fewer let what runs
// run, and what is in the queue stay. Another number gives a *spillway.ConfigError,
// and nothing has changed. It never blocks, and on a closed executor it changes only
// how fast the rest is drained.
func (e *Executor[T]) SetWorkers(n int) error {
	if e.core == nil {
		return errZero
	}
	if n < 1 || n > MaxWorkers {
		err := &spillway.ConfigError{Component: component, Name: e.core.name}
		err.Add("Workers", n, fmt.Sprintf("must be from 1 to %d", MaxWorkers))
		return err
	}
	e.core.setWorkers(n)
	return nil
}

func (c *core) setWorkers(n int) {
	var out fallout
	c.mu.Lock()
	from := c.target
	c.target = n
	if n < from {
		c.dismissLocked(c.live-c.target, &out)
	}
	c.admitParkedLocked(&out)
	c.checkLocked()
	c.mu.Unlock()
	c.fire(&out)
	c.tellWorkers(from, n)
}

// dismissLocked wakes so many sleeping workers, who then see that they have to go.
func (c *core) dismissLocked(n int, out *fallout) {
	for ; n > 0 && c.idle != nil; n-- {
		w := c.idle
		c.idle, w.next = w.next, out.woken
		out.woken = w
		c.waking++
	}
}

// SetMode changes the mode. RefuseAll refuses parked callers too; what is in the
// queue stays. An unknown mode gives a *spillway.ConfigError, and nothing has
// changed. It never blocks.
func (e *Executor[T]) SetMode(m spillway.Mode) error {
	if e.core == nil {
		return errZero
	}
	if !m.Valid() {
		err := &spillway.ConfigError{Component: component, Name: e.core.name}
		err.Add("Mode", m, "must be Enforce, Shadow, Off or RefuseAll")
		return err
	}
	e.core.setMode(m)
	return nil
}

func (c *core) setMode(m spillway.Mode) {
	var out fallout
	now := c.now()
	c.mu.Lock()
	from := c.mode
	c.mode = m
	c.openLocked()
	if m == spillway.RefuseAll {
		c.clearParkedLocked(refusedMode, now, &out)
	}
	c.checkLocked()
	c.mu.Unlock()
	c.fire(&out)
	c.tellMode(from, m)
}

// clearParkedLocked makes every parked job leave.
func (c *core) clearParkedLocked(v verdict, now int64, out *fallout) {
	for j := c.parked.head; j != nil; j = c.parked.head {
		c.parked.remove(j)
		c.leaveLocked(j, v, now, out)
	}
}
