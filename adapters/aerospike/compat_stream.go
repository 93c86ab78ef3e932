package aerospike

import (
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Scans, queries and jobs. A filter is passed on only if there is one: nobody here would ask
// it, and the producers of objects, one at each node, write to it at the same time.

// openRecordset starts a stream and hands the driver's Recordset out, under the eyes of
// a watcher.
func (c *compat) openRecordset(p plan) (*as.Recordset, as.Error) {
	if p.wantsObjects {
		if err := p.checkObjects(); err != nil {
			return nil, c.fail(err)
		}
	}
	var opened *as.Recordset
	err := c.guarded.startStream(c.ctx, p, nil, func(cl *call, rs *as.Recordset) func() {
		w := &watcher{call: *cl, rs: rs, objects: p.wantsObjects, over: make(chan struct{})}
		if c.guarded.shapes() {
			w.until = time.Now().Add(cl.budget.total)
		}
		w.ctx, w.cancel = cl.streamContext(c.ctx)
		opened = rs
		w.call.session.watchers.add(w)
		go w.watch()
		return w.cancel
	})
	if err != nil {
		return nil, c.fail(err)
	}
	return opened, nil
}

func (c *compat) ScanAll(policy *as.ScanPolicy, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanPlan(opScanAll, policy, nil, nil, namespace, set, binNames))
}

func (c *compat) ScanPartitions(policy *as.ScanPolicy, filter *as.PartitionFilter, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanPlan(opScanPartitions, policy, filter, nil, namespace, set, binNames))
}

func (c *compat) ScanNode(policy *as.ScanPolicy, node *as.Node, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanPlan(opScanNode, policy, nil, node, namespace, set, binNames))
}

func (c *compat) ScanAllObjects(policy *as.ScanPolicy, objects any, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanObjectsPlan(opScanAllObjects, policy, objects, nil, nil, namespace, set, binNames))
}

func (c *compat) ScanPartitionObjects(policy *as.ScanPolicy, objects any, filter *as.PartitionFilter, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanObjectsPlan(opScanPartitionObjects, policy, objects, filter, nil, namespace, set, binNames))
}

func (c *compat) ScanNodeObjects(policy *as.ScanPolicy, node *as.Node, objects any, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanObjectsPlan(opScanNodeObjects, policy, objects, nil, node, namespace, set, binNames))
}

func (c *compat) Query(policy *as.QueryPolicy, statement *as.Statement) (*as.Recordset, as.Error) {
	return c.openRecordset(queryPlan(opQuery, policy, statement, nil, nil))
}

func (c *compat) QueryPartitions(policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter) (*as.Recordset, as.Error) {
	return c.openRecordset(queryPlan(opQueryPartitions, policy, statement, filter, nil))
}

func (c *compat) QueryNode(policy *as.QueryPolicy, node *as.Node, statement *as.Statement) (*as.Recordset, as.Error) {
	return c.openRecordset(queryPlan(opQueryNode, policy, statement, nil, node))
}

func (c *compat) QueryObjects(policy *as.QueryPolicy, statement *as.Statement, objects any) (*as.Recordset, as.Error) {
	return c.openRecordset(queryObjectsPlan(opQueryObjects, policy, statement, objects, nil, nil))
}

func (c *compat) QueryPartitionObjects(policy *as.QueryPolicy, statement *as.Statement, objects any, filter *as.PartitionFilter) (*as.Recordset, as.Error) {
	return c.openRecordset(queryObjectsPlan(opQueryPartitionObjects, policy, statement, objects, filter, nil))
}

func (c *compat) QueryNodeObjects(policy *as.QueryPolicy, node *as.Node, statement *as.Statement, objects any) (*as.Recordset, as.Error) {
	return c.openRecordset(queryObjectsPlan(opQueryNodeObjects, policy, statement, objects, nil, node))
}

func (c *compat) QueryAggregate(policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args ...as.Value) (*as.Recordset, as.Error) {
	return c.openRecordset(aggregatePlan(policy, statement, packageName, functionName, args))
}

func (c *compat) QueryExecute(policy *as.QueryPolicy, writePolicy *as.WritePolicy, statement *as.Statement, ops ...*as.Operation) (*as.ExecuteTask, as.Error) {
	task, _, err := c.guarded.queryExecute(c.ctx, policy, writePolicy, statement, ops)
	return task, c.failWrite(err)
}

func (c *compat) ExecuteUDF(policy *as.QueryPolicy, statement *as.Statement, packageName, functionName string, args ...as.Value) (*as.ExecuteTask, as.Error) {
	task, _, err := c.guarded.executeUDF(c.ctx, policy, statement, packageName, functionName, args)
	return task, c.failWrite(err)
}

func (c *compat) ExecuteUDFNode(policy *as.QueryPolicy, node *as.Node, statement *as.Statement, packageName, functionName string, args ...as.Value) (*as.ExecuteTask, as.Error) {
	task, _, err := c.guarded.executeUDFNode(c.ctx, policy, node, statement, packageName, functionName, args)
	return task, c.failWrite(err)
}
