package permit

import "context"

// BoundedKey is the key under which a context has a value that ends without showing a
// deadline. It bounds a wait as well as one that shows it, but a prediction must not take
// it for the time by which the call has to be done.
type BoundedKey struct{}

// unbounded reports whether only a call's context bounds its wait, so that it has to.
func (c *Core) unbounded() bool { return c.opts.Room > 0 && c.opts.MaxWait == 0 }

// Bounds reports whether something bounds a wait of a call with ctx.
func (c *Core) Bounds(ctx context.Context) bool {
	if !c.unbounded() {
		return true
	}
	_, ok := ctx.Deadline()
	return ok || ctx.Value(BoundedKey{}) != nil
}

// roomFor returns beside how many a call may wait, or an error if nothing would bound
// the wait.
func (c *Core) roomFor(ctx context.Context) (int, error) {
	if ctx.Err() != nil || c.Bounds(ctx) {
		return c.opts.Room, nil // a done context has its own error
	}
	if c.word.Load()&(modeMask|closedBit) != 0 {
		return 0, nil // nobody waits in this mode, nor after Close
	}
	c.invalid.Add(1)
	return 0, c.fault("MaxWait", 0, "must be positive for a call whose context has no deadline: it could wait for ever")
}
