package aerospike

import (
	"context"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// ScanAll reads all records of a set, or of a whole namespace if set is empty, or
// those of their bins that are named. It returns at once with a stream that must be
// drained or closed; the stream closes itself when ctx ends, or, if ctx has no
// deadline, after Config.StreamTimeout or the policy's TotalTimeout. Until it has
// ended it holds a permit of every node; if one of them has none, nothing is
// started.
func (c *Client) ScanAll(ctx context.Context, policy *as.ScanPolicy, namespace, set string, binNames ...string) (*Stream, error) {
	return c.openStream(ctx, scanPlan(opScanAll, policy, as.NewPartitionFilterAll(), nil, namespace, set, binNames))
}

// ScanPartitions is ScanAll for some partitions. The filter is the driver's cursor: it
// is written to until the stream's Done is closed, and says then where to go on, whatever
// ended the stream: behind the last record that All has yielded of each partition. It is
// done if all was read. Of a stream that has come to its end, with an error or without, All
// has settled it.
func (c *Client) ScanPartitions(ctx context.Context, policy *as.ScanPolicy, filter *as.PartitionFilter, namespace, set string, binNames ...string) (*Stream, error) {
	return c.openStream(ctx, scanPlan(opScanPartitions, policy, allIfNil(filter), nil, namespace, set, binNames))
}

// ScanNode is ScanAll for the partitions of one node. It ends with an error of the connection
// also if the driver has made that good since, for it doesn't say so here: where that matters,
// use ScanPartitions.
func (c *Client) ScanNode(ctx context.Context, policy *as.ScanPolicy, node *as.Node, namespace, set string, binNames ...string) (*Stream, error) {
	return c.openStream(ctx, scanPlan(opScanNode, policy, nil, node, namespace, set, binNames))
}

// allIfNil returns the filter, or one for all partitions.
func allIfNil(filter *as.PartitionFilter) *as.PartitionFilter {
	if filter == nil {
		return as.NewPartitionFilterAll()
	}
	return filter
}

// needsNode is the fault of a stream of one node that has none.
func needsNode(op *Operation, node *as.Node) error {
	switch op {
	case opScanNode, opScanNodeObjects, opQueryNode, opQueryNodeObjects:
		if node == nil {
			return badArgument(op, "node", nil, "must not be nil")
		}
	}
	return nil
}

// scanPlan is every scan that delivers records: of a node, or of partitions, of all of them
// without a filter.
func scanPlan(op *Operation, policy *as.ScanPolicy, filter *as.PartitionFilter, node *as.Node, namespace, set string, bins []string) plan {
	bins = slices.Clone(bins) // the driver reads them later
	return plan{
		op: op, namespace: namespace, set: set, filter: filter, node: node, fault: needsNode(op, node),
		start: func(cl *call, place *cursor) (*as.Recordset, as.Error) {
			p := cl.scanCopy(policy)
			place.begin(p.MaxRecords)
			if node != nil {
				return cl.session.client.ScanNode(p, node, namespace, set, bins...)
			}
			return cl.session.client.ScanPartitions(p, filter, namespace, set, bins...)
		},
		timeout: func(cl *call) time.Duration { return cl.scanPolicy(policy).TotalTimeout },
	}
}

// ScanAllObjects is ScanAll into structs: objects must be a chan *T, which the driver
// closes at the end. Whoever reads it must go on until it is closed, or close the
// stream; the stream's error is there when Done is.
func (c *Client) ScanAllObjects(ctx context.Context, policy *as.ScanPolicy, objects any, namespace, set string, binNames ...string) (*ObjectStream, error) {
	return c.openObjects(ctx, scanObjectsPlan(opScanAllObjects, policy, objects, as.NewPartitionFilterAll(), nil, namespace, set, binNames))
}

// ScanPartitionObjects is ScanPartitions into structs: see ScanAllObjects. The filter goes on
// behind the last object that was put into the channel.
func (c *Client) ScanPartitionObjects(ctx context.Context, policy *as.ScanPolicy, objects any, filter *as.PartitionFilter, namespace, set string, binNames ...string) (*ObjectStream, error) {
	return c.openObjects(ctx, scanObjectsPlan(opScanPartitionObjects, policy, objects, allIfNil(filter), nil, namespace, set, binNames))
}

// ScanNodeObjects is ScanNode into structs: see ScanAllObjects. Of a connection to the
// node that failed the driver tells nobody here: where that matters, use
// ScanPartitionObjects, whose filter says what was read.
func (c *Client) ScanNodeObjects(ctx context.Context, policy *as.ScanPolicy, node *as.Node, objects any, namespace, set string, binNames ...string) (*ObjectStream, error) {
	return c.openObjects(ctx, scanObjectsPlan(opScanNodeObjects, policy, objects, nil, node, namespace, set, binNames))
}

// scanObjectsPlan is scanPlan for objects.
func scanObjectsPlan(op *Operation, policy *as.ScanPolicy, objects any, filter *as.PartitionFilter, node *as.Node, namespace, set string, bins []string) plan {
	bins = slices.Clone(bins) // the driver reads them later
	return plan{
		op: op, namespace: namespace, set: set, filter: filter, node: node, wantsObjects: true, objects: objects, fault: needsNode(op, node),
		start: func(cl *call, place *cursor) (*as.Recordset, as.Error) {
			p := cl.scanCopy(policy)
			place.begin(p.MaxRecords)
			if node != nil {
				return cl.session.client.ScanNodeObjects(p, node, objects, namespace, set, bins...)
			}
			return cl.session.client.ScanPartitionObjects(p, objects, filter, namespace, set, bins...)
		},
		timeout: func(cl *call) time.Duration { return cl.scanPolicy(policy).TotalTimeout },
	}
}

// scanCopy returns a copy of the policy with the call's budget. The driver's own
// resuming of a scan stays on: it goes on after the last record of each partition,
// which nobody outside could.
func (cl *call) scanCopy(policy *as.ScanPolicy) *as.ScanPolicy {
	p := *cl.scanPolicy(policy)
	if cl.client.shapes() {
		cl.shapeStream(&p.BasePolicy)
	}
	return &p
}

func (cl *call) shapeStream(p *as.BasePolicy) {
	p.TotalTimeout = cl.budget.total
	p.SocketTimeout = cl.budget.socket(p.SocketTimeout)
	p.SleepBetweenRetries = max(p.SleepBetweenRetries, time.Millisecond)
}
