package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A mapOp is an operation on a map.
type mapOp struct {
	*answer
	m      mapping
	modify bool
	out    []byte // the changed map, or nil
}

// applyMap carries out an operation on a map.
func (c *call) applyMap(t target, a *arguments) ([]byte, wire.Code) {
	o := mapOp{answer: &c.answer, modify: c.modify}
	if t.live {
		var ok bool
		if o.m, ok = parseMap(t.data); !ok {
			return nil, wire.ParameterError
		}
	} else {
		o.m = newMap(mapCreateFlags(c.op, a))
	}
	code := o.do(c.op, a, t)
	if code != wire.OK {
		return nil, code
	}
	if o.out == nil && !t.live && !t.fresh {
		o.out = o.m.encode() // a bin is made even if nothing is put in it
	}
	return o.out, wire.OK
}

// mapCreateFlags returns the flags of a map that an operation makes.
func mapCreateFlags(op int64, a *arguments) int64 {
	switch op {
	case mapAdd, mapAddItems, mapPut, mapPutItems, mapIncrement, mapDecrement:
		return a.number(0, 0)
	}
	return 0
}

func (o *mapOp) do(op int64, a *arguments, t target) wire.Code {
	switch op {
	case mapSetType:
		f := byte(a.ints[0])
		if f&^byte(mapFlags) != 0 {
			return wire.OpNotApplicable
		}
		o.m.flags = f &^ persisted
		o.change(o.m.pairs)
	case mapAdd:
		return o.put(a, writeCreateOnly)
	case mapAddItems:
		return o.putItems(a.values[0], writeCreateOnly, t)
	case mapPut:
		return o.put(a, a.number(1, 0))
	case mapPutItems:
		return o.putItems(a.values[0], a.number(1, 0), t)
	case mapReplace:
		return o.put(a, writeUpdateOnly)
	case mapReplaceItems:
		return o.putItems(a.values[0], writeUpdateOnly, t)
	case mapIncrement, mapDecrement:
		return o.increment(a.values[0], a.values[1], op == mapDecrement)
	case mapClear:
		o.change(nil)
	case mapSize:
		o.setInt(len(o.m.pairs))
	default:
		return o.choose(op, a)
	}
	return wire.OK
}

// choose is do for the operations that say what to return.
func (o *mapOp) choose(op int64, a *arguments) wire.Code {
	multi := true
	switch op {
	case mapGetByKey, mapRemoveByKey, mapGetByIndex, mapRemoveByIndex, mapGetByRank, mapRemoveByRank, mapGetByValue, mapRemoveByValue:
		multi = false
	}
	o.expect(a.ints[0], multi)
	switch op {
	case mapGetByKey, mapRemoveByKey:
		return o.byKey(a.values[0])
	case mapGetByIndex, mapRemoveByIndex:
		return o.byIndex(a.ints[1], 1)
	case mapGetByRank, mapRemoveByRank:
		return o.byRank(a.ints[1], 1)
	case mapGetByValue, mapRemoveByValue, mapGetAllByValue, mapRemoveAllByValue:
		return o.byValue(a.values[0])
	case mapGetByKeyInterval, mapRemoveByKeyInterval:
		return o.byKeys(a.values[0], a.values[1])
	case mapGetByIndexRange, mapRemoveByIndexRange:
		return o.byIndex(a.ints[1], a.count(2))
	case mapGetByValueInterval, mapRemoveByValueInterval:
		return o.byInterval(a.values[0], a.values[1])
	case mapGetByRankRange, mapRemoveByRankRange:
		return o.byRank(a.ints[1], a.count(2))
	case mapGetByKeyList, mapRemoveByKeyList:
		return o.byKeyList(a.values[0])
	case mapGetByValueList, mapRemoveByValueList:
		return o.byValueList(a.values[0])
	case mapGetByKeyRelIndexRange, mapRemoveByKeyRelIndexRange:
		index, count := relativeTo(o.m.below(a.values[0]), a.ints[1], a.count(2))
		return o.byIndex(index, count)
	case mapGetByRelRankRange, mapRemoveByRelRankRange:
		rank, count := relativeTo(list{items: o.m.values()}.less(a.values[0]), a.ints[1], a.count(2))
		return o.byRank(rank, count)
	}
	return wire.ParameterError
}

