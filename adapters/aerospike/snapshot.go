package aerospike

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter/adaptive"
	"github.com/spillway-go/spillway/retry"
)

// Snapshot is what a client looks like at one moment.
type Snapshot struct {
	Connection lifecycle.Stats // the life of the connection
	Lanes      []LaneSnapshot  // every lane at every node, by node and name
	Reads      retry.Stats     // of the retries of reads
	Writes     retry.Stats     // of the retries of writes
	Expired    uint64          // calls that had no time left and were not sent
	// NotRetried are calls that failed in a way that passes, whose policy asks the driver
	// for further attempts (its MaxRetries is 2 at least), and that were left at one:
	// writes that nobody has declared idempotent, and clients with NoRetry.
	NotRetried uint64
	// WouldExpire and WouldNotRetry are what mode Shadow finds of both. A call that one of
	// the driver's own attempts has made good is not among them, for the driver tells
	// nobody; its statistics have "transaction-retry-count".
	WouldExpire, WouldNotRetry uint64
}

// LaneSnapshot is one lane at one node. Its counts go on over reconnects, and when the node
// leaves the cluster and comes back, and never go back. Of nodes that have been gone for a
// while the last 64 have a name; what all those before have counted is in one snapshot for
// each lane, without one.
type LaneSnapshot struct {
	Node    string     // the node's name; empty for the lane of administration
	Lane    string     // the lane's name
	Present bool       // whether the current connection has used it, and the cluster has the node
	Stats   lane.Stats // its limit and what came of the calls
	// Holders lists who holds its permits, the oldest first: the call site of each, or its
	// stack. It is empty unless LaneConfig.Track says otherwise.
	Holders []spillway.Holder
	// Adaptive is what moves the limit, of the current connection; nil if nothing does, or
	// the node is gone.
	Adaptive *adaptive.Stats
}

// laneKey names a lane at a node.
type laneKey struct{ node, lane string }

// Snapshot returns what the client looks like. It takes locks for a moment, which
// calls don't.
func (c *Client) Snapshot() Snapshot {
	if c.core == nil {
		return Snapshot{}
	}
	snap := Snapshot{
		Connection: c.machine.Stats(), Expired: c.missed.expired.Load(), NotRetried: c.missed.notRetried.Load(),
		WouldExpire: c.missed.wouldExpire.Load(), WouldNotRetry: c.missed.wouldNotRetry.Load(),
	}
	now := c.inForce.Load()
	if now.reads != nil {
		snap.Reads = now.reads.Stats()
	}
	if now.writes != nil {
		snap.Writes = now.writes.Stats()
	}
	lanes, holders := c.laneSnapshots(), c.tracked()
	for key, l := range lanes {
		l.Holders = holders.at(key)
		lanes[key] = l
	}
	snap.Lanes = slices.SortedFunc(maps.Values(lanes), func(a, b LaneSnapshot) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Lane, b.Lane))
	})
	return snap
}

// Lane returns the lane of a node, the zero value if there is none.
func (s Snapshot) Lane(node, name string) lane.Stats {
	for _, l := range s.Lanes {
		if l.Node == node && l.Lane == name {
			return l.Stats
		}
	}
	return lane.Stats{}
}

// stats returns the statistics of every lane.
func (s *session) stats() map[laneKey]lane.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[laneKey]lane.Stats{{"", LaneAdmin}: s.admin.Stats()}
	for _, g := range s.byName {
		maps.Copy(all, s.statsOf(g))
	}
	return all
}

// statsOf returns the statistics of the lanes of one node.
func (s *session) statsOf(g *guard) map[laneKey]lane.Stats {
	all := map[laneKey]lane.Stats{}
	for i, l := range g.lanes {
		if l != nil {
			all[laneKey{g.name, s.owner.lanes.configs[i].Name}] = l.Stats()
		}
	}
	return all
}

// laneSnapshots returns every lane, its counts over all sessions.
func (c *core) laneSnapshots() map[laneKey]LaneSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	current, _ := c.machine.Current()
	var present members
	if current != nil {
		present = current.members()
		c.forgetGoneLocked(current, present)
	}
	lanes := map[laneKey]LaneSnapshot{}
	for key, past := range c.past {
		past.Name = key.lane
		lanes[key] = LaneSnapshot{Node: key.node, Lane: key.lane, Stats: past}
	}
	for _, s := range c.live {
		for key, stats := range s.stats() {
			l := lanes[key]
			if s == current {
				stats.InUse += l.Stats.InUse // of a session that is still to end
				stats = addCounts(stats, l.Stats)
			} else {
				inUse := stats.InUse + l.Stats.InUse
				stats = addCounts(l.Stats, stats)
				stats.InUse = inUse
			}
			lanes[key] = LaneSnapshot{Node: key.node, Lane: key.lane, Present: l.Present || s == current && (key.node == "" || present.has(key.node)), Stats: stats}
		}
	}
	if current != nil {
		current.addAdaptive(lanes)
	}
	return lanes
}

// addAdaptive adds what moves the limits.
func (s *session) addAdaptive(lanes map[laneKey]LaneSnapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, g := range s.byName {
		for i, ctl := range g.controllers {
			if ctl == nil {
				continue
			}
			key := laneKey{name, s.owner.lanes.configs[i].Name}
			if l := lanes[key]; l.Present {
				moved := ctl.Stats()
				l.Adaptive = &moved
				lanes[key] = l
			}
		}
	}
}

// addCounts returns s with the counts of t added to its own.
func addCounts(s, t lane.Stats) lane.Stats {
	s.Admitted += t.Admitted
	s.WouldRefuse += t.WouldRefuse
	s.Raised += t.Raised
	s.Lowered += t.Lowered
	s.Canceled += t.Canceled
	s.TimedOut += t.TimedOut
	s.AfterClose += t.AfterClose
	s.Invalid += t.Invalid
	s.Aborted += t.Aborted
	s.GhostsTotal += t.GhostsTotal
	s.BorrowedTotal += t.BorrowedTotal
	s.Lent += t.Lent
	for i, n := range t.Refused {
		s.Refused[i] += n
	}
	for i, n := range t.Ended {
		s.Ended[i] += n
	}
	s.Hold, s.Wait = s.Hold.Add(t.Hold), s.Wait.Add(t.Wait)
	return s
}

// retire adds a session's counts to those of the past. It is called when nothing of
// the session is under way any more.
func (c *core) retire(s *session) {
	c.driver.retire(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = slices.DeleteFunc(c.live, func(have *session) bool { return have == s })
	c.keepLocked(s.stats())
}
