package aerospike

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Queries are streams like scans: see [Client.ScanAll]. Statements are copied, as are lists of
// bins and arguments, for the driver reads them when the method has returned. A statement
// with an index name is refused: the driver would send a malformed message for it; the
// server finds the index by the filter's bin.

// Query reads the records that a statement's filter finds; without one it is a scan.
func (c *Client) Query(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement) (*Stream, error) {
	return c.openStream(ctx, queryPlan(opQuery, policy, statement, as.NewPartitionFilterAll(), nil))
}

// QueryPartitions is Query for some partitions; see ScanPartitions for the filter.
func (c *Client) QueryPartitions(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter) (*Stream, error) {
	return c.openStream(ctx, queryPlan(opQueryPartitions, policy, statement, allIfNil(filter), nil))
}

// QueryNode is Query for the partitions of one node; see ScanNode for its errors.
func (c *Client) QueryNode(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement) (*Stream, error) {
	return c.openStream(ctx, queryPlan(opQueryNode, policy, statement, nil, node))
}

// queryPlan is every query that delivers records: of a node, or of partitions, of all of them
// without a filter.
func queryPlan(op *Operation, policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter, node *as.Node) plan {
	return queryOf(op, policy, statement, filter, node, needsNode(op, node), func(cl *call, p *as.QueryPolicy, st *as.Statement) (*as.Recordset, as.Error) {
		if node != nil {
			return cl.session.client.QueryNode(p, node, st)
		}
		return cl.session.client.QueryPartitions(p, st, filter)
	})
}

// QueryObjects is Query into structs: see ScanAllObjects.
func (c *Client) QueryObjects(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, objects any) (*ObjectStream, error) {
	return c.openObjects(ctx, queryObjectsPlan(opQueryObjects, policy, statement, objects, as.NewPartitionFilterAll(), nil))
}

// QueryPartitionObjects is QueryPartitions into structs: see ScanAllObjects.
func (c *Client) QueryPartitionObjects(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, objects any, filter *as.PartitionFilter) (*ObjectStream, error) {
	return c.openObjects(ctx, queryObjectsPlan(opQueryPartitionObjects, policy, statement, objects, allIfNil(filter), nil))
}

// QueryNodeObjects is QueryNode into structs: see ScanNodeObjects, also for what it can't
// tell.
func (c *Client) QueryNodeObjects(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement, objects any) (*ObjectStream, error) {
	return c.openObjects(ctx, queryObjectsPlan(opQueryNodeObjects, policy, statement, objects, nil, node))
}

// queryObjectsPlan is queryPlan for objects.
func queryObjectsPlan(op *Operation, policy *as.QueryPolicy, statement *as.Statement, objects any, filter *as.PartitionFilter, node *as.Node) plan {
	p := queryOf(op, policy, statement, filter, node, needsNode(op, node), func(cl *call, p *as.QueryPolicy, st *as.Statement) (*as.Recordset, as.Error) {
		if node != nil {
			return cl.session.client.QueryNodeObjects(p, node, st, objects)
		}
		return cl.session.client.QueryPartitionObjects(p, st, objects, filter)
	})
	p.wantsObjects, p.objects = true, objects
	return p
}

// queryOf is the plan of every query. A statement that can't be sent is its fault.
func queryOf(op *Operation, policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter, node *as.Node, fault error, start func(*call, *as.QueryPolicy, *as.Statement) (*as.Recordset, as.Error)) plan {
	st, err := copyStatement(op, statement)
	if err = cmp.Or(err, fault); err != nil {
		return plan{op: op, fault: err}
	}
	return plan{
		op: op, namespace: st.Namespace, set: st.SetName, filter: filter, node: node,
		start: func(cl *call, place *cursor) (*as.Recordset, as.Error) {
			p := cl.queryCopy(policy)
			place.begin(p.MaxRecords)
			return start(cl, p, st)
		},
		timeout: func(cl *call) time.Duration { return cl.queryPolicy(policy).TotalTimeout },
	}
}

// QueryAggregate runs a query through Lua functions, at the servers and at last here,
// and delivers what they return, as records with one bin "SUCCESS". If the functions here
// fail, or return before they have taken everything, the driver tells so at once and of the
// rest nothing: what nodes still send then has neither permit nor lease, until their
// connections' SocketTimeout at the latest.
func (c *Client) QueryAggregate(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args ...as.Value) (*Stream, error) {
	return c.openStream(ctx, aggregatePlan(policy, statement, packageName, functionName, args))
}

func aggregatePlan(policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args []as.Value) plan {
	args = slices.Clone(args)
	fault := checkArgs(opQueryAggregate, "args", args)
	return queryOf(opQueryAggregate, policy, statement, nil, nil, fault, func(cl *call, p *as.QueryPolicy, st *as.Statement) (*as.Recordset, as.Error) {
		return cl.session.client.QueryAggregate(p, st, packageName, functionName, args...)
	})
}

// queryCopy returns a copy of the policy with the call's budget. The driver keeps it
// until the stream has ended, so it comes from no pool.
func (cl *call) queryCopy(policy *as.QueryPolicy) *as.QueryPolicy {
	p := *cl.queryPolicy(policy)
	if cl.client.shapes() {
		cl.shapeStream(&p.BasePolicy)
	}
	return &p
}

// copyStatement returns a copy that the driver may write to. A job without an id gets
// one: the driver sends the id 0 and then asks for another, so it would take any job
// for done.
func copyStatement(op *Operation, statement *as.Statement) (*as.Statement, error) {
	if statement == nil {
		return nil, badArgument(op, "statement", nil, "must not be nil")
	}
	if statement.IndexName != "" {
		return nil, badArgument(op, "statement.IndexName", statement.IndexName, "must be empty: the server finds the index by the filter's bin")
	}
	st := *statement
	st.BinNames = slices.Clone(st.BinNames)
	if st.TaskId == 0 {
		st.TaskId = rand.Uint64()
	}
	return &st, nil
}
