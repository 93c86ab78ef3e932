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
	lazyAt  int64  // no job outside of entries has an earlier deadline
	armed   int64  // when the timer goes off; never if it doesn't
	lazy    uint64 // what stands in the queue before this place is in entries
	entries []entry
	timer   *time.Timer // the only one of the executor
}

// never is a time that doesn't come.
const never = math.MaxInt64

// entry is a job, or a place in the queue with a job of Go.
type entry struct {
	at  int64
	job *job   // nil for one of Go
	seq uint64 // of the job; the place of one of Go
}

func (c *core) staleLocked(e entry) bool {
	if e.job == nil {
		return !c.queue.has(e.seq)
	}
	return e.job.seq != e.seq
}

func (x *expiry) push(e entry) {
	h := append(x.entries, e)
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

// compactLocked drops the stale entries if they are the greater part, or all.
func (c *core) compactLocked(living int) {
	x := &c.expiry
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
		if !c.staleLocked(e) {
			kept = append(kept, e)
		}
	}
	clear(x.entries[len(kept):])
	x.entries = kept
	for i := len(kept)/2 - 1; i >= 0; i-- {
		x.sink(i)
	}
}

// enqueueLocked puts a job at the end of the queue; j is nil if it is one of Go.
func (c *core) enqueueLocked(s *slot, j *job) {
	if c.queue.isFull() {
		c.renewLocked()
	}
	place := c.queue.push(s)
	if j != nil {
		j.state, j.place = queued, place
		if j.watched {
			return
		}
	}
	if s.deadline < c.expiry.lazyAt {
		c.expiry.lazyAt = s.deadline
		c.armLocked()
	}
}

// renewLocked makes room in the queue. The places that the heap knows are gone with the
// old ring, so what stood there counts as not in the heap.
func (c *core) renewLocked() {
	q, x := &c.queue, &c.expiry
	q.renew()
	x.lazy = q.head
	for place := q.head; place < q.tail; place++ {
		x.lazyAt = min(x.lazyAt, q.at(place).deadline)
	}
	c.compactLocked(q.n + c.parked.n)
}

// pullLocked takes a job out of the queue that isn't to be run. One of Go becomes a job.
func (c *core) pullLocked(place uint64) *job {
	s := c.queue.at(place)
	j := s.task.job()
	if j == nil {
		j = c.huskLocked(s)
	}
	c.queue.remove(place)
	return j
}

// huskLocked makes a job of one of Go that isn't run.
func (c *core) huskLocked(s *slot) *job {
	j := c.husks.takeLocked()
	if j == nil {
		j = new(job)
	}
	j.slot = *s
	return j
}

// watchLocked puts a job into the heap.
func (c *core) watchLocked(j *job) {
	c.compactLocked(c.queue.n + c.parked.n)
	j.watched = true
	c.expiry.push(entry{j.deadline, j, j.seq})
}

// watchAllLocked puts all that wait into the heap.
func (c *core) watchAllLocked() {
	x, q := &c.expiry, &c.queue
	c.compactLocked(q.n + c.parked.n)
	for place := max(x.lazy, q.head); place < q.tail; place++ {
		s := q.at(place)
		if s.task == nil {
			continue
		}
		if j := s.task.job(); j == nil {
			x.push(entry{s.deadline, nil, place})
		} else if !j.watched {
			c.watchLocked(j)
		}
	}
	x.lazy, x.lazyAt = q.tail, never
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
func (c *core) armLocked() { c.armAtLocked(c.firstLocked()) }

func (c *core) armAtLocked(at int64) {
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
	c.queue.rest()
	if c.parked.n == 0 {
		c.compactLocked(0)
		c.expiry.lazy, c.expiry.lazyAt = c.queue.tail, never
	}
}

// disarmLocked ends the timer, when nothing waits and nothing will any more. It would hold on
// to the executor until the latest deadline that a job has had.
func (c *core) disarmLocked() {
	c.restLocked()
	c.guessing.Store(false) // nobody is left to say that a reading of the clock is old
	if c.expiry.timer != nil {
		c.expiry.timer.Stop()
	}
}

// tick is the timer's.
func (c *core) tick() {
	var out fallout
	now := c.now()
	c.mu.Lock()
	c.expiry.armed = never
	c.guessing.Store(false)
	c.tickedLocked(now)
	c.expireLocked(now, &out)
	c.armLocked()
	c.unlockAside(&out)
}

// expireLocked makes every job leave whose time is up.
func (c *core) expireLocked(now int64, out *fallout) {
	x := &c.expiry
	if x.lazyAt <= now {
		c.watchAllLocked()
	}
	for len(x.entries) > 0 {
		e := x.entries[0]
		stale := c.staleLocked(e)
		if !stale && e.at > now {
			break
		}
		x.pop()
		switch {
		case stale:
		case e.job == nil:
			c.leaveLocked(c.pullLocked(e.seq), expired, now, out)
		default:
			c.removeLocked(e.job)
			c.leaveLocked(e.job, expired, now, out)
		}
	}
	c.admitParkedLocked(out)
}

// removeLocked takes a job that waits beside the queue out of where it is.
func (c *core) removeLocked(j *job) {
	if j.state == parked {
		c.parked.remove(j)
	} else {
		c.queue.remove(j.place)
	}
}

// sweepLocked makes every job leave whose context was canceled. Nobody tells the
// executor of a cancellation: that would cost every job a registration with its
// context. Whoever would notice looks instead: who waits for the job, who needs its
// place, who counts, and the worker who comes to it.
func (c *core) sweepLocked(now int64, out *fallout) {
	q := &c.queue
	for place := q.head; place < q.tail; place++ {
		if s := q.at(place); s.task != nil && isClosed(s.done) {
			v := goneFor(s, now)
			c.leaveLocked(c.pullLocked(place), v, now, out)
		}
	}
	for j := c.parked.head; j != nil; {
		next := j.next
		if isClosed(j.done) {
			c.parked.remove(j)
			c.leaveLocked(j, goneFor(&j.slot, now), now, out)
		}
		j = next
	}
	c.admitParkedLocked(out)
}

// goneFor says why a job leaves whose context is done.
func goneFor(s *slot, now int64) verdict {
	if now >= s.deadline {
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
	if j.state != queued || !onlyParked {
		c.withdrawLocked(j, now, &out)
	}
	c.checkLocked()
	c.mu.Unlock()
	c.fire(&out)
}

func (c *core) withdrawLocked(j *job, now int64, out *fallout) {
	if j.state == parked || j.state == queued {
		c.removeLocked(j)
		c.leaveLocked(j, goneFor(&j.slot, now), now, out)
		c.admitParkedLocked(out)
	}
}
