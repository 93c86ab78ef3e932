package adaptive

import (
	"time"

	"github.com/spillway-go/spillway"
)

// SetMode changes what is done with the verdict. Enforce begins anew, from a low limit;
// it also ends a fallback. Shadow and Off give the static limit back. Another mode gives
// a *spillway.ConfigError and changes nothing.
func (c *Controller) SetMode(m spillway.Mode) error {
	if !m.Valid() || m == spillway.RefuseAll {
		e := &spillway.ConfigError{Component: "adaptive " + c.target.Name()}
		e.Add("Mode", m, "must be enforce, shadow or off")
		return e
	}
	return c.operate(func() {
		c.mode = m
		c.restartLocked()
	})
}

// SetTrusted says whether the limit may leave the neighbourhood of the static one.
func (c *Controller) SetTrusted(trusted bool) error {
	return c.operate(func() {
		c.trusted = trusted
		c.rule = c.cfg.rule(float64(c.static), trusted)
		c.state.limit = min(max(c.state.limit, c.rule.low), c.rule.high)
	})
}

// Stop gives the target its static limit back and measures it no more.
func (c *Controller) Stop() error {
	err := c.operate(func() { c.stopped = true })
	_ = c.target.SetMaxWeight(0)
	_ = c.target.SetMeter(nil)
	return err
}

// operate makes a change that an operator asked for.
func (c *Controller) operate(f func()) error {
	c.mu.Lock()
	ch := Change{At: c.opened, Cause: Operator, From: c.state.limit}
	f()
	ch.To, ch.Pace, ch.Shadow = c.state.limit, c.state.gap(), c.mode == spillway.Shadow
	if c.mode == spillway.Off || c.stopped {
		ch.To, ch.Pace = float64(c.static), time.Duration(0)
	}
	err := c.applyLocked()
	c.keepLocked(ch)
	c.mu.Unlock()
	c.tell(ch)
	return err
}
