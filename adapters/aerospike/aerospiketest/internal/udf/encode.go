package udf

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/hll"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Errors of values that can't be stored or sent.
var (
	errDeep  = errors.New("value is nested too deep, or contains itself")
	errLarge = errors.New("value is too large")
	errType  = errors.New("value of a type that can't be stored")
)

const maxDepth = 200

// Result returns a value as it is sent, and need not be stored: maps may have keys
// that a bin's may not.
func Result(v any) (store.Value, error) {
	x, err := Encode(v)
	if !errors.Is(err, errType) {
		return x, err
	}
	switch v.(type) {
	case *List:
		x.Type = wire.ParticleList
	case *Map:
		x.Type = wire.ParticleMap
	default:
		return x, err
	}
	x.Data, err = pack(nil, v, 0)
	return x, err
}

// Encode returns a value as it is stored.
func Encode(v any) (store.Value, error) {
	switch v := v.(type) {
	case nil:
		return store.Value{}, nil
	case bool:
		b := byte(0)
		if v {
			b = 1
		}
		return store.Value{Type: wire.ParticleBool, Data: []byte{b}}, nil
	case int64:
		return store.Value{Type: wire.ParticleInteger, Data: binary.BigEndian.AppendUint64(nil, uint64(v))}, nil
	case float64:
		return store.Value{Type: wire.ParticleFloat, Data: binary.BigEndian.AppendUint64(nil, math.Float64bits(v))}, nil
	case string:
		return store.Value{Type: wire.ParticleString, Data: []byte(v)}, nil
	case GeoJSON:
		return store.Value{Type: wire.ParticleGeoJSON, Data: append(make([]byte, geoHead), v...)}, nil
	case *Bytes:
		return store.Value{Type: v.particle(), Data: append([]byte{}, v.Data...)}, nil
	case *List:
		return collection(wire.ParticleList, v)
	case *Map:
		return collection(wire.ParticleMap, v)
	}
	return store.Value{}, errType
}

// particle returns the type that bytes have when they are stored: their own, if it is
// one that is only bytes.
func (b *Bytes) particle() byte {
	switch t := b.Type; {
	case t >= wire.ParticleJava && t <= wire.ParticleErlang, t == wire.ParticleHLL && hll.Valid(b.Data):
		return t
	}
	return wire.ParticleBlob
}

// collection packs a list or map and brings it into its order.
func collection(particle byte, v any) (store.Value, error) {
	b, err := pack(nil, v, 0)
	if err != nil {
		return store.Value{}, err
	}
	data, ok := cdt.Normalize(particle, b)
	if !ok {
		return store.Value{}, errType
	}
	return store.Value{Type: particle, Data: data}, nil
}

func pack(b []byte, v any, depth int) ([]byte, error) {
	switch {
	case depth > maxDepth:
		return nil, errDeep
	case len(b) > cdt.MaxSize:
		return nil, errLarge
	}
	switch v := v.(type) {
	case nil:
		return msgpack.AppendNil(b), nil
	case bool:
		return msgpack.AppendBool(b, v), nil
	case int64:
		return msgpack.AppendInt(b, v), nil
	case float64:
		return msgpack.AppendFloat(b, v), nil
	case string:
		return msgpack.AppendBytes(b, wire.ParticleString, []byte(v)), nil
	case GeoJSON:
		return msgpack.AppendBytes(b, wire.ParticleGeoJSON, []byte(v)), nil
	case *Bytes:
		return msgpack.AppendBytes(b, v.particle(), v.Data), nil
	case *List:
		return packList(b, v, depth)
	case *Map:
		return packMap(b, v, depth)
	}
	return nil, errType
}

func packList(b []byte, l *List, depth int) ([]byte, error) {
	b = msgpack.AppendListHead(b, len(l.Items), l.Flags)
	var err error
	for _, x := range l.Items {
		if b, err = pack(b, x, depth+1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func packMap(b []byte, m *Map, depth int) ([]byte, error) {
	b = msgpack.AppendMapHead(b, m.Len(), m.Flags)
	var err error
	m.Pairs(func(k, x any) bool {
		if b, err = pack(b, k, depth+1); err != nil {
			return false
		}
		b, err = pack(b, x, depth+1)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}
