package aerospike

import (
	"context"
	"fmt"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// A batch takes a permit of every node that it touches, or of none, and asks all its
// nodes at once. It blocks until the driver returns: at the latest when ctx's deadline
// is reached, however many nodes there are.

// BatchGet reads many records, or those of their bins that are named. The records
// stand in the order of the keys; one that isn't there is nil. An error of one node
// fails the whole; what is returned beside an error is the driver's. Batches of reads
// are retried as a whole.
func (c *Client) BatchGet(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key, binNames ...string) (recs []*as.Record, err error) {
	err = c.batchKeys(ctx, opBatchGet, policy, keys, func(client *as.Client, p *as.BatchPolicy) (aerr as.Error) {
		recs, aerr = client.BatchGet(p, keys, binNames...)
		return aerr
	})
	return recs, err
}

// BatchGetHeader is BatchGet for generations and expirations alone.
func (c *Client) BatchGetHeader(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key) (recs []*as.Record, err error) {
	err = c.batchKeys(ctx, opBatchGetHeader, policy, keys, func(client *as.Client, p *as.BatchPolicy) (aerr as.Error) {
		recs, aerr = client.BatchGetHeader(p, keys)
		return aerr
	})
	return recs, err
}

// BatchGetOperate is BatchGet for operations that read.
func (c *Client) BatchGetOperate(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key, ops ...*as.Operation) (recs []*as.Record, err error) {
	if err = checkOps(opBatchGetOperate, "ops", ops); err != nil {
		return nil, err
	}
	err = c.batchKeys(ctx, opBatchGetOperate, policy, keys, func(client *as.Client, p *as.BatchPolicy) (aerr as.Error) {
		recs, aerr = client.BatchGetOperate(p, keys, ops...)
		return aerr
	})
	return recs, err
}

// BatchExists reports, in the order of the keys, whether records are there.
func (c *Client) BatchExists(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key) (exist []bool, err error) {
	err = c.batchKeys(ctx, opBatchExists, policy, keys, func(client *as.Client, p *as.BatchPolicy) (aerr as.Error) {
		exist, aerr = client.BatchExists(p, keys)
		return aerr
	})
	return exist, err
}

// BatchGetObjects reads many records into the structs that objects point to, by the
// driver's rules, and reports which were there.
func (c *Client) BatchGetObjects(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key, objects []any) (found []bool, err error) {
	if len(keys) != len(objects) {
		return nil, badArgument(opBatchGetObjects, "objects", len(objects), fmt.Sprintf("must be as many as keys, %d", len(keys)))
	}
	err = c.batchKeys(ctx, opBatchGetObjects, policy, keys, func(client *as.Client, p *as.BatchPolicy) (aerr as.Error) {
		found, aerr = client.BatchGetObjects(p, keys, objects)
		return aerr
	})
	return found, err
}

// BatchGetComplex reads many records, each as it asks for; the results are in the
// records.
func (c *Client) BatchGetComplex(ctx context.Context, policy *as.BatchPolicy, records []*as.BatchRead) error {
	keys := make([]*as.Key, len(records))
	for i, r := range records {
		if err := checkRecord(opBatchComplex, i, r); err != nil {
			return err
		}
		keys[i] = r.Key
	}
	return c.batchKeys(ctx, opBatchComplex, policy, keys, func(client *as.Client, p *as.BatchPolicy) as.Error {
		return client.BatchGetComplex(p, records)
	})
}

// batchKeys is every batch of reads.
func (c *Client) batchKeys(ctx context.Context, op *Operation, policy *as.BatchPolicy, keys []*as.Key, f func(*as.Client, *as.BatchPolicy) as.Error) error {
	if c.core == nil {
		return errZero
	}
	cl := c.batchCall(ctx, op, keys)
	return c.do(ctx, &cl.trip, func(ctx context.Context) error { return c.batchOnce(ctx, cl, policy, keys, f, nil) })
}

// batchCall begins the call of a batch.
func (c *Client) batchCall(ctx context.Context, op *Operation, keys []*as.Key) *call {
	cl := &call{client: c.core, trip: trip{op: op, choices: &c.choices, items: len(keys), rows: len(keys)}}
	t := &cl.trip
	if len(keys) > 0 {
		t.key(keys[0])
	}
	for _, key := range keys { // of several sets, or namespaces, it is for none
		if key != nil && key.SetName() != t.set {
			t.set = ""
		}
		if key != nil && key.Namespace() != t.ns {
			t.ns, t.set = "", ""
			break
		}
	}
	c.routed(ctx, t)
	return cl
}

// do makes a trip that may allocate.
func (c *Client) do(ctx context.Context, t *trip, attempt func(context.Context) error) error {
	if c.isWatched() {
		return c.watched(ctx, t, attempt)
	}
	return c.repeat(ctx, t, attempt)
}

// batchOnce is one attempt of a batch; unsent is as for call.batch.
func (c *Client) batchOnce(ctx context.Context, cl *call, policy *as.BatchPolicy, keys []*as.Key, f func(*as.Client, *as.BatchPolicy) as.Error, unsent func() bool) (err error) {
	if err = c.open(ctx, cl); err != nil {
		return err
	}
	defer cl.end(ctx, &err)
	policy = cl.batchPolicy(policy)
	if err = cl.admitKeys(ctx, policy, keys); err != nil {
		return err
	}
	return cl.batch(policy, func(p *as.BatchPolicy) as.Error { return f(cl.session.client, p) }, unsent)
}

// admitKeys allots the time of a batch and takes a permit of every node it touches.
func (cl *call) admitKeys(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key) error {
	if i := slices.Index(keys, nil); i >= 0 {
		return badArgument(cl.trip.op, fmt.Sprintf("keys[%d]", i), nil, "must not be nil")
	}
	if err := cl.allot(ctx, policy.TotalTimeout, cl.client.cfg.RecordTimeout); err != nil {
		return err
	}
	return cl.admitNodes(ctx, cl.nodesOf(&policy.BasePolicy, keys))
}

// nodesOf returns the nodes of keys, each once. One partition object does for all
// keys of a namespace; the driver would make one for each. A key that has no node, as in
// a namespace that there isn't, is the driver's to report: it is no reason to fail the
// others.
func (cl *call) nodesOf(policy *as.BasePolicy, keys []*as.Key) []*as.Node {
	cluster := cl.session.client.Cluster()
	reads := cl.trip.op.Kind == spillway.KindRead
	var nodes []*as.Node
	var partition *as.Partition
	for _, key := range keys {
		var node *as.Node
		var err as.Error
		if partition == nil || partition.Namespace != key.Namespace() {
			if reads {
				partition, err = as.PartitionForRead(cluster, policy, key)
			} else {
				partition, err = as.PartitionForWrite(cluster, policy, key)
			}
			if err != nil {
				partition = nil
				continue
			}
		}
		partition.PartitionId = key.PartitionId()
		if reads {
			node, err = partition.GetNodeRead(cluster)
		} else {
			node, err = partition.GetNodeWrite(cluster)
		}
		if err == nil && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}
