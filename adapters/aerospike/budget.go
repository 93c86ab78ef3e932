package aerospike

import (
	"context"
	"time"
)

// budget is the time a call may take. It has nothing of the driver in it.
type budget struct {
	total   time.Duration // whole milliseconds, the unit in which the server is told
	bounded bool          // whether the context has a deadline
	last    time.Time     // when the context, or the trip, is over
	early   time.Duration // how long before that total is
}

// ends is when total is over.
func (b *budget) ends() time.Time { return b.last.Add(-b.early) }

// allot works out how long a call may take: no longer than its context lives, than its
// policy says, and, if neither says anything, than the default; nor beyond until, unless
// that is zero. ok is false if that is less than the least a call needs: it must not be
// sent then, for the driver takes a timeout of zero for none at all.
func (b *budget) allot(ctx context.Context, until time.Time, policy, otherwise, least time.Duration) (ok bool) {
	deadline, has := ctx.Deadline()
	b.bounded, b.last, b.early = has, until, 0
	if has && (until.IsZero() || deadline.Before(until)) {
		b.last = deadline
	}
	if b.last.IsZero() { // neither has an end
		b.total = policy
		if b.total <= 0 {
			b.total = otherwise
		}
		b.last = time.Now().Add(b.total)
	} else {
		b.total = time.Until(b.last)
		if policy > 0 && policy < b.total {
			b.total, b.early = policy, b.total-policy
		}
	}
	b.total = b.total.Truncate(time.Millisecond)
	return b.total >= least
}

// left is what is left of the call's time.
func (b *budget) left() time.Duration {
	return (time.Until(b.last) - b.early).Truncate(time.Millisecond)
}

// socket returns the idle timeout of a socket: the policy's, but within the budget.
func (b *budget) socket(policy time.Duration) time.Duration {
	if policy <= 0 || policy > b.total {
		return b.total
	}
	return policy
}
