package sindex

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

// Steps of a context.
const (
	listIndex = 0x10
	listRank  = 0x11
	listValue = 0x13
	mapIndex  = 0x20
	mapRank   = 0x21
	mapKey    = 0x22
	mapValue  = 0x23
)

// ValidContext reports whether a context is one: a list of steps, each a number
// and a value.
func ValidContext(ctx []byte) bool {
	n, rest, ok := msgpack.ListLen(ctx)
	if !ok || n == 0 || n%2 != 0 || !msgpack.Valid(ctx) {
		return false
	}
	for range n / 2 {
		var step int64
		if step, rest, ok = msgpack.Int(rest); !ok {
			return false
		}
		switch step {
		case listIndex, listRank, mapIndex, mapRank:
			_, rest, ok = msgpack.Int(rest)
		case listValue, mapKey, mapValue:
			_, rest, ok = msgpack.Value(rest)
		default:
			return false
		}
		if !ok {
			return false
		}
	}
	return true
}

// follow returns the value that a valid context leads to, from a list or a map.
func follow(v []byte, ctx string) ([]byte, bool) {
	n, rest, ok := msgpack.ListLen([]byte(ctx))
	for range n / 2 {
		if !ok {
			return nil, false
		}
		var step int64
		var arg []byte
		step, rest, _ = msgpack.Int(rest)
		arg, rest, _ = msgpack.Value(rest)
		v, ok = enter(v, step, arg)
	}
	return v, ok
}

// enter takes one step.
func enter(v []byte, step int64, arg []byte) ([]byte, bool) {
	if step < mapIndex {
		l, ok := elements(v)
		switch {
		case !ok:
			return nil, false
		case step == listValue:
			return firstEqual(l, l, arg)
		case step == listRank:
			slices.SortStableFunc(l, msgpack.Compare)
		}
		return at(l, arg)
	}
	keys, values, ok := pairs(v)
	if !ok {
		return nil, false
	}
	switch step {
	case mapKey:
		return firstEqual(keys, values, arg)
	case mapValue:
		return firstEqual(values, values, arg)
	case mapRank:
		slices.SortStableFunc(values, msgpack.Compare)
		return at(values, arg)
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return msgpack.Compare(keys[a], keys[b]) })
	sorted := make([][]byte, len(keys))
	for i, from := range order {
		sorted[i] = values[from]
	}
	return at(sorted, arg)
}

func firstEqual(where, what [][]byte, arg []byte) ([]byte, bool) {
	i := slices.IndexFunc(where, func(v []byte) bool { return msgpack.Equal(v, arg) })
	if i < 0 {
		return nil, false
	}
	return what[i], true
}

// at returns the element of an index that counts from the end when it is
// negative.
func at(l [][]byte, arg []byte) ([]byte, bool) {
	i, _, _ := msgpack.Int(arg)
	if i < 0 {
		i += int64(len(l))
	}
	if i < 0 || i >= int64(len(l)) {
		return nil, false
	}
	return l[i], true
}

// elements returns the elements of a list.
func elements(v []byte) ([][]byte, bool) {
	n, _, rest, ok := msgpack.ListHead(v)
	if !ok {
		return nil, false
	}
	return cut(rest, n)
}

// pairs returns the keys and values of a map.
func pairs(v []byte) (keys, values [][]byte, ok bool) {
	n, _, rest, ok := msgpack.MapHead(v)
	if !ok {
		return nil, nil, false
	}
	all, ok := cut(rest, 2*n)
	for i := 0; i+1 < len(all); i += 2 {
		keys, values = append(keys, all[i]), append(values, all[i+1])
	}
	return keys, values, ok
}

func cut(b []byte, n int) ([][]byte, bool) {
	l := make([][]byte, 0, min(n, len(b)))
	for range n {
		v, rest, ok := msgpack.Value(b)
		if !ok {
			return nil, false
		}
		l, b = append(l, v), rest
	}
	return l, true
}
