package cdt

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"

// byKeyList selects the pairs that have one of the keys.
func (o *mapOp) byKeyList(arg []byte) wire.Code {
	items, ok := lookupItems(arg)
	switch {
	case !ok:
		return wire.ParameterError
	case len(items) == 0:
		if o.ranks() || o.indexRange() || o.rankRange() {
			return wire.OpNotApplicable
		}
		return o.noItems()
	case !o.m.ordered():
		l := lookUp(items, o.m.keys())
		return o.listed(l.found, func(found selection) wire.Code {
			if o.ranks() {
				return wire.OpNotApplicable
			}
			l.answerRanks(o.answer, len(found))
			return wire.OK
		})
	}
	spans := make([]span, len(items))
	for i, key := range items {
		from, to := o.m.bounds(key)
		spans[i] = span{from, to - from}
	}
	return o.listed(selected(spans, len(o.m.pairs)), func(found selection) wire.Code {
		if o.ranks() {
			return wire.OpNotApplicable
		}
		if o.inverted {
			o.each(found.indexes(), len(found))
			return wire.OK
		}
		if tooLong(spans, nil) {
			return wire.RecordTooBig
		}
		o.each(flatten(spans), len(found))
		return wire.OK
	})
}

// noItems answers an operation that looks for nothing.
func (o *mapOp) noItems() wire.Code {
	if o.inverted {
		o.inverted = false
		return o.everything()
	}
	_ = o.notFound(0) // a wrong return type goes unnoticed
	return wire.OK
}

// byValueList selects the pairs that have one of the values.
func (o *mapOp) byValueList(arg []byte) wire.Code {
	items, ok := lookupItems(arg)
	switch {
	case !ok:
		return wire.ParameterError
	case len(items) == 0:
		if o.indexRange() || o.rankRange() {
			return wire.OpNotApplicable
		}
		return o.noItems()
	}
	l := lookUp(items, o.m.values())
	return o.listed(l.found, func(found selection) wire.Code {
		if o.indexes() {
			o.each(found.indexes(), len(found))
		} else {
			l.answerRanks(o.answer, len(found))
		}
		return wire.OK
	})
}

// listed answers what is left of the pairs that were found. places answers their
// indexes or ranks.
func (o *mapOp) listed(found selection, places func(selection) wire.Code) wire.Code {
	if o.inverted {
		found.invert()
	}
	o.take(found)
	switch {
	case o.indexes(), o.ranks():
		return places(found)
	case o.elements():
		return o.show(found.indexes())
	}
	return o.tally(len(found.indexes()))
}
