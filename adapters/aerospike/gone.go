package aerospike

import (
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/lane"
)

// forgetAfter is how long a node has to be gone before its lanes are forgotten. One that
// is only restarted keeps them, and what its limits have learned.
const forgetAfter = time.Minute

// maxPast bounds the nodes whose counts are kept by name when their lanes are not there
// any more. Where each restart gives a node another name there is no end to them; those
// that have been gone for longest are one, with no name, so that no sum goes back.
const maxPast = 64

// members are the names of the nodes that the cluster has now. Nil is not known, because
// the driver panics: none is taken to be gone then.
type members map[string]bool

func (m members) has(node string) bool { return m == nil || m[node] }

func (s *session) members() (names members) {
	defer func() {
		if recover() != nil {
			names = nil
		}
	}()
	names = members{}
	for _, node := range s.client.Cluster().GetNodes() {
		names[node.GetName()] = true
	}
	return names
}

// forgetGone has the session forget what nodes have left behind, and keeps their counts.
func (c *core) forgetGone(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetGoneLocked(s, s.members())
}

func (c *core) forgetGoneLocked(s *session, present members) {
	for _, g := range s.forget(present, time.Now()) {
		c.keepLocked(s.statsOf(g))
	}
}

// forget looks for nodes that have left the cluster. At first no call finds their lanes
// any more, unless it still has the node in its hands; when they are at rest, a good while
// later, they are forgotten, and returned.
func (s *session) forget(present members, now time.Time) (forgotten []*guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := map[string]bool{}
	for name, g := range s.byName {
		if present.has(name) {
			delete(s.gone, name)
			continue
		}
		since, known := s.gone[name]
		switch {
		case !known:
			lost[name] = true
			s.gone[name] = now
		case now.Sub(since) >= forgetAfter && g.atRest():
			lost[name] = true
			forgotten = append(forgotten, g)
			delete(s.gone, name)
			delete(s.byName, name)
		}
	}
	if len(lost) > 0 {
		s.hideLocked(lost)
	}
	return forgotten
}

// hideLocked takes nodes out of where calls look for guards.
func (s *session) hideLocked(lost map[string]bool) {
	old := *s.guards.Load()
	next := make(map[*as.Node]*guard, len(old))
	for node, g := range old {
		if !lost[g.name] {
			next[node] = g
		}
	}
	s.guards.Store(&next)
	for _, t := range *s.tables.Load() {
		for i := range t.guards {
			if g := t.guards[i].Load(); g != nil && lost[g.name] {
				t.guards[i].CompareAndSwap(g, nil)
			}
		}
	}
}

// atRest reports whether nothing is under way in the lanes, and nobody waits for them.
func (g *guard) atRest() bool {
	for _, l := range g.lanes {
		if l == nil {
			continue
		}
		if s := l.Stats(); s.InUse > 0 || s.Waiting > 0 {
			return false
		}
	}
	return true
}

// keepLocked adds the counts of lanes that are not there any more to those of the past.
func (c *core) keepLocked(ended map[laneKey]lane.Stats) {
	for key, stats := range ended {
		c.past[key] = addCounts(c.past[key], stats)
		if key.node != "" && !slices.Contains(c.pastNodes, key.node) {
			c.pastNodes = append(c.pastNodes, key.node)
		}
	}
	for len(c.pastNodes) > maxPast {
		node := c.pastNodes[0]
		c.pastNodes = slices.Delete(c.pastNodes, 0, 1)
		if c.livesLocked(node) {
			continue // its counts go on; it is noted again when they end
		}
		for _, l := range c.lanes.configs {
			key, nameless := laneKey{node, l.Name}, laneKey{"", l.Name}
			if stats, ok := c.past[key]; ok {
				c.past[nameless] = addCounts(c.past[nameless], stats)
				delete(c.past, key)
			}
		}
	}
}

// livesLocked reports whether a session has lanes of the node.
func (c *core) livesLocked(node string) bool {
	return slices.ContainsFunc(c.live, func(s *session) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.byName[node] != nil
	})
}
