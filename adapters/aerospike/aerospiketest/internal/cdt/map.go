package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

// Flags of maps.
const (
	keyOrdered   = 1
	valueOrdered = 2
	mapFlags     = keyOrdered | valueOrdered | persisted
)

// A mapping is a map that was taken apart, in the order of its keys.
type mapping struct {
	flags byte
	pairs []pair
}

type pair struct{ key, value []byte }

func (p pair) compare(q pair) int { return msgpack.Compare(p.key, q.key) }

func parseMap(b []byte) (mapping, bool) {
	n, flags, b, ok := msgpack.MapHead(b)
	if !ok {
		return mapping{}, false
	}
	m := mapping{flags: flags, pairs: make([]pair, n)}
	inOrder := true
	for i := range m.pairs {
		p := &m.pairs[i]
		if p.key, b, ok = msgpack.Value(b); ok {
			p.value, b, ok = msgpack.Value(b)
		}
		if !ok {
			return mapping{}, false
		}
		inOrder = inOrder && (i == 0 || m.pairs[i-1].compare(*p) <= 0)
	}
	if !inOrder {
		slices.SortStableFunc(m.pairs, pair.compare)
	}
	return m, true
}

// newMap is an empty map with flags, or with none if they aren't a map's.
func newMap(flags int64) mapping {
	f := byte(flags)
	if f&^byte(mapFlags) != 0 {
		f = 0
	}
	return mapping{flags: f &^ persisted}
}

// ordered reports whether the order of the keys is promised.
func (m mapping) ordered() bool { return m.flags != 0 }

func (m mapping) encode() []byte {
	size := 9
	for _, p := range m.pairs {
		size += len(p.key) + len(p.value)
	}
	b := msgpack.AppendMapHead(make([]byte, 0, size), len(m.pairs), m.flags)
	for _, p := range m.pairs {
		b = append(append(b, p.key...), p.value...)
	}
	return b
}

// bounds returns where the keys begin and end that are equal to one: there may be
// several if that is a wildcard.
func (m mapping) bounds(key []byte) (from, to int) {
	return bounds(len(m.pairs), func(i int) int { return msgpack.Compare(key, m.pairs[i].key) })
}

// find returns where a key is, or would be. In an unordered map a wildcard finds
// the first key, in an ordered one that in the middle.
func (m mapping) find(key []byte) (at int, found bool) {
	from, to := m.bounds(key)
	if m.ordered() && msgpack.Peek(key) == msgpack.Wildcard {
		return to / 2, to > 0
	}
	return from, from < to
}

// byRank returns the numbers of the pairs in the order of their values; equal
// ones by key.
func (m mapping) byRank() []int { return sorted(m.values(), false) }

// ranks returns the rank of every pair.
func (m mapping) ranks() []int {
	ranks := make([]int, len(m.pairs))
	for rank, i := range m.byRank() {
		ranks[i] = rank
	}
	return ranks
}

func (m mapping) keys() [][]byte {
	v := make([][]byte, len(m.pairs))
	for i, p := range m.pairs {
		v[i] = p.key
	}
	return v
}

func (m mapping) values() [][]byte {
	v := make([][]byte, len(m.pairs))
	for i, p := range m.pairs {
		v[i] = p.value
	}
	return v
}

// isKey reports whether a value may be a key.
func isKey(b []byte) bool {
	switch msgpack.Peek(b) {
	case msgpack.NegInt, msgpack.Uint, msgpack.String:
		return true
	case msgpack.Blob:
		const blob = 4
		v, _, ok := msgpack.Bytes(b)
		return ok && len(v) > 0 && v[0] == blob
	default:
		return false
	}
}
