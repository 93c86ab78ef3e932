package limiter

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// MaxLimit is the highest limit and the highest weight.
const MaxLimit = permit.MaxLimit

// Hooks are told of what happens off the fast path. They are called on the
// goroutine that caused it, outside of any lock; they may call the limiter and may
// panic without harm. A nil hook is not called.
type Hooks struct {
	// Rejected is told of every refusal, with the caller's context.
	Rejected func(ctx context.Context, r *spillway.Rejection)
	// LimitChanged is told of every change by SetLimit. Changes made at the same
	// time may be told in any order; this holds for ModeChanged too.
	LimitChanged func(from, to int)
	// ModeChanged is told of every change by SetMode.
	ModeChanged func(from, to spillway.Mode)
	// HeldLong is told when a permit comes back that was held for HoldWarn or
	// longer. Permits that are still out are listed by Holders.
	HeldLong func(h spillway.Holder)
}

// Config are the settings of a limiter.
type Config struct {
	// Name is the limiter's name in errors, statistics and telemetry, where it has
	// to be unique. It must not be empty.
	Name string
	// Limit is how many permits there are, from 1 to MaxLimit. Zero is an error:
	// there is no limit that fits every backend. A start is 1.5 times the
	// concurrency at which the backend's throughput stops growing.
	Limit int
	// Mode is what to do with the verdict. Zero is Enforce.
	Mode spillway.Mode
	// RetryAfter is the hint that refusals carry. Zero means no hint.
	RetryAfter time.Duration
	// Track says what is kept of who holds a permit. Zero is nothing.
	Track spillway.Track
	// HoldWarn is how long a permit may be held before the HeldLong hook is told.
	// It needs Track. Zero means never.
	HoldWarn time.Duration
	// DetectNested makes Do fail with a *spillway.NestedError when it is called with
	// the context of an operation that the same limiter admitted. It costs an
	// allocation a call. False means that nobody looks.
	DetectNested bool
	// Hooks are told of what happens off the fast path, in this order.
	Hooks []Hooks
}

// options are the settings of the core.
func (c Config) options() permit.Options {
	hooks := make([]permit.Hooks, 0, len(c.Hooks))
	for _, h := range c.Hooks {
		hooks = append(hooks, permit.Hooks{
			Rejected: h.Rejected, LimitChanged: h.LimitChanged, ModeChanged: h.ModeChanged, HeldLong: h.HeldLong,
		})
	}
	return permit.Options{
		Component:  "limiter",
		Name:       c.Name,
		Limit:      c.Limit,
		Mode:       c.Mode,
		RetryAfter: c.RetryAfter,
		Sample:     permit.SampleEvery,
		Track:      c.Track,
		HoldWarn:   c.HoldWarn,
		Nested:     c.DetectNested,
		Hooks:      hooks,
	}
}
