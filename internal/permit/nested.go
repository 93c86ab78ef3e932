package permit

import (
	"context"

	"github.com/spillway-go/spillway"
)

// nestedKey marks a context as one of an operation that a core admitted.
type nestedKey struct{ core *Core }

// IsInside reports whether ctx is that of an operation that c admitted, so that it would
// wait for itself; false if nobody looks, or nobody waits in the mode as it is.
func (c *Core) IsInside(ctx context.Context) bool {
	if !c.opts.Nested {
		return false
	}
	m := c.Mode()
	return m != spillway.Off && m != spillway.Shadow && ctx.Value(nestedKey{c}) != nil
}

// Inside returns the context for an operation that c admitted, so that a nested
// call can be told; ctx itself unless that was asked for.
func (c *Core) Inside(ctx context.Context) context.Context {
	if !c.opts.Nested {
		return ctx
	}
	return context.WithValue(ctx, nestedKey{c}, true)
}
