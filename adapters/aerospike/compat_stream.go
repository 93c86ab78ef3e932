package aerospike

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// The pauses between two looks at a Recordset, which tells nobody when it has ended.
const (
	shortestLook = 5 * time.Millisecond
	longestLook  = 50 * time.Millisecond
)

// longestFarewell is how long a Recordset whose time is over stays open at most, so that
// whoever reads it finds the driver's own timeout there, and not just the end.
const longestFarewell = 5 * time.Second

// watcher holds what a Recordset that was handed out needs, until that has ended. Its
// lease keeps the session open for it.
type watcher struct {
	call   call
	rs     *as.Recordset
	plan   plan
	until  time.Time       // when its time is over; zero if only the driver knows
	ctx    context.Context // ends with that of Compat, and then
	cancel context.CancelFunc
	once   sync.Once
}

// watchers are those of a session. The zero value has none.
type watchers struct {
	count atomic.Int64
	mu    sync.Mutex
	open  map[*watcher]struct{}
}

func (ws *watchers) add(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.open == nil {
		ws.open = map[*watcher]struct{}{}
	}
	ws.open[w] = struct{}{}
	ws.count.Add(1)
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.open, w)
	ws.count.Add(-1)
}

// sweep ends those whose Recordset has ended since somebody last looked: before a new
// stream is admitted, or one after the other would be refused for the one before.
func (ws *watchers) sweep() {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	open := slices.Collect(maps.Keys(ws.open))
	ws.mu.Unlock()
	for _, w := range open {
		if !w.rs.IsActive() {
			w.end(w.verdict())
		}
	}
}

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
		w := &watcher{call: *cl, rs: rs, plan: p}
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

// watch looks until the Recordset has ended, and ends it if its time is over.
func (w *watcher) watch() {
	look(w.rs, w.ctx.Done()) // also when a sweep has ended it
	if w.rs.IsActive() && errors.Is(context.Cause(w.ctx), context.DeadlineExceeded) {
		last := time.NewTimer(min(w.call.budget.total, longestFarewell))
		look(w.rs, last.C)
		last.Stop()
	}
	if !w.rs.IsActive() {
		w.end(w.verdict())
		return
	}
	w.drain()
	w.end(context.Cause(w.ctx))
}

// verdict is what became of a Recordset that has ended by itself, which tells its reader
// alone. One that ends when its time is over has ended by that; and here and there one
// that had just come to its end.
func (w *watcher) verdict() error {
	if w.until.IsZero() || time.Until(w.until) > shortestLook {
		return nil
	}
	return context.DeadlineExceeded
}

// look returns when the Recordset has ended, or until has a value.
func look[T any](rs *as.Recordset, until <-chan T) {
	pause := shortestLook
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for rs.IsActive() {
		select {
		case <-until:
			return
		case <-timer.C:
			pause = min(2*pause, longestLook)
			timer.Reset(pause)
		}
	}
}

// end gives back what the Recordset held, and tells the observer.
func (w *watcher) end(err error) {
	w.once.Do(func() {
		w.call.session.watchers.remove(w)
		w.cancel()
		w.call.stop()
		w.call.release(spillway.OutcomeOf(err))
		w.call.trip.report(w.call.trip.observation, err)
	})
}

// drain closes the Recordset and waits for its producers: see Stream.end.
func (w *watcher) drain() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = w.rs.Close() // says only whether it was the first
	}()
	if w.plan.wantsObjects {
		for range w.rs.Errors() {
		}
	} else {
		for range w.rs.Results() {
		}
	}
	<-closed
}

func (c *compat) ScanAll(policy *as.ScanPolicy, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanPlan(opScanAll, policy, as.NewPartitionFilterAll(), nil, namespace, set, binNames))
}

func (c *compat) ScanPartitions(policy *as.ScanPolicy, filter *as.PartitionFilter, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanPlan(opScanPartitions, policy, allIfNil(filter), nil, namespace, set, binNames))
}

func (c *compat) ScanNode(policy *as.ScanPolicy, node *as.Node, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanPlan(opScanNode, policy, nil, node, namespace, set, binNames))
}

func (c *compat) ScanAllObjects(policy *as.ScanPolicy, objects any, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanObjectsPlan(opScanAllObjects, policy, objects, as.NewPartitionFilterAll(), nil, namespace, set, binNames))
}

func (c *compat) ScanPartitionObjects(policy *as.ScanPolicy, objects any, filter *as.PartitionFilter, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanObjectsPlan(opScanPartitionObjects, policy, objects, allIfNil(filter), nil, namespace, set, binNames))
}

func (c *compat) ScanNodeObjects(policy *as.ScanPolicy, node *as.Node, objects any, namespace, set string, binNames ...string) (*as.Recordset, as.Error) {
	return c.openRecordset(scanObjectsPlan(opScanNodeObjects, policy, objects, nil, node, namespace, set, binNames))
}

func (c *compat) Query(policy *as.QueryPolicy, statement *as.Statement) (*as.Recordset, as.Error) {
	return c.openRecordset(queryPlan(opQuery, policy, statement, as.NewPartitionFilterAll(), nil))
}

func (c *compat) QueryPartitions(policy *as.QueryPolicy, statement *as.Statement, filter *as.PartitionFilter) (*as.Recordset, as.Error) {
	return c.openRecordset(queryPlan(opQueryPartitions, policy, statement, allIfNil(filter), nil))
}

func (c *compat) QueryNode(policy *as.QueryPolicy, node *as.Node, statement *as.Statement) (*as.Recordset, as.Error) {
	return c.openRecordset(queryPlan(opQueryNode, policy, statement, nil, node))
}

func (c *compat) QueryObjects(policy *as.QueryPolicy, statement *as.Statement, objects any) (*as.Recordset, as.Error) {
	return c.openRecordset(queryObjectsPlan(opQueryObjects, policy, statement, objects, as.NewPartitionFilterAll(), nil))
}

func (c *compat) QueryPartitionObjects(policy *as.QueryPolicy, statement *as.Statement, objects any, filter *as.PartitionFilter) (*as.Recordset, as.Error) {
	return c.openRecordset(queryObjectsPlan(opQueryPartitionObjects, policy, statement, objects, allIfNil(filter), nil))
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
