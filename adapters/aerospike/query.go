package aerospike

import (
	"context"
	"math/rand/v2"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Queries are streams like scans: see [Client.ScanAll]. The statement is copied. One
// with an index name is refused: the driver would send a malformed message for it; the
// server finds the index by the filter's bin.

// Query reads the records that a statement's filter finds; without one it is a scan.
func (c *Client) Query(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement) (*Stream, error) {
	return c.query(ctx, opQuery, policy, statement, as.NewPartitionFilterAll(), nil)
}

// QueryPartitions is Query for some partitions; see ScanPartitions for the filter.
func (c *Client) QueryPartitions(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter) (*Stream, error) {
	if filter == nil {
		filter = as.NewPartitionFilterAll()
	}
	return c.query(ctx, opQueryPartitions, policy, statement, filter, nil)
}

// QueryNode is Query for the partitions of one node.
func (c *Client) QueryNode(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement) (*Stream, error) {
	if node == nil {
		return nil, badArgument(opQueryNode, "node", nil, "must not be nil")
	}
	return c.query(ctx, opQueryNode, policy, statement, nil, node)
}

// query is every query that delivers records.
func (c *Client) query(ctx context.Context, op *Operation, policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter, node *as.Node) (*Stream, error) {
	st, err := copyStatement(op, statement)
	if err != nil {
		return nil, err
	}
	source := source{op: op, namespace: st.Namespace, set: st.SetName, filter: filter, node: node}
	return c.openStream(ctx, source, func(cl *call) (*as.Recordset, as.Error) {
		p := cl.queryCopy(policy)
		if node != nil {
			return cl.session.client.QueryNode(p, node, st)
		}
		return cl.session.client.QueryPartitions(p, st, filter)
	}, func(cl *call) time.Duration { return cl.queryPolicy(policy).TotalTimeout })
}

// QueryObjects is Query into structs: see ScanAllObjects.
func (c *Client) QueryObjects(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, objects any) (*ObjectStream, error) {
	return c.queryObjects(ctx, opQueryObjects, policy, statement, objects, as.NewPartitionFilterAll(), nil)
}

// QueryPartitionObjects is QueryPartitions into structs: see ScanAllObjects.
func (c *Client) QueryPartitionObjects(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, objects any, filter *as.PartitionFilter) (*ObjectStream, error) {
	if filter == nil {
		filter = as.NewPartitionFilterAll()
	}
	return c.queryObjects(ctx, opQueryPartitionObjects, policy, statement, objects, filter, nil)
}

// QueryNodeObjects is QueryNode into structs: see ScanAllObjects.
func (c *Client) QueryNodeObjects(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement, objects any) (*ObjectStream, error) {
	if node == nil {
		return nil, badArgument(opQueryNodeObjects, "node", nil, "must not be nil")
	}
	return c.queryObjects(ctx, opQueryNodeObjects, policy, statement, objects, nil, node)
}

func (c *Client) queryObjects(ctx context.Context, op *Operation, policy *as.QueryPolicy, statement *as.Statement, objects any, filter *as.PartitionFilter, node *as.Node) (*ObjectStream, error) {
	st, err := copyStatement(op, statement)
	if err != nil {
		return nil, err
	}
	source := source{op: op, namespace: st.Namespace, set: st.SetName, filter: filter, node: node, objects: objects}
	return c.openObjects(ctx, source, func(cl *call) (*as.Recordset, as.Error) {
		p := cl.queryCopy(policy)
		if node != nil {
			return cl.session.client.QueryNodeObjects(p, node, st, objects)
		}
		return cl.session.client.QueryPartitionObjects(p, st, objects, filter)
	}, func(cl *call) time.Duration { return cl.queryPolicy(policy).TotalTimeout })
}

// QueryAggregate runs a query through Lua functions, at the servers and at last here,
// and delivers what they return, as records with one bin "SUCCESS".
func (c *Client) QueryAggregate(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args ...as.Value) (*Stream, error) {
	st, err := copyStatement(opQueryAggregate, statement)
	if err != nil {
		return nil, err
	}
	source := source{op: opQueryAggregate, namespace: st.Namespace, set: st.SetName}
	return c.openStream(ctx, source, func(cl *call) (*as.Recordset, as.Error) {
		return cl.session.client.QueryAggregate(cl.queryCopy(policy), st, packageName, functionName, args...)
	}, func(cl *call) time.Duration { return cl.queryPolicy(policy).TotalTimeout })
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
	if st.TaskId == 0 {
		st.TaskId = rand.Uint64()
	}
	return &st, nil
}
