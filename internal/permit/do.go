package permit

import (
	"context"

	"github.com/spillway-go/spillway"
)

// Do runs op under n permits of c, for which it may wait if c has a waiting room. The
// permits come back when op returns, panics or calls runtime.Goexit; the latter two go
// through. It allocates nothing of its own. A nil core refuses with ErrNone: here, so that
// the methods that call it are small enough to be inlined.
//
// Its first lines are the whole of Enter, Run and Leave for the common case, in one
// place, because a call costs as much as an atomic here. Helpers that aren't exported are
// calls, however short: the compiler doesn't inline them into an instance of a generic
// function that another package makes.
func Do[T any](ctx context.Context, c *Core, n int, op spillway.Op[T]) (v T, err error) {
	if c == nil || c.careful || ctx.Err() != nil {
		return doSlow(ctx, c, n, op)
	}
	s, w := c.word.Load(), uint64(n)
	switch {
	case s&special != 0 || w-1 >= s&limitMask>>limitShift:
		return doSlow(ctx, c, n, op)
	case s&useMask+w > s&limitMask>>limitShift:
		if c.opts.Room == 0 && s&ghostsBit == 0 {
			return v, c.reject(ctx, spillway.ReasonLimit)
		}
		return doSlow(ctx, c, n, op)
	case !c.word.CompareAndSwap(s, s+w):
		return doSlow(ctx, c, n, op)
	}
	if c.admitted.Add(1)&c.sampled.Load() == 0 {
		return Run(ctx, c, Use{weight: w | useCounted, since: c.begin(ctx, w)}, op)
	}
	running := c // one variable says all that the deferred function has to know; nil when op is through
	defer func() {
		if running != nil {
			running.Abort(Use{weight: w | useCounted})
		}
	}()
	v, err = op(ctx)
	ended := &c.ended[spillway.OutcomeOK]
	if err != nil {
		ended = &c.ended[spillway.OutcomeOf(err)]
	}
	running = nil
	ended.Add(1) // first, as in Leave
	if c.word.Add(-w)&(waitingBit|closedBit|pacedBit) != 0 {
		c.settle(w)
	}
	return v, err
}

func doSlow[T any](ctx context.Context, c *Core, n int, op spillway.Op[T]) (v T, err error) {
	use, err := c.enter(ctx, n)
	if err != nil {
		return v, err
	}
	return Run(ctx, c, use, op)
}

// Run runs op under a Use that was admitted, and gives it back.
func Run[T any](ctx context.Context, c *Core, use Use, op spillway.Op[T]) (v T, err error) {
	if c.opts.Nested {
		ctx = c.Inside(ctx)
	}
	returned := false
	defer func() {
		if !returned {
			c.Abort(use)
		}
	}()
	v, err = op(ctx)
	// How op ended is worked out before it counts as returned: asking an error for
	// its class runs code of the error's, and the permit must come back whatever
	// that does.
	outcome := spillway.OutcomeOK
	if err != nil {
		outcome = spillway.OutcomeOf(err)
	}
	returned = true
	c.Leave(use, outcome)
	return v, err
}
