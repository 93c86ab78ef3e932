package hll

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Codes of operations.
const (
	opInit           = 0
	opAdd            = 1
	opUnion          = 2
	opRefresh        = 3
	opFold           = 4
	opCount          = 50
	opGetUnion       = 51
	opUnionCount     = 52
	opIntersectCount = 53
	opSimilarity     = 54
	opDescribe       = 55
	opMayContain     = 56
)

// Write flags.
const (
	createOnly = 1 << iota
	updateOnly
	noFail
	allowFold
)

// A call is an operation with its arguments.
type call struct {
	op             int64
	elements       [][]byte // as they are hashed
	sketches       []sketch
	index, minhash int // bits, or unset
	flags          uint64
}

func (c *call) may(flag uint64) bool { return c.flags&flag != 0 }

// An arg reads an argument of a call and returns what follows it.
type arg func(c *call, b []byte) ([]byte, bool)

// A shape is how a call of an operation looks.
type shape struct {
	known bool
	args  []arg
	least int    // arguments that must be there
	flags uint64 // write flags that are allowed
}

// shapeOf returns the shape of an operation, or none.
func shapeOf(op int64) shape {
	switch op {
	case opInit:
		return shape{true, []arg{indexBits, minhashBits, flags}, 0, createOnly | updateOnly | noFail}
	case opAdd:
		return shape{true, []arg{elements, indexBits, minhashBits, flags}, 1, createOnly | noFail}
	case opUnion:
		return shape{true, []arg{sketches, flags}, 1, createOnly | updateOnly | noFail | allowFold}
	case opFold:
		return shape{true, []arg{indexBits}, 1, 0}
	case opRefresh, opCount, opDescribe:
		return shape{known: true}
	case opGetUnion, opUnionCount:
		return shape{known: true, args: []arg{sketches}, least: 1}
	case opIntersectCount, opSimilarity:
		return shape{known: true, args: []arg{alike}, least: 1}
	case opMayContain:
		return shape{known: true, args: []arg{elements}, least: 1}
	}
	return shape{}
}

// head reads the code of a call and the number of its arguments.
func head(b []byte, read bool) (op int64, n int, rest []byte, ok bool) {
	n, b, ok = msgpack.ListLen(b)
	if !ok || n == 0 {
		return 0, 0, b, false
	}
	op, b, ok = msgpack.Int(b)
	return op, n - 1, b, ok && op >= opCount == read && shapeOf(op).known
}

// parse reads the n arguments of a call.
func parse(op int64, n int, b []byte) (*call, wire.Code) {
	c := &call{op: op, index: unset, minhash: unset}
	s := shapeOf(op)
	if n < s.least || n > len(s.args) {
		return nil, wire.ParameterError
	}
	for _, a := range s.args[:n] {
		var ok bool
		if b, ok = a(c, b); !ok {
			return nil, wire.ParameterError
		}
	}
	const both = createOnly | updateOnly
	if c.flags&^s.flags != 0 || c.flags&both == both {
		return nil, wire.ParameterError
	}
	return c, wire.OK
}

func indexBits(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.index = int(v)
	return b, ok && (v == unset || v <= maxIndex && validIndex(int(v)))
}

func minhashBits(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	if !ok || v != unset && (v > maxMinhash || !validMinhash(int(v))) {
		return b, false
	}
	c.minhash = int(v)
	return b, c.index == unset || c.minhash == unset || validBits(c.index, c.minhash)
}

func flags(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.flags = uint64(v)
	return b, ok
}

// elements reads a list of elements, none of which is a list or map.
func elements(c *call, b []byte) ([]byte, bool) {
	n, b, ok := msgpack.ListLen(b)
	if !ok || n == 0 {
		return b, false
	}
	for range n {
		k := msgpack.Peek(b)
		if k == msgpack.ListKind || k == msgpack.MapKind {
			return b, false
		}
		var v []byte
		if v, b, ok = msgpack.Value(b); !ok {
			return b, false
		}
		c.elements = append(c.elements, compact(k, v))
	}
	return b, true
}

// compact returns an element in its shortest form, which is what is hashed.
func compact(k msgpack.Kind, v []byte) []byte {
	switch k {
	case msgpack.Uint:
		i, _, _ := msgpack.Int(v)
		return msgpack.AppendUint(nil, uint64(i))
	case msgpack.NegInt:
		i, _, _ := msgpack.Int(v)
		return msgpack.AppendInt(nil, i)
	case msgpack.String, msgpack.Blob, msgpack.GeoJSON:
		s, _, _ := msgpack.Bytes(v)
		return msgpack.AppendRaw(nil, s)
	default:
		return v
	}
}

// sketches reads a list of sketches, or one alone.
func sketches(c *call, b []byte) ([]byte, bool) {
	n := 1
	if msgpack.Peek(b) == msgpack.ListKind {
		n, b, _ = msgpack.ListLen(b)
	}
	for range n {
		s, rest, ok := msgpack.Bytes(b)
		if !ok || len(s) == 0 || !Valid(s[1:]) { // the first is the particle type
			return b, false
		}
		c.sketches, b = append(c.sketches, sketch(s[1:])), rest
	}
	return b, n > 0
}

// alike reads sketches. More than two can be compared only if they have the
// same minhash bits.
func alike(c *call, b []byte) ([]byte, bool) {
	b, ok := sketches(c, b)
	if !ok || len(c.sketches) <= 2 {
		return b, ok
	}
	return b, common(c.sketches).minhash() != 0
}
