package exp

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Module carries out calls on values of some types. A call is a list of a code
// and arguments, or of 0xff, a context and such a list. Modify is given a value
// of no type where there is none yet.
type Module struct {
	Read   func(v store.Value, call []byte) (result store.Value, code wire.Code)
	Modify func(v store.Value, call []byte) (changed, result store.Value, code wire.Code)
}

// Modules are what calls are carried out by.
type Modules struct {
	CDT  Module // lists and maps
	Bits Module // blobs
	HLL  Module // sketches

	// Normalize, unless nil, brings a literal list or map into the form in which
	// they are stored, if it may be stored at all.
	Normalize func(particle byte, b []byte) (data []byte, ok bool)
}

// literal is the literal that a list or map is.
func (m *Modules) literal(t Type, raw []byte) value {
	if m.Normalize != nil {
		if data, ok := m.Normalize(t.particle(), raw); ok {
			raw = data
		}
	}
	return value{t: t, data: raw}
}

// Parts of a call.
const (
	callCDT     = 0
	callBits    = 1
	callHLL     = 2
	callModify  = 0x40 // on top of these
	callContext = 0xff // in place of a code
)

// A call is made on the value of its node's only argument.
type call struct {
	module int64
	modify bool
	parts  []part
}

// A part of a call's bytes is there already, or is the value of an expression.
type part struct {
	raw []byte
	arg *node
}

// call compiles a call. Of its arguments the lists are expressions.
func (p *parser) call(x *node, depth int) bool {
	t, ok := p.int()
	if !ok || t < int64(Nil) || t > int64(HLL) {
		return false
	}
	m, ok := p.int()
	if !ok {
		return false
	}
	c := &call{module: m &^ callModify, modify: m&callModify != 0}
	if !p.parts(c, depth) {
		return false
	}
	on := p.node(depth)
	if on == nil || !c.takes(on.t) {
		return false
	}
	x.t, x.call, x.args = Type(t), c, []*node{on}
	if on.t == Nil {
		x.t = Nil // as on the real server, whatever the call returns
	}
	x.n = t
	return true
}

// takes reports whether the module works on values of a type.
func (c *call) takes(t Type) bool {
	switch c.module {
	case callCDT:
		return t == List || t == Map || t == Nil
	case callBits:
		return t == Blob || t == Nil
	case callHLL:
		return t == HLL || t == Nil
	}
	return false
}

// parts reads the list of a call's code and arguments.
func (p *parser) parts(c *call, depth int) bool {
	start := p.b
	n, op, ok := p.callHead()
	if ok && op == callContext {
		_, rest, valid := msgpack.Value(p.b)
		if !valid || n != 3 {
			return false
		}
		p.b = rest
		n, _, ok = p.callHead()
	}
	if !ok {
		return false
	}
	for range n - 1 {
		if msgpack.Peek(p.b) != msgpack.ListKind {
			var valid bool
			if _, p.b, valid = msgpack.Value(p.b); !valid {
				return false
			}
			continue
		}
		c.parts = append(c.parts, part{raw: start[:len(start)-len(p.b)]})
		arg := p.node(depth)
		if arg == nil {
			return false
		}
		c.parts = append(c.parts, part{arg: arg})
		start = p.b
	}
	c.parts = append(c.parts, part{raw: start[:len(start)-len(p.b)]})
	return true
}

// callHead reads the head of a list that starts with a code.
func (p *parser) callHead() (n int, op int64, ok bool) {
	if n, p.b, ok = msgpack.ListLen(p.b); !ok || n == 0 {
		return 0, 0, false
	}
	op, ok = p.int()
	return n, op, ok
}

// call evaluates the arguments and makes the call. It is unknown if any of them
// is, if it fails, and if the result is not of the type that it should be.
func (e *evaluation) call(x *node) value {
	c := x.call
	var b []byte
	for _, part := range c.parts {
		if part.arg == nil {
			b = append(b, part.raw...)
			continue
		}
		v := e.eval(part.arg)
		if v.t == unknown {
			return v
		}
		b = v.pack(b)
	}
	on := e.eval(x.args[0])
	switch on.t {
	case Nil, List, Map, Blob, HLL:
	default:
		return value{t: unknown}
	}
	if !e.spend(len(b) + len(on.data)) {
		return value{t: unknown}
	}
	v, code := e.carryOut(c, on.toStore(), b)
	if code != wire.OK || !e.spend(len(v.Data)) {
		return value{t: unknown}
	}
	return fromStore(v, Type(x.n))
}

func (e *evaluation) carryOut(c *call, on store.Value, b []byte) (store.Value, wire.Code) {
	m := e.modules.CDT
	switch c.module {
	case callBits:
		m = e.modules.Bits
	case callHLL:
		m = e.modules.HLL
	}
	if c.modify {
		changed, _, code := m.Modify(on, b)
		return changed, code
	}
	if on.Type == wire.ParticleNull {
		return store.Value{}, wire.BinNotFound
	}
	return m.Read(on, b)
}

// spend takes from the work that is left.
func (e *evaluation) spend(n int) bool {
	e.left -= n
	return e.left >= 0
}
