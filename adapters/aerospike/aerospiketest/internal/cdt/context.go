package cdt

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Bits of a step of a context.
const (
	stepKind   = 0x0f
	stepList   = 0x10
	stepMap    = 0x20
	stepCreate = 0xc0
	stepIndex  = 0x100 // wants an index within a value that is created
)

// Kinds of steps.
const (
	byIndex = iota
	byRank
	byKey
	byValue
)

// What is created where a step leads to nothing.
const (
	createList        = 0x40 // a list, to which one may only append
	createPaddedList  = 0x80 // a list that is filled up with nil
	createOrderedList = 0xc0
	createKeyOrdered  = 0x80
	createKeyValue    = 0xc0
)

// maxPad is the largest number of nils that a list is filled up with: more than
// fits in a record of the usual size.
const maxPad = 2 << 20

// A step is a part of a context.
type step struct {
	typ int64
	ok  bool // typ was an integer
	arg []byte
}

func (s step) kind() int64   { return s.typ & stepKind }
func (s step) create() int64 { return s.typ & stepCreate }
func (s step) list() bool    { return s.typ&(stepList|stepMap) == stepList }
func (s step) isMap() bool   { return s.typ&(stepList|stepMap) == stepMap }
func (s step) index() (int64, bool) {
	i, _, ok := msgpack.Int(s.arg)
	return i, ok
}

// valid reports whether the kind of step exists: one that works on both lists
// and maps can't say what to create.
func (s step) valid() bool {
	return s.kind() <= byValue && (s.typ&(stepList|stepMap) != 0 || s.typ&(stepCreate|stepIndex) == 0)
}

// maxSteps is the longest way that a context goes. Nothing is nested deeper.
const maxSteps = 256

// parseContext takes a context apart and returns what follows it. Steps after
// one that is wrong are left out: that one is found out when it is used.
func parseContext(b []byte) (steps []step, rest []byte, code wire.Code) {
	n, b, ok := msgpack.ListLen(b)
	switch {
	case !ok, n == 0, n%2 != 0:
		return nil, b, wire.ParameterError
	case n > 2*maxSteps:
		return nil, b, wire.OpNotApplicable
	}
	for range n / 2 {
		var s step
		if s.typ, b, s.ok = msgpack.Int(b); s.ok {
			s.arg, b, ok = msgpack.Value(b)
		}
		steps = append(steps, s)
		if !s.ok || !ok {
			return steps, nil, wire.OK
		}
	}
	return steps, b, wire.OK
}

// dig follows the steps of a context from the one at i on, carries out the
// operation, which is in rest, and returns the changed value, or nil.
func (c *call) dig(t target, steps []step, rest []byte, i int) ([]byte, wire.Code) {
	if i == len(steps) {
		return c.end(t, rest)
	}
	s := steps[i]
	if !s.ok {
		return nil, wire.ParameterError
	}
	if !s.valid() || s.arg == nil {
		return nil, wire.OpNotApplicable
	}
	if !t.live {
		return c.create(steps[i:], rest, nil)
	}
	f := frame{step: s}
	if s.kind() == byKey {
		c.unstorable = msgpack.HasUnstorable(s.arg)
	} else if s.kind() == byValue {
		c.unstorable = c.unstorable || msgpack.HasUnstorable(s.arg)
	}
	if code := f.enter(t.data); code != wire.OK {
		return nil, code
	}
	if f.at < 0 {
		if !c.modify {
			return nil, wire.OpNotApplicable
		}
		return c.create(steps[i:], rest, &f)
	}
	data, code := c.dig(target{data: f.child(), live: true}, steps, rest, i+1)
	if code != wire.OK || data == nil {
		return nil, code
	}
	return f.replace(data), wire.OK
}

// end carries out the operation at the end of the context.
func (c *call) end(t target, op []byte) ([]byte, wire.Code) {
	if !c.parseList(op) {
		return nil, wire.ParameterError
	}
	if !t.fresh {
		want := msgpack.ListKind
		if c.family() == wire.ParticleMap {
			want = msgpack.MapKind
		}
		if msgpack.Peek(t.data) != want {
			return nil, wire.BinTypeError
		}
	}
	return c.apply(t)
}

// A frame is a list or map on the way that a context leads.
type frame struct {
	step
	isList bool
	list   list
	maps   mapping
	at     int // where the step leads to, or -1 if that is to be created
	pad    int // nils in front of what is created
	place  int // where it is created
}

func (f *frame) child() []byte {
	if f.isList {
		return f.list.items[f.at]
	}
	return f.maps.pairs[f.at].value
}

// replace returns the value with another child.
func (f *frame) replace(child []byte) []byte {
	if f.isList {
		f.list.move(f.at, child)
		return f.list.encode()
	}
	f.maps.pairs[f.at].value = child
	return f.maps.encode()
}

// enter finds out where the step leads.
func (f *frame) enter(data []byte) wire.Code {
	var ok, found bool
	switch msgpack.Peek(data) {
	case msgpack.ListKind:
		f.isList = true
		if f.list, ok = parseList(data); ok && f.typ&stepMap == 0 {
			found = f.intoList()
		}
	case msgpack.MapKind:
		if f.maps, ok = parseMap(data); ok && f.typ&stepList == 0 {
			found = f.intoMap()
		}
	default:
	}
	if !found {
		return wire.OpNotApplicable
	}
	return wire.OK
}
