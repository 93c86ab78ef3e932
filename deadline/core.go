package deadline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/histogram"
	"github.com/spillway-go/spillway/internal/invariant"
)

// core is the untyped executor: one lock, two lists, and the workers. Times are
// nanoseconds since base.
//
// Under the lock no function of a user runs, contexts included, and no channel
// operation can block. What an operation under the lock brings about outside of it
// (workers to wake, callers to tell) is collected in a fallout and done after the
// unlock.
type core struct {
	// Guards everything down to the immutable, and the jobs. What each submission and
	// each start write comes first, then what they read, so that on another processor
	// they don't find more cache lines gone than they must.
	mu        sync.Mutex
	queue     queue // Invariant: queue.n <= queueCap + free(), except after target was lowered
	submitted uint64

	// Invariant: live == busy + waking + burying + len(idle).
	// Invariant: queue.n > waking only if busy + waking + burying >= target: nobody sleeps while there is work.
	// Invariant: parked.n > 0 only if there is no room in the queue.
	target  int     // workers there shall be
	live    int     // workers there are
	busy    int     // of these: have a job
	waking  int     // of these: woken or just started, and not yet at the queue
	idle    *worker // of these: asleep, the last to fall asleep first
	mode    spillway.Mode
	open    bool  // whether neither Close nor the mode nor a prediction refuses an order
	closing bool  // whether Close was called
	brisk   bool  // whether readings follow each other so closely that the last serves as the time
	clock   int64 // the last reading of the clock
	expiry  expiry
	parked  list // jobs whose submitters wait for room
	burying int  // of the workers: have no job, and tell of those that they found dead
	tellers int  // goroutines of ours beside the workers that tell of the dead

	count   counts
	workers *worker            // all of them
	homes   map[uint64]*worker // the same by the numbers of their goroutines; nil for those of tellers
	husks   spares             // jobs of Go that left without having run were such
	swept   int64              // when canceled jobs may be looked for again
	pace    pace
	started int64 // when the last job was started, if anybody predicts

	contexts  *jobContext // that somebody waits on: to be canceled by the cut
	cutAt     int64       // when the drain is over
	cutKnown  bool        // whether the cut has been made
	unstarted int         // for CloseError
	cutOff    int

	// Immutable.
	name       string
	queueCap   int
	parkedCap  int
	overflow   Overflow
	ttl        time.Duration
	longest    int64   // the TTL; never if there is none
	share      float64 // Config.Predict
	drain      time.Duration
	sink       func(context.Context, Failure)
	hooks      []Hooks
	tells      bool // whether anybody is to be told of jobs that die
	tellsRan   bool // whether anybody is to be told of jobs that ran
	base       time.Time
	rejections [invalid]*spillway.Rejection // by verdict; nil where it is none
	expiredErr *ExpiredError
	closedErr  *spillway.ClosedError
	gone       chan struct{} // closed when the last worker and the last teller have left after Close

	cut      atomic.Bool                // whether Close cut the work off; set under mu
	seen     atomic.Pointer[jobContext] // the latest that a worker has for jobs whose context's own deadline counts
	guessing atomic.Bool                // whether the timer comes to say that the last reading of the clock is old; set under mu

	wait, run histogram.Recorder

	telling atomic.Int32 // workers that are in a sink or a hook
}

// counts are the totals since the start of how jobs ended, guarded by the core's lock.
type counts struct {
	ended       spillway.OutcomeCounts
	aborted     uint64
	refused     spillway.RefusalCounts
	canceled    uint64
	afterClose  uint64
	invalid     uint64
	late        uint64
	wouldRefuse uint64
	lostItems   uint64
}

func (n *counts) outcomes() uint64 {
	return n.ended.Total() + n.aborted + n.refused.Total() + n.canceled + n.afterClose + n.invalid
}

func newCore(cfg Config) *core {
	c := &core{
		name:      cfg.Name,
		queueCap:  cfg.Queue,
		parkedCap: cfg.MaxSubmitters,
		overflow:  cfg.Overflow,
		ttl:       cfg.TTL,
		share:     cfg.Predict,
		drain:     cfg.Drain,
		sink:      cfg.Sink,
		hooks:     append([]Hooks(nil), cfg.Hooks...),
		base:      time.Now(),
		closedErr: &spillway.ClosedError{Component: component, Name: cfg.Name},
		gone:      make(chan struct{}),
		mode:      cfg.Mode,
		target:    cfg.Workers,
		expiry:    expiry{lazyAt: never, armed: never},
	}
	for v := range c.rejections {
		if reason, ok := reasonOf(verdict(v)); ok {
			c.rejections[v] = &spillway.Rejection{
				Component: component, Name: cfg.Name, Reason: reason, Limit: cfg.Queue, RetryAfter: cfg.RetryAfter,
			}
		}
	}
	c.tells = c.sink != nil
	for _, h := range c.hooks {
		c.tells = c.tells || h.Rejected != nil
		c.tellsRan = c.tellsRan || h.Ran != nil
	}
	c.expiredErr = &ExpiredError{Rejection: *c.rejections[expired]}
	c.openLocked()
	if c.longest = int64(cfg.TTL); c.longest == 0 {
		c.longest = never
	}
	return c
}

