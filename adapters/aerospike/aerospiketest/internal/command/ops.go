package command

import (
	"encoding/binary"
	"math"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func doRead(r *Run, op *wire.Op) wire.Code {
	if r.bare {
		return wire.OK
	}
	if r.whole {
		r.answerAll(r.Bins)
		return wire.OK
	}
	if i := r.Find(op.Name); i >= 0 {
		r.Answer(op, r.Bins[i].Value)
	} else {
		r.Nothing(op)
	}
	return wire.OK
}

// doWrite sets a bin, or removes it if the value is nil.
func doWrite(r *Run, op *wire.Op) wire.Code {
	if op.Particle == wire.ParticleNull {
		r.Drop(op.Name)
	} else {
		if c := checkValue(op.Particle, op.Data); c != wire.OK {
			return c
		}
		r.Set(op.Name, storedValue(op.Particle, op.Data))
	}
	r.Nothing(op)
	return wire.OK
}

// doIncr adds integers, with wrap-around, and floats. Adding to a missing bin
// stores the argument, whatever its type.
func doIncr(r *Run, op *wire.Op) wire.Code {
	return r.modify(op, func(old store.Value) ([]byte, wire.Code) {
		a, b := binary.BigEndian.Uint64(old.Data), binary.BigEndian.Uint64(op.Data)
		switch op.Particle {
		case wire.ParticleInteger:
			a += b
		case wire.ParticleFloat:
			a = math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
		}
		return binary.BigEndian.AppendUint64(nil, a), wire.OK
	}, wire.ParticleInteger, wire.ParticleFloat)
}

func doAppend(r *Run, op *wire.Op) wire.Code {
	return r.modify(op, func(old store.Value) ([]byte, wire.Code) {
		return concat(old.Data, op.Data), wire.OK
	}, wire.ParticleString, wire.ParticleBlob)
}

func doPrepend(r *Run, op *wire.Op) wire.Code {
	return r.modify(op, func(old store.Value) ([]byte, wire.Code) {
		return concat(op.Data, old.Data), wire.OK
	}, wire.ParticleString, wire.ParticleBlob)
}

func concat(a, b []byte) []byte {
	return append(append(make([]byte, 0, len(a)+len(b)), a...), b...)
}

// modify makes a bin's new value from the old one and the argument, which must
// both be of the same of two types. A missing bin takes the argument as it is.
// A bin of GeoJSON fails in a way of its own, as it does on the real server.
func (r *Run) modify(op *wire.Op, f func(store.Value) ([]byte, wire.Code), one, other byte) wire.Code {
	if c := checkValue(op.Particle, op.Data); c != wire.OK {
		return c
	}
	i := r.Find(op.Name)
	switch {
	case i < 0:
		r.Set(op.Name, storedValue(op.Particle, op.Data))
	case r.Bins[i].Type == wire.ParticleGeoJSON:
		return wire.ServerError
	case r.Bins[i].Type != op.Particle || op.Particle != one && op.Particle != other:
		return wire.BinTypeError
	default:
		data, c := f(r.Bins[i].Value)
		if c != wire.OK {
			return c
		}
		r.Bins[i].Data = data
		r.grown += len(data)
	}
	r.Nothing(op)
	return wire.OK
}

// doTouch does nothing of its own: a write raises the generation and sets the
// time to live anyway. It is the one operation that never has an answer.
func doTouch(*Run, *wire.Op) wire.Code { return wire.OK }

func doDeleteAll(r *Run, op *wire.Op) wire.Code {
	r.Bins = r.Bins[:0]
	r.Nothing(op)
	return wire.OK
}
