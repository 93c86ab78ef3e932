package aerospike

import (
	"context"
	"fmt"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// BatchGet reads many records, or those of their bins that are named, in one
// request per node. The records stand in the order of the keys; one that isn't
// there is nil. It takes a permit of every node that it touches, or of none, and
// asks them all at once. An error of one node fails the whole, and the records are
// nil then.
func (c *Client) BatchGet(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key, binNames ...string) (recs []*as.Record, err error) {
	var cl call
	if err = c.open(ctx, &cl, opBatchGet); err != nil {
		return nil, err
	}
	defer cl.end(&err)
	policy = cl.batchPolicy(policy)
	if err = cl.admitKeys(ctx, policy, keys); err != nil {
		return nil, err
	}
	err = cl.batch(policy, func(p *as.BatchPolicy) (aerr as.Error) {
		recs, aerr = cl.session.client.BatchGet(p, keys, binNames...)
		return aerr
	})
	if err != nil && !policy.AllowPartialResults {
		recs = nil
	}
	return recs, err
}

// admitKeys allots the time of a batch and takes a permit of every node it touches.
func (cl *call) admitKeys(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key) error {
	if i := slices.Index(keys, nil); i >= 0 {
		return badArgument(cl.op, fmt.Sprintf("keys[%d]", i), nil, "must not be nil")
	}
	if len(keys) > 0 {
		cl.ns, cl.set = keys[0].Namespace(), keys[0].SetName()
	}
	if err := cl.allot(ctx, policy.TotalTimeout, cl.client.cfg.RecordTimeout); err != nil {
		return err
	}
	nodes, err := cl.nodesOf(&policy.BasePolicy, keys)
	if err != nil {
		return cl.wrap(err)
	}
	return cl.admitNodes(ctx, nodes)
}

// nodesOf returns the nodes of keys, each once. One partition object does for all
// keys of a namespace; the driver would make one for each.
func (cl *call) nodesOf(policy *as.BasePolicy, keys []*as.Key) ([]*as.Node, as.Error) {
	cluster := cl.session.client.Cluster()
	var nodes []*as.Node
	var partition *as.Partition
	for _, key := range keys {
		if partition == nil || partition.Namespace != key.Namespace() {
			var err as.Error
			if partition, err = as.PartitionForRead(cluster, policy, key); err != nil {
				return nil, err
			}
		}
		partition.PartitionId = key.PartitionId()
		node, err := partition.GetNodeRead(cluster)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}
