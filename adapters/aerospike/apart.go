package aerospike

import "context"

// What may outlive its caller runs apart: on a goroutine, with an attempt and a trip of
// its own. A middleware may make the next attempt of the trip meanwhile, so what an
// attempt writes, or passes to the driver, is the attempt's own too, and what comes of it
// is handed over with its end.

// apart runs the attempt's call of the driver on a goroutine, and returns when that is
// done, or ctx. If ctx ends first the permits and the lease stay with the goroutine.
func apart[T any](ctx context.Context, cl *call, f func(*call) (T, error)) (none T, _ error) {
	type end struct {
		result T
		err    error
	}
	own, done := cl.moved(), make(chan end, 1)
	go func() {
		var e end
		defer func() { done <- e }()
		defer own.end(&e.err)
		e.result, e.err = f(own)
	}()
	select {
	case e := <-done:
		cl.trip = own.trip
		if e.err != nil {
			return none, e.err
		}
		return e.result, nil
	case <-ctx.Done():
		return none, &DetachedError{Op: cl.trip.op.Name, Cause: context.Cause(ctx)}
	}
}

// moved returns the call for another to go on with: the attempt is his alone.
func (cl *call) moved() *call {
	own := *cl
	cl.attempt = attempt{}
	return &own
}
