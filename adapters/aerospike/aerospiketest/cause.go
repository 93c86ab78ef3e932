package aerospiketest

import "context"

// causeOf returns why ctx, which is done, ended. Before Go 1.25 context.Cause may be nil for
// a context that others have put together.
func causeOf(ctx context.Context) error {
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return ctx.Err()
}
