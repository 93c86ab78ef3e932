package permit

import "github.com/spillway-go/spillway"

// A waiter is one caller in the queue. Its fields are guarded by the core's lock;
// ready is how it is told, by exactly one send.
type waiter struct {
	next, prev *waiter
	weight     uint64       // what it asked for
	takes      uint64       // what it will take, as the limit is: less if it is clipped
	since      int64        // when it came
	until      int64        // when its longest wait is over; 0 if only its context says
	deadline   int64        // when its context ends; 0 if never, or nobody predicts
	queued     bool         // whether it is still in the queue
	ready      chan release // capacity 1, empty while it waits
}

// release is what a waiter is told when it leaves the queue.
type release struct {
	verdict verdict
	counted bool            // for admitted: whether the weight was taken
	over    bool            // for admitted: whether Shadow admitted it over the limit
	reason  spillway.Reason // for refused ones
}

// refusedWaiting is a verdict only waiters get: refused, for release.reason.
const refusedWaiting = tooHeavy + 1

// queue is a doubly linked list, the oldest at its head. Waiters that left are kept
// for the next ones, as many as ever waited at once but at most maxSpare.
type queue struct {
	head, tail *waiter
	n          int
	takes      uint64 // of all waiters together
	spare      *waiter
	spares     int
}

const maxSpare = 1024

func (q *queue) push(w *waiter) {
	w.prev, w.queued = q.tail, true
	if q.tail == nil {
		q.head = w
	} else {
		q.tail.next = w
	}
	q.tail = w
	q.n++
	q.takes += w.takes
}

func (q *queue) remove(w *waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev, w.queued = nil, nil, false
	q.n--
	q.takes -= w.takes
}

// retake changes what a waiter in the queue will take.
func (q *queue) retake(w *waiter, n uint64) {
	q.takes += n - w.takes
	w.takes = n
}

// get returns a waiter that isn't in the queue, with an empty channel.
func (q *queue) get() *waiter {
	if w := q.spare; w != nil {
		q.spare, w.next = w.next, nil
		q.spares--
		return w
	}
	return &waiter{ready: make(chan release, 1)}
}

// put keeps a waiter that has left for the next one.
func (q *queue) put(w *waiter) {
	if q.spares >= maxSpare {
		return
	}
	w.weight, w.takes, w.since, w.until, w.deadline = 0, 0, 0, 0, 0
	w.next, q.spare = q.spare, w
	q.spares++
}
