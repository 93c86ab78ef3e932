package aerospike

import "context"

// causeOf returns why ctx is done, and nil only if it isn't. context.Cause alone doesn't do
// before Go 1.25, for contexts that others have put together: it may be nil for one that is
// done. The root module's own function for that is internal to it.
func causeOf(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return err
}
