package cdt

import (
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

// intoList finds the element that the step leads to, or the place for a new one.
func (f *frame) intoList() bool {
	l := f.list
	switch f.kind() {
	case byIndex:
		return f.intoIndex()
	case byRank:
		if l.ordered() {
			return f.intoIndex()
		}
		rank, ok := f.index()
		if !ok {
			return false
		}
		at, n, ok := window(rank, 1, len(l.items), false)
		if ok {
			f.at = ranked(at, n, len(l.items), l.compare)[0]
		}
		return ok
	case byValue:
		if l.ordered() {
			var found bool
			f.at, found = l.lower(f.arg)
			return found
		}
		f.at = slices.IndexFunc(l.items, func(v []byte) bool { return msgpack.Equal(v, f.arg) })
		return f.at >= 0
	}
	return false // lists have no keys
}

func (l list) compare(i, j int) int { return msgpack.Compare(l.items[i], l.items[j]) }

// intoIndex finds an element of a list by index. Where there is none, one can be
// created at the end, and beyond it if the list is ordered or may be filled up.
func (f *frame) intoIndex() bool {
	index, ok := f.index()
	if !ok {
		return false
	}
	total := len(f.list.items)
	if at, _, ok := window(index, 1, total, false); ok {
		f.at = at
		return true
	}
	f.at, f.place = -1, total
	switch {
	case f.create() == 0:
		return false
	case total == 0 && index == -1, index == int64(total), f.list.ordered():
		return true
	case f.create() == createPaddedList && f.typ&stepIndex == 0 && index > 0:
		f.pad = int(min(index-int64(total), maxPad+1))
		return true
	}
	return false
}

// intoMap finds the value that the step leads to, or the place for a new key.
func (f *frame) intoMap() bool {
	m := f.maps
	switch f.kind() {
	case byIndex, byRank:
		n, ok := f.index()
		if !ok {
			return false
		}
		if f.at, _, ok = window(n, 1, len(m.pairs), false); ok && f.kind() == byRank {
			f.at = m.byRank()[f.at]
		}
		return ok
	case byKey:
		key, ok := normalize(f.arg)
		if !ok {
			return false
		}
		var found bool
		if f.at, found = m.find(key); !found {
			f.at, f.place = -1, f.at
			f.arg = key
			return f.create() != 0
		}
		return true
	}
	f.at = slices.IndexFunc(m.pairs, func(p pair) bool { return msgpack.Equal(p.value, f.arg) })
	return f.at >= 0
}
