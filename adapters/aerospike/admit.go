package aerospike

import (
	"cmp"
	"context"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// Before an attempt is sent it gets its time, and a permit of each node that it goes to.

// allot works out the attempt's time, and refuses it if there isn't enough. The time
// of a trip with a budget of its own, or whose context has no deadline, runs from its first
// attempt.
func (cl *call) allot(ctx context.Context, policy, otherwise time.Duration) error {
	cfg, t := &cl.client.cfg, &cl.trip
	own := t.choices.budget
	if own > 0 && (policy <= 0 || own < policy) {
		policy = own
	}
	cl.asked, cl.otherwise = policy, otherwise
	ok := cl.budget.allot(ctx, t.until, policy, otherwise, cfg.MinBudget)
	switch {
	case !t.until.IsZero():
	case !cl.budget.bounded:
		t.until = cl.budget.ends()
	case own > 0: // which may be more than the policy gives an attempt
		t.until = cl.budget.ends().Add(max(own-cl.budget.total, 0))
	}
	switch {
	case ok:
		return nil
	case !cl.client.shapes():
		cl.budget.total = max(cl.budget.total, time.Millisecond) // should it be enforced after all: none would be for ever
		cl.client.shadow(&cl.client.missed.wouldExpire)
		return nil
	}
	r := &spillway.Rejection{Component: "aerospike", Name: cfg.Name, Reason: spillway.ReasonExpired}
	if t.attempts <= 1 { // else it isn't what the call ends with
		cl.client.missed.expired.Add(1)
		cl.client.noteRefusal(ctx, r)
	}
	return r
}

// allotLeft is allot once more, after a wait.
func (cl *call) allotLeft(ctx context.Context) error { return cl.allot(ctx, cl.asked, cl.otherwise) }

// admitKey allots the time of a call for one record and takes a permit of the node
// that the driver will ask for it. policy says how that node is chosen.
func (cl *call) admitKey(ctx context.Context, policy *as.BasePolicy, key *as.Key) error {
	if key == nil {
		return badArgument(cl.trip.op, "key", nil, "must not be nil")
	}
	if err := cl.allot(ctx, policy.TotalTimeout, cl.client.cfg.RecordTimeout); err != nil {
		return err
	}
	node, nerr := cl.nodeOf(policy, key)
	if nerr != nil {
		cl.guard = nil
		return newError(cl, nerr)
	}
	g, err := cl.session.guard(node)
	if err != nil || g == cl.guard { // admitted in advance
		return err
	}
	// The permit in advance, if there is one, is another node's.
	cl.permit.ReleaseWith(spillway.OutcomeLocal)
	cl.permit, cl.guard = spillway.Permit{}, g
	if cl.trip.choices.bypass {
		return nil
	}
	if cl.trip.attempts <= 1 && fromMaster(policy) {
		cl.session.remember(key, g)
	}
	cl.permit, err = cl.admit(ctx, g.lanes[cl.trip.lane])
	return cl.client.refusal(err)
}

// admitNodes takes a permit of each of several nodes, or of none.
func (cl *call) admitNodes(ctx context.Context, nodes []*as.Node) error {
	cl.nodes = len(nodes)
	if cl.trip.choices.bypass {
		return nil
	}
	if len(nodes) > 1 && cl.client.waits(cl.trip.lane) {
		// Two calls that wait for each other's nodes would both wait in vain.
		nodes = slices.SortedFunc(slices.Values(nodes), func(a, b *as.Node) int { return cmp.Compare(a.GetName(), b.GetName()) })
	}
	if kind := cl.trip.op.Kind; kind == spillway.KindStream || kind == spillway.KindJob {
		cl.session.watchers.settle(ctx)
	}
	cl.permits = make([]spillway.Permit, 0, len(nodes))
	for _, node := range nodes {
		g, err := cl.session.guard(node)
		if err != nil {
			return err
		}
		p, err := cl.admit(ctx, g.lanes[cl.trip.lane])
		if err != nil {
			return cl.client.refusal(err) // end gives back those that were taken
		}
		cl.permits = append(cl.permits, p)
	}
	return nil
}

// admit takes a permit of a lane. Where there may be a wait it is timed, ends with the
// trip's own time, and what is left is all that the attempt has.
func (cl *call) admit(ctx context.Context, l *lane.Lane[struct{}]) (spillway.Permit, error) {
	t := &cl.trip
	if !cl.client.waits(t.lane) {
		return l.Admit(ctx)
	}
	within := ctx
	if deadline, has := ctx.Deadline(); !t.until.IsZero() && (!has || t.until.Before(deadline)) && cl.client.shapes() {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(ctx, t.until)
		defer cancel()
	}
	began := time.Now()
	p, err := l.Admit(within)
	t.waited += time.Since(began)
	if err == nil || within != ctx && ctx.Err() == nil && within.Err() != nil {
		if late := cl.allotLeft(ctx); late != nil {
			p.ReleaseWith(spillway.OutcomeLocal)
			return spillway.Permit{}, late
		}
	}
	return p, err
}

// waits reports whether calls of a lane may wait for a permit.
func (c *core) waits(lane int) bool { return c.lanes.configs[lane].MaxWaiting > 0 }

// nodeOf returns the node that the driver's attempt will go to: that of the first
// replica, or of the next for each attempt of a read that was made before. With a
// replica policy that picks at random or in turn, as in those further attempts, or goes
// by racks and finds no open connection, the driver picks once more for itself: the
// permits are then right in number over all nodes, but not node by node.
//
// The driver's functions for batches do without the allocation of those for single records,
// and find the same node.
func (cl *call) nodeOf(policy *as.BasePolicy, key *as.Key) (*as.Node, as.Error) {
	cluster, replica := cl.session.client.Cluster(), policy.ReplicaPolicy
	if cl.trip.op.Kind == spillway.KindRead {
		before := cl.trip.attempts - 1
		return as.GetNodeBatchRead(cluster, key, replica, as.GetReplicaPolicySC(policy), nil, before, before)
	}
	return as.GetNodeBatchWrite(cluster, key, replica, nil, 0)
}
