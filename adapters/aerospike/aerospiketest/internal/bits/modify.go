package bits

import (
	"bytes"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// maxBlob is the largest blob that is made, well above the largest record of a
// real server.
const maxBlob = 32 << 20

// Modify carries out a call that writes and returns the new value. A value of
// no type is a bin that isn't there, before and after.
func Modify(v store.Value, args []byte) (store.Value, wire.Code) {
	c, code := parse(args, false)
	if code != wire.OK {
		return v, code
	}
	code = c.admit(v)
	if code == wire.OK {
		var b []byte
		if b, code = c.modify(v.Data); code == wire.OK && b != nil {
			return store.Value{Type: wire.ParticleBlob, Data: b}, wire.OK
		}
	}
	if c.may(noFail) && forgivable(code) {
		code = wire.OK
	}
	return v, code
}

// past says that a call goes past the end of the blob, or against the flags of a
// resize: a parameter error that no-fail forgives.
const past wire.Code = 255

// forgivable reports whether no-fail makes an error a success.
func forgivable(c wire.Code) bool {
	return c == wire.BinExists || c == wire.BinNotFound || c == wire.OpNotApplicable || c == past
}

// admit applies the write flags to a value.
func (c *call) admit(v store.Value) wire.Code {
	if v.Type == wire.ParticleNull {
		switch {
		case c.op != opInsert && c.op != opResize, c.may(updateOnly):
			return wire.BinNotFound
		case c.offset < 0:
			return wire.ParameterError
		}
		return wire.OK
	}
	switch {
	case c.may(createOnly):
		return wire.BinExists
	case v.Type != wire.ParticleBlob:
		return wire.BinTypeError
	}
	return c.settle(v.Data)
}

// modify returns the new blob, or nil if there is nothing to change.
func (c *call) modify(old []byte) ([]byte, wire.Code) {
	var b []byte
	var code wire.Code
	switch c.op {
	case opResize:
		b, code = c.resize(old)
	case opInsert:
		b, code = c.insert(old)
	case opRemove:
		b, code = c.remove(old)
	default:
		b, code = c.change(old)
	}
	if code == past && !c.may(noFail) {
		code = wire.ParameterError
	}
	return b, code
}

func (c *call) resize(old []byte) ([]byte, wire.Code) {
	n := int(c.size / 8)
	switch {
	case n == len(old):
		return nil, wire.OK
	case n > maxBlob:
		return nil, wire.RecordTooBig
	case n < len(old) && c.sub&growOnly != 0, n > len(old) && c.sub&shrinkOnly != 0:
		return nil, past
	}
	b := make([]byte, n)
	switch {
	case c.sub&fromFront == 0:
		copy(b, old)
	case n < len(old):
		copy(b, old[len(old)-n:])
	default:
		copy(b[n-len(old):], old)
	}
	return b, wire.OK
}

func (c *call) insert(old []byte) ([]byte, wire.Code) {
	at := int(c.offset / 8)
	if max(at, len(old))+len(c.buf) > maxBlob {
		return nil, wire.RecordTooBig
	}
	if at >= len(old) {
		b := append(make([]byte, 0, at+len(c.buf)), old...)
		return append(b[:at], c.buf...), wire.OK
	}
	b := append(make([]byte, 0, len(old)+len(c.buf)), old[:at]...)
	return append(append(b, c.buf...), old[at:]...), wire.OK
}

func (c *call) remove(old []byte) ([]byte, wire.Code) {
	at, end := int(c.offset/8), int((c.offset+c.size)/8)
	if at >= len(old) {
		return nil, past
	}
	if end > len(old) {
		if !c.may(partial) {
			return nil, past
		}
		end = len(old)
	}
	b := append(make([]byte, 0, len(old)), old[:at]...)
	return append(b, old[end:]...), wire.OK
}

// change is an operation that leaves the length as it is.
func (c *call) change(old []byte) ([]byte, wire.Code) {
	n := 8 * int64(len(old))
	if c.offset >= n {
		return nil, wire.OpNotApplicable
	}
	if c.offset+c.size > n {
		if !c.may(partial) {
			return nil, wire.OpNotApplicable
		}
		c.size = n - c.offset
	}
	if c.op >= opAdd {
		v, ok := c.arithmetic(load(old, c.offset, c.size))
		if !ok {
			return nil, wire.OpNotApplicable
		}
		b := bytes.Clone(old)
		for i := range c.size {
			put(b, c.offset+i, byte(v>>(c.size-1-i)&1))
		}
		return b, wire.OK
	}
	b := bytes.Clone(old)
	for i := range c.size {
		put(b, c.offset+i, c.changed(old, i))
	}
	return b, wire.OK
}

// changed returns the new value of the bit i of the range.
func (c *call) changed(old []byte, i int64) byte {
	was := bit(old, c.offset+i)
	switch c.op {
	case opSet:
		return bit(c.buf, i)
	case opOr:
		return was | bit(c.buf, i)
	case opXor:
		return was ^ bit(c.buf, i)
	case opAnd:
		return was & bit(c.buf, i)
	case opNot:
		return was ^ 1
	}
	from := i + int64(c.value)
	if c.op == opRShift {
		from = i - int64(c.value)
	}
	if from < 0 || from >= c.size {
		return 0
	}
	return bit(old, c.offset+from)
}

func put(b []byte, i int64, v byte) {
	m := byte(0x80) >> (i % 8)
	b[i/8] &^= m
	if v != 0 {
		b[i/8] |= m
	}
}

// arithmetic returns the new integer of c.size bits; ok is false if it doesn't
// fit and that is to fail.
func (c *call) arithmetic(old uint64) (v uint64, ok bool) {
	mask := ^uint64(0) >> (64 - c.size)
	n := c.value & mask
	var over bool
	switch c.op {
	case opSetInt:
		return n, true
	case opAdd:
		v = (old + n) & mask
		over = v < old
	default:
		v = (old - n) & mask
		over = v > old
		n = -n
	}
	if c.sub&wrap != 0 {
		return v, true
	}
	limit := mask
	if c.op == opSubtract {
		limit = 0
	}
	if c.sub&signed != 0 {
		// As on the real server, a sum of exactly 0 never overflows.
		a, b, s := extend(old, c.size), extend(n, c.size), extend(v, c.size)
		switch {
		case a < 0 && b < 0 && s > 0:
			over, limit = true, mask>>(c.size-1)<<(c.size-1)
		case a > 0 && b > 0 && s < 0:
			over, limit = true, mask>>1
		default:
			over = false
		}
	}
	if over && c.sub&saturate != 0 {
		return limit, true
	}
	return v, !over
}
