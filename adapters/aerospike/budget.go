package aerospike

import (
	"context"
	"time"
)

// budget is the time a call may take. It has nothing of the driver in it.
type budget struct {
	total    time.Duration // whole milliseconds, the unit in which the server is told
	deadline time.Time     // the context's; zero if it has none
}

// newBudget works out how long a call may take: no longer than its context lives,
// than its policy says, and, if neither says anything, than the default; nor beyond
// until, unless that is zero. ok is
// false if that is less than the least a call needs: it must not be sent then, for
// the driver takes a timeout of zero for none at all.
func newBudget(ctx context.Context, until time.Time, policy, otherwise, least time.Duration) (b budget, ok bool) {
	b.total = policy
	if !until.IsZero() { // a further attempt of a call whose context has no deadline
		otherwise = time.Until(until)
		b.total = otherwise
		if policy > 0 {
			b.total = min(policy, otherwise)
		}
	}
	if deadline, has := ctx.Deadline(); has {
		b.deadline = deadline
		left := time.Until(deadline)
		if b.total <= 0 || left < b.total {
			b.total = left
		}
	} else if b.total <= 0 && until.IsZero() {
		b.total = otherwise
	}
	b.total = b.total.Truncate(time.Millisecond)
	return b, b.total >= least
}

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
