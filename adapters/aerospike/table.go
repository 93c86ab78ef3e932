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
// the last call went to. It lets a refusal do without the driver's own lookup, which
// allocates; under overload nearly every call is a refusal. What it says is never
// trusted for a call that is sent: that one is looked up, and puts the table right.
type nodeTable struct {
	namespace string
	guards    *[partitions]atomic.Pointer[guard]
}

// fromMaster reports whether a policy begins with the master. The others aren't for the
// table: by it a write would be held against the node that somebody has read a replica at.
func fromMaster(p *as.BasePolicy) bool {
	return p.ReplicaPolicy == as.SEQUENCE || p.ReplicaPolicy == as.MASTER
}

// relookEvery is every how many refusals one is looked up all the same, for the
// partition may have moved to a node that has room.
const relookEvery = 64

// maxTables bounds the tables; a cluster has at most 32 namespaces.
const maxTables = 32

// recall returns the guard of the node that the last call for the key's partition
// went to; nil if there was none.
func (s *session) recall(key *as.Key) *guard {
	for _, t := range *s.tables.Load() {
		if t.namespace == key.Namespace() {
			return t.guards[key.PartitionId()].Load()
		}
	}
	return nil
}

// remember notes which node's guard a call for the key's partition went to.
func (s *session) remember(key *as.Key, g *guard) {
	for _, t := range *s.tables.Load() {
		if t.namespace != key.Namespace() {
			continue
		}
		if slot := &t.guards[key.PartitionId()]; slot.Load() != g {
			slot.Store(g)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.tables.Load()
	for _, t := range old {
		if t.namespace == key.Namespace() {
			return // somebody was faster; the next call will note it
		}
	}
	if len(old) == maxTables {
		return
	}
	tables := append(slices.Clip(old), nodeTable{key.Namespace(), new([partitions]atomic.Pointer[guard])})
	tables[len(old)].guards[key.PartitionId()].Store(g)
	s.tables.Store(&tables)
}

// advance takes a permit for a call on one key ahead of everything else, if the table
// knows the node. An error is a refusal, and final. A lane where calls wait isn't asked:
// the wait belongs to an attempt and its time.
func (c *Client) advance(ctx context.Context, lane int, policy *as.BasePolicy, key *as.Key) (a admission, err error) {
	if key == nil || c.choices.bypass || c.waits(lane) {
		return a, nil
	}
	s, ok := c.machine.Current()
	if !ok || c.choices.bound != nil && c.choices.bound != s {
		return a, nil
	}
	if policy == nil {
		policy = c.defaults.base.Load()
	}
	if !fromMaster(policy) {
		return a, nil
	}
	g := s.recall(key)
	if g == nil {
		return a, nil
	}
	p, err := g.lanes[lane].Admit(ctx)
	if err == nil {
		return admission{session: s, guard: g, permit: p}, nil
	}
	if s.refusals.Add(1)%relookEvery == 0 {
		return a, nil // look again
	}
	return a, c.refusal(err)
}
