package store

import (
	"sync/atomic"
	"time"
)

// A Clock is real time that can be put forward. All methods are safe for
// concurrent use. The zero value shows real time.
type Clock struct {
	ahead atomic.Int64 // nanoseconds
}

// Now returns the time in nanoseconds since 1970.
func (c *Clock) Now() int64 { return time.Now().UnixNano() + c.ahead.Load() }

// Ahead returns by how much the clock is ahead of real time.
func (c *Clock) Ahead() int64 { return c.ahead.Load() }

// Advance puts the clock forward.
func (c *Clock) Advance(d time.Duration) { c.ahead.Add(int64(d)) }
