package cdt

import (
	"encoding/binary"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Return types.
const (
	returnNone         = 0
	returnIndex        = 1
	returnRevIndex     = 2
	returnRank         = 3
	returnRevRank      = 4
	returnCount        = 5
	returnKey          = 6
	returnValue        = 7
	returnPairs        = 8
	returnIndexRange   = 9
	returnRevIndexRng  = 10
	returnRankRange    = 11
	returnRevRankRng   = 12
	returnExists       = 13
	returnUnorderedMap = 16
	returnOrderedMap   = 17

	kindMask = 0xffff
	inverted = 0x10000
)

// keepsOrder is the flag of a map whose pairs are to be taken in the order in
// which they are sent. It is never stored.
const keepsOrder = 8

// maxItems is the largest number of elements that an answer may list. Only an
// argument that names the same elements many times gets there.
const maxItems = 4 << 20

// An answer is what an operation returns.
type answer struct {
	kind     int64
	inverted bool
	multi    bool // of an operation that selects any number of elements
	value    store.Value
}

// expect sets what is to be returned.
func (a *answer) expect(returnType int64, multi bool) {
	a.kind, a.inverted, a.multi = returnType&kindMask, returnType&inverted != 0, multi
}

func (a *answer) reversed() bool { return a.kind == returnRevIndex || a.kind == returnRevRank }

func (a *answer) indexes() bool { return a.kind == returnIndex || a.kind == returnRevIndex }

func (a *answer) ranks() bool { return a.kind == returnRank || a.kind == returnRevRank }

func (a *answer) indexRange() bool {
	return a.kind == returnIndexRange || a.kind == returnRevIndexRng
}

func (a *answer) rankRange() bool {
	return a.kind == returnRankRange || a.kind == returnRevRankRng
}

func (a *answer) maps() bool {
	return a.kind == returnPairs || a.kind == returnUnorderedMap || a.kind == returnOrderedMap
}

func (a *answer) elements() bool {
	return a.kind == returnKey || a.kind == returnValue || a.maps()
}

func (a *answer) setInt(v int) { a.value = intValue(int64(v)) }

func (a *answer) setBool(v bool) {
	a.value = store.Value{Type: wire.ParticleBool, Data: []byte{0}}
	if v {
		a.value.Data[0] = 1
	}
}

// setList answers values that are already encoded.
func (a *answer) setList(items [][]byte) {
	a.value = store.Value{Type: wire.ParticleList, Data: list{items: items}.encode()}
}

func (a *answer) setInts(v []int) {
	b := msgpack.AppendListLen(make([]byte, 0, 5+2*len(v)), len(v))
	for _, i := range v {
		b = msgpack.AppendInt(b, int64(i))
	}
	a.value = store.Value{Type: wire.ParticleList, Data: b}
}

// setValue answers one value.
func (a *answer) setValue(b []byte) wire.Code {
	v, ok := fromMsgpack(b)
	if !ok {
		return wire.ServerError
	}
	a.value = v
	return wire.OK
}

func (a *answer) setPairs(pairs []pair) {
	flags := map[int64]byte{returnPairs: keepsOrder, returnOrderedMap: keyOrdered}[a.kind]
	a.value = store.Value{Type: wire.ParticleMap, Data: mapping{flags: flags, pairs: pairs}.encode()}
}

// notFound is the answer when nothing was selected, at an index or rank.
func (a *answer) notFound(at int) wire.Code {
	switch a.kind {
	case returnNone:
	case returnIndexRange, returnRevIndexRng, returnRankRange, returnRevRankRng:
		a.setInts([]int{at, 0})
	case returnIndex, returnRevIndex, returnRank, returnRevRank:
		if a.multi {
			a.setInts(nil)
		} else {
			a.setInt(-1)
		}
	case returnCount:
		a.setInt(0)
	case returnExists:
		a.setBool(false)
	case returnKey, returnValue:
		if a.multi {
			a.setList(nil)
		}
	case returnPairs, returnUnorderedMap, returnOrderedMap:
		a.setPairs(nil)
	default:
		return wire.OpNotApplicable
	}
	return wire.OK
}

// span answers n elements of total from start on, or all others if inverted, by
// their number or by their indexes or ranks.
func (a *answer) span(start, n, total int) wire.Code {
	switch a.kind {
	case returnNone:
	case returnCount:
		if a.inverted {
			n = total - n
		}
		a.setInt(n)
	case returnExists:
		a.setBool((n == 0) == a.inverted)
	case returnIndex, returnRevIndex, returnRank, returnRevRank:
		a.numbers(start, n, total)
	case returnIndexRange, returnRevIndexRng, returnRankRange, returnRevRankRng:
		if a.inverted {
			return wire.OpNotApplicable
		}
		if a.kind == returnRevIndexRng || a.kind == returnRevRankRng {
			start = total - start - n
		}
		a.setInts([]int{start, n})
	default:
		return wire.OpNotApplicable
	}
	return wire.OK
}

func (a *answer) numbers(start, n, total int) {
	switch {
	case a.multi && a.inverted:
		a.setInts(a.appendRange(a.appendRange(nil, 0, start, total), start+n, total-start-n, total))
	case a.multi:
		a.setInts(a.appendRange(nil, start, n, total))
	case n == 0:
		a.setInt(-1)
	case a.reversed():
		a.setInt(total - start - 1)
	default:
		a.setInt(start)
	}
}

// appendRange appends n numbers from start on, always going up: counted from
// the other end if the answer is reversed.
func (a *answer) appendRange(v []int, start, n, total int) []int {
	if a.reversed() {
		start = total - start - n
	}
	for i := range n {
		v = append(v, start+i)
	}
	return v
}

// each answers numbers one by one.
func (a *answer) each(v []int, total int) {
	out := make([]int, len(v))
	for i, n := range v {
		if a.reversed() {
			n = total - n - 1
		}
		out[i] = n
	}
	if !a.multi && len(out) > 0 {
		a.setInt(out[0])
		return
	}
	a.setInts(out)
}

func intValue(v int64) store.Value {
	return store.Value{Type: wire.ParticleInteger, Data: binary.BigEndian.AppendUint64(nil, uint64(v))}
}
