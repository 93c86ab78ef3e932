package deadline

import (
	"context"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/spillway-go/spillway"
)

// phase is what a worker has to do next.
type phase uint8

const (
	hired  phase = iota // look at the clock, and go to the queue
	woken               // go to the queue
	taken               // run the job
	ran                 // judge how it went
	judged              // tell the sink, if it is owed, and the hooks
	told                // account for the job, and go to the queue
	asleep              // sleep until woken
	left                // nothing: it is no longer counted
)

// worker runs jobs, one after the other. Its fields are its own but for those that
// are said to be guarded by the core's lock. A worker isn't its goroutine: see work.
type worker struct {
	core *core
	next *worker       // in core.idle, or in a fallout; guarded by the core's lock
	wake chan struct{} // capacity 1; sent to by who takes it off core.idle

	after, before *worker // in core.workers; guarded by the core's lock
	home          uint64  // the number of its goroutine
	job           *job    // changed under the core's lock
	buries        bool    // whether it tells of the dead before it takes a job; counted in core.burying

	phase   phase
	telling bool        // whether it is in a sink or a hook
	guess   bool        // whether the end of its job may be guessed
	guessed bool        // whether the end of its last job was
	waited  bool        // whether how long its job waited was recorded
	jobs    uint32      // jobs whose end might have been guessed
	now     int64       // its last reading of the clock
	own     job         // the one of Go that it runs
	tight   *jobContext // for jobs whose context's own deadline counts, while it stays the same
	owned   *jobContext // for the one job that it runs
}

// work is the life of a worker. Code of a user's may call runtime.Goexit, in a job, a
// sink or a hook, and can't be kept from ending the goroutine. The worker then goes on
// where it was, on a new one: each phase names the next before it calls anything.
func (c *core) work(w *worker) {
	c.settleIn(w)
	defer func() {
		if w.phase != left {
			c.moveOut(w)
			go c.work(w)
		}
	}()
	for w.phase != left {
		switch w.phase {
		case taken:
			w.phase = ran
			c.call(w)
		case ran:
			w.phase = judged
			c.judge(w, w.job)
		case judged:
			w.phase = told
			if j := w.job; j.err != nil && j.kind == kindGo {
				c.lose(w, j)
			}
			if c.tellsRan && !w.job.rough && !w.job.void {
				w.beginTelling()
				c.tellRan(w.job)
				w.endTelling()
				w.now = c.now()
			}
		case asleep:
			<-w.wake
			w.phase = hired
		case hired:
			w.phase = woken
			w.read()
		default: // woken, told
			c.seek(w)
		}
	}
}

// seek accounts for the job that the worker has run, if any, and finds out what it
// does next.
func (c *core) seek(w *worker) {
	var out fallout
	c.mu.Lock()
	if !w.guessed {
		c.tickedLocked(w.now)
	}
	switch {
	case w.job != nil:
		c.finishLocked(w.job, &out)
	case w.buries:
		c.burying--
	default:
		c.waking--
	}
	w.job, w.buries = nil, false
	if c.live <= c.target {
		c.nextLocked(w, &out)
	}
	switch {
	case w.job != nil:
		w.phase = taken
	case w.buries:
		w.phase = hired
	case c.closing || c.live > c.target:
		w.phase = left
		c.leaveWorkLocked(w, &out)
	default:
		w.phase = asleep
		w.next, c.idle = c.idle, w
		c.restLocked()
	}
	rests := w.phase != taken
	c.checkLocked()
	c.mu.Unlock()
	if rests {
		w.forget()
	}
	if !w.buries {
		c.fire(&out)
		return
	}
	w.beginTelling()
	c.fire(&out)
	w.endTelling()
}

// nextLocked takes a job for the worker, or finds that it has to tell of dead ones first. It
// does that in the place of a job: others may take what it leaves in the queue.
func (c *core) nextLocked(w *worker, out *fallout) {
	now := max(w.now, c.clock)
	for {
		w.job = c.takeLocked(w, now, out)
		if w.job == nil && out.dead != nil && c.tells {
			w.buries = true
			c.burying++
		}
		c.admitParkedLocked(out)
		if w.job != nil || w.buries || c.queue.n == 0 {
			return // otherwise only dead ones were before those that were parked
		}
	}
}

// hireLocked makes a worker that is to be started.
func (c *core) hireLocked() *worker {
	c.live++
	w := &worker{core: c, wake: make(chan struct{}, 1)}
	w.after = c.workers
	if w.after != nil {
		w.after.before = w
	}
	c.workers = w
	return w
}

// leaveWorkLocked accounts for a worker that goes.
func (c *core) leaveWorkLocked(w *worker, out *fallout) {
	if w.before == nil {
		c.workers = w.after
	} else {
		w.before.after = w.after
	}
	if w.after != nil {
		w.after.before = w.before
	}
	c.live--
	delete(c.homes, w.home)
	c.admitParkedLocked(out) // its job may have been one fewer than may run
	if c.closing && c.live == 0 {
		c.disarmLocked()
	}
	out.gone = c.isOverLocked()
}

