package aerospike

import (
	"context"
	"runtime/debug"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// call is a call to the database: the trip, which is what its caller sees, and the
// attempt that is under way, from its admission to its end. That of one record lives on
// the stack of its method. An attempt is
//
//	if err = c.open(ctx, cl); err != nil {
//		return err
//	}
//	defer cl.end(ctx, &err)
//	… cl.admitKey, then the driver's call with a policy shaped by cl …
//
// Only the cluster knows a key's node, so the lease comes before the permit; but for
// the permit that the node table gives in advance.
type call struct {
	client *core
	trip   trip
	attempt
}

// attempt is what an attempt holds, and the time it has.
type attempt struct {
	admission
	lease            lifecycle.Lease[*session]
	permits          []spillway.Permit // of several nodes
	nodes            int               // how many it goes to, if that may be several
	budget           budget
	asked, otherwise time.Duration // what the budget was worked out from
	called           bool          // whether the driver was, for what the call is about
	began            time.Time     // when, if that is timed
}

// admission is a permit of one node.
type admission struct {
	session *session
	guard   *guard // of the node that the call goes to; nil if there are several
	permit  spillway.Permit
}

// open starts an attempt: its context must be alive and the client connected. A permit
// in advance is given back if that fails, or if its session is over.
func (c *Client) open(ctx context.Context, cl *call) (err error) {
	if ctx.Err() != nil {
		cl.abandon()
		return causeOf(ctx)
	}
	lease, err := c.lease()
	if err != nil || cl.session != lease.Conn() {
		cl.abandon()
	}
	if err != nil {
		return err
	}
	cl.lease, cl.session = lease, lease.Conn()
	return nil
}

// abandon gives back what was admitted, for nothing came of it.
func (cl *call) abandon() {
	cl.release(spillway.OutcomeLocal)
	cl.attempt = attempt{}
}

// abandonUnused is abandon if no attempt was made that took over what was admitted ahead
// of it: the context may have ended in between, or somebody's hook the goroutine.
func (cl *call) abandonUnused() {
	if cl.session != nil {
		cl.abandon()
	}
}

// lease takes a lease on the connection: for a Compat, on none but its own.
func (c *Client) lease() (lifecycle.Lease[*session], error) {
	l, err := c.machine.Lease()
	if err != nil || c.choices.bound == nil || l.Conn() == c.choices.bound {
		return l, err
	}
	l.Release()
	return lifecycle.Lease[*session]{}, errGeneration
}

// start and stop stand around the driver's call, for those who want to know how long
// it takes.
func (cl *call) start() {
	cl.trip.asked++
	cl.called = true
	if cl.guard != nil {
		cl.trip.guard = cl.guard
	}
	if cl.trip.timed {
		cl.began = time.Now()
	}
}

func (cl *call) stop() {
	if cl.trip.timed && !cl.began.IsZero() {
		cl.trip.backend += time.Since(cl.began)
		cl.began = time.Time{}
	}
}

// end gives back what the attempt took, and turns a panic of the driver into an
// error. It must be deferred directly, with the address of the method's error.
func (cl *call) end(ctx context.Context, err *error) { cl.recovered(ctx, recover(), err) }

// recovered is end with what recover has returned. A success that comes when the caller's
// time is over is a late one; the context knows that without a look at the clock.
func (cl *call) recovered(ctx context.Context, v any, err *error) {
	if v != nil {
		*err = &spillway.PanicError{Component: "aerospike." + cl.trip.op.Name, Name: cl.client.cfg.Name, Value: v, Stack: debug.Stack()}
	}
	cl.stop()
	outcome := spillway.OutcomeOK
	switch {
	case cl.permit == spillway.Permit{} && cl.permits == nil: // nothing was admitted
	case *err != nil:
		outcome = spillway.OutcomeOf(*err)
	case ctx.Err() == context.DeadlineExceeded:
		outcome = spillway.OutcomeLate
	}
	cl.release(outcome)
	cl.attempt = attempt{}
}

// admitting runs an admission that end doesn't stand around yet: what it took is given
// back if it fails, or the driver panics in it.
func (cl *call) admitting(ctx context.Context, admit func() error) (err error) {
	admitted := false
	defer func() {
		if !admitted {
			cl.recovered(ctx, recover(), &err)
		}
	}()
	err = admit()
	admitted = err == nil
	return err
}

// release gives back the permits and the lease, once. The permit of a call that timed
// out stays in use for a while: the server may still be at work on it.
func (cl *call) release(outcome spillway.Outcome) {
	if outcome == spillway.OutcomeTimeout && cl.guard != nil && cl.client.cfg.GhostFactor > 0 {
		service := cl.guard.lanes[cl.trip.lane].Service()
		cl.permit.ReleaseAfter(time.Duration(float64(service) * cl.client.cfg.GhostFactor))
	}
	cl.permit.ReleaseWith(outcome)
	for _, p := range cl.permits {
		p.ReleaseWith(outcome)
	}
	cl.lease.Release()
}

// wrap returns the driver's error as the caller sees it; nil for none.
func (cl *call) wrap(err as.Error) error {
	if err == nil {
		return nil
	}
	return newError(cl, err)
}

// newError makes an Error of the driver's.
func newError(cl *call, err as.Error) error {
	v := Classify(err)
	t := &cl.trip
	e := &Error{Op: t.op.Name, Namespace: t.ns, Set: t.set, Code: v.Code, outcome: v.Outcome, cause: err}
	if cl.guard != nil {
		e.Node = cl.guard.name
	}
	e.executed = v.Sent && !v.Refused
	if t.op.changes {
		e.executed = cl.maybeExecuted(err, v)
		// An answer such as "generation" after an attempt that may have been executed
		// may be that attempt's own doing.
		e.InDoubt = e.executed || t.doubt
		t.doubt = e.InDoubt
	}
	return e
}
