package lab

import (
	"context"
	"sync"
	"time"
)

// callContext is a context with a deadline that becomes one of the standard library when somebody
// needs more of it than the deadline. Most of the calls of an overload are refused at once; half of
// what the lab does would be to make and stop their timers.
type callContext struct {
	parent   context.Context
	deadline time.Time

	mu     sync.Mutex
	real   context.Context // nil until it is needed
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.resolve().Done() }

// Err implements context.Context.
func (c *callContext) Err() error {
	c.mu.Lock()
	early := c.real == nil && time.Now().Before(c.deadline)
	c.mu.Unlock()
	if early {
		return c.parent.Err()
	}
	return c.resolve().Err()
}

// Value implements context.Context. A child context looks for its parent here, after Done.
func (c *callContext) Value(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		return c.parent.Value(key)
	}
	return c.real.Value(key)
}

func (c *callContext) resolve() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		c.real, c.cancel = context.WithDeadline(c.parent, c.deadline)
	}
	return c.real
}

// end stops the timer, if there is one.
func (c *callContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}
