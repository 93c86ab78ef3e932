package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// missing answers that nothing was selected. A list has no keys to answer.
func (o *listOp) missing(at int) wire.Code {
	if o.kind == returnKey || o.maps() {
		return wire.OpNotApplicable
	}
	return o.notFound(at)
}

// take removes the selected elements, if the operation is to.
func (o *listOp) take(s selection) {
	if !o.modify {
		return
	}
	kept := make([][]byte, 0, len(s))
	for i, in := range s {
		if !in {
			kept = append(kept, o.list.items[i])
		}
	}
	if len(kept) < len(s) {
		o.change(kept)
	}
}

func (o *listOp) newSelection() selection { return make(selection, len(o.list.items)) }

// byIndex selects a range of elements.
func (o *listOp) byIndex(index int64, count uint64) wire.Code {
	total := len(o.list.items)
	at, n, ok := window(index, count, total, o.multi)
	if !ok {
		return wire.OpNotApplicable
	}
	if o.inverted {
		if !o.multi || o.indexRange() || o.rankRange() {
			return wire.OpNotApplicable
		}
		o.inverted = false
		switch {
		case n == 0:
			at, n = 0, total
		case at == 0:
			at, n = n, total-n
		case at+n >= total:
			at, n = 0, at
		default:
			return o.around(at, n)
		}
	}
	if n == 0 {
		return o.missing(at)
	}
	o.take(o.newSelection().fill(at, n))
	switch o.kind {
	case returnRank, returnRevRank:
		o.ranksAt(at, n)
	case returnValue:
		if !o.multi {
			return o.setValue(o.list.items[at])
		}
		o.setList(o.list.items[at : at+n])
	case returnRankRange, returnRevRankRng:
		if !o.list.ordered() {
			return wire.OpNotApplicable
		}
		return o.span(at, n, total)
	default:
		return o.span(at, n, total)
	}
	return wire.OK
}

// ranksAt answers the ranks of a range of elements. For the whole list they are
// just counted off.
func (o *listOp) ranksAt(at, n int) {
	total := len(o.list.items)
	switch {
	case o.list.ordered(), n == total:
		_ = o.span(at, n, total)
	case o.multi:
		o.each(ranksOf(o.list.items)[at:at+n], total)
	default:
		o.each([]int{o.list.less(o.list.items[at])}, total)
	}
}

// around selects what is not in a range that has elements on both sides.
func (o *listOp) around(at, n int) wire.Code {
	total, items := len(o.list.items), o.list.items
	rest := o.newSelection().fill(at, n)
	rest.invert()
	o.take(rest)
	switch o.kind {
	case returnRank, returnRevRank:
		if !o.list.ordered() {
			ranks := ranksOf(items)
			o.each(slices.Concat(ranks[:at], ranks[at+n:]), total)
			return wire.OK
		}
	case returnValue:
		o.setList(slices.Concat(items[:at], items[at+n:]))
		return wire.OK
	}
	o.inverted = true
	return o.span(at, n, total)
}

// byValue selects the elements that are equal to a value, or the first of them.
func (o *listOp) byValue(v []byte) wire.Code {
	if o.inverted && !o.multi {
		return wire.OpNotApplicable
	}
	if o.list.ordered() {
		from, to := o.list.bounds(v)
		switch {
		case o.multi:
			return o.byIndex(int64(from), uint64(to-from))
		case from < to:
			return o.byIndex(int64(from), 1)
		}
		return o.missing(0)
	}
	s, rank := o.newSelection(), 0
	for i, x := range o.list.items {
		order := msgpack.Compare(x, v)
		if order < 0 {
			rank++
		}
		s[i] = order == 0
	}
	if !o.multi {
		return o.first(s, rank)
	}
	return o.chosen(s, rank)
}

// first answers the first of the selected elements.
func (o *listOp) first(s selection, rank int) wire.Code {
	total := len(s)
	at := slices.Index(s, true)
	if at >= 0 {
		o.take(o.newSelection().fill(at, 1))
	}
	n := min(at+1, 1)
	switch {
	case o.indexes():
		return o.span(at, n, total)
	case o.kind == returnValue:
		if at < 0 {
			return wire.OK
		}
		return o.setValue(o.list.items[at])
	case o.indexRange():
		return wire.OpNotApplicable
	}
	return o.span(rank, n, total)
}

// byInterval selects the elements that are at least start and less than end; a
// nil end is none.
func (o *listOp) byInterval(start, end []byte) wire.Code {
	if o.list.ordered() {
		from, _ := o.list.lower(start)
		to := len(o.list.items)
		if end != nil {
			to = from
			if msgpack.Compare(start, end) < 0 {
				to, _ = o.list.lower(end)
			}
		}
		return o.byIndex(int64(from), uint64(max(to-from, 0)))
	}
	s, rank := o.newSelection(), 0
	for i, x := range o.list.items {
		if msgpack.Compare(x, start) < 0 {
			rank++
		} else {
			s[i] = end == nil || msgpack.Compare(x, end) < 0
		}
	}
	return o.chosen(s, rank)
}

// chosen answers elements of an unordered list that follow each other in rank.
func (o *listOp) chosen(s selection, rank int) wire.Code {
	n := len(s.indexes())
	if o.inverted {
		s.invert()
	}
	o.take(s)
	switch {
	case o.indexes():
		o.each(s.indexes(), len(s))
	case o.kind == returnValue:
		o.setList(pick(o.list.items, s.indexes()))
	case o.indexRange():
		return wire.OpNotApplicable
	default:
		return o.span(rank, n, len(s))
	}
	return wire.OK
}

// byRank selects a range of elements by rank.
func (o *listOp) byRank(rank int64, count uint64) wire.Code {
	if o.inverted && !o.multi {
		return wire.OpNotApplicable
	}
	if o.list.ordered() {
		return o.byIndex(rank, count)
	}
	total := len(o.list.items)
	at, n, ok := window(rank, count, total, o.multi)
	if !ok {
		return wire.OpNotApplicable
	}
	if n == 0 && !o.inverted || n == total && o.inverted {
		return o.missing(at)
	}
	picked := ranked(at, n, total, o.list.compare)
	s := o.newSelection()
	for _, i := range picked {
		s[i] = true
	}
	if o.inverted {
		s.invert()
	}
	o.take(s)
	switch {
	case o.indexes():
		o.each(s.indexes(), total)
	case o.kind == returnValue && o.inverted:
		o.setList(pick(o.list.items, s.indexes()))
	case o.kind == returnValue && o.multi:
		o.setList(pick(o.list.items, picked))
	case o.kind == returnValue:
		return o.setValue(o.list.items[picked[0]])
	case o.indexRange():
		return wire.OpNotApplicable
	default:
		return o.span(at, n, total)
	}
	return wire.OK
}
