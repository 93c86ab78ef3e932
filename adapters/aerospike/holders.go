package aerospike

import (
	"cmp"
	"slices"

	"github.com/spillway-go/spillway"
)

// addHolders adds who holds permits of the session's lanes, where that is tracked.
func (s *session) addHolders(lanes map[laneKey]LaneSnapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(node string, i int, all []spillway.Holder) {
		if len(all) > 0 {
			key := laneKey{node, s.owner.lanes.configs[i].Name}
			l := lanes[key]
			l.Holders = oldestFirst(append(l.Holders, all...))
			lanes[key] = l
		}
	}
	add("", s.owner.lanes.admin, s.admin.Holders())
	for _, g := range s.byName {
		for i, l := range g.lanes {
			if l != nil {
				add(g.name, i, l.Holders())
			}
		}
	}
}

// oldestFirst sorts holders.
func oldestFirst(all []spillway.Holder) []spillway.Holder {
	slices.SortStableFunc(all, func(a, b spillway.Holder) int { return cmp.Compare(b.Age, a.Age) })
	return all
}

// holdersOf returns who holds permits of a lane at whatever node.
func holdersOf(all map[laneKey]LaneSnapshot, name string) []spillway.Holder {
	var of []spillway.Holder
	for key, l := range all {
		if key.lane == name {
			of = append(of, l.Holders...)
		}
	}
	return oldestFirst(of)
}
