package permit

import (
	"context"

	"github.com/spillway-go/spillway"
)

// Do runs op under n permits of c. With room above zero it may wait for them, beside
// fewer than room others. The permits come back when op returns, panics or calls
// runtime.Goexit; the latter two go through. It allocates nothing of its own.
//
// Its first lines are the whole of Enter, Run and Leave for the common case, in one
// place, because a call costs as much as an atomic here.
func Do[T any](ctx context.Context, c *Core, n, room int, op spillway.Op[T]) (v T, err error) {
	if c.careful || ctx.Err() != nil {
		return doSlow(ctx, c, n, room, op)
	}
	s := c.word.Load()
	w, ok := plain(s, n)
	switch {
	case !ok && room == 0 && s&(special|ghostsBit) == 0 && w-1 < limitOf(s):
		return v, c.reject(ctx, spillway.ReasonLimit)
	case !ok || !c.word.CompareAndSwap(s, s+w):
		return doSlow(ctx, c, n, room, op)
	}
	if c.admitted.Add(1)&c.sampled.Load() == 0 {
		return Run(ctx, c, Use{weight: w | useCounted, since: c.begin(ctx, w)}, op)
	}
	returned := false
	defer func() {
		if !returned {
			c.Abort(Use{weight: w | useCounted})
		}
	}()
	v, err = op(ctx)
	outcome := spillway.OutcomeOK
	if err != nil {
		outcome = spillway.OutcomeOf(err)
	}
	returned = true
	c.ended[outcome].Add(1) // first, as in Leave
	if c.word.Add(-w)&(waitingBit|closedBit|pacedBit) != 0 {
		c.settle(w)
	}
	return v, err
}

func doSlow[T any](ctx context.Context, c *Core, n, room int, op spillway.Op[T]) (v T, err error) {
	use, err := c.enter(ctx, n, room)
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
