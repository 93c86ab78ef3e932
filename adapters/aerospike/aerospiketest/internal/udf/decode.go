package udf

import (
	"encoding/binary"
	"math"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Decode returns a stored value as functions see it; what can't be read is nil.
func Decode(v store.Value) any {
	switch v.Type {
	case wire.ParticleInteger:
		if len(v.Data) == 8 {
			return int64(binary.BigEndian.Uint64(v.Data))
		}
	case wire.ParticleFloat:
		if len(v.Data) == 8 {
			return math.Float64frombits(binary.BigEndian.Uint64(v.Data))
		}
	case wire.ParticleBool:
		return len(v.Data) == 1 && v.Data[0] != 0
	case wire.ParticleString:
		return string(v.Data)
	case wire.ParticleGeoJSON:
		if len(v.Data) >= geoHead {
			return GeoJSON(v.Data[geoHead:])
		}
	case wire.ParticleList, wire.ParticleMap:
		x, _ := unpack(v.Data)
		return x
	case wire.ParticleNull:
	default:
		return &Bytes{Data: append([]byte{}, v.Data...), Type: v.Type}
	}
	return nil
}

// geoHead is how many bytes stand before the text of a shape that has no cells.
const geoHead = 3

// Arguments reads the arguments of a call: a list, or nothing.
func Arguments(b []byte) ([]any, bool) {
	if len(b) == 0 {
		return nil, true
	}
	if !msgpack.List(b) {
		return nil, false
	}
	v, ok := unpack(b)
	l, isList := v.(*List)
	if !ok || !isList {
		return nil, false
	}
	return l.Items, true
}

// Key reads a stored key: a particle type and the value.
func Key(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return Decode(store.Value{Type: b[0], Data: b[1:]})
}

// unpack reads the value at the start of b, whose nesting msgpack has bounded.
func unpack(b []byte) (v any, ok bool) {
	if msgpack.Skip(b) < 0 {
		return nil, false
	}
	v, _, ok = unpackValid(b)
	return v, ok
}

func unpackValid(b []byte) (v any, rest []byte, ok bool) {
	switch k := msgpack.Peek(b); {
	case k.IsInt():
		return number(msgpack.Int(b))
	case k == msgpack.Float:
		return number(msgpack.Number(b))
	case k.IsBool():
		return number(msgpack.Bool(b))
	case k == msgpack.String, k == msgpack.Blob, k == msgpack.GeoJSON:
		s, rest, _ := msgpack.Bytes(b)
		if len(s) == 0 {
			return NewBytes(nil), rest, true
		}
		switch s[0] {
		case wire.ParticleString:
			return string(s[1:]), rest, true
		case wire.ParticleGeoJSON:
			return GeoJSON(s[1:]), rest, true
		}
		return &Bytes{Data: append([]byte{}, s[1:]...), Type: s[0]}, rest, true
	case k == msgpack.ListKind:
		return unpackList(b)
	case k == msgpack.MapKind:
		return unpackMap(b)
	}
	return nil, b[max(msgpack.Skip(b), 0):], true // nil, and what is none of ours
}

// number is what one of the readers of msgpack has read.
func number[T any](v T, rest []byte, ok bool) (any, []byte, bool) { return v, rest, ok }

func unpackList(b []byte) (any, []byte, bool) {
	n, flags, rest, ok := msgpack.ListHead(b)
	l := &List{Flags: flags, Items: make([]any, 0, n)}
	for range n {
		var v any
		if v, rest, ok = unpackValid(rest); !ok {
			return nil, rest, false
		}
		l.Items = append(l.Items, v)
	}
	return l, rest, ok
}

func unpackMap(b []byte) (any, []byte, bool) {
	n, flags, rest, ok := msgpack.MapHead(b)
	m := &Map{Flags: flags}
	for range n {
		var k, v any
		if k, rest, ok = unpackValid(rest); !ok {
			return nil, rest, false
		}
		if v, rest, ok = unpackValid(rest); !ok {
			return nil, rest, false
		}
		m.Set(k, v)
	}
	return m, rest, ok
}
