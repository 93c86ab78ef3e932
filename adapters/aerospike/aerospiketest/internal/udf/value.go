package udf

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"

// GeoJSON is the text of a shape.
type GeoJSON string

// Bytes is a blob, or another value that is only bytes, as its particle type says.
type Bytes struct {
	Data []byte
	Type byte
}

// NewBytes returns a blob.
func NewBytes(b []byte) *Bytes { return &Bytes{Data: b, Type: wire.ParticleBlob} }

// A List is a list. Its flags say how it is ordered when it is stored.
type List struct {
	Items []any
	Flags byte
}

// A Map is a map that keeps the order in which keys came. Its flags say how it is
// ordered when it is stored. The zero value is empty.
type Map struct {
	Flags byte

	pairs []pair
	index map[any]int // by what is comparable of the key
	gaps  int         // pairs that are no more
}

type pair struct {
	key, value any
	gone       bool
}

// bytesKey is what is comparable of bytes.
type bytesKey struct {
	data string
	typ  byte
}

// indexKey returns what is comparable of a key, and whether it can be one.
func indexKey(k any) (any, bool) {
	switch k := k.(type) {
	case int64, float64, string, bool, GeoJSON:
		return k, true
	case *Bytes:
		return bytesKey{string(k.Data), k.Type}, true
	}
	return nil, false
}

// Len returns the number of pairs.
func (m *Map) Len() int { return len(m.pairs) - m.gaps }

// Get returns the value of a key, or nil.
func (m *Map) Get(k any) any {
	if x, ok := indexKey(k); ok {
		if i, ok := m.index[x]; ok {
			return m.pairs[i].value
		}
	}
	return nil
}

// Set gives a key a value. It reports false for a key that can't be one.
func (m *Map) Set(k, v any) bool {
	x, ok := indexKey(k)
	if !ok {
		return false
	}
	if i, ok := m.index[x]; ok {
		m.pairs[i].value = v
		return true
	}
	if m.index == nil {
		m.index = make(map[any]int)
	}
	m.index[x] = len(m.pairs)
	m.pairs = append(m.pairs, pair{key: k, value: v})
	return true
}

// Remove removes a key, if it is there.
func (m *Map) Remove(k any) {
	x, ok := indexKey(k)
	if !ok {
		return
	}
	i, ok := m.index[x]
	if !ok {
		return
	}
	delete(m.index, x)
	m.pairs[i] = pair{gone: true}
	if m.gaps++; m.gaps > 16 && m.gaps > len(m.pairs)/2 {
		m.compact()
	}
}

func (m *Map) compact() {
	kept := make([]pair, 0, m.Len())
	for _, p := range m.pairs {
		if !p.gone {
			x, _ := indexKey(p.key)
			m.index[x] = len(kept)
			kept = append(kept, p)
		}
	}
	m.pairs, m.gaps = kept, 0
}

// Pairs calls f with every pair, until it returns false. Changes of the map
// meanwhile don't show.
func (m *Map) Pairs(f func(k, v any) bool) {
	for _, p := range m.pairs {
		if !p.gone && !f(p.key, p.value) {
			return
		}
	}
}

// Clone returns a copy that shares its values.
func (m *Map) Clone() *Map {
	c := &Map{Flags: m.Flags}
	m.Pairs(func(k, v any) bool { return c.Set(k, v) })
	return c
}
