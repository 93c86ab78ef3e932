//go:build go1.25

package adaptive_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
)

// phase is a speed that a backend has from a time on; 0 is a stall.
type phase struct {
	from  time.Duration
	speed float64
}

// backend is a model: slots that serve first come first served, slower if many are
// there, at a speed that changes with time.
type backend struct {
	slots   int
	service time.Duration                // mean
	draw    func(rng *rand.Rand) float64 // work of a call, 1 on average; nil: exponential
	kappa   float64                      // how much slower each call is per call too many
	net     time.Duration                // to the backend and back
	bound   int                          // most calls there, others are answered overload; 0 none
	phases  []phase                      // sorted
	quota   float64                      // calls a second, in bursts of a hundredth of that; others are answered overload; 0 none

	mu     sync.Mutex
	rng    *rand.Rand
	start  time.Time
	queue  []*job
	busy   int
	tokens float64 // of the quota
	filled time.Duration
	done   int // calls served, wanted or not
}

type job struct {
	work float64 // seconds of one slot
	done chan struct{}
}

func newBackend(seed uint64) *backend {
	return &backend{slots: 16, service: 2 * time.Millisecond, kappa: 0.5, net: 200 * time.Microsecond,
		rng: rand.New(rand.NewPCG(seed, 99)), start: time.Now()}
}

// capacity is what it serves in a second at full speed.
func (b *backend) capacity() float64 { return float64(b.slots) / b.service.Seconds() }

// refuse has the backend answer everything with overload, or as before.
func (b *backend) refuse(all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if all != (b.bound < 0) {
		b.bound = -b.bound
	}
}

// speed returns how fast it is at a time.
func (b *backend) speed(at time.Duration) float64 {
	speed := 1.0
	for _, p := range b.phases {
		if p.from <= at {
			speed = p.speed
		}
	}
	return speed
}

// finish returns how long a piece of work takes that begins at a time.
func (b *backend) finish(at time.Duration, work float64) time.Duration {
	began := at
	for i := 0; ; i++ {
		end := time.Duration(math.MaxInt64)
		for _, p := range b.phases {
			if p.from > at {
				end = p.from
				break
			}
		}
		speed := b.speed(at)
		if speed > 0 {
			need := time.Duration(work / speed * float64(time.Second))
			if need <= end-at {
				return at + need - began
			}
			work -= (end - at).Seconds() * speed
		}
		at = end
	}
}

// call is what a client does: it returns when the backend has answered, or ctx is done.
// The backend works on although nobody waits.
func (b *backend) call(ctx context.Context, cost float64) error {
	b.mu.Lock()
	if b.quota > 0 {
		now := time.Since(b.start)
		b.tokens = min(b.tokens+(now-b.filled).Seconds()*b.quota, max(1, b.quota/100))
		b.filled = now
	}
	if b.quota > 0 && b.tokens < 1 || b.bound < 0 || b.bound > 0 && b.busy+len(b.queue) >= b.bound {
		b.mu.Unlock()
		time.Sleep(b.net)
		return outcome(spillway.OutcomeOverload)
	}
	b.tokens--
	work := b.rng.ExpFloat64()
	if b.draw != nil {
		work = b.draw(b.rng)
	}
	j := &job{work: cost * work * b.service.Seconds(), done: make(chan struct{})}
	b.queue = append(b.queue, j)
	b.serveLocked()
	b.mu.Unlock()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return outcome(spillway.OutcomeTimeout)
	}
}

func (b *backend) serveLocked() {
	for b.busy < b.slots && len(b.queue) > 0 {
		j := b.queue[0]
		b.queue = b.queue[1:]
		b.busy++
		work := j.work
		if n, k := float64(b.busy+len(b.queue)), 2*float64(b.slots); n > k {
			work *= 1 + b.kappa*(n-k)/k
		}
		time.AfterFunc(b.finish(time.Since(b.start), work), func() {
			b.mu.Lock()
			b.busy--
			b.done++
			b.serveLocked()
			b.mu.Unlock()
			time.AfterFunc(b.net, func() { close(j.done) })
		})
	}
}

// outcome is an error of a class.
type outcome spillway.Outcome

func (o outcome) Error() string             { return spillway.Outcome(o).String() }
func (o outcome) Outcome() spillway.Outcome { return spillway.Outcome(o) }
