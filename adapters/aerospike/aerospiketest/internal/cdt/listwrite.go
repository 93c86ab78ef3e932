package cdt

import (
	"math"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Flags of writes to lists.
const (
	writeUnique  = 1
	writeBounded = 2
	writeNoFail  = 4
	writePartial = 8
)

// exists ends a write that would make an element twice.
func exists(flags int64) wire.Code {
	if flags&writeNoFail != 0 {
		return wire.OK
	}
	return wire.ElementExists
}

func partial(flags int64) bool { return flags&writeNoFail != 0 && flags&writePartial != 0 }

// payload returns the elements that are to be written.
func payload(arg []byte, many bool) ([][]byte, bool) {
	v, ok := normalize(arg)
	if !ok || !many {
		return [][]byte{v}, ok
	}
	l, ok := parseList(v)
	return l.items, ok
}

func (o *listOp) add(arg []byte, many bool, flags int64, t target) wire.Code {
	if !o.list.ordered() {
		return o.insert(int64(len(o.list.items)), arg, many, flags, true, t)
	}
	items, ok := payload(arg, many)
	if !ok {
		return wire.ParameterError
	}
	o.setInt(len(o.list.items))
	if len(items) == 0 {
		o.nothing(t)
		return wire.OK
	}
	items = pick(items, sorted(items, false))
	if flags&writeUnique != 0 {
		var code wire.Code
		if items, code = o.unique(items, flags); items == nil {
			return code
		}
	}
	o.setInt(len(o.list.items) + len(items))
	o.change(o.list.merge(items))
	return wire.OK
}

// unique leaves of elements in order those that are there only once and not yet
// in the list; nil ends the operation.
func (o *listOp) unique(items [][]byte, flags int64) ([][]byte, wire.Code) {
	kept := items[:1:1]
	for _, v := range items[1:] {
		if !msgpack.Equal(kept[len(kept)-1], v) {
			kept = append(kept, v)
		}
	}
	if len(kept) < len(items) && !partial(flags) {
		return nil, inapplicable(flags)
	}
	missing := [][]byte{}
	for _, v := range kept {
		if !o.list.has(v) {
			missing = append(missing, v)
		} else if !partial(flags) {
			return nil, exists(flags)
		}
	}
	return missing, wire.OK
}

// inapplicable ends a write that names an element twice, or an index beyond the
// end.
func inapplicable(flags int64) wire.Code {
	if flags&writeNoFail != 0 {
		return wire.OK
	}
	return wire.OpNotApplicable
}

// merge puts elements in order into an ordered list.
func (l list) merge(items [][]byte) [][]byte {
	out := make([][]byte, 0, len(l.items)+len(items))
	at := 0
	for _, v := range items {
		_, n := l.bounds(v)
		out = append(append(out, l.items[at:n]...), v)
		at = n
	}
	return append(out, l.items[at:]...)
}

func (o *listOp) insertAt(index int64, arg []byte, many bool, flags int64, t target) wire.Code {
	if o.list.ordered() {
		if _, ok := payload(arg, many); !ok {
			return wire.ParameterError
		}
		return wire.OpNotApplicable
	}
	return o.insert(index, arg, many, flags, true, t)
}

// insert puts elements into an unordered list. answered says whether the number
// of elements is the answer.
func (o *listOp) insert(index int64, arg []byte, many bool, flags int64, answered bool, t target) wire.Code {
	items, ok := payload(arg, many)
	if !ok {
		return wire.ParameterError
	}
	size := len(o.list.items)
	result := func(n int) {
		if answered {
			o.setInt(n)
		}
	}
	result(size)
	if len(items) == 0 {
		o.nothing(t)
		return wire.OK
	}
	at, ok := o.position(index)
	if !ok {
		return wire.OpNotApplicable
	}
	if at > size {
		if flags&writeBounded != 0 {
			return inapplicable(flags)
		}
		if at-size > maxPad {
			return wire.RecordTooBig
		}
	}
	if flags&writeUnique != 0 {
		var code wire.Code
		if items, code = o.fresh(items, flags); items == nil {
			return code
		}
	}
	old := o.list.items
	out := make([][]byte, 0, max(size, at)+len(items))
	out = append(out, old[:min(at, size)]...)
	out = appendNils(out, at-size)
	out = append(append(out, items...), old[min(at, size):]...)
	result(len(out))
	o.change(out)
	return wire.OK
}

// position makes an index absolute. It may be behind the end.
func (o *listOp) position(index int64) (int, bool) {
	if index > math.MaxInt32 {
		return 0, false
	}
	if index < 0 {
		index += int64(len(o.list.items))
	}
	return int(index), index >= 0
}

// fresh leaves the elements that are there only once and not in the list; nil
// ends the operation. It looks them up in order, so that long lists don't take
// forever, and finds the first that fails as they stand.
func (o *listOp) fresh(items [][]byte, flags int64) ([][]byte, wire.Code) {
	have := list{flags: ordered, items: pick(o.list.items, sorted(o.list.items, false))}
	first := map[int]bool{} // elements that no earlier one is equal to
	order := sorted(items, false)
	for i, n := range order {
		first[n] = i == 0 || !msgpack.Equal(items[order[i-1]], items[n])
	}
	missing := [][]byte{}
	for i, v := range items {
		switch {
		case have.has(v):
			if !partial(flags) {
				return nil, exists(flags)
			}
		case !first[i]:
			if !partial(flags) {
				return nil, inapplicable(flags)
			}
		default:
			missing = append(missing, v)
		}
	}
	if len(missing) == 0 {
		return nil, exists(flags)
	}
	return missing, wire.OK
}

func (o *listOp) set(index int64, arg []byte, flags int64) wire.Code {
	v, ok := normalize(arg)
	if !ok {
		return wire.ParameterError
	}
	if o.list.ordered() {
		return wire.OpNotApplicable
	}
	size := len(o.list.items)
	if index >= int64(size) {
		return o.insert(index, arg, false, flags, false, target{})
	}
	at, ok := o.position(index)
	if !ok {
		return wire.OpNotApplicable
	}
	if flags&writeUnique != 0 {
		for i, x := range o.list.items {
			if i != at && msgpack.Equal(x, v) {
				return exists(flags)
			}
		}
	}
	items := slices.Clone(o.list.items)
	items[at] = v
	o.change(items)
	return wire.OK
}

func (o *listOp) increment(index int64, by []byte, flags int64) wire.Code {
	at, ok := o.position(index)
	if !ok {
		return wire.OpNotApplicable
	}
	var old []byte
	if at < len(o.list.items) {
		old = o.list.items[at]
	}
	sum, ok := increment(old, by, false)
	if !ok {
		return wire.ParameterError
	}
	if code := o.setValue(sum); code != wire.OK {
		return code
	}
	if !o.list.ordered() {
		return o.set(int64(at), sum, flags)
	}
	if at > len(o.list.items) {
		return wire.OpNotApplicable
	}
	if rank, found := o.list.lower(sum); flags&writeUnique != 0 && found {
		if rank == at {
			return wire.OK
		}
		return exists(flags)
	}
	l := list{flags: o.list.flags, items: slices.Clone(o.list.items)}
	if old == nil {
		l.items = l.merge([][]byte{sum})
	} else {
		l.move(at, sum)
	}
	o.change(l.items)
	return wire.OK
}
