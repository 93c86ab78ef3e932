package bits

import (
	"encoding/binary"
	"math/bits"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Read carries out a call that reads.
func Read(v store.Value, args []byte) (store.Value, wire.Code) {
	c, code := parse(args, true)
	switch {
	case code != wire.OK:
		return store.Value{}, code
	case v.Type != wire.ParticleBlob:
		return store.Value{}, wire.BinTypeError
	}
	if code = c.settle(v.Data); code != wire.OK {
		return store.Value{}, code
	}
	if c.offset/8 >= int64(len(v.Data)) || c.offset+c.size > 8*int64(len(v.Data)) {
		return store.Value{}, wire.OpNotApplicable
	}
	var n int64
	switch c.op {
	case opGet:
		return store.Value{Type: wire.ParticleBlob, Data: cut(v.Data, c.offset, c.size)}, wire.OK
	case opCount:
		n = count(cut(v.Data, c.offset, c.size))
	case opLScan:
		n = c.lscan(v.Data)
	case opRScan:
		n = c.rscan(v.Data)
	case opGetInt:
		n = int64(load(v.Data, c.offset, c.size))
		if c.sub&signed != 0 {
			n = extend(uint64(n), c.size)
		}
	}
	return store.Value{Type: wire.ParticleInteger, Data: binary.BigEndian.AppendUint64(nil, uint64(n))}, wire.OK
}

// settle turns an offset from the end into one from the start.
func (c *call) settle(blob []byte) wire.Code {
	if c.offset < 0 {
		c.offset += 8 * int64(len(blob))
		if c.offset < 0 {
			return wire.ParameterError
		}
	}
	return wire.OK
}

// bit returns a bit of b; those after the end are 0.
func bit(b []byte, i int64) byte {
	if i/8 >= int64(len(b)) {
		return 0
	}
	return b[i/8] >> (7 - i%8) & 1
}

// cut returns size bits from offset on, shifted to the front of their bytes.
func cut(b []byte, offset, size int64) []byte {
	out := make([]byte, (size+7)/8)
	at, by := offset/8, offset%8
	for i := range out {
		out[i] = b[at+int64(i)] << by
		if next := at + int64(i) + 1; by > 0 && next < int64(len(b)) {
			out[i] |= b[next] >> (8 - by)
		}
	}
	if rest := size % 8; rest != 0 {
		out[len(out)-1] &= 0xff << (8 - rest)
	}
	return out
}

func count(b []byte) int64 {
	n := 0
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return int64(n)
}

// load reads an integer of up to 64 bits.
func load(b []byte, offset, size int64) uint64 {
	var w [8]byte
	copy(w[:], cut(b, offset, size))
	return binary.BigEndian.Uint64(w[:]) >> (64 - size)
}

// extend makes a signed integer of one of size bits.
func extend(v uint64, size int64) int64 { return int64(v<<(64-size)) >> (64 - size) }

func (c *call) lscan(b []byte) int64 {
	for i := range c.size {
		if bit(b, c.offset+i) == byte(c.value) {
			return i
		}
	}
	return -1
}

// rscan looks through the bits from the last to the first and then, as the real
// server does, on to the start of the byte that the first is in: a bit found
// there has a negative place.
func (c *call) rscan(b []byte) int64 {
	for i := c.size - 1; i >= -(c.offset % 8); i-- {
		if bit(b, c.offset+i) == byte(c.value) {
			return i
		}
	}
	return -1
}
