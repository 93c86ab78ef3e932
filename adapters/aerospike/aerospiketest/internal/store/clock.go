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

// maxAhead bounds how far the clock is ahead, so that no sum of times overflows.
const maxAhead = 100 * 365 * 24 * time.Hour

// Advance puts the clock forward, by a time that isn't negative. It reports false, and
// does nothing, if the clock would be too far ahead.
func (c *Clock) Advance(d time.Duration) bool {
	for {
		ahead := c.ahead.Load()
		if d > maxAhead-time.Duration(ahead) {
			return false
		}
		if c.ahead.CompareAndSwap(ahead, ahead+int64(d)) {
			return true
		}
	}
}
