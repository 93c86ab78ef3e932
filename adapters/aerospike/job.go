package aerospike

import (
	"context"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// A job runs at the servers. The call that begins it asks one node after the other, on
// a goroutine, with a permit of each; the Task that it returns tells when the job is
// done. A job isn't retried: one that was begun twice does its work twice. What is passed
// is copied, for the call may outlive its caller.

// QueryExecute applies operations to all records that a statement finds.
func (c *Client) QueryExecute(ctx context.Context, policy *as.QueryPolicy, writePolicy *as.WritePolicy, statement *as.Statement, ops ...*as.Operation) (*Task, error) {
	return c.jobTask(opQueryExecute)(c.queryExecute(ctx, policy, writePolicy, statement, ops))
}

func (c *Client) queryExecute(ctx context.Context, policy *as.QueryPolicy, writePolicy *as.WritePolicy, statement *as.Statement, ops []*as.Operation) (*as.ExecuteTask, uint64, error) {
	if c.core == nil {
		return nil, 0, errZero
	}
	write, ops := *either(writePolicy, &c.defaults.write), slices.Clone(ops)
	return c.job(ctx, opQueryExecute, policy, statement, nil, func(client *as.Client, p *as.QueryPolicy, st *as.Statement) (*as.ExecuteTask, as.Error) {
		w := write
		return client.QueryExecute(p, &w, st, ops...)
	})
}

// jobTask makes a Task of what a job has returned.
func (c *Client) jobTask(op *Operation) func(*as.ExecuteTask, uint64, error) (*Task, error) {
	return func(task *as.ExecuteTask, id uint64, err error) (*Task, error) {
		return c.task(op, id, jobDone(task, id), err)
	}
}

// ExecuteUDF applies a Lua function to all records that a statement finds.
func (c *Client) ExecuteUDF(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args ...as.Value) (*Task, error) {
	return c.jobTask(opExecuteUDF)(c.executeUDF(ctx, policy, statement, packageName, functionName, args))
}

func (c *Client) executeUDF(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args []as.Value) (*as.ExecuteTask, uint64, error) {
	args = slices.Clone(args)
	return c.job(ctx, opExecuteUDF, policy, statement, nil, func(client *as.Client, p *as.QueryPolicy, st *as.Statement) (*as.ExecuteTask, as.Error) {
		return client.ExecuteUDF(p, st, packageName, functionName, args...)
	})
}

// ExecuteUDFNode is ExecuteUDF for the records of one node.
func (c *Client) ExecuteUDFNode(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement, packageName, functionName string, args ...as.Value) (*Task, error) {
	return c.jobTask(opExecuteUDFNode)(c.executeUDFNode(ctx, policy, node, statement, packageName, functionName, args))
}

func (c *Client) executeUDFNode(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement, packageName, functionName string, args []as.Value) (*as.ExecuteTask, uint64, error) {
	if node == nil {
		return nil, 0, badArgument(opExecuteUDFNode, "node", nil, "must not be nil")
	}
	args = slices.Clone(args)
	return c.job(ctx, opExecuteUDFNode, policy, statement, node, func(client *as.Client, p *as.QueryPolicy, st *as.Statement) (*as.ExecuteTask, as.Error) {
		return client.ExecuteUDFNode(p, node, st, packageName, functionName, args...)
	})
}

// job begins a job.
func (c *Client) job(ctx context.Context, op *Operation, policy *as.QueryPolicy, statement *as.Statement, node *as.Node, begin func(*as.Client, *as.QueryPolicy, *as.Statement) (*as.ExecuteTask, as.Error)) (task *as.ExecuteTask, id uint64, err error) {
	if c.core == nil {
		return nil, 0, errZero
	}
	st, err := copyStatement(op, statement)
	if err != nil {
		return nil, 0, err
	}
	cl := &call{client: c.core, trip: trip{op: op, choices: &c.choices, ns: st.Namespace, set: st.SetName, attempts: 1, rows: -1}}
	c.routed(ctx, &cl.trip)
	err = c.do(ctx, &cl.trip, func(ctx context.Context) (err error) {
		if err = c.open(ctx, cl); err != nil {
			return err
		}
		if err = cl.admitting(ctx, func() error { return cl.admitJob(ctx, policy, node) }); err != nil {
			return err
		}
		ctx, stop := cl.bounded(ctx, cl.budget.ends())
		defer stop()
		p, own := cl.queryCopy(policy), *st // the driver writes to the statement
		task, err = apart(ctx, cl, new(sending).start(), func(cl *call) (*as.ExecuteTask, error) {
			cl.start()
			begun, err := begin(cl.session.client, p, &own)
			return begun, cl.wrap(err)
		})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return task, st.TaskId, nil
}

// admitJob allots the time of a job's beginning and takes a permit of every node.
func (cl *call) admitJob(ctx context.Context, policy *as.QueryPolicy, node *as.Node) error {
	if err := cl.allot(ctx, cl.queryPolicy(policy).TotalTimeout, cl.client.cfg.StreamTimeout); err != nil {
		return err
	}
	nodes := cl.session.client.Cluster().GetNodes()
	if node != nil {
		nodes = []*as.Node{node}
	}
	return cl.admitNodes(ctx, nodes)
}
