package deadline

import (
	"math"
	"time"
)

// expiry finds the jobs whose time is up. Most jobs are started long before, so at
// first a job only lowers the time of the next look. Those that still wait then go
// into a heap by deadline, and are found one by one. A job that is started or leaves
// stays in the heap as a stale entry until it comes to the top, or until most are.
type expiry struct {
	entries []entry
	lazy    *job        // the first job in the queue that isn't in entries
	lazyAt  int64       // no job outside of entries has an earlier deadline
	timer   *time.Timer // the only one of the executor
	armed   int64       // when it goes off; never if it doesn't
}

// never is a time that doesn't come.
const never = math.MaxInt64

type entry struct {
	at  int64
	job *job
	seq uint64
}

func (e entry) stale() bool {
	return e.job.seq != e.seq
}

func (x *expiry) push(j *job) {
	h := append(x.entries, entry{j.deadline, j, j.seq})
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	x.entries = h
}

func (x *expiry) pop() {
	h := x.entries
	last := len(h) - 1
	h[0], h[last] = h[last], entry{}
	x.entries = h[:last]
	x.sink(0)
}

func (x *expiry) sink(i int) {
	h := x.entries
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && h[r].at < h[least].at {
			least = r
		}
		if h[i].at <= h[least].at {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// compact drops the stale entries if they are the greater part, or all.
func (x *expiry) compact(living int) {
	if living == 0 {
		clear(x.entries)
		x.entries = x.entries[:0]
		return
	}
	if len(x.entries) <= 2*living+64 {
		return
	}
	kept := x.entries[:0]
	for _, e := range x.entries {
		if !e.stale() {
			kept = append(kept, e)
		}
	}
	clear(x.entries[len(kept):])
	x.entries = kept
	for i := len(kept)/2 - 1; i >= 0; i-- {
		x.sink(i)
	}
}

// enqueueLocked puts a job at the end of the queue.
func (c *core) enqueueLocked(j *job) {
	j.state = queued
	c.queue.push(j)
	if j.watched {
		return
	}
	x := &c.expiry
	if x.lazy == nil {
		x.lazy = j
	}
	if j.deadline < x.lazyAt {
		x.lazyAt = j.deadline
		c.armLocked()
	}
}

// unqueueLocked takes a job out of the queue.
func (c *core) unqueueLocked(j *job) {
	if c.expiry.lazy == j {
		c.expiry.lazy = j.next
	}
	c.queue.remove(j)
}

// watchLocked puts a job into the heap.
func (c *core) watchLocked(j *job) {
	c.expiry.compact(c.queue.n + c.parked.n)
	j.watched = true
	c.expiry.push(j)
}

// watchAllLocked puts all that wait into the heap.
func (c *core) watchAllLocked() {
	x := &c.expiry
	for j := x.lazy; j != nil; j = j.next {
		if !j.watched {
			c.watchLocked(j)
		}
	}
	x.lazy, x.lazyAt = nil, never
}

// firstLocked is a time before which no job expires.
func (c *core) firstLocked() int64 {
	at := c.expiry.lazyAt
	if len(c.expiry.entries) > 0 {
		at = min(at, c.expiry.entries[0].at)
	}
	return at
}

// armLocked sets the timer for the first deadline. It is moved only to an earlier
// time: one that goes off too early finds nothing to do and is set anew, which is
// cheaper than to move it for every job.
func (c *core) armLocked() {
	at := c.firstLocked()
	if c.expiry.armed <= at {
		return
	}
	c.expiry.armed = at
	d := time.Duration(at - c.now())
	if c.expiry.timer == nil {
		c.expiry.timer = time.AfterFunc(d, c.tick)
		return
	}
	c.expiry.timer.Reset(d)
}

// restLocked forgets what nobody waits for any more, when the queue is empty.
func (c *core) restLocked() {
	if c.parked.n == 0 {
		c.expiry.compact(0)
		c.expiry.lazy, c.expiry.lazyAt = nil, never
	}
}

// tick is the timer's.
func (c *core) tick() {
	var out fallout
	now := c.now()
	c.mu.Lock()
	c.expiry.armed = never
	c.expireLocked(now, &out)
	c.armLocked()
	c.checkLocked()
	c.mu.Unlock()
	c.fire(&out)
}

// expireLocked makes every job leave whose time is up.
func (c *core) expireLocked(now int64, out *fallout) {
	x := &c.expiry
	if x.lazyAt <= now {
		c.watchAllLocked()
	}
	for len(x.entries) > 0 {
		e := x.entries[0]
		stale := e.stale()
		if !stale && e.at > now {
			break
		}
		x.pop()
		if !stale {
			c.removeLocked(e.job)
			c.leaveLocked(e.job, expired, now, out)
		}
	}
	c.admitParkedLocked(out)
}

// removeLocked takes a job out of the list that it is in.
func (c *core) removeLocked(j *job) {
	if j.state == parked {
		c.parked.remove(j)
	} else {
		c.unqueueLocked(j)
	}
}

// sweepLocked makes every job leave whose context was canceled. Nobody tells the
// executor of a cancellation: that would cost every job a registration with its
// context. Whoever would notice looks instead: who waits for the job, who needs its
// place, who counts, and the worker who comes to it.
func (c *core) sweepLocked(now int64, out *fallout) {
	for _, l := range [...]*list{&c.queue, &c.parked} {
		for j := l.head; j != nil; {
			next := j.next
			if isClosed(j.done) {
				c.removeLocked(j)
				c.leaveLocked(j, c.goneFor(j, now), now, out)
			}
			j = next
		}
	}
	c.admitParkedLocked(out)
}

// goneFor says why a job leaves whose context is done.
func (c *core) goneFor(j *job, now int64) verdict {
	if now >= j.deadline {
		return expired
	}
	return canceled
}

// freshenLocked makes room, if dead jobs take it up. Looking for canceled ones takes
// time in proportion to the queue, so under a flood of refusals it is done only so
// often that it costs about a percent.
func (c *core) freshenLocked(now int64, out *fallout) {
	if c.firstLocked() <= now {
		c.expireLocked(now, out)
	}
	if now >= c.swept {
		c.sweepLocked(now, out)
		c.swept = now + int64(c.queue.n+c.parked.n)*sweepPause
	}
}

// sweepPause is how many nanoseconds lie between two sweeps for each job in the
// queue. A look at a job takes some 5 ns.
const sweepPause = 500

// withdraw makes a job leave whose context is done, if it still waits, or is still
// parked if that is all that is asked. However that ends, whoever waits for the job is
// told.
func (c *core) withdraw(j *job, onlyParked bool) {
	var out fallout
	now := c.now()
	c.mu.Lock()
	if j.state == parked || j.state == queued && !onlyParked {
		c.removeLocked(j)
		c.leaveLocked(j, c.goneFor(j, now), now, &out)
		c.admitParkedLocked(&out)
	}
	c.checkLocked()
	c.mu.Unlock()
	c.fire(&out)
}
