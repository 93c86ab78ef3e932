package cdt

import "slices"

// A heap finds the elements of some ranks. Which of several equal elements it
// picks is seen in answers, so it does it as a real server does: from the nearer
// end, and with the same preferences.
type heap struct {
	of      []int // numbers of elements, the first of them on top
	compare func(i, j int) int
	sign    int // 1 with the smallest on top, -1 with the greatest
}

// ranked returns the numbers of n elements from rank start on, out of total:
// going down if they lie nearer to the low end, else going up.
func ranked(start, n, total int, compare func(i, j int) int) []int {
	h := heap{of: make([]int, total), compare: compare, sign: 1}
	for i := range h.of {
		h.of[i] = i
	}
	tail := total - start - n
	skip := start
	if start > tail {
		h.sign, skip = -1, tail
	}
	for i := total/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	numbers := make([]int, 0, n)
	for i := range skip + n {
		if top := h.pop(); i >= skip {
			numbers = append(numbers, top)
		}
	}
	slices.Reverse(numbers) // as they lie at the end of the heap's memory
	return numbers
}

func (h *heap) pop() int {
	top, last := h.of[0], len(h.of)-1
	h.of[0] = h.of[last]
	h.of = h.of[:last]
	h.sink(0)
	return top
}

func (h *heap) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.of) {
			return
		}
		if other := child + 1; other < len(h.of) && h.sign*h.compare(h.of[child], h.of[other]) > 0 {
			child = other
		}
		if h.sign*h.compare(h.of[child], h.of[i]) >= 0 {
			return
		}
		h.of[i], h.of[child] = h.of[child], h.of[i]
		i = child
	}
}
