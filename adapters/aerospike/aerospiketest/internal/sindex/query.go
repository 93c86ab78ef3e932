package sindex

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/geo"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// maxKey is how long a string or blob may be to be found.
const maxKey = 2048

// geoHead is what stands before the text of a stored shape.
const geoHead = 3

// A Query is what a message asks an index for: the definition of the index, and
// a range of integers, or a value that must be met.
type Query struct {
	Name string // of the index, if it was asked for by name
	Definition

	particle byte
	from, to int64
	equal    []byte
	shape    *geo.Shape // a region whose points match, or a point whose regions do
}

// Parse reads the query of a message, whose bytes it doesn't keep.
func Parse(m *wire.Message) (*Query, wire.Code) {
	b := m.IndexRange
	if len(b) < 2 || b[0] != 1 || len(b) < 3+int(b[1]) || b[1] > wire.MaxBinName {
		return nil, wire.ParameterError
	}
	name := b[2 : 2+b[1]]
	q := &Query{Name: string(m.IndexName), particle: b[2+len(name)]}
	q.Definition = Definition{Set: string(m.Set), Bin: string(name), Collection: Default, Context: string(m.IndexContext)}
	if (q.Bin == "") == (q.Name == "") {
		return nil, wire.ParameterError
	}
	var ok bool
	if q.Type, ok = typeOf(q.particle); !ok {
		return nil, wire.ParameterError
	}
	if m.IndexType != nil {
		if len(m.IndexType) != 1 {
			return nil, wire.ParameterError
		}
		if q.Collection, ok = collectionOf(m.IndexType[0]); !ok {
			return nil, wire.ParameterError
		}
	}
	if m.IndexContext != nil && !ValidContext(m.IndexContext) {
		return nil, wire.ParameterError
	}
	if !q.limits(b[3+len(name):]) {
		return nil, wire.ParameterError
	}
	return q, wire.OK
}

// limits reads begin and end. Only integers have an end of their own.
func (q *Query) limits(b []byte) bool {
	begin, b, ok := sized(b)
	if !ok {
		return false
	}
	if q.particle != wire.ParticleInteger {
		if q.particle == wire.ParticleGeoJSON {
			q.shape, ok = geo.Parse(begin)
			return ok
		}
		q.equal = bytes.Clone(begin)
		return len(begin) < maxKey
	}
	end, _, ok := sized(b)
	if !ok || len(begin) != 8 || len(end) != 8 {
		return false
	}
	q.from, q.to = int64(binary.BigEndian.Uint64(begin)), int64(binary.BigEndian.Uint64(end))
	return q.from <= q.to
}

func sized(b []byte) (v, rest []byte, ok bool) {
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, b, false
	}
	end := 4 + int(binary.BigEndian.Uint32(b))
	return b[4:end], b[end:], true
}

// Use makes the query one for an index that was asked for by name. It reports
// whether the index holds values of the type.
func (q *Query) Use(x Index) bool {
	t, _ := typeOf(q.particle)
	q.Definition = x.Definition
	return x.Type == t
}

// Match reports whether a record is found, and by which value: the lowest of those that
// are. A string, a blob and a shape stand for a hash.
func (q *Query) Match(r *store.Record) (value int64, ok bool) {
	if q.Set != "" && q.Set != r.Set {
		return 0, false
	}
	i := store.Find(r.Bins, []byte(q.Bin))
	if i < 0 {
		return 0, false
	}
	v := r.Bins[i].Value
	if q.Context == "" && q.Collection == Default {
		return q.matchBin(v)
	}
	if v.Type != wire.ParticleList && v.Type != wire.ParticleMap {
		return 0, false
	}
	value = math.MaxInt64
	for _, e := range q.values(v.Data) {
		if v, found := q.matchElement(e); found {
			value, ok = min(value, v), true
		}
	}
	return value, ok
}

func (q *Query) matchBin(v store.Value) (int64, bool) {
	switch {
	case v.Type != q.particle:
		return 0, false
	case v.Type == wire.ParticleInteger && len(v.Data) == 8:
		return q.inRange(int64(binary.BigEndian.Uint64(v.Data)))
	case v.Type == wire.ParticleGeoJSON:
		return q.isEqual(v.Data[min(geoHead, len(v.Data)):])
	}
	return q.isEqual(v.Data)
}

func (q *Query) matchElement(b []byte) (int64, bool) {
	kind := msgpack.Peek(b)
	if q.particle == wire.ParticleInteger {
		v, _, ok := msgpack.Int(b)
		if !ok || kind == msgpack.Uint && v < 0 { // too large for an index
			return 0, false
		}
		return q.inRange(v)
	}
	if v, _, ok := msgpack.Bytes(b); ok && len(v) > 0 && v[0] == q.particle {
		return q.isEqual(v[1:])
	}
	return 0, false
}

func (q *Query) inRange(v int64) (int64, bool) { return v, q.from <= v && v <= q.to }

// isEqual reports whether a text or a shape matches.
func (q *Query) isEqual(v []byte) (int64, bool) {
	if q.shape != nil {
		if s, ok := geo.Parse(v); !ok || !geo.Match(q.shape, s) {
			return 0, false
		}
	} else if !bytes.Equal(v, q.equal) {
		return 0, false
	}
	h := fnv.New64a()
	_, _ = h.Write(v) // never fails
	return int64(h.Sum64()), true
}
