package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// MaxSize is the longest value or operation that is looked at: twice what the
// largest record of a real server holds.
const MaxSize = 16 << 20

// Normalize returns a list or map from a client in the form in which it is
// stored: every number and head as short as possible, maps in the order of their
// keys. ok is false if it isn't of the particle type, if a map has a key of a
// type that isn't allowed or one twice, if what is said to be ordered isn't, or
// if it holds a wildcard or infinity. The result owns its memory.
func Normalize(particle byte, b []byte) (data []byte, ok bool) {
	want := msgpack.ListKind
	if particle == wire.ParticleMap {
		want = msgpack.MapKind
	}
	if msgpack.Peek(b) != want {
		return nil, false
	}
	return normalize(b)
}

// normalize is Normalize for any value.
func normalize(b []byte) ([]byte, bool) {
	if len(b) > MaxSize || !msgpack.Valid(b) || msgpack.HasUnstorable(b) {
		return nil, false
	}
	out, rest, ok := appendNormal(make([]byte, 0, len(b)), b)
	return out, ok && len(rest) == 0
}

// appendNormal appends the value at the start of b, which is valid and so not
// nested too deeply.
func appendNormal(out, b []byte) (data, rest []byte, ok bool) {
	switch msgpack.Peek(b) {
	case msgpack.ListKind:
		return appendNormalList(out, b)
	case msgpack.MapKind:
		return appendNormalMap(out, b)
	case msgpack.NegInt:
		i, rest, _ := msgpack.Int(b)
		return msgpack.AppendInt(out, i), rest, true
	case msgpack.Uint:
		i, rest, _ := msgpack.Int(b)
		return msgpack.AppendUint(out, uint64(i)), rest, true
	case msgpack.String, msgpack.Blob, msgpack.GeoJSON:
		s, rest, _ := msgpack.Bytes(b)
		return msgpack.AppendRaw(out, s), rest, true
	default:
		v, rest, ok := msgpack.Value(b)
		return append(out, v...), rest, ok
	}
}

func appendNormalList(out, b []byte) (data, rest []byte, ok bool) {
	n, flags, b, ok := msgpack.ListHead(b)
	if !ok {
		return out, b, false
	}
	flags &= ordered
	out = msgpack.AppendListHead(out, n, flags)
	last := -1
	for range n {
		at := len(out)
		if out, b, ok = appendNormal(out, b); !ok {
			return out, b, false
		}
		if flags&ordered != 0 && last >= 0 && msgpack.Compare(out[last:at], out[at:]) > 0 {
			return out, b, false
		}
		last = at
	}
	return out, b, true
}

func appendNormalMap(out, b []byte) (data, rest []byte, ok bool) {
	n, flags, b, ok := msgpack.MapHead(b)
	if !ok {
		return out, b, false
	}
	flags &= keyOrdered | valueOrdered
	out = msgpack.AppendMapHead(out, n, flags)
	start := len(out)
	ends := make([]int, 0, 2*n) // of keys and values
	for i := range 2 * n {
		if i%2 == 0 && !isKey(b) {
			return out, b, false
		}
		if out, b, ok = appendNormal(out, b); !ok {
			return out, b, false
		}
		ends = append(ends, len(out))
	}
	pairs := make([]pair, n)
	at := start
	sortedAlready := true
	for i := range pairs {
		k, v := ends[2*i], ends[2*i+1]
		pairs[i] = pair{out[at:k], out[k:v]}
		at = v
		sortedAlready = sortedAlready && (i == 0 || pairs[i-1].compare(pairs[i]) <= 0)
	}
	if !sortedAlready {
		if flags&keyOrdered != 0 {
			return out, b, false
		}
		slices.SortStableFunc(pairs, pair.compare)
	}
	for i := range pairs {
		if i > 0 && pairs[i-1].compare(pairs[i]) == 0 {
			return out, b, false
		}
	}
	if !sortedAlready {
		moved := make([]byte, 0, len(out)-start)
		for _, p := range pairs {
			moved = append(append(moved, p.key...), p.value...)
		}
		out = append(out[:start], moved...)
	}
	return out, b, true
}
