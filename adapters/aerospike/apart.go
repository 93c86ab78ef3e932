package aerospike

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// What may outlive its caller runs apart: on a goroutine, with an attempt and a trip of
// its own. A middleware may make the next attempt of the trip meanwhile, so what an
// attempt writes, or passes to the driver, is the attempt's own too, and what comes of it
// is handed over with its end.

// answerTime is how much longer than its own time an attempt is waited for. The driver's
// timeouts run out at that moment, and tell more than that somebody has left.
const answerTime = 20 * time.Millisecond

// errTimeOver is the cause of who left because the call's own time was over.
var errTimeOver = fmt.Errorf("aerospike: the call's own time is over: %w", context.DeadlineExceeded)

// sending tells, from when on there is something to tell, since when the driver has been
// at work on an attempt. The zero value is one that wasn't sent.
type sending struct{ since atomic.Pointer[time.Time] }

// start notes that the driver is called now, or that nothing stands before that any more.
func (s *sending) start() *sending {
	now := time.Now()
	s.since.Store(&now)
	return s
}

// apart runs the attempt's call of the driver on a goroutine, and returns when that is
// done, or ctx. If ctx ends first the permits and the lease stay with the goroutine; s
// says whether the driver was called by then.
func apart[T any](ctx context.Context, cl *call, s *sending, f func(*call) (T, error)) (none T, _ error) {
	type end struct {
		result T
		err    error
	}
	guard := cl.guard
	own, done := cl.moved(), make(chan end, 1)
	go func() {
		var e end
		defer func() { done <- e }()
		defer own.end(ctx, &e.err)
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
		cl.trip.left(s.since.Load(), guard)
		return none, &DetachedError{Op: cl.trip.op.Name, Cause: causeOf(ctx)}
	}
}

// moved returns the call for another to go on with: the attempt is his alone.
func (cl *call) moved() *call {
	own := *cl
	cl.attempt = attempt{}
	return &own
}

// left notes what is known of an attempt that goes on without the trip: since when the
// driver has been at work on it, nil if it isn't, and at which node. What it was
// to change may be changed.
func (t *trip) left(since *time.Time, g *guard) {
	if since == nil {
		return
	}
	t.asked++
	if g != nil {
		t.guard = g
	}
	if t.timed {
		t.backend += time.Since(*since)
	}
	t.doubt = t.doubt || t.op.changes
}

// bounded returns ctx with an end when the attempt's time is over, at until, if that isn't
// zero: neither the driver's wait for a connection nor a call of several nodes, one after the
// other, has one. In modes Shadow and Off nobody leaves earlier than he would without us.
func (cl *call) bounded(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	if until.IsZero() || !cl.client.shapes() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, until.Add(answerTime), errTimeOver)
}