// isOverLocked reports whether the executor is closed and has no goroutine any more. That
// becomes true once.
func (c *core) isOverLocked() bool { return c.closing && c.live == 0 && c.tellers == 0 }

// call runs the job's operation, and the next ones as long as it is known how they end. A
// panic becomes a job's error, and so does Goexit, which goes on to end the goroutine.
func (c *core) call(w *worker) {
	returned := false
	defer func() {
		if !returned {
			w.job.panicked = true
			w.job.err = &spillway.PanicError{Component: component, Name: c.name, Value: recover(), Stack: debug.Stack()}
		}
		if w.owned != nil {
			w.owned.end()
			w.owned = nil
		}
	}()
	j := w.job
	for ctx := w.contextFor(j); ; {
		j.err = j.task.run(ctx)
		if !w.guess || w.owned != nil || j.err != nil || !c.goOn(w) {
			break
		}
		if j.ctx.Err() != nil {
			j.void = true
			break
		}
		if w.waited = true; !j.rough {
			c.wait.Record(j.waited())
		}
		if !w.tight.of(j.ctx, j.done) {
			ctx = w.contextFor(j)
		}
	}
	returned = true
}

// read reads the clock.
func (w *worker) read() int64 {
	w.now, w.guessed = w.core.now(), false
	return w.now
}

// judge notes when the job ended, and as what. It asks the error, whose methods are a
// user's and may panic too.
func (c *core) judge(w *worker, j *job) {
	known := w.waited
	w.waited = false
	if j.void {
		return // it ended before it began
	}
	if !j.rough && !known {
		c.wait.Record(j.waited())
	}
	if w.guess {
		w.jobs++
		if j.err == nil && !isRead(w.jobs) && c.guessing.Load() {
			w.guessed = true
			j.ended, j.outcome = j.started, spillway.OutcomeOK
			return
		}
	}
	read, before := !w.guessed, w.now // whether its start was read
	j.ended = w.read()
	if read || j.ended-before > staleAfter {
		c.run.Record(time.Duration(j.ended - j.started))
	}
	switch {
	case j.err != nil:
		j.outcome = spillway.OutcomeUnknown
		quietly(func() { j.outcome = spillway.OutcomeOf(j.err) })
	case j.ended > j.deadline:
		j.outcome = spillway.OutcomeLate
	default:
		j.outcome = spillway.OutcomeOK
	}
}

func (j *job) failure() Failure {
	return Failure{Err: j.err, Items: int(j.items), Wait: j.waited(), Run: time.Duration(j.ended - j.started)}
}

// lose counts the items of a job of Go that has failed, and then tells the sink: who is
// told finds them counted.
func (c *core) lose(w *worker, j *job) {
	c.mu.Lock()
	c.count.lostItems += uint64(j.items)
	c.mu.Unlock()
	if c.sink != nil {
		w.beginTelling()
		quietly(func() { c.sink(j.ctx, j.failure()) })
		w.endTelling()
		w.read()
	}
}

// finishLocked accounts for a job that has run.
func (c *core) finishLocked(j *job, out *fallout) {
	c.busy--
	if j.void {
		now := c.now()
		c.leaveLocked(c.huskLocked(&j.slot), goneFor(&j.slot, now), now, out)
		j.slot, j.void = slot{}, false
		return
	}
	late := j.ended > j.deadline
	if late {
		c.count.late++
	}
	if j.panicked {
		c.count.aborted++
	} else {
		c.count.ended[j.outcome]++
	}
	if c.share > 0 && j.outcome != spillway.OutcomeLocal {
		run := float64(j.ended - j.started)
		if late || j.outcome == spillway.OutcomeTimeout {
			run *= timedOut
		}
		c.pace.add(run)
	}
	switch j.kind {
	case kindGo:
		j.slot, j.err, j.panicked = slot{}, nil, false
	case kindDo:
		j.ctx, j.done, j.state = nil, nil, settled
		out.answered = j
	case kindFuture:
		c.resolveLocked(j, out)
	}
}

// contextFor gives the context that a job runs under. Contexts of the same caller are
// told by their pointers; those that aren't pointers might not be comparable at all.
func (w *worker) contextFor(j *job) context.Context {
	switch {
	case !j.tight:
		w.owned = &jobContext{core: w.core, parent: j.ctx, deadline: j.deadline}
		return w.owned
	case w.tight.of(j.ctx, j.done):
		return w.tight
	case reflect.TypeOf(j.ctx).Kind() != reflect.Pointer:
		w.owned = &jobContext{core: w.core, parent: j.ctx}
		return w.owned
	}
	w.forget()
	w.tight = &jobContext{core: w.core, parent: j.ctx, done: j.done, until: j.deadline}
	w.core.seen.Store(w.tight)
	return w.tight
}

// forget lets go of the context of earlier jobs.
func (w *worker) forget() {
	if w.tight != nil {
		w.core.seen.CompareAndSwap(w.tight, nil)
		w.tight.end()
		w.tight = nil
	}
}
