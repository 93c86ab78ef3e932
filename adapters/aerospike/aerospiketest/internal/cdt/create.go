package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// create makes what the first of the steps leads to, in the list or map of f or
// in an empty bin, and what the others lead to within it.
func (c *call) create(steps []step, rest []byte, f *frame) ([]byte, wire.Code) {
	inside := steps[1:]
	if f == nil {
		inside = steps
		if steps[0].create() == 0 {
			return nil, wire.OpNotApplicable
		}
	}
	padded := 0
	if f != nil {
		padded = f.pad
	}
	for i, s := range inside {
		if !s.ok || s.arg == nil || !s.creatable() || s.typ&stepIndex != 0 && (f != nil || i > 0) {
			return nil, wire.OpNotApplicable
		}
		padded += s.padding()
		c.noteCreated(s)
	}
	if padded > maxPad {
		return nil, wire.RecordTooBig
	}
	data, code := c.end(target{fresh: true}, rest)
	if code != wire.OK || data == nil {
		return nil, code
	}
	for _, s := range slices.Backward(inside) {
		if data = s.wrap(data); data == nil {
			return nil, wire.OpNotApplicable
		}
	}
	if f == nil {
		return data, wire.OK
	}
	return f.insert(data), wire.OK
}

func (c *call) noteCreated(s step) {
	if s.kind() == byKey {
		c.unstorable = msgpack.HasUnstorable(s.arg)
	}
}

// creatable reports whether the step says enough to create what it leads to.
func (s step) creatable() bool {
	switch {
	case s.isMap() && s.kind() == byKey:
		return !msgpack.HasUnstorable(s.arg)
	case s.list() && s.kind() == byIndex:
		i, ok := s.index()
		if !ok || i < -1 {
			return false
		}
		return i <= 0 || s.create() == createPaddedList || s.create() == createOrderedList
	}
	return false
}

// padding is how many nils a new list starts with.
func (s step) padding() int {
	if s.list() && s.create() == createPaddedList {
		if i, _ := s.index(); i > 0 {
			return int(min(i, maxPad+1))
		}
	}
	return 0
}

// wrap makes the list or map that a step creates around a value.
func (s step) wrap(v []byte) []byte {
	if s.isMap() {
		key, ok := normalize(s.arg)
		if !ok {
			return nil
		}
		return mapping{flags: s.mapFlags(), pairs: []pair{{key, v}}}.encode()
	}
	var l list
	if s.create() == createOrderedList {
		l.flags = ordered
	}
	l.items = append(appendNils(nil, s.padding()), v)
	return l.encode()
}

func (s step) mapFlags() byte {
	switch s.create() {
	case createKeyOrdered:
		return keyOrdered
	case createKeyValue:
		return keyOrdered | valueOrdered
	}
	return 0
}

// insert puts what was created in its place.
func (f *frame) insert(v []byte) []byte {
	if !f.isList {
		f.maps.pairs = slices.Insert(f.maps.pairs, f.place, pair{f.arg, v})
		return f.maps.encode()
	}
	f.list.items = append(appendNils(f.list.items, f.pad), nil)
	at := len(f.list.items) - 1
	if f.list.ordered() {
		rest := list{flags: f.list.flags, items: f.list.items[:at]}
		rank, _ := rest.lower(v)
		f.list.items = slices.Insert(f.list.items[:at], rank, v)
	} else {
		f.list.items[at] = v
	}
	return f.list.encode()
}

// appendNils appends n nils.
func appendNils(items [][]byte, n int) [][]byte {
	none := msgpack.AppendNil(nil)
	for range n {
		items = append(items, none)
	}
	return items
}

// move sets an element. An ordered list takes it to its place.
func (l *list) move(at int, v []byte) {
	if !l.ordered() {
		l.items[at] = v
		return
	}
	rank, _ := l.lower(v)
	if rank > at {
		rank--
	}
	l.items = slices.Insert(slices.Delete(l.items, at, at+1), rank, v)
}
