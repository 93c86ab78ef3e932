package model

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Config is B(c, F, κ, Q, x).
type Config struct {
	// Slots is c, what the backend serves at once.
	Slots int
	// Mean is S, the mean service time at speed 1, of a call of cost 1.
	Mean time.Duration
	// Service is F. Nil means Exponential.
	Service Service
	// Net is what the way there and back takes together.
	Net time.Duration
	// Kappa is κ: with n calls inside, and n above k = 2c, service takes 1 + κ(n−k)/k times as long
	// (the universal scalability law's coherence term, near enough). Zero means that a crowd costs
	// nothing but its wait.
	Kappa float64
	// Queue is Q, how many may wait for a slot; more are refused with ErrOverload. Zero means no
	// bound.
	Queue int
	// DropExpired is x: a call whose deadline passed in the queue isn't served. False means that it
	// is.
	DropExpired bool
	// Speed is how fast it works over time; 0 is a stall.
	Speed Profile
	// Up says over time whether it is reachable: below 1 a connection is refused.
	Up Profile
	// KeyPending is how many calls may wait for a key that another one has; more are refused with
	// ErrKeyBusy. Only keys above 0 are exclusive.
	KeyPending int
	// Seed is for the service times.
	Seed uint64
}

// Capacity returns the calls of cost 1 that it can serve in a second at speed 1.
func (c Config) Capacity() float64 { return float64(c.Slots) / c.Mean.Seconds() }

// Call is what a caller asks for.
type Call struct {
	Cost float64 // how many times the mean it takes; 0 means 1
	Key  int     // above 0: one at a time for each key
}

// Work is what was done, in slot-seconds, and how it was asked for.
type Work struct {
	Useful float64 // for callers who got the answer
	Served float64 // the same without the slowdown by the crowd: what it was worth
	Wasted float64 // for callers who had left
	Calls  int     // calls that reached it, those refused included
}

// Backend is the model at work. Its methods are for concurrent use, within one bubble.
type Backend struct {
	cfg   Config
	start time.Time

	mu      sync.Mutex
	rng     *rand.Rand
	queue   fifo
	running int
	keys    map[int]*fifo // calls that wait for a key that is taken
	work    Work
	closed  bool
}

// job is a call inside.
type job struct {
	work      float64 // nanoseconds at speed 1, without the slowdown
	slowed    float64 // with it, once it is served
	key       int
	deadline  time.Time
	abandoned bool
	done      chan error // buffered: nobody may be there; nil for a foreign call
}

// answer tells the caller, if there is one.
func (j *job) answer(err error) {
	if j.done != nil {
		j.done <- err
	}
}

// New returns a backend that has nothing to do.
func New(cfg Config) *Backend {
	if cfg.Service == nil {
		cfg.Service = Exponential()
	}
	return &Backend{cfg: cfg, start: time.Now(), rng: rand.New(rand.NewPCG(cfg.Seed, 3)), keys: map[int]*fifo{}}
}

// Send makes a call and waits for its end: served, refused, or ctx is done. In the last case the
// work goes on, as in a server that isn't told that its caller has left.
func (b *Backend) Send(ctx context.Context, c Call) error {
	if b.cfg.Net > 0 {
		time.Sleep(b.cfg.Net)
	}
	j, err := b.enter(ctx, c)
	if err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		b.mu.Lock()
		j.abandoned = true
		b.mu.Unlock()
		if ctx.Err() == context.DeadlineExceeded {
			return errTimeout
		}
		return errCanceled
	}
}

// Offer makes a foreign call: somebody else's, of which nothing is told or counted, and which waits
// so long.
func (b *Backend) Offer(patience time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.cfg.Queue > 0 && b.queue.n >= b.cfg.Queue {
		return
	}
	b.queue.push(&job{work: float64(b.cfg.Mean) * b.cfg.Service(b.rng), deadline: time.Now().Add(patience)})
	b.fillLocked()
}

// enter lets a call in: to a slot, the queue, or the wait for its key.
func (b *Backend) enter(ctx context.Context, c Call) (*job, error) {
	deadline, _ := ctx.Deadline()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.work.Calls++
	if b.closed || b.cfg.Up.At(time.Since(b.start)) < 1 {
		return nil, ErrDown
	}
	if c.Cost == 0 {
		c.Cost = 1
	}
	j := &job{
		work: c.Cost * float64(b.cfg.Mean) * b.cfg.Service(b.rng), key: c.Key,
		deadline: deadline, done: make(chan error, 1),
	}
	if c.Key > 0 {
		if waiting, taken := b.keys[c.Key]; taken {
			if waiting.n >= b.cfg.KeyPending {
				return nil, ErrKeyBusy
			}
			waiting.push(j)
			return j, nil
		}
		b.keys[c.Key] = &fifo{}
	}
	if b.cfg.Queue > 0 && b.queue.n >= b.cfg.Queue {
		b.freeKeyLocked(j)
		return nil, ErrOverload
	}
	b.queue.push(j)
	b.fillLocked()
	return j, nil
}

// fillLocked gives free slots to whoever has waited longest.
func (b *Backend) fillLocked() {
	now := time.Now()
	for b.running < b.cfg.Slots && b.queue.n > 0 && !b.closed {
		j := b.queue.pop()
		if b.cfg.DropExpired && !j.deadline.IsZero() && !now.Before(j.deadline) {
			b.freeKeyLocked(j)
			j.answer(ErrExpired)
			continue
		}
		b.running++
		inside, knee := float64(b.running+b.queue.n), float64(2*b.cfg.Slots)
		j.slowed = j.work * (1 + b.cfg.Kappa*max(inside-knee, 0)/knee)
		if took := b.cfg.Speed.After(now.Sub(b.start), j.slowed); took < math.MaxInt64 {
			time.AfterFunc(took, func() { b.finish(j) })
		} // else it never ends
	}
}

// finish ends a service.
func (b *Backend) finish(j *job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.running--
	switch {
	case j.done == nil:
	case j.abandoned:
		b.work.Wasted += j.slowed / 1e9
	default:
		b.work.Useful += j.slowed / 1e9
		b.work.Served += j.work / 1e9
	}
	j.answer(nil)
	b.freeKeyLocked(j)
	b.fillLocked()
}

// freeKeyLocked lets the next call of a key go on to the queue.
func (b *Backend) freeKeyLocked(j *job) {
	if j.key == 0 {
		return
	}
	if waiting := b.keys[j.key]; waiting.n > 0 {
		b.queue.push(waiting.pop())
		return
	}
	delete(b.keys, j.key)
}

// Work returns what was done so far.
func (b *Backend) Work() Work {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work
}

// Inside returns how many calls are in it, waiting ones included: also those whose callers have
// left.
func (b *Backend) Inside() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running + b.queue.n
}

// Close ends it: what is inside stays there. No caller may wait any more.
func (b *Backend) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.queue = fifo{}
}
