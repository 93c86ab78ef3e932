package cdt

import (
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// evalContext is the code of an operation that stands behind a context.
const evalContext = 0xff

// A call is one operation that is carried out.
type call struct {
	op     int64
	args   []byte // the arguments, one after the other
	n      int    // how many there are
	modify bool
	inBin  bool // the bin exists

	// unstorable says that a wildcard or infinity was read. It stays so for the
	// arguments that follow.
	unstorable bool

	answer answer
}

// Read carries out an operation that reads a value. A result without a type is
// none.
func Read(v store.Value, op []byte) (result store.Value, code wire.Code) {
	c := call{inBin: true}
	if _, code = c.run(v, op); code != wire.OK {
		return store.Value{}, code
	}
	return c.answer.value, wire.OK
}

// Modify carries out an operation that changes a value, which has no type if the
// bin does not exist; if changed has none either, it goes on not to exist.
func Modify(v store.Value, op []byte) (changed, result store.Value, code wire.Code) {
	c := call{modify: true, inBin: v.Type != wire.ParticleNull}
	changed, code = c.run(v, op)
	if code != wire.OK {
		return store.Value{}, store.Value{}, code
	}
	return changed, c.answer.value, wire.OK
}

func (c *call) run(v store.Value, op []byte) (store.Value, wire.Code) {
	if len(op) > MaxSize || len(v.Data) > MaxSize {
		return store.Value{}, wire.RecordTooBig
	}
	if !c.parse(op) {
		return store.Value{}, wire.ParameterError
	}
	data, code := c.start(target{live: c.inBin, data: v.Data}, v.Type)
	switch {
	case code != wire.OK || data == nil:
		return v, code
	case !msgpack.Valid(data): // nested too deeply
		return v, wire.ParameterError
	case msgpack.Peek(data) == msgpack.ListKind:
		return store.Value{Type: wire.ParticleList, Data: data}, wire.OK
	}
	return store.Value{Type: wire.ParticleMap, Data: data}, wire.OK
}

// start carries out an operation on the value of a bin.
func (c *call) start(t target, particle byte) ([]byte, wire.Code) {
	if c.op != evalContext {
		if c.inBin && particle != c.family() {
			return nil, wire.BinTypeError
		}
		return c.apply(t)
	}
	collection := particle == wire.ParticleList || particle == wire.ParticleMap
	if c.n != 2 || !collection && (c.inBin || !c.modify) {
		return nil, wire.ParameterError
	}
	steps, rest, code := parseContext(c.args)
	if code != wire.OK {
		return nil, code
	}
	return c.dig(t, steps, rest, 0)
}

// parse reads the operation up to its arguments.
func (c *call) parse(op []byte) (ok bool) {
	if len(op) == 0 || op[0] != 0 {
		return c.parseList(op)
	}
	if len(op) < 2 {
		return false
	}
	c.op = int64(binary.BigEndian.Uint16(op))
	if len(op) == 2 {
		return true
	}
	c.n, c.args, ok = msgpack.ListLen(op[2:])
	return ok
}

func (c *call) parseList(op []byte) bool {
	n, rest, ok := msgpack.ListLen(op)
	if !ok || n == 0 {
		return false
	}
	c.op, c.args, ok = msgpack.Int(rest)
	c.n = n - 1
	return ok
}

// family is the particle type that the operation works on.
func (c *call) family() byte {
	if c.op >= 0 && c.op < opMap {
		return wire.ParticleList
	}
	return wire.ParticleMap
}

// apply carries out the operation where the context leads. It returns nil if
// nothing changes.
func (c *call) apply(t target) ([]byte, wire.Code) {
	args, code := c.arguments(t)
	if code != wire.OK || args == nil {
		return nil, code
	}
	if c.family() == wire.ParticleList {
		return c.applyList(t, args)
	}
	return c.applyMap(t, args)
}

// A target is what an operation works on.
type target struct {
	data  []byte
	live  bool // data is there
	fresh bool // it is to be made by a step of the context
}
