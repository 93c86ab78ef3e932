package cdt

import (
	"slices"
	"sort"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

// window makes absolute what an index and a count select of total elements.
// Without multi an index out of range is an error, else it is cut off.
func window(index int64, count uint64, total int, multi bool) (start, n int, ok bool) {
	size := int64(total)
	if index >= size {
		return total, 0, multi
	}
	if index < 0 {
		index += size
	}
	if index >= 0 {
		return int(index), int(min(count, uint64(size-index))), true
	}
	if !multi {
		return 0, 0, false
	}
	before := uint64(-index)
	if before >= count {
		return 0, 0, true
	}
	return 0, int(min(count-before, uint64(size))), true
}

// relativeTo adds an index to the one it is relative to. What would lie before
// the first element is taken off the count.
func relativeTo(base int, index int64, count uint64) (int64, uint64) {
	index += int64(base)
	if index >= 0 {
		return index, count
	}
	before := uint64(-index)
	if count <= before {
		return 0, 0
	}
	return 0, count - before
}

// bounds returns where in order the elements begin and end that are equal to a
// value. compare compares the value with the element of a rank.
func bounds(total int, compare func(rank int) int) (from, to int) {
	from = sort.Search(total, func(i int) bool { return compare(i) <= 0 })
	to = from + sort.Search(total-from, func(i int) bool { return compare(from+i) < 0 })
	return from, to
}

// sorted returns the numbers of the elements in their order, equal ones as they
// stand.
func sorted(items [][]byte, descending bool) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if descending {
			i, j = j, i
		}
		return msgpack.Compare(items[i], items[j])
	})
	return order
}

// ranksOf returns the rank of each element: how many are less. Equal ones have
// the same.
func ranksOf(items [][]byte) []int {
	ranks := make([]int, len(items))
	order := sorted(items, false)
	for i, n := range order {
		ranks[n] = i
		if i > 0 && msgpack.Equal(items[order[i-1]], items[n]) {
			ranks[n] = ranks[order[i-1]]
		}
	}
	return ranks
}

// A selection says which elements of a list or map are selected.
type selection []bool

// indexes returns the numbers of the selected elements.
func (s selection) indexes() []int {
	v := []int{}
	for i, in := range s {
		if in {
			v = append(v, i)
		}
	}
	return v
}

func (s selection) invert() {
	for i := range s {
		s[i] = !s[i]
	}
}

func (s selection) fill(start, n int) selection {
	for i := range n {
		s[start+i] = true
	}
	return s
}

// A span is a run of elements.
type span struct{ start, n int }

// selected marks the elements of spans, which may overlap.
func selected(spans []span, total int) selection {
	edges := make([]int, total+1)
	for _, s := range spans {
		edges[s.start]++
		edges[s.start+s.n]--
	}
	out, depth := make(selection, total), 0
	for i := range out {
		depth += edges[i]
		out[i] = depth > 0
	}
	return out
}
