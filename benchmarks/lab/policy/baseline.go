package policy

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/spillway-go/spillway"
)

func baselines() []Policy {
	return []Policy{
		{Name: "none", Family: "baseline", About: "calls the backend; each call has a goroutine and waits there", New: func(e Env) Client { return naive(e, bare{}) }},
		{Name: "queue", Family: "baseline", About: "x/sync's semaphore, 1.5c, an unbounded queue in front", New: func(e Env) Client { return naive(e, newSemaphore(e.share(1.5), true)) }},
		{Name: "static 1.5c", Family: "baseline", About: "x/sync's semaphore, 1.5c, refuses at once: a bare counter of the right size", New: func(e Env) Client { return naive(e, newSemaphore(e.share(1.5), false)) }},
		{Name: "static 8c", Family: "baseline", About: "the same with a limit that somebody guessed", New: func(e Env) Client { return naive(e, newSemaphore(e.share(8), false)) }},
		{Name: "driver", Family: "baseline", About: "a model of the Aerospike Go client's defaults: a pool of 100, busy waiting, 2 retries, 1 s", New: func(e Env) Client { return newDriver(e) }},
	}
}

// bare lets everything through.
type bare struct{}

func (bare) Do(ctx context.Context, _ Call, op Op) error { return op(ctx) }
func (bare) Limit() float64                              { return 0 }
func (bare) Close()                                      {}

// errFull is the refusal of a semaphore.
var errFull = errors.New("policy: the semaphore is full")

// counted is a semaphore of x/sync.
type counted struct {
	sem   *semaphore.Weighted
	limit int
	waits bool
}

func newSemaphore(limit int, waits bool) Client {
	return &counted{semaphore.NewWeighted(int64(limit)), limit, waits}
}

func (c *counted) Do(ctx context.Context, _ Call, op Op) error {
	switch {
	case c.waits:
		if err := c.sem.Acquire(ctx, 1); err != nil {
			return err
		}
	case !c.sem.TryAcquire(1):
		return errFull
	}
	defer c.sem.Release(1)
	return op(ctx)
}

func (c *counted) Limit() float64 { return float64(c.limit) }
func (c *counted) Close()         {}

// retrying is what applications do around a client that doesn't repeat: so many attempts, with an
// exponential back-off and full jitter, from 10 ms to 500 ms, whatever the error.
type retrying struct {
	Client
	env    Env
	random func() float64
}

// naive gives a client the attempts of its application, and each attempt its timeout.
func naive(e Env, c Client) Client {
	return &retrying{c, e, seeded(e.Seed)}
}

func (r *retrying) Do(ctx context.Context, c Call, op Op) error {
	op = r.env.timed(op)
	backoff := 10 * time.Millisecond
	for attempt := 1; ; attempt++ {
		err := r.Client.Do(ctx, c, op)
		if err == nil || attempt >= r.env.Attempts || ctx.Err() != nil {
			return err
		}
		if !sleep(ctx, time.Duration(r.random()*float64(backoff))) {
			return err
		}
		backoff = min(2*backoff, 500*time.Millisecond)
	}
}

// sleep reports whether it wasn't ended by the context.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// seeded returns a source of random numbers for many goroutines.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 4))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Float64()
	}
}

// worthAnother is what drivers repeat: what may be better at another time.
func worthAnother(err error) bool {
	switch spillway.OutcomeOf(err) {
	case spillway.OutcomeOverload, spillway.OutcomeKeyOverload, spillway.OutcomeTimeout, spillway.OutcomeNetwork:
		return true
	default:
		return false
	}
}
