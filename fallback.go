package spillway

import "context"

// Fallback returns a decorator that asks f for another answer when the operation
// fails, such as a stale value from a cache. f gets the operation's error and
// decides by [errors.Is] whether it has something to offer; if not, it returns the
// error it was given. f is not asked when ctx is done: nobody waits for its answer
// then, and the operation's own value and error are returned. Panics pass through.
// Fallback panics if f is nil.
func Fallback[T any](f func(ctx context.Context, err error) (T, error)) Decorator[T] {
	if f == nil {
		panic("spillway: Fallback: function is nil")
	}
	return func(op Op[T]) Op[T] {
		return func(ctx context.Context) (T, error) {
			v, err := op(ctx)
			if err == nil || ctx.Err() != nil {
				return v, err
			}
			return f(ctx, err)
		}
	}
}
