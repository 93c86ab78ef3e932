package exp

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/geo"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

// An evaluation is of one expression for one record.
type evaluation struct {
	r       Record
	modules *Modules
	slots   []value // of variables
	left    int     // work that may still be done
}

func (e *evaluation) eval(x *node) value {
	switch op := x.op; {
	case op == opLiteral:
		return x.literal
	case op >= opEQ && op <= opLE, op == opGeo:
		return e.compare(x)
	case op == opRegex:
		return e.match(x)
	case op == opAnd, op == opOr:
		return e.logic(x, boolean(op == opOr))
	case op == opNot:
		return e.not(x)
	case op == opExclusive:
		return e.exclusive(x)
	case op >= opAdd && op <= opMax:
		return e.number(x)
	case op >= opDigestModulo && op <= opRecordSize:
		return e.meta(x)
	case op == opKey:
		return e.key(x)
	case op == opBin, op == opBinType:
		return e.bin(x)
	case op == opCond:
		return e.cond(x)
	case op == opVar:
		return e.slots[x.n]
	case op == opLet:
		return e.let(x)
	case op == opCall:
		return e.call(x)
	}
	return value{t: unknown}
}

// logic is or, where one true decides, or and, where one false does.
func (e *evaluation) logic(x *node, decides value) value {
	result := boolean(!decides.isTrue())
	for _, a := range x.args {
		switch v := e.eval(a); {
		case v.t == unknown:
			result = v
		case v.isTrue() == decides.isTrue():
			return decides
		}
	}
	return result
}

func (e *evaluation) not(x *node) value {
	v := e.eval(x.args[0])
	if v.t == unknown {
		return v
	}
	return boolean(!v.isTrue())
}

// exclusive is true if exactly one argument is. It goes no further than to the
// second that is true, or the first that is unknown.
func (e *evaluation) exclusive(x *node) value {
	one := false
	for _, a := range x.args {
		switch v := e.eval(a); {
		case v.t == unknown:
			return v
		case v.isTrue() && one:
			return boolean(false)
		case v.isTrue():
			one = true
		}
	}
	return boolean(one)
}

// cond evaluates the value of the first condition that is true, or the last.
func (e *evaluation) cond(x *node) value {
	last := len(x.args) - 1
	for i := 0; i < last; i += 2 {
		switch v := e.eval(x.args[i]); {
		case v.t == unknown:
			return v
		case v.isTrue():
			return e.eval(x.args[i+1])
		}
	}
	return e.eval(x.args[last])
}

// let evaluates all definitions, used or not. They may be unknown.
func (e *evaluation) let(x *node) value {
	last := len(x.args) - 1
	for i, def := range x.args[:last] {
		e.slots[int(x.n)+i] = e.eval(def)
	}
	return e.eval(x.args[last])
}

func (e *evaluation) bin(x *node) value {
	v, ok := e.r.Bin(x.name)
	switch {
	case x.op == opBinType:
		return integer(int64(v.Type))
	case !ok || x.t == Nil:
		return value{t: unknown}
	}
	return fromStore(v, x.t)
}

func (e *evaluation) key(x *node) value {
	k := e.r.Key()
	switch {
	case len(k) == 0, k[0] != x.t.particle():
	case x.t != Int:
		return value{t: x.t, data: k[1:]}
	case len(k) == 9:
		return integer(int64(binary.BigEndian.Uint64(k[1:])))
	}
	return value{t: unknown}
}

func (e *evaluation) meta(x *node) value {
	switch x.op {
	case opDigestModulo:
		return integer(int64(binary.LittleEndian.Uint32(e.r.Digest()[16:])) % x.n)
	case opDeviceSize:
		return integer(0) // the namespace is in memory
	case opLastUpdate:
		return integer(e.r.LastUpdate())
	case opSinceUpdate:
		return integer(e.r.SinceUpdate())
	case opVoidTime:
		return integer(e.r.VoidTime())
	case opTTL:
		return integer(e.r.TTL())
	case opSetName:
		return value{t: String, data: []byte(e.r.Set())}
	case opKeyExists:
		return boolean(len(e.r.Key()) > 0)
	case opIsTombstone:
		return boolean(false)
	case opMemorySize, opRecordSize:
		return integer(e.r.Size())
	}
	return value{t: unknown}
}

// compare is also geo compare.
func (e *evaluation) compare(x *node) value {
	a := e.eval(x.args[0])
	if a.t == unknown {
		return a
	}
	b := e.eval(x.args[1])
	if b.t == unknown || b.t != a.t {
		return value{t: unknown}
	}
	order, unordered := 0, false
	switch a.t {
	case Geo:
		return within(a, b)
	case Bool, Int:
		order = cmp.Compare(a.n, b.n)
	case Float:
		return boolean(compareFloats(x.op, a.f, b.f))
	case String, Blob:
		order = bytes.Compare(a.data, b.data)
	case List, Map, other:
		order, unordered = msgpack.CompareStrict(a.data, b.data)
	default: // nil
	}
	if unordered {
		return value{t: unknown}
	}
	return boolean(holds(x.op, order))
}

// holds reports whether an order is one that a comparison wants.
func holds(op uint8, order int) bool {
	switch op {
	case opEQ:
		return order == 0
	case opNE:
		return order != 0
	case opGT:
		return order > 0
	case opGE:
		return order >= 0
	case opLT:
		return order < 0
	}
	return order <= 0
}

// compareFloats differs from [holds] for what is not a number.
func compareFloats(op uint8, a, b float64) bool {
	switch op {
	case opEQ:
		return a == b
	case opNE:
		return a != b
	case opGT:
		return a > b
	case opGE:
		return a >= b
	case opLT:
		return a < b
	}
	return a <= b
}

func within(a, b value) value {
	for _, v := range []*value{&a, &b} {
		if v.shape != nil {
			continue
		}
		var ok bool
		if v.shape, ok = geo.Parse(v.data); !ok {
			return value{t: unknown}
		}
	}
	return boolean(geo.Match(a.shape, b.shape))
}
