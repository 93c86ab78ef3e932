package adaptive

import (
	"time"

	"github.com/spillway-go/spillway"
)

// SetMode changes what is done with the verdict. Enforce starts with a low limit again
// and keeps what was learned; it also ends a fallback. Shadow and Off give the static
// limit back. Another mode gives a *spillway.ConfigError and changes nothing.
func (c *Controller) SetMode(m spillway.Mode) error {
	if !m.Valid() || m == spillway.RefuseAll {
		return fault(c.name, "Mode", m, knownModes)
	}
	return c.operate(func() {
		c.mode = m
		c.restartLocked()
	})
}

// SetTrusted says whether the limit may leave the neighbourhood of the static one. It fails
// only after Stop.
func (c *Controller) SetTrusted(trusted bool) error {
	return c.operate(func() {
		c.trusted = trusted
		c.boundLocked()
	})
}

// SetStatic changes the static limit, to which the controller goes back, and from which
// an untrusted limit keeps its distance. It must be from Min to Max, or there is a
// *spillway.ConfigError and nothing changes.
func (c *Controller) SetStatic(n int) error {
	if c.guard != nil && (float64(n) < c.cfg.Min || n > c.cfg.Max) {
		return fault(c.name, "Limit", n, c.cfg.bounds())
	}
	return c.operate(func() {
		c.static = n
		c.boundLocked()
	})
}

// boundLocked brings the limit within the bounds that are in force now.
func (c *Controller) boundLocked() {
	c.rule = c.cfg.rule(c.static, c.trusted)
	c.state.limit = min(max(c.state.limit, c.rule.low), c.rule.high)
}

// Stop gives the guard its static limit back, and lets go of it: it isn't measured any
// more, calls aren't paced, and none may be heavier than the limit. It waits for nobody:
// if another goroutine is just telling the guard of a change, which takes as long as the
// guard's hooks, that one lets go of it, and Stats says Stopped once it has; don't Drive
// the guard anew before. Every later call of a method that would change something gives
// a *spillway.ClosedError.
func (c *Controller) Stop() error {
	return c.operate(func() { c.stopped = true })
}

// operate makes a change that an operator asked for. If the guard is being told of
// another, which takes microseconds, it is told of this one by whoever does that.
func (c *Controller) operate(change func()) error {
	if c.guard == nil {
		return &spillway.ClosedError{Component: "adaptive"}
	}
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return &spillway.ClosedError{Component: "adaptive", Name: c.guard.Name()}
	}
	from := c.inForceLocked()
	change()
	ch := c.changeLocked(from)
	c.noticeLocked(ch)
	c.mu.Unlock()
	err := c.obey()
	c.report(ch)
	return err
}

// changeLocked is the operator's change of the limit that was in force; none, if that is
// the one that still is.
func (c *Controller) changeLocked(from float64) Change {
	ch := Change{Name: c.name, At: time.Now(), Cause: Operator, From: from, To: c.inForceLocked()}
	if c.mode == spillway.Enforce && !c.stopped && !c.broken {
		ch.Pace = c.state.gap()
	}
	return ch
}

// inForceLocked is the limit that the guard has.
func (c *Controller) inForceLocked() float64 {
	if c.mode != spillway.Enforce || c.broken || c.stopped {
		return float64(c.static)
	}
	return c.state.limit
}

// report calls the hooks, if the limit was changed.
func (c *Controller) report(ch Change) {
	if ch.To == ch.From && ch.Cause == Operator {
		return
	}
	for _, h := range c.cfg.Hooks {
		if h.Changed != nil {
			quietly(h.Changed, ch)
		}
	}
}

func quietly(f func(Change), ch Change) {
	defer func() { _ = recover() }()
	f(ch)
}
