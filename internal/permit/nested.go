package permit

import (
	"context"
)

// nestedKey marks a context as one of an operation that a core admitted.
type nestedKey struct{ core *Core }

// Inside returns the context for an operation that c admitted, so that a nested
// call can be told; ctx itself unless that was asked for.
func (c *Core) Inside(ctx context.Context) context.Context {
	if !c.opts.Nested {
		return ctx
	}
	return context.WithValue(ctx, nestedKey{c}, true)
}
