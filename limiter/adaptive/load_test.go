//go:build go1.25

package adaptive_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// client is one process: a lane with a controller.
type client struct {
	lane *lane.Lane[int]
	ctl  *adaptive.Controller // nil: the limit is static
}

const attemptTimeout = 100 * time.Millisecond

func newClient(t testing.TB, limit int, cfg *adaptive.Config) *client {
	t.Helper()
	l, err := lane.New[int](lane.Config{Name: "db", Limit: limit, MaxWaiting: max(4, 5*limit/2), MaxWait: 10 * time.Millisecond, Predict: true})
	require.NoError(t, err)
	c := &client{lane: l}
	if cfg != nil {
		c.ctl, err = adaptive.Drive(l, *cfg)
		require.NoError(t, err)
	}
	return c
}

// do makes one call, in a goroutine of its own, and reports whether it was of use.
func (c *client) do(ctx context.Context, call func(context.Context) error) error {
	p, err := c.lane.Admit(ctx)
	if err != nil {
		return err
	}
	op, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	err = call(op)
	if spillway.OutcomeOf(err) == spillway.OutcomeTimeout {
		p.ReleaseAfter(min(attemptTimeout, 2*c.lane.Service()))
		return err
	}
	p.ReleaseWith(spillway.OutcomeOf(err))
	return err
}

// bin is a tenth of a second of a run.
const bin = 100 * time.Millisecond

// tally is what one client, or all together, met with.
type tally struct {
	offered, good, refused, failed []int // by bin of the arrival
	sent                           int
}

func newTally(d time.Duration) *tally {
	n := int(d/bin) + 1
	return &tally{offered: make([]int, n), good: make([]int, n), refused: make([]int, n), failed: make([]int, n)}
}

func sum(xs []int, from, to time.Duration) (n int) {
	for i := int(from / bin); i < int(to/bin) && i < len(xs); i++ {
		n += xs[i]
	}
	return n
}

// goodput is the share of what could have been served between two times.
func (a *tally) goodput(b *backend, from, to time.Duration) float64 {
	var ideal float64
	for i := int(from / bin); i < int(to/bin); i++ {
		at := time.Duration(i) * bin
		ideal += min(float64(a.offered[i]), b.capacity()*b.speed(at)*bin.Seconds())
	}
	return float64(sum(a.good, from, to)) / ideal
}

// recovery is how long after a time it takes until ten bins in a row have the share ok
// of successes.
func (a *tally) recovery(after time.Duration, share float64) time.Duration {
	first := int(after / bin)
	for i := first; i+10 <= len(a.offered); i++ {
		fine := true
		for k := i; k < i+10; k++ {
			fine = fine && float64(a.good[k]) >= share*float64(a.offered[k])
		}
		if fine {
			return time.Duration(i-first) * bin
		}
	}
	return time.Hour
}

// run is a workload: clients that offer calls to a backend.
type run struct {
	b        *backend
	clients  []*client
	rate     func(at time.Duration) float64 // of all clients together, a second
	cost     func(rng *rand.Rand, at time.Duration) (context.Context, float64)
	length   time.Duration
	deadline time.Duration
	seed     uint64
	retries  int
	join     time.Duration          // how much later than the one before each client comes
	each     func(at time.Duration) // called every bin
	also     func() error           // beside each call another, of which nothing is expected
}

// do runs the workload and returns what each client met with, and all together.
func (r *run) do() (all *tally, each []*tally) {
	rng := rand.New(rand.NewPCG(r.seed, 7))
	var mu sync.Mutex
	var wg sync.WaitGroup
	all = newTally(r.length)
	for range r.clients {
		each = append(each, newTally(r.length))
	}
	next := time.Duration(0)
	for at := time.Duration(0); at < r.length; at = time.Since(r.b.start) {
		for r.each != nil && at >= next {
			r.each(next)
			next += bin
		}
		time.Sleep(time.Duration(rng.ExpFloat64() / r.rate(at) * float64(time.Second)))
		at = time.Since(r.b.start)
		if at >= r.length {
			break
		}
		i := rng.IntN(len(r.clients))
		if at < time.Duration(i)*r.join {
			continue
		}
		ctx, cost := context.Background(), 1.0
		if r.cost != nil {
			ctx, cost = r.cost(rng, at)
		}
		if r.also != nil {
			wg.Go(func() { _ = r.clients[i].do(context.Background(), func(context.Context) error { return r.also() }) })
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, r.deadline)
			defer cancel()
			call := func(ctx context.Context) error { return r.b.call(ctx, cost) }
			err := r.clients[i].do(ctx, call)
			for n := 0; n < r.retries && err != nil && ctx.Err() == nil; n++ {
				time.Sleep(time.Duration(float64(20*time.Millisecond) * (0.5 + rand.New(rand.NewPCG(uint64(at), uint64(n))).Float64())))
				err = r.clients[i].do(ctx, call)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, a := range []*tally{all, each[i]} {
				a.offered[at/bin]++
				switch {
				case err == nil && ctx.Err() == nil:
					a.good[at/bin]++
				case errors.Is(err, spillway.ErrBackpressure):
					a.refused[at/bin]++
				default:
					a.failed[at/bin]++
				}
			}
		})
	}
	wg.Wait()
	return all, each
}

// jain is the index of fairness of what clients got: 1 if all got the same.
func jain(each []*tally, from, to time.Duration) float64 {
	var s, q float64
	for _, a := range each {
		x := float64(sum(a.good, from, to))
		s, q = s+x, q+x*x
	}
	return s * s / (float64(len(each)) * q)
}

// variant is a way to limit.
type variant struct {
	name   string
	config func() *adaptive.Config // nil: the limit is static
}

// guessed is the static limit that all variants start from: 1.5 times the slots.
const guessed = 24

func targeted() *adaptive.Config {
	cfg := trusted(200)
	cfg.Target = 2400 * time.Microsecond // 1.75 times the geometric mean of exponential 2 ms
	return &cfg
}

func learned() *adaptive.Config {
	cfg := trusted(200)
	return &cfg
}

func untrusted() *adaptive.Config {
	cfg := adaptive.DefaultConfig(200)
	return &cfg
}

func static() *adaptive.Config { return nil }

// adapting are the variants that adapt.
var adapting = []variant{{"target", targeted}, {"learned", learned}, {"untrusted", untrusted}}

// inBubbles runs f for each variant, in a bubble of its own.
func inBubbles(t *testing.T, variants []variant, f func(t *testing.T, v variant)) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, v) })
		})
	}
}

// alone is a run of one client of a variant.
func alone(t *testing.T, v variant, b *backend, length time.Duration) (*client, *run) {
	t.Helper()
	c := newClient(t, guessed, v.config())
	return c, &run{b: b, clients: []*client{c}, deadline: 100 * ms, seed: 1, length: length}
}

// times is a rate that is so many times the capacity from each time on.
func times(b *backend, steps ...phase) func(time.Duration) float64 {
	return func(at time.Duration) float64 {
		rate := 0.0
		for _, s := range steps {
			if s.from <= at {
				rate = s.speed
			}
		}
		return rate * b.capacity()
	}
}
