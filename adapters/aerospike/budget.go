package aerospike

import (
	"context"
	"time"
)

// budget is the time a call may take. It has nothing of the driver in it.
type budget struct {
	total    time.Duration // whole milliseconds, the unit in which the server is told
	deadline time.Time     // the context's; zero if it has none
	ends     time.Time     // when total is over
}

// newBudget works out how long a call may take: no longer than its context lives,
// than its policy says, and, if neither says anything, than the default; nor beyond
// until, unless that is zero. ok is
// false if that is less than the least a call needs: it must not be sent then, for
// the driver takes a timeout of zero for none at all.
func newBudget(ctx context.Context, until time.Time, policy, otherwise, least time.Duration) (b budget, ok bool) {
	var has bool
	b.deadline, has = ctx.Deadline()
	b.ends = until
	if has && (until.IsZero() || b.deadline.Before(until)) {
		b.ends = b.deadline
	}
	if b.ends.IsZero() { // neither has an end
		b.total = policy
		if b.total <= 0 {
			b.total = otherwise
		}
		b.ends = time.Now().Add(b.total)
	} else {
		left := time.Until(b.ends)
		b.total = left
		if policy > 0 && policy < left {
			b.total, b.ends = policy, b.ends.Add(policy-left)
		}
	}
	b.total = b.total.Truncate(time.Millisecond)
	return b, b.total >= least
}

// left is what is left of the call's time.
func (b budget) left() time.Duration { return time.Until(b.ends).Truncate(time.Millisecond) }

// socket returns the idle timeout of a socket: the policy's, but within the budget.
func (b budget) socket(policy time.Duration) time.Duration {
	if policy <= 0 || policy > b.total {
		return b.total
	}
	return policy
}

// late reports whether the context's deadline has passed.
func (b budget) late() bool {
	return !b.deadline.IsZero() && time.Until(b.deadline) < 0
}
