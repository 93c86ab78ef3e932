package store

import (
	"sync"
	"time"
)

// A Namespace holds records. All methods are safe for concurrent use.
type Namespace struct {
	Name       string
	Clock      *Clock
	DefaultTTL time.Duration // 0 is never
	MaxRecord  int           // bytes

	parts [Partitions]Partition

	mu   sync.RWMutex
	sets map[string]string // guarded by mu; one copy of every set's name
}

// NewNamespace returns an empty namespace.
func NewNamespace(name string, c *Clock, ttl time.Duration, maxRecord int) *Namespace {
	return &Namespace{Name: name, Clock: c, DefaultTTL: ttl, MaxRecord: maxRecord, sets: make(map[string]string)}
}

// Part returns a partition.
func (n *Namespace) Part(id int) *Partition { return &n.parts[id] }

// maxSets is how many sets there can be. None goes again, as on a real server.
const maxSets = 4095

// Set returns the one copy of a set's name. It reports false if there are too many sets
// for another.
func (n *Namespace) Set(name []byte) (s string, ok bool) {
	if len(name) == 0 {
		return "", true
	}
	n.mu.RLock()
	s, ok = n.sets[string(name)]
	n.mu.RUnlock()
	if ok {
		return s, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok = n.sets[string(name)]; !ok && len(n.sets) < maxSets {
		s, ok = string(name), true
		n.sets[s] = s
	}
	return s, ok
}

// HasSet reports whether a set was ever written to.
func (n *Namespace) HasSet(name []byte) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	_, ok := n.sets[string(name)]
	return ok
}

// Each calls f with every record that has not expired, under its partition's
// lock. The record is removed when f returns false.
func (n *Namespace) Each(f func(*Record) bool) {
	now := n.Clock.Now()
	for i := range n.parts {
		p := &n.parts[i]
		p.mu.Lock()
		for d, r := range p.records {
			if r.Expired(now) || !f(r) {
				delete(p.records, d)
			}
		}
		p.mu.Unlock()
	}
}

// Count returns the number of records of a set; an empty set is every record.
func (n *Namespace) Count(set string) int {
	c := 0
	n.Each(func(r *Record) bool {
		if set == "" || r.Set == set {
			c++
		}
		return true
	})
	return c
}

// Sets returns the number of records and the bytes of every set that was ever
// written to, as far as they are in some partitions.
func (n *Namespace) Sets(in func(partition int) bool) map[string]SetStats {
	out := make(map[string]SetStats)
	n.mu.RLock()
	for s := range n.sets {
		out[s] = SetStats{}
	}
	n.mu.RUnlock()
	n.Each(func(r *Record) bool {
		if !in(r.Digest.Partition()) {
			return true
		}
		s := out[r.Set]
		s.Records++
		s.Bytes += Size(r.Bins)
		out[r.Set] = s
		return true
	})
	return out
}

// SetStats are the totals of a set.
type SetStats struct{ Records, Bytes int }

// Size returns the bytes that bins count for.
func Size(bins []Bin) int {
	n := 0
	for i := range bins {
		n += len(bins[i].Name) + len(bins[i].Data) + 2
	}
	return n
}

// Truncate removes the records of a set, or all with an empty set, that were
// last written before a time in nanoseconds since 1970; 0 is now.
func (n *Namespace) Truncate(set string, before int64) {
	n.Each(func(r *Record) bool {
		return set != "" && r.Set != set || before != 0 && r.Updated >= before
	})
}
