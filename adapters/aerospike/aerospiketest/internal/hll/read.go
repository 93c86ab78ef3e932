package hll

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Read carries out a call that reads.
func Read(v store.Value, args []byte) (store.Value, wire.Code) {
	op, n, rest, ok := head(args, true)
	switch {
	case !ok:
		return store.Value{}, wire.ParameterError
	case v.Type == wire.ParticleNull:
		return store.Value{}, wire.BinNotFound
	}
	if code := check(v); code != wire.OK {
		return store.Value{}, code
	}
	c, code := parse(op, n, rest)
	if code != wire.OK {
		return store.Value{}, code
	}
	return c.read(sketch(v.Data))
}

func (c *call) read(s sketch) (store.Value, wire.Code) {
	all := append(slices.Clip(c.sketches), s)
	switch c.op {
	case opCount:
		return integer(s.count()), wire.OK
	case opGetUnion:
		return store.Value{Type: wire.ParticleHLL, Data: union(all)}, wire.OK
	case opUnionCount:
		return integer(union(all).count()), wire.OK
	case opIntersectCount, opSimilarity:
		if len(all) > 3 && common(all).minhash() == 0 {
			return store.Value{}, wire.OpNotApplicable
		}
		if c.op == opIntersectCount {
			return integer(intersection(all)), wire.OK
		}
		return float(similarity(all)), wire.OK
	case opMayContain:
		for _, e := range c.elements {
			if !s.contains(e) {
				return integer(0), wire.OK
			}
		}
		return integer(1), wire.OK
	}
	b := msgpack.AppendListLen(nil, 2)
	b = msgpack.AppendInt(msgpack.AppendInt(b, int64(s.index())), int64(s.minhash()))
	return store.Value{Type: wire.ParticleList, Data: b}, wire.OK
}

func integer(n uint64) store.Value {
	return store.Value{Type: wire.ParticleInteger, Data: binary.BigEndian.AppendUint64(nil, n)}
}

func float(f float64) store.Value {
	return store.Value{Type: wire.ParticleFloat, Data: binary.BigEndian.AppendUint64(nil, math.Float64bits(f))}
}
