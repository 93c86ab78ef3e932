package deadline

import "context"

// slot is a job's place in the queue, one cache line. A job of Go is nothing more until
// a worker takes it, so that what goes from the processor of its caller to that of the
// worker is this line and no other. The others stand in the queue as a copy beside a job
// of their own.
type slot struct {
	ctx      context.Context // as given by the caller
	done     <-chan struct{} // of ctx
	task     task            // what to run; nil in a hole
	deadline int64
	since    int64  // when it was submitted
	items    uint32 // from 1 to MaxItems
	kind     kind
	tight    bool // whether the deadline is that of ctx, so that ctx can be handed on
	probe    bool // whether it was let in to find out; nothing is predicted for it any more
	rough    bool // whether since is not known exactly
}

// queue is the jobs that wait, first in first out: a ring of slots. A slot has a number,
// its place, which is never used again. Who leaves from the middle leaves a hole.
//
// Invariant: head == tail, or there is a job at head.
// Invariant: n is the number of places from head to tail that aren't holes.
type queue struct {
	slots []slot // as many as a power of two, or none
	head  uint64 // the place of the first job
	tail  uint64 // the place of the next to come
	n     int
}

// smallRing is how many slots are made at first, and are worth keeping.
const smallRing = 64

// at is the slot at a place from head to tail.
func (q *queue) at(place uint64) *slot { return &q.slots[place&uint64(len(q.slots)-1)] }

// has reports whether there is a job at a place, which may be one of long ago.
func (q *queue) has(place uint64) bool {
	return place >= q.head && place < q.tail && q.at(place).task != nil
}

// isFull reports whether there is no slot for another job, holes included.
func (q *queue) isFull() bool { return q.tail-q.head == uint64(len(q.slots)) }

// push puts a job at the end, where there has to be a slot.
func (q *queue) push(s *slot) (place uint64) {
	place = q.tail
	*q.at(place) = *s
	q.tail++
	q.n++
	return place
}

// remove takes the job at a place out.
func (q *queue) remove(place uint64) {
	*q.at(place) = slot{}
	q.n--
	if place != q.head {
		return
	}
	for q.head++; q.head < q.tail && q.at(q.head).task == nil; q.head++ {
	}
}

// renew moves the jobs into a new ring that has twice as many slots as there are jobs.
// They get places of their own there, in the same order: all places of before are gone.
func (q *queue) renew() {
	size := smallRing
	for size < 2*q.n {
		size *= 2
	}
	old := *q
	q.slots = make([]slot, size)
	q.head, q.tail, q.n = old.tail, old.tail, 0
	for place := old.head; place < old.tail; place++ {
		if s := old.at(place); s.task != nil {
			at := q.push(s)
			if j := s.task.job(); j != nil {
				j.place = at
			}
		}
	}
}

// rest gives back what a long queue took, when the queue is empty.
func (q *queue) rest() {
	if len(q.slots) > maxSpare {
		q.slots = nil
	}
}
