package permit

import (
	"context"

	"github.com/spillway-go/spillway"
)

// Do runs op under n permits of c. With room above zero it may wait for them, beside
// fewer than room others. The permits come back when op returns, panics or calls
// runtime.Goexit; the latter two go through. It allocates nothing of its own.
func Do[T any](ctx context.Context, c *Core, n, room int, op spillway.Op[T]) (v T, err error) {
	var use Use
	if room == 0 {
		use, err = c.Enter(ctx, n)
	} else {
		use, err = c.Wait(ctx, n, room)
	}
	if err != nil {
		return v, err
	}
	return Run(ctx, c, use, op)
}

// Run runs op under a Use that was admitted, and gives it back.
func Run[T any](ctx context.Context, c *Core, use Use, op spillway.Op[T]) (v T, err error) {
	// How op ended is worked out before it counts as returned: asking an error for
	// its class runs code of the error's, and the permit must come back whatever
	// that does.
	outcome, returned := spillway.OutcomeOK, false
	defer func() {
		if returned {
			c.Leave(use, outcome)
		} else {
			c.Abort(use)
		}
	}()
	v, err = op(c.Inside(ctx))
	if err != nil {
		outcome = spillway.OutcomeOf(err)
	}
	returned = true
	return v, err
}
