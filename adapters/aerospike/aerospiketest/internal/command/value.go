package command

import (
	"bytes"
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/geo"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/hll"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// checkValue says whether a particle from the wire can be stored.
func checkValue(particle byte, data []byte) wire.Code {
	ok := true
	switch particle {
	case wire.ParticleInteger, wire.ParticleFloat:
		ok = len(data) == 8
	case wire.ParticleBool:
		ok = len(data) == 1 && data[0] <= 1
	case wire.ParticleHLL:
		ok = hll.Valid(data)
	case wire.ParticleString, wire.ParticleBlob,
		wire.ParticleJava, wire.ParticleCSharp, wire.ParticlePython, wire.ParticleRuby, wire.ParticlePHP, wire.ParticleErlang:
	case wire.ParticleList, wire.ParticleMap:
		if len(data) > cdt.MaxSize {
			return wire.RecordTooBig
		}
		if _, ok := cdt.Normalize(particle, data); !ok {
			return wire.ServerError
		}
	case wire.ParticleGeoJSON:
		if _, ok := geoText(data); !ok {
			return wire.InvalidGeoJSON
		}
	default:
		ok = false
	}
	if !ok {
		return wire.ParameterError
	}
	return wire.OK
}

// storedValue copies a checked particle out of the request.
func storedValue(particle byte, data []byte) store.Value {
	if particle == wire.ParticleGeoJSON {
		text, _ := geoText(data)
		return store.Value{Type: particle, Data: append([]byte{0, 0, 0}, text...)}
	}
	if particle == wire.ParticleList || particle == wire.ParticleMap {
		data, _ = cdt.Normalize(particle, data)
		return store.Value{Type: particle, Data: data}
	}
	return store.Value{Type: particle, Data: bytes.Clone(data)}
}

// geoText returns the text of a GeoJSON particle, which stands after a byte of
// flags, a count of cells and the cells, and whether it is a shape. No cells are
// computed: the answer has none.
func geoText(data []byte) ([]byte, bool) {
	if len(data) < 3 {
		return nil, false
	}
	cells := int(binary.BigEndian.Uint16(data[1:]))
	if len(data) < 3+8*cells {
		return nil, false
	}
	text := data[3+8*cells:]
	_, ok := geo.Parse(text)
	return text, ok
}
