package deadline

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
)

// A task is the typed side of a job.
type task interface {
	// run calls the operation and keeps its value. Afterwards the operation is
	// forgotten, so that what it closes over can be collected.
	run(ctx context.Context) error
	// forget drops operation and value, for the next use.
	forget()
	// job returns the job that waits beside the queue, nil if there is none.
	job() *job
}

// quick is the task of a job of Go: its operation, whose value nobody wants. It is an
// interface value without an allocation, because a function is a pointer.
type quick[T any] func(context.Context) (T, error)

func (op quick[T]) run(ctx context.Context) error {
	_, err := op(ctx)
	return err
}

func (op quick[T]) forget()   {}
func (op quick[T]) job() *job { return nil }

// kind says who waits for a job, and so how its end is told and who recycles it.
type kind uint8

const (
	kindGo     kind = iota // nobody: the sink is told
	kindDo                 // its caller, on wake; recycled by him
	kindFuture             // whoever holds the future; never recycled
)

// A job's state changes only under the core's lock:
//
//	fresh → parked → queued → running → settled
//	      ↘────────↗    ↓ leaving ↗
//
// A job that leaves without having run (from fresh, parked or queued) is leaving
// until its error was made outside of the lock, and then settled.
type state uint8

const (
	fresh state = iota
	parked
	queued
	running
	leaving
	settled
)

// job is the untyped part of a Future; for a job of Go, what it becomes when it leaves the
// queue: that of the worker who runs it, or a spare one if it isn't run. It is guarded by
// the core's lock, except that who runs it (running) or ends it (leaving) alone writes err
// and reads the rest.
type job struct {
	slot
	next, prev *job   // in parked; next also in chains
	place      uint64 // in the queue
	started    int64  // when it was started, or left without
	ended      int64  // when it returned
	seq        uint64 // how often it was in the expiry heap; tells stale entries
	state      state
	verdict    verdict // why it left without having run
	outcome    spillway.Outcome
	watched    bool // whether it is in the expiry heap
	void       bool // whether its context was done right before its start, so that it wasn't run
	panicked   bool // whether it panicked or called Goexit
	awaited    bool // whether its submitter sleeps on wake until it leaves the parking
	orphaned   bool // whether Close gave it up while it ran; its future said closed

	err  error
	self task          // the Future that it is part of; nil for one of Go
	view *spares       // where that is recycled to, if it is of kindDo
	wake chan bool     // capacity 1; of kindDo: it has ended; of a parked future: whether it is in the queue
	over chan struct{} // a future's, made when somebody asks; closed at the end
	stop func() bool   // ends the watch over ctx that Done began
}

// spares are jobs for the next use, linked by next; as many as were ever in use at once,
// up to maxSpare. They are guarded by the core's lock, which is cheaper than a sync.Pool
// for who holds it anyway. They belong to the instance, because a channel from outside of
// a synctest bubble must not get in.
type spares struct {
	free *job
	n    int
}

const maxSpare = 4096

// recycleLocked keeps a job for the next use.
func (v *spares) recycleLocked(j *job) {
	j.slot = slot{}
	j.err = nil
	j.state = fresh
	if v.n < maxSpare {
		j.next, v.free = v.free, j
		v.n++
	}
}

// takeLocked gives a job that was used, or nil.
func (v *spares) takeLocked() *job {
	j := v.free
	if j != nil {
		v.free, j.next = j.next, nil
		v.n--
	}
	return j
}

// leave makes the job's entry in the expiry heap stale, if it has one.
func (j *job) leave() {
	if j.watched {
		j.seq++
		j.watched = false
	}
}

// waited is how long the job waited until it was started or left, 0 if that isn't known.
func (j *job) waited() time.Duration {
	if j.rough {
		return 0
	}
	return time.Duration(j.started - j.since)
}

// list is a doubly linked list of jobs, first in first out.
type list struct {
	head, tail *job
	n          int
}

func (l *list) push(j *job) {
	j.prev, j.next = l.tail, nil
	if l.tail == nil {
		l.head = j
	} else {
		l.tail.next = j
	}
	l.tail = j
	l.n++
}

func (l *list) remove(j *job) {
	if j.prev == nil {
		l.head = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		l.tail = j.prev
	} else {
		j.next.prev = j.prev
	}
	j.next, j.prev = nil, nil
	l.n--
}

// isClosed reports whether a context's Done channel is closed, without calling the
// context, whose code may be a user's. A nil channel never is.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
