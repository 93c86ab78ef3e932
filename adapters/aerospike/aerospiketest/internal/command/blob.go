package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/bits"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/hll"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func doBitsRead(r *Run, op *wire.Op) wire.Code {
	if r.Find(op.Name) >= 0 && op.Particle != wire.ParticleBlob {
		return wire.BinTypeError
	}
	return r.readBin(op, bits.Read)
}

func doBitsModify(r *Run, op *wire.Op) wire.Code {
	if op.Particle != wire.ParticleBlob {
		return wire.BinTypeError
	}
	return r.modifyBin(op, modifyBits)
}

// modifyBits is bits.Modify with an answer, which there never is.
func modifyBits(v store.Value, call []byte) (changed, answer store.Value, code wire.Code) {
	changed, code = bits.Modify(v, call)
	return changed, store.Value{}, code
}

func doHLLRead(r *Run, op *wire.Op) wire.Code { return r.readBin(op, hll.Read) }

func doHLLModify(r *Run, op *wire.Op) wire.Code { return r.modifyBin(op, hll.Modify) }

// readBin carries out an operation that reads a bin in a way of its own. One that
// isn't there gives nothing.
func (r *Run) readBin(op *wire.Op, f func(store.Value, []byte) (store.Value, wire.Code)) wire.Code {
	i := r.Find(op.Name)
	if i < 0 {
		r.Nothing(op)
		return wire.OK
	}
	v, c := f(r.Bins[i].Value, op.Data)
	if c == wire.OK {
		r.Result(op, v)
	}
	return c
}

// modifyBin carries out an operation that changes a bin in a way of its own. It
// may make the bin, but it doesn't remove it.
func (r *Run) modifyBin(op *wire.Op, f func(store.Value, []byte) (changed, answer store.Value, code wire.Code)) wire.Code {
	var v store.Value
	if i := r.Find(op.Name); i >= 0 {
		v = r.Bins[i].Value
	}
	v, answer, c := f(v, op.Data)
	if c != wire.OK {
		return c
	}
	if v.Type != wire.ParticleNull {
		r.Set(op.Name, v)
	}
	if answer.Type == wire.ParticleNull {
		r.Nothing(op)
	} else {
		r.Answer(op, answer)
	}
	return wire.OK
}
