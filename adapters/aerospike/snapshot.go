package aerospike

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/limiter"
)

// Snapshot is what a client looks like at one moment.
type Snapshot struct {
	Connection lifecycle.Stats // the life of the connection
	Nodes      []NodeSnapshot  // the nodes' guards, by name
	Expired    uint64          // calls that had no time left and were not sent
}

// NodeSnapshot is one node's guard. Its counts go on over reconnects.
type NodeSnapshot struct {
	Node    string        // its name
	Present bool          // whether the current connection has used it
	Limiter limiter.Stats // its limit and what came of the calls
}

// Snapshot returns what the client looks like. It takes locks for a moment, which
// calls don't.
func (c *Client) Snapshot() Snapshot {
	if c.machine == nil {
		return Snapshot{}
	}
	snap := Snapshot{Connection: c.machine.Stats(), Expired: c.expired.Load()}
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := map[string]NodeSnapshot{}
	for name, t := range c.past {
		nodes[name] = NodeSnapshot{Node: name, Limiter: t.addTo(limiter.Stats{Name: c.cfg.Name + "/" + name})}
	}
	if lease, err := c.machine.Lease(); err == nil {
		defer lease.Release()
		for name, stats := range lease.Conn().stats() {
			nodes[name] = NodeSnapshot{Node: name, Present: true, Limiter: c.past[name].addTo(stats)}
		}
	}
	snap.Nodes = slices.SortedFunc(maps.Values(nodes), func(a, b NodeSnapshot) int { return cmp.Compare(a.Node, b.Node) })
	return snap
}

// stats returns the statistics of every node's limiter.
func (s *session) stats() map[string]limiter.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]limiter.Stats, len(s.byName))
	for name, g := range s.byName {
		all[name] = g.limiter.Stats()
	}
	return all
}

// totals are the counts of a node's limiters of ended sessions.
type totals struct {
	admitted, wouldRefuse, canceled, aborted, ghosts uint64
	refused                                          spillway.RefusalCounts
	ended                                            spillway.OutcomeCounts
}

// addTo returns the statistics with the totals added.
func (t totals) addTo(s limiter.Stats) limiter.Stats {
	s.Admitted += t.admitted
	s.WouldRefuse += t.wouldRefuse
	s.Canceled += t.canceled
	s.Aborted += t.aborted
	s.GhostsTotal += t.ghosts
	for i, n := range t.refused {
		s.Refused[i] += n
	}
	for i, n := range t.ended {
		s.Ended[i] += n
	}
	return s
}

// retire adds a session's counts to those of the past. It is called when nothing of
// the session is under way any more.
func (c *Client) retire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, stats := range s.stats() {
		sum := c.past[name].addTo(stats)
		c.past[name] = totals{
			admitted: sum.Admitted, wouldRefuse: sum.WouldRefuse, canceled: sum.Canceled, aborted: sum.Aborted,
			ghosts: sum.GhostsTotal, refused: sum.Refused, ended: sum.Ended,
		}
	}
}
