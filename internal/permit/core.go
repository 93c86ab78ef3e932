package permit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/histogram"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/internal/slot"
)

// Core counts permits. All its methods are safe for concurrent use.
type Core struct {
	opts      Options
	base      time.Time               // clock readings are nanoseconds since then
	careful   bool                    // whether an admission has more to do than count
	tracks    bool                    // whether holders are tracked
	watches   bool                    // whether the flow of permits is watched
	sampled   atomic.Uint64           // an admission whose number has none of these bits is timed
	meter     atomic.Pointer[metered] // nil if nobody measures
	maxWeight atomic.Uint64           // calls up to this weight are clipped to the limit
	gap       atomic.Int64            // see pace.go
	landed    atomic.Int64

	// The hot line: what an admitted call touches.
	_        [64]byte
	word     atomic.Uint64
	admitted atomic.Uint64                                // calls admitted; their number picks a slot and the samples
	ended    [len(spillway.OutcomeCounts{})]atomic.Uint64 // calls ended, by outcome
	aborted  atomic.Uint64                                // calls ended by a panic or Goexit
	_        [64]byte

	refused     [len(spillway.RefusalCounts{})]atomic.Uint64
	canceled    atomic.Uint64 // calls whose context was done before they were admitted
	timedOut    atomic.Uint64 // of them, those whose time was over while they waited
	closedCalls atomic.Uint64 // calls that came after Close
	invalid     atomic.Uint64 // calls with an impossible weight, or nested ones
	wouldRefuse atomic.Uint64 // calls that Shadow admitted over the limit
	raised      atomic.Uint64 // changes of the limit
	lowered     atomic.Uint64
	rejections  atomic.Pointer[rejections]
	nextGhost   atomic.Int64 // when the first ghost ends; valid while the ghosts bit is set
	hold        histogram.Recorder
	wait        histogram.Recorder
	slots       slot.Table

	mu      sync.Mutex // see the lock protocol in the package comment
	queue   queue
	flow    flow
	ghosts  ghosts
	timer   *time.Timer   // calls tick; nil until it is needed
	armed   int64         // when the timer comes; 0 if it isn't set
	drained chan struct{} // made by Close, closed when the last permit is back
}

// New returns a core with all its permits at home.
func New(opts Options) *Core {
	c := &Core{opts: opts, base: time.Now()}
	c.sampled.Store(c.sampleMask())
	c.tracks = opts.Track != spillway.TrackOff
	c.careful = opts.Nested || c.tracks || c.unbounded()
	c.watches = opts.Predict || opts.Newest || opts.Room > 0
	c.word.Store(withMode(withLimit(0, opts.Limit), opts.Mode))
	c.rejections.Store(c.newRejections(opts.Limit, 0))
	c.slots.Reserve(opts.Limit)
	return c
}

// now is nanoseconds since the core was made, never 0: 0 means "not timed".
func (c *Core) now() int64 { return int64(time.Since(c.base)) | 1 }

// sampleMask is the sampled of a core that nobody measures. One that estimates times all
// its calls at first.
func (c *Core) sampleMask() uint64 {
	if c.opts.Estimate && !c.known() {
		return 0
	}
	return uint64(c.opts.Sample) - 1
}

// Use is an admission that its caller gives back on the same goroutine, so that it
// needs no slot. The zero Use is that of mode Off, in which nothing is counted.
type Use struct {
	weight uint64 // counted in the word, if useCounted is set
	since  int64  // its stamp, if it is timed
	token  uint64 // its slot's token, if holders are tracked
}

// useCounted marks the weight of a Use that has to be given back. It is no part of
// the weight.
const useCounted = 1 << 63

// verdict is what take says.
type verdict uint8

const (
	admitted verdict = iota
	full
	paced
	refuseAll
	closed
	tooHeavy
)

// take admits n permits if they can be had at once, and otherwise says why not. It
// counts admissions only: what to do about the rest is the policy's.
func (c *Core) take(ctx context.Context, n int) (Use, verdict) {
	for {
		s := c.word.Load()
		if w, ok := plain(s, n); ok {
			if c.word.CompareAndSwap(s, s+w) {
				return c.admit(ctx, w, c.sampled.Load()), admitted
			}
			continue
		}
		u, v, again := c.takeSlow(ctx, s, n)
		if !again {
			return u, v
		}
	}
}

// plain reports whether the word admits n permits without further questions. A
// weight below one wraps around to one that fits nowhere.
func plain(s uint64, n int) (w uint64, ok bool) {
	w = uint64(n)
	return w, s&special == 0 && w-1 < limitOf(s) && fits(s, w)
}

