package lane

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// MaxLimit is the highest limit and the highest weight.
const MaxLimit = permit.MaxLimit

// Order says who of those who wait is served first. The zero Order is FIFO.
type Order uint8

// The orders of a waiting room.
const (
	// FIFO serves the oldest first. With Predict it is the best all-rounder.
	FIFO Order = iota
	// Newest serves the newest first, and refuses who has waited for 5 ms once the
	// room hasn't been empty for 100 ms. Under overload most calls then wait hardly at
	// all, for callers with equal deadlines; near full load it loses some that FIFO
	// would have served.
	Newest
)

// Hooks are told of what happens off the fast path. They are called on the
// goroutine that caused it, outside of any lock; they may call the lane and may
// panic without harm. Changes by several goroutines at once may be told in any
// order. A nil hook is not called.
type Hooks struct {
	// Rejected is told of every refusal, with the caller's context.
	Rejected func(ctx context.Context, r *spillway.Rejection)
	// LimitChanged is told of every change by SetLimit.
	LimitChanged func(from, to int)
	// ModeChanged is told of every change by SetMode.
	ModeChanged func(from, to spillway.Mode)
	// HeldLong is told when a permit comes back that was held for HoldWarn or
	// longer. Permits that are still out are listed by Holders.
	HeldLong func(h spillway.Holder)
	// Waited is told of everybody who had to wait, with the caller's context, of how long
	// that was, and of what came of it: nil, or the error that the caller gets. Who was
	// admitted holds the permit meanwhile.
	Waited func(ctx context.Context, wait time.Duration, err error)
}

// Config are the settings of a lane.
type Config struct {
	// Name is the lane's name in errors, statistics and telemetry, where it has to be
	// unique. It must not be empty.
	Name string
	// Limit is how many permits there are, from 1 to MaxLimit. Zero is an error.
	Limit int
	// MaxWaiting is how many callers may wait, up to MaxLimit. Zero means that nobody waits. As a
	// memory backstop two or three times the limit will do: who waits longer than
	// that is served too late anyway.
	MaxWaiting int
	// MaxWait is the longest time a caller may wait. It needs MaxWaiting. Zero means that its context
	// alone says how long; a call whose context has no deadline is then refused with a
	// *spillway.ConfigError, so that nobody waits for ever.
	MaxWait time.Duration
	// Order says who is served first. Zero is FIFO.
	Order Order
	// Predict has the lane refuse at once who can't be served in time: whose wait, as
	// permits come back now, would exceed MaxWait, or leave less of its deadline than
	// the calls take. It needs MaxWaiting. False means that
	// everybody waits and sees.
	Predict bool
	// Mode is what to do with the verdict. Zero is Enforce.
	Mode spillway.Mode
	// RetryAfter is the least hint that refusals carry; the lane raises it to the
	// time that those who wait will need. Zero means no least.
	RetryAfter time.Duration
	// Track says what is kept of who holds a permit. Zero is nothing.
	Track spillway.Track
	// HoldWarn is how long a permit may be held before the HeldLong hook is told. It
	// needs Track. Zero means never.
	HoldWarn time.Duration
	// DetectNested makes Do fail with a *spillway.NestedError when it is called with
	// the context of an operation that the same lane admitted, and would wait for
	// itself. Of an operation that runs with a borrowed permit both lanes count: its own
	// and the lender. It costs an allocation a call. False means that nobody looks.
	DetectNested bool
	// Hooks are told of what happens off the fast path, in this order.
	Hooks []Hooks
}

// validate notes every fault of a lane's configuration; prefix says whose.
func (c Config) validate(e *spillway.ConfigError, prefix string) {
	c.options().Validate(e, prefix)
	add := func(field string, value any, problem string) { e.Add(prefix+field, value, problem) }
	if c.MaxWaiting < 0 || c.MaxWaiting > MaxLimit {
		add("MaxWaiting", c.MaxWaiting, fmt.Sprintf("must be from 0 to %d", MaxLimit))
	}
	if c.MaxWait < 0 {
		add("MaxWait", c.MaxWait, "must not be negative")
	}
	if c.MaxWait > 0 && c.MaxWaiting == 0 {
		add("MaxWait", c.MaxWait, "needs MaxWaiting: nobody may wait")
	}
	if c.Order > Newest {
		add("Order", c.Order, "must be FIFO or Newest")
	}
	if c.Predict && c.MaxWaiting == 0 {
		add("Predict", c.Predict, "needs MaxWaiting: there is no wait to predict")
	}
}

// options are the settings of the core.
func (c Config) options() permit.Options {
	hooks := make([]permit.Hooks, 0, len(c.Hooks))
	for _, h := range c.Hooks {
		hooks = append(hooks, permit.Hooks(h))
	}
	return permit.Options{
		Component: "lane", Name: c.Name, Limit: c.Limit, Mode: c.Mode, RetryAfter: c.RetryAfter,
		Sample: permit.SampleEvery, Track: c.Track, Nested: c.DetectNested, HoldWarn: c.HoldWarn,
		MaxWait: c.MaxWait, Newest: c.Order == Newest, Estimate: true, Predict: c.Predict, Room: c.MaxWaiting, Hooks: hooks,
	}
}
