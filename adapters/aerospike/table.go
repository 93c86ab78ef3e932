package aerospike

import (
	"context"
	"slices"
	"sync/atomic"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// partitions is how many partitions a namespace has, in every cluster.
const partitions = 4096

// nodeTable remembers, for each partition of a namespace, the guard of the node that
// the last call went to. It lets a refusal do without the rest of a call; under overload
// nearly every call is one. What it says is never trusted for a call that is sent: that one
// is looked up, and puts the table right.
type nodeTable struct {
	namespace string
	guards    *[partitions]atomic.Pointer[guard]
}

// fromMaster reports whether a policy begins with the master. The others aren't for the
// table: by it a write would be held against the node that somebody has read a replica at.
func fromMaster(p *as.BasePolicy) bool {
	return p.ReplicaPolicy == as.SEQUENCE || p.ReplicaPolicy == as.MASTER
}

// relookEvery is after every how many refusals the next call for the partition is looked
// up all the same, for it may have moved to a node that has room.
const relookEvery = 64

// maxTables bounds the tables; a cluster has at most 32 namespaces.
const maxTables = 32

// recall returns what the table knows of the key's partition: its place there, which is
// empty if no call went to it yet; nil if none did in its namespace.
func (s *session) recall(key *as.Key) *atomic.Pointer[guard] {
	for _, t := range *s.tables.Load() {
		if t.namespace == key.Namespace() {
			return &t.guards[key.PartitionId()]
		}
	}
	return nil
}

// remember notes which node's guard a call for the key's partition goes to.
func (s *session) remember(key *as.Key, g *guard) {
	place := s.recall(key)
	if place == nil {
		place = s.newPlace(key)
	}
	if place != nil && place.Load() != g {
		place.Store(g)
	}
}

// newPlace is recall with a table that is made for it; nil if there are too many.
func (s *session) newPlace(key *as.Key) *atomic.Pointer[guard] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place := s.recall(key); place != nil {
		return place // somebody was faster
	}
	old := *s.tables.Load()
	if len(old) == maxTables {
		return nil
	}
	table := nodeTable{key.Namespace(), new([partitions]atomic.Pointer[guard])}
	tables := append(slices.Clip(old), table)
	s.tables.Store(&tables)
	return &table.guards[key.PartitionId()]
}

// advance takes a permit for a call on one key ahead of everything else, if the table
// knows the node, and puts it into a. An error is a refusal, and final. A lane where calls
// wait isn't asked: the wait belongs to an attempt and its time.
func (c *Client) advance(ctx context.Context, lane int, policy *as.BasePolicy, key *as.Key, a *admission) error {
	if key == nil || c.choices.bypass || c.waits(lane) {
		return nil
	}
	s, ok := c.machine.Current()
	if !ok || c.choices.bound != nil && c.choices.bound != s {
		return nil
	}
	if policy == nil {
		policy = c.defaults.base.Load()
	}
	if !fromMaster(policy) {
		return nil
	}
	place := s.recall(key)
	if place == nil {
		return nil
	}
	g := place.Load()
	if g == nil {
		return nil
	}
	p, err := g.lanes[lane].Admit(ctx)
	if err != nil {
		if s.refusals.Add(1)%relookEvery == 0 {
			place.CompareAndSwap(g, nil)
		}
		return c.refusal(err)
	}
	a.session, a.guard, a.permit = s, g, p
	return nil
}
