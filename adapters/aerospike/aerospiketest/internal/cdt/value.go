package cdt

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// fromMsgpack makes a bin's value of an element of a list or map. Nil becomes a
// value without a type. The value owns its memory.
func fromMsgpack(b []byte) (store.Value, bool) {
	switch msgpack.Peek(b) {
	case msgpack.Nil:
		return store.Value{}, true
	case msgpack.False, msgpack.True:
		return store.Value{Type: wire.ParticleBool, Data: []byte{b[0] & 1}}, true
	case msgpack.NegInt, msgpack.Uint:
		v, _, ok := msgpack.Int(b)
		return intValue(v), ok
	case msgpack.Float:
		v, _, ok := msgpack.Number(b)
		return store.Value{Type: wire.ParticleFloat, Data: binary.BigEndian.AppendUint64(nil, math.Float64bits(v))}, ok
	case msgpack.String, msgpack.Blob, msgpack.GeoJSON:
		v, _, ok := msgpack.Bytes(b)
		return fromBytes(v), ok
	case msgpack.ListKind:
		v, _, ok := msgpack.Value(b)
		return store.Value{Type: wire.ParticleList, Data: bytes.Clone(v)}, ok
	case msgpack.MapKind:
		v, _, ok := msgpack.Value(b)
		return store.Value{Type: wire.ParticleMap, Data: bytes.Clone(v)}, ok
	default:
		return store.Value{}, false
	}
}

// fromBytes makes a value of a string or blob that has its particle type in
// front.
func fromBytes(v []byte) store.Value {
	if len(v) == 0 {
		return store.Value{Type: wire.ParticleBlob, Data: []byte{}}
	}
	switch t := v[0]; t {
	case wire.ParticleGeoJSON:
		return store.Value{Type: t, Data: append([]byte{0, 0, 0}, v[1:]...)}
	case wire.ParticleString, wire.ParticleJava, wire.ParticleCSharp, wire.ParticlePython, wire.ParticleRuby, wire.ParticlePHP, wire.ParticleErlang, wire.ParticleHLL:
		return store.Value{Type: t, Data: bytes.Clone(v[1:])}
	}
	return store.Value{Type: wire.ParticleBlob, Data: bytes.Clone(v[1:])}
}