// takeSlow decides for a word that doesn't allow the plain admission. again says
// that the word has changed meanwhile.
func (c *Core) takeSlow(ctx context.Context, s uint64, n int) (u Use, v verdict, again bool) {
	if s&closedBit != 0 {
		return u, closed, false
	}
	switch modeOf(s) {
	case spillway.Off:
		return u, admitted, false
	case spillway.RefuseAll:
		return u, refuseAll, false
	case spillway.Shadow:
		// A use that doesn't fit its field any more is counted as far as it does;
		// the Use remembers how far, so what comes back is what was taken.
		w := min(uint64(min(max(n, 0), MaxLimit)), useMask-useOf(s))
		over := n < 1 || useOf(s)+uint64(n) > limitOf(s)
		if over && s&ghostsBit != 0 && c.reap() || !c.word.CompareAndSwap(s, s+w) {
			return u, v, true
		}
		if over {
			c.wouldRefuse.Add(1)
		}
		return c.admit(ctx, w, c.sampled.Load()), admitted, false
	case spillway.Enforce:
	}
	w, ok := c.weigh(s, uint64(n))
	if !ok {
		return u, tooHeavy, false
	}
	if room(s, w) {
		if s&pacedBit != 0 {
			v, again = c.launch(s, w)
		} else {
			again = !c.word.CompareAndSwap(s, s+w)
		}
		if again || v != admitted {
			return u, v, again
		}
		return c.admit(ctx, w, c.sampled.Load()), admitted, false
	}
	if s&ghostsBit != 0 {
		// With nothing to reap there may be room all the same: another caller may
		// have reaped since s was read, and what it left is there for this one.
		again = c.reap()
		if !again {
			again = room(c.word.Load(), w)
		}
	}
	return u, full, again
}

// admit counts a call whose permits were taken, and times it if its number has none of
// the sampled bits.
func (c *Core) admit(ctx context.Context, w, sampled uint64) Use {
	u := Use{weight: w | useCounted}
	n := c.admitted.Add(1)
	if n&sampled == 0 {
		u.since = c.begin(ctx, w)
	}
	if c.tracks {
		if u.since == 0 {
			u.since = c.now() // which is no sample of a meter's
		}
		u.token = c.claim(n, u)
	}
	return u
}

// Enter admits a call of weight n that doesn't wait. On success the caller must
// call Leave or Abort with the Use, once. It never blocks.
func (c *Core) Enter(ctx context.Context, n int) (Use, error) {
	if err := c.ready(ctx); err != nil {
		return Use{}, err
	}
	class := c.classOf(ctx)
	u, v := c.take(ctx, n)
	if v != admitted {
		return Use{}, c.refuse(ctx, v, n)
	}
	c.note(class, u)
	return u, nil
}

// enter is Enter, or Wait if the core has a waiting room.
func (c *Core) enter(ctx context.Context, n int) (Use, error) {
	if c == nil {
		return Use{}, ErrNone
	}
	room, err := c.roomFor(ctx)
	if err != nil {
		return Use{}, err
	}
	if room == 0 {
		return c.Enter(ctx, n)
	}
	return c.Wait(ctx, n, room)
}

// ready returns an error if ctx already rules the call out: a done context admits
// nothing, whatever is free.
func (c *Core) ready(ctx context.Context) error {
	if ctx.Err() != nil {
		return c.cancel(ctx)
	}
	if c.IsInside(ctx) {
		c.invalid.Add(1)
		return &spillway.NestedError{Component: c.opts.Component, Name: c.opts.Name}
	}
	return nil
}

// Leave gives a call's permits back and counts how it ended.
func (c *Core) Leave(u Use, o spillway.Outcome) {
	if u.since|int64(u.token) != 0 {
		c.leaveTimed(u, o)
		return
	}
	if u.weight&useCounted == 0 {
		return
	}
	if int(o) >= len(c.ended) {
		o = spillway.OutcomeUnknown // an error may say of itself what it likes
	}
	// The outcome is counted first: whoever then finds the permit free also finds
	// its call ended.
	c.ended[o].Add(1)
	c.giveBack(u.weight &^ useCounted)
}

func (c *Core) leaveTimed(u Use, o spillway.Outcome) {
	if u.token != 0 {
		c.End(u.token, o, 0)
		return
	}
	s, m := c.measure(u.since, u.weight&^useCounted, o)
	u.since = 0
	c.Leave(u, o)
	m.end(s)
}

// Abort gives a call's permits back after a panic or Goexit went through it.
func (c *Core) Abort(u Use) {
	if u.weight&useCounted == 0 {
		return
	}
	c.aborted.Add(1)
	h := over{weight: u.weight &^ useCounted}
	if u.token != 0 {
		h, _ = c.vacate(u.token, false, spillway.OutcomeLocal)
	} else if u.since != 0 {
		h.sample, h.meter = c.measure(u.since, h.weight, spillway.OutcomeLocal)
	}
	c.giveBack(h.weight)
	c.warn(h)
	h.meter.end(h.sample)
}

// giveBack returns w permits to the word and hands them on if somebody waits.
func (c *Core) giveBack(w uint64) {
	if invariant.Enabled {
		s := c.word.Load()
		invariant.Check(w <= useOf(s), "permit: %d released with %d in use", w, useOf(s))
	}
	if c.word.Add(-w)&(waitingBit|closedBit|pacedBit) != 0 {
		c.settle(w)
	}
}

// settle does for the queue, and for Close, whatever the word allows now that w
// permits have come back.
func (c *Core) settle(w uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watches && c.queue.n > 0 {
		c.lookLocked()
		c.flow.released(w, c.flow.clock)
	}
	if c.word.Load()&pacedBit != 0 {
		c.landLocked()
	}
	c.settleLocked()
}
