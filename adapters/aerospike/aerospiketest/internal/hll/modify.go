package hll

import (
	"bytes"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Modify carries out a call that writes. It returns the new value and the
// answer, if there is one. A value of no type is a bin that isn't there, before
// and after.
func Modify(v store.Value, args []byte) (next, answer store.Value, code wire.Code) {
	op, n, rest, ok := head(args, false)
	if !ok {
		return v, answer, wire.ParameterError
	}
	if code = check(v); code != wire.OK {
		return v, answer, code
	}
	c, code := parse(op, n, rest)
	if code != wire.OK {
		return v, answer, code
	}
	var old sketch
	if v.Type == wire.ParticleHLL {
		old = sketch(v.Data)
	}
	switch {
	case old != nil && c.may(createOnly):
		code = wire.BinExists
	case old == nil && c.may(updateOnly):
		code = wire.BinNotFound
	default:
		s, answer, code := c.modify(old)
		if code != wire.OK {
			return v, answer, code
		}
		return store.Value{Type: wire.ParticleHLL, Data: s}, answer, wire.OK
	}
	if c.may(noFail) {
		code = wire.OK
	}
	return v, answer, code
}

// check says whether a value is a sketch, or none at all.
func check(v store.Value) wire.Code {
	switch {
	case v.Type == wire.ParticleNull:
		return wire.OK
	case v.Type != wire.ParticleHLL:
		return wire.BinTypeError
	case !Valid(v.Data):
		return wire.ServerError
	}
	return wire.OK
}

// modify returns the new sketch.
func (c *call) modify(old sketch) (s sketch, answer store.Value, code wire.Code) {
	switch c.op {
	case opInit:
		s, code = c.init(old)
	case opAdd:
		return c.add(old)
	case opUnion:
		s, code = c.setUnion(old)
	case opRefresh:
		if old == nil {
			return nil, answer, wire.BinNotFound
		}
		s = bytes.Clone(old)
		s.setCache(s.count())
		answer = integer(s.cache())
	case opFold:
		s, code = c.fold(old)
	}
	return s, answer, code
}

// shape fills in the bits that are not set.
func (c *call) shape(old sketch) wire.Code {
	if old == nil {
		if c.index == unset {
			return wire.OpNotApplicable
		}
		c.minhash = max(c.minhash, 0)
		return wire.OK
	}
	if c.index == unset {
		c.index = old.index()
	}
	if c.minhash == unset {
		c.minhash = old.minhash()
	}
	if !validBits(c.index, c.minhash) {
		return wire.OpNotApplicable
	}
	return wire.OK
}

func (c *call) init(old sketch) (sketch, wire.Code) {
	if code := c.shape(old); code != wire.OK {
		return nil, code
	}
	return newSketch(c.index, c.minhash), wire.OK
}

func (c *call) add(old sketch) (sketch, store.Value, wire.Code) {
	s := sketch(bytes.Clone(old))
	if old == nil {
		if code := c.shape(nil); code != wire.OK {
			return nil, store.Value{}, code
		}
		s = newSketch(c.index, c.minhash)
	}
	n := uint64(0)
	for _, e := range c.elements {
		if s.add(e) {
			n++
		}
	}
	return s, integer(n), wire.OK
}

// setUnion merges sketches into the old one, which keeps its bits unless it may
// be folded.
func (c *call) setUnion(old sketch) (sketch, wire.Code) {
	if old == nil {
		return union(c.sketches), wire.OK
	}
	all := append(slices.Clip(c.sketches), old)
	if u := common(all); !c.may(allowFold) && (u.index() != old.index() || u.minhash() != old.minhash()) {
		return nil, wire.OpNotApplicable
	}
	return union(all), wire.OK
}

func (c *call) fold(old sketch) (sketch, wire.Code) {
	switch {
	case old == nil:
		return nil, wire.BinNotFound
	case old.minhash() > 0, c.index == unset, old.index() < c.index:
		return nil, wire.OpNotApplicable
	case old.index() == c.index:
		return old, wire.OK
	}
	s := newSketch(c.index, 0)
	s.merge(old)
	return s, wire.OK
}
