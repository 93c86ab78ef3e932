package exp

import (
	"encoding/binary"
	"math"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/geo"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Type is the type of a value.
type Type uint8

// Types, by their numbers on the wire.
const (
	Nil Type = iota
	Bool
	Int
	String
	List
	Map
	Blob
	Float
	Geo
	HLL

	other   // a wildcard or infinity
	unknown // no value
)

// particle returns the particle type of values of the type.
func (t Type) particle() byte {
	switch t {
	case Bool:
		return wire.ParticleBool
	case Int:
		return wire.ParticleInteger
	case String:
		return wire.ParticleString
	case List:
		return wire.ParticleList
	case Map:
		return wire.ParticleMap
	case Blob:
		return wire.ParticleBlob
	case Float:
		return wire.ParticleFloat
	case Geo:
		return wire.ParticleGeoJSON
	case HLL:
		return wire.ParticleHLL
	default:
		return wire.ParticleNull
	}
}

// A value is what an expression evaluates to.
type value struct {
	t    Type
	n    int64   // an integer, or 1 for true
	f    float64 // a float
	data []byte  // all the others: msgpack of lists and maps, the text of GeoJSON

	shape *geo.Shape // of a literal
}

func boolean(v bool) value {
	if v {
		return value{t: Bool, n: 1}
	}
	return value{t: Bool}
}

func integer(n int64) value { return value{t: Int, n: n} }

func float(f float64) value { return value{t: Float, f: f} }

// isTrue reports whether a value is true, neither false nor unknown.
func (v value) isTrue() bool { return v.t == Bool && v.n != 0 }

// geoHead is in front of the text of GeoJSON: flags and no cells.
const geoHead = "\x00\x00\x00"

// fromStore returns a bin's value if it is of a type, else unknown.
func fromStore(v store.Value, t Type) value {
	if v.Type != t.particle() {
		return value{t: unknown}
	}
	switch {
	case t == Bool && len(v.Data) == 1:
		return boolean(v.Data[0] != 0)
	case t == Int && len(v.Data) == 8:
		return integer(int64(binary.BigEndian.Uint64(v.Data)))
	case t == Float && len(v.Data) == 8:
		return float(math.Float64frombits(binary.BigEndian.Uint64(v.Data)))
	case t == Bool, t == Int, t == Float:
		return value{t: unknown}
	case t == Geo:
		return geoFromStore(v.Data)
	}
	return value{t: t, data: v.Data}
}

func geoFromStore(b []byte) value {
	if len(b) < len(geoHead) {
		return value{t: unknown}
	}
	at := len(geoHead) + 8*int(binary.BigEndian.Uint16(b[1:]))
	if at > len(b) {
		return value{t: unknown}
	}
	return value{t: Geo, data: b[at:]}
}

// toStore returns a bin's value. A nil is a value without a type.
func (v value) toStore() store.Value {
	s := store.Value{Type: v.t.particle(), Data: v.data}
	switch v.t {
	case Bool:
		s.Data = []byte{byte(v.n)}
	case Int:
		s.Data = binary.BigEndian.AppendUint64(nil, uint64(v.n))
	case Float:
		s.Data = binary.BigEndian.AppendUint64(nil, math.Float64bits(v.f))
	case Geo:
		s.Data = append([]byte(geoHead), v.data...)
	default:
	}
	return s
}

// pack appends a value as an argument of a call.
func (v value) pack(b []byte) []byte {
	switch v.t {
	case Nil:
		return msgpack.AppendNil(b)
	case Bool:
		return msgpack.AppendBool(b, v.n != 0)
	case Int:
		return msgpack.AppendInt(b, v.n)
	case Float:
		return msgpack.AppendFloat(b, v.f)
	case String, Blob, Geo, HLL:
		return msgpack.AppendBytes(b, v.t.particle(), v.data)
	default: // they are msgpack
		return append(b, v.data...)
	}
}
