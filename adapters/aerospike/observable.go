package aerospike

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

var (
	_ observe.Describer  = (*Client)(nil)
	_ observe.Observable = (*Background)(nil)
)

// Observe implements observe.Observable. It yields the machine, with what the driver
// says of its connections ([Client.Metrics]); each lane as a whole, summed over all nodes,
// and as details the same at each node; the retriers and their budgets. Lanes and counts
// are there from the start, also while there is no connection, and counts go on over
// reconnects and changes of settings; facts of a connection are those of the current one.
// It takes locks for a moment, which calls don't.
func (c *Client) Observe(yield func(observe.Snapshot) bool) {
	if c.core == nil {
		return
	}
	machine := c.machine.Stats()
	first := observe.Snapshot{Component: "lifecycle", Name: machine.Name, Lifecycle: &machine, Own: c.ownPoints()}
	if yield(first) && c.observeLanes(yield) {
		c.observeRetries(yield)
	}
}

// OnTransition has f told of every change of the client's state, as
// lifecycle.Machine.OnTransition does. The zero Client tells nobody.
func (c *Client) OnTransition(f func(lifecycle.Transition)) (stop func()) {
	if c.core == nil {
		return func() {}
	}
	return c.machine.OnTransition(f)
}

// observeLanes yields every lane as a whole, and then at each node.
func (c *core) observeLanes(yield func(observe.Snapshot) bool) bool {
	all, tracked := c.laneSnapshots(), c.tracked()
	for _, l := range c.sumLanes(all) {
		holders := func() []spillway.Holder { return tracked.anywhere(l.Name) }
		if !yield(observe.Snapshot{Component: "lane", Name: c.cfg.Name, Lane: l.Name, Laned: &l, Holders: holders}) {
			return false
		}
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b laneKey) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.lane, b.lane))
	})
	for _, key := range keys {
		l := all[key]
		if key.node == "" || !l.Present {
			continue // of the whole client, or of a node that is gone
		}
		s := observe.Snapshot{Component: "lane", Name: c.cfg.Name, Lane: key.lane, Node: key.node, Detail: true, Laned: &l.Stats}
		s.Holders = func() []spillway.Holder { return tracked.at(key) }
		if !yield(s) {
			return false
		}
	}
	return true
}

// sumLanes returns each lane as if it were one, in the order of the configuration. What
// may be in use is the sum over the nodes that the cluster has now, whether there was a
// call to them or not.
func (c *core) sumLanes(all map[laneKey]LaneSnapshot) []lane.Stats {
	nodes := c.nodeNames()
	now := c.inForce.Load()
	sums := make([]lane.Stats, len(now.lanes))
	for i, l := range now.lanes {
		sum := lane.Stats{Name: l.Name, Mode: now.modes[i]}
		for key, s := range all {
			if key.lane == l.Name {
				sum = addUse(addCounts(sum, s.Stats), s.Stats)
			}
		}
		names := nodes
		if i == c.lanes.admin && len(nodes) > 0 {
			names = []string{""}
		}
		for _, node := range names {
			s, ok := all[laneKey{node, l.Name}]
			if !ok || !s.Present { // no call has gone there yet
				s.Stats = lane.Stats{Limit: l.Limit, MaxWaiting: l.MaxWaiting, Available: l.Limit}
			}
			sum.Limit += s.Stats.Limit
			sum.MaxWaiting += s.Stats.MaxWaiting
			sum.Available += s.Stats.Available
		}
		sums[i] = sum
	}
	return sums
}

// addUse returns s with what is in use, and waits, in t.
func addUse(s, t lane.Stats) lane.Stats {
	s.InUse += t.InUse
	s.Ghosts += t.Ghosts
	s.Waiting += t.Waiting
	s.OldestWait = max(s.OldestWait, t.OldestWait)
	s.Service = max(s.Service, t.Service)
	s.RetryAfter = max(s.RetryAfter, t.RetryAfter)
	return s
}

// nodeNames returns the nodes of the cluster; none if the client isn't connected.
func (c *core) nodeNames() []string {
	s, ok := c.machine.Current()
	if !ok {
		return nil
	}
	var names []string
	for _, node := range s.client.Cluster().GetNodes() {
		names = append(names, node.GetName())
	}
	return names
}

// observeRetries yields the retriers and their budgets.
func (c *core) observeRetries(yield func(observe.Snapshot) bool) {
	now := c.inForce.Load()
	retriers := []struct {
		stats  retry.Stats
		ok     bool
		budget *retry.Budget
	}{{budget: now.readPolicy.Budget}, {budget: now.writePolicy.Budget}, {budget: c.cfg.Connects.Budget}}
	retriers[0].stats, retriers[0].ok = c.readTotals.stats(now.reads)
	retriers[1].stats, retriers[1].ok = c.writeTotals.stats(now.writes)
	if c.connects != nil {
		retriers[2].stats, retriers[2].ok = c.connects.Stats(), true
	}
	var seen []*retry.Budget
	for _, r := range retriers {
		if !r.ok {
			continue
		}
		if !yield(observe.Snapshot{Component: "retry", Name: r.stats.Name, Retry: &r.stats}) {
			return
		}
		if r.budget == nil || slices.Contains(seen, r.budget) {
			continue // shared with one before
		}
		seen = append(seen, r.budget)
		b := r.budget.Stats()
		if !yield(observe.Snapshot{Component: "budget", Name: r.stats.Name, Budget: &b}) {
			return
		}
	}
}

// retryTotals carries the counts of one kind of retries on when Apply replaces its
// retrier. Calls that are still under way at the old one then, and those of one that
// nobody looked at, aren't in it.
type retryTotals struct {
	mu   sync.Mutex
	of   *retry.Retrier[struct{}]
	past retry.Stats
}

// stats returns the counts of the retrier and those before it; ok is false if there was
// none.
func (t *retryTotals) stats(now *retry.Retrier[struct{}]) (s retry.Stats, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now != t.of && t.of != nil {
		t.past = addRetries(t.past, t.of.Stats())
	}
	t.of = now
	if now == nil {
		return t.past, t.past.Name != ""
	}
	return addRetries(now.Stats(), t.past), true
}

// addRetries returns s with the counts of t added to its own.
func addRetries(s, t retry.Stats) retry.Stats {
	s.Name = cmp.Or(s.Name, t.Name)
	s.Canceled += t.Canceled
	s.Invalid += t.Invalid
	s.Aborted += t.Aborted
	s.Originals += t.Originals
	s.Retries += t.Retries
	for i := range t.Ended {
		s.Ended[i] += t.Ended[i]
		s.Retried[i] += t.Retried[i]
	}
	s.Delays = s.Delays.Add(t.Delays)
	return s
}

// Observe implements observe.Observable. Several of one client have one name, so that
// only one of them can be observed at a time.
func (b *Background) Observe(yield func(observe.Snapshot) bool) {
	if b.executor == nil {
		return
	}
	s := b.Stats()
	yield(observe.Snapshot{Component: "executor", Name: s.Name, Executor: &s})
}
