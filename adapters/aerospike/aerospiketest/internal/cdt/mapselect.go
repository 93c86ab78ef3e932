package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// noKey answers that no key was selected.
func (o *mapOp) noKey(at int) wire.Code {
	if o.rankRange() {
		return wire.OpNotApplicable
	}
	return o.notFound(at)
}

// noValue answers that no value was selected.
func (o *mapOp) noValue(at int) wire.Code {
	if o.indexRange() {
		return wire.OpNotApplicable
	}
	return o.notFound(at)
}

func (o *mapOp) newSelection() selection { return make(selection, len(o.m.pairs)) }

// take removes the selected pairs, if the operation is to.
func (o *mapOp) take(s selection) {
	if !o.modify {
		return
	}
	kept := make([]pair, 0, len(s))
	for i, in := range s {
		if !in {
			kept = append(kept, o.m.pairs[i])
		}
	}
	if len(kept) < len(s) {
		o.change(kept)
	}
}

// show answers pairs, in an order that is given, or in that of their keys if the
// answer is an ordered map.
func (o *mapOp) show(order []int) wire.Code {
	if o.kind == returnOrderedMap {
		order = slices.Sorted(slices.Values(order))
	}
	if o.maps() {
		pairs := make([]pair, len(order))
		for i, n := range order {
			pairs[i] = o.m.pairs[n]
		}
		o.setPairs(pairs)
		return wire.OK
	}
	items := make([][]byte, len(order))
	for i, n := range order {
		if items[i] = o.m.pairs[n].value; o.kind == returnKey {
			items[i] = o.m.pairs[n].key
		}
	}
	switch {
	case o.multi:
		o.setList(items)
	case len(items) > 0:
		return o.setValue(items[0])
	}
	return wire.OK
}

// pickRanks answers the ranks of pairs.
func (o *mapOp) pickRanks(order []int) {
	ranks := o.m.ranks()
	v := make([]int, len(order))
	for i, n := range order {
		v[i] = ranks[n]
	}
	o.each(v, len(ranks))
}

// result answers pairs by what they are, by index or by rank, as asked for, or
// else as n of them from start on.
func (o *mapOp) result(order []int, start, n int) wire.Code {
	switch {
	case o.elements():
		return o.show(order)
	case o.ranks():
		o.pickRanks(order)
		return wire.OK
	}
	return o.span(start, n, len(o.m.pairs))
}

// everything selects all pairs.
func (o *mapOp) everything() wire.Code {
	total := len(o.m.pairs)
	if o.modify {
		o.change(nil)
	}
	switch {
	case o.elements():
		return o.show(o.newSelection().fill(0, total).indexes())
	case o.indexRange(), o.rankRange():
		o.setInts([]int{0, total})
		return wire.OK
	}
	return o.span(0, total, total)
}

// byIndex selects a range of pairs in the order of their keys.
func (o *mapOp) byIndex(index int64, count uint64) wire.Code {
	total := len(o.m.pairs)
	at, n, ok := window(index, count, total, o.multi)
	if !ok || o.rankRange() || o.inverted && !o.multi {
		return wire.OpNotApplicable
	}
	if o.inverted {
		at, n = o.turn(at, n, total)
	}
	if n == 0 {
		return o.noKey(at)
	}
	if n == total {
		return o.everything()
	}
	s := o.newSelection().fill(at, n)
	if o.inverted {
		s.invert()
	}
	o.take(s)
	return o.result(s.indexes(), at, n)
}

// turn makes of a range that is inverted one that isn't, if what is left is in
// one piece.
func (o *mapOp) turn(at, n, total int) (int, int) {
	switch {
	case n == 0:
		at, n = 0, total
	case at == 0:
		at, n = n, total-n
	case at+n >= total:
		at, n = 0, at
	default:
		return at, n
	}
	o.inverted = false
	return at, n
}

// byKey selects a pair by its key.
func (o *mapOp) byKey(key []byte) wire.Code {
	if o.rankRange() {
		return wire.OpNotApplicable
	}
	at, found := o.m.find(key)
	if o.inverted && (found || !o.m.ordered()) {
		return wire.OpNotApplicable
	}
	if !found {
		return o.noKey(-1)
	}
	return o.byIndex(int64(at), 1)
}

// byKeys selects the pairs whose keys are at least start and less than end; a
// nil end is none.
func (o *mapOp) byKeys(start, end []byte) wire.Code {
	if o.rankRange() {
		return wire.OpNotApplicable
	}
	if o.m.ordered() {
		from, _ := o.m.find(start)
		to := len(o.m.pairs)
		if end != nil {
			to, _ = o.m.find(end)
		}
		return o.byIndex(int64(from), uint64(max(to-from, 0)))
	}
	s, index := o.newSelection(), 0
	for i, p := range o.m.pairs {
		if msgpack.Compare(p.key, start) < 0 {
			index++
		} else {
			s[i] = end == nil || msgpack.Compare(p.key, end) < 0
		}
	}
	n := len(s.indexes())
	if o.inverted {
		s.invert()
	}
	o.take(s)
	return o.result(s.indexes(), index, n)
}

// byValue selects the pairs that have a value, or the first of them.
func (o *mapOp) byValue(v []byte) wire.Code {
	s, rank := o.newSelection(), 0
	for i, p := range o.m.pairs {
		order := msgpack.Compare(p.value, v)
		if order < 0 {
			rank++
		}
		s[i] = order == 0
	}
	if at := slices.Index(s, true); at >= 0 && !o.multi {
		s = o.newSelection().fill(at, 1)
	}
	return o.chosen(s, rank)
}

// byInterval selects the pairs whose values are at least start and less than
// end; a nil end is none.
func (o *mapOp) byInterval(start, end []byte) wire.Code {
	s, rank := o.newSelection(), 0
	for i, p := range o.m.pairs {
		if msgpack.Compare(p.value, start) < 0 {
			rank++
		} else {
			s[i] = end == nil || msgpack.Compare(p.value, end) < 0
		}
	}
	return o.chosen(s, rank)
}

// chosen answers pairs whose values follow each other in rank.
func (o *mapOp) chosen(s selection, rank int) wire.Code {
	total, n := len(s), len(s.indexes())
	switch {
	case o.indexRange(), o.inverted && !o.multi:
		return wire.OpNotApplicable
	case total == 0:
		return o.noValue(-1)
	case n == 0 && o.inverted:
		o.inverted = false
		return o.everything()
	case n == 0:
		if !o.ranks() && !o.rankRange() {
			rank = 0
		}
		return o.noValue(rank)
	}
	if o.inverted {
		s.invert()
	}
	o.take(s)
	switch {
	case o.elements():
		return o.show(s.indexes())
	case o.indexes():
		o.each(s.indexes(), total)
		return wire.OK
	}
	return o.span(rank, n, total)
}

// byRank selects a range of pairs in the order of their values.
func (o *mapOp) byRank(rank int64, count uint64) wire.Code {
	total := len(o.m.pairs)
	at, n, ok := window(rank, count, total, o.multi)
	if !ok || o.indexRange() || o.inverted && !o.multi {
		return wire.OpNotApplicable
	}
	if o.inverted {
		at, n = o.turn(at, n, total)
	}
	if n == 0 {
		return o.noValue(at)
	}
	order := o.m.byRank()[at : at+n]
	s := o.newSelection()
	for _, i := range order {
		s[i] = true
	}
	if o.inverted {
		s.invert()
		order = s.indexes()
	}
	o.take(s)
	switch {
	case o.elements():
		return o.show(order)
	case o.indexes():
		o.each(order, total)
		return wire.OK
	}
	return o.span(at, n, total)
}
