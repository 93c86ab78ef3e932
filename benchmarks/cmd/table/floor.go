package main

import (
	"context"
	"sync/atomic"
)

// The names of sides that several families have.
const (
	nameFloor   = "floor: atomic +1, −1"
	nameCall    = "bare call"
	nameLimiter = "`limiter.Do`"
	nameLane    = "`lane.Do`"
	nameSync    = "x/sync semaphore"
	nameChannel = "buffered channel"
)

// many is a limit that nobody reaches.
const many = 1000

// floor is what the budget is counted in: what a bare counter costs.
func floor() work {
	var n atomic.Int64
	return func(times int) {
		for range times {
			n.Add(1)
			n.Add(-1)
		}
	}
}

// op is the operation that everything is measured around. It does nothing.
func op(context.Context) (int, error) { return 1, nil }

// calls is op through f.
func calls(ctx context.Context, f func(context.Context) (int, error)) work {
	return func(times int) {
		for range times {
			_, _ = f(ctx)
		}
	}
}
