package permit

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// What a core with a waiting room knows of the flow of permits, to refuse at once
// who can't be served in time. The idea is Bouncer's (SIGMOD 2024, estimate at
// arrival whether a call will make it), moved to the client's side of the wire.
const (
	// flowMemory is how long the rate of releases remembers.
	flowMemory = 50 * time.Millisecond
	// maxEstimate bounds what is said of a wait.
	maxEstimate = time.Hour
	// flowTrust is after how many releases the rate is believed.
	flowTrust = 50
	// probeEvery is after how long without a launch one is made whatever is
	// predicted. Without it the core could lock up: a high estimate launches nobody,
	// and so never falls.
	probeEvery = int64(50 * time.Millisecond)
	// firstSamples is how many calls are timed one after the other at first. Then the
	// estimate is set to what they say: a first sample that is far off would take
	// hundreds of others to be forgotten.
	firstSamples = 32
	// slowOutcome is by how much a call that timed out is taken to have lasted
	// longer than it was watched.
	slowOutcome = 1.5
)

// flow is guarded by the core's lock, but for service and samples. It is kept up only if the core
// is one that watches it.
type flow struct {
	clock    int64         // the reading of the clock for all that is done under this hold of the lock
	rate     float64       // permits released per nanosecond while callers waited, decayed
	trust    float64       // the share of rate's memory that was filled: 1 in the long run
	at       int64         // when rate was brought up to date; time without waiters is left out
	last     int64         // when permits came back last, or the queue began
	seen     uint64        // releases seen while callers waited
	launched int64         // when a waiter was admitted last
	since    int64         // when the queue was empty last
	hint     time.Duration // what the rejections say; 0 if nothing yet
	hintAt   int64         // when that was made
	service  atomic.Int64
	samples  atomic.Int64 // how many made it, up to firstSamples
}

// lookLocked reads the clock, if anything here goes by it.
func (c *Core) lookLocked() {
	if c.watches {
		c.flow.clock = c.now()
	}
}

// begin notes that the queue isn't empty any more. The rate goes on from where the
// last busy time left it: an idle time says nothing of what could be served.
func (f *flow) begin(now int64) { f.at, f.last, f.since = now, now, now }

// released notes that w permits came back while callers waited.
func (f *flow) released(w uint64, now int64) {
	f.decay(now)
	f.rate += float64(w) / float64(flowMemory)
	f.seen++
	f.last = now
}

// decay lets the memory fade by the time that has passed.
func (f *flow) decay(now int64) {
	if dt := now - f.at; dt > 0 {
		keep := math.Exp(-float64(dt) / float64(flowMemory))
		f.rate *= keep
		f.trust = 1 - (1-f.trust)*keep
		f.at = now
	}
}

// waitForLocked returns how long it will take until w permits have come back.
func (c *Core) waitForLocked(w uint64, now int64) time.Duration {
	f := &c.flow
	if c.queue.n > 0 {
		f.decay(now) // while nobody waits, silence says nothing
	}
	// A silence of s says that a permit takes s or so, and no more than that. The
	// memory alone would take a silence of 20 of its lengths for one of centuries.
	each := float64(flowMemory)
	if c.queue.n > 0 {
		each = max(each, float64(now-f.last))
	}
	if f.rate > 0 {
		each = min(each, f.trust/f.rate)
	}
	return time.Duration(min(float64(w)*each, float64(maxEstimate)))
}

// learn has the estimate of the time a call takes go by d, too. Its hold is recorded.
func (c *Core) learn(d time.Duration, o spillway.Outcome) {
	if o == spillway.OutcomeTimeout {
		d = time.Duration(float64(d) * slowOutcome)
	}
	if c.known() || c.flow.samples.Add(1) != firstSamples {
		c.flow.observe(d)
		return
	}
	c.flow.service.Store(int64(c.hold.Snapshot().Quantile(0.9)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meter.Load() == nil {
		c.sampled.Store(c.sampleMask())
	}
}

// known reports whether the estimate is more than the first samples' guess.
func (c *Core) known() bool { return c.flow.samples.Load() >= firstSamples }

// observe moves the estimate of the time a call takes towards its ninth decile:
// each sample above it raises it a little, each below lowers it a ninth of that
// (a frugal quantile: Ma, Muthukrishnan, Sandler 2013).
func (f *flow) observe(d time.Duration) {
	const step = 0.05
	old := f.service.Load()
	next := int64(d)
	switch {
	case old == 0:
	case next > old:
		next = min(next, old+int64(float64(old)*step)+1)
	default:
		next = max(next, old-int64(float64(old)*step/9)-1)
	}
	f.service.CompareAndSwap(old, next) // losing a sample to another is no harm
}

// deadlineOf returns when ctx ends, on the core's clock; 0 for never.
func (c *Core) deadlineOf(ctx context.Context) int64 {
	if d, ok := ctx.Deadline(); ok {
		return int64(d.Sub(c.base)) | 1
	}
	return 0
}

// hopelessLocked reports whether a caller who asks for w permits now would not be
// served in time.
func (c *Core) hopelessLocked(w uint64, deadline, now int64) bool {
	f := &c.flow
	if f.seen < flowTrust || c.queue.n == 0 && now-f.launched >= probeEvery {
		return false
	}
	ahead := c.queue.takes
	if c.opts.Newest {
		ahead = 0 // who comes now is next
	}
	wait := c.waitForLocked(ahead+w, now)
	if c.opts.MaxWait > 0 && wait > c.opts.MaxWait {
		return true
	}
	// As a sum, which is far from overflowing: a deadline may be as far back as can be.
	return deadline != 0 && now+int64(wait)+f.service.Load() > deadline
}

// tooLateLocked reports whether a waiter who could be served now would not be
// finished in time.
func (c *Core) tooLateLocked(w *waiter) bool {
	f := &c.flow
	return f.seen >= flowTrust && f.clock-f.launched < probeEvery && f.clock+f.service.Load() > w.deadline
}

// hintEvery is how often the hint of the rejections is made anew: a refusal must
// stay free of allocations.
const hintEvery = int64(100 * time.Millisecond)

// hintLocked gives the rejections a hint when to try again: when those who wait now
// will have been served.
func (c *Core) hintLocked() {
	f, now := &c.flow, c.flow.clock
	if c.opts.Room == 0 || f.seen < flowTrust || f.hintAt != 0 && now-f.hintAt < hintEvery {
		return
	}
	f.hintAt = now
	f.hint = c.waitForLocked(c.queue.takes+1, now).Round(time.Millisecond)
	c.rejections.Store(c.newRejections(int(limitOf(c.word.Load())), f.hint))
}
