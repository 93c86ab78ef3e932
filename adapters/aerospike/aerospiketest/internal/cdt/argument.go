package cdt

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A signature describes the arguments of an operation, a letter for each: i is
// an integer, v any value, s a value that can be stored. Those after a ? may be
// left out. An r or w in front tells operations that read from those that
// change.
type signature string

// shapes of operations that both lists and maps have.
const (
	oneInt      = "ii"    // return type, index or rank
	oneValue    = "iv"    // return type, value
	intRange    = "ii?i"  // return type, start, count
	valueRange  = "iv?v"  // return type, start, end
	relative    = "ivi?i" // return type, value, start, count
	firstModify = "w"
	firstRead   = "r"
)

// signatureOf returns "" for operations that don't exist.
func signatureOf(op int64) signature {
	if op >= opMap {
		return mapSignature(op)
	}
	switch op {
	case listSetType:
		return "wi"
	case listAppend, listAppendItems:
		return "ws?ii"
	case listInsert, listInsertItems, listSet:
		return "wis?i"
	case listPop, listRemove:
		return "wi"
	case listPopRange, listRemoveRange:
		return "wi?i"
	case listTrim:
		return "wii"
	case listClear:
		return firstModify
	case listIncrement:
		return "wi?vii"
	case listSort:
		return "w?i"
	case listSize:
		return firstRead
	case listGet:
		return "ri"
	case listGetRange:
		return "ri?i"
	case listGetByIndex, listGetByRank:
		return firstRead + oneInt
	case listRemoveByIndex, listRemoveByRank:
		return firstModify + oneInt
	case listGetByValue, listGetAllByValue, listGetByValueList:
		return firstRead + oneValue
	case listRemoveByValue, listRemoveAllByValue, listRemoveByValueList:
		return firstModify + oneValue
	case listGetByIndexRange, listGetByRankRange:
		return firstRead + intRange
	case listRemoveByIndexRange, listRemoveByRankRange:
		return firstModify + intRange
	case listGetByValueInterval:
		return firstRead + valueRange
	case listRemoveByValueInterval:
		return firstModify + valueRange
	case listGetByRelRankRange:
		return firstRead + relative
	case listRemoveByRelRankRange:
		return firstModify + relative
	}
	return ""
}

func mapSignature(op int64) signature {
	switch op {
	case mapSetType:
		return "wi"
	case mapAdd:
		return "wss?i"
	case mapAddItems:
		return "ws?i"
	case mapPut:
		return "wss?ii"
	case mapPutItems:
		return "ws?ii"
	case mapReplace:
		return "wss"
	case mapReplaceItems:
		return "ws"
	case mapIncrement, mapDecrement:
		return "wv?vi"
	case mapClear:
		return firstModify
	case mapSize:
		return firstRead
	case mapRemoveByIndex, mapRemoveByRank:
		return firstModify + oneInt
	case mapGetByIndex, mapGetByRank:
		return firstRead + oneInt
	case mapRemoveByKey, mapRemoveByValue, mapRemoveAllByValue, mapRemoveByKeyList, mapRemoveByValueList:
		return firstModify + oneValue
	case mapGetByKey, mapGetByValue, mapGetAllByValue, mapGetByKeyList, mapGetByValueList:
		return firstRead + oneValue
	case mapRemoveByIndexRange, mapRemoveByRankRange:
		return firstModify + intRange
	case mapGetByIndexRange, mapGetByRankRange:
		return firstRead + intRange
	case mapRemoveByKeyInterval, mapRemoveByValueInterval:
		return firstModify + valueRange
	case mapGetByKeyInterval, mapGetByValueInterval:
		return firstRead + valueRange
	case mapRemoveByKeyRelIndexRange, mapRemoveByRelRankRange:
		return firstModify + relative
	case mapGetByKeyRelIndexRange, mapGetByRelRankRange:
		return firstRead + relative
	}
	return ""
}

// Arguments of a call, by kind and in order. A value that was left out is nil.
type arguments struct {
	ints   [3]int64
	given  int // integers that are there
	values [2][]byte
}

// number is the integer at i, or what it is if left out.
func (a *arguments) number(i int, absent int64) int64 {
	if i < a.given {
		return a.ints[i]
	}
	return absent
}

// all is how many elements a range has that goes to the end.
const all = 1<<32 - 1

func (a *arguments) count(i int) uint64 { return uint64(a.number(i, all)) }

// arguments checks the operation and reads its arguments. It returns nil for an
// operation that has nothing to do.
func (c *call) arguments(t target) (*arguments, wire.Code) {
	s := signatureOf(c.op)
	if s == "" || (s[:1] == firstModify) != c.modify {
		return nil, wire.ParameterError
	}
	switch {
	case removes(c.op) && (t.fresh || !c.inBin):
		return nil, wire.OK
	case c.op == listSort && !c.inBin:
		return nil, wire.BinTypeError
	case c.op == mapReplaceItems && (t.fresh || !c.inBin):
		return nil, wire.ElementNotFound
	}
	a := new(arguments)
	if s = s[1:]; s == "" {
		return a, wire.OK
	}
	if !c.read(s, a) {
		return nil, wire.ParameterError
	}
	return a, wire.OK
}

// read reads arguments. Too many are as wrong as too few.
func (c *call) read(s signature, a *arguments) bool {
	b, left, values := c.args, c.n, 0
	needed := true
	for _, kind := range s {
		if kind == '?' {
			needed = false
			continue
		}
		if left == 0 {
			return !needed
		}
		left--
		var ok bool
		if kind == 'i' {
			a.ints[a.given], b, ok = msgpack.Int(b)
			a.given++
		} else {
			a.values[values], b, ok = msgpack.Value(b)
			ok = ok && c.storable(a.values[values], kind == 's')
			values++
		}
		if !ok {
			return false
		}
	}
	return left == 0
}

// storable notes what can't be stored, and says whether that matters.
func (c *call) storable(v []byte, must bool) bool {
	c.unstorable = c.unstorable || msgpack.HasUnstorable(v)
	return !must || !c.unstorable
}
