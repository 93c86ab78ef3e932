package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// A job runs at the servers. The call that begins it asks one node after the other, on
// a goroutine, with a permit of each; the Task that it returns tells when the job is
// done. A job isn't retried: one that was begun twice does its work twice.

// QueryExecute applies operations to all records that a statement finds.
func (c *Client) QueryExecute(ctx context.Context, policy *as.QueryPolicy, writePolicy *as.WritePolicy, statement *as.Statement, ops ...*as.Operation) (*Task, error) {
	return c.job(ctx, opQueryExecute, policy, statement, nil, func(client *as.Client, p *as.QueryPolicy, st *as.Statement) (*as.ExecuteTask, as.Error) {
		return client.QueryExecute(p, writePolicy, st, ops...)
	})
}

// ExecuteUDF applies a Lua function to all records that a statement finds.
func (c *Client) ExecuteUDF(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args ...as.Value) (*Task, error) {
	return c.job(ctx, opExecuteUDF, policy, statement, nil, func(client *as.Client, p *as.QueryPolicy, st *as.Statement) (*as.ExecuteTask, as.Error) {
		return client.ExecuteUDF(p, st, packageName, functionName, args...)
	})
}

// ExecuteUDFNode is ExecuteUDF for the records of one node.
func (c *Client) ExecuteUDFNode(ctx context.Context, policy *as.QueryPolicy, node *as.Node, statement *as.Statement, packageName, functionName string, args ...as.Value) (*Task, error) {
	if node == nil {
		return nil, badArgument(opExecuteUDFNode, "node", nil, "must not be nil")
	}
	return c.job(ctx, opExecuteUDFNode, policy, statement, node, func(client *as.Client, p *as.QueryPolicy, st *as.Statement) (*as.ExecuteTask, as.Error) {
		return client.ExecuteUDFNode(p, node, st, packageName, functionName, args...)
	})
}

// job begins a job.
func (c *Client) job(ctx context.Context, op *Operation, policy *as.QueryPolicy, statement *as.Statement, node *as.Node, begin func(*as.Client, *as.QueryPolicy, *as.Statement) (*as.ExecuteTask, as.Error)) (*Task, error) {
	if c.core == nil {
		return nil, errZero
	}
	st, err := copyStatement(op, statement)
	if err != nil {
		return nil, err
	}
	t := &trip{op: op, choices: &c.choices, ns: st.Namespace, set: st.SetName, attempts: 1, rows: -1}
	c.routed(ctx, t)
	task := &Task{client: c, op: op, id: st.TaskId}
	err = c.do(ctx, t, func(ctx context.Context) error {
		cl := &call{client: c.core, trip: t}
		if err := c.open(ctx, cl); err != nil {
			return err
		}
		if err := cl.admitJob(ctx, policy, node); err != nil {
			cl.release(spillway.OutcomeLocal)
			return err
		}
		done := make(chan error, 1)
		go func() {
			var err error
			defer func() { done <- err }()
			defer cl.end(&err)
			cl.start()
			begun, aerr := begin(cl.session.client, cl.queryCopy(policy), st)
			if err = cl.wrap(aerr); err == nil {
				task.poll = begun.IsDone
			}
		}()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err != nil {
		return nil, err
	}
	return task, nil
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