// below returns how many keys are less.
func (m mapping) below(key []byte) int {
	if m.ordered() {
		n, _ := m.find(key)
		return n
	}
	return list{items: m.keys()}.less(key)
}

// change sets the map's new pairs.
func (o *mapOp) change(pairs []pair) {
	o.out = mapping{flags: o.m.flags, pairs: pairs}.encode()
}

// Flags of writes to maps; no-fail and partial are as for lists.
const (
	writeCreateOnly = 1
	writeUpdateOnly = 2
)

// refuse ends a write that its flags don't allow for a key that is there, or not.
func refuse(flags int64, found bool) wire.Code {
	switch {
	case flags&writeNoFail != 0:
		return wire.OK
	case found:
		return wire.ElementExists
	}
	return wire.ElementNotFound
}

func allowed(flags int64, found bool) bool {
	if found {
		return flags&writeCreateOnly == 0
	}
	return flags&writeUpdateOnly == 0
}

func (o *mapOp) put(a *arguments, flags int64) wire.Code {
	return o.putPair(a.values[0], a.values[1], flags, true)
}

func (o *mapOp) putPair(key, value []byte, flags int64, answered bool) wire.Code {
	k, ok := normalize(key)
	v, good := normalize(value)
	if !ok || !good || !isKey(k) {
		return wire.ParameterError
	}
	size := len(o.m.pairs)
	at, found := o.m.find(k)
	if !allowed(flags, found) {
		if answered && flags&writeNoFail != 0 {
			o.setInt(size)
		}
		return refuse(flags, found)
	}
	pairs := slices.Clone(o.m.pairs)
	if found {
		pairs[at] = pair{k, v}
	} else {
		pairs = slices.Insert(pairs, at, pair{k, v})
	}
	if answered {
		o.setInt(len(pairs))
	}
	o.change(pairs)
	return wire.OK
}

// putItems puts several pairs. Into an empty map that may only be updated, those
// that no-fail and partial let through are put all the same, as on the real
// server.
func (o *mapOp) putItems(arg []byte, flags int64, t target) wire.Code {
	b, ok := normalize(arg)
	items, good := parseMap(b)
	if !ok || !good {
		return wire.ParameterError
	}
	size := len(o.m.pairs)
	o.setInt(size)
	if len(items.pairs) == 0 {
		if t.fresh {
			o.out = o.m.encode()
		}
		return wire.OK
	}
	if size == 0 {
		if !allowed(flags, false) && !partial(flags) {
			return refuse(flags, false)
		}
		o.setInt(len(items.pairs))
		o.change(items.pairs)
		return wire.OK
	}
	pairs := make([]pair, 0, size+len(items.pairs))
	rest := o.m.pairs
	for _, p := range items.pairs {
		n, found := mapping{flags: keyOrdered, pairs: rest}.find(p.key)
		pairs = append(pairs, rest[:n]...)
		rest = rest[n:]
		if !allowed(flags, found) {
			if !partial(flags) {
				return refuse(flags, found)
			}
			continue
		}
		pairs = append(pairs, p)
		if found {
			rest = rest[1:]
		}
	}
	pairs = append(pairs, rest...)
	o.setInt(len(pairs))
	o.change(pairs)
	return wire.OK
}

func (o *mapOp) increment(key, by []byte, negative bool) wire.Code {
	var old []byte
	if at, found := o.m.find(key); found {
		old = o.m.pairs[at].value
	}
	sum, ok := increment(old, by, negative)
	if !ok {
		return wire.ParameterError
	}
	if code := o.setValue(sum); code != wire.OK {
		return code
	}
	return o.putPair(key, sum, 0, false)
}
