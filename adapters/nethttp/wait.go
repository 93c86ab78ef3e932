package nethttp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway/internal/permit"
)

// waitContext bounds a wait for a permit. It is its parent with an earlier end, which it
// doesn't show as its deadline: a lane that predicts would take it for the time by which the
// request has to be served. It sets a timer only if somebody asks for Done, which nobody does
// who is admitted at once: so it costs one small allocation instead of four and a timer.
type waitContext struct {
	context.Context // the request's

	at    time.Time // when the wait is over
	cause error     // what context.Cause says then
	ended atomic.Bool
	inner atomic.Pointer[waitInner] // what it has become; nil until then
}

type waitInner struct {
	context.Context
	cancel context.CancelFunc
}

// Done implements context.Context.
func (c *waitContext) Done() <-chan struct{} { return c.become().Done() }

// Err implements context.Context. It makes the inner context before it says that time
// is up, because Done and context.Cause have to agree with it from then on.
func (c *waitContext) Err() error {
	in := c.inner.Load()
	if in == nil {
		if err := c.Context.Err(); err != nil || time.Now().Before(c.at) {
			return err
		}
		in = c.become()
	}
	return in.Err()
}

// Value implements context.Context. The standard library finds the inner context
// through it, so contexts derived from this one need no goroutine.
func (c *waitContext) Value(key any) any {
	if key == (permit.BoundedKey{}) {
		return true
	}
	if in := c.inner.Load(); in != nil {
		return in.Value(key)
	}
	return c.Context.Value(key)
}

// become makes the inner context, once. Whoever ends the wait sets ended first and
// looks for inner then, and who makes inner looks for ended after that: one of the two
// sees the other, and cancels.
func (c *waitContext) become() *waitInner {
	if in := c.inner.Load(); in != nil {
		return in
	}
	ctx, cancel := context.WithDeadlineCause(c.Context, c.at, c.cause)
	in := &waitInner{ctx, cancel}
	if !c.inner.CompareAndSwap(nil, in) {
		cancel()
		return c.inner.Load()
	}
	if c.ended.Load() {
		cancel()
	}
	return in
}

// end frees the timer, if there is one.
func (c *waitContext) end() {
	c.ended.Store(true)
	if in := c.inner.Load(); in != nil {
		in.cancel()
	}
}
