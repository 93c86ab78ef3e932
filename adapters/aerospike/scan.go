package aerospike

import (
	"context"
	"fmt"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// ScanAll reads all records of a set, or of a whole namespace if set is empty, or
// those of their bins that are named. It returns at once with a stream that must be
// drained or closed; the stream closes itself when ctx ends, or, if ctx has no
// deadline, after Config.StreamTimeout or the policy's TotalTimeout. Until it has
// ended it holds a permit of every node; if one of them has none, nothing is
// started.
func (c *Client) ScanAll(ctx context.Context, policy *as.ScanPolicy, namespace, set string, binNames ...string) (_ *Stream, err error) {
	var cl call
	if err = c.open(ctx, &cl, opScanAll); err != nil {
		return nil, err
	}
	started := false
	defer func() {
		if !started {
			cl.end(&err)
		}
	}()
	cl.ns, cl.set = namespace, set
	policy = cl.scanPolicy(policy)
	if err = cl.allot(ctx, policy.TotalTimeout, c.cfg.StreamTimeout); err != nil {
		return nil, err
	}
	client := cl.session.client
	if err = cl.admitNodes(ctx, client.Cluster().GetNodes()); err != nil {
		return nil, err
	}
	p := *policy
	if cl.shapes() {
		// The driver's own resuming of a scan stays on: it goes on after the last
		// record of each partition, which nobody outside could.
		p.TotalTimeout = cl.budget.total
		p.SocketTimeout = cl.budget.socket(p.SocketTimeout)
		p.SleepBetweenRetries = max(p.SleepBetweenRetries, time.Millisecond)
	}
	filter := as.NewPartitionFilterAll()
	rs, aerr := client.ScanPartitions(&p, filter, namespace, set, binNames...)
	if aerr != nil {
		return nil, cl.wrap(aerr)
	}
	started = true
	return newStream(ctx, &cl, rs, filter), nil
}

// errStreamTimeout is the cause of a stream that took longer than its time.
func (cl *call) errStreamTimeout() error {
	return fmt.Errorf("aerospike: %s took longer than %v: %w", cl.op.name, cl.budget.total, context.DeadlineExceeded)
}
