package cdt

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"

// increment adds to a number and returns the sum, which is of the number's type:
// what is added is turned into it. Without a number the sum is of the type of
// what is added. by is nil, absent or msgpack's, for one.
func increment(old, by []byte, negative bool) (sum []byte, ok bool) {
	whole, fraction, isFloat := int64(1), 1.0, false
	switch kind := msgpack.Peek(by); {
	case kind.IsInt():
		if whole, _, ok = msgpack.Int(by); !ok {
			return nil, false
		}
	case kind == msgpack.Float:
		if fraction, _, ok = msgpack.Number(by); !ok {
			return nil, false
		}
		isFloat = true
	case by != nil && kind != msgpack.Nil:
		return nil, false
	}
	if negative {
		whole, fraction = -whole, -fraction
	}
	kind := msgpack.Peek(old)
	switch {
	case old == nil && isFloat:
		return msgpack.AppendFloat(nil, fraction), true
	case old == nil:
		return msgpack.AppendInt(nil, whole), true
	case kind.IsInt():
		v, _, ok := msgpack.Int(old)
		if isFloat {
			whole = truncate(fraction)
		}
		return msgpack.AppendInt(nil, v+whole), ok
	case kind == msgpack.Float:
		v, _, ok := msgpack.Number(old)
		if !isFloat {
			fraction = float64(whole)
		}
		return msgpack.AppendFloat(nil, v+fraction), ok
	}
	return nil, false
}

// truncate turns a float into an integer as x86 does: what doesn't fit becomes
// the smallest.
func truncate(f float64) int64 {
	const smallest = -1 << 63
	if f >= -smallest || f < smallest || f != f {
		return smallest
	}
	return int64(f)
}
