package aerospike

import (
	"context"
	"runtime/debug"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// call is one call from its admission to its end. It lives on its method's stack:
//
//	var cl call
//	if err = c.open(ctx, &cl, op); err != nil {
//		return nil, err
//	}
//	defer cl.end(&err)
//	… cl.admitKey, then the driver's call with a policy shaped by cl …
//
// The order of the steps is that of the toolkit but for one: the lease comes before
// the permit, because only the cluster knows a key's node. It costs as much as a
// counter, and a lease that isn't followed by a permit is given back at once.
type call struct {
	client  *Client
	op      *operation
	ns, set string
	session *session
	lease   lifecycle.Lease[*session]
	guard   *guard // of the node that the call goes to; nil if there are several
	permit  spillway.Permit
	permits []spillway.Permit // of several nodes
	budget  budget
}

// open starts a call: its context must be alive and the client connected.
func (c *Client) open(ctx context.Context, cl *call, op *operation) (err error) {
	if c.machine == nil {
		return errZero
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cl.lease, err = c.machine.Lease(); err != nil {
		return err
	}
	cl.client, cl.op, cl.session = c, op, cl.lease.Conn()
	return nil
}

// openWith is open for a call that may have its permit in advance.
func (c *Client) openWith(ctx context.Context, cl *call, op *operation, a advance) error {
	if err := c.open(ctx, cl, op); err != nil {
		a.permit.ReleaseWith(spillway.OutcomeLocal)
		return err
	}
	if a.session == cl.session {
		cl.guard, cl.permit = a.guard, a.permit
	} else {
		a.permit.ReleaseWith(spillway.OutcomeLocal) // of a session that is over
	}
	return nil
}

// allot works out the call's time, and refuses it if there isn't enough.
func (cl *call) allot(ctx context.Context, policy, otherwise time.Duration) error {
	cfg := &cl.client.cfg
	b, ok := newBudget(ctx, policy, otherwise, cfg.MinBudget)
	cl.budget = b
	if ok || !cl.shapes() {
		return nil
	}
	cl.client.expired.Add(1)
	r := &spillway.Rejection{Component: "aerospike", Name: cfg.Name, Reason: spillway.ReasonExpired, Limit: cfg.Limit}
	cl.client.noteRefusal(ctx, r)
	return r
}

// shapes reports whether policies are adapted to the call's budget. In modes Shadow
// and Off the driver does as it would without us.
func (cl *call) shapes() bool {
	mode := cl.client.cfg.Mode
	return mode == spillway.Enforce || mode == spillway.RefuseAll
}

// admitKey allots the time of a call for one record and takes a permit of the node
// that the driver will ask for it. policy says how that node is chosen.
func (cl *call) admitKey(ctx context.Context, policy *as.BasePolicy, key *as.Key) error {
	if key == nil {
		return badArgument(cl.op, "key", nil, "must not be nil")
	}
	cl.ns, cl.set = key.Namespace(), key.SetName()
	if err := cl.allot(ctx, policy.TotalTimeout, cl.client.cfg.RecordTimeout); err != nil {
		return err
	}
	node, err := cl.nodeOf(policy, key)
	if err != nil {
		cl.guard = nil
		return newError(cl, err)
	}
	g, gerr := cl.session.guard(node)
	if gerr != nil || g == cl.guard {
		return gerr
	}
	// The permit in advance, if there is one, is another node's.
	cl.permit.ReleaseWith(spillway.OutcomeLocal)
	cl.guard = g
	if cl.permit, gerr = g.limiter.Admit(ctx); gerr == nil {
		cl.session.remember(key, g)
	}
	return gerr
}

// admitNodes takes a permit of each of several nodes, or of none.
func (cl *call) admitNodes(ctx context.Context, nodes []*as.Node) error {
	cl.permits = make([]spillway.Permit, 0, len(nodes))
	for _, node := range nodes {
		g, err := cl.session.guard(node)
		if err != nil {
			return err
		}
		p, err := g.limiter.Admit(ctx)
		if err != nil {
			return err // end gives back those that were taken
		}
		cl.permits = append(cl.permits, p)
	}
	return nil
}

// nodeOf returns the node that the driver's first attempt will go to. With a replica
// policy that picks at random or in turn, the driver picks once more for itself: the
// permits are then right in number over all nodes, but not node by node.
func (cl *call) nodeOf(policy *as.BasePolicy, key *as.Key) (*as.Node, as.Error) {
	cluster := cl.session.client.Cluster()
	if cl.op.kind == spillway.KindRead {
		p, err := as.PartitionForRead(cluster, policy, key)
		if err != nil {
			return nil, err
		}
		return p.GetNodeRead(cluster)
	}
	p, err := as.PartitionForWrite(cluster, policy, key)
	if err != nil {
		return nil, err
	}
	return p.GetNodeWrite(cluster)
}

// end gives back what the call took, and turns the driver's error, or its panic, into
// the caller's. It must be deferred directly, with the address of the method's
// error.
func (cl *call) end(err *error) {
	if v := recover(); v != nil {
		*err = &spillway.PanicError{Value: v, Stack: debug.Stack()}
	}
	outcome := spillway.OutcomeOK
	switch {
	case cl.permit == spillway.Permit{} && cl.permits == nil: // nothing was admitted
	case *err != nil:
		outcome = spillway.OutcomeOf(*err)
	case cl.budget.late():
		outcome = spillway.OutcomeLate
	}
	cl.release(outcome)
}

// release gives back the permits and the lease, once.
func (cl *call) release(outcome spillway.Outcome) {
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
	e := &Error{Op: cl.op.name, Namespace: cl.ns, Set: cl.set, Code: v.Code, outcome: v.Outcome, cause: err}
	if cl.guard != nil {
		e.Node = cl.guard.name
	}
	e.InDoubt = cl.op.kind == spillway.KindWrite && v.Sent && !v.Refused
	return e
}

// badArgument is the error of a call that the driver would panic of.
func badArgument(op *operation, field string, value any, problem string) error {
	e := &spillway.ConfigError{Component: "aerospike." + op.name}
	e.Add(field, value, problem)
	return e
}
