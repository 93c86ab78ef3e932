package cause

import "context"

// Of returns why ctx is done, and nil only if it isn't. context.Cause alone doesn't do
// before Go 1.25: of a context that has its end from one context and its values from
// another, as many detach or merge, it asks the other, which may live on and say nil.
func Of(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return err
}