// openLocked works out open.
func (c *core) openLocked() { c.open = !c.closing && c.mode != spillway.RefuseAll && c.share == 0 }

// freeLocked is how many workers could take a job now, asleep or not yet started. The
// first so many jobs of the queue are as good as started: they don't count as waiting.
func (c *core) freeLocked() int { return max(c.target-c.busy-c.burying, 0) }

func (c *core) hasRoomLocked() bool { return c.queue.n < c.queueCap+c.freeLocked() }

// wakeLocked sees to it that there are as many workers on their way as there are
// jobs to take, unless that many may not work at once.
func (c *core) wakeLocked(out *fallout) {
	for c.queue.n > c.waking && c.busy+c.waking+c.burying < c.target {
		c.waking++
		w := c.idle
		if w == nil {
			w = c.hireLocked()
			w.next, out.hired = out.hired, w
			continue
		}
		c.idle, w.next = w.next, out.woken
		out.woken = w
	}
}

// admitParkedLocked moves parked jobs into the queue while there is room, first come
// first served, and tells their submitters.
func (c *core) admitParkedLocked(out *fallout) {
	for c.parked.head != nil && c.hasRoomLocked() {
		j := c.parked.head
		c.parked.remove(j)
		c.enqueueLocked(&j.slot, j)
		if j.awaited {
			j.awaited = false
			j.wake <- true // never blocks: capacity 1, and sent once
		}
	}
	c.wakeLocked(out)
}

// takeLocked takes the first job that may still be started, and drops those before
// it that may not. If somebody is to be told of those it takes none: to tell may take so
// long that the job's time would be up before its start. A job of Go becomes the worker's own.
func (c *core) takeLocked(w *worker, now int64, out *fallout) *job {
	for q := &c.queue; q.n > 0; {
		s := q.at(q.head)
		if w.guessed && s.deadline-now < farAhead {
			now = w.read()
			c.tickedLocked(now)
		}
		if v := c.stillGoodLocked(s, now); v != admitted {
			c.leaveLocked(c.pullLocked(q.head), v, now, out)
			continue
		}
		if out.dead != nil && c.tells {
			return nil
		}
		j := s.task.job()
		if j == nil {
			j = &w.own
			j.slot = *s
		}
		q.remove(q.head)
		j.state, j.started = running, now
		j.leave()
		c.busy++
		if c.share > 0 {
			c.started = now
		}
		w.guess = c.guessLocked(j)
		return j
	}
	return nil
}

// stillGoodLocked is the check right before the start.
func (c *core) stillGoodLocked(s *slot, now int64) verdict {
	switch {
	case now >= s.deadline:
		return expired
	case isClosed(s.done):
		return canceled
	case !s.probe && c.predictsLocked() && c.pace.tooLate(now, s.deadline):
		if c.mode == spillway.Enforce {
			return predicted
		}
		c.count.wouldRefuse++
	}
	return admitted
}

// leaveLocked counts a job that leaves without having run. The rest is told outside
// of the lock.
func (c *core) leaveLocked(j *job, v verdict, now int64, out *fallout) {
	j.state, j.verdict, j.started = leaving, v, now
	j.leave()
	c.countLocked(v)
	if j.kind == kindGo {
		c.count.lostItems += uint64(j.items)
	}
	out.add(j)
}

func (c *core) countLocked(v verdict) {
	if reason, ok := reasonOf(v); ok {
		c.count.refused[reason]++
		return
	}
	switch v {
	case canceled:
		c.count.canceled++
	case closedOut, closedBefore:
		c.count.afterClose++
	default:
		c.count.invalid++
	}
}

// checkLocked tests the invariants.
func (c *core) checkLocked() {
	if !invariant.Enabled {
		return
	}
	asleep := 0
	for w := c.idle; w != nil; w = w.next {
		asleep++
	}
	invariant.Check(c.live == c.busy+c.waking+c.burying+asleep, "deadline: %d workers: %d busy, %d waking, %d burying, %d asleep",
		c.live, c.busy, c.waking, c.burying, asleep)
	invariant.Check(c.queue.n <= c.waking || c.busy+c.waking+c.burying >= c.target, "deadline: %d jobs in the queue while workers sleep", c.queue.n)
	invariant.Check(c.parked.n == 0 || !c.hasRoomLocked(), "deadline: %d callers parked with room in the queue", c.parked.n)
	known := c.count.outcomes() + uint64(c.parked.n+c.queue.n+c.busy)
	invariant.Check(c.submitted == known, "deadline: %d submitted, %d accounted for", c.submitted, known)
}
