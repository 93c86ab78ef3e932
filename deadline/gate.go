package deadline

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// Remaining returns how much time ctx has left, which is negative once its deadline
// has passed; ok is false if it has no deadline. It never blocks.
func Remaining(ctx context.Context) (left time.Duration, ok bool) {
	at, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	return time.Until(at), true
}

// Gate returns a decorator that runs an operation only if its context has at least
// the given time left, because with less it couldn't be of use. What has less gets
// an *[ExpiredError], which matches [ErrExpired], and is not run; what was canceled
// gets its context's cause. A context without a deadline always passes. A gate costs
// one reading of the clock and allocates nothing. Put it behind whatever waits, so
// that it sees what the wait has left over. With zero it refuses only what is
// already over; Gate panics if least is negative.
func Gate[T any](least time.Duration) spillway.Decorator[T] {
	if least < 0 {
		panic("deadline: Gate: the least time is negative")
	}
	refusal := &ExpiredError{
		Rejection: spillway.Rejection{Component: "gate", Name: least.String(), Reason: spillway.ReasonExpired},
		Least:     least,
	}
	return func(op spillway.Op[T]) spillway.Op[T] {
		return func(ctx context.Context) (v T, err error) {
			if left, ok := Remaining(ctx); ok && (left < least || left <= 0) {
				return v, refusal
			}
			if ctx.Err() != nil {
				return v, cause.Of(ctx)
			}
			return op(ctx)
		}
	}
}
