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
}

// kind says who waits for a job, and so how its end is told and who recycles it.
type kind uint8

const (
	kindGo     kind = iota // nobody: the sink is told; recycled by whoever ends it
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

// job is the untyped part of a Future. It is guarded by the core's lock, except that
// who runs it (running) or ends it (leaving) alone writes err and reads the rest. What
// every job needs stands first, to be on few cache lines.
type job struct {
	next, prev *job // in queue or parked; next also in chains
	task       task
	ctx        context.Context // as given by the caller; nil once settled
	done       <-chan struct{} // of ctx
	since      int64           // when it was submitted
	deadline   int64
	started    int64  // when it was started, or left without
	ended      int64  // when it returned
	seq        uint64 // how often it has left the queue; tells stale entries of the expiry heap
	items      int
	kind       kind
	state      state
	verdict    verdict // why it left without having run
	outcome    spillway.Outcome
	tight      bool // whether the deadline is that of ctx, so that ctx can be handed on
	probe      bool // whether it was let in to find out; nothing is predicted for it any more
	rough      bool // whether since is not known exactly
	watched    bool // whether it is in the expiry heap
	panicked   bool // whether it panicked or called Goexit
	awaited    bool // whether its submitter sleeps on wake until it leaves the parking
	orphaned   bool // whether Close gave it up while it ran; its future said closed

	err  error
	view *view
	wake chan bool     // capacity 1; of kindDo: it has ended; of a parked future: whether it is in the queue
	over chan struct{} // a future's, made when somebody asks; closed at the end
	stop func() bool   // ends the watch over ctx that Done began
}

// view is what the Executors of one result type have for themselves: jobs for the next
// use, linked by next; as many as were ever in use at once, up to maxSpare. It is
// guarded by the core's lock, which is cheaper than a sync.Pool for who holds it
// anyway. It belongs to the instance, because a channel from outside of a synctest
// bubble must not get in.
type view struct {
	free *job
	n    int
}

const maxSpare = 4096

// recycleLocked keeps a job for the next use.
func (v *view) recycleLocked(j *job) {
	j.ctx, j.done, j.err = nil, nil, nil
	j.state = fresh
	if v.n < maxSpare {
		j.next, v.free = v.free, j
		v.n++
	}
}

// takeLocked gives a job that was used, or nil.
func (v *view) takeLocked() *job {
	j := v.free
	if j != nil {
		v.free, j.next = j.next, nil
		v.n--
	}
	return j
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
