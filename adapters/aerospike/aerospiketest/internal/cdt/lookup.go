package cdt

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// maxLookup is how many values an operation may look for.
const maxLookup = 1 << 20

// lookupItems reads the values that an operation looks for.
func lookupItems(arg []byte) ([][]byte, bool) {
	n, b, ok := msgpack.ListLen(arg)
	if !ok || n > maxLookup {
		return nil, false
	}
	items := make([][]byte, n)
	for i := range items {
		if items[i], b, ok = msgpack.Value(b); !ok {
			return nil, false
		}
	}
	return items, true
}

// A lookup is what came of looking for items among elements that are in no
// order.
type lookup struct {
	found selection // elements that are among the items
	order []int     // of the items
	spans []span    // of each item: the rank and number of its elements
}

// lookUp looks for items. Of items that are equal, the last has the elements.
func lookUp(items, elements [][]byte) lookup {
	l := lookup{found: make(selection, len(elements)), order: sorted(items, false), spans: make([]span, len(items))}
	for i, v := range elements {
		from, to := bounds(len(items), func(at int) int { return msgpack.Compare(v, items[l.order[at]]) })
		if l.found[i] = from < to; l.found[i] {
			l.spans[l.order[to-1]].n++
		}
		if to < len(items) {
			l.spans[l.order[to]].start++
		}
	}
	for i := 1; i < len(items); i++ {
		l.spans[l.order[i]].start += l.spans[l.order[i-1]].start
	}
	return l
}

// answerRanks answers the ranks, or indexes of keys, of what was found: item by
// item, or of all else in order.
func (l lookup) answerRanks(a *answer, total int) {
	v, at := []int{}, 0
	if !a.inverted {
		a.each(flatten(l.spans), total)
		return
	}
	for _, i := range l.order {
		s := l.spans[i]
		if s.n == 0 || s.start < at {
			continue
		}
		v = a.appendRange(v, at, s.start-at, total)
		at = s.start + s.n
	}
	a.setInts(a.appendRange(v, at, max(total-at, 0), total))
}

// flatten lists the numbers in spans.
func flatten(spans []span) []int {
	v := []int{}
	for _, s := range spans {
		for i := range s.n {
			v = append(v, s.start+i)
		}
	}
	return v
}

// tooLong reports whether the elements of spans are too many to answer, or too
// long. items are what is answered, or nil for numbers.
func tooLong(spans []span, items [][]byte) bool {
	sums := make([]int, len(items)+1)
	for i, v := range items {
		sums[i+1] = sums[i] + len(v)
	}
	count, size := 0, 0
	for _, s := range spans {
		count += s.n
		if items != nil {
			size += sums[s.start+s.n] - sums[s.start]
		}
		if count > maxItems || size > MaxSize {
			return true
		}
	}
	return false
}

// byValues selects the elements that are equal to one of the items.
func (o *listOp) byValues(arg []byte) wire.Code {
	if o.rankRange() || o.indexRange() {
		return wire.OpNotApplicable
	}
	items, ok := lookupItems(arg)
	switch {
	case !ok:
		return wire.ParameterError
	case len(items) == 0 && !o.inverted:
		return o.missing(0)
	case len(items) == 0:
		o.inverted = false
		return o.byIndex(0, uint64(len(o.list.items)))
	case o.list.ordered():
		return o.byValuesInOrder(items)
	}
	total := len(o.list.items)
	l := lookUp(items, o.list.items)
	if o.inverted {
		l.found.invert()
	}
	o.take(l.found)
	chosen := l.found.indexes()
	switch {
	case o.indexes():
		o.each(chosen, total)
	case o.ranks():
		l.answerRanks(o.answer, total)
	case o.kind == returnValue:
		o.setList(pick(o.list.items, chosen))
	default:
		return o.tally(len(chosen))
	}
	return wire.OK
}

// byValuesInOrder is byValues for an ordered list. It answers item by item.
func (o *listOp) byValuesInOrder(items [][]byte) wire.Code {
	spans := make([]span, len(items))
	for i, v := range items {
		from, to := o.list.bounds(v)
		spans[i] = span{from, to - from}
	}
	total := len(o.list.items)
	s := selected(spans, total)
	if o.inverted {
		s.invert()
	}
	o.take(s)
	chosen := s.indexes()
	if !o.inverted && (o.indexes() || o.ranks() || o.kind == returnValue) {
		if tooLong(spans, o.list.items) {
			return wire.RecordTooBig
		}
		chosen = flatten(spans)
	}
	switch {
	case o.indexes(), o.ranks():
		o.each(chosen, total)
	case o.kind == returnValue:
		o.setList(pick(o.list.items, chosen))
	default:
		return o.tally(len(chosen))
	}
	return wire.OK
}

// tally answers how many elements were selected, if that is what is asked for.
func (a *answer) tally(n int) wire.Code {
	switch a.kind {
	case returnNone:
	case returnCount:
		a.setInt(n)
	case returnExists:
		a.setBool(n > 0)
	default:
		return wire.OpNotApplicable
	}
	return wire.OK
}
