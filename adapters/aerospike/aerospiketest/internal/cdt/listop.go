package cdt

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A listOp is an operation on a list.
type listOp struct {
	*answer
	list   list
	modify bool
	out    []byte // the changed list, or nil
}

// applyList carries out an operation on a list.
func (c *call) applyList(t target, a *arguments) ([]byte, wire.Code) {
	o := listOp{answer: &c.answer, modify: c.modify}
	if t.live {
		var ok bool
		if o.list, ok = parseList(t.data); !ok {
			if c.modify {
				return nil, wire.ParameterError
			}
			return nil, wire.BinTypeError
		}
	} else {
		o.list = newList(createFlags(c.op, a))
	}
	code := o.do(c.op, a, t)
	if code != wire.OK {
		return nil, code
	}
	if o.out == nil && !t.live && !t.fresh {
		o.out = o.list.encode() // a bin is made even if nothing is put in it
	}
	return o.out, wire.OK
}

// createFlags returns the flags of a list that an operation makes.
func createFlags(op int64, a *arguments) int64 {
	switch op {
	case listAppend, listAppendItems:
		return a.number(0, 0)
	case listIncrement:
		return a.number(1, 0)
	}
	return 0
}

func (o *listOp) do(op int64, a *arguments, t target) wire.Code {
	switch op {
	case listSetType:
		return o.setType(a.ints[0], t)
	case listAppend, listAppendItems:
		return o.add(a.values[0], op == listAppendItems, a.number(1, 0), t)
	case listInsert, listInsertItems:
		return o.insertAt(a.ints[0], a.values[0], op == listInsertItems, a.number(1, 0), t)
	case listSet:
		return o.set(a.ints[0], a.values[0], a.number(1, 0))
	case listIncrement:
		return o.increment(a.ints[0], a.values[0], a.number(2, 0))
	case listSort:
		return o.sort(a.number(0, 0))
	case listClear:
		o.change(nil)
	case listSize:
		o.setInt(len(o.list.items))
	case listPop, listGet:
		o.expect(returnValue, false)
		return o.byIndex(a.ints[0], 1)
	case listPopRange, listGetRange:
		o.expect(returnValue, true)
		return o.byIndex(a.ints[0], a.count(1))
	case listRemove:
		o.expect(returnCount, false)
		return o.byIndex(a.ints[0], 1)
	case listRemoveRange:
		o.expect(returnCount, true)
		return o.byIndex(a.ints[0], a.count(1))
	case listTrim:
		o.expect(returnCount|inverted, true)
		return o.byIndex(a.ints[0], a.count(1))
	default:
		return o.choose(op, a)
	}
	return wire.OK
}

// choose is do for the operations that say what to return.
func (o *listOp) choose(op int64, a *arguments) wire.Code {
	multi := true
	switch op {
	case listGetByIndex, listRemoveByIndex, listGetByRank, listRemoveByRank, listGetByValue, listRemoveByValue:
		multi = false
	}
	o.expect(a.ints[0], multi)
	switch op {
	case listGetByIndex, listRemoveByIndex:
		return o.byIndex(a.ints[1], 1)
	case listGetByRank, listRemoveByRank:
		return o.byRank(a.ints[1], 1)
	case listGetByIndexRange, listRemoveByIndexRange:
		return o.byIndex(a.ints[1], a.count(2))
	case listGetByRankRange, listRemoveByRankRange:
		return o.byRank(a.ints[1], a.count(2))
	case listGetByValue, listGetAllByValue, listRemoveByValue, listRemoveAllByValue:
		return o.byValue(a.values[0])
	case listGetByValueInterval, listRemoveByValueInterval:
		return o.byInterval(a.values[0], a.values[1])
	case listGetByValueList, listRemoveByValueList:
		return o.byValues(a.values[0])
	case listGetByRelRankRange, listRemoveByRelRankRange:
		rank, count := relativeTo(o.list.below(a.values[0]), a.ints[1], a.count(2))
		return o.byRank(rank, count)
	}
	return wire.ParameterError
}

// below returns how many elements are less than v.
func (l list) below(v []byte) int {
	if l.ordered() {
		n, _ := l.lower(v)
		return n
	}
	return l.less(v)
}

// change sets the list's new elements.
func (o *listOp) change(items [][]byte) {
	o.out = list{flags: o.list.flags, items: items}.encode()
}

// setType sets the list's flags and puts it in order, if that is new.
func (o *listOp) setType(flags int64, t target) wire.Code {
	f := byte(flags)
	if f&^byte(listFlags) != 0 {
		return wire.OpNotApplicable
	}
	f &^= persisted
	if f == o.list.flags {
		o.nothing(t)
		return wire.OK
	}
	items := o.list.items
	if f == ordered {
		items = pick(items, sorted(items, false))
	}
	o.out = list{flags: f, items: items}.encode()
	return wire.OK
}

// nothing leaves the list as it is; one that was to be created is created.
func (o *listOp) nothing(t target) {
	if t.fresh {
		o.out = o.list.encode()
	}
}

func pick(items [][]byte, order []int) [][]byte {
	out := make([][]byte, len(order))
	for i, n := range order {
		out[i] = items[n]
	}
	return out
}

// Flags of sorting.
const (
	sortDescending = 1
	sortDropEqual  = 2
)

// sort puts the elements in order. Dropping duplicates while going down is
// refused as soon as two elements differ, as it is on the real server.
func (o *listOp) sort(flags int64) wire.Code {
	items := o.list.items
	if len(items) <= 1 {
		return wire.OK
	}
	if !o.list.ordered() {
		items = pick(items, sorted(items, flags&sortDescending != 0))
	}
	if flags&sortDropEqual != 0 {
		kept := items[:1:1]
		for _, v := range items[1:] {
			switch order := msgpack.Compare(kept[len(kept)-1], v); {
			case order > 0:
				return wire.ParameterError
			case order < 0:
				kept = append(kept, v)
			}
		}
		items = kept
	}
	o.change(items)
	return wire.OK
}
