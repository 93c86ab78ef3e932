package model

// fifo is a queue in a ring that grows. The zero fifo is empty.
type fifo struct {
	ring []*job
	head int
	n    int
}

func (q *fifo) push(j *job) {
	if q.n == len(q.ring) {
		bigger := make([]*job, max(2*q.n, 16))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)%q.n]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = j
	q.n++
}

// pop takes the oldest. There must be one.
func (q *fifo) pop() *job {
	j := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return j
}
