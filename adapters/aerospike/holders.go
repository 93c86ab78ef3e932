package aerospike

import (
	"cmp"
	"slices"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// tracked are the lanes that keep who holds their permits, of all sessions that haven't ended.
// Who holds them is asked for outside of any lock, and when somebody wants to know: it makes
// stacks readable.
type tracked map[laneKey][]*lane.Lane[struct{}]

func (c *core) tracked() tracked {
	all := tracked{}
	if !slices.ContainsFunc(c.lanes.configs, func(l LaneConfig) bool { return l.Track != spillway.TrackOff }) {
		return all
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.live {
		s.addTracked(all)
	}
	return all
}

func (s *session) addTracked(all tracked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(node string, i int, l *lane.Lane[struct{}]) {
		if cfg := s.owner.lanes.configs[i]; cfg.Track != spillway.TrackOff {
			key := laneKey{node, cfg.Name}
			all[key] = append(all[key], l)
		}
	}
	add("", s.owner.lanes.admin, s.admin)
	for _, g := range s.byName {
		for i, l := range g.lanes {
			if l != nil {
				add(g.name, i, l)
			}
		}
	}
}

// at returns who holds permits of a lane at a node, the oldest first.
func (t tracked) at(key laneKey) []spillway.Holder {
	var all []spillway.Holder
	for _, l := range t[key] {
		all = append(all, l.Holders()...)
	}
	return oldestFirst(all)
}

// anywhere is at for all nodes.
func (t tracked) anywhere(lane string) []spillway.Holder {
	var all []spillway.Holder
	for key := range t {
		if key.lane == lane {
			all = append(all, t.at(key)...)
		}
	}
	return oldestFirst(all)
}

func oldestFirst(all []spillway.Holder) []spillway.Holder {
	slices.SortStableFunc(all, func(a, b spillway.Holder) int { return cmp.Compare(b.Age, a.Age) })
	return all
}
