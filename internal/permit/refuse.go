package permit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// rejections are the errors of a core, made ahead so that a refusal allocates
// nothing. A change of the limit replaces them all: they never show a stale one.
type rejections struct {
	byReason [len(spillway.RefusalCounts{})]*spillway.Rejection
	closed   *spillway.ClosedError
}

func (c *Core) newRejections(limit int, hint time.Duration) *rejections {
	opts, gap := c.opts, time.Duration(c.gap.Load())
	r := &rejections{closed: &spillway.ClosedError{Component: opts.Component, Name: opts.Name}}
	for i := range r.byReason {
		r.byReason[i] = &spillway.Rejection{
			Component: opts.Component, Name: opts.Name, Reason: spillway.Reason(i),
			Limit: limit, RetryAfter: max(opts.RetryAfter, gap),
		}
	}
	for _, reason := range []spillway.Reason{spillway.ReasonQueueFull, spillway.ReasonMaxWait, spillway.ReasonPredicted, spillway.ReasonDropped} {
		r.byReason[reason].RetryAfter = max(hint, opts.RetryAfter, gap)
	}
	if opts.Room > 0 {
		r.byReason[spillway.ReasonQueueFull].Limit = opts.Room
	}
	return r
}

// reject counts a refusal for reason, tells the hook, and returns the error.
func (c *Core) reject(ctx context.Context, reason spillway.Reason) error {
	n := c.refused[reason].Add(1)
	if m := c.meter.Load(); m != nil && n%fullEvery == 0 && reason != spillway.ReasonRefuseAll {
		m.full(c.now())
	}
	err := c.rejections.Load().byReason[reason]
	if len(c.opts.Hooks) > 0 {
		c.tellRejected(ctx, err) // which allocates, and this is every refusal
	}
	return err
}

// refuse turns a verdict of take into the caller's error.
func (c *Core) refuse(ctx context.Context, v verdict, n int) error {
	switch v {
	case full:
		return c.reject(ctx, spillway.ReasonLimit)
	case paced:
		return c.reject(ctx, spillway.ReasonPaced)
	case refuseAll:
		return c.reject(ctx, spillway.ReasonRefuseAll)
	case closed:
		c.closedCalls.Add(1)
		return c.rejections.Load().closed
	default:
		c.invalid.Add(1)
		return &spillway.WeightError{Component: c.opts.Component, Name: c.opts.Name, Weight: n, Limit: max(c.Limit(), int(c.maxWeight.Load()))}
	}
}

// rejectAfter is reject for a call that has waited: its error says how long.
func (c *Core) rejectAfter(ctx context.Context, reason spillway.Reason, wait time.Duration) error {
	c.refused[reason].Add(1)
	err := *c.rejections.Load().byReason[reason]
	err.Wait = wait
	c.tellRejected(ctx, &err)
	return &err
}

// giveUp is cancel for a call that has waited: its error says where, and how long.
func (c *Core) giveUp(ctx context.Context, waited time.Duration) error {
	err := c.cancel(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.timedOut.Add(1)
	}
	return &waitedError{c.opts.Component, c.opts.Name, waited, err}
}

// waitedError is the cause of a context that ended while its call waited. Of a bare
// "context deadline exceeded" nobody could say whether it waited here, or elsewhere, or was
// under way.
type waitedError struct {
	component, name string
	wait            time.Duration
	cause           error
}

// Error implements error.
func (e *waitedError) Error() string {
	return fmt.Sprintf("%s %q: waited %v for a permit: %v", e.component, e.name, e.wait, e.cause)
}

// Unwrap returns the cause.
func (e *waitedError) Unwrap() error { return e.cause }

// ErrNone is the error of a limiter or lane that has no core, because New didn't make it.
var ErrNone error = &spillway.ClosedError{Component: "limiter or lane"}

// cancel counts a call whose context was done and returns the context's cause.
func (c *Core) cancel(ctx context.Context) error {
	c.canceled.Add(1)
	return cause.Of(ctx)
}
