package bits

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Codes of operations.
const (
	opResize   = 0
	opInsert   = 1
	opRemove   = 2
	opSet      = 3
	opOr       = 4
	opXor      = 5
	opAnd      = 6
	opNot      = 7
	opLShift   = 8
	opRShift   = 9
	opAdd      = 10
	opSubtract = 11
	opSetInt   = 12
	opGet      = 50
	opCount    = 51
	opLScan    = 52
	opRScan    = 53
	opGetInt   = 54
)

// Write flags.
const (
	createOnly = 1 << iota
	updateOnly
	noFail
	partial
)

// Flags of a resize.
const (
	fromFront = 1 << iota
	growOnly
	shrinkOnly
)

// Flags of arithmetic.
const (
	signed = 1 << iota
	saturate
	wrap
)

// maxBytes is the largest frame, beyond which no offset or size may go.
const maxBytes = wire.MaxBody

// A call is an operation with its arguments, which stand in it as they are
// needed: offset and size count bits.
type call struct {
	op     int64
	offset int64
	size   int64
	value  uint64
	buf    []byte
	flags  uint64
	sub    uint64 // flags of a resize or of arithmetic
}

func (c *call) may(flag uint64) bool { return c.flags&flag != 0 }

// An arg reads an argument of a call and returns what follows it.
type arg func(c *call, b []byte) ([]byte, bool)

// A shape is how a call of an operation looks.
type shape struct {
	args  []arg
	least int    // arguments that must be there
	flags uint64 // write flags that are allowed
}

// shapeOf returns the shape of an operation, or none.
func shapeOf(op int64) shape {
	const change = updateOnly | noFail
	switch op {
	case opResize:
		return shape{[]arg{byteCount, flags, subFlags}, 1, createOnly | change}
	case opInsert:
		return shape{[]arg{byteOffset, buffer, flags}, 2, createOnly | change}
	case opRemove:
		return shape{[]arg{byteOffset, byteSize, flags}, 2, change | partial}
	case opSet, opOr, opXor, opAnd:
		return shape{[]arg{bitOffset, bitSize, buffer, flags}, 3, change | partial}
	case opNot:
		return shape{[]arg{bitOffset, bitSize, flags}, 2, change | partial}
	case opLShift, opRShift:
		return shape{[]arg{bitOffset, bitSize, shift, flags}, 3, change | partial}
	case opAdd, opSubtract:
		return shape{[]arg{bitOffset, intSize, number, flags, subFlags}, 3, change}
	case opSetInt:
		return shape{[]arg{bitOffset, intSize, number, flags}, 3, change}
	case opGet, opCount:
		return shape{args: []arg{bitOffset, bitSize}, least: 2}
	case opLScan, opRScan:
		return shape{args: []arg{bitOffset, bitSize, boolean}, least: 3}
	case opGetInt:
		return shape{args: []arg{bitOffset, intSize, subFlags}, least: 2}
	}
	return shape{}
}

// parse reads a call of a read or of a write.
func parse(b []byte, read bool) (*call, wire.Code) {
	n, b, ok := msgpack.ListLen(b)
	if !ok || n == 0 {
		return nil, wire.ParameterError
	}
	c := &call{}
	if c.op, b, ok = msgpack.Int(b); !ok || c.op >= opGet != read {
		return nil, wire.ParameterError
	}
	s := shapeOf(c.op)
	if n--; s.args == nil || n < s.least || n > len(s.args) {
		return nil, wire.ParameterError
	}
	for _, a := range s.args[:n] {
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

func bitOffset(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.offset = v
	return b, ok && v >= -8*maxBytes && v <= 8*maxBytes
}

func byteOffset(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.offset = 8 * v
	return b, ok && v >= -maxBytes && v <= maxBytes
}

func bitSize(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.size = v
	return b, ok && v > 0 && v <= 8*maxBytes
}

func byteCount(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.size = 8 * v
	return b, ok && v >= 0 && v <= maxBytes
}

func byteSize(c *call, b []byte) ([]byte, bool) {
	b, ok := byteCount(c, b)
	return b, ok && c.size > 0
}

func intSize(c *call, b []byte) ([]byte, bool) {
	b, ok := bitSize(c, b)
	return b, ok && c.size <= 64
}

func number(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.value = uint64(v)
	return b, ok
}

func shift(c *call, b []byte) ([]byte, bool) {
	b, ok := number(c, b)
	return b, ok && c.value <= 8*maxBytes
}

func boolean(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Bool(b)
	if v {
		c.value = 1
	}
	return b, ok
}

// buffer reads bytes, of which there must be enough for the size. Without a size
// they are the size.
func buffer(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Bytes(b)
	if !ok || len(v) < 2 { // the first is the particle type
		return b, false
	}
	c.buf = v[1:]
	n := 8 * int64(len(c.buf))
	if c.size == 0 {
		c.size = n
	}
	return b, n >= c.size
}

func flags(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.flags = uint64(v)
	return b, ok
}

// subFlags reads the flags of a resize or of arithmetic, two of which exclude
// each other, or that of reading an integer.
func subFlags(c *call, b []byte) ([]byte, bool) {
	v, b, ok := msgpack.Int(b)
	c.sub = uint64(v)
	if c.op == opGetInt {
		return b, ok && c.sub&^signed == 0
	}
	const either = growOnly | shrinkOnly // as saturate and wrap
	return b, ok && c.sub&^7 == 0 && c.sub&either != either
}
