package aerospike

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
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

// LaneSnapshot is one lane at one node. Its counts go on over reconnects.
type LaneSnapshot struct {
	Node    string     // the node's name; empty for the lane of administration
	Lane    string     // the lane's name
	Present bool       // whether the current connection has used it
	Stats   lane.Stats // its limit and what came of the calls
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
	snap.Lanes = c.laneSnapshots()
	return snap
}

// laneSnapshots are the lanes of the present connection, with what earlier ones have
// counted, also those that Close had to leave open.
func (c *core) laneSnapshots() []LaneSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	present, connected := c.machine.Current()
	past := maps.Clone(c.past)
	lanes := map[laneKey]LaneSnapshot{}
	for s := range c.open {
		for key, stats := range s.stats() {
			if connected && s == present {
				lanes[key] = LaneSnapshot{Node: key.node, Lane: key.lane, Present: true, Stats: stats}
			} else {
				past[key] = totalsOf(past[key].addTo(stats))
			}
		}
	}
	for key, t := range past {
		l, ok := lanes[key]
		if !ok {
			l = LaneSnapshot{Node: key.node, Lane: key.lane, Stats: lane.Stats{Name: key.lane}}
		}
		l.Stats = t.addTo(l.Stats)
		lanes[key] = l
	}
	return slices.SortedFunc(maps.Values(lanes), func(a, b LaneSnapshot) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Lane, b.Lane))
	})
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
	for name, g := range s.byName {
		for i, l := range g.lanes {
			if l != nil {
				all[laneKey{name, s.owner.lanes.configs[i].Name}] = l.Stats()
			}
		}
	}
	return all
}

// totals are the counts of a lane in ended sessions.
type totals struct {
	admitted, wouldRefuse, canceled, aborted, ghosts, afterClose, invalid uint64
	refused                                                               spillway.RefusalCounts
	ended                                                                 spillway.OutcomeCounts
}

// addTo returns the statistics with the totals added.
func (t totals) addTo(s lane.Stats) lane.Stats {
	s.Admitted += t.admitted
	s.WouldRefuse += t.wouldRefuse
	s.Canceled += t.canceled
	s.Aborted += t.aborted
	s.GhostsTotal += t.ghosts
	s.AfterClose += t.afterClose
	s.Invalid += t.invalid
	for i, n := range t.refused {
		s.Refused[i] += n
	}
	for i, n := range t.ended {
		s.Ended[i] += n
	}
	return s
}

// totalsOf takes the counts out of statistics.
func totalsOf(s lane.Stats) totals {
	return totals{
		admitted: s.Admitted, wouldRefuse: s.WouldRefuse, canceled: s.Canceled, aborted: s.Aborted, ghosts: s.GhostsTotal,
		afterClose: s.AfterClose, invalid: s.Invalid, refused: s.Refused, ended: s.Ended,
	}
}

// retire adds a session's counts to those of the past. It is called when nothing of
// the session is under way any more.
func (c *core) retire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, stats := range s.stats() {
		c.past[key] = totalsOf(c.past[key].addTo(stats))
	}
	delete(c.open, s)
}
